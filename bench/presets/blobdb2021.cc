// "Integrated BlobDB", rocksdb.org, 2021: its six workloads, with the settings of RocksDB's tools/run_blob_bench.sh.
// With BlobDB an SST file holds only keys and addresses of values. As in the script, the target size of such a file, in
// bytes, is the number of values that fill 32 write buffers (but see kKeysTableLeast). An SST file with values has the
// size of one write buffer, which is more. Level 1 has room for eight files of its kind. The first stage of the post's
// load writes without a log and without compactions, which only RocksDB can do. Here every store loads normally, and
// stage two compacts. The script turns blob GC on only after the load, so loads have a run of their own, in which
// BlobDB has no GC.
#include "presets/presets.h"

namespace cambium::bench {
namespace {

// A lower bound of the target size: at small scales the formula gives files of some hundred bytes.
constexpr std::uint64_t kKeysTableLeast = 64u << 10;

}  // namespace

std::vector<PresetRun> BlobDb2021Runs(double scale) {
  constexpr unsigned kThreads = 16;
  const double gib = 1024.0 * 1024 * 1024;
  std::vector<PresetRun> runs;
  for (const std::uint64_t value_size : {1u << 10, 4u << 10, 16u << 10, 64u << 10, 256u << 10, 1u << 20}) {
    const std::uint64_t num = Scaled(1024 * gib / static_cast<double>(value_size), scale, 200);
    // The post's read phases took half an hour. The read phases here read enough bytes to let their writer write for
    // some seconds.
    const double read_bytes = 2 * gib * 4096;
    const std::uint64_t reads = std::min(Scaled(read_bytes / static_cast<double>(value_size), scale, 2'000),
                                         Scaled(800'000 * 4096.0, scale, 2'000));
    const std::uint64_t buffer = Scaled(gib, std::min(1.0, scale * 16), 4u << 20);
    const std::uint64_t keys_table = std::max(kKeysTableLeast, 32 * buffer / value_size);
    const std::vector<std::string> common = {
        Flag("num", num), Flag("value_size", value_size), "--key_size=20", Flag("threads", kThreads), "--seek_nexts=10",
        Flag("writes", std::max<std::uint64_t>(1, num / kThreads)), Flag("reads", reads / kThreads),
        Flag("cache_size", Scaled(16 * gib, scale, 8u << 20)), Flag("write_buffer_size", buffer),
        Flag("blob_file_size", buffer), Flag("target_file_size_base", buffer),
        Flag("max_bytes_for_level_base", 8 * buffer), Flag("keys_target_file_size_base", keys_table),
        Flag("keys_max_bytes_for_level_base", 8 * keys_table), "--max_bytes_for_level_multiplier=8", "--num_levels=8",
        "--min_blob_size=0"};
    const auto add = [&](const std::string& name, std::vector<std::string> arguments, std::vector<std::string> about = {}) {
      arguments.insert(arguments.end(), common.begin(), common.end());
      runs.push_back({"blobdb2021, " + name, std::move(arguments), std::move(about)});
    };
    add(SizeName(value_size), {"--engine=cambium,rocksdb_leveled,rocksdb_universal,rocksdb_blob", "--index=both",
                               "--benchmarks=fillrandom,compact,overwrite,readwhilesyncing,seekrandomwhilesyncing,"
                               "readrandom,seekrandom,verify"});
    // Leveled tables load again here, so that both loads of the ratio run at the same time.
    add(SizeName(value_size) + ", load without blob GC",
        {"--engine=rocksdb_leveled,rocksdb_blob_nogc", "--benchmarks=fillrandom,compact"},
        {"rocksdb_blob_nogc"});
  }
  return runs;
}

}  // namespace cambium::bench
