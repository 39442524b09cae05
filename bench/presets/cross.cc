// This project's own experiments: the cost of a space ceiling, a range without writes, a pinned iterator, log GC during
// reads, and scans.
#include "presets/presets.h"

namespace cambium::bench {

std::vector<PresetRun> CrossRuns(double scale) {
  const double bytes = 1024.0 * 1024 * 1024;
  const std::uint64_t num = Scaled(bytes / 1024, scale, 20'000);
  const std::vector<std::string> common = {Flag("num", num),
                                           "--value_size=1024",
                                           "--min_blob_size=0",  // otherwise a ceiling of 1.1 is refused
                                           "--threads=2",
                                           Flag("writes", num * 5 / 2),
                                           Flag("reads", std::min<std::uint64_t>(num, 100'000)),
                                           "--seek_nexts=10",
                                           Flag("blob_file_size", Scaled(16.0 * 1024 * 1024, std::min(1.0, scale * 4), 1u << 20)),
                                           Flag("write_buffer_size", Scaled(64.0 * 1024 * 1024, std::min(1.0, scale * 4), 4u << 20))};
  std::vector<PresetRun> runs;
  const auto add = [&](const std::string& name, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), common.begin(), common.end());
    runs.push_back({"cross, " + name, std::move(arguments)});
  };
  for (const char* ceiling : {"1.1", "1.25", "1.5", "2", "0"}) {
    add(std::string("E1, ceiling ") + (std::string(ceiling) == "0" ? "none" : ceiling),
        {"--engine=cambium", "--index=both", std::string("--max_space_amplification=") + ceiling,
         "--benchmarks=filluniquerandom,overwrite,verify"});
  }
  add("E2, cold half, GC of a quarter", {"--engine=cambium,rocksdb_blob", "--index=both",
                                         "--benchmarks=filluniquerandom,overwritehalf,verify"});
  add("E2, cold half, GC of all", {"--engine=cambium,rocksdb_blob", "--index=both", "--blob_garbage_collection_age_cutoff=1",
                                   "--blob_garbage_collection_force_threshold=0.5",
                                   "--benchmarks=filluniquerandom,overwritehalf,verify"});
  add("E4, a reader that stays", {"--engine=cambium,rocksdb_blob,lmdb", "--index=both",
                                  "--benchmarks=filluniquerandom,overwritewhilepinned,overwrite,verify"});
  add("E6, with GC", {"--engine=cambium,rocksdb_blob", "--index=both",
                      "--benchmarks=filluniquerandom,overwrite,readwhilewriting,verify"});
  add("E6, without GC", {"--engine=cambium,rocksdb_blob", "--index=both", "--enable_blob_garbage_collection=false",
                         "--max_space_amplification=0", "--benchmarks=filluniquerandom,overwrite,readwhilewriting,verify"});
  // RocksDB relocates blobs in the order of its compactions.
  const std::string beside_tables = "--engine=cambium,rocksdb_leveled,rocksdb_blob";
  const std::string scans = "--benchmarks=filluniquerandom,overwrite,compact,seekrandom,verify";
  add("T2, values where they fell", {beside_tables, "--index=both", scans});
  add("T2, values in the order of keys", {beside_tables, "--index=both", "--cluster_values", scans});
  return runs;
}

}  // namespace cambium::bench
