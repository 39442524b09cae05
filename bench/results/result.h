// Result: one benchmark on one engine in one round, as printed and as written to the JSON file.
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

// Figures of the additional thread that ran at the same time as the workers.
struct WriterFigures {
  bool reads = false;  // the thread read instead of writing
  std::uint64_t ops = 0;
  double ops_per_sec = 0;
  double p99_us = 0;
  double max_us = 0;
};

struct Result {
  std::string experiment;  // the run of a preset; empty without a preset
  std::string engine;
  std::string index;  // for cambium; empty for other engines
  std::string benchmark;
  std::uint64_t step = 0;  // its place in --benchmarks
  unsigned round = 0;
  std::uint64_t key_size = 0;
  std::uint64_t value_size = 0;  // the mean size
  std::uint64_t num = 0;
  unsigned threads = 0;
  std::uint64_t ops = 0;
  double seconds = 0;         // for a workload that writes, settle_seconds included
  double settle_seconds = 0;  // until everything was flushed, compacted and synced
  double ops_per_sec = 0;
  double mb_per_sec = 0;  // 2^20 bytes of keys and values
  double p50_us = 0;
  double p75_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  double p9999_us = 0;
  double max_us = 0;
  std::optional<std::uint64_t> aborts;  // transactions that a conflict ended, and that were repeated
  double user_cpu_s = 0;
  double sys_cpu_s = 0;
  std::uint64_t user_bytes = 0;        // keys and values passed or returned
  std::uint64_t user_write_bytes = 0;  // keys and values written, by the additional thread too
  std::uint64_t device_write_bytes = 0;
  std::uint64_t device_read_bytes = 0;
  std::uint64_t cancelled_write_bytes = 0;
  std::optional<DeviceStats> device;  // I/O of the block device meanwhile, by all processes
  std::optional<double> write_amp;    // for workloads that write values: device_write_bytes / user_write_bytes
  // Counted by the engine itself in this phase.
  std::optional<WriteLedger> ledger;
  std::optional<double> stall_seconds;  // the sum over stall_threads
  unsigned stall_threads = 0;           // 0: no thread wrote, or unknown
  std::optional<std::uint64_t> cache_hits;
  std::optional<std::uint64_t> cache_misses;
  std::optional<std::uint64_t> merge_read_bytes;  // read from index files or tables by sweeps, compactions, flushes
  std::uint64_t disk_bytes = 0;
  std::uint64_t disk_peak_bytes = 0;        // for workloads that change the database: the largest sample
  std::optional<std::uint64_t> live_bytes;  // keys and values that exist; unknown for a database of an earlier run
  std::optional<double> space_amp;          // disk_bytes / live_bytes
  std::optional<std::uint64_t> index_bytes;  // on disk at the end, without separated values
  std::optional<std::uint64_t> live_keys;
  std::uint64_t rss_peak_bytes = 0;
  std::optional<WriterFigures>
      writer;  // the additional thread; what the kernel counts for the process includes its work
  // For cambium, after a workload that writes: what it wrote to the index, and the index's state.
  std::optional<IndexFigures> index_figures;

  std::vector<Sample> samples;                           // progress over time
  std::vector<std::pair<double, double>> latency_curve;  // percentile, microseconds

  std::string message;  // the end of the result line
  Histogram nanos;      // not in the JSON
};

// Returns the write amplification as the post on integrated BlobDB defines it: the bytes that flushes and compactions
// wrote over the bytes that flushes wrote. A commit log that keeps the values counts as a flush of them. Nothing if the
// engine keeps no ledger or nothing was flushed.
std::optional<double> WriteAmpOfThePost(const Result& result);
// Returns the bytes that sweeps or compactions read from the index or from tables, per byte that users wrote.
std::optional<double> MergeReadsPerByte(const Result& result);
// Returns how many transactions a conflict ended for each that was committed; nothing for other workloads.
std::optional<double> AbortsPerCommit(const Result& result);
// Returns the percentage of the time, settling excluded, in which writes were stalled: of the store's time or of the
// sum of the threads' times, as the engine counts.
std::optional<double> StallPercent(const Result& result);

// Returns the title of a column: "cambium/btree", "lmdb".
std::string Label(const Result& result);

nlohmann::ordered_json ToJson(const Result& result);
// Throws nlohmann's exceptions if `json` was not made by ToJson.
Result FromJson(const nlohmann::ordered_json& json);

// Returns db_bench's line: name : X micros/op Y ops/sec T seconds N operations; Z MB/s (message)
std::string ToLine(const Result& result);
// Returns db_bench's line of percentiles.
std::string ToPercentiles(const Result& result);

}  // namespace cambium::bench
