// "Integrated BlobDB", rocksdb.org, 2021: the six workloads that it describes, as RocksDB's tools/run_blob_bench.sh runs
// them. Its first stage of the load writes without a log and without compactions, which no store but RocksDB can; here
// every store loads as it would, and stage two compacts it.
#include "presets/presets.h"

namespace cambium::bench {

std::vector<PresetRun> BlobDb2021Runs(double scale) {
  constexpr unsigned kThreads = 16;
  const double bytes = 1024.0 * 1024 * 1024 * 1024;
  std::vector<PresetRun> runs;
  for (const std::uint64_t value_size : {1u << 10, 4u << 10, 16u << 10, 64u << 10, 256u << 10, 1u << 20}) {
    const std::uint64_t num = Scaled(bytes / static_cast<double>(value_size), scale, 200);
    const std::uint64_t reads = std::max<std::uint64_t>(20, std::min<std::uint64_t>(num, 200'000) / kThreads);
    runs.push_back({"blobdb2021, " + SizeName(value_size),
                    {Flag("num", num), Flag("value_size", value_size), "--key_size=20", Flag("threads", kThreads),
                     "--engine=cambium,rocksdb_leveled,rocksdb_universal,rocksdb_blob", "--index=both",
                     "--seek_nexts=10", Flag("writes", std::max<std::uint64_t>(1, num / kThreads)), Flag("reads", reads),
                     Flag("cache_size", Scaled(16.0 * 1024 * 1024 * 1024, scale, 8u << 20)),
                     Flag("write_buffer_size", Scaled(1024.0 * 1024 * 1024, scale * 16, 4u << 20)),
                     Flag("blob_file_size", Scaled(1024.0 * 1024 * 1024, scale * 16, 4u << 20)),
                     Flag("target_file_size_base", Scaled(64.0 * 1024 * 1024, scale * 16, 4u << 20)),
                     Flag("max_bytes_for_level_base", Scaled(1024.0 * 1024 * 1024, scale * 16, 16u << 20)),
                     "--max_bytes_for_level_multiplier=8", "--num_levels=8", "--min_blob_size=0",
                     "--benchmarks=fillrandom,compact,overwrite,readwhilewriting,seekrandomwhilewriting,readrandom,"
                     "seekrandom"}});
  }
  return runs;
}

}  // namespace cambium::bench
