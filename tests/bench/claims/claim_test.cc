// Claims over made-up results: each verdict follows from the figures, and missing results are reported as missing.
//
// For each claim there is a set of results with which the claim holds, and changes of these results with which it holds
// in part or not at all.
#include "claims/claim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>

#include "claims/decision.h"
#include "claims/figures.h"

namespace cambium::bench {
namespace {

using Results = std::vector<Result>;

Result ResultOf(const std::string& experiment, const std::string& label, const std::string& benchmark, double rate,
                unsigned round = 0) {
  Result r;
  r.experiment = experiment;
  r.engine = label.substr(0, label.find('/'));
  if (label.find('/') != std::string::npos) r.index = label.substr(label.find('/') + 1);
  r.benchmark = benchmark;
  r.round = round;
  r.ops = 1000;
  r.threads = 1;
  r.ops_per_sec = rate;
  r.seconds = 1000 / rate;
  return r;
}

Claim Judged(const Results& results, const std::string& id) {
  const std::vector<Claim> claims = JudgeClaims(results);
  const auto found = std::find_if(claims.begin(), claims.end(), [&](const Claim& c) { return c.id == id; });
  return found == claims.end() ? Claim{.id = "none", .source = "", .text = "", .published = ""} : *found;
}

// Expects that claim `id` has this verdict, a criterion, and, unless it holds, a reason.
void ExpectVerdict(const Results& results, const std::string& id, Verdict verdict, const std::string& what = "") {
  const Claim claim = Judged(results, id);
  SCOPED_TRACE(id + ": " + what + " measured " + claim.measured + ", why " + claim.why);
  EXPECT_EQ(claim.id, id);
  EXPECT_EQ(claim.verdict, verdict);
  EXPECT_NE(claim.criterion, "");
  EXPECT_EQ(claim.why.empty(), verdict == Verdict::kHolds);
}

constexpr const char* kBlobSizes[] = {"1 KiB", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"};
constexpr const char* kBadgerSizes[] = {"16 B", "128 B", "1 KiB", "16 KiB"};

// Applies `change(result)` to the results that it is meant for.
Results Changed(Results results, const std::string& experiment, const std::string& label, const std::function<void(Result*)>& change) {
  bool any = false;
  for (Result& r : results) {
    if ((!experiment.empty() && r.experiment != experiment) || Label(r) != label) continue;
    change(&r);
    any = true;
  }
  EXPECT_TRUE(any) << experiment << " " << label;
  return results;
}
std::function<void(Result*)> Rate(double rate) {
  return [rate](Result* r) {
    r->ops_per_sec = rate;
    r->seconds = 1000 / rate;
  };
}
Results Without(Results results, const std::string& label) {
  EXPECT_GT(std::erase_if(results, [&](const Result& r) { return Label(r) == label; }), 0u);
  return results;
}

// Returns results for every size, in which each engine has its rate.
Results OfSizes(const std::string& preset, std::span<const char* const> sizes, const std::string& benchmark,
                const std::vector<std::pair<std::string, double>>& rates) {
  Results results;
  for (const char* size : sizes) {
    for (const auto& [label, rate] : rates) results.push_back(ResultOf(preset + ", " + size, label, benchmark, rate));
  }
  return results;
}

// A ledger whose write amplification, as the post defines it, is `amp`.
WriteLedger Ledger(double amp) { return {.flush = 1000, .merge = static_cast<std::uint64_t>(1000 * (amp - 1) + 0.5)}; }

TEST(ClaimTest, PresetsWithoutResultsHaveNoClaims) {
  EXPECT_TRUE(JudgeClaims({}).empty());
  EXPECT_TRUE(JudgeClaims({ResultOf("", "cambium/btree", "overwrite", 1)}).empty());
}

TEST(ClaimTest, MissingResultsAreNotMeasured) {
  Results results;
  for (const char* experiment : {"blobdb2021, 1 KiB", "slides4, 32 KiB", "badger2017, 1 KiB", "fast20, udb"}) {
    results.push_back(ResultOf(experiment, "lmdb", "fillseq", 1000));
  }
  const std::vector<Claim> claims = JudgeClaims(results);
  EXPECT_EQ(claims.size(), 9 + 6 + 7 + 2u);
  for (const Claim& claim : claims) {
    EXPECT_EQ(claim.verdict, Verdict::kNotMeasured) << claim.id;
    EXPECT_EQ(claim.measured, "-") << claim.id;
    EXPECT_NE(claim.why, "") << claim.id;
    EXPECT_NE(claim.published, "") << claim.id;
    EXPECT_NE(claim.criterion, "") << claim.id;
    EXPECT_NE(claim.source, "") << claim.id;
  }
}

TEST(ClaimTest, WriteAmplificationIsJudgedAtEachSize) {
  struct Case {
    const char* id;
    std::vector<std::string> benchmarks;
    double blob, leveled, universal;
  };
  for (const Case& c : {Case{"A3", {"overwrite"}, 1.7, 6.1, 5.7}, Case{"A4", {"readwhilesyncing"}, 1.8, 10.8, 2.2},
                        Case{"A5", {"seekrandomwhilesyncing"}, 1.8, 13.6, 2.8}}) {
    Results holds;
    for (const std::string& benchmark : c.benchmarks) {
      for (Result& r : OfSizes("blobdb2021", kBlobSizes, benchmark,
                               {{"rocksdb_blob", 1}, {"rocksdb_leveled", 1}, {"rocksdb_universal", 1}})) {
        r.ledger = Ledger(r.engine == "rocksdb_blob" ? c.blob : r.engine == "rocksdb_leveled" ? c.leveled : c.universal);
        holds.push_back(r);
      }
    }
    const auto amp = [](double value) { return [value](Result* r) { r->ledger = Ledger(value); }; };
    ExpectVerdict(holds, c.id, Verdict::kHolds);
    ExpectVerdict(Changed(holds, "blobdb2021, 4 KiB", "rocksdb_leveled", amp(c.blob + 0.1)), c.id, Verdict::kInPart,
                  "by any margin is not enough");
    ExpectVerdict(Changed(holds, "", "rocksdb_universal", amp(c.universal * 0.9)), c.id, Verdict::kInPart, "universal counts");
    ExpectVerdict(Without(holds, "rocksdb_universal"), c.id, Verdict::kInPart, "a part that was not measured");
    EXPECT_EQ(Judged(Changed(holds, "blobdb2021, 4 KiB", "rocksdb_blob", amp(c.blob * 1.1)), c.id).why,
              "too high: BlobDB 4 KiB");
    Results differs = Changed(holds, "", "rocksdb_universal", amp(1));
    differs = Changed(differs, "", "rocksdb_leveled", amp(1));
    ExpectVerdict(Changed(differs, "", "rocksdb_blob", amp(c.blob * 1.1)), c.id, Verdict::kDiffers);
  }
}

// Returns both stages of the load for each size: those of a run of all engines, in which BlobDB has blob GC, and those
// of a run without blob GC, as in the post.
Results Loads() {
  Results results;
  for (const char* benchmark : {"fillrandom", "compact"}) {
    for (const Result& r : OfSizes("blobdb2021", kBlobSizes, benchmark,
                                   {{"rocksdb_leveled", 1000}, {"rocksdb_universal", 1000}, {"rocksdb_blob", 1000}})) {
      results.push_back(r);
    }
    for (Result& r : OfSizes("blobdb2021", kBlobSizes, benchmark, {{"rocksdb_leveled", 1000}, {"rocksdb_blob_nogc", 1000}})) {
      r.experiment += ", load without blob GC";
      results.push_back(r);
    }
  }
  for (Result& r : results) r.ledger = WriteLedger{.log = 500, .flush = 100, .merge = 60};
  for (Result& r : results) {
    if (r.engine == "rocksdb_blob") r.ledger = WriteLedger{.log = 500, .values = 100, .flush = 2, .gc = 51};
    if (r.engine == "rocksdb_blob_nogc") r.ledger = WriteLedger{.log = 500, .values = 100, .flush = 2, .merge = 1};
  }
  return results;
}

TEST(ClaimTest, LoadUsesThePostsWriteAmplification) {
  const Results holds = Loads();
  ExpectVerdict(holds, "A2", Verdict::kHolds);
  const auto amp = [](double value) { return [value](Result* r) { r->ledger = Ledger(value); }; };
  ExpectVerdict(Changed(holds, "", "rocksdb_blob_nogc", amp(1.2)), "A2", Verdict::kInPart);
  ExpectVerdict(Changed(holds, "", "rocksdb_universal", amp(1.4)), "A2", Verdict::kInPart, "universal counts");
}

// The post's load had no blob GC: with it, half of all values are written again during the load.
TEST(ClaimTest, BlobLoadIsJudgedWithoutBlobGc) {
  const std::string measured = Judged(Loads(), "A2").measured;
  EXPECT_NE(measured.find("BlobDB 1.01, with its GC 1.50, leveled 1.60"), std::string::npos) << measured;
  ExpectVerdict(Without(Loads(), "rocksdb_blob"), "A2", Verdict::kHolds, "it does not decide");
  ExpectVerdict(Without(Loads(), "rocksdb_blob_nogc"), "A2", Verdict::kInPart, "BlobDB was not measured");
  ExpectVerdict(Without(Loads(), "rocksdb_blob_nogc"), "A6", Verdict::kNotMeasured);
}

// Only the load writes to the log; compact does not. Write amplification adds up the bytes of both before it divides.
TEST(ClaimTest, PhasesWithAndWithoutALogAreAddedUp) {
  Results results = Loads();
  for (const char* benchmark : {"fillrandom", "compact"}) {
    results.push_back(ResultOf("blobdb2021, 1 KiB", "cambium/btree", benchmark, 1000));
    results.back().ledger = WriteLedger{.merge = 25};
  }
  results[results.size() - 2].ledger = WriteLedger{.log = 90, .flush = 10, .log_keeps_values = true};
  const std::string measured = Judged(results, "A2").measured;
  EXPECT_NE(measured.find("Cambium tree 1.25"), std::string::npos) << measured;
}

TEST(ClaimTest, LoadIsJudgedOverBothStages) {
  // First stage: 1 s for each engine. Second stage: 1 s for BlobDB, 5 s for leveled; at 1 MiB 0.04 s and 5 s.
  const std::string last = "blobdb2021, 1 MiB, load without blob GC";
  const auto second_stage = [](double rate) {
    return [rate](Result* r) {
      if (r->benchmark == "compact") Rate(rate)(r);
    };
  };
  const Results alike = Changed(Loads(), "", "rocksdb_leveled", second_stage(200));
  ExpectVerdict(alike, "A6", Verdict::kInPart, "the second stage is 5 times as fast at 1 MiB");
  const Results holds = Changed(alike, last, "rocksdb_blob_nogc", second_stage(25'000));
  ExpectVerdict(holds, "A6", Verdict::kHolds);
  const std::string measured = Judged(holds, "A6").measured;
  EXPECT_NE(measured.find("second stage at 1 MiB: BlobDB 125x"), std::string::npos) << measured;
  ExpectVerdict(Changed(holds, last, "rocksdb_blob_nogc", Rate(500)), "A6", Verdict::kInPart, "1.5x at one size");
  ExpectVerdict(Changed(holds, "", "rocksdb_blob_nogc", Rate(500)), "A6", Verdict::kDiffers, "1.5x at all");
}

TEST(ClaimTest, OverwriteStallsAreJudged) {
  Results holds = OfSizes("blobdb2021", kBlobSizes, "overwrite",
                          {{"rocksdb_blob", 1000}, {"rocksdb_leveled", 1000}, {"rocksdb_universal", 1000}});
  const auto stalled = [](double part) {
    return [part](Result* r) {
      r->threads = 16;
      r->stall_threads = 1;
      r->stall_seconds = part * (r->seconds - r->settle_seconds);
    };
  };
  for (Result& r : holds) stalled(r.engine == "rocksdb_blob" ? (r.experiment == "blobdb2021, 1 MiB" ? 0.3 : 0) : 0.4)(&r);
  ExpectVerdict(holds, "A7", Verdict::kHolds, "blobs of 1 MiB may stall");
  ExpectVerdict(Changed(holds, "blobdb2021, 64 KiB", "rocksdb_blob", stalled(0.1)), "A7", Verdict::kInPart);
  ExpectVerdict(Changed(holds, "", "rocksdb_leveled", stalled(0.2)), "A7", Verdict::kInPart);
  Results differs = Changed(holds, "", "rocksdb_universal", stalled(0.1));
  differs = Changed(differs, "", "rocksdb_leveled", stalled(0.1));
  ExpectVerdict(Changed(differs, "", "rocksdb_blob", stalled(0.1)), "A7", Verdict::kDiffers);
}

TEST(ClaimTest, OverwriteSpeedIsJudgedAtEachSize) {
  const Results holds = OfSizes(
      "blobdb2021", kBlobSizes, "overwrite",
      {{"rocksdb_blob", 2100}, {"rocksdb_leveled", 1000}, {"rocksdb_universal", 1300}, {"cambium/btree", 4000}});
  ExpectVerdict(holds, "A8", Verdict::kHolds);
  const std::string measured = Judged(holds, "A8").measured;
  EXPECT_NE(measured.find("Cambium tree over leveled 4.0x"), std::string::npos) << measured;
  ExpectVerdict(Changed(holds, "", "rocksdb_universal", Rate(1900)), "A8", Verdict::kInPart, "universal counts");
  Results one = Changed(holds, "", "rocksdb_blob", Rate(1000));
  ExpectVerdict(one, "A8", Verdict::kDiffers);
  ExpectVerdict(Changed(one, "blobdb2021, 1 MiB", "rocksdb_blob", Rate(2100)), "A8", Verdict::kInPart, "one size is not all");
}

// In the post, the wait for compactions after the overwrites is a stage of its own.
TEST(ClaimTest, OverwriteRateExcludesSettling) {
  Results results = OfSizes("blobdb2021", kBlobSizes, "overwrite",
                            {{"rocksdb_blob", 2100}, {"rocksdb_leveled", 1000}, {"rocksdb_universal", 1300}});
  const auto settle = [](Result* r) {
    r->settle_seconds = 9 * r->seconds;
    r->seconds += r->settle_seconds;
    r->ops_per_sec /= 10;
  };
  results = Changed(results, "", "rocksdb_blob", settle);
  ExpectVerdict(results, "A8", Verdict::kHolds);
  EXPECT_NE(Judged(results, "A8").measured.find("The wait after it: leveled 0.0 s, universal 0.0 s, BlobDB 4.3 s"),
            std::string::npos)
      << Judged(results, "A8").measured;
  Results talk = {ResultOf("slides4, 32 KiB", "rocksdb_blob_nogc", "overwrite", 3500),
                  ResultOf("slides4, 32 KiB", "rocksdb_leveled", "overwrite", 1000)};
  ExpectVerdict(Changed(talk, "", "rocksdb_blob_nogc", settle), "S1", Verdict::kHolds);
  ExpectVerdict(Changed(talk, "", "rocksdb_leveled", settle), "S1", Verdict::kHolds);
}

TEST(ClaimTest, ReadSpeedIsJudgedExceptSmallScans) {
  Results holds = OfSizes("blobdb2021", kBlobSizes, "readrandom", {{"rocksdb_blob", 1000}, {"rocksdb_leveled", 1000}});
  for (const Result& r : OfSizes("blobdb2021", kBlobSizes, "seekrandom", {{"rocksdb_blob", 1000}, {"rocksdb_leveled", 1000}})) {
    holds.push_back(r);
  }
  const auto slow = [](const std::string& benchmark) {
    return [benchmark](Result* r) {
      if (r->benchmark == benchmark) Rate(500)(r);
    };
  };
  ExpectVerdict(holds, "A9", Verdict::kHolds);
  ExpectVerdict(Changed(holds, "blobdb2021, 4 KiB", "rocksdb_blob", slow("seekrandom")), "A9", Verdict::kHolds, "but of 4 KB");
  ExpectVerdict(Changed(holds, "blobdb2021, 16 KiB", "rocksdb_blob", slow("seekrandom")), "A9", Verdict::kInPart, "scans count");
  ExpectVerdict(Changed(holds, "blobdb2021, 4 KiB", "rocksdb_blob", slow("readrandom")), "A9", Verdict::kInPart);
  ExpectVerdict(Changed(holds, "", "rocksdb_blob", Rate(500)), "A9", Verdict::kDiffers);
}

TEST(ClaimTest, TalkClaimsAreJudged) {
  const auto talk = [](const char* experiment, double blob) {
    return Results{ResultOf(experiment, "rocksdb_blob_nogc", "overwrite", blob),
                   ResultOf(experiment, "rocksdb_leveled", "overwrite", 1000)};
  };
  ExpectVerdict(talk("slides4, 32 KiB", 3500), "S1", Verdict::kHolds);
  ExpectVerdict(talk("slides4, 32 KiB", 2000), "S1", Verdict::kDiffers, "half of it is not it");
  ExpectVerdict(talk("slides4, 256 B", 1000), "S5", Verdict::kHolds);
  ExpectVerdict(talk("slides4, 256 B", 1200), "S5", Verdict::kDiffers);
  ExpectVerdict(talk("slides4, 256 B", 800), "S5", Verdict::kDiffers);

  Results written = talk("slides4, 32 KiB", 1000);
  const auto amp = [](double value) { return [value](Result* r) { r->ledger = Ledger(value); }; };
  written = Changed(Changed(written, "", "rocksdb_blob_nogc", amp(1.01)), "", "rocksdb_leveled", amp(2.47));
  ExpectVerdict(written, "S2", Verdict::kHolds);
  ExpectVerdict(Changed(written, "", "rocksdb_leveled", amp(1.6)), "S2", Verdict::kInPart);
  ExpectVerdict(Changed(Changed(written, "", "rocksdb_leveled", amp(1.6)), "", "rocksdb_blob_nogc", amp(1.2)), "S2",
                Verdict::kDiffers);

  const auto stalled = [](double stall_seconds) {
    return [stall_seconds](Result* r) {
      r->stall_threads = 1;
      r->stall_seconds = stall_seconds;
    };
  };
  Results stalls = Changed(talk("slides4, 32 KiB", 1000), "", "rocksdb_blob_nogc", stalled(0.37));
  stalls = Changed(stalls, "", "rocksdb_leveled", stalled(0.73));
  ExpectVerdict(stalls, "S3", Verdict::kHolds);
  const Results waiting = Changed(stalls, "", "rocksdb_blob_nogc", stalled(0.6));
  ExpectVerdict(waiting, "S3", Verdict::kDiffers, "less, but not half");
  EXPECT_EQ(Judged(waiting, "S3").why, "too high: BlobDB") << "they do wait";
  ExpectVerdict(Changed(Changed(stalls, "", "rocksdb_blob_nogc", stalled(0)), "", "rocksdb_leveled", stalled(0)), "S3",
                Verdict::kDiffers, "nothing to halve");

  const auto reads = [](double value) {
    return [value](Result* r) {
      r->user_write_bytes = 1'000'000;
      r->merge_read_bytes = static_cast<std::uint64_t>(value * 1e6);
    };
  };
  Results read = Changed(talk("slides4, 32 KiB", 1000), "", "rocksdb_blob_nogc", reads(0.0097));
  ExpectVerdict(read, "S6", Verdict::kInPart, "of leveled tables nothing is known");
  read = Changed(read, "", "rocksdb_leveled", reads(2.12));
  ExpectVerdict(read, "S6", Verdict::kHolds);
  ExpectVerdict(Changed(read, "", "rocksdb_leveled", reads(1)), "S6", Verdict::kInPart);
  ExpectVerdict(Changed(Changed(read, "", "rocksdb_leveled", reads(1)), "", "rocksdb_blob_nogc", reads(0.02)), "S6",
                Verdict::kDiffers);

  const auto space = [](double value) { return [value](Result* r) { r->space_amp = value; }; };
  Results kept = Changed(talk("slides4, 32 KiB", 1000), "", "rocksdb_blob_nogc", space(8));
  kept = Changed(kept, "", "rocksdb_leveled", space(2));
  ExpectVerdict(kept, "S4", Verdict::kHolds);
  ExpectVerdict(Changed(kept, "", "rocksdb_blob_nogc", space(4)), "S4", Verdict::kInPart);
  for (const auto& [keys, why] : {std::pair{100u, " (each key was overwritten 10.0 times, and in the talk 20 times)"}, {40u, ""}}) {
    const Results less = Changed(kept, "", "rocksdb_blob_nogc", [keys = keys](Result* r) {
      r->space_amp = 4;
      r->live_keys = keys;
    });
    EXPECT_EQ(Judged(less, "S4").why, std::string("too low: BlobDB") + why);
  }
  ExpectVerdict(Changed(Changed(kept, "", "rocksdb_blob_nogc", space(4)), "", "rocksdb_leveled", space(3)), "S4", Verdict::kDiffers);
}

// Returns, for each of Badger's sizes, one result of the LSM with the size's rate of `rates`, and one of RocksDB with
// rate 1000.
Results BesideRocks(const char* benchmark, const std::vector<double>& rates) {
  Results results;
  for (std::size_t i = 0; i < std::size(kBadgerSizes); ++i) {
    results.push_back(ResultOf(std::string("badger2017, ") + kBadgerSizes[i], "cambium/lsm", benchmark, rates[i]));
    results.push_back(ResultOf(std::string("badger2017, ") + kBadgerSizes[i], "rocksdb_leveled", benchmark, 1000));
  }
  return results;
}

TEST(ClaimTest, BadgerSpeedsAreJudgedAtEachSize) {
  ExpectVerdict(BesideRocks("filluniquerandom", {500, 860, 4500, 11700}), "B1", Verdict::kHolds);
  ExpectVerdict(BesideRocks("filluniquerandom", {500, 860, 1500, 2000}), "B1", Verdict::kInPart, "it grows, but less");
  ExpectVerdict(BesideRocks("filluniquerandom", {900, 800, 700, 600}), "B1", Verdict::kDiffers);
  ExpectVerdict(BesideRocks("readrandom", {1, 3700, 4200, 5400}), "B3", Verdict::kHolds);
  ExpectVerdict(BesideRocks("readrandom", {1, 3700, 2000, 5400}), "B3", Verdict::kInPart);
  ExpectVerdict(BesideRocks("readrandom", {1, 2000, 2000, 2000}), "B3", Verdict::kDiffers);
  ExpectVerdict(BesideRocks("readseq", {1000, 80, 240, 1070}), "B4", Verdict::kHolds);
  ExpectVerdict(BesideRocks("readseq", {1000, 80, 1500, 1070}), "B4", Verdict::kInPart);
  ExpectVerdict(BesideRocks("readseq", {1000, 1100, 1500, 800}), "B4", Verdict::kDiffers);
  EXPECT_EQ(Judged(BesideRocks("readseq", {1000, 80, 240, 800}), "B4").why, "too low: at 16 KiB");
}

TEST(ClaimTest, IndexSizeMustNotDependOnValues) {
  const auto index = [](double small, double large) {
    Results results = OfSizes("badger2017", kBadgerSizes, "filluniquerandom", {{"cambium/btree", 1}, {"cambium/lsm", 1}});
    for (Result& r : results) {
      r.live_keys = 1000;
      r.index_bytes = static_cast<std::uint64_t>(1000 * (r.experiment == "badger2017, 16 KiB" ? large : small));
    }
    return results;
  };
  ExpectVerdict(index(23, 23), "B2", Verdict::kHolds);
  ExpectVerdict(index(23, 38), "B2", Verdict::kInPart, "of one size more");
  ExpectVerdict(index(38, 38), "B2", Verdict::kInPart, "of all sizes as much, but more than Badger's");
}

TEST(ClaimTest, KeyIterationIsJudgedAtEachSize) {
  const Results holds = OfSizes("badger2017", kBadgerSizes, "readseqkeys", {{"cambium/btree", 3e6}, {"cambium/lsm", 3e6}});
  ExpectVerdict(holds, "B5", Verdict::kHolds);
  ExpectVerdict(Changed(holds, "badger2017, 1 KiB", "cambium/lsm", Rate(2e6)), "B5", Verdict::kInPart, "the least counts");
  ExpectVerdict(Changed(Changed(holds, "", "cambium/lsm", Rate(2e6)), "", "cambium/btree", Rate(2e6)), "B5", Verdict::kDiffers);
}

TEST(ClaimTest, TreeLoadIsComparedWithLsmAtEachSize) {
  const Results holds = OfSizes("badger2017", kBadgerSizes, "filluniquerandom", {{"cambium/btree", 960}, {"cambium/lsm", 1000}});
  ExpectVerdict(holds, "B10", Verdict::kHolds);
  ExpectVerdict(Changed(holds, "badger2017, 16 B", "cambium/btree", Rate(500)), "B10", Verdict::kInPart);
  ExpectVerdict(Changed(holds, "", "cambium/btree", Rate(500)), "B10", Verdict::kDiffers);
}

TEST(ClaimTest, SpaceOfLoadedDataMustMatchThePublishedRatio) {
  Results holds = BesideRocks("filluniquerandom", {1, 1, 1, 1});
  const auto bytes = [](std::uint64_t value) { return [value](Result* r) { r->disk_bytes = value; }; };
  for (Result& r : holds) r.disk_bytes = r.engine == "cambium" ? 1500 : 1000;
  holds = Changed(holds, "badger2017, 128 B", "cambium/lsm", bytes(1600));
  ExpectVerdict(holds, "B11", Verdict::kHolds);
  const Results equal = Changed(holds, "", "cambium/lsm", bytes(1000));
  ExpectVerdict(equal, "B11", Verdict::kDiffers, "as much is not half as much again");
  EXPECT_NE(Judged(equal, "B11").why.find("compressed"), std::string::npos);
  EXPECT_EQ(Judged(Changed(holds, "", "cambium/lsm", bytes(2000)), "B11").why.find("compressed"), std::string::npos);
  ExpectVerdict(Changed(holds, "badger2017, 1 KiB", "cambium/lsm", bytes(2000)), "B11", Verdict::kInPart);
  ExpectVerdict(Changed(holds, "", "cambium/lsm", bytes(2000)), "B11", Verdict::kDiffers);
}

Results Models(const std::vector<std::uint64_t>& misses) {
  Results results;
  std::size_t i = 0;
  for (const char* name : {"all_random", "all_dist", "prefix_random", "prefix_dist, zippydb"}) {
    results.push_back(ResultOf(std::string("fast20, ") + name, "cambium/btree", "mixgraph", 1000));
    results.back().cache_misses = misses[i++];
  }
  return results;
}

TEST(ClaimTest, LocalityIsJudgedByCacheMisses) {
  ExpectVerdict(Models({400, 300, 200, 100}), "F2", Verdict::kHolds);
  ExpectVerdict(Models({400, 300, 200, 0}), "F2", Verdict::kHolds);
  ExpectVerdict(Models({400, 100, 200, 50}), "F2", Verdict::kInPart, "all_dist comes before prefix_random");
  ExpectVerdict(Models({100, 200, 300, 400}), "F2", Verdict::kDiffers);
  ExpectVerdict(Models({0, 0, 0, 0}), "F2", Verdict::kNotMeasured);
}

TEST(ClaimTest, YcsbImitationIsJudgedByCacheMisses) {
  for (const auto& [misses, verdict] : {std::pair{770u, Verdict::kHolds}, {300u, Verdict::kDiffers}}) {
    Results results = Models({400, 300, 200, 100});
    results.push_back(ResultOf("fast20, ycsb's imitation of zippydb", "cambium/btree", "ycsb_b", 1000));
    results.back().cache_misses = misses;
    ExpectVerdict(results, "F1", verdict);
  }
}

TEST(FiguresTest, RatiosAreTakenWithinARound) {
  Results results;
  for (unsigned round = 0; round < 3; ++round) {
    const double noise = 1 + round;  // the machine becomes faster from round to round
    results.push_back(ResultOf("badger2017, 1 KiB", "cambium/lsm", "readrandom", 3000 * noise, round));
    results.push_back(ResultOf("badger2017, 1 KiB", "rocksdb_leveled", "readrandom", 1000 * noise, round));
  }
  const Figures figures(results);
  const Rounds ratio = figures.RatioOf("badger2017, 1 KiB", "cambium/lsm", "rocksdb_leveled", "readrandom", OpsPerSec);
  EXPECT_EQ(ratio, (Rounds{{0, 3.0}, {1, 3.0}, {2, 3.0}}));
  EXPECT_DOUBLE_EQ(Median(figures.Of("badger2017, 1 KiB", "rocksdb_leveled", "readrandom", OpsPerSec)), 2000);
  EXPECT_TRUE(figures.Of("badger2017, 1 KiB", "lmdb", "readrandom", OpsPerSec).empty());
}

// A report of several files may contain a run twice.
TEST(FiguresTest, RepeatedRunAddsRounds) {
  const Results results = {ResultOf("badger2017, 1 KiB", "cambium/lsm", "readrandom", 1000),
                           ResultOf("badger2017, 1 KiB", "cambium/lsm", "readrandom", 3000)};
  EXPECT_DOUBLE_EQ(Median(Figures(results).Of("badger2017, 1 KiB", "cambium/lsm", "readrandom", OpsPerSec)), 2000);
}

// Judges one round of overwrites for each of `rates`, which are those of BlobDB; leveled has rate 1000.
Claim OverRounds(const std::vector<double>& rates) {
  Results results;
  for (unsigned round = 0; round < rates.size(); ++round) {
    results.push_back(ResultOf("slides4, 32 KiB", "rocksdb_blob_nogc", "overwrite", rates[round], round));
    results.push_back(ResultOf("slides4, 32 KiB", "rocksdb_leveled", "overwrite", 1000, round));
  }
  return Judged(results, "S1");
}

TEST(ClaimTest, DisagreeingRoundsMakeAVerdictDoubtful) {
  EXPECT_EQ(OverRounds({3600, 4000, 3800}).verdict, Verdict::kHolds);
  EXPECT_EQ(OverRounds({3600, 4000, 3800}).rounds, 3u);
  EXPECT_EQ(OverRounds({3000, 4000, 3800}).verdict, Verdict::kDoubtful) << "on both sides of 3.5";
  EXPECT_NE(OverRounds({3000, 4000, 3800}).why.find("rounds do not agree: BlobDB"), std::string::npos);
  EXPECT_EQ(OverRounds({4000, 5000, 9000}).verdict, Verdict::kDoubtful) << "further apart than half of their median";
  EXPECT_EQ(OverRounds({1500, 1400, 1600}).verdict, Verdict::kDiffers);
  EXPECT_EQ(OverRounds({4000}).verdict, Verdict::kHolds);
  EXPECT_EQ(OverRounds({4000}).rounds, 1u) << "which the report says";
}

TEST(DecisionTest, DoubtMattersOnlyIfTheVerdictDependsOnIt) {
  const Several holds = {{"a", {{0, 2.0}, {1, 2.1}}}};
  const Several fails = {{"b", {{0, 1.0}, {1, 1.1}}}};
  const Several unsure = {{"c", {{0, 1.0}, {1, 2.0}}}};
  const auto judge = [](const std::vector<Several>& all) {
    Decision decision;
    for (const Several& figures : all) decision.Add("", figures, {.low = 1.5}, Kind::kPlain, {.low = "a reason"});
    return decision.On({.id = "X", .source = "", .text = "", .published = ""}, "");
  };
  EXPECT_EQ(judge({holds, unsure}).verdict, Verdict::kDoubtful) << "it may hold or hold in part";
  EXPECT_EQ(judge({fails, unsure}).verdict, Verdict::kDoubtful) << "it may hold in part or not at all";
  const Claim both = judge({holds, fails, unsure});
  EXPECT_EQ(both.verdict, Verdict::kInPart) << "either way";
  EXPECT_EQ(both.why, "rounds do not agree: c; too low: b (a reason)");
  EXPECT_EQ(judge({holds, {{"d", {}}}}).verdict, Verdict::kInPart) << "a part that is missing";
  EXPECT_EQ(judge({{{"d", {}}}}).verdict, Verdict::kNotMeasured);
}

// Regression: a claim had one reason for all engines and both directions. So if BlobDB wrote too much, the claim gave
// the reason why leveled may write too little.
TEST(DecisionTest, ReasonBelongsToTheFailingPartAndDirection) {
  const auto why = [](double a, double b) {
    Decision decision;
    decision.Add("A", {{"1 KiB", {{0, a}}}, {"4 KiB", {{0, 2 * a}}}}, {.high = 2}, Kind::kPlain);
    decision.Add("B", {{"1 KiB", {{0, b}}}}, {.low = 1, .high = 3}, Kind::kPlain, {.low = "few", .high = "many"});
    return decision.On({.id = "X", .source = "", .text = "", .published = ""}, "").why;
  };
  EXPECT_EQ(why(1, 2), "");
  EXPECT_EQ(why(3, 2), "too high: A") << "at each size, and no reason is known";
  EXPECT_EQ(why(2, 2), "too high: A 4 KiB");
  EXPECT_EQ(why(1, 0), "too low: B 1 KiB (few)");
  EXPECT_EQ(why(1, 4), "too high: B 1 KiB (many)");
  EXPECT_EQ(why(3, 4), "too high: A, B 1 KiB (many)");
  EXPECT_EQ(why(3, 0), "too low: B 1 KiB (few); too high: A");
}

TEST(DecisionTest, RoundsOnBothSidesOfABandDisagree) {
  Decision decision;
  decision.Add("", {{"a", {{0, 0.5}, {1, 1.5}}}}, About(1), Kind::kPlain);
  EXPECT_EQ(decision.On({.id = "X", .source = "", .text = "", .published = ""}, "").verdict, Verdict::kDoubtful);
}

}  // namespace
}  // namespace cambium::bench
