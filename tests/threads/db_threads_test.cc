// Many threads on one database, on the real file system. All sizes are so small that the database flushes, compacts and
// drops segments all the time. Meant for ThreadSanitizer.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cambium/db.h"
#include "io/sim/sim_file_system.h"
#include "testing/mutant_scope.h"
#include "testing/files/page_cache.h"
#include "testing/scale.h"
#include "threads/threads_fixture.h"
#include "threads/watchdog.h"
#include "util/fault_point.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// ---- Everything at once ----

constexpr std::size_t kDigits = 10;     // keys of a group; each batch writes all of them
constexpr std::size_t kGroups = 16;
constexpr std::size_t kAccounts = 20;
constexpr std::uint64_t kMoney = 100;   // per account at the beginning
constexpr std::size_t kGroupWriters = 2;

std::string GroupKey(std::size_t digit, std::size_t group) {
  return "g" + std::to_string(digit) + "/" + std::to_string(group);
}
std::string AccountKey(std::size_t account) { return "b/" + std::to_string(account); }
const char* const kSequenceKey = "sequence";

// The contents of the database at one moment, and a check whether such a state is possible.
class State {
 public:
  void Add(const std::string& key, const std::string& value) { values_[key] = value; }
  [[nodiscard]] const std::map<std::string, std::string>& values() const { return values_; }
  [[nodiscard]] std::string Problem(std::uint64_t sequence_at_least) const {
    for (std::size_t group = 0; group < kGroups; ++group) {
      const auto first = values_.find(GroupKey(0, group));
      for (std::size_t digit = 1; digit < kDigits; ++digit) {
        const auto other = values_.find(GroupKey(digit, group));
        if ((first == values_.end()) != (other == values_.end()) ||
            (first != values_.end() && first->second != other->second)) {
          return "the keys of group " + std::to_string(group) + " differ: digit " + std::to_string(digit);
        }
      }
    }
    std::uint64_t sum = 0;
    for (std::size_t account = 0; account < kAccounts; ++account) {
      const auto found = values_.find(AccountKey(account));
      if (found == values_.end()) return "an account is missing";
      sum += NumberIn(found->second);
    }
    if (sum != kAccounts * kMoney) return "the accounts hold " + std::to_string(sum);
    const auto sequence = values_.find(kSequenceKey);
    const std::uint64_t shown = sequence == values_.end() ? 0 : NumberIn(sequence->second);
    if (shown < sequence_at_least) {
      return "the state shows " + std::to_string(shown) + ", written after " + std::to_string(sequence_at_least);
    }
    return "";
  }

 private:
  std::map<std::string, std::string> values_;
};

class EverythingTest : public DbThreadsTest {
 protected:
  // Each batch writes ten equal values of a random size; one batch in nine deletes the group.
  void WriteGroups(std::size_t writer, std::uint64_t rounds, Watchdog* watchdog) {
    Prng prng(seed_ + writer);
    for (std::uint64_t round = 1; round <= rounds && !complaints_.any(); ++round) {
      const std::size_t group = prng.Uniform(kGroups / kGroupWriters) * kGroupWriters + writer;
      const std::size_t size = prng.OneIn(50) ? 5000 : prng.Uniform(300);
      const std::string value = std::to_string(round) + ":" + std::string(size, 'v');
      WriteBatch batch;
      for (std::size_t digit = 0; digit < kDigits; ++digit) {
        const std::string key = GroupKey(digit, group);
        if (!Ok(round % 9 == 0 ? batch.Delete(key) : batch.Put(key, value), "batch")) return;
      }
      if (!Ok(db_->Write({}, &batch), "group")) return;
      watchdog->Moved();
    }
  }
  void MoveMoney(std::uint64_t rounds, Watchdog* watchdog) {
    Prng prng(seed_ + 100);
    std::array<std::uint64_t, kAccounts> money;
    money.fill(kMoney);
    for (std::uint64_t round = 0; round < rounds && !complaints_.any(); ++round) {
      const std::size_t from = prng.Uniform(kAccounts);
      const std::size_t to = prng.Uniform(kAccounts);
      const std::uint64_t amount = prng.Uniform(money[from] + 1);
      money[from] -= amount;
      money[to] += amount;
      WriteBatch batch;
      for (const std::size_t account : {from, to}) {
        if (!Ok(batch.Put(AccountKey(account), std::to_string(money[account])), "batch")) return;
      }
      if (!Ok(db_->Write({}, &batch), "money")) return;
      watchdog->Moved();
    }
  }
  // Writes a number that only grows. Raises written_ after the write has returned: a thread that loads written_ before
  // it reads the database must find at least that number.
  void Count(std::uint64_t rounds, Watchdog* watchdog) {
    for (std::uint64_t round = 1; round <= rounds && !complaints_.any(); ++round) {
      WriteOptions options;
      options.sync = round % 16 == 0;
      if (!Ok(db_->Put(options, kSequenceKey, std::to_string(round)), "count")) return;
      written_.store(round);
      if (options.sync) durable_.store(round);
      watchdog->Moved();
    }
  }
  // True if a reader shall read once more. Pauses before, so that readers leave processors to the writers, which have the
  // work that ends the test, and to jobs.
  bool ReadsOn(Prng* prng) {
    std::this_thread::sleep_for(std::chrono::microseconds(prng->Uniform(1000)));
    passes_.fetch_add(1);
    return !stop_.load() && !complaints_.any();
  }
  // Reads of the newest state must never go back.
  void ReadPoints() {
    Prng prng(seed_ + 200);
    std::uint64_t last = 0;
    std::uint64_t last_durable = 0;
    while (ReadsOn(&prng)) {
      std::string value;
      const std::uint64_t written = written_.load();
      ReadOptions either;
      either.async_io = prng.OneIn(2);
      Status s = db_->Get(either, kSequenceKey, &value);
      std::uint64_t shown = s.IsNotFound() ? 0 : NumberIn(value);
      if (!s.ok() && !s.IsNotFound()) complaints_.Add("get: " + s.ToString());
      if (shown < written || shown < last) {
        complaints_.Add("a reader saw " + std::to_string(shown) + " after " + std::to_string(std::max(written, last)));
      }
      last = shown;

      // An acknowledged synced write must be in the durable state.
      ReadOptions durable;
      durable.durable_only = true;
      const std::uint64_t synced = durable_.load();
      s = db_->Get(durable, kSequenceKey, &value);
      shown = s.ok() ? NumberIn(value) : 0;
      if (!s.ok() && !s.IsNotFound()) complaints_.Add("durable get: " + s.ToString());
      if (shown < synced || shown < last_durable) {
        complaints_.Add("a durable read saw " + std::to_string(shown) + " after " +
                        std::to_string(std::max(synced, last_durable)));
      }
      last_durable = shown;

      const std::size_t group = prng.Uniform(kGroups);
      std::vector<std::string> keys;
      for (std::size_t digit = 0; digit < kDigits; ++digit) keys.push_back(GroupKey(digit, group));
      std::vector<std::string> values;
      const std::vector<Status> statuses = db_->MultiGet(either, {keys.begin(), keys.end()}, &values);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!statuses[i].ok() && !statuses[i].IsNotFound()) complaints_.Add("multiget: " + statuses[i].ToString());
        if (statuses[i].code() != statuses[0].code() || values[i] != values[0]) {
          complaints_.Add("one MultiGet saw two states of group " + std::to_string(group));
        }
      }
    }
  }
  void Check(const State& state, std::uint64_t sequence_at_least, const char* where) {
    const std::string problem = state.Problem(sequence_at_least);
    if (!problem.empty()) complaints_.Add(std::string(where) + ": " + problem);
  }
  State Walk(const ReadOptions& options, bool forwards, std::uint64_t* written_before) {
    State state;
    *written_before = written_.load();
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    for (forwards ? it->SeekToFirst() : it->SeekToLast(); it->Valid(); forwards ? it->Next() : it->Prev()) {
      const std::string key = it->key().ToString();
      state.Add(key, it->value().ToString());
    }
    Ok(it->status(), "iterator");
    return state;
  }
  void ReadWithIterators(bool forwards) {
    Prng prng(seed_ + 400 + forwards);
    while (ReadsOn(&prng)) {
      std::uint64_t written = 0;
      ReadOptions either;
      either.async_io = written_.load() % 2 == 1;
      const State state = Walk(either, forwards, &written);
      Check(state, written, forwards ? "forwards" : "backwards");
    }
  }
  // Reads each snapshot in four ways.
  void ReadAtSnapshots() {
    Prng prng(seed_ + 500);
    while (ReadsOn(&prng)) {
      const std::uint64_t written = written_.load();
      const ManagedSnapshot snapshot(db_.get());
      ReadOptions options;
      options.snapshot = snapshot.snapshot();
      std::uint64_t ignored = 0;
      const State forwards = Walk(options, true, &ignored);
      Check(forwards, written, "snapshot");
      const State backwards = Walk(options, false, &ignored);
      if (forwards.values() != backwards.values()) complaints_.Add("a snapshot differs backwards");
      std::vector<std::string> keys;
      for (std::size_t i = 0; i < kAccounts; ++i) keys.push_back(AccountKey(i));
      for (std::size_t i = 0; i < kGroups; ++i) keys.push_back(GroupKey(3, i));
      std::vector<std::string> values;
      const std::vector<Status> statuses = db_->MultiGet(options, {keys.begin(), keys.end()}, &values);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto found = forwards.values().find(keys[i]);
        const bool same = found == forwards.values().end() ? statuses[i].IsNotFound()
                                                           : statuses[i].ok() && values[i] == found->second;
        if (!same) complaints_.Add("MultiGet at a snapshot differs: " + keys[i] + " " + statuses[i].ToString());
        std::string value;
        const Status s = db_->Get(options, keys[i], &value);
        if (s.code() != statuses[i].code() || (s.ok() && value != values[i])) {
          complaints_.Add("Get at a snapshot differs: " + keys[i] + " " + s.ToString());
        }
      }
    }
  }
  void Maintain(Watchdog* watchdog) {
    Prng prng(seed_ + 300);
    while (!stop_.load() && !complaints_.any()) {
      switch (prng.Uniform(6)) {
        case 0: Ok(db_->Flush({}), "flush"); break;
        case 1: Ok(db_->Flush({.wait = false}), "flush"); break;
        case 2: {
          CompactRangeOptions compact;
          compact.blob_garbage_collection_policy = static_cast<BlobGarbageCollectionPolicy>(prng.Uniform(3));
          compact.blob_garbage_collection_age_cutoff = 1;
          Ok(db_->CompactRange(compact, nullptr, nullptr), "compact");
          break;
        }
        case 3: Ok(db_->SyncWAL(), "sync"); break;
        case 4: ForgetLogPages(path_, prng.OneIn(2) ? Forget::kEverySegment : Forget::kEveryOther); break;
        default: {
          std::string text;
          if (!db_->GetProperty("cambium.stats", &text) || !db_->GetProperty("cambium.blob-stats", &text) ||
              !db_->GetProperty("cambium.space", &text) || !db_->GetProperty("cambium.gc-forecast", &text)) {
            complaints_.Add("no properties");
          }
        }
      }
      watchdog->Moved();
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> durable_{0};
  std::atomic<std::uint64_t> passes_{0};  // summed over all readers
};

TEST_F(EverythingTest, ReadersSeeConsistentStatesInOrder) {
  Options options = TinyOptions();
  options.max_background_jobs = 3;
  options.allow_mmap_reads = true;
  options.max_space_amplification = 1.5;
  Open(options);
  WriteBatch bank;
  for (std::size_t i = 0; i < kAccounts; ++i) ASSERT_TRUE(bank.Put(AccountKey(i), std::to_string(kMoney)).ok());
  ASSERT_TRUE(db_->Write({}, &bank).ok());

  const std::uint64_t rounds = ScaledCount(kUnderSanitizer ? 10'000 : 2500);
  std::vector<std::thread> others;
  {
    Watchdog watchdog(db_.get());
    others.emplace_back([this] { ReadPoints(); });
    others.emplace_back([this] { ReadWithIterators(true); });
    others.emplace_back([this] { ReadWithIterators(false); });
    others.emplace_back([this] { ReadAtSnapshots(); });
    others.emplace_back([this, &watchdog] { Maintain(&watchdog); });
    std::vector<std::thread> writers;
    for (std::size_t w = 0; w < kGroupWriters; ++w) {
      writers.emplace_back([this, w, rounds, &watchdog] { WriteGroups(w, rounds, &watchdog); });
    }
    writers.emplace_back([this, rounds, &watchdog] { MoveMoney(rounds, &watchdog); });
    writers.emplace_back([this, rounds, &watchdog] { Count(rounds, &watchdog); });
    for (std::thread& thread : writers) thread.join();
    stop_.store(true);
    for (std::thread& thread : others) thread.join();
  }
  std::printf("%llu passes of the readers\n", static_cast<unsigned long long>(passes_.load()));
  ASSERT_EQ(complaints_.first(), "");
  std::uint64_t ignored = 0;
  const State before = Walk({}, true, &ignored);
  EXPECT_EQ(before.Problem(rounds), "");

  // A live iterator keeps the database open.
  std::unique_ptr<Iterator> it(db_->NewIterator({}));
  EXPECT_TRUE(db_->Close().IsAborted());
  it.reset();
  CloseAndVerify();
  Open(options);
  EXPECT_EQ(Walk({}, false, &ignored).values(), before.values());
  CloseAndVerify();
}

// ---- Syncs ----

// Sixteen threads that sync every write share the syncs of the log, which are slow here. After a write has returned,
// durable-sequence covers it, and a durable read sees it.
TEST_F(DbThreadsTest, SyncingWritersShareLogSyncs) {
  auto sim = std::make_shared<SimFileSystem>();
  const int hook = sim->AddHook([](const SimOp& op) {
    if (op.kind == SimOpKind::kSync && op.phase == SimPhase::kBefore) {
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  });
  Options options = TinyOptions();
  options.file_system = sim;
  ASSERT_TRUE(DB::Open(options, "/db", &db_).ok());
  std::uint64_t syncs_before = 0;
  ASSERT_TRUE(db_->GetIntProperty("cambium.log-syncs", &syncs_before));

  constexpr std::size_t kThreads = 16;
  constexpr std::uint64_t kWrites = 25;
  std::atomic<std::uint64_t> acknowledged{0};
  {
    Watchdog watchdog(db_.get());
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint64_t i = 1; i <= kWrites; ++i) {
          const std::string key = "thread" + std::to_string(t);
          WriteOptions sync;
          sync.sync = true;
          if (!Ok(db_->Put(sync, key, std::to_string(i)), "put")) return;
          const std::uint64_t least = acknowledged.fetch_add(1) + 1;
          std::uint64_t durable = 0;
          if (!db_->GetIntProperty("cambium.durable-sequence", &durable) || durable < least) {
            complaints_.Add(std::to_string(least) + " writes are acknowledged, but the log is durable only up to " +
                            std::to_string(durable));
          }
          ReadOptions read;
          read.durable_only = true;
          std::string value;
          if (!Ok(db_->Get(read, key, &value), "durable get")) return;
          if (NumberIn(value) < i) complaints_.Add("an acknowledged write is not in the durable state");
          watchdog.Moved();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(complaints_.first(), "");
  std::uint64_t syncs = 0;
  ASSERT_TRUE(db_->GetIntProperty("cambium.log-syncs", &syncs));
  EXPECT_LT((syncs - syncs_before) * 2, kThreads * kWrites);
  std::printf("%llu syncs for %llu writes\n", static_cast<unsigned long long>(syncs - syncs_before),
              static_cast<unsigned long long>(kThreads * kWrites));
  EXPECT_TRUE(db_->Close().ok());
  db_.reset();
  sim->RemoveHook(hook);
}

// ---- Views ----

class OldReadersTest : public DbThreadsTest {
 protected:
  static constexpr std::size_t kKeys = 120;
  struct Reader {
    std::map<std::string, std::string> expected;
    std::unique_ptr<Iterator> iterator;
    const Snapshot* snapshot;
  };

  // Overwrites all keys. Returns the new state.
  std::map<std::string, std::string> Overwrite(std::uint64_t generation) {
    std::map<std::string, std::string> state;
    for (std::size_t k = 0; k < kKeys; ++k) {
      const std::string key = "key" + std::to_string(k);
      state[key] = std::to_string(generation) + " " + prng_.Bytes(k % 40 == 0 ? 6000 : 100 + prng_.Uniform(300));
      EXPECT_TRUE(db_->Put({}, key, state[key]).ok());
    }
    return state;
  }
  void AddReader(std::uint64_t generation) {
    Reader reader;
    reader.expected = Overwrite(generation);
    reader.iterator.reset(db_->NewIterator({}));
    reader.snapshot = db_->GetSnapshot();
    if (generation % 2 == 0) reader.iterator->SeekToFirst();
    readers_.push_back(std::move(reader));
  }
  // Writes and compacts until `stop`.
  void Storm(const std::atomic<bool>& stop, Watchdog* watchdog) {
    for (std::uint64_t i = 0; !stop.load() && !complaints_.any(); ++i) {
      if (!Ok(db_->Put({}, "storm" + std::to_string(i % 50), std::string(200, 's')), "storm")) return;
      if (i % 100 == 99 && !Ok(db_->CompactRange({}, nullptr, nullptr), "compact")) return;
      watchdog->Moved();
    }
  }
  void ReadAll(const Reader& reader) {
    Iterator* const it = reader.iterator.get();
    std::map<std::string, std::string> seen;
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const std::string key = it->key().ToString();
      seen[key] = it->value().ToString();
    }
    if (Ok(it->status(), "old iterator") && seen != reader.expected) {
      complaints_.Add("an old iterator saw another state");
    }
    std::size_t backwards = 0;
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      backwards += reader.expected.at(it->key().ToString()) == it->value().ToString() ? 1 : 0;
    }
    if (backwards != kKeys) complaints_.Add("an old iterator saw another state backwards");
    ReadOptions options;
    options.snapshot = reader.snapshot;
    for (const auto& [key, value] : reader.expected) {
      std::string got;
      if (!Ok(db_->Get(options, key, &got), "old snapshot")) return;
      if (got != value) complaints_.Add("an old snapshot saw another state");
    }
  }
  // All readers read at once, while a thread keeps writing and compacting.
  void ReadAllInAStorm() {
    Watchdog watchdog(db_.get());
    std::atomic<bool> stop{false};
    std::thread storm([&] { Storm(stop, &watchdog); });
    std::vector<std::thread> threads;
    for (const Reader& reader : readers_) {
      threads.emplace_back([&] {
        ReadAll(reader);
        watchdog.Moved();
      });
    }
    for (std::thread& thread : threads) thread.join();
    stop.store(true);
    storm.join();
  }
  void EndReaders() {
    for (Reader& reader : readers_) {
      reader.iterator.reset();
      db_->ReleaseSnapshot(reader.snapshot);
    }
    readers_.clear();
  }

 private:
  std::vector<Reader> readers_;
  Prng prng_{seed_};
};

// All files of old readers have been dropped: runs and tree pages by compactions, segments of the log because all of
// their values were overwritten. The readers must see their state to the end. When they have ended, the files must be
// deleted.
TEST_F(OldReadersTest, OldIteratorsKeepTheirFilesUntilTheyEnd) {
  Open(TinyOptions());
  const std::uint64_t generations = kUnderSanitizer ? 6 : 12;
  for (std::uint64_t g = 0; g < generations; ++g) {
    AddReader(g);
    ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
  }
  const std::map<std::string, std::string> last = Overwrite(99);
  ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
  ASSERT_TRUE(db_->WaitForCompact().ok());
  const std::size_t held = FilesOnDisk(".log");
  ReadAllInAStorm();
  ASSERT_EQ(complaints_.first(), "");
  EndReaders();
  ASSERT_TRUE(db_->CompactRange({}, nullptr, nullptr).ok());
  ASSERT_TRUE(db_->WaitForCompact().ok());
  EXPECT_LT(FilesOnDisk(".log"), held);
  for (const auto& [key, value] : last) {
    std::string got;
    ASSERT_TRUE(db_->Get({}, key, &got).ok());
    EXPECT_EQ(got, value);
  }
  CloseAndVerify();
}

// Between the reader's pin of the view and its read of the sequence number, freezes the memtable and writes to the next
// one, which the view does not contain.
void FreezeBetweenViewAndSequence(DB* db, std::string* seen) {
  ASSERT_TRUE(db->Put({}, "key", "old").ok());
  std::atomic<bool> done{false};
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string(name) != "PinView:between" || done.exchange(true)) return;
    EXPECT_TRUE(db->Flush({}).ok());
    EXPECT_TRUE(db->Put({}, "key", "new").ok());
  });
  const ManagedSnapshot snapshot(db);
  FaultPoints::Instance().Set(nullptr);
  ASSERT_TRUE(done.load());
  ReadOptions options;
  options.snapshot = snapshot.snapshot();
  ASSERT_TRUE(db->Get(options, "key", seen).ok());
  // The sequence number covers both writes.
  EXPECT_EQ(snapshot.snapshot()->GetSequenceNumber(), 2u);
}

TEST_F(DbThreadsTest, SnapshotShowsAllWritesUpToItsNumber) {
  Open(TinyOptions());
  std::string seen;
  FreezeBetweenViewAndSequence(db_.get(), &seen);
  EXPECT_EQ(seen, "new");
  CloseAndVerify();
}

TEST_F(DbThreadsTest, SnapshotWithoutSecondCheckMissesAWrite) {
  Open(TinyOptions());
  std::string seen;
  {
    const MutantScope mutant(Mutant::kSkipViewRecheck);
    FreezeBetweenViewAndSequence(db_.get(), &seen);
  }
  EXPECT_EQ(seen, "old");
  CloseAndVerify();
}

// ---- Waiting ----

// Regression test for two defects. The check for remaining work held a view under the lock of the jobs. If that was the
// last view with a file that had just been replaced, the file scheduled a job under the same lock: a deadlock. In
// another place, the families of a view were visited without holding the view.
TEST_F(DbThreadsTest, WaitForCompactEndsDuringCompactions) {
  Options options = TinyOptions();
  options.write_buffer_size = 4u << 10;
  Open(options);
  std::atomic<bool> stop{false};
  {
    Watchdog watchdog(db_.get());
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        while (!stop.load() && Ok(db_->WaitForCompact(), "wait for quiet")) watchdog.Moved();
      });
    }
    Prng prng(seed_);
    const std::uint64_t rounds = ScaledCount(kUnderSanitizer ? 20'000 : 5000);
    for (std::uint64_t i = 0; i < rounds && !complaints_.any(); ++i) {
      Ok(db_->Put({}, "key" + std::to_string(prng.Uniform(200)), prng.Bytes(prng.Uniform(300))), "put");
      if (i % 50 == 49) Ok(db_->Flush({}), "flush");
      watchdog.Moved();
    }
    stop.store(true);
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(complaints_.first(), "");
  CloseAndVerify();
}

// Two memtables of the smallest size and one background thread: every thread that can wait for a flush does.
TEST_F(DbThreadsTest, WritersAlwaysResumeAfterWaitingForFlushes) {
  Options options = TinyOptions();
  options.write_buffer_size = 4u << 10;
  options.max_write_buffer_number = 2;
  options.max_total_wal_size = 16u << 10;
  options.blob_file_size = 16u << 10;
  options.max_background_jobs = 1;
  Open(options);
  constexpr std::size_t kThreads = 6;
  const std::uint64_t rounds = ScaledCount(kUnderSanitizer ? 4000 : 1000);
  std::array<std::atomic<std::uint64_t>, kThreads> done{};
  std::atomic<std::uint64_t> refused{0};
  {
    Watchdog watchdog(db_.get(), [&] {
      std::string text = "rounds of the threads:";
      for (const auto& n : done) text += " " + std::to_string(n.load());
      return text;
    });
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        Prng prng(seed_ + t);
        for (std::uint64_t i = 0; i < rounds && !complaints_.any(); ++i) {
          WriteOptions write;
          write.no_slowdown = t == 0;
          write.sync = t == 1 && prng.OneIn(20);
          const std::string key = std::to_string(t) + "/" + std::to_string(i % 64);
          const Status s = db_->Put(write, key, std::string(prng.Uniform(700), static_cast<char>('a' + t)));
          if (write.no_slowdown && s.IsIncomplete()) {
            refused.fetch_add(1);
          } else if (!Ok(s, "put")) {
            return;
          }
          if (t == 2 && prng.OneIn(30) && !Ok(db_->Flush({}), "flush")) return;
          if (t == 3 && prng.OneIn(100) && !Ok(db_->CompactRange({}, nullptr, nullptr), "compact")) return;
          if (t == 4 && prng.OneIn(200) && !Ok(db_->WaitForCompact(), "wait")) return;
          done[t].store(i + 1);
          watchdog.Moved();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(complaints_.first(), "");
  std::map<std::string, std::string> stats;
  ASSERT_TRUE(db_->GetMapProperty("cambium.index-stats", &stats));
  EXPECT_GT(NumberIn(stats["stalls"]), 0u);
  std::printf("%s stalls, %s flushes, %llu writes would not wait\n", stats["stalls"].c_str(), stats["flushes"].c_str(),
              static_cast<unsigned long long>(refused.load()));
  CloseAndVerify();
}

// Close during background work: queued work ends first, nothing is lost, and no new work starts.
TEST_F(DbThreadsTest, CloseFinishesWorkInProgress) {
  const std::uint64_t times = kUnderSanitizer ? 10 : 40;
  std::map<std::string, std::string> expected;
  Prng prng(seed_);
  for (std::uint64_t i = 0; i < times; ++i) {
    Open(TinyOptions());
    for (std::uint64_t n = prng.Uniform(200); n > 0; --n) {
      const std::string key = std::to_string(prng.Uniform(300));
      expected[key] = std::to_string(i) + std::string(prng.Uniform(400), 'x');
      ASSERT_TRUE(db_->Put({}, key, expected[key]).ok());
    }
    if (prng.OneIn(2)) {
      ASSERT_TRUE(db_->Flush({.wait = false}).ok());
    }
    if (prng.OneIn(4)) {
      db_.reset();  // the destructor closes too
    } else {
      ASSERT_TRUE(db_->Close().ok());
      EXPECT_TRUE(db_->Put({}, "late", "x").IsShutdownInProgress());
      db_.reset();
    }
  }
  Open(TinyOptions());
  for (const auto& [key, value] : expected) {
    std::string got;
    ASSERT_TRUE(db_->Get({}, key, &got).ok()) << key;
    EXPECT_EQ(got, value);
  }
  CloseAndVerify();
}

// ---- Fork ----

TEST_F(DbThreadsTest, CallsInAForkedChildAreRefused) {
  // ThreadSanitizer's runtime has its own locks. If another thread holds one at the fork, the child waits for it for
  // ever.
  if (kUnderThreadSanitizer) GTEST_SKIP() << "SKIPPED: ThreadSanitizer does not follow processes that fork";
  Open(TinyOptions());
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> written{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      while (!stop.load() && Ok(db_->Put({}, std::to_string(t), std::string(300, 'f')), "put")) written.fetch_add(1);
    });
  }
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = written.load();
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(60);
      std::string value;
      const bool refused = db_->Put({}, "x", "y").IsNotSupported() && db_->Get({}, "x", &value).IsNotSupported() &&
                           db_->Flush({}).IsNotSupported() && db_->Close().IsNotSupported();
      ::_exit(refused ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    while (written.load() < before + 50 && !complaints_.any()) std::this_thread::yield();
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(complaints_.first(), "");
  CloseAndVerify();
}

}  // namespace
}  // namespace cambium::testing
