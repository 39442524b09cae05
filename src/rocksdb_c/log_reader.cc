// This version does not give the log as a stream of updates: a call that asks for it fails, and says so.
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;

struct rocksdb_wal_iterator_t {};
struct rocksdb_wal_readoptions_t {
  CAMBIUM_ROCKSDB_WAL_READOPTIONS(CAMBIUM_ROCKSDB_MEMBER, wal_readoptions)
};
struct rocksdb_wal_files_t {};
struct rocksdb_wal_file_t {};
struct rocksdb_walfilter_t {};

namespace {

constexpr const char* kLogReader = "updates of the log";

}  // namespace

extern "C" {

CAMBIUM_ROCKSDB_WAL_READOPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, wal_readoptions)

rocksdb_wal_iterator_t* rocksdb_get_updates_since(rocksdb_t* /*db*/, uint64_t /*seq_number*/,
                                                  const rocksdb_wal_readoptions_t* /*options*/, char** errptr) {
  return Lack(errptr, kLogReader);
}
rocksdb_wal_files_t* rocksdb_get_sorted_wal_files(rocksdb_t* /*db*/, char** errptr) { return Lack(errptr, kLogReader); }
rocksdb_wal_file_t* rocksdb_get_current_wal_file(rocksdb_t* /*db*/, char** errptr) { return Lack(errptr, kLogReader); }
void rocksdb_wal_iter_next(rocksdb_wal_iterator_t* /*iter*/) {}
unsigned char rocksdb_wal_iter_valid(const rocksdb_wal_iterator_t*) { return 0; }
void rocksdb_wal_iter_status(const rocksdb_wal_iterator_t* /*iter*/, char** errptr) { Lack(errptr, kLogReader); }
rocksdb_writebatch_t* rocksdb_wal_iter_get_batch(const rocksdb_wal_iterator_t* /*iter*/, uint64_t* /*seq*/) {
  return nullptr;
}
void rocksdb_wal_iter_destroy(const rocksdb_wal_iterator_t* iter) { delete iter; }
rocksdb_wal_readoptions_t* rocksdb_wal_readoptions_create() { return new rocksdb_wal_readoptions_t{}; }
void rocksdb_wal_readoptions_destroy(rocksdb_wal_readoptions_t* options) { delete options; }
const char* rocksdb_wal_file_path_name(const rocksdb_wal_file_t* /*file*/) { return nullptr; }
uint64_t rocksdb_wal_file_log_number(const rocksdb_wal_file_t* /*file*/) { return 0; }
int rocksdb_wal_file_type(const rocksdb_wal_file_t* /*file*/) { return 0; }
uint64_t rocksdb_wal_file_start_sequence(const rocksdb_wal_file_t* /*file*/) { return 0; }
uint64_t rocksdb_wal_file_size_file_bytes(const rocksdb_wal_file_t* /*file*/) { return 0; }
void rocksdb_wal_file_destroy(rocksdb_wal_file_t* file) { delete file; }
size_t rocksdb_wal_files_count(const rocksdb_wal_files_t* /*files*/) { return 0; }
const rocksdb_wal_file_t* rocksdb_wal_files_get_wal_file(const rocksdb_wal_files_t* /*files*/, size_t /*index*/) {
  return nullptr;
}
void rocksdb_wal_files_destroy(rocksdb_wal_files_t* files) { delete files; }
rocksdb_walfilter_t* rocksdb_walfilter_create(
    void* /*state*/, void (* /*destructor*/)(void*),
    rocksdb_walfilter_column_family_log_number_map_cb /*column_family_log_number_map*/,
    rocksdb_walfilter_log_record_found_cb /*log_record_found*/, const char* (* /*name*/)(void*)) {
  return new rocksdb_walfilter_t{};
}
void rocksdb_walfilter_destroy(rocksdb_walfilter_t* object) { delete object; }

}  // extern "C"
