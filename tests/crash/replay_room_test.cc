// Recovery of a log that holds more than the memtables may take: it is replayed in steps, with flushes between them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cambium/listener.h"
#include "manifest/manifest_reader.h"
#include "testing/family_store.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "util/prng.h"

namespace cambium::testing::replay_room_test {
namespace {

constexpr int kKeys = 1500;
constexpr std::size_t kSmallBuffer = 4u << 10;

// Inline, separated and large values.
std::string ValueOf(int i) {
  const std::size_t size = i % 100 == 7 ? 9000 : i % 5 == 0 ? 200 : 40;
  return NumberedKey(i) + std::string(size, static_cast<char>('a' + i % 26));
}

const std::vector<std::string> kFamilies = {"first", "second"};

// The values that must be found, by family and key.
using Contents = std::map<std::pair<std::size_t, std::string>, std::string>;

struct Killed {
  SimImage image;
  Contents contents;
};

// A database whose log was never flushed, with two families, range deletes and a batch that is larger than a memtable
// of the next Open. All of it is synced. The second family gets little, so its memtable is seldom full.
Killed WriteAndKill() {
  FamilyStore store;
  store.options.write_buffer_size = 16u << 20;
  store.options.max_total_wal_size = 64u << 20;
  store.MustOpenWith({});
  for (const std::string& name : kFamilies) store.Create(name);
  Killed killed;
  const auto put = [&](std::size_t family, const std::string& key, const std::string& value) {
    store.PutIn(store.handles[family], key, value, killed.contents.size() % 10 == 0);
    killed.contents[{family, key}] = value;
  };
  for (int i = 0; i < kKeys; ++i) {
    put(i % 50 == 3 ? 2 : i % 2, NumberedKey(i), ValueOf(i));
    if (i % 90 == 80) {
      const std::string begin = NumberedKey(i - 30);
      const std::string end = NumberedKey(i - 20);
      EXPECT_TRUE(store.db->DeleteRange({}, store.handles[0], begin, end).ok());
      std::erase_if(killed.contents, [&](const auto& entry) {
        return entry.first.first == 0 && entry.first.second >= begin && entry.first.second < end;
      });
    }
    if (i == kKeys / 2) {
      WriteBatch batch;
      for (int k = 0; k < 300; ++k) {
        EXPECT_TRUE(batch.Put(store.handles[1], "batch" + NumberedKey(k), ValueOf(k)).ok());
        killed.contents[{1, "batch" + NumberedKey(k)}] = ValueOf(k);
      }
      EXPECT_TRUE(store.db->Write({}, &batch).ok());
    }
  }
  EXPECT_TRUE(store.db->SyncWAL().ok());
  killed.image = store.fs->Snapshot();
  return killed;
}

const Killed& TheKilled() {
  static const Killed killed = WriteAndKill();
  return killed;
}

Contents ContentsOf(FamilyStore* store) {
  Contents contents;
  for (std::size_t family = 0; family < store->handles.size(); ++family) {
    const std::unique_ptr<Iterator> it(store->db->NewIterator({}, store->handles[family]));
    for (it->SeekToFirst(); it->Valid(); it->Next()) contents[{family, it->key().ToString()}] = it->value().ToString();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  }
  return contents;
}

std::unique_ptr<FamilyStore> StoreOf(std::shared_ptr<SimFileSystem> fs, std::size_t buffer = kSmallBuffer) {
  auto store = std::make_unique<FamilyStore>(std::move(fs));
  store->options.write_buffer_size = buffer;
  store->options.max_total_wal_size = 64u << 20;
  return store;
}

std::uint64_t MemtableBytes(const FamilyStore& store) {
  std::uint64_t sum = 0;
  for (ColumnFamilyHandle* const handle : store.handles) {
    std::uint64_t bytes = 0;
    EXPECT_TRUE(store.db->GetIntProperty(handle, "rocksdb.cur-size-all-mem-tables", &bytes));
    sum += bytes;
  }
  return sum;
}

// The bytes of the memtables after an Open with small buffers. The large batch stays whole: it has about 30 KiB.
std::uint64_t MemtableBytesAfterOpen() {
  const auto store = StoreOf(std::make_shared<SimFileSystem>(TheKilled().image));
  store->MustOpenWith(kFamilies);
  if (::testing::Test::HasFatalFailure()) return 0;
  EXPECT_TRUE(ContentsOf(store.get()) == TheKilled().contents);
  return MemtableBytes(*store);
}

TEST(ReplayRoomTest, MemtablesStayWithinTheirBuffers) {
  const auto roomy = StoreOf(std::make_shared<SimFileSystem>(TheKilled().image), 16u << 20);
  roomy->MustOpenWith(kFamilies);
  const std::uint64_t all = MemtableBytes(*roomy);
  const std::uint64_t bound = 3 * 2 * kSmallBuffer + (4u << 10);  // of three families, and the last batch of each
  ASSERT_GT(all, 4 * bound);
  EXPECT_LE(MemtableBytesAfterOpen(), bound);
  const MutantScope mutant(Mutant::kReplayAllInMemory);
  EXPECT_GT(MemtableBytesAfterOpen(), bound);
}

struct LogCalls {
  int opens = 0;
  int reads = 0;
  friend bool operator==(const LogCalls&, const LogCalls&) = default;
};

// How often an Open with these buffers opens each log segment, and reads from it, by its path.
std::map<std::string, LogCalls> CallsForTheLog(std::size_t buffer) {
  const auto fs = std::make_shared<SimFileSystem>(TheKilled().image);
  std::map<std::string, LogCalls> calls;
  SimFault never;
  never.matches = [&](SimOpKind kind, const std::string& path) {
    if (path.ends_with(".log") && kind == SimOpKind::kOpen) ++calls[path].opens;
    if (path.ends_with(".log") && kind == SimOpKind::kRead) ++calls[path].reads;
    return false;
  };
  fs->AddFault(never);
  const auto store = StoreOf(fs, buffer);
  store->MustOpenWith(kFamilies);
  fs->ClearFaults();
  return calls;
}

// A pass opens each segment twice, for reads of the device and of the page cache. It reads the header twice, then the
// first record, and then all records at once, because these segments are smaller than a chunk of the scanner. Only the
// first pass looks for the ends of segments. It makes no difference how many flushes there are on the way.
TEST(ReplayRoomTest, ALogThatDoesNotFitIsReadTwice) {
  const std::map<std::string, LogCalls> once = CallsForTheLog(16u << 20);
  const std::map<std::string, LogCalls> twice = CallsForTheLog(kSmallBuffer);
  ASSERT_GT(once.size(), 4u);
  for (const auto& [path, calls] : once) {
    const int opens = twice.at(path).opens - calls.opens;
    const int reads = twice.at(path).reads - calls.reads;
    SCOPED_TRACE(path + ": " + std::to_string(calls.opens) + " opens and " + std::to_string(calls.reads) +
                 " reads in one pass; the second one adds " + std::to_string(opens) + " and " + std::to_string(reads));
    EXPECT_EQ(opens, 2) << "a part of it is read a third time, or never a second time";
    EXPECT_GE(reads, 2);
    EXPECT_LE(reads, 4) << "a part of it is read a third time";
  }
  EXPECT_TRUE(CallsForTheLog(4 * kSmallBuffer) == twice) << "the number of flushes makes a difference";
}

// A log that the memtables can take is not flushed.
TEST(ReplayRoomTest, ALogThatFitsIsNotFlushed) {
  const auto store = StoreOf(std::make_shared<SimFileSystem>(TheKilled().image), 16u << 20);
  store->MustOpenWith(kFamilies);
  EXPECT_EQ(store->FilesOf(".run").size() + store->FilesOf(".idx").size(), 0u);
  EXPECT_TRUE(ContentsOf(store.get()) == TheKilled().contents);
}

// Opens with small buffers, and cuts the power before calls of this Open. The next Open must find everything, with the
// same or other buffers. Returns the first loss, or "".
std::string AfterCutsDuringOpen(std::uint64_t seed, std::uint64_t step) {
  Prng prng(seed);
  std::vector<SimImage> images;
  {
    const auto fs = std::make_shared<SimFileSystem>(TheKilled().image);
    std::uint64_t calls = seed % step;
    fs->AddHook([&](const SimOp& op) {
      if (op.phase == SimPhase::kBefore && ++calls % step == 0) images.push_back(fs->DrawCrash(prng));
    });
    const auto store = StoreOf(fs);
    if (const Status opened = store->OpenWith(kFamilies); !opened.ok()) return opened.ToString();
    if (ContentsOf(store.get()) != TheKilled().contents) return "lost at once";
    if (std::string wrong = store->Verify(); !wrong.empty()) return wrong;
    fs->PowerOff();
  }
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto fs = std::make_shared<SimFileSystem>(images[i]);
    const auto store = StoreOf(fs, prng.OneIn(2) ? kSmallBuffer : 16u << 10);
    const std::string where = " after cut " + std::to_string(i) + " of " + std::to_string(images.size());
    if (const Status opened = store->OpenWith(kFamilies); !opened.ok()) return opened.ToString() + where;
    if (ContentsOf(store.get()) != TheKilled().contents) return "lost" + where;
    if (std::string wrong = store->Verify(); !wrong.empty()) return wrong + where;
    store->PutIn(store->handles[0], "later", "1", true);
    store->KillAndOpenWith(kFamilies);
    if (store->GetFrom(store->handles[0], "later") != "1") return "a later write is lost" + where;
  }
  return images.size() > 10 ? "" : "only " + std::to_string(images.size()) + " cuts";
}

TEST(ReplayRoomTest, ACutAtAnyCallLosesNothing) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) ASSERT_EQ(AfterCutsDuringOpen(seed, 3), "") << seed;
  {
    const MutantScope mutant(Mutant::kForgetRestOfReplay);
    EXPECT_NE(AfterCutsDuringOpen(1, 2), "");
  }
  const MutantScope mutant(Mutant::kFlushReplayAtLogEnd);
  EXPECT_NE(AfterCutsDuringOpen(1, 2), "");
}

// Damage beyond the part of the log that fits is found before anything is written.
TEST(ReplayRoomTest, ARefusedOpenChangesNothing) {
  const SimFileSystem origin(TheKilled().image);
  std::vector<std::string> segments;
  for (const auto& file : origin.probe().ListFiles()) {
    if (file.path.ends_with(".log") && file.size > 1000) segments.push_back(file.path);
  }
  ASSERT_GT(segments.size(), 4u);
  for (const std::string& path : {segments[segments.size() / 2], segments[segments.size() - 2]}) {
    const auto fs = std::make_shared<SimFileSystem>(TheKilled().image);
    ASSERT_TRUE(fs->tampering().FlipBit(path, 700, 3).ok());
    const auto before = FilesOfDatabase(*fs);
    const auto store = StoreOf(fs);
    const Status refused = store->OpenWith(kFamilies);
    EXPECT_TRUE(refused.IsCorruption()) << refused.ToString();
    EXPECT_NE(refused.ToString().find(path), std::string::npos) << refused.ToString();
    EXPECT_TRUE(FilesOfDatabase(*fs) == before);
    // kPointInTimeRecovery accepts the loss, and the part before the damage is replayed in steps too.
    store->options.wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
    store->MustOpenWith(kFamilies);
    const Contents found = ContentsOf(store.get());
    EXPECT_GT(found.size(), 100u);
    store->KillAndOpenWith(kFamilies);
    EXPECT_TRUE(ContentsOf(store.get()) == found);
    EXPECT_EQ(store->Verify(), "");
  }
}

// Without space for a flush, the database opens all the same, so that deletes can free space.
TEST(ReplayRoomTest, OpenSucceedsOnFullDisk) {
  const auto fs = std::make_shared<SimFileSystem>(TheKilled().image);
  const auto store = StoreOf(fs);
  std::uint64_t used = 0;
  for (const auto& file : fs->probe().ListFiles()) used += (file.size + 4095) / 4096 * 4096;
  fs->SetQuota(used + (16u << 10));
  store->MustOpenWith(kFamilies);
  EXPECT_TRUE(ContentsOf(store.get()) == TheKilled().contents);
  EXPECT_GT(MemtableBytes(*store), 10 * kSmallBuffer);
  store->KillAndOpenWith(kFamilies);  // the quota is lifted
  EXPECT_TRUE(ContentsOf(store.get()) == TheKilled().contents);
  EXPECT_EQ(store->Verify(), "");
}

TEST(ReplayRoomTest, ReadOnlyOpenKeepsWholeLogInMemory) {
  const auto fs = std::make_shared<SimFileSystem>(TheKilled().image);
  const auto store = StoreOf(fs);
  const auto before = FilesOfDatabase(*fs);
  std::vector<ColumnFamilyDescriptor> families{{kDefaultColumnFamilyName, store->options}};
  for (const std::string& name : kFamilies) families.emplace_back(name, store->options);
  ASSERT_TRUE(DB::OpenForReadOnly(store->options, kStorePath, families, &store->handles, &store->db).ok());
  EXPECT_TRUE(ContentsOf(store.get()) == TheKilled().contents);
  EXPECT_TRUE(FilesOfDatabase(*fs) == before);
}

// Counts the flushes that begin, and keeps the smallest sequence number that the database had at one of them.
class FlushWatch final : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo&) override {
    ++calls_;
    least_ = std::min(least_, db->GetLatestSequenceNumber());
  }
  [[nodiscard]] int calls() const { return calls_; }
  [[nodiscard]] SequenceNumber least() const { return least_; }

 private:
  int calls_ = 0;
  SequenceNumber least_ = kMaxSequenceNumber;
};

// Whether each call has seen all operations of the log.
bool ListenersSeeAllOperations() {
  const auto store = StoreOf(std::make_shared<SimFileSystem>(TheKilled().image));
  const auto watch = std::make_shared<FlushWatch>();
  store->options.listeners = {watch};
  store->MustOpenWith(kFamilies);
  EXPECT_GT(watch->calls(), 5);
  return watch->least() == store->db->GetLatestSequenceNumber();
}

TEST(ReplayRoomTest, ListenersAreCalledWhenAllIsReplayed) {
  EXPECT_TRUE(ListenersSeeAllOperations());
  const MutantScope mutant(Mutant::kEventsDuringOpen);
  EXPECT_FALSE(ListenersSeeAllOperations()) << "the mutant has no effect";
}

TEST(ReplayRoomTest, ListenersAreNotCalledByFailedOpen) {
  int failed = 0;
  for (std::uint64_t nth = 1; nth < 40; ++nth) {
    const auto fs = std::make_shared<SimFileSystem>(TheKilled().image);
    SimFault fault;
    fault.status = Status::IOError("injected fault");
    fault.matches = [](SimOpKind kind, const std::string&) { return kind == SimOpKind::kSyncDirectory; };
    fault.nth = nth;
    fs->AddFault(fault);
    const auto store = StoreOf(fs);
    const auto watch = std::make_shared<FlushWatch>();
    store->options.listeners = {watch};
    if (store->OpenWith(kFamilies).ok()) continue;
    ++failed;
    EXPECT_EQ(watch->calls(), 0) << nth;
  }
  EXPECT_GT(failed, 3);
}

// Every fifth call of such an Open fails once. Then Open fails, or it succeeds with everything; the next one has everything.
TEST(ReplayRoomTest, AFailedCallLosesNothing) {
  std::uint64_t failed = 0;
  for (std::uint64_t nth = 1;; nth += 5 * kSweepStep) {
    const auto fs = std::make_shared<SimFileSystem>(TheKilled().image);
    SimFault fault;
    fault.status = Status::IOError("injected fault");
    fault.matches = [](SimOpKind, const std::string&) { return true; };
    fault.nth = nth;
    fs->AddFault(fault);
    bool is_open = false;
    {
      const auto store = StoreOf(fs);
      is_open = store->OpenWith(kFamilies).ok();
      if (fs->fault_hits() == 0) break;
      failed += is_open ? 0 : 1;
      if (is_open) {
        EXPECT_TRUE(ContentsOf(store.get()) == TheKilled().contents) << nth;
      }
    }
    fs->ClearFaults();
    if (!is_open) {  // the MANIFEST does not say that the log was replayed and closed
      const Result<ManifestRead> manifest = ReadManifest(*fs, kStorePath);
      ASSERT_TRUE(manifest.ok()) << nth << manifest.status().ToString();
      EXPECT_FALSE(manifest->state.clean_shutdown) << nth;
    }
    Prng prng(nth);
    const auto store = StoreOf(std::make_shared<SimFileSystem>(fs->DrawCrash(prng)));
    ASSERT_TRUE(store->OpenWith(kFamilies).ok()) << nth;
    ASSERT_TRUE(ContentsOf(store.get()) == TheKilled().contents) << nth;
    ASSERT_EQ(store->Verify(), "") << nth;
  }
  EXPECT_GT(failed * kSweepStep, 10u);
}

}  // namespace
}  // namespace cambium::testing::replay_room_test
