#include "results/result.h"

#include <gtest/gtest.h>

namespace cambium::bench {
namespace {

Result Sample() {
  Result r;
  r.engine = "cambium";
  r.index = "btree";
  r.benchmark = "fillrandom";
  r.step = 2;
  r.round = 1;
  r.key_size = 16;
  r.value_size = 1024;
  r.num = 1000;
  r.threads = 2;
  r.ops = 2000;
  r.seconds = 0.5;
  r.ops_per_sec = 4000;
  r.mb_per_sec = 3.97;
  r.user_bytes = 2080000;
  r.device_write_bytes = 2200000;
  r.write_amp = 1.06;
  r.index_figures = IndexFigures{.runs = 3, .run_keys = 456, .updates = 1000, .bytes = 2500, .law_bytes = 12185600,
                                 .merges = 2, .shape = "L1 4 files"};
  r.experiment = "blobdb2021, 1 KiB";
  r.aborts = 500;
  r.stall_seconds = 0.25;
  r.stall_threads = 2;
  r.ledger = WriteLedger{.log = 1000, .flush = 100, .merge = 200, .gc = 300, .manifest = 4, .log_keeps_values = true};
  r.device = DeviceStats{.reads = 1, .read_bytes = 512, .writes = 2, .write_bytes = 8192};
  r.cache_hits = 5;
  r.merge_read_bytes = 4096;
  r.samples = {{0.1, 10, 4096}, {0.2, 20, 8192}};
  r.latency_curve = {{50, 1.5}, {100, 20}};
  r.writer = WriterFigures{.ops = 77, .ops_per_sec = 154, .p99_us = 12.5, .max_us = 4000};
  return r;
}

// Scripts that parse db_bench's output split this line at ':' and at blanks.
TEST(BenchResultTest, LineMatchesDbBench) {
  Result r = Sample();
  EXPECT_EQ(ToLine(r), "fillrandom   :     500.000 micros/op 4000 ops/sec 0.500 seconds 2000 operations;    4.0 MB/s");
  r.message = "7 of 9 found";
  EXPECT_EQ(ToLine(r).substr(ToLine(r).find("MB/s")), "MB/s (7 of 9 found)");
}

TEST(BenchResultTest, JsonHasEveryPromisedField) {
  const nlohmann::ordered_json json = ToJson(Sample());
  for (const char* name :
       {"engine", "index", "benchmark", "value_size", "num", "threads", "ops", "seconds", "ops_per_sec", "mb_per_sec",
        "p50_us", "p99_us", "p999_us", "max_us", "user_cpu_s", "sys_cpu_s", "user_bytes", "device_write_bytes",
        "device_read_bytes", "write_amp", "disk_bytes", "disk_peak_bytes", "live_bytes", "space_amp", "rss_peak_bytes"}) {
    EXPECT_TRUE(json.contains(name)) << name;
  }
}

TEST(BenchResultTest, JsonRoundTrips) {
  const nlohmann::ordered_json json = ToJson(Sample());
  EXPECT_EQ(ToJson(FromJson(nlohmann::ordered_json::parse(json.dump()))), json);
  EXPECT_TRUE(json.at("space_amp").is_null()) << "unknown is not 0";
  EXPECT_EQ(json.at("index_figures").at("shape"), "L1 4 files");
  EXPECT_EQ(json.at("index_figures").at("law_bytes").dump(), "12185600") << "bytes are whole";
  EXPECT_EQ(json.at("writer").at("p99_us"), 12.5);
  EXPECT_EQ(AbortsPerCommit(FromJson(json)), 0.25);
  Result without = Sample();
  without.index_figures.reset();
  without.writer.reset();
  EXPECT_FALSE(FromJson(ToJson(without)).writer.has_value());
  EXPECT_FALSE(FromJson(ToJson(without)).index_figures.has_value());
}

// RocksDB's post divides the bytes that flushes and compactions wrote by the bytes that flushes wrote. A log that keeps
// values counts as a flush.
TEST(BenchResultTest, WriteAmpOfThePostCountsTheFirstWriteOfAValueOnce) {
  Result r = Sample();
  EXPECT_DOUBLE_EQ(*WriteAmpOfThePost(r), 1600.0 / 1100);
  r.ledger = WriteLedger{.log = 5000, .values = 1000, .flush = 50, .merge = 525, .gc = 525};
  EXPECT_DOUBLE_EQ(*WriteAmpOfThePost(r), 2.0);
  r.ledger = WriteLedger{.log = 5000};
  EXPECT_FALSE(WriteAmpOfThePost(r).has_value()) << "nothing was flushed";
  r.ledger.reset();
  EXPECT_FALSE(WriteAmpOfThePost(r).has_value());
}

TEST(BenchResultTest, StallPercentIsOfTheCountedThreads) {
  Result r = Sample();
  EXPECT_DOUBLE_EQ(*StallPercent(r), 25.0) << "a quarter of a second, of two threads in half a second";
  r.threads = 16;
  r.stall_threads = 1;
  EXPECT_DOUBLE_EQ(*StallPercent(r), 50.0) << "of the store's half second, however many threads there were";
  r.seconds = 1;
  r.settle_seconds = 0.5;
  EXPECT_DOUBLE_EQ(*StallPercent(r), 50.0) << "no writer runs while the engine waits for compactions";
  r.stall_threads = 0;
  EXPECT_FALSE(StallPercent(r).has_value()) << "no writer ran";
}

// Results of earlier versions say how long writes stalled, but not for how many threads this time was counted.
TEST(BenchResultTest, MissingFieldsOfEarlierVersionsAreUnknown) {
  nlohmann::ordered_json json = ToJson(Sample());
  json.erase("stall_threads");
  json.erase("merge_read_bytes");
  json.erase("aborts");
  const Result r = FromJson(json);
  EXPECT_FALSE(MergeReadsPerByte(r).has_value());
  EXPECT_FALSE(AbortsPerCommit(r).has_value());
  EXPECT_EQ(r.stall_seconds, 0.25);
  EXPECT_FALSE(StallPercent(r).has_value());
}

}  // namespace
}  // namespace cambium::bench
