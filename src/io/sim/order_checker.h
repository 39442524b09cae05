// OrderChecker: watches the calls of a run and reports those that are wrong even without a crash. The idea is SQLite's:
// a rule about order can be asserted at the call that breaks it; a power cut would show the error only by chance.
//
// It always reports:
//   - a write, truncation or allocation below a sealed length (Seal); punching a hole there is allowed
//   - any change of a file that has a second name
//   - a second name for a file with unsynced data
//   - a write, sync or other change of a file whose sync has failed; unlinking it is allowed
//   - two writes to the same bytes at the same time
// With a predicate from a test that knows the engine, it also reports:
//   - unlinking a file that the durable MANIFEST names, or renaming over it (ForbidUnlink)
//   - any other violation: a rule (AddRule) sees every mutating operation before it happens, and may ask the file
//     system whether it is allowed yet, for example with IsFullyDurable()
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/sim/sim_file_system.h"
#include "util/mutex.h"

namespace cambium {

// Any thread may call any function. The file system must outlive the checker.
class OrderChecker {
 public:
  explicit OrderChecker(SimFileSystem* file_system);
  ~OrderChecker();
  OrderChecker(const OrderChecker&) = delete;
  OrderChecker& operator=(const OrderChecker&) = delete;

  // From now on the first `length` bytes of this file must not change, even after a rename.
  void Seal(const std::string& path, std::uint64_t length);
  // A file must not be unlinked, renamed or replaced by a rename while `is_needed` returns true for its path. It is
  // called before each such operation.
  void ForbidUnlink(std::function<bool(const std::string&)> is_needed);
  // Adds a rule, which returns what is wrong, or nullopt. It runs before each operation, without a lock held.
  void AddRule(std::function<std::optional<std::string>(const SimOp&)> rule);
  // Calls `callback` with each violation, e.g. to stop where it happens.
  void OnViolation(std::function<void(const std::string&)> callback);

  // Returns the violations in order, e.g. "operation 12: write /db/3.log:4096+100: below the sealed length 8192".
  [[nodiscard]] std::vector<std::string> violations() const;

 private:
  struct Range {
    std::uint64_t operation;
    SimInodeId inode;
    std::uint64_t begin;
    std::uint64_t end;
  };

  void See(const SimOp& op);
  void CheckBefore(const SimOp& op);
  void CheckChange(const SimOp& op);
  void CheckName(const SimOp& op);
  void Report(const SimOp& op, const std::string& what);

  SimFileSystem* const file_system_;
  int hook_ = 0;
  mutable Mutex mutex_;  // not held while calling the file system or a callback
  std::map<SimInodeId, std::uint64_t> sealed_ CAMBIUM_GUARDED_BY(mutex_);
  std::set<SimInodeId> sync_failed_ CAMBIUM_GUARDED_BY(mutex_);
  std::vector<Range> writing_ CAMBIUM_GUARDED_BY(mutex_);
  std::vector<std::function<bool(const std::string&)>> is_needed_ CAMBIUM_GUARDED_BY(mutex_);
  std::vector<std::function<std::optional<std::string>(const SimOp&)>> rules_ CAMBIUM_GUARDED_BY(mutex_);
  std::function<void(const std::string&)> callback_ CAMBIUM_GUARDED_BY(mutex_);
  std::vector<std::string> violations_ CAMBIUM_GUARDED_BY(mutex_);
};

}  // namespace cambium
