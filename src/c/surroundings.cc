// Environment, loggers, rate limiters and write buffer managers.
#include "c/wrappers.h"
#include "io/test_directory.h"

using cambium::InfoLogLevel;
using cambium::Slice;
using cambium::c::CopyBytes;
using cambium::c::Guarded;

namespace {

class CallingLogger final : public cambium::Logger {
 public:
  using Logs = void (*)(void*, int, const char*, size_t);
  CallingLogger(int level, Logs log, void* state) : level_(level), log_(log), state_(state) {}
  void Log(InfoLogLevel level, Slice line) override {
    const int number = static_cast<int>(level);
    if (number >= level_) log_(state_, number, line.data(), line.size());
  }

 private:
  const int level_;
  const Logs log_;
  void* const state_;
};

}  // namespace

cambium_env_t* cambium_create_default_env() {
  return new cambium_env_t{cambium::FileSystem::Default(), cambium::Clock::Default()};
}
void cambium_env_destroy(cambium_env_t* env) { delete env; }
char* cambium_env_get_test_directory(cambium_env_t* env) {
  std::string directory;
  return cambium::MakeTestDirectory(*env->file_system, &directory).ok() ? CopyBytes(directory) : nullptr;
}

cambium_logger_t* cambium_logger_create_callback_logger(int level,
                                                        void (*log)(void* state, int level, const char* line,
                                                                    size_t length),
                                                        void* state) {
  return new cambium_logger_t{std::make_shared<CallingLogger>(level, log, state)};
}
cambium_logger_t* cambium_logger_create_null_logger() { return new cambium_logger_t{cambium::NullLogger()}; }
void cambium_logger_destroy(cambium_logger_t* logger) { delete logger; }

cambium_ratelimiter_t* cambium_ratelimiter_create(int64_t rate_bytes_per_sec, int64_t refill_period_us,
                                                  int32_t fairness) {
  return new cambium_ratelimiter_t{std::shared_ptr<cambium::RateLimiter>(
      cambium::NewGenericRateLimiter(rate_bytes_per_sec, refill_period_us, fairness))};
}
void cambium_ratelimiter_set_bytes_per_second(cambium_ratelimiter_t* limiter, int64_t bytes_per_second,
                                              char** errptr) {
  Guarded(errptr, [&] { return limiter->rep->SetBytesPerSecond(bytes_per_second); });
}
int64_t cambium_ratelimiter_get_bytes_per_second(const cambium_ratelimiter_t* limiter) {
  return limiter->rep->GetBytesPerSecond();
}
void cambium_ratelimiter_destroy(cambium_ratelimiter_t* limiter) { delete limiter; }

cambium_write_buffer_manager_t* cambium_write_buffer_manager_create(size_t buffer_size, unsigned char allow_stall) {
  return new cambium_write_buffer_manager_t{
      std::make_shared<cambium::WriteBufferManager>(buffer_size, allow_stall != 0)};
}
void cambium_write_buffer_manager_destroy(cambium_write_buffer_manager_t* manager) { delete manager; }
unsigned char cambium_write_buffer_manager_enabled(const cambium_write_buffer_manager_t* manager) {
  return cambium::c::Truth(manager->rep->enabled());
}
size_t cambium_write_buffer_manager_memory_usage(const cambium_write_buffer_manager_t* manager) {
  return manager->rep->memory_usage();
}
size_t cambium_write_buffer_manager_mutable_memtable_memory_usage(const cambium_write_buffer_manager_t* manager) {
  return manager->rep->mutable_memtable_memory_usage();
}
size_t cambium_write_buffer_manager_buffer_size(const cambium_write_buffer_manager_t* manager) {
  return manager->rep->buffer_size();
}
void cambium_write_buffer_manager_set_buffer_size(cambium_write_buffer_manager_t* manager, size_t new_size) {
  manager->rep->SetBufferSize(new_size);
}
void cambium_write_buffer_manager_set_allow_stall(cambium_write_buffer_manager_t* manager,
                                                  unsigned char new_allow_stall) {
  manager->rep->SetAllowStall(new_allow_stall != 0);
}
