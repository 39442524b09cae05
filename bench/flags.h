// BenchFlags: the command line. Names, meanings and defaults are db_bench's where it has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine.h"
#include "key.h"
#include "value.h"

namespace cambium::bench {

struct BenchFlags {
  std::string experiment;  // of a preset, which sets it
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
  std::uint64_t batch_size = 1;
  std::uint64_t seek_nexts = 0;
  double read_random_exp_range = 0;
  bool sync = false;
  bool disable_wal = false;
  bool verify_checksum = true;
  std::uint64_t seed = 1;
  std::string db;
  bool use_existing_db = false;
  std::string compression_type = "none";
  double compression_ratio = 0.5;
  std::size_t cache_size = 256u << 20;
  std::size_t write_buffer_size = 64u << 20;
  int max_write_buffer_number = 3;
  bool mmap_read = false;
  std::uint64_t min_blob_size = 512;
  std::uint64_t blob_file_size = 256u << 20;
  int bloom_bits = 10;
  LevelShape levels;
  SpaceShape space;
  CheckDepth check = CheckDepth::kFull;
  unsigned rounds = 1;
  bool drop_caches = false;
  std::uint64_t memory_limit = 0;  // bytes; 0: none
  std::string json;
  bool histogram = false;
  bool list = false;
};

// What the program was called with, or the exit code with which it should end at once (after --help, or a mistake).
struct ParsedFlags {
  BenchFlags flags;
  std::optional<int> exit_code;
};
ParsedFlags ParseFlags(int argc, char** argv);

// One line that repeats the run.
std::string ToCommandLine(const BenchFlags& flags);

}  // namespace cambium::bench
