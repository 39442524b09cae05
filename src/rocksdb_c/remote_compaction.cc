// Compactions in another process are not in this version: they are done here, and calls of the other process fail.
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;

struct rocksdb_compaction_options_t {
  CAMBIUM_ROCKSDB_COMPACTION_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, compaction_options)
};
struct rocksdb_compactionservice_scheduleresponse_t {};
struct rocksdb_compactionservice_t {};
struct rocksdb_compaction_service_options_override_t {};
struct rocksdb_open_and_compact_options_t {
  CAMBIUM_ROCKSDB_OPEN_AND_COMPACT_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, open_and_compact_options)
};

namespace {

constexpr const char* kRemoteCompaction = "compactions in another process";

}  // namespace

extern "C" {

CAMBIUM_ROCKSDB_COMPACTION_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, compaction_options)
CAMBIUM_ROCKSDB_OPEN_AND_COMPACT_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, open_and_compact_options)

rocksdb_compaction_options_t* rocksdb_compaction_options_create() { return new rocksdb_compaction_options_t{}; }
void rocksdb_compaction_options_destroy(rocksdb_compaction_options_t* object) { delete object; }
unsigned char* rocksdb_compaction_options_canceled_create() { return nullptr; }
void rocksdb_compaction_options_canceled_destroy(unsigned char* /*canceled*/) {}
void rocksdb_compaction_options_canceled_set(unsigned char* /*canceled*/, unsigned char /*value*/) {}
void rocksdb_compaction_options_set_canceled(rocksdb_compaction_options_t* /*options*/, unsigned char* /*canceled*/) {}
rocksdb_compactionservice_scheduleresponse_t* rocksdb_compactionservice_scheduleresponse_create(
    const char* /*scheduled_job_id*/, int /*status*/, char** errptr) {
  return Lack(errptr, kRemoteCompaction);
}
rocksdb_compactionservice_scheduleresponse_t* rocksdb_compactionservice_scheduleresponse_create_with_status(
    int /*status*/, char** errptr) {
  return Lack(errptr, kRemoteCompaction);
}
int rocksdb_compactionservice_scheduleresponse_getstatus(
    const rocksdb_compactionservice_scheduleresponse_t* /*response*/) {
  return 0;
}
const char* rocksdb_compactionservice_scheduleresponse_get_scheduled_job_id(
    const rocksdb_compactionservice_scheduleresponse_t* /*response*/, size_t* len) {
  *len = 0;
  return nullptr;
}
void rocksdb_compactionservice_scheduleresponse_t_destroy(rocksdb_compactionservice_scheduleresponse_t* response) {
  delete response;
}
const char* rocksdb_compactionservice_jobinfo_t_get_db_name(const rocksdb_compactionservice_jobinfo_t* /*info*/,
                                                            size_t* len) {
  *len = 0;
  return nullptr;
}
const char* rocksdb_compactionservice_jobinfo_t_get_db_id(const rocksdb_compactionservice_jobinfo_t* /*info*/,
                                                          size_t* len) {
  *len = 0;
  return nullptr;
}
const char* rocksdb_compactionservice_jobinfo_t_get_db_session_id(const rocksdb_compactionservice_jobinfo_t* /*info*/,
                                                                  size_t* len) {
  *len = 0;
  return nullptr;
}
const char* rocksdb_compactionservice_jobinfo_t_get_cf_name(const rocksdb_compactionservice_jobinfo_t* /*info*/,
                                                            size_t* len) {
  *len = 0;
  return nullptr;
}
uint32_t rocksdb_compactionservice_jobinfo_t_get_cf_id(const rocksdb_compactionservice_jobinfo_t* /*info*/) {
  return 0;
}
uint64_t rocksdb_compactionservice_jobinfo_t_get_job_id(const rocksdb_compactionservice_jobinfo_t* /*info*/) {
  return 0;
}
int rocksdb_compactionservice_jobinfo_t_get_priority(const rocksdb_compactionservice_jobinfo_t* /*info*/) { return 0; }
int rocksdb_compactionservice_jobinfo_t_get_compaction_reason(const rocksdb_compactionservice_jobinfo_t* /*info*/) {
  return 0;
}
int rocksdb_compactionservice_jobinfo_t_get_base_input_level(const rocksdb_compactionservice_jobinfo_t* /*info*/) {
  return 0;
}
int rocksdb_compactionservice_jobinfo_t_get_output_level(const rocksdb_compactionservice_jobinfo_t* /*info*/) {
  return 0;
}
unsigned char rocksdb_compactionservice_jobinfo_t_is_full_compaction(
    const rocksdb_compactionservice_jobinfo_t* /*info*/) {
  return 0;
}
unsigned char rocksdb_compactionservice_jobinfo_t_is_manual_compaction(
    const rocksdb_compactionservice_jobinfo_t* /*info*/) {
  return 0;
}
unsigned char rocksdb_compactionservice_jobinfo_t_is_bottommost_level(
    const rocksdb_compactionservice_jobinfo_t* /*info*/) {
  return 0;
}
rocksdb_compactionservice_t* rocksdb_compactionservice_create(
    void* /*state*/, void (* /*destructor*/)(void*), rocksdb_compaction_service_schedule_cb /*schedule*/,
    const char* /*name*/, rocksdb_compaction_service_wait_cb /*wait*/,
    rocksdb_compaction_service_cancel_awaiting_jobs_cb /*cancel_awaiting_jobs*/,
    rocksdb_compaction_service_on_installation_cb /*on_installation*/) {
  return new rocksdb_compactionservice_t{};
}
rocksdb_compaction_service_options_override_t* rocksdb_compaction_service_options_override_create() {
  return new rocksdb_compaction_service_options_override_t{};
}
rocksdb_compaction_service_options_override_t* rocksdb_compaction_service_options_override_create_from_options(
    rocksdb_options_t* /*option*/) {
  return new rocksdb_compaction_service_options_override_t{};
}
void rocksdb_compaction_service_options_override_destroy(
    rocksdb_compaction_service_options_override_t* override_options) {
  delete override_options;
}
void rocksdb_compaction_service_options_override_set_env(
    rocksdb_compaction_service_options_override_t* /*override_options*/, rocksdb_env_t* /*env*/) {}
void rocksdb_compaction_service_options_override_set_comparator(
    rocksdb_compaction_service_options_override_t* /*override_options*/, rocksdb_comparator_t* /*comparator*/) {}
void rocksdb_compaction_service_options_override_set_merge_operator(
    rocksdb_compaction_service_options_override_t* /*override_options*/, rocksdb_mergeoperator_t* /*merge_operator*/) {}
void rocksdb_compaction_service_options_override_set_compaction_filter(
    rocksdb_compaction_service_options_override_t* /*override_options*/,
    rocksdb_compactionfilter_t* /*compaction_filter*/) {}
void rocksdb_compaction_service_options_override_set_compaction_filter_factory(
    rocksdb_compaction_service_options_override_t* /*override_options*/,
    rocksdb_compactionfilterfactory_t* /*compaction_filter_factory*/) {}
void rocksdb_compaction_service_options_override_set_prefix_extractor(
    rocksdb_compaction_service_options_override_t* /*override_options*/,
    rocksdb_slicetransform_t* /*prefix_extractor*/) {}
void rocksdb_compaction_service_options_override_set_block_based_table_factory(
    rocksdb_compaction_service_options_override_t* /*override_options*/,
    rocksdb_block_based_table_options_t* /*table_options*/) {}
void rocksdb_compaction_service_options_override_set_cuckoo_table_factory(
    rocksdb_compaction_service_options_override_t* /*override_options*/,
    rocksdb_cuckoo_table_options_t* /*table_options*/) {}
void rocksdb_compaction_service_options_override_add_event_listener(
    rocksdb_compaction_service_options_override_t* /*override_options*/, rocksdb_eventlistener_t* /*event_listener*/) {}
void rocksdb_compaction_service_options_override_set_statistics(
    rocksdb_compaction_service_options_override_t* /*override_options*/, rocksdb_options_t* /*options*/) {}
void rocksdb_compaction_service_options_override_set_info_log(
    rocksdb_compaction_service_options_override_t* /*override_options*/, rocksdb_logger_t* /*logger*/) {}
void rocksdb_compaction_service_options_override_set_option(
    rocksdb_compaction_service_options_override_t* /*override_options*/, const char* /*key*/, const char* /*value*/) {}
void rocksdb_compaction_service_options_override_set_file_checksum_gen_factory(
    rocksdb_compaction_service_options_override_t* /*override_options*/,
    rocksdb_file_checksum_gen_factory_t* /*factory*/) {}
void rocksdb_compaction_service_options_override_set_sst_partitioner_factory(
    rocksdb_compaction_service_options_override_t* /*override_options*/,
    rocksdb_sst_partitioner_factory_t* /*factory*/) {}
void rocksdb_compaction_service_options_override_add_table_properties_collector_factory(
    rocksdb_compaction_service_options_override_t* /*override_options*/,
    rocksdb_table_properties_collector_factory_t* /*factory*/) {}
unsigned char* rocksdb_open_and_compact_canceled_create() { return nullptr; }
void rocksdb_open_and_compact_canceled_destroy(unsigned char* /*canceled*/) {}
void rocksdb_open_and_compact_canceled_set(unsigned char* /*canceled*/, unsigned char /*value*/) {}
rocksdb_open_and_compact_options_t* rocksdb_open_and_compact_options_create() {
  return new rocksdb_open_and_compact_options_t{};
}
void rocksdb_open_and_compact_options_destroy(rocksdb_open_and_compact_options_t* options) { delete options; }
void rocksdb_open_and_compact_options_set_canceled(rocksdb_open_and_compact_options_t* /*options*/,
                                                   unsigned char* /*canceled*/) {}
char* rocksdb_open_and_compact(const char* /*db_path*/, const char* /*output_directory*/, const char* /*input*/,
                               size_t /*input_len*/, size_t* /*output_len*/,
                               const rocksdb_compaction_service_options_override_t* /*override_options*/,
                               char** errptr) {
  return Lack(errptr, kRemoteCompaction);
}
char* rocksdb_open_and_compact_with_options(const rocksdb_open_and_compact_options_t* /*options*/,
                                            const char* /*db_path*/, const char* /*output_directory*/,
                                            const char* /*input*/, size_t /*input_len*/, size_t* /*output_len*/,
                                            const rocksdb_compaction_service_options_override_t* /*override_options*/,
                                            char** errptr) {
  return Lack(errptr, kRemoteCompaction);
}

}  // extern "C"
