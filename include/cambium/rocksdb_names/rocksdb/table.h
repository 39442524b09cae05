// Table options: of these, the capacity of the block cache and the bits per key of the filter have a meaning here.
#pragma once

#include <memory>
#include <type_traits>

#include "cambium/rocksdb_names/rocksdb/cache.h"
#include "cambium/rocksdb_names/rocksdb/filter_policy.h"
#include "cambium/rocksdb_names/rocksdb/hint_options.h"

namespace rocksdb::inline on_cambium {

enum ChecksumType : char { kNoChecksum = 0, kCRC32c = 1, kxxHash = 2, kxxHash64 = 3, kXXH3 = 4 };

struct BlockBasedTableOptions {
  enum IndexType : char { kBinarySearch, kHashSearch, kTwoLevelIndexSearch, kBinarySearchWithFirstKey };
  enum BlockSearchType : char { kBinary, kInterpolation, kAuto };
  enum DataBlockIndexType : char { kDataBlockBinarySearch, kDataBlockBinaryAndHash };
  enum class IndexShorteningMode : char { kNoShortening, kShortenSeparators, kShortenSeparatorsAndSuccessor };
  enum class PrepopulateBlockCache : char { kDisable, kFlushOnly, kFlushAndCompaction };

  std::shared_ptr<Cache> block_cache;  // null: DBOptions::page_cache_size
  std::shared_ptr<const FilterPolicy> filter_policy;

  CAMBIUM_ROCKSDB_TABLE_HINTS(CAMBIUM_ROCKSDB_MEMBER)

  [[nodiscard]] static const char* kName() { return "BlockTableOptions"; }
};

// Holds the options of a family's tables. There is one format.
class TableFactory final {
 public:
  explicit TableFactory(const BlockBasedTableOptions& options) : options_(options) {}
  [[nodiscard]] static const char* kBlockBasedTableName() { return "BlockBasedTable"; }
  [[nodiscard]] const char* Name() const { return kBlockBasedTableName(); }
  // Null for other options than BlockBasedTableOptions.
  template <typename T>
  [[nodiscard]] T* GetOptions() {
    if constexpr (std::is_same_v<T, BlockBasedTableOptions>) {
      return &options_;
    } else {
      return nullptr;
    }
  }
  template <typename T>
  [[nodiscard]] const T* GetOptions() const {
    return const_cast<TableFactory*>(this)->GetOptions<T>();
  }

 private:
  BlockBasedTableOptions options_;
};

[[nodiscard]] inline TableFactory* NewBlockBasedTableFactory(const BlockBasedTableOptions& options = {}) {
  return new TableFactory(options);
}

}  // namespace rocksdb::inline on_cambium
