// EngineRules: what must hold at every call of the file system, even without a crash. In addition to OrderChecker's
// rules:
//   - no MANIFEST record is written while something that it names, or the log below its replay position, is not durable
//   - no file is deleted while the durable MANIFEST names it
//   - no file is deleted between a failed sync, other than one without space, and the next Open
//   - what a MANIFEST record seals is never written again
#pragma once

#include <memory>
#include <string>

#include "io/sim/order_checker.h"
#include "io/sim/sim_file_system.h"

namespace cambium::testing {

// Returns true for the end of a failed sync, except of a temporary OPTIONS file: that holds no data, and is deleted if
// it cannot be synced.
[[nodiscard]] bool IsFailedSync(const SimOp& op);

// One thread. Watches the file system from construction to destruction.
class EngineRules {
 public:
  EngineRules(std::shared_ptr<SimFileSystem> fs, std::string directory);
  ~EngineRules();
  EngineRules(const EngineRules&) = delete;
  EngineRules& operator=(const EngineRules&) = delete;

  // Call it when a database is being opened: this forgets failed syncs, since recovery reads the device again.
  void OnOpen();
  // Call it when a sync is acknowledged. Returns "", or which log segment still has unsynced bytes.
  [[nodiscard]] std::string CheckSynced() const;
  // Returns the first violation, or "".
  [[nodiscard]] std::string violation() const;

 private:
  void See(const SimOp& op);
  void CheckManifest(const SimOp& op);
  [[nodiscard]] bool SurvivesEveryCut(const std::string& path, std::uint64_t length) const;
  [[nodiscard]] bool DurableManifestNames(const std::string& path) const;
  void Report(const SimOp& op, const std::string& what);

  const std::shared_ptr<SimFileSystem> fs_;
  const std::string directory_;
  std::unique_ptr<OrderChecker> checker_;
  int hook_ = 0;
  bool sync_failed_ = false;       // since the last Open, for a reason other than NoSpace
  bool sync_failed_ever_ = false;  // for any reason
  std::string violation_;
};

}  // namespace cambium::testing
