// The C interface of RocksDB 11, taken at run time from the native library of the Java package rocksdbjni. See
// docs/adr/0081.
//
// RocksDb11Library has a pointer to each function that the engine calls, named as in RocksDB without "rocksdb_".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cambium/status.h"

namespace cambium::bench {
namespace rocksdb11 {

// RocksDB's objects, which only its functions look into.
struct Db;
struct Options;
struct ReadOptions;
struct WriteOptions;
struct FlushOptions;
struct CompactOptions;
struct WaitOptions;
struct WriteBatch;
struct Iterator;
struct Family;
struct PinnableSlice;
struct PerfContext;
struct Listener;
struct FlushInfo;
struct CompactionInfo;
struct BlobFileInfo;

// A slice as this interface passes it.
struct Bytes {
  const char* data;
  std::size_t size;
};

using FlushEvent = void (*)(void* state, Db*, const FlushInfo*);
using CompactionEvent = void (*)(void* state, Db*, const CompactionInfo*);
using SubcompactionEvent = void (*)(void* state, const void* info);
using IngestionEvent = void (*)(void* state, Db*, const void* info);
using ErrorEvent = void (*)(void* state, std::uint32_t reason, void* status);
using OtherEvent = void (*)(void* state, const void* info);

// Numbers of the metrics of a PerfContext.
inline constexpr int kBlockCacheHits = 1;
inline constexpr int kBlockReads = 2;

// A value of CompactOptions.
inline constexpr unsigned char kForceOptimized = 3;

}  // namespace rocksdb11

// F(name, result, parameters). Many functions set a `char** error` if they fail, to a text for free().
#define CAMBIUM_ROCKSDB11_FUNCTIONS(F)                                                                               \
  F(free, void, (void*))                                                                                             \
  F(options_create, rocksdb11::Options*, ())                                                                         \
  F(options_destroy, void, (rocksdb11::Options*))                                                                    \
  F(get_options_from_string, void, (const rocksdb11::Options* base, const char* text, rocksdb11::Options*, char**))  \
  F(options_add_eventlistener, void, (rocksdb11::Options*, rocksdb11::Listener*))                                    \
  F(open, rocksdb11::Db*, (const rocksdb11::Options*, const char* path, char**))                                     \
  F(close, void, (rocksdb11::Db*))                                                                                   \
  F(destroy_db, void, (const rocksdb11::Options*, const char* path, char**))                                         \
  F(get_default_column_family_handle, rocksdb11::Family*, (rocksdb11::Db*))                                          \
  F(column_family_handle_destroy, void, (rocksdb11::Family*))                                                        \
  F(readoptions_create, rocksdb11::ReadOptions*, ())                                                                 \
  F(readoptions_destroy, void, (rocksdb11::ReadOptions*))                                                            \
  F(readoptions_set_verify_checksums, void, (rocksdb11::ReadOptions*, unsigned char))                                \
  F(readoptions_set_allow_unprepared_value, void, (rocksdb11::ReadOptions*, unsigned char))                          \
  F(writeoptions_create, rocksdb11::WriteOptions*, ())                                                               \
  F(writeoptions_destroy, void, (rocksdb11::WriteOptions*))                                                          \
  F(writeoptions_set_sync, void, (rocksdb11::WriteOptions*, unsigned char))                                          \
  F(writeoptions_disable_WAL, void, (rocksdb11::WriteOptions*, int))                                                 \
  F(get_pinned, rocksdb11::PinnableSlice*,                                                                           \
    (rocksdb11::Db*, const rocksdb11::ReadOptions*, const char* key, std::size_t, char**))                           \
  F(batched_multi_get_cf_slice, void,                                                                                \
    (rocksdb11::Db*, const rocksdb11::ReadOptions*, rocksdb11::Family*, std::size_t count, const rocksdb11::Bytes*,  \
     rocksdb11::PinnableSlice** values, char** errors, bool sorted))                                                 \
  F(pinnableslice_value, const char*, (const rocksdb11::PinnableSlice*, std::size_t* size))                          \
  F(pinnableslice_destroy, void, (rocksdb11::PinnableSlice*))                                                        \
  F(put, void,                                                                                                       \
    (rocksdb11::Db*, const rocksdb11::WriteOptions*, const char* key, std::size_t, const char* value, std::size_t,   \
     char**))                                                                                                        \
  F(delete, void, (rocksdb11::Db*, const rocksdb11::WriteOptions*, const char* key, std::size_t, char**))            \
  F(writebatch_create, rocksdb11::WriteBatch*, ())                                                                   \
  F(writebatch_destroy, void, (rocksdb11::WriteBatch*))                                                              \
  F(writebatch_put, void, (rocksdb11::WriteBatch*, const char* key, std::size_t, const char* value, std::size_t))    \
  F(writebatch_clear, void, (rocksdb11::WriteBatch*))                                                                \
  F(write, void, (rocksdb11::Db*, const rocksdb11::WriteOptions*, rocksdb11::WriteBatch*, char**))                   \
  F(create_iterator, rocksdb11::Iterator*, (rocksdb11::Db*, const rocksdb11::ReadOptions*))                          \
  F(iter_destroy, void, (rocksdb11::Iterator*))                                                                      \
  F(iter_valid, unsigned char, (const rocksdb11::Iterator*))                                                         \
  F(iter_seek_to_first, void, (rocksdb11::Iterator*))                                                                \
  F(iter_seek_to_last, void, (rocksdb11::Iterator*))                                                                 \
  F(iter_seek, void, (rocksdb11::Iterator*, const char* target, std::size_t))                                        \
  F(iter_next, void, (rocksdb11::Iterator*))                                                                         \
  F(iter_prev, void, (rocksdb11::Iterator*))                                                                         \
  F(iter_key_slice, rocksdb11::Bytes, (const rocksdb11::Iterator*))                                                  \
  F(iter_value_slice, rocksdb11::Bytes, (const rocksdb11::Iterator*))                                                \
  F(iter_get_error, void, (const rocksdb11::Iterator*, char**))                                                      \
  F(flushoptions_create, rocksdb11::FlushOptions*, ())                                                               \
  F(flushoptions_destroy, void, (rocksdb11::FlushOptions*))                                                          \
  F(flush, void, (rocksdb11::Db*, const rocksdb11::FlushOptions*, char**))                                           \
  F(flush_wal, void, (rocksdb11::Db*, unsigned char sync, char**))                                                   \
  F(wait_for_compact_options_create, rocksdb11::WaitOptions*, ())                                                    \
  F(wait_for_compact_options_destroy, void, (rocksdb11::WaitOptions*))                                               \
  F(wait_for_compact, void, (rocksdb11::Db*, rocksdb11::WaitOptions*, char**))                                       \
  F(compactoptions_create, rocksdb11::CompactOptions*, ())                                                           \
  F(compactoptions_destroy, void, (rocksdb11::CompactOptions*))                                                      \
  F(compactoptions_set_bottommost_level_compaction, void, (rocksdb11::CompactOptions*, unsigned char))               \
  F(compact_range_opt, void,                                                                                         \
    (rocksdb11::Db*, rocksdb11::CompactOptions*, const char* begin, std::size_t, const char* end, std::size_t))      \
  F(verify_checksum, void, (rocksdb11::Db*, char**))                                                                 \
  F(property_value, char*, (rocksdb11::Db*, const char* name))                                                       \
  F(property_int, int, (rocksdb11::Db*, const char* name, std::uint64_t*))                                           \
  F(perfcontext_create, rocksdb11::PerfContext*, ())                                                                 \
  F(perfcontext_destroy, void, (rocksdb11::PerfContext*))                                                            \
  F(perfcontext_metric, std::uint64_t, (rocksdb11::PerfContext*, int metric))                                        \
  F(eventlistener_create, rocksdb11::Listener*,                                                                      \
    (void* state, void (*destroy)(void* state), rocksdb11::FlushEvent begin, rocksdb11::FlushEvent end,              \
     rocksdb11::CompactionEvent begin_compaction, rocksdb11::CompactionEvent end_compaction,                         \
     rocksdb11::SubcompactionEvent begin_part, rocksdb11::SubcompactionEvent end_part, rocksdb11::IngestionEvent,    \
     rocksdb11::ErrorEvent, rocksdb11::OtherEvent stall, rocksdb11::OtherEvent sealed))                              \
  F(flushjobinfo_file_path, const char*, (const rocksdb11::FlushInfo*, std::size_t* size))                           \
  F(flushjobinfo_blob_file_addition_infos_count, std::size_t, (const rocksdb11::FlushInfo*))                         \
  F(flushjobinfo_blob_file_addition_info_at, const rocksdb11::BlobFileInfo*,                                         \
    (const rocksdb11::FlushInfo*, std::size_t))                                                                      \
  F(compactionjobinfo_total_input_bytes, std::uint64_t, (const rocksdb11::CompactionInfo*))                          \
  F(compactionjobinfo_total_output_bytes, std::uint64_t, (const rocksdb11::CompactionInfo*))                         \
  F(compactionjobinfo_blob_file_addition_infos_count, std::size_t, (const rocksdb11::CompactionInfo*))               \
  F(compactionjobinfo_blob_file_addition_info_at, const rocksdb11::BlobFileInfo*,                                    \
    (const rocksdb11::CompactionInfo*, std::size_t))                                                                 \
  F(blob_file_addition_info_blob_file_path, const char*, (const rocksdb11::BlobFileInfo*, std::size_t* size))        \
  F(blob_file_addition_info_total_blob_bytes, std::uint64_t, (const rocksdb11::BlobFileInfo*))

struct RocksDb11Library {
#define CAMBIUM_DECLARE(name, result, parameters) result(*name##_) parameters = nullptr;
  CAMBIUM_ROCKSDB11_FUNCTIONS(CAMBIUM_DECLARE)
#undef CAMBIUM_DECLARE
  std::string version;  // "11.8.1"

  // Returns OK if there is no error. Frees the text.
  [[nodiscard]] Status Take(char* error) const;
};

// The environment variable that has the path of the library. If it is not set, the dynamic loader looks for the file
// name that the package uses for this processor.
inline constexpr const char* kRocksDb11Variable = "CAMBIUM_ROCKSDB11_LIBRARY";

// Loads the library at the first call, for the rest of the process. Returns "", or why it is refused: it cannot be
// loaded, lacks a function, or is older than RocksDB 11. Any thread.
[[nodiscard]] std::string RefuseRocksDb11();
// Only if it is not refused.
[[nodiscard]] const RocksDb11Library& RocksDb11();

// Loads the library at `path` into *library. The text is as above. For tests.
[[nodiscard]] std::string LoadRocksDb11(const char* path, RocksDb11Library* library);

}  // namespace cambium::bench
