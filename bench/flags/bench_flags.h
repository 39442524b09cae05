// BenchFlags: the values of the command line. Names, meanings and defaults are db_bench's where it has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/key.h"
#include "data/value.h"
#include "flags/level_shape.h"
#include "flags/mixgraph_flags.h"
#include "flags/space_shape.h"
#include "flags/trace_flags.h"
#include "flags/transaction_flags.h"
#include "flags/ycsb_flags.h"

namespace cambium::bench {

// One run: engines that take turns with one list of benchmarks.
struct BenchFlags {
  std::string experiment;    // name of a preset's run; empty without a preset
  std::string command_line;  // repeats the run
  std::string preset;
  double scale = 0;  // of a preset; 0: the preset's own
  std::vector<std::string> engines = {"cambium"};
  std::vector<std::string> benchmarks = {"fillrandom", "overwrite", "readrandom", "readseq", "seekrandom", "verify"};
  std::string index = "btree";  // or lsm, or both
  std::uint64_t num = 1'000'000;
  std::int64_t reads = -1;
  std::int64_t writes = -1;
  std::int64_t deletes = -1;
  std::uint64_t duration = 0;
  unsigned threads = 1;
  std::size_t key_size = 16;
  KeyStyle key_style = KeyStyle::kDbBench;
  std::size_t prefix_size = 0;
  std::uint64_t keys_per_prefix = 0;
  std::size_t value_size = 100;
  SizeDistribution value_size_distribution_type = SizeDistribution::kFixed;
  std::size_t value_size_min = 100;
  std::size_t value_size_max = 102'400;
  std::string source;  // directory whose files are the values; empty: none
  std::uint64_t batch_size = 1;
  std::size_t async_depth = 64;
  std::uint64_t seek_nexts = 0;
  double read_random_exp_range = 0;
  bool reverse_iterator = false;
  unsigned readwritepercent = 90;
  std::uint64_t benchmark_write_rate_limit = 0;  // bytes a second; 0: no limit
  MixgraphFlags mixgraph;
  YcsbFlags ycsb;
  TraceFlags trace;
  TransactionFlags transaction;
  bool sync = false;
  std::uint64_t sync_every = 0;  // each thread makes everything durable after so many of its puts; 0: never
  bool disable_wal = false;
  bool verify_checksum = true;
  bool pin_mapped_values = false;
  std::uint64_t seed = 1;
  std::string db;
  bool use_existing_db = false;
  std::string compression_type = "none";
  double compression_ratio = 0.5;
  std::size_t cache_size = 256u << 20;
  std::size_t write_buffer_size = 64u << 20;
  int max_write_buffer_number = 3;
  std::optional<bool> mmap_read;  // not set: each engine's default
  std::uint64_t min_blob_size = 512;
  std::uint64_t blob_file_size = 256u << 20;
  int bloom_bits = 10;
  LevelShape levels;
  SpaceShape space;
  CheckDepth check = CheckDepth::kFull;
  unsigned rounds = 1;
  bool drop_caches = false;
  std::uint64_t memory_limit = 0;  // bytes; 0: no limit
  std::string json;
  std::string report;  // directory; empty: none
  bool histogram = false;
  bool statistics = false;
  std::uint64_t report_interval_seconds = 0;  // 0: no such report
  std::string report_file = "report.csv";
  bool list = false;
};

}  // namespace cambium::bench
