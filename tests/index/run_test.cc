#include "index/run.h"

#include "index/run_footer.h"
#include "index/run_sink.h"
#include "index/tree_check.h"
#include "index_test_util.h"
#include "testing/scale.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace cambium::run_test {
namespace {

using namespace cambium::testing;

struct BuiltRun {
  std::shared_ptr<MemoryFile> file;
  RunInfo info;
};

FileHeader RunHeader(std::uint64_t number, unsigned char life = 1) {
  FileHeader header;
  header.number = number;
  header.file_id[3] = life;
  return header;
}

BuiltRun Build(const Model& model, const Comparator* comparator, const RunOptions& options, std::uint64_t number = 12,
               unsigned char life = 1) {
  BuiltRun run;
  run.file = std::make_shared<MemoryFile>("000012.run");
  RunBuilder builder(run.file, RunHeader(number, life), comparator, options);
  for (const auto& [key, entry] : model) {
    const Status status = builder.Add(key, entry.view());
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  EXPECT_EQ(builder.entry_count(), model.size());
  const Result<RunInfo> info = builder.Finish();
  EXPECT_TRUE(info.ok()) << info.status().ToString();
  if (info.ok()) run.info = *info;
  EXPECT_EQ(run.info.file_size, run.file->contents.size());
  return run;
}

Model Numbers(std::uint64_t count) {
  Model model{KeyLess{BytewiseComparator()}};
  for (std::uint64_t n = 0; n < count; ++n) {
    OwnedEntry entry;
    if (n % 3 != 0) {
      entry.kind = EntryKind::kValue;
      entry.word = ValueAddress::InLog(static_cast<Slot>(2), n * 8, 80).word();
    }
    model["key" + std::to_string(100000 + n)] = entry;
  }
  return model;
}

std::uint64_t TombstonesOf(const Model& model) {
  return static_cast<std::uint64_t>(std::count_if(model.begin(), model.end(), [](const auto& item) {
    return item.second.kind == EntryKind::kTombstone;
  }));
}

TEST(RunTest, RoundTripsEveryShapeAndOrder) {
  Prng prng(SeedFromEnvironment(31));
  for (const Comparator* comparator : AllComparators()) {
    for (const KeyShape shape : kAllShapes) {
      for (const unsigned bits : {0u, 10u}) {
        RunOptions options;
        options.page_size = prng.OneIn(2) ? 512 : 4096;
        options.filter_bits_per_key = bits;
        options.kind = RunKind::kCompaction;
        const std::size_t n = shape == KeyShape::kLong ? 20 : 300;
        const Model model = RandomModel(comparator, shape, n, options.page_size, &prng);
        BuiltRun built = Build(model, comparator, options);
        EXPECT_EQ(built.info.number, 12u);
        EXPECT_EQ(built.info.kind, RunKind::kCompaction);
        EXPECT_EQ(built.info.root.entry_count, model.size());
        EXPECT_EQ(built.info.tombstone_count, TombstonesOf(model));
        EXPECT_EQ(built.info.smallest_key, model.begin()->first);
        EXPECT_EQ(built.info.largest_key, std::prev(model.end())->first);

        PagePool pool(1 << 20);
        built.file->direct = prng.OneIn(2);
        const auto run = Run::Open(built.file, built.info, comparator, &pool);
        ASSERT_TRUE(run.ok()) << run.status().ToString();
        EXPECT_EQ((*run)->filter() != nullptr, bits > 0 && comparator->EqualMeansSameBytes());
        const auto cursor = (*run)->NewCursor();
        cursor->SeekToFirst();
        for (const auto& [key, entry] : model) {
          ASSERT_TRUE(cursor->Valid());
          ASSERT_EQ(cursor->key(), Slice(key));
          ASSERT_TRUE(entry.Is(cursor->entry()));
          cursor->Next();
          PageRef keep;
          Entry found;
          ASSERT_TRUE((*run)->MayContain(key));
          ASSERT_TRUE(*(*run)->Find(key, &keep, &found));
          ASSERT_TRUE(entry.Is(found));
        }
        EXPECT_FALSE(cursor->Valid());
        EXPECT_TRUE(cursor->status().ok());
        for (int probe = 0; probe < 100; ++probe) {
          const std::string target = RandomKey(shape, &prng, 50);
          PageRef keep;
          Entry found;
          ASSERT_EQ(*(*run)->Find(target, &keep, &found), model.contains(target));
        }
        TreeCheckStats stats;
        const Status check = CheckTree((*run)->info().root, (*run)->files(), comparator, {}, &stats);
        EXPECT_TRUE(check.ok()) << check.ToString();
        EXPECT_EQ(stats.tombstones, built.info.tombstone_count);
      }
    }
  }
}

TEST(RunTest, EmptyRun) {
  const BuiltRun built = Build(Model{KeyLess{BytewiseComparator()}}, BytewiseComparator(), {});
  PagePool pool(1 << 20);
  const auto run = Run::Open(built.file, built.info, BytewiseComparator(), &pool);
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_EQ((*run)->entry_count(), 0u);
  PageRef keep;
  Entry entry;
  EXPECT_FALSE(*(*run)->Find("x", &keep, &entry));
  const auto cursor = (*run)->NewCursor();
  cursor->SeekToLast();
  EXPECT_FALSE(cursor->Valid());
}

TEST(RunTest, FilterAnswersMostAbsentKeys) {
  const BuiltRun built = Build(Numbers(5000), BytewiseComparator(), {});
  PagePool pool(1 << 20);
  const auto run = Run::Open(built.file, built.info, BytewiseComparator(), &pool);
  ASSERT_TRUE(run.ok());
  int maybe = 0;
  for (int i = 0; i < 5000; ++i) maybe += (*run)->MayContain("key" + std::to_string(100000 + i) + "x") ? 1 : 0;
  EXPECT_LT(maybe, 200);
}

TEST(RunTest, IsWrittenInLargePieces) {
  const BuiltRun built = Build(Numbers(60000), BytewiseComparator(), {});
  EXPECT_GE(built.file->contents.size(), 2 * kRunWriteSize);
  EXPECT_LE(static_cast<std::size_t>(built.file->writes), built.file->contents.size() / kRunWriteSize + 1);
}

TEST(RunTest, CursorKeepsItsFileOpen) {
  PagePool pool(1 << 20);
  const Model model = Numbers(1000);
  std::unique_ptr<EntryCursor> cursor;
  {
    const BuiltRun built = Build(model, BytewiseComparator(), {});
    cursor = Run::Open(built.file, built.info, BytewiseComparator(), &pool).value()->NewCursor();
  }
  std::size_t n = 0;
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) ++n;
  EXPECT_EQ(n, model.size());
  cursor.reset();
  EXPECT_EQ(pool.stats().resident_pages, 0u);
}

TEST(RunTest, WriteErrorFailsAllLaterCalls) {
  const Model model = Numbers(60000);
  for (int writes = 0; writes < 4; ++writes) {
    auto file = std::make_shared<MemoryFile>("000012.run");
    file->writes_before_failure = writes;
    RunBuilder builder(file, RunHeader(12), BytewiseComparator(), {});
    Status status;
    for (auto it = model.begin(); it != model.end() && status.ok(); ++it) {
      status = builder.Add(it->first, it->second.view());
    }
    if (status.ok()) status = builder.Finish().status();
    EXPECT_EQ(status.IsNoSpace(), file->writes > writes);
    if (status.ok()) continue;
    EXPECT_TRUE(builder.Add("z", Entry::Tombstone()).IsNoSpace());
    EXPECT_TRUE(builder.Finish().status().IsNoSpace());
  }
}

TEST(RunTest, KeysOutOfOrderAreCorruption) {
  RunBuilder builder(std::make_shared<MemoryFile>("000012.run"), RunHeader(12), BytewiseComparator(), {});
  EXPECT_TRUE(builder.Add("b", Entry::Tombstone()).ok());
  EXPECT_TRUE(builder.Add("a", Entry::Tombstone()).IsCorruption());
  EXPECT_TRUE(builder.Finish().status().IsCorruption());
}

TEST(RunTest, OpenRejectsARunThatTheManifestDoesNotName) {
  PagePool pool(1 << 20);
  const BuiltRun built = Build(Numbers(100), BytewiseComparator(), {});
  const auto open = [&](const RunInfo& info, std::shared_ptr<File> file) {
    return Run::Open(std::move(file), info, BytewiseComparator(), &pool).status();
  };
  EXPECT_TRUE(open(built.info, built.file).ok());
  RunInfo info = built.info;
  info.number = 13;
  EXPECT_TRUE(open(info, built.file).IsCorruption());
  info = built.info;
  info.footer_checksum ^= 1;
  EXPECT_TRUE(open(info, built.file).IsCorruption());
  info = built.info;
  info.root.page.checksum ^= 1;
  EXPECT_TRUE(open(info, built.file).IsCorruption());
  info = built.info;
  info.file_id[0] ^= 1;
  EXPECT_TRUE(open(info, built.file).IsCorruption());
  info = built.info;
  info.largest_key += "x";
  EXPECT_TRUE(open(info, built.file).IsCorruption());
  info = built.info;
  info.file_size += 1;
  EXPECT_TRUE(open(info, built.file).IsCorruption());
  info = built.info;
  info.page_size = 2 * RunOptions().page_size;
  EXPECT_TRUE(open(info, built.file).IsCorruption());
  info.page_size = RunOptions().page_size;
  EXPECT_TRUE(open(info, built.file).ok());
  // The same number and contents, but another file id.
  const BuiltRun other = Build(Numbers(100), BytewiseComparator(), {}, 12, 2);
  EXPECT_TRUE(open(built.info, other.file).IsCorruption());
}

// The file is cut at any length, grown, and changed in every byte. Open or a full read detects each change, except in
// the zeros after the header, which nothing reads.
TEST(RunTest, DamageIsDetected) {
  PagePool pool(1 << 20);
  RunOptions options;
  options.page_size = 512;
  const Model model = Numbers(60);
  const BuiltRun built = Build(model, BytewiseComparator(), options);
  const std::string good = built.file->contents;
  const auto read_all = [&]() -> Status {
    CAMBIUM_TRY(const auto run, Run::Open(built.file, built.info, BytewiseComparator(), &pool));
    const auto cursor = run->NewCursor();
    std::size_t n = 0;
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) ++n;
    EXPECT_TRUE(!cursor->status().ok() || n == model.size());
    return cursor->status();
  };
  ASSERT_TRUE(read_all().ok());
  for (std::size_t size = 0; size < good.size(); ++size) {
    built.file->contents = good.substr(0, size);
    ASSERT_TRUE(read_all().IsCorruption()) << size;
    ASSERT_FALSE(Run::ReadFooter(built.file, 12).ok()) << size;
  }
  built.file->contents = good + std::string(1, '\0');
  EXPECT_TRUE(read_all().IsCorruption());
  for (std::size_t i = 0; i < good.size(); ++i) {
    built.file->contents = good;
    built.file->contents[i] = static_cast<char>(good[i] ^ (1 << i % 8));
    const Status status = read_all();
    if (i >= kFileHeaderSize && i < options.page_size) {
      ASSERT_TRUE(status.ok()) << i;
    } else {
      ASSERT_TRUE(status.IsCorruption() || status.IsNotSupported()) << i << " " << status.ToString();
      ASSERT_NE(status.ToString().find("000012.run"), std::string::npos);
    }
  }
}

TEST(RunTest, ReadFooterNeedsNoManifest) {
  const BuiltRun built = Build(Numbers(100), BytewiseComparator(), {});
  const Result<RunInfo> info = Run::ReadFooter(built.file, 12);
  ASSERT_TRUE(info.ok()) << info.status().ToString();
  EXPECT_EQ(*info, built.info);
  EXPECT_TRUE(Run::ReadFooter(built.file, 13).status().IsCorruption());
}

// Footers with a valid checksum but false numbers.
TEST(RunTest, HostileFootersAreRejectedOrHarmless) {
  Prng prng(SeedFromEnvironment(32));
  PagePool pool(1 << 20);
  RunOptions options;
  options.page_size = 512;
  const BuiltRun built = Build(Numbers(40), BytewiseComparator(), options);
  const std::string good = built.file->contents;
  const Result<RunFooter> footer =
      ReadRunFooter(*built.file, good.size(), DecodeFileHeader(good, "x").value());
  ASSERT_TRUE(footer.ok());
  const std::uint64_t seed = DecodeFileHeader(good, "x")->Seed();
  for (std::uint64_t round = 0; round < ScaledCount(20000); ++round) {
    std::string& bytes = built.file->contents;
    bytes = good;
    const std::size_t numbers = bytes.size() - kRunFooterSize;
    for (std::uint64_t change = prng.Between(1, 3); change > 0; --change) {
      const std::size_t at = numbers + prng.Uniform(13) * 8;
      if (prng.OneIn(2)) {
        EncodeFixed<std::uint64_t>(bytes.data() + at, prng.OneIn(2) ? prng.Next() : prng.Skewed(40));
      } else {
        bytes[at + prng.Uniform(8)] = static_cast<char>(prng.Next());
      }
    }
    EncodeFixed<std::uint64_t>(bytes.data() + bytes.size() - 8,
                               Checksum64(Slice(bytes).substr(footer->offset, bytes.size() - 8 - footer->offset),
                                          SeedAt(seed, footer->offset)));
    const Result<RunInfo> info = Run::ReadFooter(built.file, 12);
    if (!info.ok()) {
      ASSERT_TRUE(info.status().IsCorruption() || info.status().IsNotSupported());
      continue;
    }
    const auto run = Run::Open(built.file, *info, BytewiseComparator(), &pool);
    if (!run.ok()) continue;
    const auto cursor = (*run)->NewCursor();
    std::size_t n = 0;
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) ++n;
    ASSERT_LE(n, 40u);
  }
}

}  // namespace
}  // namespace cambium::run_test
