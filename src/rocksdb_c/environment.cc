// Environment, loggers, rate limiters, write buffer managers and file managers.
#include <iostream>
#include <string_view>

#include "rocksdb_c/objects.h"

using namespace cambium::rocks;
using cambium::InfoLogLevel;
using cambium::Slice;

struct rocksdb_envoptions_t {
  CAMBIUM_ROCKSDB_ENVOPTIONS(CAMBIUM_ROCKSDB_MEMBER, envoptions)
};
struct rocksdb_dbpath_t {
  std::string path;
};
struct rocksdb_sst_file_manager_t {
  std::int64_t delete_rate = 0;
  double max_trash_db_ratio = 0.25;
};
struct rocksdb_file_checksum_gen_factory_t {};
struct rocksdb_sst_partitioner_factory_t {};
struct rocksdb_table_properties_collector_factory_t {};

namespace {

class CallingLogger final : public cambium::Logger {
 public:
  using Logs = void (*)(void*, unsigned, char*, size_t);
  CallingLogger(int level, Logs log, void* state) : level_(level), log_(log), state_(state) {}
  void Log(InfoLogLevel level, Slice line) override {
    const int number = static_cast<int>(level);
    if (number < level_) return;
    std::string text = line.ToString();
    log_(state_, static_cast<unsigned>(number), text.data(), text.size());
  }

 private:
  const int level_;
  const Logs log_;
  void* const state_;
};

class ErrorLogger final : public cambium::Logger {
 public:
  ErrorLogger(int level, const char* prefix) : level_(level), prefix_(prefix == nullptr ? "" : prefix) {}
  void Log(InfoLogLevel level, Slice line) override {
    if (static_cast<int>(level) < level_) return;
    std::cerr << prefix_ + line.ToString() + "\n";
  }

 private:
  const int level_;
  const std::string prefix_;
};

// As in RocksDB, a fairness above 100 means 100.
rocksdb_ratelimiter_t* NewLimiter(int64_t rate, int64_t period, int32_t fairness) {
  return new rocksdb_ratelimiter_t{std::shared_ptr<cambium::RateLimiter>(
      cambium::NewGenericRateLimiter(rate, period, std::clamp(fairness, int32_t{1}, int32_t{100})))};
}

}  // namespace

extern "C" {

// ---- Environment ----

rocksdb_env_t* rocksdb_create_default_env() { return new rocksdb_env_t; }
rocksdb_env_t* rocksdb_create_mem_env() { return new rocksdb_env_t{.is_in_memory = true}; }
void rocksdb_env_destroy(rocksdb_env_t* env) { delete env; }

// Databases have threads of their own (max_background_jobs).
#define CAMBIUM_ROCKSDB_THREADS(name, member)                                             \
  void rocksdb_env_set_##name(rocksdb_env_t* env, int threads) { env->member = threads; } \
  int rocksdb_env_get_##name(rocksdb_env_t* env) { return env->member; }
CAMBIUM_ROCKSDB_THREADS(background_threads, threads)
CAMBIUM_ROCKSDB_THREADS(high_priority_background_threads, threads_high)
CAMBIUM_ROCKSDB_THREADS(low_priority_background_threads, threads_low)
CAMBIUM_ROCKSDB_THREADS(bottom_priority_background_threads, threads_bottom)
#undef CAMBIUM_ROCKSDB_THREADS
void rocksdb_env_join_all_threads(rocksdb_env_t* /*env*/) {}
void rocksdb_env_lower_thread_pool_io_priority(rocksdb_env_t* /*env*/) {}
void rocksdb_env_lower_high_priority_thread_pool_io_priority(rocksdb_env_t* /*env*/) {}
void rocksdb_env_lower_thread_pool_cpu_priority(rocksdb_env_t* /*env*/) {}
void rocksdb_env_lower_high_priority_thread_pool_cpu_priority(rocksdb_env_t* /*env*/) {}
void rocksdb_create_dir_if_missing(rocksdb_env_t* /*env*/, const char* path, char** errptr) {
  Guarded(errptr, [&] { return cambium::FileSystem::Default()->CreateDirectory(path); });
}

rocksdb_envoptions_t* rocksdb_envoptions_create() { return new rocksdb_envoptions_t; }
void rocksdb_envoptions_destroy(rocksdb_envoptions_t* options) { delete options; }
CAMBIUM_ROCKSDB_ENVOPTIONS(CAMBIUM_ROCKSDB_ACCESSORS, envoptions)
void rocksdb_envoptions_set_rate_limiter(rocksdb_envoptions_t* /*options*/, rocksdb_ratelimiter_t* /*limiter*/) {}

rocksdb_dbpath_t* rocksdb_dbpath_create(const char* path, uint64_t /*target_size*/) {
  return new rocksdb_dbpath_t{path};
}
void rocksdb_dbpath_destroy(rocksdb_dbpath_t* path) { delete path; }
void rocksdb_options_set_db_paths(rocksdb_options_t* options, const rocksdb_dbpath_t** paths, size_t count) {
  options->paths.clear();
  for (size_t i = 0; i < count; ++i) options->paths.push_back(paths[i]->path);
}
void rocksdb_options_set_cf_paths(rocksdb_options_t* options, const rocksdb_dbpath_t** paths, size_t count) {
  for (size_t i = 0; i < count; ++i) options->paths.push_back(paths[i]->path);
}

// ---- Loggers ----

rocksdb_logger_t* rocksdb_logger_create_stderr_logger(int level, const char* prefix) {
  return new rocksdb_logger_t{std::make_shared<ErrorLogger>(level, prefix)};
}
rocksdb_logger_t* rocksdb_logger_create_callback_logger(int level, void (*log)(void*, unsigned, char*, size_t),
                                                        void* state) {
  return new rocksdb_logger_t{std::make_shared<CallingLogger>(level, log, state)};
}
void rocksdb_logger_destroy(rocksdb_logger_t* logger) { delete logger; }

// ---- Rate limiters ----

rocksdb_ratelimiter_t* rocksdb_ratelimiter_create(int64_t rate, int64_t refill_period_us, int32_t fairness) {
  return NewLimiter(rate, refill_period_us, fairness);
}
// The limiter always has this rate, the highest that RocksDB's would choose.
rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_auto_tuned(int64_t rate, int64_t refill_period_us, int32_t fairness) {
  return NewLimiter(rate, refill_period_us, fairness);
}
rocksdb_ratelimiter_t* rocksdb_ratelimiter_create_with_mode(int64_t rate, int64_t refill_period_us, int32_t fairness,
                                                            int /*mode*/, bool /*auto_tuned*/) {
  return NewLimiter(rate, refill_period_us, fairness);
}
void rocksdb_ratelimiter_destroy(rocksdb_ratelimiter_t* limiter) { delete limiter; }

// ---- Write buffer managers ----

rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create(size_t buffer_size, bool allow_stall) {
  return new rocksdb_write_buffer_manager_t{std::make_shared<cambium::WriteBufferManager>(buffer_size, allow_stall)};
}
rocksdb_write_buffer_manager_t* rocksdb_write_buffer_manager_create_with_cache(size_t buffer_size,
                                                                               const rocksdb_cache_t* cache,
                                                                               bool allow_stall) {
  return new rocksdb_write_buffer_manager_t{std::make_shared<cambium::WriteBufferManager>(buffer_size, allow_stall),
                                            cache != nullptr};
}
void rocksdb_write_buffer_manager_destroy(rocksdb_write_buffer_manager_t* manager) { delete manager; }
bool rocksdb_write_buffer_manager_enabled(rocksdb_write_buffer_manager_t* manager) { return manager->rep->enabled(); }
bool rocksdb_write_buffer_manager_cost_to_cache(rocksdb_write_buffer_manager_t* manager) {
  return manager->costs_cache;
}
size_t rocksdb_write_buffer_manager_memory_usage(rocksdb_write_buffer_manager_t* manager) {
  return manager->rep->memory_usage();
}
size_t rocksdb_write_buffer_manager_mutable_memtable_memory_usage(rocksdb_write_buffer_manager_t* manager) {
  return manager->rep->mutable_memtable_memory_usage();
}
size_t rocksdb_write_buffer_manager_dummy_entries_in_cache_usage(rocksdb_write_buffer_manager_t* /*manager*/) {
  return 0;
}
size_t rocksdb_write_buffer_manager_buffer_size(rocksdb_write_buffer_manager_t* manager) {
  return manager->rep->buffer_size();
}
void rocksdb_write_buffer_manager_set_buffer_size(rocksdb_write_buffer_manager_t* manager, size_t bytes) {
  manager->rep->SetBufferSize(bytes);
}
void rocksdb_write_buffer_manager_set_allow_stall(rocksdb_write_buffer_manager_t* manager, bool allow_stall) {
  manager->rep->SetAllowStall(allow_stall);
}

// ---- Objects for RocksDB's files, without an effect ----

rocksdb_sst_file_manager_t* rocksdb_sst_file_manager_create(rocksdb_env_t* /*env*/) {
  return new rocksdb_sst_file_manager_t;
}
void rocksdb_sst_file_manager_destroy(rocksdb_sst_file_manager_t* manager) { delete manager; }
void rocksdb_sst_file_manager_set_max_allowed_space_usage(rocksdb_sst_file_manager_t* /*manager*/, uint64_t /*bytes*/) {
}
void rocksdb_sst_file_manager_set_compaction_buffer_size(rocksdb_sst_file_manager_t* /*manager*/, uint64_t /*bytes*/) {}
bool rocksdb_sst_file_manager_is_max_allowed_space_reached(rocksdb_sst_file_manager_t* /*manager*/) { return false; }
bool rocksdb_sst_file_manager_is_max_allowed_space_reached_including_compactions(
    rocksdb_sst_file_manager_t* /*manager*/) {
  return false;
}
uint64_t rocksdb_sst_file_manager_get_total_size(rocksdb_sst_file_manager_t* /*manager*/) { return 0; }
int64_t rocksdb_sst_file_manager_get_delete_rate_bytes_per_second(rocksdb_sst_file_manager_t* manager) {
  return manager->delete_rate;
}
void rocksdb_sst_file_manager_set_delete_rate_bytes_per_second(rocksdb_sst_file_manager_t* manager, int64_t rate) {
  manager->delete_rate = rate;
}
double rocksdb_sst_file_manager_get_max_trash_db_ratio(rocksdb_sst_file_manager_t* manager) {
  return manager->max_trash_db_ratio;
}
void rocksdb_sst_file_manager_set_max_trash_db_ratio(rocksdb_sst_file_manager_t* manager, double ratio) {
  manager->max_trash_db_ratio = ratio;
}
uint64_t rocksdb_sst_file_manager_get_total_trash_size(rocksdb_sst_file_manager_t* /*manager*/) { return 0; }

rocksdb_file_checksum_gen_factory_t* rocksdb_file_checksum_gen_crc32c_factory_create() {
  return new rocksdb_file_checksum_gen_factory_t;
}
void rocksdb_file_checksum_gen_factory_destroy(rocksdb_file_checksum_gen_factory_t* factory) { delete factory; }
rocksdb_sst_partitioner_factory_t* rocksdb_sst_partitioner_fixed_prefix_factory_create(size_t /*length*/) {
  return new rocksdb_sst_partitioner_factory_t;
}
void rocksdb_sst_partitioner_factory_destroy(rocksdb_sst_partitioner_factory_t* factory) { delete factory; }
void rocksdb_table_properties_collector_factory_destroy(rocksdb_table_properties_collector_factory_t* factory) {
  delete factory;
}

}  // extern "C"
