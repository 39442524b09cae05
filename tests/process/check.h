// What must hold of a database whose process has ended, whatever ended it.
#pragma once

#include <string>

#include "process/workload.h"

namespace cambium::testing {

// Verifies the files, which nobody has open, deeply: "" or what is wrong. After a clean close an orphan is wrong too.
[[nodiscard]] inline std::string VerifyFiles(const Plan& plan, bool after_clean_close) {
  VerifyReport report;
  const Status s = VerifyDB(plan.directory, WorkloadOptions(plan.size), {.deep = true}, &report);
  if (!s.ok()) return "verify: " + s.ToString();
  if (!report.problems.empty()) return "verify: " + report.problems.front();
  for (const std::string& note : report.notes) {
    if (after_clean_close && note.find("orphan") != std::string::npos) return "after a clean close: " + note;
  }
  return "";
}

// Verifies the files as they were left, then what a database made of them holds. With `recover` it is opened for
// writing, closed, and verified again; else it is only looked at, and the next process finds what this one found.
[[nodiscard]] inline std::string CheckDatabase(const Plan& plan, bool only_synced, bool recover, History* history) {
  if (history->was_open()) {
    const std::string left = VerifyFiles(plan, false);
    if (!left.empty()) return left;
  }
  recover = recover || !history->was_open();  // a reader creates nothing
  std::unique_ptr<DB> db;
  const Options options = WorkloadOptions(plan.size);
  Status s = recover ? DB::Open(options, plan.directory, &db) : DB::OpenForReadOnly(options, plan.directory, &db);
  if (!s.ok()) return "open: " + s.ToString();
  const std::string wrong = history->Check(db.get(), only_synced);
  if (!wrong.empty() || !recover) return wrong;
  s = db->Close();
  if (!s.ok()) return "close: " + s.ToString();
  return VerifyFiles(plan, true);
}

}  // namespace cambium::testing
