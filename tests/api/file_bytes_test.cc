// The tickers FILE_BYTES_* are a ledger: for each purpose they equal the bytes that the file system received, and every
// byte was appended, so their sum is the growth of all files.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "testing/test_store.h"
#include "cambium/compaction_filter.h"
#include "cambium/listener.h"
#include "cambium/statistics.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr std::array<Tickers, 6> kCauses = {FILE_BYTES_LOG, FILE_BYTES_FLUSH,    FILE_BYTES_MERGE,
                                            FILE_BYTES_GC,  FILE_BYTES_MANIFEST, FILE_BYTES_OTHER};

// Sees each write as the file system does. Finds the purpose of a write without the library's help: by the file's name,
// by the reason of creation that listeners got, and by the running job, because all jobs run in one thread.
class Witness final : public EventListener {
 public:
  void Watch(SimFileSystem* fs) {
    fs->AddHook([this, fs](const SimOp& op) {
      if (op.phase != SimPhase::kBefore) return;
      if (op.kind == SimOpKind::kCreate) ends_[std::string(op.path)] = 0;
      if (op.kind == SimOpKind::kTruncate) ends_[std::string(op.path)] = op.offset;
      if (op.kind == SimOpKind::kWrite) NoteWrite(op, *fs);
    });
  }
  [[nodiscard]] std::uint64_t Bytes(Tickers cause) { return bytes_[cause]; }
  [[nodiscard]] const std::vector<std::string>& surprises() const { return surprises_; }
  // Bytes written to files, by purpose.
  [[nodiscard]] bool Saw(BlobFileCreationReason reason) const {
    return std::ranges::any_of(blobs_, [reason](const auto& each) { return each.second == reason; });
  }

  void OnFlushBegin(DB*, const FlushJobInfo&) override { jobs_.push_back(FILE_BYTES_FLUSH); }
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { jobs_.pop_back(); }
  void OnCompactionBegin(DB*, const CompactionJobInfo&) override { jobs_.push_back(FILE_BYTES_MERGE); }
  void OnCompactionCompleted(DB*, const CompactionJobInfo&) override { jobs_.pop_back(); }
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) override {
    tables_[info.file_path] = info.reason;
  }
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& info) override { blobs_[info.file_path] = info.reason; }

 private:
  void NoteWrite(const SimOp& op, const SimFileSystem& fs) {
    const std::string path(op.path);
    if (!path.starts_with(kStorePath)) return;
    std::uint64_t& end = ends_[path];
    if (op.offset != end && !ReplacesZerosOfLog(op, fs, end)) {
      surprises_.push_back(path + ": a write at " + std::to_string(op.offset) + ", not at its end, " + std::to_string(end));
    }
    end = std::max(end, op.offset + op.length);
    bytes_[CauseOf(path)] += op.length;
  }

  // Zeros are written ahead of frequent syncs.
  static bool ReplacesZerosOfLog(const SimOp& op, const SimFileSystem& fs, std::uint64_t end) {
    const std::string path(op.path);
    std::string contents;
    if (!path.ends_with(".log") || op.offset > end || !fs.probe().ReadContents(path, &contents).ok()) return false;
    const std::string replaced = contents.substr(op.offset, op.length);
    return replaced == std::string(replaced.size(), '\0');
  }

  Tickers CauseOf(const std::string& path) {
    const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
    if (name.starts_with("MANIFEST-")) return FILE_BYTES_MANIFEST;
    if (name.ends_with(".log")) return FILE_BYTES_LOG;
    if (name.ends_with(".val") || name.ends_with(".gc")) {
      const auto made = blobs_.find(path);
      if (made == blobs_.end()) {
        surprises_.push_back(path + ": its creation was not reported");
      } else if (made->second == BlobFileCreationReason::kCompactionFilter) {
        return FILE_BYTES_MERGE;
      }
      return name.ends_with(".gc") ? FILE_BYTES_GC : FILE_BYTES_LOG;
    }
    if (name.ends_with(".idx") || name.ends_with(".run")) {
      const auto made = tables_.find(path);
      if (made != tables_.end() && made->second == TableFileCreationReason::kLogGc) return FILE_BYTES_GC;
      if (made != tables_.end() && made->second == TableFileCreationReason::kSnapshot) return FILE_BYTES_FLUSH;
      if (jobs_.empty()) surprises_.push_back(path + ": written while no job runs");
      return jobs_.empty() ? FILE_BYTES_OTHER : jobs_.back();
    }
    return FILE_BYTES_OTHER;
  }

  std::map<Tickers, std::uint64_t> bytes_;
  std::map<std::string, std::uint64_t> ends_;  // of the written part of each file
  std::map<std::string, TableFileCreationReason> tables_;
  std::map<std::string, BlobFileCreationReason> blobs_;
  std::vector<Tickers> jobs_;  // running jobs, the innermost last
  std::vector<std::string> surprises_;
};

// Makes values longer, some so long that they get files of their own.
class Lengthens final : public CompactionFilter {
 public:
  Decision FilterV2(int, const Slice& key, ValueType, const Slice& value, std::string* new_value,
                    std::string*) const override {
    if (key.ToString().back() != '7' || value.size() < 200) return Decision::kKeep;
    *new_value = std::string(key.ToString().ends_with("77") ? 10'000 : 300, 'f');
    return Decision::kChangeValue;
  }
  const char* Name() const override { return "Lengthens"; }
};

struct WatchedStore : TestStore {
  explicit WatchedStore(SimOptions sim = {}) : TestStore(sim), witness(std::make_shared<Witness>()) {
    options.statistics = CreateDBStatistics();
    options.listeners.push_back(witness);
    options.info_log = nullptr;  // the LOG would be counted too
    options.blob_garbage_collection_age_cutoff = 1;
    witness->Watch(fs.get());
  }
  void ExpectLedgerIsRight() const {
    for (const Tickers cause : kCauses) {
      EXPECT_EQ(options.statistics->getTickerCount(cause), witness->Bytes(cause)) << TickersNameMap[cause].second;
    }
    for (const std::string& surprise : witness->surprises()) ADD_FAILURE() << surprise;
  }
  void ExpectAllMoved() const {
    for (const Tickers cause : kCauses) EXPECT_GT(witness->Bytes(cause), 0u) << TickersNameMap[cause].second;
  }
  // Values of all sizes: inline, in the log, and in files of their own.
  void Overwrite(Prng* prng, int operations) {
    for (int i = 0; i < operations; ++i) {
      const std::string key = NumberedKey(static_cast<int>(prng->Uniform(300)));
      const std::uint64_t draw = prng->Uniform(100);
      if (draw < 10) {
        ASSERT_TRUE(db->Delete({}, key).ok());
      } else {
        Put(key, std::string(draw < 40 ? 30 : draw < 99 ? 600 : 12'000, static_cast<char>('a' + i % 26)), draw == 50);
      }
    }
  }

  std::shared_ptr<Witness> witness;
};

// Overwrites, deletes, large values, flushes, compactions, log GC, a snapshot, new options, with Opens in between.
TEST(FileBytesTest, TickersEqualTheBytesWrittenForEachPurpose) {
  WatchedStore store;
  Prng prng(5);
  for (int opening = 0; opening < 3; ++opening) {
    store.MustOpen();
    for (int round = 0; round < 4; ++round) {
      store.Overwrite(&prng, 400);
      const Snapshot* const snapshot = store.db->GetSnapshot();
      store.Overwrite(&prng, 400);
      store.Flush();
      store.db->ReleaseSnapshot(snapshot);
      if (round == 1) store.Compact();
      store.RunUntilIdle();
      store.ExpectLedgerIsRight();
    }
    ASSERT_TRUE(store.db->SetOptions({{"min_blob_size", std::to_string(64 + opening)}}).ok());
    store.LetSecondsPass(2);
    store.MustClose();
    store.ExpectLedgerIsRight();
  }
  store.ExpectAllMoved();
  EXPECT_TRUE(store.witness->Saw(BlobFileCreationReason::kLogGc));
  EXPECT_TRUE(store.witness->Saw(BlobFileCreationReason::kLargeValue));
}

// Writes of a filter count as writes of its compaction.
TEST(FileBytesTest, ValuesChangedByAFilterCountAsCompaction) {
  WatchedStore store;
  const Lengthens filter;
  store.options.compaction_filter = &filter;
  store.MustOpen();
  Prng prng(6);
  store.Overwrite(&prng, 1500);
  store.Compact();
  store.RunUntilIdle();
  store.MustClose();
  store.ExpectLedgerIsRight();
  EXPECT_TRUE(store.witness->Saw(BlobFileCreationReason::kCompactionFilter));
}

// Recovery writes a new MANIFEST, and flushes the operations that it finds in the log.
TEST(FileBytesTest, WritesOfRecoveryAreCounted) {
  WatchedStore store;
  store.MustOpen();
  Prng prng(7);
  store.Overwrite(&prng, 700);
  const SimImage image = store.fs->Snapshot();
  store.MustClose();

  WatchedStore after;
  after.fs = std::make_shared<SimFileSystem>(image);
  after.options.file_system = after.fs;
  after.witness->Watch(after.fs.get());
  after.MustOpen();
  after.RunUntilIdle();
  EXPECT_GT(after.witness->Bytes(FILE_BYTES_MANIFEST), 0u);
  after.MustClose();
  after.ExpectLedgerIsRight();
}

// A failed write counts in full, because nothing tells how much of it was written.
TEST(FileBytesTest, FailedWriteIsCounted) {
  WatchedStore store;
  store.MustOpen();
  Prng prng(8);
  store.Overwrite(&prng, 200);
  store.Flush();
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.matches = [](SimOpKind, const std::string& path) { return path.ends_with(".log"); };
  const int id = store.fs->AddFault(fault);
  EXPECT_FALSE(store.db->Put({}, "key", std::string(500, 'v')).ok());
  store.fs->RemoveFault(id);
  store.Put("key", std::string(500, 'v'));
  store.MustClose();
  for (const Tickers cause : kCauses) {
    EXPECT_EQ(store.options.statistics->getTickerCount(cause), store.witness->Bytes(cause));
  }
}

}  // namespace
}  // namespace cambium::testing
