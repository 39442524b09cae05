// Options of databases, families and calls.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "napi.h"

namespace cambium_node {

// How the keys of a family are ordered.
enum class Order : unsigned char { kBytewise = 0, kReverseBytewise = 1, kFunction = 2 };

// Options of a database or of a family, with what they borrow. Databases that are opened with them hold this object
// until they are closed.
class Options {
 public:
  // From the object that lib/options.js makes.
  Options(napi_env env, napi_value spec);
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  ~Options();

  [[nodiscard]] const cambium_options_t* get() const { return options_; }
  [[nodiscard]] Order order() const { return order_; }
  [[nodiscard]] bool has_filter() const { return has_filter_; }

 private:
  cambium_options_t* options_;
  Order order_ = Order::kBytewise;
  bool has_filter_ = false;
  std::vector<std::shared_ptr<void>> borrowed_;  // comparators, filters, loggers
};

// Families by name, each with its options.
struct NamedOptions {
  // From an array of [name, spec].
  NamedOptions(napi_env env, napi_value list);
  std::vector<std::string> names;
  std::vector<std::shared_ptr<Options>> options;
  // As C takes them.
  [[nodiscard]] int count() const { return static_cast<int>(names.size()); }
  std::vector<const char*> c_names;
  std::vector<const cambium_options_t*> c_options;
};

// The bits of options of reads and writes, as in lib/flags.js.
enum ReadFlags : std::uint32_t {
  kSkipChecksums = 1,
  kSkipCache = 2,
  kNoAsyncIo = 4,
  kDurableOnly = 8,
  kPinMappedValues = 16,
  kKeysOnly = 32,
};
enum WriteFlags : std::uint32_t { kSync = 1, kNoSlowdown = 2, kDisableWal = 4, kAllWriteFlags = 8 };

class ReadOptions {
 public:
  explicit ReadOptions(std::uint32_t flags = 0, const cambium_snapshot_t* snapshot = nullptr);
  ReadOptions(const ReadOptions&) = delete;
  ReadOptions& operator=(const ReadOptions&) = delete;
  ~ReadOptions() { cambium_readoptions_destroy(options_); }
  [[nodiscard]] cambium_readoptions_t* get() const { return options_; }

 private:
  cambium_readoptions_t* options_;
};

class WriteOptions {
 public:
  explicit WriteOptions(std::uint32_t flags = 0);
  WriteOptions(const WriteOptions&) = delete;
  WriteOptions& operator=(const WriteOptions&) = delete;
  ~WriteOptions() { cambium_writeoptions_destroy(options_); }
  [[nodiscard]] const cambium_writeoptions_t* get() const { return options_; }

 private:
  cambium_writeoptions_t* options_;
};

// A limit on background writes, and one on the memory of memtables, which several databases may share.
struct RateLimiter {
  static constexpr std::uint32_t kKind = 0x72617465;
  RateLimiter(std::int64_t rate, std::int64_t period, std::int32_t fairness)
      : limiter(cambium_ratelimiter_create(rate, period, fairness)) {}
  RateLimiter(const RateLimiter&) = delete;
  RateLimiter& operator=(const RateLimiter&) = delete;
  ~RateLimiter() { cambium_ratelimiter_destroy(limiter); }
  cambium_ratelimiter_t* limiter;
};
struct WriteBufferManager {
  static constexpr std::uint32_t kKind = 0x77626d67;
  WriteBufferManager(std::size_t size, bool allow_stall)
      : manager(cambium_write_buffer_manager_create(size, allow_stall ? 1 : 0)) {}
  WriteBufferManager(const WriteBufferManager&) = delete;
  WriteBufferManager& operator=(const WriteBufferManager&) = delete;
  ~WriteBufferManager() { cambium_write_buffer_manager_destroy(manager); }
  cambium_write_buffer_manager_t* manager;
};

void ExportLimits(napi_env env, napi_value exports);

}  // namespace cambium_node
