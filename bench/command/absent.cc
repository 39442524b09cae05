#include "command/absent.h"

#include <map>

namespace cambium::bench {

const char* WhyAbsent(const std::string& benchmark) {
  constexpr const char* kNoMerge = "Cambium has no Merge";
  constexpr const char* kKernel = "the target cambium_kernels measures the parts of the library, checksums and codecs among them";
  static const std::map<std::string, const char*> kReasons = {
      {"mergerandom", kNoMerge},
      {"readrandommergerandom", kNoMerge},
      {"ingestexternalfile", "Cambium takes no files from outside"},
      {"verifyfilechecksums", "files have no checksums but those of what is in them; verifychecksum compares these"},
      {"backup", "it is not measured here; what does it is cambium backup create, or backup_engine.h"},
      {"restore", "it is not measured here; what does it is cambium restore, or backup_engine.h"},
      {"crc32c", kKernel},
      {"xxhash", kKernel},
      {"xxhash64", kKernel},
      {"xxh3", kKernel},
      {"compress", kKernel},
      {"uncompress", kKernel},
      {"acquireload", kKernel},
      {"timeseries", "its entries expire by a compaction filter, which each engine has in another way or not at all"},
      {"randomreplacekeys", "its keys are written twice at most, for SingleDelete, which Cambium does not need"},
      {"resetstats", "figures are those of each workload"},
      {"readtocache", "readseq does the same"},
      {"readhot", "readrandom with --read_random_exp_range"},
      {"seekrandommerge", kNoMerge},
      {"randomtransaction", "Cambium has no transactions"},
      {"approximatesizerandom", "it measures an estimate of RocksDB's"},
      {"open", "cambium_recovery_time measures how long an opening takes"},
  };
  const auto found = kReasons.find(benchmark);
  return found == kReasons.end() ? nullptr : found->second;
}

const char* WhyOptionAbsent(const std::string& option) {
  constexpr const char* kProgress = "progress is told all the time, and --report_interval_seconds writes a line per interval";
  constexpr const char* kBlobCache = "values are cached by the operating system, for all engines alike";
  constexpr const char* kRocksDbsOwn = "it is RocksDB's own, which has its default here";
  static const std::map<std::string, const char*> kReasons = {
      {"--stats_interval", kProgress},
      {"--stats_interval_seconds", kProgress},
      {"--ops_between_duration_checks", "the clock is read at each operation"},
      {"--perf_level", "what is measured is always measured"},
      {"--mix_accesses", "db_bench does nothing with it; --reads says how many operations mixgraph has"},
      {"--cache_type", "each engine has the cache that it has; RocksDB's is the LRU cache"},
      {"--max_scan_distance", "scans have no upper bound"},
      {"--enable_blob_files", "--engine=rocksdb_blob has them and rocksdb_leveled has not; Cambium goes by --min_blob_size"},
      {"--blob_compression_type", "--compression_type is of values and blocks alike"},
      {"--blob_compaction_readahead_size", kRocksDbsOwn},
      {"--blob_file_starting_level", kRocksDbsOwn},
      {"--enable_blob_direct_write", kRocksDbsOwn},
      {"--blob_direct_write_partitions", kRocksDbsOwn},
      {"--use_blob_cache", kBlobCache},
      {"--use_shared_block_and_blob_cache", kBlobCache},
      {"--blob_cache_size", kBlobCache},
      {"--blob_cache_numshardbits", kBlobCache},
      {"--prepopulate_blob_cache", kBlobCache},
  };
  const auto found = kReasons.find(option);
  if (found != kReasons.end()) return found->second;
  return option.starts_with("--blob_db_") ? "RocksDB has its first BlobDB no more" : nullptr;
}

}  // namespace cambium::bench
