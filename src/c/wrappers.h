// What the types of include/cambium/c.h are made of, and how errors and bytes leave.
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

struct cambium_t {
  std::unique_ptr<cambium::DB> rep;
};

struct cambium_column_family_handle_t {
  cambium::ColumnFamilyHandle* rep;
  cambium::DB* db;  // gets the handle back; null: it is the database's own
};

struct cambium_options_t {
  cambium::Options rep;
  // What LevelDB has and this library has not, by name, if it has been set to something else than what is the case here:
  // a call that uses the options is refused with this text.
  std::map<std::string, std::string> refused = {};
};

struct cambium_readoptions_t {
  cambium_readoptions_t() = default;
  cambium_readoptions_t(const cambium_readoptions_t&) = delete;
  cambium_readoptions_t& operator=(const cambium_readoptions_t&) = delete;

  // `rep` points at the slices, and they at the strings.
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
  cambium::Status first_error = {};  // of an operation that could not be added
};

struct cambium_iterator_t {
  std::unique_ptr<cambium::Iterator> rep;
};
struct cambium_pinnableslice_t {
  cambium::PinnableSlice rep;
};

struct cambium_comparator_t {
  cambium_comparator_t(void* its_state, void (*its_destructor)(void*))
      : state(its_state), destructor(its_destructor) {}
  cambium_comparator_t(const cambium_comparator_t&) = delete;
  cambium_comparator_t& operator=(const cambium_comparator_t&) = delete;
  ~cambium_comparator_t() {
    if (destructor != nullptr) destructor(state);
  }

  void* state;
  void (*destructor)(void*);
  std::unique_ptr<cambium::Comparator> own = nullptr;  // which calls back; null: `rep` is the library's
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
struct cambium_cache_t {
  std::size_t capacity;
};
struct cambium_statistics_histogram_data_t {
  cambium::HistogramData rep;
};

namespace cambium::c {

// Frees what *errptr has, and puts what the status says; where there is no memory for it, that. Nothing if it is OK.
// `errptr` may be null.
void SaveError(char** errptr, const Status& status) noexcept;
// The same for a text. An error is never lost for want of memory: the text is then one that cambium_free knows.
void SaveText(char** errptr, const char* text) noexcept;
// Of an exception: the call was not finished.
inline constexpr const char* kOutOfMemory = "Operation aborted: out of memory";

// malloc'ed; a zero follows. Never null: without memory it throws std::bad_alloc.
char* CopyBytes(Slice bytes);
// A list that cambium_string_list_destroy takes.
char** CopyStrings(const std::vector<std::string>& strings);

// NotSupported if something is set that this library has not.
Status CheckRefused(const cambium_options_t& options);

// `count` names with the options of each.
Status DescribeFamilies(int count, const char* const* names, const cambium_options_t* const* options,
                        std::vector<ColumnFamilyDescriptor>* families);

// What every function with an errptr does: `call` returns a Status, which is saved; an exception of the standard
// library is an error too, memory that runs out first of all. A length that no container can have is the same. Others
// are not the library's, and end the program.
template <typename Call>
void Guarded(char** errptr, Call&& call) noexcept {
  try {
    SaveError(errptr, std::forward<Call>(call)());
  } catch (const std::bad_alloc&) {
    SaveText(errptr, kOutOfMemory);
  } catch (const std::length_error&) {
    SaveText(errptr, kOutOfMemory);
  } catch (const std::exception& exception) {
    SaveText(errptr, exception.what());
  }
}

// What goes and comes as numbers: constants of an enumeration. One that its type cannot hold becomes one that no
// enumeration has, so that it is refused and does not turn into another.
template <typename Enum>
Enum ToEnum(int number) {
  using Number = std::underlying_type_t<Enum>;
  static_assert(std::is_same_v<Number, unsigned char>);
  return static_cast<Enum>(number >= 0 && number <= 255 ? static_cast<Number>(number) : Number{255});
}

inline unsigned char Truth(bool is_so) { return is_so ? 1 : 0; }

}  // namespace cambium::c
