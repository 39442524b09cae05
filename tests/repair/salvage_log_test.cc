// Tests salvage of a damaged log: an older value never replaces one that is lost or in doubt, and operations of
// incomplete batches are never recovered.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "cambium/compaction_filter.h"
#include "io/file_header.h"
#include "io/sim/sim_file_system.h"
#include "repair/repair_store.h"
#include "util/prng.h"
#include "vlog/segment_scanner.h"

namespace cambium::testing {
namespace {

struct Found {
  std::string path;
  std::uint64_t offset = 0;
  RecordHeader header;
  std::string key;
};

// Returns every operation of the log.
std::vector<Found> RecordsOf(const TestStore& store) {
  std::vector<Found> records;
  for (const std::string& path : store.FilesOf(".log")) {
    std::unique_ptr<File> file;
    EXPECT_TRUE(store.fs->Open(path, OpenMode::kReadOnly, {}, &file).ok());
    std::string bytes;
    EXPECT_TRUE(store.fs->probe().ReadContents(path, &bytes).ok());
    const Result<FileHeader> header = DecodeFileHeader(bytes, path);
    EXPECT_TRUE(header.ok());
    SegmentScanner scanner(*file, header->Seed(), kFileHeaderSize, bytes.size(), nullptr);
    ScannedRecord record;
    while (true) {
      const Result<ScanResult> next = scanner.Next(&record);
      if (!next.ok() || *next != ScanResult::kRecord) break;
      if (!IsControl(record.header.op)) {
        records.push_back({path, record.offset, record.header, record.key.ToString()});
      }
    }
  }
  return records;
}

std::string Value(char c, std::size_t size = 900) { return std::string(size, c); }

bool IsReportedUnproven(const Findings& findings, const std::string& key) {
  return std::ranges::any_of(findings.unproven, [&](const RepairUnproven& each) { return each.key == key; });
}
bool IsReportedLost(const Findings& findings, const std::string& key) {
  return std::ranges::any_of(findings.lost, [&](const RepairLoss& each) { return each.key == key; });
}

// Regression: a key K was flushed and written again, then the headers or bodies of two records of the tail were
// damaged. The flushed value was recovered although the newer value was in doubt or known to be lost.
TEST(SalvageLogTest, DoubtfulNewerValueRemovesTheFlushedOne) {
  TestStore store;
  store.MustOpen();
  store.Put("K", Value('o'));
  store.Flush();
  for (const char* const key : {"V", "X", "K", "Y", "Z"}) store.Put(key, Value(key[0]));
  ASSERT_TRUE(store.db->Delete({}, "W").ok());
  store.Put("last", Value('l'));
  store.MustClose();
  Prng prng(1);
  const SimImage image = store.fs->Snapshot().Kill(prng);
  std::vector<Found> tail = RecordsOf(store);
  std::erase_if(tail, [](const Found& record) { return record.header.sequence == 1; });
  ASSERT_EQ(tail.size(), 7u);
  for (std::size_t a = 0; a < tail.size(); ++a) {
    for (std::size_t b = a; b < tail.size(); ++b) {
      for (int how = 0; how < 4; ++how) {
        for (const bool include_unproven : {false, true}) {
          SCOPED_TRACE(tail[a].key + " and " + tail[b].key + ", " + std::to_string(how));
          TestStore damaged(std::make_shared<SimFileSystem>(image));
          const auto damage = [&](const Found& record, bool is_body) {
            const std::uint64_t at = record.offset + (is_body ? kRecordHeaderSize + record.header.key_size : 8);
            if (is_body && record.header.value_size == 0) return;  // a delete has only its key
            ASSERT_TRUE(damaged.fs->tampering().FlipBit(record.path, at, 3).ok());
          };
          damage(tail[a], (how & 1) != 0);
          if (b != a) damage(tail[b], (how & 2) != 0);
          Findings findings;
          RepairOptions options;
          options.include_unproven = include_unproven;
          const Status s = RepairTo(damaged, {}, options, &findings);
          ASSERT_TRUE(s.ok()) << s.ToString();
          const bool is_intact = tail[a].header.value_size == 0 && (how & 1) != 0 &&
                                 (b == a || (tail[b].header.value_size == 0 && (how & 2) != 0));
          EXPECT_EQ(findings.report.IsClean(), is_intact);
          const Entries out = Read(damaged, kOutPath);
          const auto k = out.find("default/K");
          const bool is_header_of_k = (tail[a].key == "K" && (how & 1) == 0) ||
                                      (tail[b].key == "K" && b != a && (how & 2) == 0);
          if (k != out.end() && k->second == Value('o')) {
            // No record of the newer value survives, or unproven values are included.
            EXPECT_TRUE(is_header_of_k || (include_unproven && IsReportedUnproven(findings, "K")));
            EXPECT_TRUE(findings.report.newest_known.has_value());
          } else if (k == out.end()) {
            EXPECT_TRUE(IsReportedLost(findings, "K") || IsReportedUnproven(findings, "K"));
          } else {
            EXPECT_EQ(k->second, Value('K'));
          }
          for (const Found& record : tail) {
            if (record.key == "W" || record.key == "K") continue;
            const bool is_damaged = record.key == tail[a].key || record.key == tail[b].key;
            EXPECT_TRUE(is_damaged || out.contains("default/" + record.key) ||
                        IsReportedUnproven(findings, record.key));
          }
        }
      }
    }
  }
}

// Regression: a range delete of an older layer was applied to newer keys of the lost newest layer. Values that the log
// has and proves were not recovered, not even as unproven.
TEST(SalvageLogTest, RangeDeleteDoesNotHideNewerKeys) {
  CAMBIUM_FOR_THE_LSM_ALONE("a flush applies a range delete to the tree at once, so no layer keeps one");
  for (const bool has_log : {true, false}) {
    TestStore store;
    store.options.blob_file_size = 16 << 10;
    store.options.level0_file_num_compaction_trigger = 8;
    store.options.level0_slowdown_writes_trigger = 20;
    store.options.level0_stop_writes_trigger = 30;
    store.MustOpen();
    for (int i = 0; i < 10; ++i) store.Put(NumberedKey(i), Value('o'));
    store.Flush();
    ASSERT_TRUE(store.db->DeleteRange({}, NumberedKey(0), NumberedKey(9)).ok());
    store.Put("zz", "1");
    store.Flush();
    const std::vector<std::string> older = store.FilesOf(".run");
    ASSERT_EQ(older.size(), 2u);
    for (int i = 0; i < 3; ++i) store.Put(NumberedKey(i), Value('n'));
    store.Flush();
    store.MustClose();
    const Entries before = Read(store, kStorePath);
    ASSERT_EQ(before.size(), 5u);
    std::vector<std::string> runs = store.FilesOf(".run");
    std::erase_if(runs, [&](const std::string& path) { return std::ranges::find(older, path) != older.end(); });
    ASSERT_EQ(runs.size(), 1u);
    ASSERT_EQ(store.FilesOf(".run").size(), 3u) << "the runs were compacted";
    if (!has_log) {  // damage the range delete's record, so that its number is lost
      const std::vector<Found> records = RecordsOf(store);
      const auto range = std::ranges::find(records, RecordOp::kDeleteRange, [](const Found& f) { return f.header.op; });
      ASSERT_NE(range, records.end());
      ASSERT_TRUE(store.fs->tampering().FlipBit(range->path, range->offset + 8, 1).ok());
    }
    for (const bool is_missing : {true, false}) {
      for (const bool include_unproven : {false, true}) {
        SCOPED_TRACE(std::string(has_log ? "log, " : "") + (is_missing ? "missing" : "damaged"));
        TestStore damaged(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
        if (is_missing) {
          ASSERT_TRUE(damaged.fs->tampering().Remove(runs[0]).ok());
        } else {
          ASSERT_TRUE(damaged.fs->tampering().Overwrite(runs[0], store.options.page_size, std::string(64, 'x')).ok());
        }
        Findings findings;
        RepairOptions how;
        how.include_unproven = include_unproven;
        ASSERT_TRUE(RepairTo(damaged, {}, how, &findings).ok());
        EXPECT_FALSE(findings.report.IsClean());
        const Entries out = Read(damaged, kOutPath);
        // The keys written last are proven, since no later operation is missing.
        for (int i = 0; i < 3; ++i) EXPECT_EQ(out.at("default/" + NumberedKey(i)), Value('n'));
        for (int i = 3; i < 9; ++i) EXPECT_FALSE(out.contains("default/" + NumberedKey(i)));
      }
    }
  }
}

class DropsAll final : public CompactionFilter {
 public:
  [[nodiscard]] const char* Name() const override { return "test.DropsAll"; }
  [[nodiscard]] bool Filter(int, const Slice& key, const Slice&, std::string*, bool*) const override {
    return key.starts_with("drop");
  }
};

// Regression: if the index was lost, values that a compaction filter had removed returned as proven, because they were
// still in the log.
TEST(SalvageLogTest, ValuesThatAFilterRemovedAreUnproven) {
  TestStore store;
  const DropsAll filter;
  store.options.compaction_filter = &filter;
  store.MustOpen();
  for (const char* const key : {"drop1", "drop2", "keep"}) store.Put(key, Value(key[4]));
  store.Flush();
  store.Compact();
  store.Put("tail", "t");
  store.MustClose();
  ASSERT_EQ(Read(store, kStorePath).size(), 2u);
  for (const char* const suffix : {".run", ".idx"}) {
    for (const std::string& path : store.FilesOf(suffix)) ASSERT_TRUE(store.fs->tampering().Remove(path).ok());
  }
  for (const bool is_option : {false, true}) {  // the filter is in the options, or is_filtered is set
    TestStore damaged(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
    if (is_option) damaged.options.compaction_filter = &filter;
    Findings findings;
    RepairOptions how;
    how.is_filtered = !is_option;
    ASSERT_TRUE(RepairTo(damaged, {{kDefaultColumnFamilyName, damaged.options}}, how, &findings).ok());
    EXPECT_EQ(Read(damaged, kOutPath), (Entries{{"default/tail", "t"}}));
    EXPECT_TRUE(IsReportedUnproven(findings, "keep"));
    // In an LSM, the MANIFEST's key range of the missing run excludes these keys.
    EXPECT_NE(IsReportedUnproven(findings, "drop1"), TestsUseLsm());
    EXPECT_NE(IsReportedUnproven(findings, "drop2"), TestsUseLsm());
  }
}

// Neither the MANIFEST nor the log says that there was a filter.
TEST(SalvageLogTest, ValuesThatAnUnknownFilterRemovedComeBack) {
  CAMBIUM_TREE_ONLY("in an LSM the MANIFEST's key range of the missing run excludes these keys");
  TestStore store;
  const DropsAll filter;
  store.options.compaction_filter = &filter;
  store.MustOpen();
  for (const char* const key : {"drop1", "keep"}) store.Put(key, Value(key[4]));
  store.Flush();
  store.Compact();
  store.MustClose();
  for (const std::string& path : store.FilesOf(".idx")) ASSERT_TRUE(store.fs->tampering().Remove(path).ok());
  store.options.compaction_filter = nullptr;
  Findings findings;
  ASSERT_TRUE(RepairTo(store, {{kDefaultColumnFamilyName, store.options}}, {}, &findings).ok());
  EXPECT_TRUE(Read(store, kOutPath).contains("default/drop1"));
  EXPECT_TRUE(Read(store, kOutPath).contains("default/keep"));
}

// Regression: if the file of a large value was missing, the value before it was recovered.
TEST(SalvageLogTest, LostLargeValueIsNotReplacedByAnOlderOne) {
  TestStore store;
  store.options.large_value_size = 4 << 10;
  store.MustOpen();
  store.Put("K", Value('1', 5'000));
  store.Flush();
  store.Put("other", "x");
  store.Put("K", Value('2', 5'000));
  store.Put("z", "z");
  store.MustClose();
  ASSERT_TRUE(store.fs->tampering().Remove(store.FilesOf(".val").back()).ok());
  RepairCopies(store, {}, [&](bool, const TestStore& damaged, const Findings& findings) {
    EXPECT_TRUE(IsReportedLost(findings, "K"));
    EXPECT_EQ(Read(damaged, kOutPath), (Entries{{"default/other", "x"}, {"default/z", "z"}}));
  });
}

// Regression: without a MANIFEST, values were called proven although the end of the log was missing.
TEST(SalvageLogTest, LogWithoutItsEndProvesNothing) {
  TestStore store;
  store.MustOpen();
  store.Put("K", Value('o'));
  store.Put("A", "a");
  store.Reopen();
  store.Put("K", Value('n'));
  store.MustClose();
  const std::vector<Found> records = RecordsOf(store);
  ASSERT_EQ(records.size(), 3u);
  RemoveManifests(store);
  ASSERT_NE(records.back().path, records.front().path);
  for (int how = 0; how < 4; ++how) {
    SCOPED_TRACE(how);
    TestStore damaged(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
    const std::string& path = records.back().path;
    if (how == 0) {
      ASSERT_TRUE(damaged.fs->tampering().FlipBit(path, records.back().offset + 8, 3).ok());
    } else if (how == 1) {
      ASSERT_TRUE(damaged.fs->tampering().FlipBit(path, records.back().offset + 500, 3).ok());
    } else if (how == 2) {
      ASSERT_TRUE(damaged.fs->tampering().Overwrite(path, 0, std::string(1'000, 'x')).ok());
    } else {
      ASSERT_TRUE(damaged.fs->tampering().Truncate(path, 60).ok());
    }
    Findings findings;
    ASSERT_TRUE(RepairTo(damaged, {{kDefaultColumnFamilyName, store.options}}, {}, &findings).ok());
    EXPECT_FALSE(findings.report.IsClean());
    EXPECT_FALSE(Read(damaged, kOutPath).contains("default/K"));
    EXPECT_TRUE(IsReportedUnproven(findings, "K"));
    EXPECT_TRUE(IsReportedUnproven(findings, "A"));
  }
}

// Regression: log GC had removed a segment. Without a MANIFEST, the footer of the segment before it was taken for
// damage at the end of the log, and nothing was proven.
TEST(SalvageLogTest, FooterIsNotDamage) {
  TestStore store;
  store.options.blob_file_size = 16u << 10;
  store.MustOpen();
  for (int i = 0; i < 40; ++i) store.Put(NumberedKey(i), Value('v', 3'000));
  store.MustClose();
  const std::vector<Found> records = RecordsOf(store);
  ASSERT_EQ(records.size(), 40u);
  std::vector<std::string> segments;
  for (const Found& record : records) {
    if (segments.empty() || segments.back() != record.path) segments.push_back(record.path);
  }
  ASSERT_GE(segments.size(), 4u);
  RemoveManifests(store);
  ASSERT_GT(store.FilesOf(".log").back(), segments.back()) << "there is no spare segment";
  for (int how = 0; how < 4; ++how) {
    SCOPED_TRACE(how);
    const bool is_last = how > 0;
    const std::string gone = is_last ? segments.back() : segments[1];
    TestStore damaged(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
    for (const std::string& path : store.FilesOf(".log")) {
      // A spare segment does not show where the log ended, with or without preallocated space.
      if (path == gone || (how == 1 && path > gone)) {
        ASSERT_TRUE(damaged.fs->tampering().Remove(path).ok());
      } else if (how > 1 && path > gone) {
        ASSERT_TRUE(damaged.fs->tampering().Truncate(path, how == 2 ? kFileHeaderSize : 8'192).ok());
      }
    }
    Findings findings;
    ASSERT_TRUE(RepairTo(damaged, {{kDefaultColumnFamilyName, store.options}}, {}, &findings).ok());
    EXPECT_TRUE(findings.lost.empty()) << findings.lost.front().what;
    const Entries found = Read(damaged, kOutPath);
    for (const Found& record : records) {
      SCOPED_TRACE(record.key);
      if (record.path == gone) continue;
      const bool is_proven = !is_last && record.path != segments.front();
      EXPECT_EQ(found.contains("default/" + record.key), is_proven);
      EXPECT_EQ(IsReportedUnproven(findings, record.key), !is_proven);
    }
  }
}

// Without a MANIFEST, a file of a later Open shows that the last segment of the log is missing. If that Open has left
// no other file, nothing shows it, and the value that it replaced comes back.
TEST(SalvageLogTest, FileOfALaterOpenShowsThatTheLastSegmentIsMissing) {
  TestStore store;
  store.MustOpen();
  store.Put("A", Value('a'));  // it stays, and so does the segment
  store.Put("K", Value('o'));
  store.MustClose();
  const std::vector<std::string> older = store.FilesOf(".log");
  ASSERT_TRUE(store.FilesOf(IndexFileSuffix()).empty());
  store.MustOpen();
  store.Put("K", Value('n'));
  store.Flush();
  store.MustClose();
  RemoveManifests(store);
  for (const std::string& path : store.FilesOf(".log")) {
    if (std::ranges::find(older, path) == older.end()) {
      ASSERT_TRUE(store.fs->tampering().Remove(path).ok());
    }
  }
  ASSERT_EQ(RecordsOf(store).size(), 2u);
  ASSERT_EQ(store.FilesOf(IndexFileSuffix()).size(), 1u);
  for (const bool has_file : {true, false}) {
    SCOPED_TRACE(has_file);
    TestStore damaged(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
    const std::string path = damaged.FilesOf(IndexFileSuffix()).front();
    if (has_file) {  // only its header: an entry of K would show the newer number
      ASSERT_TRUE(damaged.fs->tampering().Truncate(path, kFileHeaderSize).ok());
    } else {
      ASSERT_TRUE(damaged.fs->tampering().Remove(path).ok());
    }
    Findings findings;
    ASSERT_TRUE(RepairTo(damaged, {{kDefaultColumnFamilyName, store.options}}, {}, &findings).ok());
    EXPECT_EQ(IsReportedUnproven(findings, "K"), has_file);
    const Entries all = {{"default/A", Value('a')}, {"default/K", Value('o')}};
    EXPECT_EQ(Read(damaged, kOutPath), has_file ? Entries() : all);
    const bool is_named = std::ranges::any_of(findings.report.notes, [&](const std::string& note) {
      return note.find(path + ": is of a later open of the database") != std::string::npos;
    });
    EXPECT_EQ(is_named, has_file);
  }
}

// Regression: without a MANIFEST, the operations of a batch that a crash had cut still counted. Its deletes deleted
// their keys, and its writes put their keys in doubt.
TEST(SalvageLogTest, BatchWithoutItsEndDoesNotCount) {
  TestStore store;
  store.MustOpen();
  store.Put("K", Value('o'));
  store.Put("D", Value('d'));
  store.Put("R", Value('r'));
  store.Put("E", Value('e'));
  WriteBatch batch;
  ASSERT_TRUE(batch.Delete("D").ok());
  ASSERT_TRUE(batch.DeleteRange("Q", "S").ok());
  ASSERT_TRUE(batch.Put("K", Value('n')).ok());
  ASSERT_TRUE(batch.Put("B", Value('b', 3'000)).ok());
  ASSERT_TRUE(store.db->Write({}, &batch).ok());
  ASSERT_TRUE(store.db->SyncWAL().ok());
  Prng prng(1);
  const SimImage image = store.fs->Snapshot().Kill(prng);
  store.fs->PowerOff();
  store.db.reset();
  TestStore whole(std::make_shared<SimFileSystem>(image));
  const std::vector<Found> records = RecordsOf(whole);
  ASSERT_EQ(records.size(), 8u);
  const std::uint64_t end = records[7].offset + records[7].header.RecordSize();
  const Entries before = {{"default/K", Value('o')}, {"default/D", Value('d')}, {"default/R", Value('r')},
                          {"default/E", Value('e')}};
  std::size_t proven = 0;
  for (std::uint64_t cut = records[4].offset; cut < end; cut += 8) {
    for (const bool include_unproven : {false, true}) {
      SCOPED_TRACE(std::to_string(cut));
      TestStore torn(std::make_shared<SimFileSystem>(image));
      ASSERT_TRUE(torn.fs->tampering().Truncate(records[7].path, cut).ok());
      RemoveManifests(torn);
      Findings findings;
      RepairOptions how;
      how.include_unproven = include_unproven;
      ASSERT_TRUE(RepairTo(torn, {{kDefaultColumnFamilyName, store.options}}, how, &findings).ok());
      const Entries out = Read(torn, kOutPath);
      for (const auto& [key, value] : out) {
        ASSERT_TRUE(before.contains(key) && before.at(key) == value) << key;
      }
      if (include_unproven) {
        EXPECT_EQ(out, before);
      }
      EXPECT_EQ(out.size() + (include_unproven ? 0 : findings.unproven.size()), before.size());
      proven += findings.unproven.empty() ? 1 : 0;
    }
  }
  EXPECT_GT(proven, 0u);  // a cut between two records leaves no doubt
}

}  // namespace
}  // namespace cambium::testing
