// Made-up results of a run: two value sizes, three engines, two rounds, and every figure that can exist.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "html/run_facts.h"

namespace cambium::bench {

inline Result MakeResult(const std::string& engine, const std::string& index, std::uint64_t step,
                         const std::string& benchmark, std::uint64_t value_size, unsigned round) {
  const double speed = (index == "btree" ? 3e5
                        : index == "lsm" ? 2e5
                                         : 1e5) /
                       std::sqrt(static_cast<double>(value_size));
  const bool writes = benchmark != "readrandom" && benchmark != "compact";
  Result r;
  r.experiment = "made, " + std::to_string(value_size) + " B";
  r.engine = engine;
  r.index = index;
  r.benchmark = benchmark;
  r.step = step;
  r.round = round;
  r.key_size = 16;
  r.value_size = value_size;
  r.num = 10'000;
  r.threads = 2;
  r.ops = 10'000;
  r.ops_per_sec = speed * (1 + 0.1 * round);
  r.seconds = static_cast<double>(r.ops) / r.ops_per_sec;
  r.p50_us = 2;
  r.p99_us = 20;
  r.p999_us = 200;
  r.p9999_us = 900;
  r.max_us = 3000;
  r.user_bytes = r.ops * (16 + value_size);
  r.latency_curve = {{0, 1}, {50, 2}, {90, 5}, {99, 20}, {99.9, 200}, {99.99, 900}, {99.999, 3000}, {100, 3000}};
  r.rss_peak_bytes = 50 << 20;
  r.message = "made up";
  r.device = DeviceStats{.reads = 30'000, .read_bytes = 5'000'000, .writes = 70'000, .write_bytes = 9'000'000};
  if (benchmark == "readrandom") return r;
  r.live_bytes = r.user_bytes;
  r.live_keys = 10'000;
  r.index_bytes = 300'000;
  r.disk_bytes = r.user_bytes * 14 / 10;
  r.disk_peak_bytes = r.user_bytes * 15 / 10;
  r.space_amp = 1.4;
  if (!writes) return r;
  r.user_write_bytes = r.user_bytes / 4;  // the rest was read
  r.write_amp = 2.5;
  r.device_write_bytes = r.user_write_bytes * 5 / 2;
  r.ledger = WriteLedger{.log = r.user_write_bytes,
                         .values = 0,
                         .flush = r.user_write_bytes / 10,
                         .merge = r.user_write_bytes / 2,
                         .gc = r.user_write_bytes / 2,
                         .manifest = 1024,
                         .other = 0,
                         .log_keeps_values = true};
  r.stall_seconds = 0.1;
  r.stall_threads = r.threads;
  for (std::uint64_t i = 1; i <= 12; ++i) {
    // From the fifth sample to the seventh nothing happens.
    const std::uint64_t through = i <= 5 ? i : i <= 7 ? 5 : i - 2;
    r.samples.push_back(
        {.seconds = 0.1 * static_cast<double>(i), .ops = through * 1000, .disk_bytes = r.user_bytes * (4 + i) / 10});
  }
  return r;
}

inline std::vector<ReportRun> MakeRuns() {
  std::vector<ReportRun> runs;
  for (const std::uint64_t value_size : {100, 1000}) {
    ReportRun run{.facts = {.commit = "0123456789ab",
                            .build = "g++ Release",
                            .command = "cambium_bench --value_size=" + std::to_string(value_size),
                            .seed = 1,
                            .cpu = "2 x <processor>",
                            .memory = "1 MiB",
                            .kernel = "Linux",
                            .file_system = "ext4",
                            .max_space_amplification = 1.5},
                  .settings = {{"cambium/btree", "1.0: cache 1 MiB"}, {"lmdb", "0.9: map & more"}},
                  .results = {}};
    for (const char* index : {"btree", "lsm", ""}) {
      const std::string engine = *index == '\0' ? "lmdb" : "cambium";
      for (unsigned round = 0; round < 2; ++round) {
        run.results.push_back(MakeResult(engine, index, 0, "filluniquerandom", value_size, round));
        run.results.push_back(MakeResult(engine, index, 1, "overwrite", value_size, round));
        run.results.push_back(MakeResult(engine, index, 2, "compact", value_size, round));
        run.results.push_back(MakeResult(engine, index, 3, "readrandom", value_size, round));
      }
    }
    runs.push_back(run);
  }
  return runs;
}

// Like engines without a ledger.
inline std::vector<ReportRun> MakeRunsWithoutLedgers() {
  std::vector<ReportRun> runs = MakeRuns();
  for (ReportRun& run : runs) {
    for (Result& result : run.results) result.ledger.reset();
  }
  return runs;
}

}  // namespace cambium::bench
