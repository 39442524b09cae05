// In one call of CompactRange the compaction filter is asked once about each version of a key: through all levels,
// steps and passes, with flushes, background compactions and log GC in between.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cambium/compaction_filter.h"
#include "cambium/listener.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/temp_directory.h"
#include "testing/test_store.h"
#include "util/fault_point.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// A value is "version/pluses": the filter appends a plus. Counts its questions about each version.
class AppendingFilter final : public CompactionFilter {
 public:
  Decision FilterV2(int /*level*/, const Slice& key, ValueType /*type*/, const Slice& value, std::string* new_value,
                    std::string* /*skip_until*/) const override {
    if (counts) ++asked[key.ToString() + " " + value.ToString().substr(0, value.ToString().find('/'))];
    if (keeps_some && key[key.size() - 1] % 3 != 0) return Decision::kKeep;  // its leaf may stay where it is
    *new_value = value.ToString() + "+";
    return Decision::kChangeValue;
  }
  [[nodiscard]] const char* Name() const override { return "AppendingFilter"; }

  bool keeps_some = false;
  std::atomic<bool> counts{true};
  mutable std::map<std::string, int> asked;  // since it was last cleared
};

// After each compaction step, writes, and runs background tasks, log GC among them.
class Disturber final : public EventListener {
 public:
  explicit Disturber(std::function<void()> disturb) : disturb_(std::move(disturb)) {}
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
    if (info.compaction_reason == CompactionReason::kManualCompaction) disturb_();
  }

 private:
  const std::function<void()> disturb_;
};

class OnceStore : public TestStore {
 public:
  explicit OnceStore(std::uint64_t seed) : prng_(seed) {
    options.compaction_filter = &filter;
    filter.keeps_some = prng_.OneIn(2);
    options.write_buffer_size = std::size_t{4096} << prng_.Uniform(3);
    options.level0_file_num_compaction_trigger = static_cast<int>(prng_.Between(1, 6));
    options.target_file_size_base = 16u << 10;
    options.max_bytes_for_level_base = 32u << 10;
    options.max_bytes_for_level_multiplier = 2;
    options.compaction_style = prng_.OneIn(2) ? kCompactionStyleLazyLevel : kCompactionStyleLevel;
    options.sweep_ratio = static_cast<int>(prng_.Between(1, 8));
    options.blob_garbage_collection_age_cutoff = 1;
    options.blob_garbage_collection_force_threshold = 0.2;
    options.listeners = {std::make_shared<Disturber>([this] { Disturb(); })};
  }
  ~OnceStore() { db.reset(); }

  void Write(int count, const WriteOptions& write = {}) {
    for (int i = 0; i < count; ++i) {
      const std::string key = NumberedKey(static_cast<int>(prng_.Uniform(400)));
      const std::string value = "v" + std::to_string(++version_) + "/" + std::string(prng_.OneIn(3) ? 300 : 20, 'x');
      const Status s = prng_.OneIn(12) ? db->Delete(write, key) : db->Put(write, key, value);
      ASSERT_TRUE(s.ok() || (write.no_slowdown && s.IsIncomplete())) << s.ToString();
    }
  }

  // Returns "", or the version about which the filter was asked twice, or not at all.
  std::string CompactAndCount() {
    std::vector<std::string> there;  // before the call
    const std::unique_ptr<Iterator> it(db->NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const std::string value = it->value().ToString();
      there.push_back(it->key().ToString() + " " + value.substr(0, value.find('/')));
    }
    filter.asked.clear();
    is_disturbed_ = prng_.OneIn(2);
    CompactRangeOptions compact;
    compact.cluster_values = prng_.OneIn(4);
    compact.blob_garbage_collection_policy = static_cast<BlobGarbageCollectionPolicy>(prng_.Uniform(3));
    const bool is_quiet = !is_disturbed_;
    const Status s = db->CompactRange(compact, nullptr, nullptr);
    is_disturbed_ = false;
    if (!s.ok()) return s.ToString();
    for (const auto& [version, times] : filter.asked) {
      if (times != 1) return version + " was asked about " + std::to_string(times) + " times";
    }
    for (const std::string& version : there) {
      if (is_quiet && !filter.asked.contains(version)) return version + " was not asked about";
    }
    return Verify();
  }

  AppendingFilter filter;

 private:
  void Disturb() {
    if (!is_disturbed_) return;
    WriteOptions write;
    write.no_slowdown = true;  // a listener must not wait
    if (prng_.OneIn(2)) Write(static_cast<int>(prng_.Uniform(30)), write);
    std::uint64_t tasks = prng_.Uniform(4);
    for (; tasks > 0 && executor->pending() > 0; --tasks) static_cast<void>(executor->RunOneInstead());
  }

  Prng prng_;
  int version_ = 0;
  bool is_disturbed_ = false;
};

std::string FirstAskedTwice(std::uint64_t seed, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    OnceStore store(seed + i);
    if (const Status s = store.Open(); !s.ok()) return s.ToString();
    for (int round = 0; round < 4; ++round) {
      store.Write(300);
      if (round % 2 == 0) store.Flush();
      if (std::string wrong = store.CompactAndCount(); !wrong.empty()) {
        return "CAMBIUM_SEED=" + std::to_string(seed + i) + " round " + std::to_string(round) + ": " + wrong;
      }
    }
  }
  return "";
}

TEST(FilterOnceTest, CompactRangeAsksOnceAboutEachVersion) {
  const std::uint64_t seed = SeedFromEnvironment(1);
  EXPECT_EQ(FirstAskedTwice(seed, ScaledPrograms(60)), "");
  {
    const MutantScope mutant(Mutant::kFilterIsAskedAgain);
    EXPECT_NE(FirstAskedTwice(1, 60), "");
  }
  const MutantScope mutant(Mutant::kRelocatedIsFilteredAgain);
  EXPECT_NE(FirstAskedTwice(1, 2000), "");
}

// A database with threads of its own, whose filter appends a plus to each value. A hundred keys have the value "v/".
class HundredKeys {
 public:
  explicit HundredKeys(Options options = {}) {
    options.create_if_missing = true;
    options.compaction_filter = &filter_;
    UseIndexOfTest(&options);
    Fill(options);
  }

  DB* operator->() const { return db_.get(); }
  // Returns "", or the first key that has another value.
  [[nodiscard]] std::string FirstUnlike(const std::string& expected) const {
    for (int i = 0; i < 100; ++i) {
      std::string value;
      const Status s = db_->Get({}, NumberedKey(i), &value);
      if (!s.ok() || value != expected) return NumberedKey(i) + " is " + (s.ok() ? value : s.ToString());
    }
    return "";
  }

 private:
  void Fill(const Options& options) {
    ASSERT_TRUE(DB::Open(options, directory_.File("db"), &db_).ok());
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(db_->Put({}, NumberedKey(i), "v/").ok());
  }

  const TempDirectory directory_;
  AppendingFilter filter_;
  std::unique_ptr<DB> db_;
};

// A flush within the call makes a background compaction due, which may run before, between or after the steps of the
// call.
TEST(FilterOnceTest, CompactionsInOtherThreadsCount) {
  for (std::uint64_t round = 0; round < ScaledCount(20); ++round) {
    HundredKeys keys;
    ASSERT_TRUE(keys->CompactRange({}, nullptr, nullptr).ok());
    EXPECT_EQ(keys.FirstUnlike("v/+"), "");
  }
}

// When CompactRange begins, a background compaction has asked the filter, but has not committed. The filter's answers
// are older than the call, so they have no effect.
TEST(FilterOnceTest, CompactionUnderWayIsGivenUp) {
  Options options;
  options.level0_file_num_compaction_trigger = 1;
  HundredKeys keys(options);
  std::promise<void> has_asked;
  std::promise<void> call_waits;
  std::atomic<int> merges{0};
  FaultPoints::Instance().Set([&](const char* name) {
    if (name == std::string("Merge:written") && merges++ == 0) {
      has_asked.set_value();
      call_waits.get_future().wait();
    }
    if (name == std::string("FilterCall:waits")) call_waits.set_value();
  });
  ASSERT_TRUE(keys->Flush({}).ok());
  has_asked.get_future().wait();
  const Status compacted = keys->CompactRange({}, nullptr, nullptr);
  FaultPoints::Instance().Set(nullptr);
  ASSERT_TRUE(compacted.ok()) << compacted.ToString();
  EXPECT_EQ(keys.FirstUnlike("v/+"), "");
}

// While a compaction of the call has asked the filter and has not committed, log GC moves the values. A call for
// another family collects the log that both share. Returns the largest number of questions about one version.
int MostAskedWhileValuesMove() {
  const TempDirectory directory;
  AppendingFilter filter;
  filter.keeps_some = true;
  Options options;
  options.create_if_missing = true;
  options.blob_file_size = 16u << 10;  // so that some segments are sealed
  options.compaction_filter = &filter;
  UseIndexOfTest(&options);
  std::unique_ptr<DB> db;
  EXPECT_TRUE(DB::Open(options, directory.File("db"), &db).ok());
  ColumnFamilyOptions without = options;
  without.compaction_filter = nullptr;
  ColumnFamilyHandle* other = nullptr;
  EXPECT_TRUE(db->CreateColumnFamily(without, "other", &other).ok());
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(db->Put({}, NumberedKey(i), "v/" + std::string(1000, 'x')).ok());
  EXPECT_TRUE(db->Put({}, other, "key", std::string(1000, 'x')).ok());
  EXPECT_TRUE(db->Flush({}).ok());
  EXPECT_TRUE(db->Flush({}, other).ok());
  EXPECT_TRUE(db->WaitForCompact().ok());
  filter.asked.clear();
  std::future<Status> collected;
  std::atomic<int> merges{0};
  std::atomic<int> copies{0};
  FaultPoints::Instance().Set([&](const char* name) {
    if (name == std::string("Gc:copied")) ++copies;
    if (name != std::string("Merge:written") || merges++ > 0) return;
    collected = std::async(std::launch::async, [&] {
      CompactRangeOptions collect;
      collect.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
      collect.blob_garbage_collection_age_cutoff = 1;
      return db->CompactRange(collect, other, nullptr, nullptr);
    });
    while (copies.load() == 0 && collected.wait_for(std::chrono::milliseconds(1)) == std::future_status::timeout) {
    }
    collected.wait_for(std::chrono::milliseconds(200));  // with the rule it does not end
  });
  const Status compacted = db->CompactRange({}, nullptr, nullptr);
  filter.counts = false;  // later compactions ask about the value again, which is allowed
  const Status gc = collected.valid() ? collected.get() : Status::Aborted("log GC has not run");
  FaultPoints::Instance().Set(nullptr);
  EXPECT_TRUE(compacted.ok()) << compacted.ToString();
  EXPECT_TRUE(gc.ok()) << gc.ToString();
  EXPECT_GT(copies, 0);
  for (int i = 0; i < 100; ++i) {
    std::string value;
    EXPECT_TRUE(db->Get({}, NumberedKey(i), &value).ok());
    EXPECT_EQ(value.substr(0, 2), "v/");
  }
  int most = 0;
  for (const auto& [version, times] : filter.asked) most = std::max(most, times);
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(other).ok());
  return most;
}

TEST(FilterOnceTest, ValuesThatMoveDuringAStepAreNotAskedAboutAgain) {
  EXPECT_EQ(MostAskedWhileValuesMove(), 1);
  const MutantScope mutant(Mutant::kGcCommitsDuringFilterSteps);
  EXPECT_GT(MostAskedWhileValuesMove(), 1);
}

// Each of two calls at the same time asks about everything, one after the other.
TEST(FilterOnceTest, CallsOfOneFamilyTakeTurns) {
  HundredKeys keys;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&keys] { EXPECT_TRUE(keys->CompactRange({}, nullptr, nullptr).ok()); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(keys.FirstUnlike("v/+++"), "");
}

}  // namespace
}  // namespace cambium::testing
