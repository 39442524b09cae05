// An open database of the process, which the environments of several threads may share.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "napi.h"
#include "options.h"

namespace cambium_node {

class Core;

// Options of a database whose transactions lock their keys.
class LockOptions {
 public:
  // max_num_locks, num_stripes, and two times in milliseconds. A negative number is no limit; num_stripes is not.
  explicit LockOptions(const std::int64_t (&numbers)[4]);
  LockOptions(const LockOptions&) = delete;
  LockOptions& operator=(const LockOptions&) = delete;
  ~LockOptions() { cambium_transactiondb_options_destroy(options_); }
  [[nodiscard]] const cambium_transactiondb_options_t* get() const { return options_; }

 private:
  cambium_transactiondb_options_t* options_;
};

// An open column family. The core destroys the handles of all families before it closes the database.
class Family {
 public:
  Family(std::shared_ptr<Core> core, cambium_column_family_handle_t* handle, Order order);
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  ~Family();

  // Valid while the database is open.
  [[nodiscard]] cambium_column_family_handle_t* handle() const { return handle_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint32_t id() const { return id_; }
  [[nodiscard]] Order order() const { return order_; }

 private:
  friend class Core;
  std::shared_ptr<Core> core_;
  cambium_column_family_handle_t* handle_;  // null: destroyed
  std::string name_;
  std::uint32_t id_;
  Order order_;
};

// Any thread may use it. Each environment that has the database counts as one user; the last one closes it.
class Core : public std::enable_shared_from_this<Core> {
 public:
  // Opens. `families` may be null: only the default one. So may `locks`: transactions lock nothing. On an error returns
  // null and sets *error.
  static std::shared_ptr<Core> Open(const std::string& path, bool is_read_only, std::shared_ptr<Options> options,
                                    std::shared_ptr<NamedOptions> families, std::shared_ptr<LockOptions> locks,
                                    Error* error);
  // One more user of the open database with this number; null if there is none. Throws if JavaScript compares its keys.
  static std::shared_ptr<Core> Attach(std::uint64_t number);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  ~Core() = default;

  // One user less. The last one closes; then all its calls, iterators and snapshots must be gone.
  void Leave(Error* error);

  [[nodiscard]] cambium_t* db() const { return db_; }
  // The same database; null: its transactions lock nothing.
  [[nodiscard]] cambium_transactiondb_t* transaction_db() const { return transaction_db_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] bool is_read_only() const { return is_read_only_; }
  [[nodiscard]] bool has_comparator() const { return has_comparator_.load(); }
  // Whether it has had more than one user.
  [[nodiscard]] bool was_shared() const { return was_shared_.load(); }
  [[nodiscard]] bool has_filter() const { return has_filter_.load(); }
  [[nodiscard]] const Options& options() const { return *options_; }

  [[nodiscard]] std::shared_ptr<Family> DefaultFamily() const;
  [[nodiscard]] std::vector<std::shared_ptr<Family>> Families() const;
  std::shared_ptr<Family> CreateFamily(const std::string& name, std::shared_ptr<Options> options, Error* error);
  void DropFamily(const std::shared_ptr<Family>& family, Error* error);

 private:
  friend class Family;
  Core(std::string path, bool is_read_only, std::shared_ptr<Options> options);

  void Keep(const std::shared_ptr<Options>& options);
  void Add(const std::string& name, cambium_column_family_handle_t* handle, Order order);
  void Close(Error* error);

  const std::string path_;
  const bool is_read_only_;
  const std::shared_ptr<Options> options_;
  cambium_t* db_ = nullptr;
  cambium_transactiondb_t* transaction_db_ = nullptr;
  std::uint64_t number_ = 0;
  std::uint32_t users_ = 1;  // guarded by the registry's mutex
  std::atomic<bool> was_shared_ = false;
  std::atomic<bool> has_comparator_ = false;
  std::atomic<bool> has_filter_ = false;

  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Options>> kept_;              // the families refer to their callbacks
  std::map<std::string, std::shared_ptr<Family>> by_name_;  // not the dropped ones
  std::unordered_set<Family*> all_;                         // the dropped ones too
};

}  // namespace cambium_node
