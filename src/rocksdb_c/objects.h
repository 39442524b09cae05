// The types of RocksDB's C interface, as this library defines them, and what its functions share. The functions have
// the names, parameters and rules of RocksDB 11.8.1's c.h, so each file here implements a part of that header.
#pragma once

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "c/wrappers.h"
#include "cambium/compaction_filter.h"
#include "cambium/comparator.h"
#include "cambium/db.h"
#include "cambium/listener.h"
#include "cambium/logger.h"
#include "cambium/rate_limiter.h"
#include "cambium/write_buffer_manager.h"
#include "rocksdb_c/fields.h"
#include "rocksdb_c/interface.h"
#include "util/mutex.h"
#include "util/result.h"

#define CAMBIUM_ROCKSDB_MEMBER(prefix, name, set_type, get_type, initial) get_type name = initial;
// The functions of one field. Those of options.cc also note that the option was set.
#define CAMBIUM_ROCKSDB_ACCESSORS(prefix, name, set_type, get_type, initial)          \
  void rocksdb_##prefix##_set_##name(rocksdb_##prefix##_t* options, set_type value) { \
    options->name = Stored<get_type>(value);                                          \
  }                                                                                   \
  get_type rocksdb_##prefix##_get_##name(rocksdb_##prefix##_t* options) { return options->name; }

// A callback's state with its destructor.
struct RocksState {
  RocksState(void* its_state, void (*its_destructor)(void*)) : state(its_state), destructor(its_destructor) {}
  RocksState(const RocksState&) = delete;
  RocksState& operator=(const RocksState&) = delete;
  ~RocksState() {
    if (destructor != nullptr) destructor(state);
  }
  void* const state;
  void (*const destructor)(void*);
};

struct rocksdb_comparator_t {
  std::unique_ptr<cambium::Comparator> rep;
  bool has_timestamps = false;  // not supported: an Open with this comparator says so
};

struct rocksdb_mergeoperator_t {
  std::shared_ptr<RocksState> state;  // null: RocksDB's own operator for sums
};

struct rocksdb_slicetransform_t {
  std::shared_ptr<const class RocksPrefix> rep;
};

struct rocksdb_compactionfilter_t {
  std::unique_ptr<cambium::CompactionFilter> rep;
};
struct rocksdb_compactionfilterfactory_t {
  std::shared_ptr<cambium::CompactionFilterFactory> rep;
};

struct rocksdb_env_t {
  bool is_in_memory = false;  // not supported: an Open with this environment says so
  int threads = 1;
  int threads_high = 1;
  int threads_low = 1;
  int threads_bottom = 0;
};
struct rocksdb_logger_t {
  std::shared_ptr<cambium::Logger> rep;
};
struct rocksdb_ratelimiter_t {
  std::shared_ptr<cambium::RateLimiter> rep;
};
struct rocksdb_write_buffer_manager_t {
  std::shared_ptr<cambium::WriteBufferManager> rep;
  bool costs_cache = false;
};

// A cache of RocksDB is shared; here each database has a cache of index pages, with the capacity of this object.
struct RocksCache {
  explicit RocksCache(std::size_t bytes) : capacity(bytes) {}
  std::atomic<std::size_t> capacity;
  cambium::Mutex mutex;
  std::vector<std::weak_ptr<cambium::DB>> users CAMBIUM_GUARDED_BY(mutex);  // databases that were opened with it
};
struct rocksdb_cache_t {
  std::shared_ptr<RocksCache> rep;
};

struct rocksdb_filterpolicy_t {
  double bits_per_key = 10;
};

struct rocksdb_block_based_table_options_t {
  CAMBIUM_ROCKSDB_BLOCK_BASED_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, block_based_options)
  int checksum = 4;
  std::shared_ptr<RocksCache> block_cache;
  std::optional<double> filter_bits_per_key;
  std::optional<std::string> user_defined_index;  // the name of a factory: a hint
};

struct rocksdb_universal_compaction_options_t {
  CAMBIUM_ROCKSDB_UNIVERSAL_COMPACTION_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, universal_compaction_options)
};
struct rocksdb_fifo_compaction_options_t {
  CAMBIUM_ROCKSDB_FIFO_COMPACTION_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, fifo_compaction_options)
};
struct rocksdb_cuckoo_table_options_t {
  CAMBIUM_ROCKSDB_CUCKOO_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, cuckoo_options)
};

// The numbers of the options that a program has set, by their place in the list.
enum RocksOption : std::size_t {
#define CAMBIUM_ROCKSDB_NUMBER(prefix, name, set_type, get_type, initial) kRocks_##name,
  CAMBIUM_ROCKSDB_OPTIONS(CAMBIUM_ROCKSDB_NUMBER, options)
#undef CAMBIUM_ROCKSDB_NUMBER
      kRocksOptionCount
};

struct rocksdb_options_t {
  CAMBIUM_ROCKSDB_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, options)
  std::size_t compaction_readahead_size = 2u << 20;
  std::bitset<kRocksOptionCount> given;  // an option that is not given has this library's default

  // ---- Objects ----
  const rocksdb_comparator_t* comparator = nullptr;
  const rocksdb_compactionfilter_t* compaction_filter = nullptr;
  std::shared_ptr<cambium::CompactionFilterFactory> compaction_filter_factory;
  std::shared_ptr<RocksState> merge_operator;
  bool has_merge_operator = false;
  std::shared_ptr<const RocksPrefix> prefix_extractor;
  bool is_in_memory = false;  // the environment
  std::shared_ptr<cambium::Logger> info_log;
  std::shared_ptr<cambium::RateLimiter> rate_limiter;
  std::shared_ptr<cambium::WriteBufferManager> write_buffer_manager;
  std::shared_ptr<cambium::Statistics> statistics;
  std::vector<std::shared_ptr<cambium::EventListener>> listeners;
  std::optional<rocksdb_block_based_table_options_t> table;
  std::string wal_dir;
  std::string db_log_dir;
  std::string db_host_id = "__hostname__";
  std::string daily_offpeak_time_utc;
  std::uint8_t block_protection_bytes_per_key = 0;
  std::vector<std::string> paths;    // the directories that db_paths and cf_paths name
  std::vector<std::string> hints;    // calls without an effect here, by name
  std::vector<std::string> refused;  // calls whose meaning would be lost: an Open with them is NotSupported
  std::bitset<64> checksum_handoff_file_types;
  std::bitset<64> sst_write_lifetime_hints{1};  // leveled compaction
};

struct rocksdb_t {
  std::shared_ptr<cambium::DB> rep;
  std::shared_ptr<const RocksPrefix> prefix_extractor;  // the default family's option
  // The number of calls of DisableManualCompaction, minus those of EnableManualCompaction. Above 0, CompactRange does
  // nothing. Shared with the other objects of the database (see transactions.h).
  std::shared_ptr<std::atomic<int>> manual_compactions_disabled = std::make_shared<std::atomic<int>>(0);
};

// A snapshot of a database, or of a transaction. RocksDB's programs release a transaction's snapshot with rocksdb_free,
// so this object owns nothing.
struct rocksdb_snapshot_t {
  const cambium::Snapshot* rep = nullptr;  // null: the transaction has none
};

struct rocksdb_column_family_handle_t {
  cambium::ColumnFamilyHandle* rep;
  std::weak_ptr<cambium::DB> db;  // takes the handle back; empty: the handle is the database's own, or it is closed
  std::shared_ptr<const RocksPrefix> prefix_extractor;
};

struct rocksdb_readoptions_t {
  CAMBIUM_ROCKSDB_READOPTIONS(CAMBIUM_ROCKSDB_MEMBER, readoptions)
  const cambium::Snapshot* snapshot = nullptr;
  // The bounds refer to the caller's bytes. An iterator reads them again at each seek.
  std::optional<cambium::Slice> lower;
  std::optional<cambium::Slice> upper;
  bool has_timestamp = false;
  bool has_merge_operand_count_threshold = false;
  std::optional<std::string> request_id;
  std::optional<std::string> table_index;  // the name of a factory: a hint
  std::shared_ptr<RocksState> table_filter;

  [[nodiscard]] cambium::ReadOptions Rep() const;
};

struct rocksdb_writeoptions_t {
  CAMBIUM_ROCKSDB_WRITEOPTIONS(CAMBIUM_ROCKSDB_MEMBER, writeoptions)
  unsigned char disable_wal = 0;

  [[nodiscard]] cambium::WriteOptions Rep() const;
};
struct rocksdb_flushoptions_t {
  CAMBIUM_ROCKSDB_FLUSHOPTIONS(CAMBIUM_ROCKSDB_MEMBER, flushoptions)
};
struct rocksdb_flushwaloptions_t {
  CAMBIUM_ROCKSDB_FLUSHWALOPTIONS(CAMBIUM_ROCKSDB_MEMBER, flushwaloptions)
};
struct rocksdb_compactoptions_t {
  CAMBIUM_ROCKSDB_COMPACTOPTIONS(CAMBIUM_ROCKSDB_MEMBER, compactoptions)
  unsigned char bottommost_level_compaction = 1;  // a number, not a truth value

  [[nodiscard]] cambium::CompactRangeOptions Rep() const;
};
struct rocksdb_wait_for_compact_options_t {
  CAMBIUM_ROCKSDB_WAIT_FOR_COMPACT_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, wait_for_compact_options)
};
struct rocksdb_size_approximation_options_t {
  CAMBIUM_ROCKSDB_SIZE_APPROXIMATION_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, size_approximation_options)
};
struct rocksdb_trace_options_t {
  CAMBIUM_ROCKSDB_TRACE_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, trace_options)
};

struct rocksdb_writebatch_t {
  cambium::WriteBatch rep;
  std::string data = {};  // the result of the last rocksdb_writebatch_data
};

struct rocksdb_pinnableslice_t {
  cambium::PinnableSlice rep;
};
struct rocksdb_pinnable_handle_t {
  cambium::PinnableSlice rep;
};

struct rocksdb_statistics_histogram_data_t {
  cambium::HistogramData rep;
};

namespace cambium::rocks {

using c::CopyBytes;
using c::CopyStrings;
using c::Truth;

// Words an error as RocksDB does, because programs look at the beginning of its text.
inline Status Worded(Status status) {
  if (status.IsLockTimeout()) return Status::TimedOut(status.message());
  if (status.IsDeadlock() || status.IsLockLimit()) return Status::Busy(status.message());
  if (!status.IsIOError()) return status;
  std::string text = status.IsNoSpace() ? "No space left on device: " : "";
  text += status.message();
  if (status.severity() == Status::Severity::kFatal) text += " (fatal until reopened)";
  return Status::IOError(text);
}

// As c::Guarded, with RocksDB's wording.
template <typename Call>
void Guarded(char** errptr, Call&& call) noexcept {
  c::Guarded(errptr, [&]() -> Status { return Worded(call()); });
}

// Converts a setter's number as RocksDB does: as a bool, every number but 0 is 1.
template <typename To, typename From>
To Stored(From value) {
  if constexpr (std::is_same_v<To, unsigned char>) {
    return value != 0 ? 1 : 0;
  } else {
    return static_cast<To>(value);
  }
}

inline const char* Shown(const std::string& text, std::size_t* length) {
  *length = text.size();
  return text.c_str();
}
// The text of an option; null if the option is not set.
inline const char* Shown(const std::optional<std::string>& text, std::size_t* length) {
  *length = text.has_value() ? text->size() : 0;
  return text.has_value() ? text->data() : nullptr;
}

// The answer of a function whose feature this version does not have.
inline Status Lacks(const char* feature) {
  return Status::NotSupported(std::string(feature) + " is not in this version");
}
// The same for functions that return an object: null, with the error.
inline std::nullptr_t Lack(char** errptr, const char* feature) {
  c::SaveError(errptr, Lacks(feature));
  return nullptr;
}

inline ColumnFamilyHandle* RepOf(const rocksdb_column_family_handle_t* family) {
  return family == nullptr ? nullptr : family->rep;
}

// Sets *to to this library's options with the meaning of `from`. NotSupported for an option whose meaning would be
// lost. Adds the names of options that have no effect to *hints.
Status ToCambium(const rocksdb_options_t& from, const std::string& path, Options* to, std::vector<std::string>* hints);
// True if `name` is an option of RocksDB that is a number and has no effect here. Then sets *is_value to whether the
// text is a value of the option.
[[nodiscard]] bool IsHint(std::string_view name, std::string_view text, bool* is_value);
// Writes the options to a log, one a line, and those that have no effect.
void LogOptions(const rocksdb_options_t& options, std::vector<std::string> hints, Logger* logger);
void LogHints(std::vector<std::string> hints, Logger* logger);  // nothing if there are none

}  // namespace cambium::rocks
