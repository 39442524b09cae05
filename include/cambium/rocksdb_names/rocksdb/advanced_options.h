// ColumnFamilyOptions: the options of one column family.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/options.h"
#include "cambium/rocksdb_names/rocksdb/compaction_filter.h"
#include "cambium/rocksdb_names/rocksdb/comparator.h"
#include "cambium/rocksdb_names/rocksdb/compression_type.h"
#include "cambium/rocksdb_names/rocksdb/hint_options.h"
#include "cambium/rocksdb_names/rocksdb/memtablerep.h"
#include "cambium/rocksdb_names/rocksdb/merge_operator.h"
#include "cambium/rocksdb_names/rocksdb/slice_transform.h"
#include "cambium/rocksdb_names/rocksdb/table.h"
#include "cambium/rocksdb_names/rocksdb/types.h"
#include "cambium/rocksdb_names/rocksdb/universal_compaction.h"

namespace rocksdb::inline on_cambium {

struct Options;

// Open refuses kCompactionStyleFIFO and kCompactionStyleNone: NotSupported. Universal becomes LazyLevel, which is
// Cambium's own, and the nearest.
enum CompactionStyle : char {
  kCompactionStyleLevel = 0,
  kCompactionStyleUniversal = 1,
  kCompactionStyleFIFO = 2,
  kCompactionStyleNone = 3,
  kCompactionStyleLazyLevel = 8,
};
enum CompactionPri : char {
  kByCompensatedSize = 0,
  kOldestLargestSeqFirst = 1,
  kOldestSmallestSeqFirst = 2,
  kMinOverlappingRatio = 3,
  kRoundRobin = 4,
};
enum class PrepopulateBlobCache : std::uint8_t { kDisable = 0, kFlushOnly = 1 };
enum class VerifyOutputFlags : std::uint32_t { kVerifyNone = 0, kVerifyAll = 0xFFFFFFFF };

struct DbPath {
  DbPath() = default;
  DbPath(std::string its_path, std::uint64_t its_size) : path(std::move(its_path)), target_size(its_size) {}
  std::string path;
  std::uint64_t target_size = 0;
};

// A field that Cambium has too is Cambium's own: same meaning, and Cambium's default. DB::Open moves a number that is out
// of Cambium's range to the nearest end of the range. The base is not public, so that no call can take these options
// for Cambium's and lose the rest of them.
struct ColumnFamilyOptions : protected cambium::ColumnFamilyOptions {
 private:
  using Base = cambium::ColumnFamilyOptions;

 public:
  ColumnFamilyOptions() = default;
  explicit ColumnFamilyOptions(const Options& options);

  // ---- Options of both ----
  using Base::blob_file_size;
  using Base::blob_garbage_collection_age_cutoff;
  using Base::blob_garbage_collection_force_threshold;
  using Base::enable_blob_files;
  using Base::enable_blob_garbage_collection;
  using Base::level0_file_num_compaction_trigger;
  using Base::level0_slowdown_writes_trigger;
  using Base::level0_stop_writes_trigger;
  using Base::max_bytes_for_level_base;
  using Base::max_bytes_for_level_multiplier;
  using Base::max_write_buffer_number;
  using Base::min_blob_size;
  using Base::num_levels;
  using Base::target_file_size_base;
  using Base::target_file_size_multiplier;
  using Base::write_buffer_size;
  const Comparator* comparator = BytewiseComparator();
  const CompactionFilter* compaction_filter = nullptr;
  std::shared_ptr<CompactionFilterFactory> compaction_filter_factory;
  CompactionStyle compaction_style = kCompactionStyleLevel;
  CompressionType compression = kNoCompression;
  CompressionType blob_compression_type = kNoCompression;
  std::shared_ptr<TableFactory> table_factory{NewBlockBasedTableFactory()};

  // ---- Cambium's own ----
  using Base::filter_bits_per_key;  // unless the table options have a filter_policy
  using Base::index_type;
  using Base::large_value_size;
  using Base::page_size;
  using Base::sweep_ratio;
  using Base::value_clustering;

  // ---- What Cambium does not have, and refuses when it is used ----
  std::shared_ptr<MergeOperator> merge_operator;  // DB::Merge is NotSupported
  std::vector<DbPath> cf_paths;                   // Open is NotSupported, unless each is the database's directory

  // ---- Hints ----
  std::shared_ptr<const SliceTransform> prefix_extractor;  // ReadOptions::prefix_same_as_start is NotSupported
  std::shared_ptr<const SliceTransform> memtable_insert_with_hint_prefix_extractor;
  std::shared_ptr<MemTableRepFactory> memtable_factory;
  CompressionOptions compression_opts;
  CompressionOptions bottommost_compression_opts;
  CompressionOptions blob_compression_opts;
  std::vector<CompressionType> compression_per_level;
  std::vector<int> max_bytes_for_level_multiplier_additional;
  CompactionOptionsUniversal compaction_options_universal;
  std::shared_ptr<Cache> blob_cache;
  CAMBIUM_ROCKSDB_FAMILY_HINTS(CAMBIUM_ROCKSDB_MEMBER)

  // Each sets the options that RocksDB's function sets, as far as they have a meaning here. All return this.
  ColumnFamilyOptions* OptimizeForPointLookup(std::uint64_t block_cache_size_mb);
  ColumnFamilyOptions* OptimizeLevelStyleCompaction(std::uint64_t memtable_memory_budget = 512u << 20);
  ColumnFamilyOptions* OptimizeUniversalStyleCompaction(std::uint64_t memtable_memory_budget = 512u << 20);
  ColumnFamilyOptions* OptimizeForSmallDb(std::shared_ptr<Cache>* cache = nullptr);

  // The options that Cambium has under the same name and with the same type.
  [[nodiscard]] const cambium::ColumnFamilyOptions& Same() const { return *this; }
  [[nodiscard]] cambium::ColumnFamilyOptions& Same() { return *this; }
};

}  // namespace rocksdb::inline on_cambium
