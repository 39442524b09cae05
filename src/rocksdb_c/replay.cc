// RocksDB's trace files are not in this version: the calls fail, and say so. (A database can record a trace of its own
// format; see cambium/trace.h.)
#include "rocksdb_c/objects.h"

using namespace cambium::rocks;

struct rocksdb_trace_reader_t {};
struct rocksdb_replay_options_t {
  CAMBIUM_ROCKSDB_REPLAY_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, replay_options)
};
struct rocksdb_replayer_t {};
struct rocksdb_block_cache_trace_options_t {
  CAMBIUM_ROCKSDB_BLOCK_CACHE_TRACE_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, block_cache_trace_options)
};
struct rocksdb_block_cache_trace_writer_options_t {
  CAMBIUM_ROCKSDB_BLOCK_CACHE_TRACE_WRITER_OPTIONS(CAMBIUM_ROCKSDB_MEMBER, block_cache_trace_writer_options)
};

namespace {

constexpr const char* kReplay = "replay of traces";

}  // namespace

extern "C" {

CAMBIUM_ROCKSDB_BLOCK_CACHE_TRACE_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, block_cache_trace_options)
CAMBIUM_ROCKSDB_BLOCK_CACHE_TRACE_WRITER_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, block_cache_trace_writer_options)
CAMBIUM_ROCKSDB_REPLAY_OPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, replay_options)

rocksdb_trace_reader_t* rocksdb_trace_reader_create(rocksdb_env_t* /*env*/, const rocksdb_envoptions_t* /*env_options*/,
                                                    const char* /*trace_path*/, char** errptr) {
  return Lack(errptr, kReplay);
}
char* rocksdb_trace_reader_read(rocksdb_trace_reader_t* /*reader*/, size_t* /*size*/, char** errptr) {
  return Lack(errptr, kReplay);
}
void rocksdb_trace_reader_reset(rocksdb_trace_reader_t* /*reader*/, char** errptr) { Lack(errptr, kReplay); }
void rocksdb_trace_reader_close(rocksdb_trace_reader_t* /*reader*/, char** errptr) { Lack(errptr, kReplay); }
void rocksdb_trace_reader_destroy(rocksdb_trace_reader_t* reader) { delete reader; }
rocksdb_replay_options_t* rocksdb_replay_options_create() { return new rocksdb_replay_options_t{}; }
void rocksdb_replay_options_destroy(rocksdb_replay_options_t* options) { delete options; }
rocksdb_replayer_t* rocksdb_new_default_replayer(rocksdb_t* /*db*/,
                                                 rocksdb_column_family_handle_t** /*column_families*/,
                                                 size_t /*num_column_families*/, rocksdb_env_t* /*env*/,
                                                 const rocksdb_envoptions_t* /*env_options*/,
                                                 const char* /*trace_path*/, char** errptr) {
  return Lack(errptr, kReplay);
}
void rocksdb_replayer_prepare(rocksdb_replayer_t* /*replayer*/, char** errptr) { Lack(errptr, kReplay); }
uint64_t rocksdb_replayer_get_header_timestamp(const rocksdb_replayer_t* /*replayer*/) { return 0; }
void rocksdb_replayer_replay(rocksdb_replayer_t* /*replayer*/, const rocksdb_replay_options_t* /*options*/,
                             char** errptr) {
  Lack(errptr, kReplay);
}
void rocksdb_replayer_destroy(rocksdb_replayer_t* replayer) { delete replayer; }
rocksdb_block_cache_trace_options_t* rocksdb_block_cache_trace_options_create() {
  return new rocksdb_block_cache_trace_options_t{};
}
void rocksdb_block_cache_trace_options_destroy(rocksdb_block_cache_trace_options_t* options) { delete options; }
rocksdb_block_cache_trace_writer_options_t* rocksdb_block_cache_trace_writer_options_create() {
  return new rocksdb_block_cache_trace_writer_options_t{};
}
void rocksdb_block_cache_trace_writer_options_destroy(rocksdb_block_cache_trace_writer_options_t* options) {
  delete options;
}
void rocksdb_start_trace(rocksdb_t* /*db*/, rocksdb_env_t* /*env*/, const rocksdb_envoptions_t* /*env_options*/,
                         const rocksdb_trace_options_t* /*options*/, const char* /*trace_path*/, char** errptr) {
  Lack(errptr, kReplay);
}
void rocksdb_end_trace(rocksdb_t* /*db*/, char** errptr) { Lack(errptr, kReplay); }
void rocksdb_start_io_trace(rocksdb_t* /*db*/, rocksdb_env_t* /*env*/, const rocksdb_envoptions_t* /*env_options*/,
                            const rocksdb_trace_options_t* /*options*/, const char* /*trace_path*/, char** errptr) {
  Lack(errptr, kReplay);
}
void rocksdb_end_io_trace(rocksdb_t* /*db*/, char** errptr) { Lack(errptr, kReplay); }
void rocksdb_start_block_cache_trace(rocksdb_t* /*db*/, rocksdb_env_t* /*env*/,
                                     const rocksdb_envoptions_t* /*env_options*/,
                                     const rocksdb_trace_options_t* /*options*/, const char* /*trace_path*/,
                                     char** errptr) {
  Lack(errptr, kReplay);
}
void rocksdb_start_block_cache_trace_with_options(rocksdb_t* /*db*/, rocksdb_env_t* /*env*/,
                                                  const rocksdb_envoptions_t* /*env_options*/,
                                                  const rocksdb_block_cache_trace_options_t* /*options*/,
                                                  const rocksdb_block_cache_trace_writer_options_t* /*writer_options*/,
                                                  const char* /*trace_path*/, char** errptr) {
  Lack(errptr, kReplay);
}
void rocksdb_end_block_cache_trace(rocksdb_t* /*db*/, char** errptr) { Lack(errptr, kReplay); }

}  // extern "C"
