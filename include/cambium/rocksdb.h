// RocksDB's C++ names over Cambium: everything that the headers in rocksdb_names/rocksdb declare.
//
// A program of RocksDB needs no change of its includes: with `-I<include>/cambium/rocksdb_names` before the path of
// RocksDB's own headers, `#include "rocksdb/db.h"` finds Cambium's. A program that includes this header instead needs no
// further path. docs/ROCKSDB_CPP.md says what is the same, what differs, and what does not exist.
#pragma once

#include "cambium/rocksdb_names/rocksdb/advanced_options.h"
#include "cambium/rocksdb_names/rocksdb/cache.h"
#include "cambium/rocksdb_names/rocksdb/compaction_filter.h"
#include "cambium/rocksdb_names/rocksdb/comparator.h"
#include "cambium/rocksdb_names/rocksdb/convenience.h"
#include "cambium/rocksdb_names/rocksdb/db.h"
#include "cambium/rocksdb_names/rocksdb/env.h"
#include "cambium/rocksdb_names/rocksdb/filter_policy.h"
#include "cambium/rocksdb_names/rocksdb/iterator.h"
#include "cambium/rocksdb_names/rocksdb/listener.h"
#include "cambium/rocksdb_names/rocksdb/memtablerep.h"
#include "cambium/rocksdb_names/rocksdb/merge_operator.h"
#include "cambium/rocksdb_names/rocksdb/options.h"
#include "cambium/rocksdb_names/rocksdb/rate_limiter.h"
#include "cambium/rocksdb_names/rocksdb/slice.h"
#include "cambium/rocksdb_names/rocksdb/slice_transform.h"
#include "cambium/rocksdb_names/rocksdb/snapshot.h"
#include "cambium/rocksdb_names/rocksdb/statistics.h"
#include "cambium/rocksdb_names/rocksdb/status.h"
#include "cambium/rocksdb_names/rocksdb/table.h"
#include "cambium/rocksdb_names/rocksdb/trace_reader_writer.h"
#include "cambium/rocksdb_names/rocksdb/types.h"
#include "cambium/rocksdb_names/rocksdb/utilities/backup_engine.h"
#include "cambium/rocksdb_names/rocksdb/utilities/checkpoint.h"
#include "cambium/rocksdb_names/rocksdb/utilities/optimistic_transaction_db.h"
#include "cambium/rocksdb_names/rocksdb/utilities/options_util.h"
#include "cambium/rocksdb_names/rocksdb/utilities/transaction.h"
#include "cambium/rocksdb_names/rocksdb/utilities/transaction_db.h"
#include "cambium/rocksdb_names/rocksdb/utilities/write_batch_with_index.h"
#include "cambium/rocksdb_names/rocksdb/version.h"
#include "cambium/rocksdb_names/rocksdb/write_batch.h"
#include "cambium/rocksdb_names/rocksdb/write_buffer_manager.h"
