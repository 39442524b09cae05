// EngineRules: what must be true at every call of the file system, crash or no crash. On top of what OrderChecker knows:
//   - no MANIFEST record while something that it names, or the log below its replay position, is not durable
//   - no file goes that the MANIFEST which a cut would leave us with names
//   - no file goes at all after a failed sync, until the next opening
//   - what a MANIFEST record seals is never written again
#pragma once

#include <memory>
#include <string>

#include "io/sim/order_checker.h"
#include "io/sim/sim_file_system.h"

namespace cambium::testing {

// The end of a sync that failed, of anything that matters: an OPTIONS file that is being written is nobody's data, and
// goes if it cannot be synced.
[[nodiscard]] bool IsFailedSync(const SimOp& op);

// One thread. Watches the file system from construction to destruction.
class EngineRules {
 public:
  EngineRules(std::shared_ptr<SimFileSystem> fs, std::string directory);
  ~EngineRules();
  EngineRules(const EngineRules&) = delete;
  EngineRules& operator=(const EngineRules&) = delete;

  // A database is being opened: failed syncs are history, it looks at the device anew.
  void OnOpen();
  // At the moment a sync is acknowledged: "" or which log segment still has unsynced bytes.
  [[nodiscard]] std::string CheckSynced() const;
  // The first violation, or "".
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
  bool sync_failed_ = false;       // in this opening
  bool sync_failed_ever_ = false;  // for whatever reason
  std::string violation_;
};

}  // namespace cambium::testing
