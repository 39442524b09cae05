// Everything that compactions may race with: column families are created and dropped, and other threads read and write.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cambium/db.h"
#include "io/sim/sim_file_system.h"
#include "testing/scale.h"
#include "threads/held_operation.h"
#include "threads/threads_fixture.h"
#include "threads/watchdog.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

using Handle = std::shared_ptr<ColumnFamilyHandle>;

constexpr std::size_t kTrio = 3;  // families with the same contents: "default", a tree and an LSM
constexpr std::size_t kKeys = 200;
constexpr std::size_t kGuestKeys = 150;

std::string KeyOf(std::uint64_t n) { return "key" + std::to_string(1000 + n); }
std::string GuestValueOf(std::size_t n) { return std::string(n * 13 % 300, static_cast<char>('a' + n % 26)); }

class FamilyThreadsTest : public DbThreadsTest {
 protected:
  void OpenTrio() {
    options_ = TinyOptions();
    options_.max_background_jobs = 3;
    options_.create_missing_column_families = true;
    ColumnFamilyOptions tree = options_;
    tree.index_type = IndexKind::kBTree;
    families_ = {{kDefaultColumnFamilyName, options_}, {"tree", tree}, {"lsm", Lsm()}};
    std::vector<ColumnFamilyHandle*> handles;
    const Status s = DB::Open(options_, path_, families_, &handles, &db_);
    ASSERT_TRUE(s.ok()) << s.ToString();
    for (ColumnFamilyHandle* handle : handles) trio_.push_back(Own(handle));
  }
  [[nodiscard]] ColumnFamilyOptions Lsm() const {
    ColumnFamilyOptions lsm = options_;
    lsm.index_type = IndexKind::kLsm;
    lsm.level0_file_num_compaction_trigger = 2;
    lsm.target_file_size_base = 16u << 10;
    lsm.max_bytes_for_level_base = 16u << 10;
    lsm.max_bytes_for_level_multiplier = 2;
    lsm.num_levels = 4;
    lsm.compaction_style = kCompactionStyleLazyLevel;
    lsm.compression = CompressionType::kLZ4Compression;
    return lsm;
  }
  void CloseTrio() {
    trio_.clear();
    const Status s = db_->Close();
    ASSERT_TRUE(s.ok()) << s.ToString();
    db_.reset();
    EXPECT_EQ(DeepVerify(path_, options_, families_), "");
  }
  Handle Own(ColumnFamilyHandle* handle) {
    return {handle, [this](ColumnFamilyHandle* h) { Ok(db_->DestroyColumnFamilyHandle(h), "destroy handle"); }};
  }
  [[nodiscard]] std::vector<ColumnFamilyHandle*> TrioHandles() const {
    return {trio_[0].get(), trio_[1].get(), trio_[2].get()};
  }

  // Returns the family that another thread may drop at any moment, or null if there is none now.
  Handle Guest() {
    const std::lock_guard lock(guest_mutex_);
    return guest_;
  }
  void SetGuest(Handle guest) {
    const std::lock_guard lock(guest_mutex_);
    guest_ = std::move(guest);
  }
  bool OkOrDropped(const Status& s, const char* where) { return s.IsColumnFamilyDropped() || Ok(s, where); }

  // Every batch makes the same change in all three families.
  void WriteTrio(std::size_t writer, std::uint64_t rounds, Watchdog* watchdog) {
    Prng prng(seed_ + writer);
    for (std::uint64_t round = 0; round < rounds && !complaints_.any(); ++round) {
      WriteBatch batch;
      const std::size_t n = prng.Uniform(kKeys);
      const std::string value = prng.OneIn(60) ? prng.Bytes(5000) : prng.Bytes(prng.Uniform(250));
      for (const Handle& family : trio_) {
        Status s;
        if (round % 16 == 15) {
          s = batch.DeleteRange(family.get(), KeyOf(n), KeyOf(n + 20));
        } else if (round % 6 == 5) {
          s = batch.Delete(family.get(), KeyOf(n));
        } else {
          s = batch.Put(family.get(), KeyOf(n), value);
        }
        if (!Ok(s, "batch")) return;
      }
      const Handle guest = prng.OneIn(8) ? Guest() : nullptr;
      if (guest != nullptr && !Ok(batch.Put(guest.get(), "by another " + KeyOf(n), value), "batch")) return;
      const Status s = db_->Write({}, &batch);
      const bool is_late = guest != nullptr && Guest() != guest && (s.IsInvalidArgument() || s.IsColumnFamilyDropped());
      if (!is_late && !Ok(s, "write")) return;
      watchdog->Moved();
    }
  }

  // Iterators of one NewIterators call must show the same contents, in either direction, whatever is compacted
  // meanwhile.
  void ReadTrio(bool forward) {
    Prng prng(seed_ + 50 + (forward ? 1 : 0));
    while (!stop_.load() && !complaints_.any()) {
      ReadOptions options;
      const bool at_snapshot = prng.OneIn(2);
      if (at_snapshot) options.snapshot = db_->GetSnapshot();
      std::vector<Iterator*> made;
      if (!Ok(db_->NewIterators(options, TrioHandles(), &made), "iterators")) return;
      std::array<std::unique_ptr<Iterator>, kTrio> its;
      for (std::size_t i = 0; i < kTrio; ++i) its[i].reset(made[i]);
      for (auto& it : its) forward ? it->SeekToFirst() : it->SeekToLast();
      while (its[0]->Valid()) {
        for (std::size_t i = 1; i < kTrio; ++i) {
          if (!its[i]->Valid() || its[i]->key() != its[0]->key() || its[i]->value() != its[0]->value()) {
            complaints_.Add("iterators of one moment differ at " + its[0]->key().ToString());
          }
        }
        if (complaints_.any()) break;
        for (auto& it : its) forward ? it->Next() : it->Prev();
      }
      for (std::size_t i = 0; i < kTrio; ++i) {
        Ok(its[i]->status(), "iterator");
        if (its[i]->Valid() && !complaints_.any()) complaints_.Add("one iterator continues where another ends");
      }
      if (at_snapshot) {
        const std::string key = KeyOf(prng.Uniform(kKeys));
        std::array<std::string, kTrio> values;
        std::array<Status, kTrio> found;
        for (std::size_t i = 0; i < kTrio; ++i) found[i] = db_->Get(options, trio_[i].get(), key, &values[i]);
        for (std::size_t i = 0; i < kTrio; ++i) {
          if (!found[i].IsNotFound()) Ok(found[i], "get at a snapshot");
          if (found[i].code() != found[0].code() || values[i] != values[0]) complaints_.Add("a snapshot differs at " + key);
        }
        db_->ReleaseSnapshot(options.snapshot);
      }
    }
  }

  // Creates, fills, reads and drops a family. An iterator of the dropped family must still work.
  void CreateAndDrop(std::uint64_t times, Watchdog* watchdog) {
    Prng prng(seed_ + 70);
    for (std::uint64_t time = 0; time < times && !complaints_.any(); ++time) {
      ColumnFamilyOptions options = time % 2 == 0 ? Lsm() : ColumnFamilyOptions(options_);
      options.write_buffer_size = 8u << 10;
      if (time % 4 == 0) options.compaction_style = kCompactionStyleLevel;
      ColumnFamilyHandle* made = nullptr;
      if (!Ok(db_->CreateColumnFamily(options, "guest", &made), "create")) return;
      const Handle guest = Own(made);
      SetGuest(guest);
      for (std::size_t n = 0; n < kGuestKeys; ++n) {
        if (!Ok(db_->Put({}, guest.get(), KeyOf(n), GuestValueOf(n)), "guest put")) return;
      }
      if (!Ok(db_->DeleteRange({}, guest.get(), KeyOf(0), KeyOf(10)), "guest range")) return;
      if (prng.OneIn(2) && !Ok(db_->Flush({.wait = prng.OneIn(2)}, guest.get()), "guest flush")) return;
      const std::unique_ptr<Iterator> it(db_->NewIterator({}, guest.get()));
      if (prng.OneIn(2)) it->SeekToFirst();
      if (prng.OneIn(3)) std::this_thread::sleep_for(std::chrono::milliseconds(prng.Uniform(5)));
      SetGuest(nullptr);
      if (!Ok(db_->DropColumnFamily(guest.get()), "drop")) return;
      std::size_t n = 10;
      for (it->Seek("key"); it->Valid(); it->Next(), ++n) {
        if (it->key() != Slice(KeyOf(n)) || it->value() != Slice(GuestValueOf(n))) {
          complaints_.Add("an iterator of a dropped family shows " + it->key().ToString());
          break;
        }
      }
      if (Ok(it->status(), "iterator of a dropped family") && n != kGuestKeys && !complaints_.any()) {
        complaints_.Add("an iterator of a dropped family ends at " + std::to_string(n));
      }
      if (!db_->Put({}, guest.get(), "x", "y").IsColumnFamilyDropped()) complaints_.Add("a put to a dropped family succeeded");
      watchdog->Moved();
    }
  }

  void Maintain(std::uint64_t seed, Watchdog* watchdog) {
    Prng prng(seed_ + seed);
    while (!stop_.load() && !complaints_.any()) {
      Handle family = prng.OneIn(3) ? Guest() : trio_[prng.Uniform(kTrio)];
      if (family == nullptr) family = trio_[0];
      ColumnFamilyHandle* const its = family.get();
      const std::string from = KeyOf(prng.Uniform(kKeys));
      const std::string to = KeyOf(prng.Uniform(kKeys));
      const Slice begin(from);
      const Slice end(to);
      switch (prng.Uniform(8)) {
        case 0: OkOrDropped(db_->CompactRange({}, its, nullptr, nullptr), "compact"); break;
        case 1:
        case 2: {
          const Status s = db_->CompactRange({}, its, from < to ? &begin : &end, from < to ? &end : &begin);
          OkOrDropped(s, "compact a range");
          break;
        }
        case 3: OkOrDropped(db_->Flush({.wait = prng.OneIn(2)}, its), "flush"); break;
        case 4: Ok(db_->WaitForCompact(), "wait"); break;
        case 5: OkOrDropped(db_->SetOptions(its, Changes(&prng)), "set options"); break;
        case 6: Ok(db_->SetDBOptions({{"page_cache_size", std::to_string(prng.Between(64 << 10, 256 << 10))}}), "set"); break;
        default: {
          std::string text;
          for (const char* name : {"cambium.index-stats", "cambium.levelstats", "cambium.stats"}) {
            if (!db_->GetProperty(its, name, &text) && family != trio_[0] && Guest() == family) {
              complaints_.Add(std::string("no property ") + name);
            }
          }
          std::vector<std::string> names;
          Ok(DB::ListColumnFamilies(options_, path_, &names), "list");
          if (names.size() < kTrio && !complaints_.any()) complaints_.Add("a family is not listed");
        }
      }
      watchdog->Moved();
    }
  }
  static std::unordered_map<std::string, std::string> Changes(Prng* prng) {
    return {{"level0_file_num_compaction_trigger", std::to_string(prng->Between(1, 4))},
            {"target_file_size_base", std::to_string(prng->Between(16 << 10, 48 << 10))},
            {"max_bytes_for_level_base", std::to_string(prng->Between(16 << 10, 64 << 10))},
            {"min_blob_size", std::to_string(prng->Uniform(300))},
            {"sweep_ratio", std::to_string(prng->Between(1, 8))},
            {"compression", prng->OneIn(2) ? "kNoCompression" : "kZSTD"}};
  }

  std::vector<Handle> trio_;
  std::vector<ColumnFamilyDescriptor> families_;
  std::atomic<bool> stop_{false};

 private:
  std::mutex guest_mutex_;
  Handle guest_;  // guest_mutex_
};

TEST_F(FamilyThreadsTest, FamiliesAreCreatedAndDroppedDuringCompactionsAndReads) {
  ASSERT_NO_FATAL_FAILURE(OpenTrio());
  const std::uint64_t rounds = ScaledCount(kUnderSanitizer ? 15'000 : 6000);
  const std::uint64_t guests = ScaledCount(kUnderSanitizer ? 150 : 80);
  {
    Watchdog watchdog(db_.get());
    std::vector<std::thread> others;
    others.emplace_back([this] { ReadTrio(true); });
    others.emplace_back([this] { ReadTrio(false); });
    others.emplace_back([this, &watchdog] { Maintain(90, &watchdog); });
    others.emplace_back([this, &watchdog] { Maintain(91, &watchdog); });
    std::vector<std::thread> writers;
    writers.emplace_back([this, rounds, &watchdog] { WriteTrio(0, rounds, &watchdog); });
    writers.emplace_back([this, rounds, &watchdog] { WriteTrio(1, rounds, &watchdog); });
    writers.emplace_back([this, guests, &watchdog] { CreateAndDrop(guests, &watchdog); });
    for (std::thread& thread : writers) thread.join();
    stop_.store(true);
    for (std::thread& thread : others) thread.join();
  }
  ASSERT_EQ(complaints_.first(), "");
  ASSERT_TRUE(db_->WaitForCompact().ok());
  CloseTrio();
  ASSERT_NO_FATAL_FAILURE(OpenTrio());
  stop_.store(false);
  std::thread once([this] { ReadTrio(true); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  stop_.store(true);
  once.join();
  EXPECT_EQ(complaints_.first(), "");
  CloseTrio();
}

// ---- A compaction that the test holds and releases ----

class HeldCompactionTest : public ::testing::Test {
 protected:
  // Makes a family with runs above older entries, and with an empty memtable. No compaction is due.
  void SetUp() override {
    options_ = TinyOptions();
    options_.file_system = fs_;
    options_.max_background_jobs = 3;
    options_.write_buffer_size = 256u << 10;  // only the test flushes
    options_.sweep_ratio = 1;
    options_.level0_file_num_compaction_trigger = 7;
    MustOpen();
    for (std::size_t n = 0; n < 300; ++n) MustPut(KeyOf(n), "old");
    ASSERT_TRUE(db_->CompactRange({}, family_.get(), nullptr, nullptr).ok());
    for (int run = 0; run < 3; ++run) {
      for (std::size_t n = 0; n < 300; n += 70) MustPut(KeyOf(n), "run " + std::to_string(run));
      ASSERT_TRUE(db_->Flush({}, family_.get()).ok());
    }
    ASSERT_TRUE(db_->WaitForCompact().ok());
    std::uint64_t runs = 0;
    ASSERT_TRUE(db_->GetIntProperty(family_.get(), "cambium.num-runs", &runs));
    ASSERT_GE(runs, 3u) << "there is nothing to compact";
    held_.Arm();
  }
  void MustOpen() {
    std::vector<ColumnFamilyHandle*> handles;
    options_.create_missing_column_families = true;
    const Status s = DB::Open(options_, "/db", {{kDefaultColumnFamilyName, options_}, {"family", options_}}, &handles, &db_);
    ASSERT_TRUE(s.ok()) << s.ToString();
    delete handles[0];
    family_.reset(handles[1]);
  }
  void MustPut(const std::string& key, const std::string& value) {
    const Status s = db_->Put({}, family_.get(), key, value);
    ASSERT_TRUE(s.ok()) << s.ToString();
    model_[key] = value;
  }
  [[nodiscard]] std::map<std::string, std::string> Contents(Iterator* it) const {
    std::map<std::string, std::string> contents;
    for (it->SeekToFirst(); it->Valid(); it->Next()) contents[it->key().ToString()] = it->value().ToString();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return contents;
  }
  [[nodiscard]] std::map<std::string, std::string> Contents() const {
    const std::unique_ptr<Iterator> it(db_->NewIterator({}, family_.get()));
    return Contents(it.get());
  }
  void CloseAndVerify(const std::vector<std::string>& names) {
    family_.reset();
    ASSERT_TRUE(db_->Close().ok());
    db_.reset();
    std::vector<ColumnFamilyDescriptor> families;
    for (const std::string& name : names) families.emplace_back(name, options_);
    EXPECT_EQ(DeepVerify("/db", options_, families), "");
  }

  const std::shared_ptr<SimFileSystem> fs_ = std::make_shared<SimFileSystem>();
  Options options_;
  std::unique_ptr<DB> db_;
  std::unique_ptr<ColumnFamilyHandle> family_;
  std::map<std::string, std::string> model_;
  HeldOperation held_{fs_, [](const SimOp& op) {
                        return op.kind == SimOpKind::kWrite && (op.path.ends_with(".idx") || op.path.ends_with(".run"));
                      }};
};

// While a compaction is held, only another compaction of the same family waits.
TEST_F(HeldCompactionTest, OnlyCompactionOfSameFamilyWaits) {
  std::thread merge([this] { EXPECT_TRUE(db_->CompactRange({}, family_.get(), nullptr, nullptr).ok()); });
  held_.AwaitHeld();
  std::thread other([this] {
    EXPECT_TRUE(db_->CompactRange({}, family_.get(), nullptr, nullptr).ok());
    EXPECT_TRUE(held_.released()) << "two compactions of one family at once";
  });
  EXPECT_EQ(Contents(), model_);
  const std::map<std::string, std::string> then = model_;
  const std::unique_ptr<Iterator> it(db_->NewIterator({}, family_.get()));
  const ManagedSnapshot snapshot(db_.get());
  for (int run = 0; run < 2; ++run) {
    for (std::size_t n = 0; n < 300; n += 9) MustPut(KeyOf(n), "later " + std::to_string(run));
    ASSERT_TRUE(db_->DeleteRange({}, family_.get(), KeyOf(100), KeyOf(105)).ok());
    for (std::size_t n = 100; n < 105; ++n) model_.erase(KeyOf(n));
    ASSERT_TRUE(db_->Flush({}, family_.get()).ok());
    EXPECT_EQ(Contents(), model_);
  }
  ASSERT_TRUE(db_->SetOptions(family_.get(), {{"min_blob_size", "4"}}).ok());
  ColumnFamilyHandle* made = nullptr;
  ASSERT_TRUE(db_->CreateColumnFamily(options_, "made meanwhile", &made).ok());
  ASSERT_TRUE(db_->Put({}, made, "key", "value").ok());
  ASSERT_TRUE(db_->CompactRange({}, made, nullptr, nullptr).ok());
  ASSERT_TRUE(db_->DropColumnFamily(made).ok());
  delete made;
  ASSERT_TRUE(db_->SyncWAL().ok());
  EXPECT_FALSE(held_.released());
  held_.Release();
  merge.join();
  other.join();
  EXPECT_EQ(Contents(), model_) << "entries written during the compaction must stay newer";
  EXPECT_EQ(Contents(it.get()), then);
  ReadOptions at;
  at.snapshot = snapshot.snapshot();
  const std::unique_ptr<Iterator> at_snapshot(db_->NewIterator(at, family_.get()));
  EXPECT_EQ(Contents(at_snapshot.get()), then);
}

// Beyond level0_stop_writes_trigger a write waits for a step of a compaction, also for one that another thread runs.
TEST_F(HeldCompactionTest, WriteBeyondStopTriggerWaitsForCompactionOfAnotherThread) {
  std::thread merge([this] { EXPECT_TRUE(db_->CompactRange({}, family_.get(), nullptr, nullptr).ok()); });
  held_.AwaitHeld();
  ASSERT_TRUE(db_->SetOptions(family_.get(), {{"level0_file_num_compaction_trigger", "2"},
                                              {"level0_slowdown_writes_trigger", "3"},
                                              {"level0_stop_writes_trigger", "3"}})
                  .ok());
  std::thread release([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    held_.Release();
  });
  MustPut(KeyOf(1), "waits");
  EXPECT_TRUE(held_.released());
  merge.join();
  release.join();
  EXPECT_EQ(Contents(), model_);
}

TEST_F(HeldCompactionTest, FamilyMayBeDroppedDuringItsCompaction) {
  std::thread merge([this] { EXPECT_TRUE(db_->CompactRange({}, family_.get(), nullptr, nullptr).ok()); });
  held_.AwaitHeld();
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator({}, family_.get()));
    ASSERT_TRUE(db_->DropColumnFamily(family_.get()).ok());
    EXPECT_FALSE(held_.released());
    EXPECT_EQ(Contents(it.get()), model_);
    held_.Release();
    merge.join();
    EXPECT_EQ(Contents(it.get()), model_);
  }
  EXPECT_TRUE(db_->CompactRange({}, family_.get(), nullptr, nullptr).IsColumnFamilyDropped());
  ASSERT_TRUE(db_->WaitForCompact().ok());
  CloseAndVerify({kDefaultColumnFamilyName});
  for (const auto& file : fs_->probe().ListFiles()) {
    EXPECT_FALSE(file.path.ends_with(".run") || file.path.ends_with(".idx")) << file.path << " is left";
  }
}

TEST_F(HeldCompactionTest, CloseWaitsForTheRunningCompaction) {
  ASSERT_TRUE(db_->SetOptions(family_.get(), {{"level0_file_num_compaction_trigger", "2"}, {"sweep_ratio", "1000"}}).ok());
  held_.AwaitHeld();
  std::thread release([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    held_.Release();
  });
  family_.reset();
  EXPECT_TRUE(db_->Close().ok());
  EXPECT_TRUE(held_.released()) << "a compaction still runs in a closed database";
  release.join();
  db_.reset();
  MustOpen();
  EXPECT_EQ(Contents(), model_);
  CloseAndVerify({kDefaultColumnFamilyName, "family"});
}

}  // namespace
}  // namespace cambium::testing
