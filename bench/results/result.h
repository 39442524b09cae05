// Result: one benchmark on one engine in one round, as it is printed and as it goes into the JSON file.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engines/engine.h"
#include "meter/sampler.h"
#include "system/process_stats.h"
#include "util/histogram.h"

namespace cambium::bench {

// What the thread did that wrote beside the workers.
struct WriterFigures {
  bool reads = false;  // it read
  std::uint64_t ops = 0;
  double ops_per_sec = 0;
  double p99_us = 0;
  double max_us = 0;
};

struct Result {
  std::string experiment;  // of a preset; empty for what the command line names itself
  std::string engine;
  std::string index;  // of cambium; empty for others
  std::string benchmark;
  std::uint64_t step = 0;  // its place in --benchmarks
  unsigned round = 0;
  std::uint64_t key_size = 0;
  std::uint64_t value_size = 0;  // on average, where sizes differ
  std::uint64_t num = 0;
  unsigned threads = 0;
  std::uint64_t ops = 0;
  double seconds = 0;         // of a workload that writes, settle_seconds included
  double settle_seconds = 0;  // until all was flushed, compacted and synced
  double ops_per_sec = 0;
  double mb_per_sec = 0;  // 2^20 bytes of keys and values
  double p50_us = 0;
  double p75_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  double p9999_us = 0;
  double max_us = 0;
  double user_cpu_s = 0;
  double sys_cpu_s = 0;
  std::uint64_t user_bytes = 0;  // keys and values handed over, or received
  std::uint64_t user_write_bytes = 0;  // handed over by anybody
  std::uint64_t device_write_bytes = 0;
  std::uint64_t device_read_bytes = 0;
  std::uint64_t cancelled_write_bytes = 0;
  std::optional<DeviceStats> device;  // what the block device did meanwhile, for anybody
  std::optional<double> write_amp;  // of workloads that write values: device_write_bytes / user_write_bytes
  // What the engine itself counted of this phase.
  std::optional<WriteLedger> ledger;
  std::optional<double> stall_seconds;  // of stall_threads together
  unsigned stall_threads = 0;           // 0: nobody wrote, or it is not known
  std::optional<std::uint64_t> cache_hits;
  std::optional<std::uint64_t> cache_misses;
  std::optional<std::uint64_t> merge_read_bytes;  // of index files or tables, by sweeps, compactions, flushes
  std::uint64_t disk_bytes = 0;
  std::uint64_t disk_peak_bytes = 0;  // of workloads that change something: the most that was seen while they ran
  std::optional<std::uint64_t> live_bytes;  // keys and values that exist; unknown in a database of an earlier run
  std::optional<double> space_amp;          // disk_bytes / live_bytes
  std::optional<std::uint64_t> index_bytes;  // on disk at the end, without separated values
  std::optional<std::uint64_t> live_keys;
  std::uint64_t rss_peak_bytes = 0;
  std::optional<WriterFigures> writer;  // beside the workers; what the system counts of the process includes its work
  // Of cambium, after a workload that writes: what it did to the index, and what that is like now.
  std::optional<IndexFigures> index_figures;

  std::vector<Sample> samples;  // how it went on
  std::vector<std::pair<double, double>> latency_curve;  // per cent of calls, microseconds they took at most

  std::string message;  // the end of the result line
  Histogram nanos;      // not in the JSON
};

// The definition of write amplification in the post on integrated BlobDB: all that flushes and compactions have written
// over what flushes have, where a commit log that keeps the values is what a flush of them is to others. Nothing where
// the engine keeps no ledger, or nothing was flushed.
std::optional<double> WriteAmpOfThePost(const Result& result);
// What sweeps or compactions have read of the index or of tables, per byte that users wrote.
std::optional<double> MergeReadsPerByte(const Result& result);
// Per cent of the time in which there were writes, settling excluded, that they were held back: of the store's time, or
// of that of all who write, as the engine counts.
std::optional<double> StallPercent(const Result& result);

// "cambium/btree", "lmdb": a column of the table.
std::string Label(const Result& result);

nlohmann::ordered_json ToJson(const Result& result);
// Throws nlohmann's exceptions if `json` is not what ToJson made.
Result FromJson(const nlohmann::ordered_json& json);

// db_bench's line: name : X micros/op Y ops/sec T seconds N operations; Z MB/s (message)
std::string ToLine(const Result& result);
// db_bench's percentiles.
std::string ToPercentiles(const Result& result);

}  // namespace cambium::bench
