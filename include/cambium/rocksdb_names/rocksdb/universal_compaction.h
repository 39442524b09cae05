// The options of RocksDB's universal compaction: hints.
#pragma once

#include <climits>

#include "cambium/rocksdb_names/rocksdb/rocksdb_namespace.h"

namespace rocksdb::inline on_cambium {

enum CompactionStopStyle { kCompactionStopStyleSimilarSize, kCompactionStopStyleTotalSize };

struct CompactionOptionsUniversal {
  unsigned int size_ratio = 1;
  unsigned int min_merge_width = 2;
  unsigned int max_merge_width = UINT_MAX;
  unsigned int max_size_amplification_percent = 200;
  int compression_size_percent = -1;
  int max_read_amp = -1;
  CompactionStopStyle stop_style = kCompactionStopStyleTotalSize;
  bool allow_trivial_move = false;
  bool incremental = false;
  bool reduce_file_locking = true;

  bool operator==(const CompactionOptionsUniversal&) const = default;
};

}  // namespace rocksdb::inline on_cambium
