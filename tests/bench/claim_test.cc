// Claims over made-up results: each verdict follows the figures, and what is missing is said to be missing.
#include "claim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "claims/figures.h"

namespace cambium::bench {
namespace {

Result Made(const std::string& experiment, const std::string& label, const std::string& benchmark, double rate) {
  Result r;
  r.experiment = experiment;
  r.engine = label.substr(0, label.find('/'));
  if (label.find('/') != std::string::npos) r.index = label.substr(label.find('/') + 1);
  r.benchmark = benchmark;
  r.ops = 1000;
  r.threads = 1;
  r.ops_per_sec = rate;
  r.seconds = 1000 / rate;
  return r;
}

const Claim* Find(const std::vector<Claim>& claims, const std::string& id) {
  const auto found = std::find_if(claims.begin(), claims.end(), [&](const Claim& c) { return c.id == id; });
  return found == claims.end() ? nullptr : &*found;
}

TEST(ClaimTest, NothingIsSaidOfPresetsThatDidNotRun) {
  EXPECT_TRUE(JudgeClaims({}).empty());
  EXPECT_TRUE(JudgeClaims({Made("", "cambium/btree", "overwrite", 1)}).empty());
}

TEST(ClaimTest, WhatIsMissingIsNotMeasured) {
  const std::vector<Claim> claims = JudgeClaims({Made("blobdb2021, 1 KiB", "cambium/btree", "overwrite", 1000)});
  ASSERT_FALSE(claims.empty());
  for (const Claim& claim : claims) {
    EXPECT_EQ(claim.verdict, Verdict::kNotMeasured) << claim.id;
    EXPECT_NE(claim.why, "") << claim.id;
    EXPECT_NE(claim.published, "") << claim.id;
  }
}

TEST(ClaimTest, TheVerdictFollowsTheRates) {
  for (const double blob : {3000.0, 1000.0}) {
    std::vector<Result> results;
    for (const char* size : {"1 KiB", "64 KiB"}) {
      results.push_back(Made(std::string("blobdb2021, ") + size, "rocksdb_leveled", "overwrite", 1000));
      results.push_back(Made(std::string("blobdb2021, ") + size, "rocksdb_blob", "overwrite", blob));
      results.push_back(Made(std::string("blobdb2021, ") + size, "cambium/btree", "overwrite", 4000));
    }
    const std::vector<Claim> claims = JudgeClaims(results);
    const Claim* a8 = Find(claims, "A8");
    ASSERT_NE(a8, nullptr);
    EXPECT_EQ(a8->verdict, blob > 2000 ? Verdict::kHolds : Verdict::kDiffers);
    EXPECT_NE(a8->measured.find("Cambium tree over leveled 4.0x"), std::string::npos) << a8->measured;
    EXPECT_EQ(a8->why.empty(), a8->verdict == Verdict::kHolds);
  }
}

TEST(ClaimTest, WriteAmplificationIsThePosts) {
  std::vector<Result> results;
  const auto add = [&results](const char* label, const WriteLedger& ledger) {
    for (const char* benchmark : {"fillrandom", "compact"}) {
      results.push_back(Made("blobdb2021, 1 KiB", label, benchmark, 1000));
      results.back().ledger = ledger;
    }
  };
  add("rocksdb_leveled", {.log = 500, .flush = 100, .merge = 60});
  add("rocksdb_blob", {.log = 500, .values = 100, .flush = 2, .merge = 1});
  const Claim* a2 = nullptr;
  const std::vector<Claim> claims = JudgeClaims(results);
  a2 = Find(claims, "A2");
  ASSERT_NE(a2, nullptr);
  EXPECT_EQ(a2->verdict, Verdict::kHolds);
  EXPECT_NE(a2->measured.find("BlobDB 1.01, leveled 1.60"), std::string::npos) << a2->measured;
}

TEST(ClaimTest, RatiosAreTakenWithinARound) {
  std::vector<Result> results;
  for (unsigned round = 0; round < 3; ++round) {
    const double noise = 1 + round;  // the machine becomes faster from round to round
    results.push_back(Made("badger2017, 1 KiB", "cambium/btree", "readrandom", 3000 * noise));
    results.back().round = round;
    results.push_back(Made("badger2017, 1 KiB", "rocksdb_leveled", "readrandom", 1000 * noise));
    results.back().round = round;
  }
  const Figures figures(results);
  EXPECT_DOUBLE_EQ(*figures.RatioOf("badger2017, 1 KiB", "cambium/btree", "rocksdb_leveled", "readrandom", OpsPerSec), 3.0);
  EXPECT_DOUBLE_EQ(*figures.Of("badger2017, 1 KiB", "rocksdb_leveled", "readrandom", OpsPerSec), 2000);
  EXPECT_FALSE(figures.Of("badger2017, 1 KiB", "lmdb", "readrandom", OpsPerSec).has_value());
  const std::vector<Claim> claims = JudgeClaims(results);
  ASSERT_NE(Find(claims, "B3"), nullptr);
  EXPECT_EQ(Find(claims, "B3")->verdict, Verdict::kHolds);
}

TEST(ClaimTest, TheTreesLoadIsComparedWithTheLsms) {
  for (const double tree : {950.0, 500.0}) {
    const std::vector<Claim> claims = JudgeClaims({Made("badger2017, 16 KiB", "cambium/btree", "filluniquerandom", tree),
                                                   Made("badger2017, 16 KiB", "cambium/lsm", "filluniquerandom", 1000)});
    ASSERT_NE(Find(claims, "B10"), nullptr);
    EXPECT_EQ(Find(claims, "B10")->verdict, tree > 900 ? Verdict::kHolds : Verdict::kDiffers);
  }
}

TEST(ClaimTest, LocalityIsReadOffTheMisses) {
  std::vector<Result> results;
  std::uint64_t misses = 400;
  for (const char* name : {"all_random", "all_dist", "prefix_random", "prefix_dist, zippydb"}) {
    results.push_back(Made(std::string("fast20, ") + name, "cambium/btree", "mixgraph", 1000));
    results.back().cache_misses = misses;
    misses -= 100;
  }
  EXPECT_EQ(Find(JudgeClaims(results), "F2")->verdict, Verdict::kHolds);
  results[3].cache_misses = 1000;
  EXPECT_EQ(Find(JudgeClaims(results), "F2")->verdict, Verdict::kDiffers);
}

}  // namespace
}  // namespace cambium::bench
