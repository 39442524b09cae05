// CheckDatabase: what must hold for a database after its process has ended, in any way.
#pragma once

#include <string>

#include "process/workload.h"
#include "testing/deep_verify.h"

namespace cambium::testing {

// Verifies the files as they were left, then opens the database and checks its contents. With `recover` the database is
// opened for writing, closed, and verified again. Otherwise the database is opened for reading only, and the next
// process finds the same files.
[[nodiscard]] inline std::string CheckDatabase(const Plan& plan, bool only_synced, bool recover, History* history) {
  const Options options = WorkloadOptions(plan.size);
  if (history->was_open()) {
    const std::string left = DeepVerify(plan.directory, options);
    if (!left.empty()) return left;
  }
  recover = recover || !history->was_open();  // a reader creates nothing
  std::unique_ptr<DB> db;
  Status s = recover ? DB::Open(options, plan.directory, &db) : DB::OpenForReadOnly(options, plan.directory, &db);
  if (!s.ok()) return "open: " + s.ToString();
  const std::string wrong = history->Check(db.get(), only_synced);
  if (!wrong.empty() || !recover) return wrong;
  s = db->Close();
  if (!s.ok()) return "close: " + s.ToString();
  return DeepVerify(plan.directory, options, Orphans::kForbidden);
}

}  // namespace cambium::testing
