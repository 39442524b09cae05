// Workloads over a std::map: they do what their names say, and each notices an engine that answers wrongly.
#include "workloads/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "bench/workloads/workload_on_map.h"
#include "data/key.h"
#include "run/phase_runner.h"
#include "system/interrupt.h"
#include "testing/temp_directory.h"
#include "workloads/entry_check.h"

namespace cambium::bench {
namespace {

// Waits until `done`, for ten seconds at most: a wrong answer may prevent it, and then the test must fail, not hang.
void Await(const std::function<bool()>& done) {
  const std::uint64_t begin = NowNanos();
  while (!done() && NowNanos() - begin < 10'000'000'000) std::this_thread::yield();
}

class WorkloadTest : public WorkloadOnMap {
 protected:
  WorkloadTest() : WorkloadOnMap(3000) {
    flags_.value_size = 100;
    flags_.seek_nexts = 5;
  }

  static std::string KeyOf(std::uint64_t id) { return KeyBuffer(16).Make(id).ToString(); }
  static bool IsKey7(const std::string& key) { return key == KeyOf(7); }
};

// An engine that is interrupted while it settles stops early. Its figures do not count, so the run returns Aborted.
TEST_F(WorkloadTest, InterruptDuringSettlingAborts) {
  for (const char* name : {"fillrandom", "waitforcompaction"}) {
    ASSERT_TRUE(Run(name).ok());
    engine_.lies.in_settle = [] { Interrupted().store(true); };
    EXPECT_EQ(Run(name).ToString(), Status::Aborted("interrupted").ToString()) << name;
    Interrupted().store(false);
    engine_.lies.in_settle = {};
  }
}

// The disk is sampled while an engine compacts too, not only while it writes.
TEST_F(WorkloadTest, DiskPeakOfACompactionIsSampled) {
  const cambium::testing::TempDirectory directory;
  config_.path = directory.path();
  engine_.lies.in_settle = [&directory] { std::ofstream(directory.File("table")) << std::string(1 << 20, 'x'); };
  ASSERT_TRUE(Run("waitforcompaction").ok());
  EXPECT_GE(result_.disk_peak_bytes, 1u << 20);
}

TEST_F(WorkloadTest, FillWorkloadsWriteDocumentedKeys) {
  for (const unsigned threads : {1u, 3u}) {
    flags_.threads = threads;
    for (const char* name : {"fillseq", "filluniquerandom"}) {
      ASSERT_TRUE(Run(name).ok());
      EXPECT_EQ(engine_.map.size(), 3000u) << name;
      EXPECT_EQ(result_.ops, 3000u) << "the threads share them";
      EXPECT_EQ(result_.user_bytes, 3000u * 116);
      EXPECT_EQ(keys_.count(), 3000u);
      EXPECT_TRUE(engine_.settled) << "the figure includes the time until the engine is quiet";
    }
    ASSERT_TRUE(Run("fillrandom").ok());
    EXPECT_EQ(result_.ops, 3000u * threads) << "counts are per thread";
    EXPECT_EQ(keys_.count(), engine_.map.size());
    EXPECT_LT(engine_.map.size(), 3000u) << "drawn with replacement";
    EXPECT_GT(engine_.map.size(), 1700u);
    EXPECT_FALSE(engine_.sync);
  }
}

// An overwritten value still has valid bytes. A workload can tell that it is old only if the last version is known.
TEST_F(WorkloadTest, WalksDetectOverwrittenValues) {
  for (const char* writes : {"overwrite", "updaterandom"}) {
    flags_.threads = 1;
    ASSERT_TRUE(Run("fillseq").ok());
    const std::map<std::string, std::string> old = engine_.map;
    ASSERT_TRUE(Run(writes).ok());
    for (const char* walk : {"readseq", "readreverse", "verify"}) {
      const Status status = Run(walk);
      ASSERT_TRUE(status.ok()) << walk << " " << status.ToString();
    }
    const auto changed = std::find_if(old.begin(), old.end(), [&](const auto& entry) { return engine_.map[entry.first] != entry.second; });
    ASSERT_NE(changed, old.end());
    engine_.map[changed->first] = changed->second;
    for (const char* walk : {"readseq", "readreverse", "verify"}) EXPECT_TRUE(Run(walk).IsCorruption()) << writes << ", " << walk;
  }
}

// If each thread of a fill writes its own part of the keys, the last versions are known. If several threads overwrite
// the same keys, the last versions are unknown, so no value that one of these threads wrote is reported as wrong.
TEST_F(WorkloadTest, UnknownLastVersionsAreNotCompared) {
  flags_.threads = 3;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Run("filluniquerandom").ok());
    ASSERT_TRUE(Run("overwrite").ok());
    const Status status = Run("verify");
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  ASSERT_TRUE(Run("filluniquerandom").ok());
  const std::map<std::string, std::string> old = engine_.map;
  ASSERT_TRUE(Run("fillseq").ok());
  ASSERT_TRUE(Run("verify").ok());
  engine_.map[KeyOf(7)] = old.at(KeyOf(7));
  EXPECT_TRUE(Run("verify").IsCorruption());
}

// The skipped key is not the sought one, and the walks are too short to compare numbers of entries.
TEST_F(WorkloadTest, ScanThatSkipsAKeyIsDetected) {
  ASSERT_TRUE(Run("fillseq").ok());
  engine_.lies.lost = [](const std::string& key) { return key == KeyOf(1000); };
  Phase phase{.flags = flags_, .pool = pool_, .keys = keys_, .lasting = &keys_};
  for (const bool forward : {true, false}) {
    EntryCheck check(phase, forward);
    ASSERT_TRUE(check.Key(KeyOf(1005)).ok());
    ASSERT_TRUE(check.Key(KeyOf(forward ? 1006 : 1004)).ok());
    EXPECT_TRUE(check.Key(KeyOf(forward ? 1008 : 1002)).IsCorruption());
    check.Restart();
    ASSERT_TRUE(check.Key(KeyOf(forward ? 100 : 2000)).ok()) << "a new walk";
  }
  EXPECT_TRUE(CheckLanding(phase, 5, KeyOf(5), KeyOf(5)).ok());
  EXPECT_TRUE(CheckLanding(phase, 5, KeyOf(5), KeyOf(6)).IsCorruption());
  keys_.Erase(5);
  EXPECT_TRUE(CheckLanding(phase, 5, KeyOf(5), KeyOf(6)).ok());
  EXPECT_TRUE(CheckLanding(phase, 5, KeyOf(5), KeyOf(7)).IsCorruption());
  EXPECT_TRUE(CheckLanding(phase, 5, KeyOf(5), std::nullopt).IsCorruption());
  keys_.Insert(5);
  // A workload whose walks are long enough to reach the lost key.
  flags_.seek_nexts = 3000;
  flags_.reads = 20;
  EXPECT_TRUE(Run("seekrandom").IsCorruption());
}

TEST_F(WorkloadTest, FillSyncWritesAThousandthUnlessWritesIsGiven) {
  ASSERT_TRUE(Run("fillsync").ok());
  EXPECT_TRUE(engine_.sync);
  EXPECT_EQ(result_.ops, 3u);
  flags_.writes = 20;
  ASSERT_TRUE(Run("fillsync").ok());
  EXPECT_EQ(result_.ops, 20u);
}

TEST_F(WorkloadTest, BatchesCommitTogether) {
  flags_.batch_size = 1000;
  flags_.writes = 2500;
  ASSERT_TRUE(Run("fillseq").ok());
  EXPECT_EQ(engine_.commits, 3u);
  EXPECT_EQ(engine_.map.size(), 2500u);
}

TEST_F(WorkloadTest, SyncEverySyncsEachThreadAfterSoManyPuts) {
  flags_.threads = 2;
  flags_.sync_every = 100;
  flags_.writes = 250;
  ASSERT_TRUE(Run("fillrandom").ok());
  EXPECT_EQ(engine_.syncs, 4u) << "two for each thread; the last 50 puts wait for the end";
  EXPECT_FALSE(engine_.sync);
  EXPECT_TRUE(engine_.groups);
  flags_.batch_size = 30;
  ASSERT_TRUE(Run("overwrite").ok());
  EXPECT_EQ(engine_.syncs, 8u) << "after the batch that completes a hundred";
  ASSERT_TRUE(Run("deleterandom").ok());
  EXPECT_EQ(engine_.syncs, 8 + result_.ops / 100);
  const std::uint64_t before = engine_.syncs;
  flags_.reads = 100;
  ASSERT_TRUE(Run("readrandomwriterandom").ok());
  EXPECT_FALSE(engine_.groups) << "a workload that also reads";
  EXPECT_EQ(engine_.syncs, before);
}

TEST_F(WorkloadTest, FillBatchIgnoresBatchSize) {
  flags_.batch_size = 7;
  flags_.writes = 2500;
  ASSERT_TRUE(Run("fillbatch").ok());
  EXPECT_EQ(engine_.commits, 3u);
  EXPECT_EQ(engine_.map.size(), 2500u);
  EXPECT_EQ(engine_.map.rbegin()->first, KeyOf(2499)) << "in key order";
}

TEST_F(WorkloadTest, MultiReadsAreCountedPerKey) {
  ASSERT_TRUE(Run("fillrandom").ok());
  flags_.threads = 2;
  flags_.batch_size = 32;
  flags_.reads = 1000;
  ASSERT_TRUE(Run("multireadrandom").ok());
  EXPECT_EQ(engine_.calls, 2u * 32) << "31 calls with 32 keys, and one with the 8 that are left";
  EXPECT_EQ(result_.ops, 2000u);
  EXPECT_EQ(result_.nanos.count(), 2u * 32) << "a latency is that of a call";
  EXPECT_NE(result_.message.find(" of 2000 found"), std::string::npos) << result_.message;
  EXPECT_EQ(result_.user_bytes, std::stoul(result_.message) * 116);
}

TEST_F(WorkloadTest, AsyncReadsAreCountedAndChecked) {
  ASSERT_TRUE(Run("fillrandom").ok());
  flags_.threads = 2;
  flags_.async_depth = 7;
  flags_.reads = 1000;
  ASSERT_TRUE(Run("readrandomasync").ok());
  EXPECT_EQ(result_.ops, 2000u);
  EXPECT_EQ(result_.nanos.count(), 2000u);
  EXPECT_EQ(result_.user_bytes, std::stoul(result_.message) * 116);
}

TEST_F(WorkloadTest, KeyWalkReadsNoValues) {
  ASSERT_TRUE(Run("fillseq").ok());
  ASSERT_TRUE(Run("readseqkeys").ok());
  EXPECT_EQ(result_.ops, 3000u);
  EXPECT_EQ(result_.user_bytes, 3000u * 16);
  flags_.reads = 100;
  ASSERT_TRUE(Run("seekrandomkeys").ok());
  EXPECT_EQ(result_.ops, 100u);
  EXPECT_EQ(engine_.values_walked, 0u);
  ASSERT_TRUE(Run("seekrandom").ok());
  EXPECT_GT(engine_.values_walked, 400u) << "100 seeks with 5 entries, but at the end";
}

TEST_F(WorkloadTest, OnlyReadersAreCountedWhileOneWrites) {
  ASSERT_TRUE(Run("fillseq").ok());
  engine_.commits = 0;
  flags_.threads = 2;
  flags_.reads = 2000;
  ASSERT_TRUE(Run("readwhilewriting").ok());
  EXPECT_EQ(result_.ops, 4000u);
  EXPECT_EQ(result_.nanos.count(), 4000u);
  EXPECT_EQ(result_.user_bytes, 4000u * 116);
  ASSERT_TRUE(result_.writer.has_value());
  EXPECT_EQ(result_.writer->ops, engine_.commits);
  EXPECT_FALSE(engine_.sync);
  EXPECT_TRUE(engine_.settled) << "the next workload finds a quiet engine";
  EXPECT_EQ(result_.settle_seconds, 0) << "but that is not the readers' time";
  EXPECT_NE(result_.message.find("4000 of 4000 found; writer: "), std::string::npos) << result_.message;
}

// Holds the readers back until the writer has done more than its own count would have allowed.
TEST_F(WorkloadTest, WriterRunsUntilTheReadersAreDone) {
  ASSERT_TRUE(Run("fillseq").ok());
  flags_.threads = 2;
  flags_.writes = 10;
  flags_.reads = 5;
  flags_.batch_size = 100;
  for (const char* name : {"readwhilewriting", "seekrandomwhilewriting"}) {
    engine_.commits = 0;
    engine_.lies.before_read = [this] {
      Await([this] {
        const std::lock_guard lock(engine_.mutex);
        return engine_.commits > 5000;
      });
    };
    ASSERT_TRUE(Run(name).ok());
    EXPECT_EQ(result_.ops, 10u);
    EXPECT_GT(result_.writer->ops, 5000u) << "put one by one, and without an end of its own";
    EXPECT_EQ(result_.writer->ops, engine_.commits) << "no writer is left";
  }
}

// While a writer adds a key, a lookup is right whether it finds the key or not. A reader looks for such a key many
// times while the put has begun and the key is not there yet, and again while the key is there and the put has not
// returned.
TEST_F(WorkloadTest, CorrectEnginePassesWhileKeysAreAdded) {
  flags_.num = 100;
  flags_.writes = 1;
  flags_.reads = 5000;
  for (const char* name : {"readwhilewriting", "seekrandomwhilewriting"}) {
    ASSERT_TRUE(Run("fillrandom").ok());
    std::atomic<int> reads{0};
    std::atomic<int> stops{0};  // of the writer, two in each put
    engine_.lies.before_read = [&] {
      const int n = ++reads;
      if (n == 1000) Await([&] { return stops >= 1; });
      if (n == 3000) Await([&] { return stops >= 2; });
    };
    engine_.lies.around_put = [&] {
      const int n = ++stops;
      if (n == 1) Await([&] { return reads >= 2000; });
      if (n == 2) Await([&] { return reads >= 4000; });
    };
    const Status status = Run(name);
    ASSERT_TRUE(status.ok()) << name << ": " << status.ToString();
    EXPECT_GE(result_.writer->ops, 1u);
    EXPECT_EQ(keys_.count(), engine_.map.size());
    engine_.lies = Lies();
  }
}

TEST_F(WorkloadTest, WhileSyncingWorkloadsSyncTheirWriter) {
  ASSERT_TRUE(Run("fillseq").ok());
  for (const char* name : {"readwhilesyncing", "seekrandomwhilesyncing"}) {
    ASSERT_TRUE(Run(name).ok());
    EXPECT_TRUE(engine_.sync) << name;
    ASSERT_TRUE(Run("readwhilewriting").ok());
    EXPECT_FALSE(engine_.sync);
  }
  flags_.sync = true;
  ASSERT_TRUE(Run("seekrandomwhilewriting").ok());
  EXPECT_TRUE(engine_.sync);
}

TEST_F(WorkloadTest, FailedWriteEndsTheReaders) {
  ASSERT_TRUE(Run("fillseq").ok());
  flags_.threads = 2;
  flags_.reads = 1 << 30;
  std::atomic<int> left{1000};
  engine_.lies.write = [&left] { return --left > 0 ? Status() : Status::NoSpace("full"); };
  EXPECT_TRUE(Run("readwhilewriting").IsNoSpace());
}

TEST_F(WorkloadTest, FirstReadingWorkloadIsFound) {
  EXPECT_EQ(FirstThatReads({"fillseq", "overwrite", "compact", "readwhilewriting", "readseq"}), 3u);
  EXPECT_EQ(FirstThatReads({"seekrandom"}), 0u);
  EXPECT_EQ(FirstThatReads({"fillseq", "verify"}), 2u);
}

TEST_F(WorkloadTest, SameSeedWritesTheSameDatabase) {
  ASSERT_TRUE(Run("fillrandom").ok());
  const auto first = engine_.map;
  ordinal_ = 0;
  ASSERT_TRUE(Run("fillrandom").ok());
  EXPECT_EQ(engine_.map, first);
  flags_.seed = 2;
  ordinal_ = 0;
  ASSERT_TRUE(Run("fillrandom").ok());
  EXPECT_NE(engine_.map, first);
}

TEST_F(WorkloadTest, CorrectEnginePassesEverything) {
  flags_.threads = 2;
  ASSERT_TRUE(Run("fillrandom").ok());
  flags_.batch_size = 7;
  for (const char* name : {"readrandom", "multireadrandom", "readrandomasync", "readmissing", "readseq", "readseqkeys",
                           "readreverse", "seekrandom", "seekrandomkeys", "verify", "overwrite", "deleterandom",
                           "readrandom", "multireadrandom", "readseq", "readseqkeys", "seekrandom", "seekrandomkeys",
                           "verify"}) {
    const Status status = Run(name);
    EXPECT_TRUE(status.ok()) << name << ": " << status.ToString();
  }
  EXPECT_EQ(result_.ops, engine_.map.size()) << "verify counts the keys it saw";
}

TEST_F(WorkloadTest, CountsFoundAndMissing) {
  ASSERT_TRUE(Run("fillrandom").ok());
  ASSERT_TRUE(Run("readrandom").ok());
  EXPECT_EQ(result_.ops, 3000u);
  const unsigned long found = std::stoul(result_.message);
  EXPECT_GT(found, 1600u);  // 63 % of 3000 are 1896
  EXPECT_LT(found, 2200u);
  EXPECT_NE(result_.message.find(" of 3000 found"), std::string::npos);
  ASSERT_TRUE(Run("readmissing").ok());
  EXPECT_EQ(result_.message, "0 of 3000 found");
}

TEST_F(WorkloadTest, EveryReaderDetectsAWrongByte) {
  ASSERT_TRUE(Run("fillseq").ok());
  engine_.lies.value = [](std::string* value) { (*value)[60] = static_cast<char>((*value)[60] ^ 4); };
  for (const char* name : {"readrandom", "multireadrandom", "readrandomasync", "readseq", "readreverse", "seekrandom",
                           "verify",
                           "readwhilewriting", "readwhilesyncing", "seekrandomwhilewriting",
                           "seekrandomwhilesyncing"}) {
    EXPECT_TRUE(Run(name).IsCorruption()) << name;
  }
}

TEST_F(WorkloadTest, LostKeyIsDetected) {
  ASSERT_TRUE(Run("fillseq").ok());
  engine_.lies.lost = IsKey7;
  flags_.reads = 100000;  // of 3000 keys: key 7 is met with certainty, and the seed is fixed
  for (const char* name : {"readrandom", "multireadrandom", "readrandomasync", "seekrandom", "seekrandomkeys",
                           "readwhilewriting",
                           "seekrandomwhilewriting"}) {
    EXPECT_TRUE(Run(name).IsCorruption()) << name;
  }
  for (const char* name : {"readseq", "readseqkeys", "readreverse", "verify"}) {
    EXPECT_TRUE(Run(name).IsCorruption()) << name;
  }
  flags_.reads = 5;  // the walk does not come to the end, and cannot tell
  EXPECT_TRUE(Run("readreverse").ok());
}

TEST_F(WorkloadTest, ResurrectedKeyIsDetected) {
  ASSERT_TRUE(Run("fillseq").ok());
  keys_.Erase(7);  // as if it had been deleted
  flags_.reads = 100000;
  for (const char* name : {"readrandom", "multireadrandom", "readseq", "readseqkeys", "verify"}) {
    EXPECT_TRUE(Run(name).IsCorruption()) << name;
  }
}

TEST_F(WorkloadTest, UnwrittenKeyIsDetected) {
  ASSERT_TRUE(Run("fillseq").ok());
  engine_.lies.ghost = [](const std::string& key) { return key.size() == 17; };
  EXPECT_TRUE(Run("readmissing").IsCorruption());
  engine_.map["a key of another shape"] = "";
  EXPECT_TRUE(Run("verify").IsCorruption());
}

TEST_F(WorkloadTest, WrongOrderIsDetected) {
  ASSERT_TRUE(Run("fillseq").ok());
  engine_.lies.backwards = true;
  EXPECT_TRUE(Run("seekrandom").IsCorruption());
  EXPECT_TRUE(Run("seekrandomkeys").IsCorruption());
}

TEST_F(WorkloadTest, ExistingDatabaseIsNotCompared) {
  ASSERT_TRUE(Run("fillrandom").ok());
  keys_.Reset(false);
  EXPECT_TRUE(Run("readrandom").ok());
  EXPECT_TRUE(Run("verify").ok());
  EXPECT_FALSE(result_.live_bytes.has_value());
  EXPECT_FALSE(result_.space_amp.has_value());
}

TEST_F(WorkloadTest, FailedWriteEndsAllWorkers) {
  flags_.threads = 3;
  flags_.writes = 1 << 30;
  std::atomic<int> left{1000};
  engine_.lies.write = [&left] { return --left > 0 ? Status() : Status::NoSpace("full"); };
  EXPECT_TRUE(Run("fillrandom").IsNoSpace());
}

TEST_F(WorkloadTest, MissingOperationIsNotSupported) {
  ASSERT_TRUE(Run("fillseq").ok());
  EXPECT_TRUE(Run("compact").IsNotSupported());
}

TEST_F(WorkloadTest, EveryWorkloadCanRun) {
  for (const Workload& workload : Workloads()) {
    EXPECT_EQ(FindWorkload(workload.name), &workload);
    EXPECT_TRUE(workload.run != nullptr || workload.maintain != nullptr) << workload.name;
  }
  EXPECT_EQ(FindWorkload("fillsquares"), nullptr);
}

// Reports that writes were held back for one second of each phase.
class StallingEngine : public MapEngine {
 public:
  explicit StallingEngine(StallTime time) : time_(time) {}
  Status BeginWrites(const WriteMode& mode) override {
    begins_ = true;
    return MapEngine::BeginWrites(mode);
  }
  std::unique_ptr<Session> NewSession() override {
    if (begins_.exchange(false)) seconds_ += 1;
    return MapEngine::NewSession();
  }
  EngineCounters ReadCounters() override {
    EngineCounters counters;
    counters.stall_micros = 1'000'000 * seconds_;
    counters.stall_time = time_;
    return counters;
  }

 private:
  StallTime time_;
  std::atomic<bool> begins_{false};
  std::atomic<std::uint64_t> seconds_{0};
};

// Its log gets 1000 bytes in each phase, of which `kept` bytes are values that stay in the log.
class LoggingEngine : public MapEngine {
 public:
  Status Settle(double* idle_seconds) override {
    log_ += 1000;
    kept_ += kept;
    return MapEngine::Settle(idle_seconds);
  }
  EngineCounters ReadCounters() override {
    EngineCounters counters;
    counters.ledger = WriteLedger{.log = log_};
    counters.kept_bytes = kept_;
    return counters;
  }
  std::uint64_t kept = 0;

 private:
  std::uint64_t log_ = 0;
  std::uint64_t kept_ = 0;
};

// Regression: if small values were written after a load of large ones, log_keeps_values was still that of the load.
TEST_F(WorkloadTest, LogKeepsValuesIsJudgedPerPhase) {
  flags_.num = 100;
  LoggingEngine engine;
  const auto keeps = [&](const char* name, std::uint64_t kept) {
    engine.kept = kept;
    Phase phase{.flags = flags_, .pool = pool_, .keys = keys_, .seed = 1, .ordinal = 0};
    result_ = Result();
    EXPECT_TRUE(RunPhase(*FindWorkload(name), config_, &engine, &phase, &result_).ok()) << name;
    return result_.ledger->log_keeps_values;
  };
  EXPECT_TRUE(keeps("fillrandom", 990));
  EXPECT_FALSE(keeps("overwrite", 0));
  EXPECT_TRUE(keeps("overwrite", 990));
  EXPECT_FALSE(keeps("overwrite", 490));
}

// Has a thousand cache misses each time it settles.
class SweepingEngine : public MapEngine {
 public:
  Status Settle(double* idle_seconds) override {
    misses_ += 1000;
    return MapEngine::Settle(idle_seconds);
  }
  EngineCounters ReadCounters() override {
    EngineCounters counters;
    counters.cache_hits = 0;
    counters.cache_misses = misses_;
    return counters;
  }

 private:
  std::uint64_t misses_ = 0;
};

// Regression: the flush and the sweep after mixgraph were counted as its reads.
TEST_F(WorkloadTest, CacheMissesOfSettlingAreNotCounted) {
  flags_.num = 100;
  SweepingEngine engine;
  for (const char* name : {"filluniquerandom", "overwrite", "readwhilewriting", "updaterandom"}) {
    Phase phase{.flags = flags_, .pool = pool_, .keys = keys_, .seed = 1, .ordinal = 0};
    if (FindWorkload(name)->fresh) keys_.Reset(true);
    result_ = Result();
    ASSERT_TRUE(RunPhase(*FindWorkload(name), config_, &engine, &phase, &result_).ok()) << name;
    EXPECT_TRUE(engine.settled);
    EXPECT_EQ(result_.cache_hits, 0u) << name;
    EXPECT_EQ(result_.cache_misses, 0u) << name;
  }
}

TEST_F(WorkloadTest, StallThreadsDependOnWhoWrites) {
  flags_.num = 100;
  flags_.threads = 16;
  struct Case {
    const char* name;
    unsigned of_the_store, of_writers, of_threads;
  };
  for (const Case& c : {Case{"overwrite", 1, 16, 16}, Case{"readwhilewriting", 1, 1, 17}, Case{"updaterandom", 1, 16, 16},
                        Case{"readrandom", 0, 0, 0}}) {
    SCOPED_TRACE(c.name);
    const auto threads_of = [&](StallTime time) {
      StallingEngine engine(time);
      keys_.Reset(true);
      const auto run = [&](const char* name) {
        Phase phase{.flags = flags_, .pool = pool_, .keys = keys_, .seed = 1, .ordinal = 0};
        result_ = Result();
        return RunPhase(*FindWorkload(name), config_, &engine, &phase, &result_);
      };
      EXPECT_TRUE(run("filluniquerandom").ok());
      EXPECT_TRUE(run(c.name).ok());
      EXPECT_EQ(result_.stall_seconds, 1);
      return result_.stall_threads;
    };
    EXPECT_EQ(threads_of(StallTime::kOfTheStore), c.of_the_store);
    EXPECT_EQ(threads_of(StallTime::kOfEachWriter), c.of_writers);
    EXPECT_EQ(threads_of(StallTime::kOfEachThread), c.of_threads);
  }
}

}  // namespace
}  // namespace cambium::bench
