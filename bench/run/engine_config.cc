#include "run/engine_config.h"

#include <algorithm>
#include <vector>

#include "data/key.h"
#include "engines/registry.h"
#include "workloads/workload.h"

namespace cambium::bench {

EngineConfig ConfigOf(const std::string& path, const BenchFlags& flags) {
  return {.path = path,
          .index = flags.index,
          .num = flags.num,
          .key_size = KeyShapeOf(flags).TypicalSize(),
          .value_size = static_cast<std::size_t>(ValueSizesOf(flags).Mean()),
          .cache_size = flags.cache_size,
          .write_buffer_size = flags.write_buffer_size,
          .max_write_buffer_number = flags.max_write_buffer_number,
          .mmap_read = flags.mmap_read,
          .bloom_bits = flags.bloom_bits,
          .compression_type = flags.compression_type,
          .min_blob_size = flags.min_blob_size,
          .blob_file_size = flags.blob_file_size,
          .verify_checksum = flags.verify_checksum,
          .pin_mapped_values = flags.pin_mapped_values,
          .levels = flags.levels,
          .space = flags.space,
          .trace = flags.trace,
          .transacts = HasTransactions(flags.benchmarks),
          .transaction = flags.transaction};
}

std::string ComplainOfEngines(const BenchFlags& flags) {
  std::vector<std::string> names = flags.engines;
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end()) {
    return "--engine names " + *twice + " twice; --rounds repeats turns";
  }
  for (const std::string& name : flags.engines) {
    const EngineEntry* const entry = FindEngine(name);
    if (entry == nullptr || !WhyUnavailable(*entry).empty()) continue;
    EngineConfig config = ConfigOf("", flags);
    const bool has_both = name == "cambium" && flags.index == "both";
    for (const std::string& index : has_both ? std::vector<std::string>{"btree", "lsm"} : std::vector{flags.index}) {
      config.index = index;
      if (const std::string what = entry->make(config)->Complain(); !what.empty()) return name + ": " + what;
    }
  }
  return {};
}

}  // namespace cambium::bench
