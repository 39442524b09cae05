// Reports of a database's space, and the options of CompactRange for log GC.
#include <algorithm>
#include <map>

#include "upkeep/log_gc/garbage_store.h"
#include "util/fault_point.h"

namespace cambium::testing {
namespace {

std::map<std::string, std::string> Figures(TestStore* store, const std::string& property) {
  std::map<std::string, std::string> figures;
  EXPECT_TRUE(store->db->GetMapProperty("cambium." + property, &figures)) << property;
  return figures;
}

std::uint64_t Figure(TestStore* store, const std::string& property, const std::string& name) {
  const std::map<std::string, std::string> figures = Figures(store, property);
  const auto found = figures.find(name);
  EXPECT_NE(found, figures.end()) << name;
  return found == figures.end() ? 0 : std::stoull(found->second);
}

std::uint64_t BytesOf(const TestStore& store, const std::string& suffix) {
  std::uint64_t bytes = 0;
  for (const auto& file : store.fs->probe().ListFiles()) bytes += file.path.ends_with(suffix) ? file.size : 0;
  return bytes;
}

// The bytes of segments that are not records: file headers, and footers, each with a header and two dozen bytes per
// key.
std::uint64_t AroundRecords(const TestStore& store) { return store.FilesOf(".gc").size() * 4096 + kGarbageKeys * 32; }

// Nothing is hidden in the layers of this database, so the forecast is exact: for written bytes to the byte, for freed
// bytes except headers and footers of the new segments.
TEST(UpkeepSpaceReportForecastTest, ForecastEqualsTheFreedBytes) {
  TestStore store;
  FillWithGarbage(&store);
  EXPECT_EQ(Figures(&store, "gc-forecast")["reason"], "none") << "it is switched off";
  ASSERT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  EXPECT_EQ(Figures(&store, "gc-forecast")["reason"], "garbage, while idle");
  const std::uint64_t next = Figure(&store, "gc-forecast", "next_bytes_freed");
  const std::uint64_t all = Figure(&store, "gc-forecast", "all_bytes_freed");
  const std::uint64_t read = Figure(&store, "gc-forecast", "all_bytes_read");
  const std::uint64_t written = Figure(&store, "gc-forecast", "all_bytes_written");
  EXPECT_GT(next, 0u);
  EXPECT_GE(all, next);
  EXPECT_GT(read, 0u);
  const std::uint64_t before = BytesOf(store, ".log");
  Collect(&store);
  const auto fact = static_cast<double>(store.Property("gc-bytes-read"));
  EXPECT_NEAR(fact, static_cast<double>(read), 0.1 * fact) << "by a law: what is alive lies anywhere";
  EXPECT_EQ(store.Property("gc-bytes-written"), written);
  const std::uint64_t freed = before - BytesOf(store, ".log") - BytesOf(store, ".gc");
  EXPECT_LE(freed, all);
  EXPECT_GE(freed + AroundRecords(store), all);
  EXPECT_EQ(Figure(&store, "gc-forecast", "all_segments"), 0u);
}

// Values that newer runs hide count as live until those runs are compacted. So log GC may write less than the forecast
// says, but never more.
TEST(UpkeepSpaceReportForecastTest, ForecastNeverPromisesTooMuch) {
  TestStore store;
  store.options.sweep_ratio = 1;
  store.options.level0_file_num_compaction_trigger = 30;
  store.options.level0_slowdown_writes_trigger = 40;
  store.options.level0_stop_writes_trigger = 50;
  FillWithGarbage(&store);
  store.Put(NumberedKey(0), GarbageValue(0, 2));
  store.Put(NumberedKey(3), GarbageValue(3, 2));
  store.Flush();
  ASSERT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  const std::uint64_t written = Figure(&store, "gc-forecast", "all_bytes_written");
  Collect(&store);
  EXPECT_GT(store.Property("gc-bytes-written"), 0u);
  EXPECT_LE(store.Property("gc-bytes-written"), written);
}

TEST(UpkeepSpaceReportTest, ReportsBytesPinnedByEachSnapshot) {
  TestStore store;
  FillWithGarbage(&store);
  const Snapshot* const first = store.db->GetSnapshot();
  store.Put(NumberedKey(0), GarbageValue(0, 0));  // a new sequence number
  const Snapshot* const second = store.db->GetSnapshot();
  const auto held_by = [&](const Snapshot* snapshot) {
    return Figure(&store, "space", "pinned_by_snapshot_" + std::to_string(snapshot->GetSequenceNumber()));
  };
  EXPECT_EQ(held_by(first), 0u);
  const std::uint64_t before = store.BytesOnDisk();
  Collect(&store);
  EXPECT_GT(store.BytesOnDisk(), before) << "everything is still there";
  const std::uint64_t pinned = Figure(&store, "space", "pinned_by_snapshots");
  EXPECT_GT(pinned, before / 2);
  EXPECT_EQ(held_by(first), pinned) << "each of them holds all of it";
  EXPECT_EQ(held_by(second), pinned);
  EXPECT_EQ(Figure(&store, "space", "leaving"), pinned) << "nothing else pins files";
  // The database's size does not include bytes that only snapshots pin, nor OPTIONS; it includes the space into which
  // the log's file has grown ahead.
  EXPECT_NEAR(static_cast<double>(Figure(&store, "space", "on_disk") + pinned),
              static_cast<double>(store.BytesOnDisk()), 8192);
  EXPECT_EQ(store.Property("total-blob-file-size"), BytesOf(store, ".log") + BytesOf(store, ".gc"));
  EXPECT_LT(store.Property("live-blob-file-size"), store.Property("total-blob-file-size"));
  store.db->ReleaseSnapshot(first);
  EXPECT_EQ(held_by(second), pinned);
  store.db->ReleaseSnapshot(second);
  store.RunUntilIdle();
  EXPECT_EQ(Figure(&store, "space", "pinned_by_snapshots"), 0u);
  EXPECT_EQ(Figure(&store, "space", "leaving"), 0u);
  EXPECT_LT(store.BytesOnDisk(), before);
  EXPECT_EQ(store.Property("live-blob-file-size"), store.Property("total-blob-file-size"));
}

TEST(UpkeepSpaceReportTest, ReportIsTextAndJson) {
  TestStore store;
  FillWithGarbage(&store);
  for (const char* const name : {"space", "gc-forecast", "index-stats"}) {
    std::string text;
    std::string json;
    ASSERT_TRUE(store.db->GetProperty(std::string("cambium.") + name, &text)) << name;
    ASSERT_TRUE(store.db->GetProperty(std::string("cambium.") + name + "-json", &json)) << name;
    std::string expected = "{";
    for (const auto& [key, figure] : Figures(&store, name)) {
      EXPECT_NE(text.find(key + ": " + figure + "\n"), std::string::npos) << key;
      const bool is_number = figure.find_first_not_of("0123456789.e-") == std::string::npos;
      expected += (expected.size() == 1 ? "\"" : ", \"") + key + "\": " + (is_number ? figure : "\"" + figure + "\"");
    }
    EXPECT_EQ(json, expected + "}");
  }
  std::string none;
  EXPECT_FALSE(store.db->GetProperty("cambium.num-snapshots-json", &none));
  EXPECT_FALSE(store.db->GetProperty("cambium.-json", &none));
}

// ---- CompactRangeOptions ----

CompactRangeOptions With(BlobGarbageCollectionPolicy policy, double age_cutoff = -1) {
  CompactRangeOptions options;
  options.blob_garbage_collection_policy = policy;
  options.blob_garbage_collection_age_cutoff = age_cutoff;
  return options;
}

TEST(CompactRangeGcTest, ForceRewritesAllSegmentsWithinTheCutoff) {
  TestStore store;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  for (int i = 0; i < kGarbageKeys; ++i) store.Put(NumberedKey(i), GarbageValue(i, 0));
  store.Compact();
  store.RunUntilIdle();
  const std::vector<std::string> before = store.FilesOf(".log");
  store.Compact(With(BlobGarbageCollectionPolicy::kForce, 0));
  EXPECT_EQ(store.FilesOf(".log"), before) << "none is old enough";
  store.Compact(With(BlobGarbageCollectionPolicy::kForce, 0.5));
  store.RunUntilIdle();  // files are removed in the background
  const std::vector<std::string> half = store.FilesOf(".log");
  EXPECT_LT(half.size(), before.size());
  EXPECT_GT(half.size(), before.size() / 3);
  EXPECT_EQ(half.back(), before.back()) << "the youngest stay";
  EXPECT_GT(store.Property("gc-bytes-written"), 0u);
  store.Compact(With(BlobGarbageCollectionPolicy::kForce, 1));
  store.RunUntilIdle();
  EXPECT_LE(store.FilesOf(".log").size(), 2u) << "what is written to, and its successor";
  for (int i = 0; i < kGarbageKeys; ++i) ASSERT_EQ(store.Get(NumberedKey(i)), GarbageValue(i, 0)) << i;
  EXPECT_EQ(store.Verify(), "");
}

TEST(CompactRangeGcTest, DefaultCollectsWorthwhileSegments) {
  TestStore store;
  FillWithGarbage(&store);
  store.options.max_space_amplification = 100;  // so that background log GC collects nothing
  ASSERT_TRUE(store.db->SetDBOptions({{"max_space_amplification", "100"}}).ok());
  const std::size_t before = store.FilesOf(".log").size();
  store.Compact(With(BlobGarbageCollectionPolicy::kUseDefault, 1));
  EXPECT_EQ(store.FilesOf(".log").size(), before) << "it is switched off";
  ASSERT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  store.Compact(With(BlobGarbageCollectionPolicy::kDisable, 1));
  EXPECT_EQ(store.FilesOf(".log").size(), before);
  const std::string begin = NumberedKey(0);
  const std::string end = NumberedKey(1);
  const Slice first(begin);
  const Slice last(end);
  ASSERT_TRUE(store.db->CompactRange(With(BlobGarbageCollectionPolicy::kUseDefault, 1), &first, &last).ok());
  EXPECT_EQ(store.FilesOf(".log").size(), before) << "not for some keys";
  store.Compact(With(BlobGarbageCollectionPolicy::kUseDefault, 0));
  EXPECT_EQ(store.FilesOf(".log").size(), before) << "none is old enough";
  store.Compact(With(BlobGarbageCollectionPolicy::kUseDefault));
  EXPECT_LT(store.FilesOf(".log").size(), before) << "the option's cutoff, 1";
  ExpectAll(&store);
  EXPECT_EQ(store.Verify(), "");
}

TEST(CompactRangeGcTest, DisableHoldsBackgroundGcBack) {
  TestStore store;
  FillWithGarbage(&store);
  const std::size_t before = store.FilesOf(".log").size();
  ASSERT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  store.Put(NumberedKey(0), GarbageValue(0, 0));
  std::size_t seen = 0;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string_view(name).starts_with("Gc:")) ++seen;
  });
  store.Compact(With(BlobGarbageCollectionPolicy::kDisable));
  EXPECT_EQ(seen, 0u) << "no step has begun";
  EXPECT_GE(store.FilesOf(".log").size(), before);
  store.RunUntilIdle();
  FaultPoints::Instance().Set(nullptr);
  EXPECT_GT(seen, 0u) << "what was held is begun when the call ends";
  EXPECT_LT(store.FilesOf(".log").size(), before);
  ExpectAll(&store);
}

// A damaged segment is not collected, and the call does not wait for it.
TEST(CompactRangeGcTest, DamagedSegmentIsNotWaitedFor) {
  TestStore store;
  FillWithGarbage(&store);
  store.MustClose();
  const std::vector<std::string> logs = store.FilesOf(".log");
  for (const std::string& path : {logs[0], logs[1]}) {
    std::string bytes;
    ASSERT_TRUE(store.fs->probe().ReadContents(path, &bytes).ok());
    for (std::size_t at = 4096; at + 1 < bytes.size(); at += 512) bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    std::unique_ptr<File> file;
    ASSERT_TRUE(store.fs->Open(path, OpenMode::kReadWrite, {}, &file).ok());
    ASSERT_TRUE(file->Write(0, bytes).ok());
  }
  store.MustOpen();
  store.Compact(With(BlobGarbageCollectionPolicy::kForce, 1));
  const std::vector<std::string> left = store.FilesOf(".log");
  EXPECT_EQ(left[0], logs[0]);
  EXPECT_EQ(left[1], logs[1]);
  EXPECT_LT(left.size(), logs.size());
}

}  // namespace
}  // namespace cambium::testing
