// Runs with range deletes, with or without keys.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "index/run.h"
#include "index/run_footer.h"
#include "index_test_util.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace cambium::run_ranges_test {
namespace {

using namespace cambium::testing;

struct BuiltRun {
  std::shared_ptr<MemoryFile> file;
  RunInfo info;
};

FileHeader RunHeader() {
  FileHeader header;
  header.number = 12;
  header.file_id[3] = 1;
  return header;
}

BuiltRun Build(const Model& model, const RangeDeletes& ranges, const Comparator* comparator,
               const RunOptions& options = {}) {
  BuiltRun run;
  run.file = std::make_shared<MemoryFile>("000012.run");
  RunBuilder builder(run.file, RunHeader(), comparator, options);
  for (const auto& [key, entry] : model) EXPECT_TRUE(builder.Add(key, entry.view()).ok());
  EXPECT_TRUE(builder.AddRanges(ranges).ok());
  const Result<RunInfo> info = builder.Finish();
  EXPECT_TRUE(info.ok()) << info.status().ToString();
  if (info.ok()) run.info = *info;
  EXPECT_EQ(run.info.file_size, run.file->contents.size());
  return run;
}

Model Keys(const std::vector<std::string>& keys, const Comparator* comparator = BytewiseComparator()) {
  Model model{KeyLess{comparator}};
  for (const std::string& key : keys) {
    OwnedEntry entry;
    entry.kind = EntryKind::kValue;
    entry.word = ValueAddress::InLog(static_cast<Slot>(2), 8, 80).word();
    model[key] = entry;
  }
  return model;
}

RangeDeletes Ranges(const std::vector<RangeDeletes::Range>& ranges, const Comparator* order = BytewiseComparator()) {
  return RangeDeletes(order, ranges);
}

// "value", "tombstone" or "nothing".
std::string Says(const Run& run, const std::string& key) {
  PageRef keep;
  Entry entry;
  const Result<bool> found = run.Find(key, &keep, &entry);
  if (!found.ok()) return found.status().ToString();
  if (!*found) return "nothing";
  return entry.kind == EntryKind::kTombstone ? "tombstone" : "value";
}

TEST(RunRangesTest, KeysOverrideRangesOfTheirRun) {
  PagePool pool(1 << 20);
  const BuiltRun built = Build(Keys({"b", "d"}), Ranges({{"a", "c"}, {"x", "z"}}), BytewiseComparator());
  EXPECT_EQ(built.info.range_delete_count, 2u);
  EXPECT_EQ(built.info.smallest_key, "a");
  EXPECT_EQ(built.info.largest_key, "z");
  EXPECT_TRUE(built.info.largest_is_open);
  const auto run = Run::Open(built.file, built.info, BytewiseComparator(), &pool);
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_EQ(Says(**run, "a"), "tombstone");
  EXPECT_EQ(Says(**run, "b"), "value");
  EXPECT_EQ(Says(**run, "c"), "nothing");
  EXPECT_EQ(Says(**run, "d"), "value");
  EXPECT_EQ(Says(**run, "y"), "tombstone");
  EXPECT_EQ(Says(**run, "z"), "nothing");
  ASSERT_NE((*run)->ranges(), nullptr);
  EXPECT_EQ((*run)->ranges()->count(), 2u);
  const auto cursor = (*run)->NewCursor();
  cursor->SeekToFirst();
  EXPECT_EQ(cursor->key(), Slice("b"));
}

TEST(RunRangesTest, RunMayHaveRangesOnly) {
  PagePool pool(1 << 20);
  const BuiltRun built = Build(Keys({}), Ranges({{"a", "c"}}), BytewiseComparator());
  EXPECT_EQ(built.info.root, TreeRoot{});
  const auto run = Run::Open(built.file, built.info, BytewiseComparator(), &pool);
  ASSERT_TRUE(run.ok()) << run.status().ToString();
  EXPECT_EQ((*run)->entry_count(), 0u);
  EXPECT_EQ(Says(**run, "b"), "tombstone");
  EXPECT_EQ(Says(**run, "c"), "nothing");
  const auto cursor = (*run)->NewCursor();
  cursor->SeekToFirst();
  EXPECT_FALSE(cursor->Valid());
  EXPECT_TRUE(cursor->status().ok());
}

TEST(RunRangesTest, LargestKeyIsOpenOnlyIfARangeEndsAfterAllKeys) {
  EXPECT_FALSE(Build(Keys({"c"}), Ranges({{"a", "c"}}), BytewiseComparator()).info.largest_is_open);
  EXPECT_EQ(Build(Keys({"c"}), Ranges({{"a", "c"}}), BytewiseComparator()).info.largest_key, "c");
  EXPECT_TRUE(Build(Keys({"b"}), Ranges({{"a", "c"}}), BytewiseComparator()).info.largest_is_open);
  EXPECT_FALSE(Build(Keys({"b"}), Ranges({}), BytewiseComparator()).info.largest_is_open);
  const BuiltRun reverse =
      Build(Keys({"c"}, ReverseBytewiseComparator()), Ranges({{"d", "b"}}, ReverseBytewiseComparator()),
            ReverseBytewiseComparator());
  EXPECT_EQ(reverse.info.smallest_key, "d");
  EXPECT_EQ(reverse.info.largest_key, "b");
  EXPECT_TRUE(reverse.info.largest_is_open);
}

TEST(RunRangesTest, RunWithoutRangesHasUnchangedBytes) {
  const Model model = Keys({"a", "b"});
  const BuiltRun with = Build(model, Ranges({}), BytewiseComparator());
  auto file = std::make_shared<MemoryFile>("000012.run");
  RunBuilder builder(file, RunHeader(), BytewiseComparator(), {});
  for (const auto& [key, entry] : model) ASSERT_TRUE(builder.Add(key, entry.view()).ok());
  ASSERT_TRUE(builder.Finish().ok());
  EXPECT_EQ(with.file->contents, file->contents);
}

TEST(RunRangesTest, RoundTripsEveryOrder) {
  Prng prng(SeedFromEnvironment(0x7ae));
  for (int round = 0; round < 60; ++round) {
    const Comparator* comparator = AllComparators()[prng.Uniform(3)];
    RunOptions options;
    options.page_size = prng.OneIn(2) ? 512 : 4096;
    options.filter_bits_per_key = prng.OneIn(2) ? 0 : 10;
    const Model model = RandomModel(comparator, KeyShape::kTiny, prng.Uniform(40), options.page_size, &prng);
    std::vector<std::string> bounds;
    for (std::uint64_t n = 2 * prng.Uniform(12); n > 0; --n) bounds.push_back(RandomKey(KeyShape::kTiny, &prng, 10));
    std::vector<RangeDeletes::Range> list;
    for (std::size_t i = 0; i + 1 < bounds.size(); i += 2) list.push_back({bounds[i], bounds[i + 1]});
    const RangeDeletes ranges(comparator, list);
    const BuiltRun built = Build(model, ranges, comparator, options);
    EXPECT_EQ(built.info.range_delete_count, ranges.count());
    PagePool pool(1 << 20);
    built.file->direct = prng.OneIn(2);
    const auto run = Run::Open(built.file, built.info, comparator, &pool);
    ASSERT_TRUE(run.ok()) << run.status().ToString();
    ASSERT_EQ((*run)->ranges() == nullptr, ranges.empty());
    if (!ranges.empty()) {
      ASSERT_TRUE(*(*run)->ranges() == ranges);
    }
    for (int look = 0; look < 200; ++look) {
      const std::string key = RandomKey(KeyShape::kTiny, &prng, 10);
      const auto point = model.find(key);
      PageRef keep;
      Entry entry;
      ASSERT_EQ(*(*run)->Find(key, &keep, &entry), point != model.end() || ranges.Covers(key));
      if (point != model.end()) {
        ASSERT_TRUE(point->second.Is(entry));
      } else if (ranges.Covers(key)) {
        ASSERT_EQ(entry.kind, EntryKind::kTombstone);
      }
    }
  }
}

// Flips each byte after the pages: filter, ranges, bounds and footer are all covered by checksums.
TEST(RunRangesTest, AnyFlippedByteOfTheRangesIsCorruption) {
  PagePool pool(1 << 20);
  const BuiltRun built = Build(Keys({"b"}), Ranges({{"a", "c"}, {"m", "p"}}), BytewiseComparator());
  std::string bytes;
  Ranges({{"a", "c"}, {"m", "p"}}).AppendTo(&bytes);
  const std::size_t at = built.file->contents.rfind(bytes);
  ASSERT_NE(at, std::string::npos);
  for (std::size_t i = at; i < built.file->contents.size(); ++i) {
    const auto file = std::make_shared<MemoryFile>("000012.run");
    file->contents = built.file->contents;
    file->contents[i] = static_cast<char>(file->contents[i] ^ 0x10);
    const Status status = Run::Open(file, built.info, BytewiseComparator(), &pool).status();
    EXPECT_TRUE(status.IsCorruption()) << i << " " << status.ToString();
    EXPECT_NE(status.ToString().find("000012.run"), std::string::npos);
  }
}

// The footer's checksum is valid, but a size, a count, a checksum or a key in it is wrong. Open compares the sizes with
// the file before it allocates memory, and the count and the keys with the decoded range deletes afterwards.
TEST(RunRangesTest, ForgedFooterIsCorruption) {
  PagePool pool(1 << 20);
  const BuiltRun built = Build(Keys({"b"}), Ranges({{"a", "c"}, {"m", "p"}}), BytewiseComparator());
  FileHeader header = RunHeader();
  header.kind = FileKind::kRun;
  header.page_size = 4096;
  const Result<RunFooter> honest = ReadRunFooter(*built.file, built.info.file_size, header);
  ASSERT_TRUE(honest.ok());
  const auto open = [&](void (*change)(RunFooter*)) {
    RunFooter footer = *honest;
    change(&footer);
    const auto file = std::make_shared<MemoryFile>("000012.run");
    file->contents = built.file->contents.substr(0, honest->offset) + EncodeRunFooter(&footer, header.Seed());
    RunInfo info = built.info;
    info.file_size = file->contents.size();
    info.footer_checksum = footer.checksum;
    info.range_delete_count = footer.range_count;
    info.smallest_key = footer.smallest_key;
    info.largest_key = footer.largest_key;
    info.largest_is_open = footer.largest_is_open;
    return Run::Open(file, info, BytewiseComparator(), &pool).status();
  };
  EXPECT_TRUE(open([](RunFooter*) {}).ok());
  EXPECT_TRUE(open([](RunFooter* f) { f->ranges_size = 0xffffffff; }).IsCorruption());
  EXPECT_TRUE(open([](RunFooter* f) { --f->ranges_size; }).IsCorruption());
  EXPECT_TRUE(open([](RunFooter* f) { f->range_count = 0; }).IsCorruption());
  EXPECT_TRUE(open([](RunFooter* f) { f->range_count = 3; }).IsCorruption());
  EXPECT_TRUE(open([](RunFooter* f) { f->ranges_checksum ^= 1; }).IsCorruption());
  EXPECT_TRUE(open([](RunFooter* f) { f->smallest_key = "b"; }).IsCorruption());
  EXPECT_TRUE(open([](RunFooter* f) { f->largest_key = "o"; }).IsCorruption());
  EXPECT_TRUE(open([](RunFooter* f) {
                f->filter_size += f->ranges_size;
                f->ranges_size = 0;
              }).IsCorruption());
  // Under another order these ranges are invalid.
  RunInfo info = built.info;
  EXPECT_TRUE(Run::Open(built.file, info, ReverseBytewiseComparator(), &pool).status().IsCorruption());
}

TEST(RunRangesTest, FailedWriteOfTheRangesFailsAllLaterCalls) {
  auto file = std::make_shared<MemoryFile>("000012.run");
  file->writes_before_failure = 0;
  RunBuilder builder(file, RunHeader(), BytewiseComparator(), {});
  ASSERT_TRUE(builder.AddRanges(Ranges({{"a", "b"}})).ok());
  EXPECT_TRUE(builder.Finish().status().IsNoSpace());
  EXPECT_TRUE(builder.AddRanges(Ranges({{"a", "b"}})).IsNoSpace());
}

}  // namespace
}  // namespace cambium::run_ranges_test
