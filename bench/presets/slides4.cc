// The four cases of a talk that compared BlobDB, Titan and DiffKV (2021). They have one thread, no sync, no compression
// and a cache of 32 MiB. The talk ran BlobDB without blob GC. The preset also runs it with blob GC (rocksdb_blob),
// which is the fairer comparison.
#include "presets/presets.h"

namespace cambium::bench {

std::vector<PresetRun> Slides4Runs(double scale) {
  std::vector<PresetRun> runs;
  for (const std::uint64_t value_size : {32u << 10, 256u}) {
    runs.push_back({"slides4, " + SizeName(value_size),
                    {Flag("num", Scaled(100'000, scale, 1000)), Flag("value_size", value_size),
                     Flag("duration", Scaled(300, scale, 3)), "--threads=1", "--cache_size=33554432",
                     "--engine=cambium,rocksdb_leveled,rocksdb_blob_nogc,rocksdb_blob", "--index=both",
                     Flag("write_buffer_size", Scaled(64.0 * 1024 * 1024, std::min(1.0, scale * 4), 4u << 20)),
                     Flag("max_bytes_for_level_base", Scaled(256.0 * 1024 * 1024, std::min(1.0, scale * 4), 16u << 20)),
                     Flag("target_file_size_base", Scaled(64.0 * 1024 * 1024, std::min(1.0, scale * 4), 4u << 20)),
                     Flag("blob_file_size", Scaled(256.0 * 1024 * 1024, scale, 4u << 20)),
                     "--benchmarks=filluniquerandom,overwrite,verify"}});
  }
  return runs;
}

}  // namespace cambium::bench
