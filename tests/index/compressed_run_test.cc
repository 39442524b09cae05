// Runs with compressed leaves: how Run, its cursors, the pool and CheckTree handle them.
#include <atomic>
#include <thread>

#include "compressible.h"
#include "index/compressed_page.h"
#include "index/run.h"
#include "index/tree_check.h"

namespace cambium::compressed_run_test {
namespace {

using namespace cambium::testing;

constexpr Codec kCodecs[] = {Codec::kLz4, Codec::kZstd};

struct BuiltRun {
  std::shared_ptr<MemoryFile> file;
  RunInfo info;
};

BuiltRun Build(const Model& model, const Comparator* comparator, const RunOptions& options) {
  BuiltRun run;
  run.file = std::make_shared<MemoryFile>("000012.run");
  FileHeader header;
  header.number = 12;
  header.file_id[3] = 1;
  RunBuilder builder(run.file, header, comparator, options);
  for (const auto& [key, entry] : model) {
    const Status status = builder.Add(key, entry.view());
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  const Result<RunInfo> info = builder.Finish();
  EXPECT_TRUE(info.ok()) << info.status().ToString();
  if (info.ok()) run.info = *info;
  return run;
}

RunOptions With(Codec codec, std::uint32_t page_size = 4096, std::uint32_t block_size = 0) {
  RunOptions options;
  options.page_size = page_size;
  options.compression = codec;
  options.block_size = block_size;
  return options;
}

std::shared_ptr<const Run> Open(const BuiltRun& built, const Comparator* comparator, PagePool* pool) {
  auto run = Run::Open(built.file, built.info, comparator, pool);
  EXPECT_TRUE(run.ok()) << run.status().ToString();
  return run.ok() ? *run : nullptr;
}

TreeCheckStats Check(const Run& run, const Comparator* comparator) {
  TreeCheckStats stats;
  const Status status = CheckTree(run.info().root, run.files(), comparator, {}, &stats);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return stats;
}

// Reads every entry by Find and by cursors in both directions.
void ExpectReadsBack(const Run& run, const Model& model) {
  const auto cursor = run.NewCursor();
  cursor->SeekToFirst();
  for (const auto& [key, entry] : model) {
    ASSERT_TRUE(cursor->Valid()) << cursor->status().ToString();
    ASSERT_EQ(cursor->key(), Slice(key));
    ASSERT_TRUE(entry.Is(cursor->entry()));
    cursor->Next();
    PageRef keep;
    Entry found;
    ASSERT_TRUE(*run.Find(key, &keep, &found));
    ASSERT_TRUE(entry.Is(found));
  }
  ASSERT_FALSE(cursor->Valid());
  ASSERT_TRUE(cursor->status().ok());
  cursor->SeekToLast();
  for (auto it = model.rbegin(); it != model.rend(); ++it) {
    ASSERT_TRUE(cursor->Valid()) << cursor->status().ToString();
    ASSERT_EQ(cursor->key(), Slice(it->first));
    ASSERT_TRUE(it->second.Is(cursor->entry()));
    cursor->Prev();
  }
  ASSERT_FALSE(cursor->Valid());
  ASSERT_TRUE(cursor->status().ok());
}

TEST(CompressedRunTest, RoundTripsEveryShapeOrderAndSize) {
  Prng prng(SeedFromEnvironment(71));
  for (const Comparator* comparator : AllComparators()) {
    for (const KeyShape shape : kAllShapes) {
      for (const Codec codec : kCodecs) {
        const std::uint32_t page_size = 512u << prng.Uniform(6);
        const auto block_size =
            prng.OneIn(3) ? 0 : static_cast<std::uint32_t>(prng.Between(2 * page_size, 32 * page_size));
        const std::size_t n = shape == KeyShape::kLong ? 20 : 300;
        Model model = RandomModel(comparator, shape, n, page_size, &prng);
        for (auto& [key, entry] : model) {
          if (!prng.OneIn(3)) entry = CompressibleEntry(&prng, prng.Uniform(MaxInlineSizeFor(page_size) + 1));
        }
        const BuiltRun built = Build(model, comparator, With(codec, page_size, block_size));
        built.file->direct = prng.OneIn(2);
        PagePool pool(1 << 20);
        const auto run = Open(built, comparator, &pool);
        ASSERT_NE(run, nullptr);
        ExpectReadsBack(*run, model);
        const TreeCheckStats stats = Check(*run, comparator);
        EXPECT_EQ(stats.entries, model.size());
        EXPECT_GE(stats.raw_page_bytes, stats.page_bytes);
        EXPECT_TRUE(pool.CheckInvariants(true).ok());
      }
    }
  }
}

// 100,000 small documents take less than half the space, with little padding, and every kind of read returns them.
TEST(CompressedRunTest, SmallDocumentsTakeLessThanHalfTheSpace) {
  Prng prng(SeedFromEnvironment(72));
  Model model{KeyLess{BytewiseComparator()}};
  for (std::uint64_t n = 0; n < 100000; ++n) model[NumberedKey(n)] = CompressibleEntry(&prng);
  const BuiltRun raw = Build(model, BytewiseComparator(), {});
  for (const Codec codec : kCodecs) {
    const BuiltRun built = Build(model, BytewiseComparator(), With(codec));
    EXPECT_LT(built.file->contents.size(), raw.file->contents.size() / 2);
    PagePool pool(1 << 20);  // a tenth of it
    const auto run = Open(built, BytewiseComparator(), &pool);
    ASSERT_NE(run, nullptr);
    ExpectReadsBack(*run, model);
    EXPECT_EQ(Check(*run, BytewiseComparator()).entries, model.size());

    // Finds where the packed bytes end, page by page.
    std::uint64_t stored = 0;
    std::uint64_t packed = 0;
    int raw_leaves = 0;
    TreeCheckStats stats;
    TreeCheckCallbacks callbacks;
    callbacks.on_page = [&](const PageView& page) {
      const std::size_t offset = UnitOffsetOf(page.id()) * std::size_t{4096};
      const Slice bytes = Slice(built.file->contents).substr(offset, UnitsOf(page.id()) * std::size_t{4096});
      if (CompressedPage::Is(bytes)) {
        EXPECT_TRUE(page.is_leaf());
        stored += bytes.size();
        packed += bytes.ToString().find_last_not_of('\0') + 1;
      } else if (page.is_leaf()) {
        ++raw_leaves;
      }
      return Status::OK();
    };
    ASSERT_TRUE(CheckTree(run->info().root, run->files(), BytewiseComparator(), callbacks, &stats).ok());
    EXPECT_LE(raw_leaves, 1);  // the last leaf, if the entries left for it take less than a unit
    EXPECT_LT((stored - packed) * 100 / packed, 8u) << "of " << packed << " bytes";
  }
}

TEST(CompressedRunTest, IncompressibleLeavesAreStoredRaw) {
  Prng prng(SeedFromEnvironment(73));
  Model model{KeyLess{BytewiseComparator()}};
  for (int n = 0; n < 3000; ++n) {
    OwnedEntry entry;
    entry.kind = EntryKind::kInline;
    entry.value = prng.Bytes(100);
    model[prng.Bytes(16)] = entry;
  }
  const BuiltRun raw = Build(model, BytewiseComparator(), {});
  for (const Codec codec : kCodecs) {
    const BuiltRun built = Build(model, BytewiseComparator(), With(codec));
    EXPECT_LE(built.file->contents.size(), raw.file->contents.size());
    PagePool pool(1 << 20);
    const auto run = Open(built, BytewiseComparator(), &pool);
    ASSERT_NE(run, nullptr);
    ExpectReadsBack(*run, model);
    const TreeCheckStats stats = Check(*run, BytewiseComparator());
    EXPECT_EQ(stats.raw_page_bytes, stats.page_bytes);
  }
}

TEST(CompressedRunTest, SameEntriesMakeTheSameFile) {
  Prng prng(SeedFromEnvironment(74));
  const Model model = CompressibleModel(5000, 4096, &prng);
  for (const Codec codec : kCodecs) {
    EXPECT_EQ(Build(model, BytewiseComparator(), With(codec)).file->contents,
              Build(model, BytewiseComparator(), With(codec)).file->contents);
  }
}

TEST(CompressedRunTest, BlockSizeOutOfRangeIsInvalidArgument) {
  const auto status = [](const RunOptions& options) {
    RunBuilder builder(std::make_shared<MemoryFile>("000012.run"), {}, BytewiseComparator(), options);
    const Status added = builder.Add("a", Entry::Tombstone());
    EXPECT_EQ(builder.Finish().status().code(), added.code());
    return added;
  };
  for (const std::uint32_t page_size : {512u, 4096u, 16384u}) {
    EXPECT_TRUE(status(With(Codec::kLz4, page_size)).ok());
    EXPECT_TRUE(status(With(Codec::kLz4, page_size, 2 * page_size)).ok());
    EXPECT_TRUE(status(With(Codec::kLz4, page_size, 32 * page_size)).ok());
    const Status small = status(With(Codec::kLz4, page_size, 2 * page_size - 1));
    EXPECT_TRUE(small.IsInvalidArgument());
    EXPECT_NE(small.ToString().find("block_size"), std::string::npos);
    EXPECT_TRUE(status(With(Codec::kZstd, page_size, 32 * page_size + 1)).IsInvalidArgument());
  }
}

// Changes every byte of the file. Each change gives an error that names the file; only the zeros after the file header
// may change without any effect.
TEST(CompressedRunTest, DamageIsDetected) {
  Prng prng(SeedFromEnvironment(75));
  Model model{KeyLess{BytewiseComparator()}};
  for (std::uint64_t n = 0; n < 60; ++n) model[NumberedKey(n)] = CompressibleEntry(&prng);
  for (const Codec codec : kCodecs) {
    const BuiltRun built = Build(model, BytewiseComparator(), With(codec, 512, 4096));
    PagePool pool(1 << 20);
    const std::string good = built.file->contents;
    const auto read_all = [&]() -> Status {
      CAMBIUM_TRY(const auto run, Run::Open(built.file, built.info, BytewiseComparator(), &pool));
      TreeCheckStats stats;
      const Status checked = CheckTree(run->info().root, run->files(), BytewiseComparator(), {}, &stats);
      const auto cursor = run->NewCursor();
      for (cursor->SeekToFirst(); cursor->Valid();) cursor->Next();
      EXPECT_EQ(checked.code(), cursor->status().code());
      return cursor->status();
    };
    ASSERT_TRUE(read_all().ok());
    for (std::size_t i = 0; i < good.size(); ++i) {
      built.file->contents = good;
      built.file->contents[i] = static_cast<char>(good[i] ^ (1 << i % 8));
      const Status status = read_all();
      if (i >= kFileHeaderSize && i < 512) {
        ASSERT_TRUE(status.ok()) << i;
      } else {
        ASSERT_TRUE(status.IsCorruption() || status.IsNotSupported()) << i << " " << status.ToString();
        ASSERT_NE(status.ToString().find("000012.run"), std::string::npos);
      }
    }
  }
}

// The pool counts the expanded sizes of leaves, not the stored ones, and stays within its capacity while leaves of all
// sizes are loaded and evicted.
TEST(CompressedRunTest, PoolCountsRawBytes) {
  Prng prng(SeedFromEnvironment(76));
  const Model model = CompressibleModel(20000, 4096, &prng);
  for (const Codec codec : kCodecs) {
    const BuiltRun built = Build(model, BytewiseComparator(), With(codec));
    PagePool large(64 << 20);
    {
      const auto run = Open(built, BytewiseComparator(), &large);
      const auto cursor = run->NewCursor();
      for (cursor->SeekToFirst(); cursor->Valid();) cursor->Next();
      const TreeCheckStats stats = Check(*run, BytewiseComparator());
      EXPECT_EQ(large.stats().resident_bytes, stats.raw_page_bytes);
      EXPECT_EQ(large.stats().resident_pages, stats.leaves + stats.branches);
      EXPECT_GT(stats.raw_page_bytes, stats.page_bytes * 5 / 4);
    }
    EXPECT_EQ(large.stats().resident_bytes, 0u);

    constexpr std::size_t kCapacity = 200 * 1024;
    PagePool small(kCapacity);
    const auto run = Open(built, BytewiseComparator(), &small);
    for (int i = 0; i < 3000; ++i) {
      PageRef keep;
      Entry entry;
      ASSERT_TRUE(run->Find(NumberedKey(prng.Uniform(60000)), &keep, &entry).ok());
      ASSERT_LE(small.stats().resident_bytes, kCapacity);
      ASSERT_TRUE(small.CheckInvariants(false).ok());
    }
    EXPECT_GT(small.stats().evictions, 100u);
    EXPECT_GT(small.stats().resident_bytes, kCapacity / 2);
    EXPECT_TRUE(small.CheckInvariants(true).ok());
    small.SetCapacity(0);
    EXPECT_EQ(small.stats().resident_bytes, 0u);
  }
}

// Threads look up, walk and hold entries of two runs through a pool of a tenth of their size. Pinned pages must not
// change.
TEST(CompressedRunTest, ThreadsReadThroughASmallPool) {
  const std::uint64_t seed = SeedFromEnvironment(77);
  Prng prng(seed);
  const Model model = CompressibleModel(6000, 4096, &prng);
  const BuiltRun first = Build(model, BytewiseComparator(), With(Codec::kLz4));
  const BuiltRun second = Build(model, BytewiseComparator(), With(Codec::kZstd));
  PagePool pool(100 * 1024);
  const auto first_run = Open(first, BytewiseComparator(), &pool);
  const auto second_run = Open(second, BytewiseComparator(), &pool);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Prng chance(seed + t);
      PageRef held;
      Entry held_entry;
      const OwnedEntry* held_model = nullptr;
      for (std::uint64_t i = 0; i < 1500 * ScaleFromEnvironment(); ++i) {
        const auto& run = chance.OneIn(2) ? *first_run : *second_run;
        const std::string key = NumberedKey(chance.Uniform(chance.OneIn(2) ? 300 : 18000));
        const auto expected = model.find(key);
        PageRef keep;
        Entry entry;
        const Result<bool> found = run.Find(key, &keep, &entry);
        if (!found.ok() || *found != (expected != model.end())) {
          wrong.fetch_add(1);
          continue;
        }
        if (held_model != nullptr && !held_model->Is(held_entry)) wrong.fetch_add(1);
        if (*found) {
          held = std::move(keep);
          held_entry = entry;
          held_model = &expected->second;
        }
        if (i % 50 == 0) {
          const auto cursor = run.NewCursor();
          auto it = model.lower_bound(key);
          cursor->Seek(key);
          for (int steps = 0; steps < 300 && it != model.end(); ++steps, ++it, cursor->Next()) {
            if (!cursor->Valid() || cursor->key() != Slice(it->first) || !it->second.Is(cursor->entry())) {
              wrong.fetch_add(1);
              break;
            }
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  const Status invariants = pool.CheckInvariants(true);
  EXPECT_TRUE(invariants.ok()) << invariants.ToString();
}

}  // namespace
}  // namespace cambium::compressed_run_test
