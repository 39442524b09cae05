#include "presets/presets.h"

namespace cambium::bench {
namespace {

// The options that set the sizes of values.
const std::vector<std::string> kValueSizes = {"--value_size", "--value_size_distribution_type", "--value_size_min",
                                              "--value_size_max", "--source"};

std::vector<std::string> ValueSizesAnd(std::vector<std::string> others) {
  others.insert(others.begin(), kValueSizes.begin(), kValueSizes.end());
  return others;
}

}  // namespace

const std::vector<Preset>& Presets() {
  static const std::vector<Preset> kPresets = {
      {"quick",
       "a short look at every engine: load, overwrite, reads, scans, deletes of 1 KiB values",
       "64 MiB of values",
       1,
       QuickRuns,
       {}},
      {"blobdb2021", "RocksDB's post on integrated BlobDB (2021): six workloads for values of 1 KiB to 1 MiB",
       "1 TiB of values of each size, 30 minutes a phase", 1.0 / 4096, BlobDb2021Runs, ValueSizesAnd({"--benchmarks"})},
      {"slides4", "a talk on BlobDB, Titan and DiffKV (2021): its four cases, 32 KiB and 256 B, with and without blobs",
       "100,000 keys, 300 seconds of overwrites", 0.1, Slides4Runs, kValueSizes},
      {"badger2017", "Introducing Badger (2017): load, size, reads and iteration at 16 B to 16 KiB",
       "250 M values of 128 B, 75 M of 1 KiB, 5 M of 16 KiB, 1000 M of 16 B", 1.0 / 500, Badger2017Runs, kValueSizes},
      {"ycsb",
       "YCSB's core workloads A to F, in YCSB's usual order",
       "10 M records of 1000 B",
       0.02,
       YcsbRuns,
       {"--benchmarks"}},
      {"fast20", "Facebook's workloads (FAST 2020): all_random, all_dist, prefix_random, prefix_dist, UDB, ZippyDB",
       "5 M keys, 1 M operations", 0.2, Fast20Runs,
       ValueSizesAnd({"--benchmarks", "--key_size", "--value_sigma", "--mix_get_ratio", "--mix_put_ratio",
                      "--mix_seek_ratio", "--mix_max_value_size", "--key_dist_a", "--key_dist_b", "--keyrange_dist_a",
                      "--keyrange_dist_b", "--keyrange_dist_c", "--keyrange_dist_d", "--keyrange_num", "--field_count",
                      "--field_length", "--zero_padding"})},
      {"cross",
       "this project's own: space ceilings, a cold range, a pinned iterator, GC during reads, scans",
       "1 GiB of 1 KiB values, overwritten five times",
       0.25,
       CrossRuns,
       {"--benchmarks", "--max_space_amplification", "--enable_blob_garbage_collection",
        "--blob_garbage_collection_age_cutoff", "--blob_garbage_collection_force_threshold", "--cluster_values"}},
  };
  return kPresets;
}

const Preset* FindPreset(const std::string& name) {
  for (const Preset& preset : Presets()) {
    if (name == preset.name) return &preset;
  }
  return nullptr;
}

}  // namespace cambium::bench
