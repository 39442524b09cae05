// The rules of the ceiling: the bound holds at every commit, large hidden values are noticed, writers wait only for
// jobs that help, and wall clocks have no influence. Each rule is also tested with a mutant that switches it off.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "testing/test_store.h"
#include "cambium/rate_limiter.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/units.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// Counts the tasks that a write has to run. If it would wait forever, calls `rescue` once.
class Watchdog final : public Executor {
 public:
  static constexpr std::uint64_t kTasksMost = 20'000;
  explicit Watchdog(std::shared_ptr<ManualExecutor> tasks) : tasks_(std::move(tasks)) {}
  void Schedule(TaskPriority priority, std::function<void()> task) override {
    if (is_slow_to_remove && priority == TaskPriority::kNormal) return late_.push_back(std::move(task));
    tasks_->Schedule(priority, std::move(task));
  }
  void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) override {
    tasks_->ScheduleAfter(micros, priority, std::move(task));
  }
  bool RunOneInstead() override {
    most_ = std::max(most_, ++count_);
    if (count_ > kTasksMost && !std::exchange(has_bitten_, true)) rescue();
    if (tasks_->pending() == 0 && !late_.empty()) {
      tasks_->Schedule(TaskPriority::kNormal, std::move(late_.front()));
      late_.pop_front();
    }
    const bool ran = tasks_->RunOneInstead();
    after_task();
    return ran;
  }
  void BeginWrite() { count_ = 0; }
  [[nodiscard]] bool has_bitten() const { return has_bitten_; }
  [[nodiscard]] std::uint64_t most() const { return most_; }

  std::function<void()> rescue = [] {};
  std::function<void()> after_task = [] {};
  // Tasks of normal priority, as those that remove files, wait until nothing else can run.
  bool is_slow_to_remove = false;

 private:
  const std::shared_ptr<ManualExecutor> tasks_;
  std::deque<std::function<void()>> late_;
  std::uint64_t count_ = 0;
  std::uint64_t most_ = 0;
  bool has_bitten_ = false;
};

// A database with the default options. If it waits without a task that could wake it, TestStore ends the process.
struct DefaultStore : TestStore {
  explicit DefaultStore(double s) : watchdog(std::make_shared<Watchdog>(executor)) {
    Options defaults;
    defaults.create_if_missing = true;
    defaults.file_system = options.file_system;
    defaults.clock = options.clock;
    defaults.random_source = options.random_source;
    defaults.info_log = options.info_log;
    defaults.executor = watchdog;
    defaults.max_space_amplification = s;
    defaults.min_space_limit = 0;
    defaults.index_type = options.index_type;
    options = defaults;
    watchdog->rescue = [this] { EXPECT_TRUE(db->SetDBOptions({{"max_space_amplification", "0"}}).ok()); };
  }
  void Write(Slice key, Slice value) {
    watchdog->BeginWrite();
    Put(key, value);
  }
  [[nodiscard]] std::string Figures() {
    std::string figures;
    EXPECT_TRUE(db->GetProperty("cambium.space", &figures));
    return figures;
  }

  std::shared_ptr<Watchdog> watchdog;
};

std::string KeyOf(std::uint64_t i) { return "key" + std::to_string(1'000'000 + i); }

// The bytes of a record in the log.
std::uint64_t RecordSize(std::uint64_t value_size) { return (48 + KeyOf(0).size() + value_size + 7) / 8 * 8; }

// S * L + A: A is two segments and a step of log GC, each an eighth of the slack, or a megabyte.
std::uint64_t Allowed(double s, std::uint64_t live) {
  const double slack = (s - 1) * static_cast<double>(live);
  return static_cast<std::uint64_t>(static_cast<double>(live) + slack + 3 * std::max<double>(kMiB, slack / 8));
}

// ---- C1 ----

// Overwrites ten megabytes `times` times. The background gets a turn at every 64th write, so the writers are ahead of
// it. Returns after how many writes the files were above the bound.
std::uint64_t CommitsAboveTheCeiling(double s, std::uint64_t times) {
  constexpr std::uint64_t kKeys = 10'000;
  constexpr std::uint64_t kValue = 1000;
  const std::uint64_t live = kKeys * RecordSize(kValue);
  const std::uint64_t allowed = Allowed(s, live);
  Prng prng(SeedFromEnvironment(31));
  const std::string noise = prng.Bytes(64 * kValue);
  DefaultStore store(s);
  store.MustOpen();
  for (std::uint64_t i = 0; i < kKeys; ++i) store.Write(KeyOf(i), {noise.data() + prng.Uniform(63 * kValue), kValue});
  std::uint64_t above = 0;
  std::uint64_t most = 0;
  for (std::uint64_t i = 0; i < times * kKeys; ++i) {
    store.Write(KeyOf(prng.Uniform(kKeys)), {noise.data() + prng.Uniform(63 * kValue), kValue});
    if (i % 64 == 0 && store.executor->pending() > 0) store.executor->RunOneInstead();
    const std::uint64_t bytes = store.BytesOnDisk();
    most = std::max(most, bytes);
    above += bytes > allowed ? 1 : 0;
  }
  EXPECT_FALSE(store.watchdog->has_bitten()) << "a write waited for ever";
  std::printf("S %.2f: %.1f MiB at most, of %.1f allowed; %llu tasks in one write at most\n", s,
              static_cast<double>(most) / kMiB, static_cast<double>(allowed) / kMiB,
              static_cast<unsigned long long>(store.watchdog->most()));
  EXPECT_EQ(store.Verify(), "");
  return above;
}

TEST(SpaceRulesTest, EveryCommitLeavesTheFilesBelowTheCeiling) {
  for (const double s : {1.25, 1.5, 2.0}) EXPECT_EQ(CommitsAboveTheCeiling(s, ScaledCount(5)), 0u) << s;
}

// Half of many segments is garbage when a ceiling is set, and the job that removes files does not get a turn. Returns by
// how many bytes the files grow at most while steps of log GC follow each other.
std::uint64_t GrowthDuringSteps() {
  constexpr std::uint64_t kKeys = 20'000;
  Prng prng(SeedFromEnvironment(36));
  DefaultStore store(0);
  store.options.blob_file_size = kMiB;
  store.options.enable_blob_garbage_collection = false;  // until the ceiling is set
  store.MustOpen();
  for (std::uint64_t i = 0; i < 2 * kKeys; ++i) store.Write(KeyOf(i < kKeys ? i : prng.Uniform(kKeys)), prng.Bytes(1000));
  store.Flush();
  store.RunUntilIdle();
  const std::uint64_t before = store.BytesOnDisk();
  std::uint64_t most = before;
  store.watchdog->is_slow_to_remove = true;
  const std::uint64_t moved_before = store.Property("gc-bytes-written");
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  EXPECT_TRUE(store.db->SetDBOptions({{"max_space_amplification", "1.25"}}).ok());
  while (store.executor->pending() > 0) {
    store.executor->RunOneInstead();
    most = std::max(most, store.BytesOnDisk());
  }
  EXPECT_GT(store.Property("gc-bytes-written") - moved_before, 4 * kMiB) << "several steps";
  EXPECT_EQ(store.Verify(), "");
  return most - before;
}

TEST(SpaceRulesTest, StepsWriteOnlyWhenDroppedSegmentsAreGone) {
  EXPECT_LE(GrowthDuringSteps(), kMiB + kMiB / 4) << "a step, with its run and footer";
  const MutantScope mutant(Mutant::kGcStepsOverlapRemoval);
  EXPECT_GT(GrowthDuringSteps(), 2 * kMiB);
}

// Inline values are overwritten, and the job that removes files gets a turn only when nothing else can run. Returns the
// most bytes of the files, divided by the allowed bytes.
double MostWithLateRemovals(IndexKind index) {
  constexpr std::uint64_t kKeys = 100'000;
  constexpr std::uint64_t kStoredBytes = 10 + 100 + 12;  // a key, a value, a word of a page, part of a filter and branch
  constexpr double kCeiling = 1.5;
  Prng prng(SeedFromEnvironment(37));
  DefaultStore store(kCeiling);
  store.options.index_type = index;
  store.MustOpen();
  for (std::uint64_t i = 0; i < kKeys; ++i) store.Write(KeyOf(i), prng.Bytes(100));
  store.LetSecondsPass(7);
  store.watchdog->is_slow_to_remove = true;
  std::uint64_t most = 0;
  store.watchdog->after_task = [&] { most = std::max(most, store.BytesOnDisk()); };
  for (std::uint64_t i = 0; i < 2 * kKeys; ++i) {
    store.Write(KeyOf(prng.Uniform(kKeys)), prng.Bytes(100));
    if (i % 64 == 0 && store.executor->pending() > 0) store.watchdog->RunOneInstead();
  }
  store.watchdog->after_task = [] {};
  EXPECT_FALSE(store.watchdog->has_bitten()) << "a write waited for ever";
  EXPECT_EQ(store.Verify(), "");
  return static_cast<double>(most) / static_cast<double>(Allowed(kCeiling, kKeys * kStoredBytes));
}

TEST(SpaceRulesTest, CompactionsWriteOnlyWhenDroppedFilesAreGone) {
  for (const IndexKind index : {IndexKind::kBTree, IndexKind::kLsm}) {
    const double most = MostWithLateRemovals(index);
    EXPECT_LE(most, 1);
    const MutantScope mutant(Mutant::kCompactionsOverlapRemoval);
    EXPECT_GT(MostWithLateRemovals(index), 1) << "with the rule " << most;
  }
}

TEST(SpaceRulesTest, SealingOnlyFullSegmentsExceedsTheCeiling) {
  const MutantScope mutant(Mutant::kSealOnlyFull);
  EXPECT_GT(CommitsAboveTheCeiling(1.5, 2), 0u);
}

// ---- C2 ----

// Among many small values there are a few large ones, which make up most of the bytes. Three in five of these are
// deleted, and no more calls follow. Returns the size of the files divided by the allowed size.
double RestAfterDeletesOfLargeValues() {
  constexpr std::uint64_t kSmall = 7'000;
  constexpr std::uint64_t kLarge = 100;
  constexpr std::uint64_t kLargeSize = 200u << 10;
  Prng prng(SeedFromEnvironment(32));
  DefaultStore store(1.5);
  store.MustOpen();
  const auto is_large = [](std::uint64_t i) { return i % (kSmall / kLarge) == 3; };
  for (std::uint64_t i = 0; i < kSmall; ++i) store.Write(KeyOf(i), prng.Bytes(is_large(i) ? kLargeSize : 512));
  store.LetSecondsPass(7);
  std::uint64_t live = 0;
  std::uint64_t larges = 0;
  for (std::uint64_t i = 0; i < kSmall; ++i) {
    if (is_large(i) && larges++ % 5 < 3) {
      EXPECT_TRUE(store.db->Delete({}, KeyOf(i)).ok());
    } else {
      live += RecordSize(is_large(i) ? kLargeSize : 512);
    }
  }
  store.LetSecondsPass(7);
  EXPECT_EQ(store.Verify(), "");
  return static_cast<double>(store.BytesOnDisk()) / static_cast<double>(Allowed(1.5, live));
}

TEST(SpaceRulesTest, DeletedValuesCountInBytes) {
  const double rest = RestAfterDeletesOfLargeValues();
  EXPECT_LE(rest, 1);
  const MutantScope mutant(Mutant::kHiddenIgnoresValueSizes);
  EXPECT_GT(RestAfterDeletesOfLargeValues(), 1) << "with the rule " << rest;
}

// Many values are inline, and a few large ones have nearly all bytes. The size belongs to the key, so overwrites do not
// change how many bytes are live.
struct FewLargeValues {
  double most = 0;        // bytes of files, divided by the allowed bytes
  double least_live = 1;  // the lowest and the highest figure for the live bytes, divided by the live bytes
  double most_live = 1;
};

FewLargeValues OverwriteFewLargeValues(std::uint64_t each, std::uint64_t large_size) {
  constexpr std::uint64_t kKeys = 40'000;
  constexpr double kCeiling = 1.5;
  Prng prng(SeedFromEnvironment(38));
  const std::string noise = prng.Bytes(2 * large_size);
  DefaultStore store(kCeiling);
  store.MustOpen();
  const auto size_of = [&](std::uint64_t i) { return i % each == 3 ? large_size : 10 + i % 90; };
  const auto put = [&](std::uint64_t i) {
    store.Write(KeyOf(i), {noise.data() + prng.Uniform(large_size), size_of(i)});
    if (prng.OneIn(64) && store.executor->pending() > 0) store.executor->RunOneInstead();
  };
  std::uint64_t live = 0;
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    put(i);
    live += size_of(i) == large_size ? RecordSize(large_size) : size_of(i) + 24;
  }
  FewLargeValues result;
  for (std::uint64_t n = 0; n < 4 * kKeys; ++n) {
    put(prng.Uniform(kKeys));
    if (n % 64 != 0) continue;
    const auto its = static_cast<double>(store.BytesOnDisk());
    result.most = std::max(result.most, its / static_cast<double>(Allowed(kCeiling, live)));
    std::map<std::string, std::string> figures;
    EXPECT_TRUE(store.db->GetMapProperty("cambium.space", &figures));
    const double part = std::stod(figures["live"]) / static_cast<double>(live);
    result.least_live = std::min(result.least_live, part);
    result.most_live = std::max(result.most_live, part);
  }
  EXPECT_FALSE(store.watchdog->has_bitten()) << "a write waited for ever";
  EXPECT_EQ(store.Verify(), "");
  std::printf("each %lluth value has %llu bytes: at most %.3f of the allowed bytes; %.3f to %.3f of what is live\n",
              static_cast<unsigned long long>(each), static_cast<unsigned long long>(large_size), result.most,
              result.least_live, result.most_live);
  return result;
}

TEST(SpaceRulesTest, FewLargeValuesCountInBytes) {
  for (const auto& [each, size] : {std::pair<std::uint64_t, std::uint64_t>{20, 15'000}, {200, 200'000}}) {
    const FewLargeValues with = OverwriteFewLargeValues(each, size);
    EXPECT_LE(with.most, 1);
    EXPECT_GT(with.least_live, 0.8);
    EXPECT_LT(with.most_live, 1.1);
    const MutantScope mutant(Mutant::kKeysTellWhatIsHidden);
    EXPECT_LT(OverwriteFewLargeValues(each, size).least_live, 0.5);
  }
}

// ---- C3 ----

// Prevents all jobs from helping. The writer must notice that, and continue.
struct Hindrance {
  const char* what;
  bool collects;
  bool holds_snapshot;
  int tables;
};

bool WritesGoOn(const Hindrance& hindrance) {
  constexpr std::uint64_t kKeys = 2'000;
  Prng prng(SeedFromEnvironment(33));
  DefaultStore store(1.25);
  store.options.enable_blob_garbage_collection = hindrance.collects;
  store.options.max_write_buffer_number = hindrance.tables;
  store.options.max_background_jobs = 1;
  store.MustOpen();
  for (std::uint64_t i = 0; i < kKeys; ++i) store.Write(KeyOf(i), prng.Bytes(1000));
  const Snapshot* const snapshot = hindrance.holds_snapshot ? store.db->GetSnapshot() : nullptr;
  for (std::uint64_t i = 0; i < 8 * kKeys && !store.watchdog->has_bitten(); ++i) {
    store.Write(KeyOf(prng.Uniform(kKeys)), prng.Bytes(1000));
  }
  std::printf("%s: %llu tasks in one write at most\n", hindrance.what,
              static_cast<unsigned long long>(store.watchdog->most()));
  if (snapshot != nullptr) store.db->ReleaseSnapshot(snapshot);
  EXPECT_EQ(store.Verify(), "");
  return !store.watchdog->has_bitten();
}

TEST(SpaceRulesTest, WriterWaitsOnlyForJobsThatHelp) {
  for (const Hindrance& each : {Hindrance{"nothing", true, false, 2}, Hindrance{"no log GC", false, false, 2},
                                Hindrance{"a snapshot of the writer's own", true, true, 2},
                                Hindrance{"no log GC, and a snapshot", false, true, 3}}) {
    EXPECT_TRUE(WritesGoOn(each)) << each.what;
  }
  const MutantScope mutant(Mutant::kWaitWhenHopeless);
  EXPECT_FALSE(WritesGoOn({"no log GC", false, false, 2}));
}

// ---- B5 ----

// For many rounds, writes hit one percent of the keys, and in each round one key from anywhere. The page of that key is
// written among the pages of the others, and stays live. Returns the largest ratio of the bytes of the tree's files to
// the bytes of its live pages. Pages that the last merge has replaced do not count, since only the next merge sees
// them.
double TreeFilesOverLivePages(std::uint64_t rounds) {
  constexpr double kOneMerge = 128u << 10;
  constexpr std::uint64_t kKeys = 60'000;
  constexpr std::uint64_t kHot = kKeys / 100;
  Prng prng(SeedFromEnvironment(34));
  DefaultStore store(1.5);
  store.MustOpen();
  for (std::uint64_t i = 0; i < kKeys; ++i) store.Write(KeyOf(i), prng.Bytes(100));  // inline
  store.Compact();
  double most = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::uint64_t i = 0; i < kHot; ++i) store.Write(KeyOf(30'000 + prng.Uniform(kHot)), prng.Bytes(100));
    store.Flush();
    store.Write(KeyOf(prng.Uniform(kKeys)), prng.Bytes(100));
    store.Flush();
    store.executor->RunAll();
    std::map<std::string, std::string> figures;
    EXPECT_TRUE(store.db->GetMapProperty("cambium.index-stats", &figures));
    const double live = std::stod(figures["tree_live_bytes"]);
    if (round > 8) most = std::max(most, (std::stod(figures["tree_bytes"]) - kOneMerge) / live);
  }
  EXPECT_EQ(store.Verify(), "");
  return most;
}

TEST(SpaceRulesTest, OneColdPageDoesNotKeepATreeFile) {
  CAMBIUM_TREE_ONLY("files of an LSM are written once and go as a whole, so that no page keeps one");
  const std::uint64_t rounds = 250 * ScaleFromEnvironment();  // under a sanitizer too: fewer rounds show no difference
  const double with = TreeFilesOverLivePages(rounds);
  EXPECT_LE(with, 2.0);
  const MutantScope mutant(Mutant::kNoEvacuation);
  const double without = TreeFilesOverLivePages(rounds);
  EXPECT_GT(without, 2.5);
  std::printf("tree files over live pages: %.2f; without the rule %.2f\n", with, without);
}

// ---- H60 ----

// A wall clock that jumps by ten years in both directions, and a monotonic clock that jumps ahead as far. Counts
// sleeps.
class JumpingClock final : public Clock {
 public:
  static constexpr std::uint64_t kNow = 1'700'000'000;
  static constexpr std::uint64_t kTenYears = 10ull * 365 * 24 * 3600;
  std::uint64_t NowMicros() override { return clock_.NowMicros(); }
  std::uint64_t WallSeconds() override { return clock_.WallSeconds(); }
  void SleepMicros(std::uint64_t micros) override {
    clock_.SleepMicros(micros);
    if (++sleeps_ > 100'000 && !std::exchange(has_overslept_, true)) rescue();
  }
  void Jump(Prng* prng) {
    switch (prng->Uniform(3)) {
      case 0: clock_.SetWallSeconds(kNow + kTenYears); break;
      case 1: clock_.SetWallSeconds(kNow - kTenYears); break;
      default: {
        const std::uint64_t wall = clock_.WallSeconds();
        clock_.Advance(kTenYears * 1'000'000);
        clock_.SetWallSeconds(wall);
      }
    }
  }
  void BeginWrite() { sleeps_ = 0; }
  [[nodiscard]] bool has_overslept() const { return has_overslept_; }

  std::function<void()> rescue = [] {};
  std::function<void()> after_task = [] {};

 private:
  SimClock clock_{1'000'000, kNow};
  std::uint64_t sleeps_ = 0;
  bool has_overslept_ = false;
};

// Returns the files by name and size after overwrites, idle time and log GC, below a ceiling and with a rate limiter.
// Returns "" if a write would have waited forever.
std::string FilesAfterJumps(bool jumps) {
  constexpr std::uint64_t kKeys = 2'000;
  Prng prng(SeedFromEnvironment(35));
  Prng jump(9);
  DefaultStore store(1.5);
  const auto clock = std::make_shared<JumpingClock>();
  store.options.clock = clock;
  store.options.rate_limiter.reset(NewGenericRateLimiter(64 << 20));
  clock->rescue = [&store] {
    store.watchdog->rescue();
    store.executor->RunAll();
  };
  store.MustOpen();
  const auto write = [&](std::uint64_t i) {
    clock->BeginWrite();
    store.Write(KeyOf(i), prng.Bytes(1000));
    if (jumps && jump.OneIn(200)) clock->Jump(&jump);
  };
  for (std::uint64_t i = 0; i < kKeys; ++i) write(i);
  for (int round = 0; round < 3 && !clock->has_overslept(); ++round) {
    for (std::uint64_t i = 0; i < 3 * kKeys && !clock->has_overslept(); ++i) write(prng.Uniform(kKeys));
    store.executor->RunAll();
    write(0);
    store.LetSecondsPass(4);
    EXPECT_GT(store.Property("num-entries-active-mem-table"), 0u) << "four seconds are no rest, whatever the clock says";
    if (jumps) clock->Jump(&jump);
    store.LetSecondsPass(3);
    EXPECT_EQ(store.Property("num-entries-active-mem-table"), 0u) << "seven are";
    EXPECT_LE(store.BytesOnDisk(), Allowed(1.5, kKeys * RecordSize(1000)));
  }
  if (clock->has_overslept() || store.watchdog->has_bitten()) return "";
  EXPECT_EQ(store.Verify(), "");
  std::string files;
  for (const auto& file : store.fs->probe().ListFiles()) files += file.path + " " + std::to_string(file.size) + "\n";
  return files;
}

TEST(SpaceRulesTest, JumpingWallClockChangesNothing) {
  const std::string files = FilesAfterJumps(true);
  EXPECT_NE(files, "");
  EXPECT_EQ(files, FilesAfterJumps(false));
  const MutantScope mutant(Mutant::kPacesByWallClock);
  EXPECT_NE(FilesAfterJumps(true), files);
}

}  // namespace
}  // namespace cambium::testing
