// This version cannot write table files apart and ingest them, and does not list the files of a database. The calls
// fail and say so, or return nothing.
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;

struct rocksdb_export_import_files_metadata_t {};
struct rocksdb_import_column_family_options_t {
  CAMBIUM_ROCKSDB_IMPORT_COLUMN_FAMILY_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, import_column_family_options)
};
struct rocksdb_livefiles_t {};
struct rocksdb_sstfilewriter_t {};
struct rocksdb_ingestexternalfileoptions_t {
  CAMBIUM_ROCKSDB_INGESTEXTERNALFILEOPTIONS(CAMBIUM_ROCKSDB_MEMBER, ingestexternalfileoptions)
};
struct rocksdb_livefiles_storage_info_options_t {
  CAMBIUM_ROCKSDB_LIVEFILES_STORAGE_INFO_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, livefiles_storage_info_options)
};
struct rocksdb_livefiles_storage_info_t {};
struct rocksdb_livefile_t {};
struct rocksdb_level_metadata_t {};
struct rocksdb_sst_file_metadata_t {};

namespace {

constexpr const char* kTableFiles = "ingestion of table files";

}  // namespace

extern "C" {

CAMBIUM_ROCKSDB_IMPORT_COLUMN_FAMILY_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, import_column_family_options)
CAMBIUM_ROCKSDB_INGESTEXTERNALFILEOPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, ingestexternalfileoptions)
CAMBIUM_ROCKSDB_LIVEFILES_STORAGE_INFO_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, livefiles_storage_info_options)

rocksdb_export_import_files_metadata_t* rocksdb_checkpoint_export_column_family(
    rocksdb_checkpoint_t* /*checkpoint*/, rocksdb_column_family_handle_t* /*column_family*/, const char* /*export_dir*/,
    char** errptr) {
  return Lack(errptr, kTableFiles);
}
rocksdb_column_family_handle_t* rocksdb_create_column_family_with_import(
    rocksdb_t* /*db*/, rocksdb_options_t* /*column_family_options*/, const char* /*column_family_name*/,
    rocksdb_import_column_family_options_t* /*import_options*/, rocksdb_export_import_files_metadata_t* /*metadata*/,
    char** errptr) {
  return Lack(errptr, kTableFiles);
}
const rocksdb_livefiles_t* rocksdb_livefiles(rocksdb_t* /*db*/) { return nullptr; }
rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create(const rocksdb_envoptions_t* /*env*/,
                                                      const rocksdb_options_t* /*io_options*/) {
  return new rocksdb_sstfilewriter_t{};
}
rocksdb_sstfilewriter_t* rocksdb_sstfilewriter_create_with_comparator(const rocksdb_envoptions_t* /*env*/,
                                                                      const rocksdb_options_t* /*io_options*/,
                                                                      const rocksdb_comparator_t* /*comparator*/) {
  return new rocksdb_sstfilewriter_t{};
}
void rocksdb_sstfilewriter_open(rocksdb_sstfilewriter_t* /*writer*/, const char* /*name*/, char** errptr) {
  Lack(errptr, kTableFiles);
}
void rocksdb_sstfilewriter_add(rocksdb_sstfilewriter_t* /*writer*/, const char* /*key*/, size_t /*keylen*/,
                               const char* /*val*/, size_t /*vallen*/, char** errptr) {
  Lack(errptr, kTableFiles);
}
void rocksdb_sstfilewriter_put(rocksdb_sstfilewriter_t* /*writer*/, const char* /*key*/, size_t /*keylen*/,
                               const char* /*val*/, size_t /*vallen*/, char** errptr) {
  Lack(errptr, kTableFiles);
}
void rocksdb_sstfilewriter_put_with_ts(rocksdb_sstfilewriter_t* /*writer*/, const char* /*key*/, size_t /*keylen*/,
                                       const char* /*ts*/, size_t /*tslen*/, const char* /*val*/, size_t /*vallen*/,
                                       char** errptr) {
  Lack(errptr, kTableFiles);
}
void rocksdb_sstfilewriter_merge(rocksdb_sstfilewriter_t* /*writer*/, const char* /*key*/, size_t /*keylen*/,
                                 const char* /*val*/, size_t /*vallen*/, char** errptr) {
  Lack(errptr, kTableFiles);
}
void rocksdb_sstfilewriter_delete(rocksdb_sstfilewriter_t* /*writer*/, const char* /*key*/, size_t /*keylen*/,
                                  char** errptr) {
  Lack(errptr, kTableFiles);
}
void rocksdb_sstfilewriter_delete_with_ts(rocksdb_sstfilewriter_t* /*writer*/, const char* /*key*/, size_t /*keylen*/,
                                          const char* /*ts*/, size_t /*tslen*/, char** errptr) {
  Lack(errptr, kTableFiles);
}
void rocksdb_sstfilewriter_delete_range(rocksdb_sstfilewriter_t* /*writer*/, const char* /*begin_key*/,
                                        size_t /*begin_keylen*/, const char* /*end_key*/, size_t /*end_keylen*/,
                                        char** errptr) {
  Lack(errptr, kTableFiles);
}
void rocksdb_sstfilewriter_finish(rocksdb_sstfilewriter_t* /*writer*/, char** errptr) { Lack(errptr, kTableFiles); }
void rocksdb_sstfilewriter_file_size(rocksdb_sstfilewriter_t* /*writer*/, uint64_t* /*file_size*/) {}
void rocksdb_sstfilewriter_destroy(rocksdb_sstfilewriter_t* writer) { delete writer; }
rocksdb_ingestexternalfileoptions_t* rocksdb_ingestexternalfileoptions_create() {
  return new rocksdb_ingestexternalfileoptions_t{};
}
void rocksdb_ingestexternalfileoptions_destroy(rocksdb_ingestexternalfileoptions_t* opt) { delete opt; }
void rocksdb_ingest_external_file(rocksdb_t* /*db*/, const char* const* /*file_list*/, const size_t /*list_len*/,
                                  const rocksdb_ingestexternalfileoptions_t* /*opt*/, char** errptr) {
  Lack(errptr, kTableFiles);
}
void rocksdb_ingest_external_file_cf(rocksdb_t* /*db*/, rocksdb_column_family_handle_t* /*handle*/,
                                     const char* const* /*file_list*/, const size_t /*list_len*/,
                                     const rocksdb_ingestexternalfileoptions_t* /*opt*/, char** errptr) {
  Lack(errptr, kTableFiles);
}
rocksdb_livefiles_t* rocksdb_livefiles_create() { return new rocksdb_livefiles_t{}; }
int rocksdb_livefiles_count(const rocksdb_livefiles_t*) { return 0; }
const char* rocksdb_livefiles_column_family_name(const rocksdb_livefiles_t*, int /*index*/) { return nullptr; }
const char* rocksdb_livefiles_name(const rocksdb_livefiles_t*, int /*index*/) { return nullptr; }
const char* rocksdb_livefiles_directory(const rocksdb_livefiles_t*, int /*index*/) { return nullptr; }
int rocksdb_livefiles_level(const rocksdb_livefiles_t*, int /*index*/) { return 0; }
size_t rocksdb_livefiles_size(const rocksdb_livefiles_t*, int /*index*/) { return 0; }
const char* rocksdb_livefiles_smallestkey(const rocksdb_livefiles_t*, int /*index*/, size_t* size) {
  *size = 0;
  return nullptr;
}
const char* rocksdb_livefiles_largestkey(const rocksdb_livefiles_t*, int /*index*/, size_t* size) {
  *size = 0;
  return nullptr;
}
uint64_t rocksdb_livefiles_smallest_seqno(const rocksdb_livefiles_t*, int /*index*/) { return 0; }
uint64_t rocksdb_livefiles_largest_seqno(const rocksdb_livefiles_t*, int /*index*/) { return 0; }
uint64_t rocksdb_livefiles_entries(const rocksdb_livefiles_t*, int /*index*/) { return 0; }
uint64_t rocksdb_livefiles_deletions(const rocksdb_livefiles_t*, int /*index*/) { return 0; }
void rocksdb_livefiles_destroy(const rocksdb_livefiles_t* object) { delete object; }
rocksdb_livefiles_storage_info_options_t* rocksdb_livefiles_storage_info_options_create() {
  return new rocksdb_livefiles_storage_info_options_t{};
}
void rocksdb_livefiles_storage_info_options_destroy(rocksdb_livefiles_storage_info_options_t* options) {
  delete options;
}
rocksdb_livefiles_storage_info_t* rocksdb_get_livefiles_storage_info(
    rocksdb_t* /*db*/, const rocksdb_livefiles_storage_info_options_t* /*options*/, char** errptr) {
  return Lack(errptr, kTableFiles);
}
size_t rocksdb_livefiles_storage_info_count(const rocksdb_livefiles_storage_info_t* /*info*/) { return 0; }
const char* rocksdb_livefiles_storage_info_relative_filename(const rocksdb_livefiles_storage_info_t* /*info*/,
                                                             size_t /*index*/) {
  return nullptr;
}
const char* rocksdb_livefiles_storage_info_directory(const rocksdb_livefiles_storage_info_t* /*info*/,
                                                     size_t /*index*/) {
  return nullptr;
}
uint64_t rocksdb_livefiles_storage_info_file_number(const rocksdb_livefiles_storage_info_t* /*info*/,
                                                    size_t /*index*/) {
  return 0;
}
int rocksdb_livefiles_storage_info_file_type(const rocksdb_livefiles_storage_info_t* /*info*/, size_t /*index*/) {
  return 0;
}
uint64_t rocksdb_livefiles_storage_info_size(const rocksdb_livefiles_storage_info_t* /*info*/, size_t /*index*/) {
  return 0;
}
int rocksdb_livefiles_storage_info_temperature(const rocksdb_livefiles_storage_info_t* /*info*/, size_t /*index*/) {
  return 0;
}
const char* rocksdb_livefiles_storage_info_file_checksum(const rocksdb_livefiles_storage_info_t* /*info*/,
                                                         size_t /*index*/) {
  return nullptr;
}
const char* rocksdb_livefiles_storage_info_file_checksum_func_name(const rocksdb_livefiles_storage_info_t* /*info*/,
                                                                   size_t /*index*/) {
  return nullptr;
}
const char* rocksdb_livefiles_storage_info_replacement_contents(const rocksdb_livefiles_storage_info_t* /*info*/,
                                                                size_t /*index*/, size_t* size) {
  *size = 0;
  return nullptr;
}
unsigned char rocksdb_livefiles_storage_info_trim_to_size(const rocksdb_livefiles_storage_info_t* /*info*/,
                                                          size_t /*index*/) {
  return 0;
}
void rocksdb_livefiles_storage_info_destroy(rocksdb_livefiles_storage_info_t* info) { delete info; }
rocksdb_livefile_t* rocksdb_livefile_create() { return new rocksdb_livefile_t{}; }
void rocksdb_livefile_set_column_family_name(rocksdb_livefile_t*, const char*) {}
void rocksdb_livefile_set_level(rocksdb_livefile_t*, int) {}
void rocksdb_livefile_set_name(rocksdb_livefile_t*, const char*) {}
void rocksdb_livefile_set_directory(rocksdb_livefile_t*, const char*) {}
void rocksdb_livefile_set_size(rocksdb_livefile_t*, size_t) {}
void rocksdb_livefile_set_smallest_key(rocksdb_livefile_t*, const char*, size_t) {}
void rocksdb_livefile_set_largest_key(rocksdb_livefile_t*, const char*, size_t) {}
void rocksdb_livefile_set_smallest_seqno(rocksdb_livefile_t*, uint64_t) {}
void rocksdb_livefile_set_largest_seqno(rocksdb_livefile_t*, uint64_t) {}
void rocksdb_livefile_set_num_entries(rocksdb_livefile_t*, uint64_t) {}
void rocksdb_livefile_set_num_deletions(rocksdb_livefile_t*, uint64_t) {}
void rocksdb_livefile_destroy(rocksdb_livefile_t* object) { delete object; }
void rocksdb_livefiles_add(rocksdb_livefiles_t*, rocksdb_livefile_t*) {}
rocksdb_import_column_family_options_t* rocksdb_import_column_family_options_create() {
  return new rocksdb_import_column_family_options_t{};
}
void rocksdb_import_column_family_options_destroy(rocksdb_import_column_family_options_t* object) { delete object; }
rocksdb_export_import_files_metadata_t* rocksdb_export_import_files_metadata_create() {
  return new rocksdb_export_import_files_metadata_t{};
}
char* rocksdb_export_import_files_metadata_get_db_comparator_name(rocksdb_export_import_files_metadata_t*) {
  return nullptr;
}
void rocksdb_export_import_files_metadata_set_db_comparator_name(rocksdb_export_import_files_metadata_t*, const char*) {
}
rocksdb_livefiles_t* rocksdb_export_import_files_metadata_get_files(rocksdb_export_import_files_metadata_t*) {
  return nullptr;
}
void rocksdb_export_import_files_metadata_set_files(rocksdb_export_import_files_metadata_t*, rocksdb_livefiles_t*) {}
void rocksdb_export_import_files_metadata_destroy(rocksdb_export_import_files_metadata_t* object) { delete object; }
rocksdb_level_metadata_t* rocksdb_column_family_metadata_get_level_metadata(
    rocksdb_column_family_metadata_t* /*cf_meta*/, size_t /*i*/) {
  return nullptr;
}
void rocksdb_level_metadata_destroy(rocksdb_level_metadata_t* level_meta) { delete level_meta; }
int rocksdb_level_metadata_get_level(rocksdb_level_metadata_t* /*level_meta*/) { return 0; }
uint64_t rocksdb_level_metadata_get_size(rocksdb_level_metadata_t* /*level_meta*/) { return 0; }
size_t rocksdb_level_metadata_get_file_count(rocksdb_level_metadata_t* /*level_meta*/) { return 0; }
rocksdb_sst_file_metadata_t* rocksdb_level_metadata_get_sst_file_metadata(rocksdb_level_metadata_t* /*level_meta*/,
                                                                          size_t /*i*/) {
  return nullptr;
}
void rocksdb_sst_file_metadata_destroy(rocksdb_sst_file_metadata_t* file_meta) { delete file_meta; }
char* rocksdb_sst_file_metadata_get_relative_filename(rocksdb_sst_file_metadata_t* /*file_meta*/) { return nullptr; }
char* rocksdb_sst_file_metadata_get_directory(rocksdb_sst_file_metadata_t* /*file_meta*/) { return nullptr; }
uint64_t rocksdb_sst_file_metadata_get_size(rocksdb_sst_file_metadata_t* /*file_meta*/) { return 0; }
char* rocksdb_sst_file_metadata_get_smallestkey(rocksdb_sst_file_metadata_t* /*file_meta*/, size_t* len) {
  *len = 0;
  return nullptr;
}
char* rocksdb_sst_file_metadata_get_largestkey(rocksdb_sst_file_metadata_t* /*file_meta*/, size_t* len) {
  *len = 0;
  return nullptr;
}

}  // extern "C"
