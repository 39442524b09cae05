#include "command/absent.h"

#include <map>

namespace cambium::bench {

const char* WhyAbsent(const std::string& benchmark) {
  constexpr const char* kNoMerge = "Cambium has no Merge";
  constexpr const char* kKernel = "cambium_kernels measures the parts of the library, such as checksums and codecs";
  static const std::map<std::string, const char*> kReasons = {
      {"mergerandom", kNoMerge},
      {"readrandommergerandom", kNoMerge},
      {"ingestexternalfile", "Cambium does not ingest external files"},
      {"verifyfilechecksums", "files have no checksums as a whole; verifychecksum verifies those of their contents"},
      {"backup", "it is not measured here; see cambium backup create, or backup_engine.h"},
      {"restore", "it is not measured here; see cambium restore, or backup_engine.h"},
      {"crc32c", kKernel},
      {"xxhash", kKernel},
      {"xxhash64", kKernel},
      {"xxh3", kKernel},
      {"compress", kKernel},
      {"uncompress", kKernel},
      {"acquireload", kKernel},
      {"timeseries", "its entries expire by a compaction filter, which engines have in different ways or not at all"},
      {"randomreplacekeys", "it writes keys at most twice, for SingleDelete, which Cambium does not need"},
      {"resetstats", "figures are those of each benchmark alone"},
      {"readtocache", "readseq does the same"},
      {"readhot", "use readrandom with --read_random_exp_range"},
      {"seekrandommerge", kNoMerge},
      {"randomtransaction", "use transaction, with --transaction_kind"},
      {"approximatesizerandom", "it measures an estimate that RocksDB makes"},
      {"open", "cambium_recovery_time measures how long Open takes"},
  };
  const auto found = kReasons.find(benchmark);
  return found == kReasons.end() ? nullptr : found->second;
}

const char* WhyOptionAbsent(const std::string& option) {
  constexpr const char* kProgress =
      "progress is always shown, and --report_interval_seconds writes a line per interval";
  constexpr const char* kBlobCache = "the operating system caches values, for every engine";
  constexpr const char* kRocksDbsOwn = "it is an option of RocksDB alone, which keeps its default here";
  static const std::map<std::string, const char*> kReasons = {
      {"--stats_interval", kProgress},
      {"--stats_interval_seconds", kProgress},
      {"--ops_between_duration_checks", "the clock is read at each operation"},
      {"--perf_level", "all figures are always measured"},
      {"--mix_accesses", "db_bench ignores it; --reads sets the number of operations of mixgraph"},
      {"--cache_type", "each engine has its own cache; RocksDB's is the LRU cache"},
      {"--transaction_db", "use the benchmark transaction with --transaction_kind=locking"},
      {"--optimistic_transaction_db", "use the benchmark transaction with --transaction_kind=optimistic"},
      {"--transaction_sets", "use --transaction_keys"},
      {"--max_scan_distance", "scans have no upper bound"},
      {"--enable_blob_files", "--engine=rocksdb_blob has them, rocksdb_leveled does not; Cambium uses --min_blob_size"},
      {"--blob_compression_type", "--compression_type is for values and blocks alike"},
      {"--blob_compaction_readahead_size", kRocksDbsOwn},
      {"--blob_file_starting_level", kRocksDbsOwn},
      {"--enable_blob_direct_write", "--engine=rocksdb11_blob_direct has it, the other engines do not"},
      {"--blob_direct_write_partitions", kRocksDbsOwn},
      {"--use_blob_cache", kBlobCache},
      {"--use_shared_block_and_blob_cache", kBlobCache},
      {"--blob_cache_size", kBlobCache},
      {"--blob_cache_numshardbits", kBlobCache},
      {"--prepopulate_blob_cache", kBlobCache},
  };
  const auto found = kReasons.find(option);
  if (found != kReasons.end()) return found->second;
  return option.starts_with("--blob_db_") ? "RocksDB no longer has the legacy BlobDB" : nullptr;
}

}  // namespace cambium::bench
