// Tests of CompactLog: it removes all garbage, keeps all live values, does what it forecasts, and may be stopped at any
// moment.
#include "cambium/compact_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "backup/known_store.h"
#include "cambium/checkpoint.h"
#include "cambium/convenience.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"

namespace cambium::testing {
namespace {

class CompactedStore : public KnownStore {
 public:
  using KnownStore::KnownStore;
  // Makes a closed database with garbage of every kind. Its last changes are in the log only.
  void Fill(Prng* prng, int changes = 300) {
    options.enable_blob_garbage_collection = false;
    MustOpen();
    ChangeMany(prng, changes);
    Compact();
    ChangeMany(prng, changes / 3);
    MustClose();
  }
  Status CompactIt(const CompactLogOptions& how = {}) { return CompactLog(kStorePath, options, how, &report); }
  void MustCompact(const CompactLogOptions& how = {}) {
    const Status s = CompactIt(how);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Expects that a verified and reopened database has the known contents.
  void ExpectWhole() {
    ASSERT_EQ(Verify(), "");
    MustOpen();
    ASSERT_EQ(Contents(db.get()), known);
    MustClose();
  }
  CompactLogReport report;
};

TEST(CompactLogTest, ForecastEqualsTheResult) {
  const std::uint64_t first = SeedFromEnvironment(1);
  std::uint64_t moved = 0;
  for (std::uint64_t seed = first; seed < first + ScaledCount(30); ++seed) {
    SCOPED_TRACE(seed);
    Prng prng(seed);
    CompactedStore store;
    store.Fill(&prng, 200 + static_cast<int>(prng.Uniform(300)));
    const auto before = store.Files();
    CompactLogOptions dry;
    dry.dry_run = true;
    store.MustCompact(dry);
    ASSERT_EQ(store.Files(), before) << "the dry run changed files";
    const CompactLogReport said = store.report;
    EXPECT_EQ(said.fact, CompactLogFigures{});

    std::vector<CompactLogForecast> forecasts;
    CompactLogOptions how;
    how.on_forecast = [&](const CompactLogForecast& forecast) { forecasts.push_back(forecast); };
    std::uint64_t last = 0;
    how.on_progress = [&](std::uint64_t done, std::uint64_t all) {
      EXPECT_GE(done, last);
      EXPECT_LE(done, all);
      last = done;
      return true;
    };
    store.MustCompact(how);
    ASSERT_EQ(forecasts.size(), 1u);
    EXPECT_TRUE(forecasts[0].is_exact);
    EXPECT_EQ(forecasts[0].figures, store.report.fact);
    EXPECT_EQ(said.forecast.figures, store.report.fact) << "the dry run's forecast differs";
    EXPECT_EQ(said.log_bytes_before, store.report.log_bytes_before);
    EXPECT_EQ(said.live_bytes, store.report.live_bytes);
    EXPECT_TRUE(store.report.damaged.empty());
    moved += store.report.fact.values;
    store.ExpectWhole();

    store.MustCompact();
    EXPECT_EQ(store.report.fact, CompactLogFigures{}) << "the first call left work";
    EXPECT_LE(store.report.log_bytes_before, store.report.live_bytes + store.report.live_bytes / 4 + 8192);
    store.ExpectWhole();
  }
  EXPECT_GT(moved, ScaledCount(100));
}

// Each Open leaves a segment. Segments to which nothing refers any more are removed without a step.
TEST(CompactLogTest, DryRunCountsSegmentsThatAreRemovedWithoutAStep) {
  std::uint64_t gone = 0;
  for (std::uint64_t seed = 1; seed <= ScaledCount(10); ++seed) {
    SCOPED_TRACE(seed);
    Prng prng(seed);
    CompactedStore store;
    store.options.enable_blob_garbage_collection = false;
    for (int opening = 0; opening < 8; ++opening) {
      store.MustOpen();
      for (std::uint64_t i = prng.Uniform(12); i > 0; --i) {
        const std::string key = NumberedKey(static_cast<int>(prng.Uniform(12)));
        store.Put(key, store.known[key] = prng.Bytes(200 + prng.Uniform(3000)));
      }
      if (prng.Uniform(3) == 0) store.Compact();
      store.MustClose();
    }
    CompactLogOptions dry;
    dry.dry_run = true;
    store.MustCompact(dry);
    const CompactLogReport said = store.report;
    EXPECT_TRUE(said.forecast.is_exact);
    store.MustCompact();
    EXPECT_EQ(said.forecast.figures, store.report.fact);
    EXPECT_EQ(said.log_bytes_after, store.report.log_bytes_after);
    gone += store.report.fact.segments;
    store.ExpectWhole();
  }
  EXPECT_GT(gone, ScaledCount(10));
}

TEST(CompactLogTest, StopsAtTheTargetSpaceAmplification) {
  Prng prng(2);
  CompactedStore store;
  store.Fill(&prng, 600);
  CompactLogOptions dry;
  dry.dry_run = true;
  store.MustCompact(dry);
  const CompactLogFigures all = store.report.forecast.figures;
  dry.target_space_amp = 1.3;
  store.MustCompact(dry);
  const CompactLogFigures some = store.report.forecast.figures;
  EXPECT_GT(some.segments, 0u);
  EXPECT_LT(some.segments, all.segments);
  // With a target, the segments with the most garbage are emptied, so each moved byte frees more.
  EXPECT_GT(static_cast<double>(some.bytes_freed) / static_cast<double>(some.bytes_written + 1),
            static_cast<double>(all.bytes_freed) / static_cast<double>(all.bytes_written + 1));
  CompactLogOptions how;
  how.target_space_amp = 1.3;
  store.MustCompact(how);
  EXPECT_EQ(store.report.fact, store.report.forecast.figures);
  EXPECT_EQ(store.report.fact.bytes_written, some.bytes_written);
  EXPECT_LE(static_cast<double>(store.report.log_bytes_after), 1.35 * static_cast<double>(store.report.live_bytes));
  store.ExpectWhole();

  how.target_space_amp = 0.9;
  EXPECT_TRUE(store.CompactIt(how).IsInvalidArgument());
}

TEST(CompactLogTest, CallerMayStopItAndContinueLater) {
  Prng prng(3);
  CompactedStore store;
  store.Fill(&prng, 600);
  CompactLogOptions dry;
  dry.dry_run = true;
  store.MustCompact(dry);
  const std::uint64_t all = store.report.forecast.figures.values;
  std::uint64_t moved = 0;
  int calls = 0;
  CompactLogOptions how;
  how.on_progress = [](std::uint64_t, std::uint64_t) { return false; };
  Status s;
  do {
    s = store.CompactIt(how);
    ASSERT_TRUE(s.ok() || s.IsIncomplete()) << s.ToString();
    moved += store.report.fact.values;
    store.ExpectWhole();
    ASSERT_LT(++calls, 100);
  } while (!s.ok());
  EXPECT_EQ(moved, all) << "values were moved twice";
  EXPECT_GT(calls, 3);
}

TEST(CompactLogTest, ClusteredValuesAreInKeyOrder) {
  Prng prng(4);
  CompactedStore store;
  store.Fill(&prng, 600);
  CompactLogOptions how;
  how.cluster = true;
  store.MustCompact(how);
  EXPECT_FALSE(store.report.forecast.is_exact);
  EXPECT_GT(store.report.fact.values, 10u);
  EXPECT_LE(store.report.fact.bytes_written, store.report.forecast.figures.bytes_written * 5 / 4);
  store.ExpectWhole();
  how.dry_run = true;
  store.MustCompact(how);
  EXPECT_EQ(store.report.forecast.figures.values, 0u) << "they are in key order already";
  CompactLogOptions rest;
  rest.dry_run = true;
  store.MustCompact(rest);
  EXPECT_EQ(store.report.forecast.figures.values, 0u) << "clustering left garbage";
}

void ExpectNear(std::uint64_t forecast, std::uint64_t fact) {
  EXPECT_LE(std::max(forecast, fact) - std::min(forecast, fact), fact / 100)
      << "forecast " << forecast << ", result " << fact;
}

// Values that are in key order already are not moved, unless a quarter of them is garbage.
TEST(CompactLogTest, ForecastOfClusteringCountsValuesMovedForGarbage) {
  for (const bool is_in_order : {true, false}) {
    SCOPED_TRACE(is_in_order);
    CompactedStore store;
    Prng prng(11);
    store.options.enable_blob_garbage_collection = false;
    store.options.blob_file_size = 256u << 10;
    store.MustOpen();
    for (int i = 0; i < 1500; ++i) {
      const std::string key = NumberedKey(is_in_order ? i : i * 7 % 1500);
      store.Put(key, store.known[key] = prng.Bytes(1500));
    }
    store.Compact();
    for (int i = 0; i < 1500; i += 4) {
      ASSERT_TRUE(store.db->Delete({}, NumberedKey(i)).ok());
      store.known.erase(NumberedKey(i));
    }
    store.Compact();
    store.MustClose();
    CompactLogOptions how;
    how.cluster = how.dry_run = true;
    store.MustCompact(how);
    const CompactLogFigures said = store.report.forecast.figures;
    how.dry_run = false;
    store.MustCompact(how);
    const CompactLogFigures& fact = store.report.fact;
    EXPECT_EQ(store.report.forecast.figures, said);
    EXPECT_GT(fact.bytes_written, 1'000'000u);
    EXPECT_EQ(said.values, fact.values);
    EXPECT_EQ(said.segments, fact.segments);
    ExpectNear(said.bytes_written, fact.bytes_written);
    ExpectNear(said.bytes_read, fact.bytes_read);
    ExpectNear(said.bytes_freed, fact.bytes_freed);
    store.ExpectWhole();
  }
}

TEST(CompactLogTest, ClusteringNeedsRoomForAllValues) {
  Prng prng(4);
  CompactedStore store;
  store.Fill(&prng, 600);
  CompactLogOptions how;
  how.cluster = true;
  how.on_forecast = [&](const CompactLogForecast& forecast) {
    store.fs->SetQuota(store.fs->probe().allocated_bytes() + forecast.figures.bytes_written - 1);
  };
  const Status s = store.CompactIt(how);
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  EXPECT_EQ(store.report.fact.values, 0u);
  store.ExpectWhole();
}

TEST(CompactLogTest, WorksOnADiskThatIsFullOfGarbage) {
  Prng prng(5);
  CompactedStore store;
  store.Fill(&prng, 1500);
  store.fs->SetQuota(store.fs->probe().allocated_bytes() + (96u << 10));
  store.MustCompact();
  EXPECT_GT(store.report.fact.bytes_freed, 0u);
  store.ExpectWhole();
}

// Nine megabytes, three quarters of them garbage.
void FillLargely(CompactedStore* store) {
  Prng prng(5);
  store->options.blob_file_size = 256u << 10;
  store->options.enable_blob_garbage_collection = false;
  store->MustOpen();
  for (int i = 0; i < 6000; ++i) {
    const std::string key = NumberedKey(static_cast<int>(prng.Uniform(1500)));
    store->Put(key, store->known[key] = prng.Bytes(1500));
  }
  store->RunUntilIdle();
  store->MustClose();
}

TEST(CompactLogTest, SpaceIsFreedStepByStep) {
  CompactedStore store;
  FillLargely(&store);
  const std::uint64_t before = store.fs->probe().allocated_bytes();
  std::uint64_t most = 0;
  const int hook = store.fs->AddHook([&](const SimOp&) { most = std::max(most, store.fs->probe().allocated_bytes()); });
  store.MustCompact();
  store.fs->RemoveHook(hook);
  EXPECT_GT(store.report.fact.bytes_written, 2u << 20);
  EXPECT_LT(most, before + (1u << 20)) << "needed more room than two groups of values and the index";
  EXPECT_LT(store.fs->probe().allocated_bytes(), before / 2);
}

// Regression: the ceiling made the steps of the index small. A commit per key took minutes for a database of 20 MB.
TEST(CompactLogTest, IndexIsNotCommittedKeyByKey) {
  CompactedStore store;
  FillLargely(&store);
  store.options.max_space_amplification = Options().max_space_amplification;
  ASSERT_GT(store.options.max_space_amplification, 0);
  int syncs = 0;
  const int hook = store.fs->AddHook([&](const SimOp& op) {
    syncs += op.kind == SimOpKind::kSync && op.phase == SimPhase::kAfter ? 1 : 0;
  });
  store.MustCompact();
  store.fs->RemoveHook(hook);
  EXPECT_GT(store.report.fact.values, 1000u);
  EXPECT_LT(syncs, 200);
  store.ExpectWhole();
}

// The disk becomes full after different numbers of bytes. Finished steps remain, and nothing is lost.
TEST(CompactLogTest, DiskThatFillsUpMeanwhileLosesNothing) {
  int full = 0;
  for (std::uint64_t room = 0; room < (1u << 20); room += 48u << 10) {
    SCOPED_TRACE(room);
    CompactedStore store;
    FillLargely(&store);
    CompactLogOptions how;
    how.recompress = kNoCompression;
    how.on_forecast = [&](const CompactLogForecast&) {
      store.fs->SetQuota(store.fs->probe().allocated_bytes() + room);
    };
    const Status s = store.CompactIt(how);
    EXPECT_TRUE(s.ok() || s.IsNoSpace()) << s.ToString();
    full += s.IsNoSpace() ? 1 : 0;
    store.fs->SetQuota(std::numeric_limits<std::uint64_t>::max());
    store.ExpectWhole();
    store.MustCompact();
    store.ExpectWhole();
  }
  EXPECT_GT(full, 0);
}

// The bytes of the reserve for a full disk.
std::uint64_t ReserveOf(const CompactedStore& store) {
  std::uint64_t bytes = 0;
  for (const std::string& path : store.FilesOf(".rsv")) bytes += store.Files().at(path).size();
  return bytes;
}

// The space of the reserve is enough to begin the work.
TEST(CompactLogTest, WorksOnADiskWithoutAFreeByte) {
  CompactedStore store;
  FillLargely(&store);
  const std::uint64_t reserve = ReserveOf(store);
  ASSERT_GT(reserve, 0u) << "the database has no reserve";
  store.fs->SetQuota(store.fs->probe().allocated_bytes());
  store.MustCompact();
  EXPECT_GT(store.report.fact.bytes_freed, 2u << 20);
  EXPECT_EQ(ReserveOf(store), reserve) << "it was released for the work, and made again";
  store.ExpectWhole();
}

// Regression: an offline Open measures no space, took every reserve for too large, and removed it.
TEST(CompactLogTest, ReserveForAFullDiskIsKept) {
  CompactedStore store;
  FillLargely(&store);
  const std::uint64_t reserve = ReserveOf(store);
  ASSERT_GT(reserve, 0u);
  store.MustCompact();
  EXPECT_EQ(ReserveOf(store), reserve);
  {
    const MutantScope mutant(Mutant::kCompactLogDropsReserve);
    store.MustCompact();
    EXPECT_EQ(ReserveOf(store), 0u) << "the mutant has no effect";
  }
  store.ExpectWhole();
}

// Recompresses with each codec. A second call with the same codec moves nothing.
TEST(CompactLogTest, ValuesAreRecompressed) {
  CompactedStore store;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  for (int i = 0; i < 60; ++i) {
    store.Put(NumberedKey(i), store.known[NumberedKey(i)] = std::string(2000, static_cast<char>('a' + i % 7)));
  }
  store.MustClose();
  std::uint64_t raw = 0;
  for (const CompressionType codec : {kZSTD, kLZ4Compression, kNoCompression}) {
    CompactLogOptions how;
    how.recompress = codec;
    store.MustCompact(how);
    EXPECT_FALSE(store.report.forecast.is_exact);
    EXPECT_EQ(store.report.fact.values, 60u);
    if (codec == kZSTD) raw = store.report.log_bytes_before;
    if (codec != kNoCompression) {
      EXPECT_LT(store.report.log_bytes_after, raw / 4);
    } else {
      EXPECT_GT(store.report.log_bytes_after, raw * 3 / 4);
    }
    store.MustCompact(how);
    EXPECT_EQ(store.report.fact.values, 0u) << "they already have the wanted form";
    DBOptions db;
    std::vector<ColumnFamilyDescriptor> families;
    ConfigOptions config;
    config.file_system = store.fs;
    ASSERT_TRUE(LoadLatestOptions(config, kStorePath, &db, &families).ok());
    EXPECT_EQ(families[0].options.blob_compression_type, codec);
    ASSERT_EQ(store.Verify(), "");
  }
  store.ExpectWhole();
}

TEST(CompactLogTest, StoppedRecompressionContinues) {
  CompactedStore store;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i), store.known[NumberedKey(i)] = std::string(6000, 'x'));
  store.MustClose();
  std::uint64_t moved = 0;
  CompactLogOptions how;
  how.recompress = kZSTD;
  how.on_progress = [](std::uint64_t, std::uint64_t) { return false; };
  int calls = 0;
  Status s;
  do {
    s = store.CompactIt(how);
    ASSERT_TRUE(s.ok() || s.IsIncomplete()) << s.ToString();
    moved += store.report.fact.values;
    ASSERT_LT(++calls, 100);
  } while (!s.ok());
  EXPECT_EQ(moved, 60u);
  EXPECT_GT(calls, 3);
  store.ExpectWhole();
}

// Regression: a compaction that keeps the form of values writes them into segments that are newer than the OPTIONS
// file. A later call assumed that these values have the form that the file gives, and moved nothing.
TEST(CompactLogTest, ValuesMovedInTheirOldFormAreRecompressedLater) {
  for (const bool by_program : {false, true}) {
    SCOPED_TRACE(by_program);
    CompactedStore store;
    store.options.enable_blob_garbage_collection = false;
    store.options.blob_file_size = 64u << 10;
    store.MustOpen();
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i), store.known[NumberedKey(i)] = std::string(6000, 'x'));
    }
    store.MustClose();
    CompactLogOptions how;
    how.recompress = kZSTD;
    if (by_program) {
      store.options.blob_compression_type = kZSTD;
      store.MustOpen();
      store.MustClose();
    } else {
      how.on_progress = [](std::uint64_t, std::uint64_t) { return false; };
      ASSERT_TRUE(store.CompactIt(how).IsIncomplete());
      how.on_progress = nullptr;
      store.options.blob_compression_type = kZSTD;  // as in the OPTIONS file now
    }
    store.MustCompact();
    EXPECT_GT(store.report.fact.values, 30u);
    EXPECT_GT(store.report.log_bytes_after, 200'000u) << "values changed their form";
    store.MustCompact(how);
    EXPECT_GE(store.report.fact.values, 50u);
    EXPECT_LT(store.report.log_bytes_after, 60'000u);
    store.MustCompact(how);
    EXPECT_EQ(store.report.fact.values, 0u) << "they already have the wanted form";
    store.ExpectWhole();
  }
}

// The same regression for the size from which values are separated.
TEST(CompactLogTest, ValuesMovedInTheirOldFormMoveIntoTheIndexLater) {
  CompactedStore store;
  store.options.enable_blob_garbage_collection = false;
  store.options.min_blob_size = 64;
  store.MustOpen();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i), store.known[NumberedKey(i)] = std::string(100, 'x'));
  }
  store.Compact();
  store.MustClose();
  store.options.min_blob_size = 101;
  store.MustOpen();
  store.MustClose();
  store.MustCompact();
  EXPECT_EQ(store.report.fact.values, 60u) << "they remain in the log";
  CompactLogOptions how;
  how.recompress = kZSTD;  // which does not change the place of values
  store.options.blob_compression_type = kZSTD;
  store.MustCompact(how);
  how = {};
  how.min_blob_size = 101;
  store.MustCompact(how);
  EXPECT_EQ(store.report.fact.values, 60u);
  EXPECT_EQ(store.report.fact.bytes_written, 0u);
  store.ExpectWhole();
}

// With values in the index, the database could not be opened with its ceiling.
TEST(CompactLogTest, ValuesDoNotMoveIntoTheIndexUnderALowCeiling) {
  CompactedStore store;
  store.options.max_space_amplification = 1.1;
  store.options.min_blob_size = 0;
  store.MustOpen();
  store.Put("a", store.known["a"] = std::string(100, 'x'));
  store.MustClose();
  CompactLogOptions how;
  how.min_blob_size = 101;
  CompactLogReport report;
  const std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, store.options}};
  const Status s = CompactLog(store.options, kStorePath, families, how, &report);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  how.min_blob_size.reset();
  store.MustCompact(how);
  store.ExpectWhole();
}

TEST(CompactLogTest, ValuesMoveBetweenLogAndIndex) {
  CompactedStore store;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  for (int i = 0; i < 60; ++i) {
    store.Put(NumberedKey(i), store.known[NumberedKey(i)] = std::string(i % 2 == 0 ? 100 : 50, 'x'));
  }
  store.MustClose();
  const auto in_log = [&] {
    VerifyReport verified;
    EXPECT_TRUE(VerifyDB(kStorePath, store.options, {}, &verified).ok());
    return verified.live_references;
  };
  EXPECT_EQ(in_log(), 0u) << "not flushed";
  CompactLogOptions how;
  for (const auto& [size, count] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{{40, 60}, {80, 30}, {101, 0}, {64, 30}}) {
    SCOPED_TRACE(size);
    store.options.min_blob_size = size;
    how.min_blob_size = size;
    store.MustCompact(how);
    EXPECT_EQ(in_log(), count);
    store.MustCompact(how);
    EXPECT_EQ(store.report.fact.values, 0u);
    store.ExpectWhole();
  }
}

TEST(CompactLogTest, OptionsFileKeepsOtherOptions) {
  Prng prng(6);
  CompactedStore store;
  store.options.max_space_amplification = 1.7;
  store.options.blob_garbage_collection_force_threshold = 0.75;
  store.Fill(&prng);
  store.options.enable_blob_garbage_collection = true;
  store.MustOpen();
  store.MustClose();
  store.MustCompact();
  DBOptions db;
  std::vector<ColumnFamilyDescriptor> families;
  ConfigOptions config;
  config.file_system = store.fs;
  ASSERT_TRUE(LoadLatestOptions(config, kStorePath, &db, &families).ok());
  EXPECT_EQ(db.max_space_amplification, 1.7);
  EXPECT_EQ(families[0].options.blob_garbage_collection_force_threshold, 0.75);
  EXPECT_TRUE(families[0].options.enable_blob_garbage_collection);
}

TEST(CompactLogTest, DamagedSegmentIsKeptAndTheRestCompacted) {
  Prng prng(7);
  CompactedStore store;
  store.Fill(&prng, 600);
  store.MustOpen();
  store.RunUntilIdle();
  store.Compact();
  store.MustClose();
  // A byte of a value in the middle of a sealed segment.
  const std::string victim = store.FilesOf(".log").front();
  std::string bytes;
  ASSERT_TRUE(store.fs->probe().ReadContents(victim, &bytes).ok());
  std::size_t hit = 0;
  for (const auto& [key, value] : store.known) {
    if (value.size() != 300) continue;
    const std::size_t at = bytes.find(value);
    if (at != std::string::npos) hit = at + 100;
  }
  ASSERT_NE(hit, 0u) << "the segment has no live value";
  ASSERT_TRUE(store.fs->tampering().Overwrite(victim, hit, "damage").ok());
  const Status s = store.CompactIt();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  ASSERT_EQ(store.report.damaged.size(), 1u);
  EXPECT_NE(store.report.damaged[0].find(victim), std::string::npos) << store.report.damaged[0];
  EXPECT_GT(store.report.fact.values, 0u) << "the rest was not compacted";
  FileInfo info;
  EXPECT_TRUE(store.fs->GetInfo(victim, &info).ok());
}

// A damaged segment cannot be removed. If it counted as part of the log, no target could be met, and all other segments
// would be emptied.
TEST(CompactLogTest, DamagedSegmentDoesNotCountForTheTarget) {
  Prng prng(2);
  CompactedStore store;
  store.Fill(&prng, 600);
  CompactLogOptions how;
  how.target_space_amp = 1000;  // flushes everything, moves nothing
  store.MustCompact(how);
  const std::string victim = store.FilesOf(".log").front();
  std::string bytes;
  ASSERT_TRUE(store.fs->probe().ReadContents(victim, &bytes).ok());
  for (std::size_t at = 4096; at < bytes.size(); at += 64) {
    ASSERT_TRUE(store.fs->tampering().Overwrite(victim, at, "damage").ok());
  }
  how.dry_run = true;
  how.target_space_amp = 1;
  EXPECT_TRUE(store.CompactIt(how).IsCorruption());
  EXPECT_EQ(store.report.damaged.size(), 1u);
  const std::uint64_t all = store.report.forecast.figures.segments;
  how.target_space_amp = 1.3;
  EXPECT_TRUE(store.CompactIt(how).IsCorruption());
  EXPECT_GT(store.report.forecast.figures.segments, 0u);
  EXPECT_LT(store.report.forecast.figures.segments, all);
  how.dry_run = false;
  how.cluster = true;  // finds the damage in another way
  EXPECT_TRUE(store.CompactIt(how).IsCorruption());
  EXPECT_EQ(store.report.damaged.size(), 1u) << "the segment is reported twice";
}

// A checkpoint has hard links to the same files, so files that the database removes remain on disk.
TEST(CompactLogTest, SegmentsSharedWithACheckpointAreNotCountedAsFreed) {
  for (const bool of_checkpoint : {false, true}) {
    SCOPED_TRACE(of_checkpoint);
    CompactedStore store;
    FillLargely(&store);
    store.MustOpen();
    const std::string clone = "/clone";
    std::unique_ptr<Checkpoint> checkpoint;
    ASSERT_TRUE(Checkpoint::Create(store.db.get(), &checkpoint).ok());
    ASSERT_TRUE(checkpoint->CreateCheckpoint(clone).ok());
    store.MustClose();
    const std::string path = of_checkpoint ? clone : kStorePath;
    const std::uint64_t before = store.fs->probe().allocated_bytes();
    CompactLogReport report;
    const Status s = CompactLog(path, store.options, {}, &report);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(report.forecast.figures, report.fact);
    EXPECT_GT(report.fact.bytes_held, 2u << 20);
    EXPECT_GT(store.fs->probe().allocated_bytes() + report.fact.bytes_freed, before) << "more was freed than reported";
    EXPECT_LT(report.log_bytes_after, report.log_bytes_before / 2) << "the database's own log";
    for (const std::string& each : {clone, std::string(kStorePath)}) {
      VerifyReport verified;
      EXPECT_TRUE(VerifyDB(each, store.options, {}, &verified).ok()) << each;
      std::unique_ptr<DB> db;
      ASSERT_TRUE(DB::Open(store.options, each, &db).ok());
      EXPECT_EQ(Contents(db.get()), store.known) << each;
      ASSERT_TRUE(db->Close().ok());
    }
  }
}

TEST(CompactLogTest, AllFamiliesAreCompacted) {
  TestStore store;
  store.options.create_missing_column_families = true;
  store.options.enable_blob_garbage_collection = false;
  const std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, store.options}, {"other", store.options}};
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_TRUE(DB::Open(store.options, kStorePath, families, &handles, &store.db).ok());
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 50; ++i) {
      for (ColumnFamilyHandle* const handle : handles) {
        ASSERT_TRUE(store.db->Put({}, handle, NumberedKey(i), handle->GetName() + std::string(500 + round, 'x')).ok());
      }
    }
  }
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  store.MustClose();
  CompactLogReport report;
  EXPECT_TRUE(CompactLog(kStorePath, store.options, {}, &report).IsInvalidArgument()) << "a family is missing";
  ASSERT_TRUE(CompactLog(store.options, kStorePath, families, {}, &report).ok());
  EXPECT_EQ(report.fact.values, 100u);
  EXPECT_LT(report.log_bytes_after, report.log_bytes_before / 2);
  ASSERT_TRUE(DB::Open(store.options, kStorePath, families, &handles, &store.db).ok());
  for (int i = 0; i < 50; ++i) {
    for (ColumnFamilyHandle* const handle : handles) {
      std::string value;
      ASSERT_TRUE(store.db->Get({}, handle, NumberedKey(i), &value).ok());
      EXPECT_EQ(value, handle->GetName() + std::string(502, 'x'));
    }
  }
  for (ColumnFamilyHandle* const handle : handles) delete handle;
}

TEST(CompactLogTest, RejectsMissingAndOpenDatabases) {
  CompactedStore store;
  Status s = store.CompactIt();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  CompactLogOptions dry;
  dry.dry_run = true;
  EXPECT_TRUE(store.CompactIt(dry).IsInvalidArgument());
  store.MustOpen();
  EXPECT_TRUE(store.CompactIt().IsLocked());
  EXPECT_TRUE(store.CompactIt(dry).IsLocked());
  store.MustClose();
  store.MustCompact();
  EXPECT_EQ(store.report.fact, CompactLogFigures{});
  Options other = store.options;
  other.comparator = ReverseBytewiseComparator();
  EXPECT_TRUE(CompactLog(kStorePath, other, {}, &store.report).IsInvalidArgument());
}

// Cuts the power at every call. Returns what is wrong, or "" if the database is always whole, and a second call
// finishes the work of the first.
std::string AfterEveryCut(std::uint64_t seed, const CompactLogOptions& how) {
  Prng prng(seed);
  CompactedStore store;
  store.Fill(&prng, 150);
  std::vector<SimImage> images;
  const int hook = store.fs->AddHook([&](const SimOp& op) {
    if (op.phase == SimPhase::kBefore || op.phase == SimPhase::kInside) images.push_back(store.fs->DrawCrash(prng));
  });
  if (const Status s = store.CompactIt(how); !s.ok()) return s.ToString();
  store.fs->RemoveHook(hook);
  const std::uint64_t bytes = store.report.log_bytes_after;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string where = "cut " + std::to_string(i) + " of " + std::to_string(images.size()) + ": ";
    CompactedStore after(std::make_shared<SimFileSystem>(images[i]));
    if (i % 2 == 0) {
      after.MustOpen();
      if (Contents(after.db.get()) != store.known) return where + "something is lost";
      after.MustClose();
    }
    if (const Status s = after.CompactIt(how); !s.ok()) return where + s.ToString();
    if (const std::string wrong = after.Verify(); !wrong.empty()) return where + wrong;
    after.MustOpen();
    if (Contents(after.db.get()) != store.known) return where + "something is lost in the second call";
    after.MustClose();
    if (after.report.log_bytes_after > bytes + bytes / 4 + 4096) {
      return where + "garbage is left: " + std::to_string(after.report.log_bytes_after) + " bytes, expected " +
             std::to_string(bytes);
    }
  }
  return images.size() > 20 ? "" : "too few calls to cut at";
}

TEST(CompactLogTest, PowerCutAtAnyCallLosesNothing) {
  const std::uint64_t first = SeedFromEnvironment(700);
  for (std::uint64_t seed = first; seed < first + ScaledCount(10); ++seed) {
    CompactLogOptions how;
    how.cluster = seed % 3 == 1;
    if (seed % 3 == 2) how.recompress = kZSTD;
    if (seed % 5 == 0) how.min_blob_size = 200 + 200 * (seed % 2);
    ASSERT_EQ(AfterEveryCut(seed, how), "") << seed;
  }
  const MutantScope mutant(Mutant::kCompactLogDropsLiveSegment);
  bool is_wrong = false;
  for (std::uint64_t seed = 700; seed < 710 && !is_wrong; ++seed) is_wrong = !AfterEveryCut(seed, {}).empty();
  EXPECT_TRUE(is_wrong);
}

TEST(CompactLogTest, FailureOfAnyCallLosesNothing) {
  std::uint64_t calls = 0;
  for (std::uint64_t nth = 0; nth <= calls; nth += kSweepStep * (1 + nth / 40)) {
    for (const Status& status : {Status::IOError("injected"), Status::NoSpace("injected")}) {
      SCOPED_TRACE(nth);
      Prng prng(9);
      CompactedStore store;
      store.Fill(&prng, 150);
      const std::uint64_t before = store.fs->calls();
      SimFault fault;
      fault.nth = nth;
      fault.status = status;
      if (nth > 0) store.fs->AddFault(fault);
      const Status first = store.CompactIt();
      if (nth == 0) calls = store.fs->calls() - before;
      store.fs->ClearFaults();
      store.fs->DropCaches();
      EXPECT_TRUE(first.ok() || first.message().find("injected") != std::string::npos) << first.ToString();
      store.MustCompact();
      store.ExpectWhole();
    }
  }
  EXPECT_GT(calls, 100u);
}

}  // namespace
}  // namespace cambium::testing
