// The definitions of the types in include/cambium/c.h, and functions to return errors and bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cambium/c.h"
#include "cambium/column_family.h"
#include "cambium/compaction_filter.h"
#include "cambium/comparator.h"
#include "cambium/db.h"
#include "cambium/logger.h"
#include "cambium/rate_limiter.h"
#include "cambium/statistics.h"
#include "cambium/write_buffer_manager.h"

struct cambium_t {
  std::unique_ptr<cambium::DB> rep;
};

struct cambium_column_family_handle_t {
  cambium::ColumnFamilyHandle* rep;
  cambium::DB* db;  // takes the handle back; null: the handle is the database's own
};

struct cambium_options_t {
  cambium::Options rep;
  // LevelDB options that were set and have no effect here: name and reason. Open writes them to LOG.
  std::map<std::string, std::string> hints = {};
};

struct cambium_readoptions_t {
  cambium_readoptions_t() = default;
  cambium_readoptions_t(const cambium_readoptions_t&) = delete;
  cambium_readoptions_t& operator=(const cambium_readoptions_t&) = delete;

  // `rep` points at the slices, and they point into the strings.
  cambium::ReadOptions rep;
  std::string lower;
  std::string upper;
  cambium::Slice lower_slice;
  cambium::Slice upper_slice;
};

struct cambium_writeoptions_t {
  cambium::WriteOptions rep;
};
struct cambium_flushoptions_t {
  cambium::FlushOptions rep;
};
struct cambium_compactoptions_t {
  cambium::CompactRangeOptions rep;
};
struct cambium_traceoptions_t {
  cambium::TraceOptions rep;
};

struct cambium_writebatch_t {
  cambium::WriteBatch rep;
};

struct cambium_iterator_t {
  std::unique_ptr<cambium::Iterator> rep;
};
struct cambium_pinnableslice_t {
  cambium::PinnableSlice rep;
};

struct cambium_comparator_t {
  cambium_comparator_t(void* its_state, void (*its_destructor)(void*)) : state(its_state), destructor(its_destructor) {}
  cambium_comparator_t(const cambium_comparator_t&) = delete;
  cambium_comparator_t& operator=(const cambium_comparator_t&) = delete;
  ~cambium_comparator_t() {
    if (destructor != nullptr) destructor(state);
  }

  void* state;
  void (*destructor)(void*);
  std::unique_ptr<cambium::Comparator> own = nullptr;  // calls the C function; null: `rep` is the library's
  const cambium::Comparator* rep = nullptr;
  bool equal_means_same_bytes = true;
};

struct cambium_compactionfilter_t {
  std::unique_ptr<cambium::CompactionFilter> rep;
};
struct cambium_compactionfilterfactory_t {
  std::shared_ptr<cambium::CompactionFilterFactory> rep;
};

struct cambium_env_t {
  std::shared_ptr<cambium::FileSystem> file_system;
  std::shared_ptr<cambium::Clock> clock;
};
struct cambium_logger_t {
  std::shared_ptr<cambium::Logger> rep;
};
struct cambium_ratelimiter_t {
  std::shared_ptr<cambium::RateLimiter> rep;
};
struct cambium_write_buffer_manager_t {
  std::shared_ptr<cambium::WriteBufferManager> rep;
};
struct cambium_cache_t {
  std::size_t capacity;
};
struct cambium_statistics_histogram_data_t {
  cambium::HistogramData rep;
};

namespace cambium::c {

// Replaces *errptr by the status's text, and frees the old one. If there is no memory for the text, *errptr becomes a
// fixed text of the same code, subcode and severity, which cambium_free does not free. Does nothing if the status is OK
// or `errptr` is null.
void SaveError(char** errptr, const Status& status) noexcept;
// Like SaveError, with the text of a status.
void SaveText(char** errptr, const char* text) noexcept;
// Like SaveError, with an exception of the standard library other than std::bad_alloc.
void SaveException(char** errptr, const std::exception& exception) noexcept;
// The text for std::bad_alloc: the call was not finished.
inline constexpr const char* kOutOfMemory = "Operation aborted (out of memory)";

// Allocated with malloc, and followed by a zero. Never null: throws std::bad_alloc instead.
char* CopyBytes(Slice bytes);
char* CopyIdentity(const DB& db, std::size_t* length);  // null if it cannot be had
// Returns a list for cambium_string_list_destroy.
char** CopyStrings(const std::vector<std::string>& strings);

// The arguments of a range. Either end may be missing.
struct KeyRange {
  KeyRange(const char* start, std::size_t start_length, const char* limit, std::size_t limit_length)
      : begin(start, start_length), end(limit, limit_length), has_begin(start != nullptr), has_end(limit != nullptr) {}
  [[nodiscard]] const Slice* BeginOrNull() const { return has_begin ? &begin : nullptr; }
  [[nodiscard]] const Slice* EndOrNull() const { return has_end ? &end : nullptr; }
  Slice begin;
  Slice end;
  bool has_begin;
  bool has_end;
};

// Writes the options that have no effect here to the database's LOG; nothing if memory runs out.
void LogHints(const cambium_options_t& options, DB* db) noexcept;

// Makes descriptors of `count` names and their options.
Status DescribeFamilies(int count, const char* const* names, const cambium_options_t* const* options,
                        std::vector<ColumnFamilyDescriptor>* families);

// The body of every function with an errptr: saves the status that `call` returns. Exceptions of the standard library
// become errors, above all std::bad_alloc; std::length_error, a size that no container can have, counts as out of
// memory. Other exceptions do not come from the library, and end the program.
template <typename Call>
void Guarded(char** errptr, Call&& call) noexcept {
  try {
    SaveError(errptr, std::forward<Call>(call)());
  } catch (const std::bad_alloc&) {
    SaveText(errptr, kOutOfMemory);
  } catch (const std::length_error&) {
    SaveText(errptr, kOutOfMemory);
  } catch (const std::exception& exception) {
    SaveException(errptr, exception);
  }
}

// Converts a number from C to an enumeration. A number that the enumeration's type cannot hold becomes 255, which no
// enumeration has. So the number is rejected, and not mistaken for a constant.
template <typename Enum>
Enum ToEnum(int number) {
  using Number = std::underlying_type_t<Enum>;
  static_assert(std::is_same_v<Number, unsigned char>);
  return static_cast<Enum>(number >= 0 && number <= 255 ? static_cast<Number>(number) : Number{255});
}

// The handle in a wrapper; null for null. The database's functions return InvalidArgument for a null handle.
inline ColumnFamilyHandle* RepOf(const cambium_column_family_handle_t* family) {
  return family == nullptr ? nullptr : family->rep;
}

inline unsigned char Truth(bool is_so) { return is_so ? 1 : 0; }

}  // namespace cambium::c
