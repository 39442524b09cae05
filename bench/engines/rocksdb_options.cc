#include "engines/rocksdb_options.h"

#include <array>
#include <cstdio>
#include <utility>

namespace cambium::bench {
namespace {

bool CollectsBlobs(const EngineConfig& config, RocksDbShape shape) {
  return HasBlobs(shape) && shape != RocksDbShape::kBlobsWithoutGc && config.space.enable_blob_garbage_collection;
}

LevelShape LevelsOf(const EngineConfig& config, RocksDbShape shape) {
  return HasBlobs(shape) ? config.levels.OfKeys() : config.levels;
}

// Returns RocksDB's name of a codec. An unknown codec becomes none; Complain() has refused it.
std::string CodecOf(const std::string& compression_type) {
  constexpr std::array<std::pair<const char*, const char*>, 3> kCodecs = {
      {{"snappy", "kSnappyCompression"}, {"lz4", "kLZ4Compression"}, {"zstd", "kZSTD"}}};
  for (const auto& [ours, theirs] : kCodecs) {
    if (compression_type == ours) return theirs;
  }
  return "kNoCompression";
}

// Collects "name=value;" for each option.
class OptionsText {
 public:
  void Add(const char* name, const std::string& value) { text_ += std::string(name) + "=" + value + ";"; }
  void Add(const char* name, const char* value) { Add(name, std::string(value)); }
  void Add(const char* name, bool value) { Add(name, std::string(value ? "true" : "false")); }
  // With all digits, so that the option gets the number of the flag.
  void Add(const char* name, double value) {
    std::array<char, 40> digits;
    std::snprintf(digits.data(), digits.size(), "%.17g", value);
    Add(name, std::string(digits.data()));
  }
  template <typename Integer>
  void Add(const char* name, Integer value) {
    Add(name, std::to_string(value));
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

bool HasBlobs(RocksDbShape shape) {
  return shape == RocksDbShape::kBlobs || shape == RocksDbShape::kBlobsWithoutGc ||
         shape == RocksDbShape::kDirectBlobs;
}

std::string RocksDbOptionsText(const EngineConfig& config, RocksDbShape shape) {
  const LevelShape levels = LevelsOf(config, shape);
  const std::string codec = CodecOf(config.compression_type);
  OptionsText options;
  if (shape == RocksDbShape::kUniversal) options.Add("compaction_style", "kCompactionStyleUniversal");
  options.Add("write_buffer_size", config.write_buffer_size);
  options.Add("max_write_buffer_number", config.max_write_buffer_number);
  options.Add("allow_mmap_reads", config.mmap_read.value_or(false));
  options.Add("level0_file_num_compaction_trigger", levels.level0_file_num_compaction_trigger);
  options.Add("level0_slowdown_writes_trigger", levels.level0_slowdown_writes_trigger);
  options.Add("level0_stop_writes_trigger", levels.level0_stop_writes_trigger);
  options.Add("target_file_size_base", levels.target_file_size_base);
  options.Add("target_file_size_multiplier", levels.target_file_size_multiplier);
  options.Add("max_bytes_for_level_base", levels.max_bytes_for_level_base);
  options.Add("max_bytes_for_level_multiplier", levels.max_bytes_for_level_multiplier);
  options.Add("num_levels", levels.num_levels);
  options.Add("compression", codec);
  options.Add("enable_blob_files", HasBlobs(shape));
  if (HasBlobs(shape)) {
    options.Add("min_blob_size", config.min_blob_size);
    options.Add("blob_file_size", config.blob_file_size);
    options.Add("blob_compression_type", codec);
    options.Add("enable_blob_garbage_collection", CollectsBlobs(config, shape));
    options.Add("blob_garbage_collection_age_cutoff", config.space.blob_garbage_collection_age_cutoff);
    options.Add("blob_garbage_collection_force_threshold", config.space.blob_garbage_collection_force_threshold);
  }
  if (shape == RocksDbShape::kDirectBlobs) {
    options.Add("enable_blob_direct_write", true);
    options.Add("allow_concurrent_memtable_write", false);  // which direct writes do not support
  }
  OptionsText table;
  table.Add("block_cache", config.cache_size);
  if (config.bloom_bits > 0) table.Add("filter_policy", "bloomfilter:" + std::to_string(config.bloom_bits) + ":false");
  options.Add("block_based_table_factory", "{" + table.text() + "}");
  return options.text();
}

std::string ComplainOfRocksDbLevels(const EngineConfig& config, RocksDbShape shape) {
  const int levels_min = shape == RocksDbShape::kUniversal ? 1 : 2;
  if (config.levels.num_levels >= levels_min) return {};
  return "--num_levels=" + std::to_string(config.levels.num_levels) + ": RocksDB needs " + std::to_string(levels_min) +
         " for this compaction";
}

std::string DescribeRocksDbOptions(const EngineConfig& config, RocksDbShape shape) {
  const LevelShape levels = LevelsOf(config, shape);
  std::string text = "block_cache " + std::to_string(config.cache_size) + ", bloom_bits " +
                     std::to_string(config.bloom_bits) + ", write_buffer_size " +
                     std::to_string(config.write_buffer_size) + " x " + std::to_string(config.max_write_buffer_number) +
                     ", compression " + config.compression_type + ", level0_file_num_compaction_trigger " +
                     std::to_string(levels.level0_file_num_compaction_trigger);
  if (shape == RocksDbShape::kUniversal) {
    text += ", compaction_style universal, num_levels " + std::to_string(levels.num_levels);
  } else {
    text += ", target_file_size_base " + std::to_string(levels.target_file_size_base) + ", max_bytes_for_level_base " +
            std::to_string(levels.max_bytes_for_level_base);
  }
  if (HasBlobs(shape)) {
    text += ", enable_blob_files, min_blob_size " + std::to_string(config.min_blob_size) + ", blob_file_size " +
            std::to_string(config.blob_file_size);
    if (CollectsBlobs(config, shape)) {
      text += ", enable_blob_garbage_collection (age cutoff " +
              std::to_string(config.space.blob_garbage_collection_age_cutoff) + ", force threshold " +
              std::to_string(config.space.blob_garbage_collection_force_threshold) + ")";
    } else {
      text += ", no blob garbage collection";
    }
  }
  if (!config.verify_checksum) text += ", no verify_checksums";
  if (config.mmap_read.value_or(false)) text += ", allow_mmap_reads";
  return text;
}

}  // namespace cambium::bench
