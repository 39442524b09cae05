// DeepVerify: runs a deep VerifyDB on a database that is not open.
#pragma once

#include <string>
#include <vector>

#include "cambium/db.h"

namespace cambium::testing {

// Whether orphans are allowed: a crash may leave them, a clean close must not.
enum class Orphans { kAllowed, kForbidden };

namespace internal {

[[nodiscard]] inline std::string Verdict(const Status& verified, const VerifyReport& report, Orphans orphans) {
  if (!verified.ok()) return "verify: " + verified.ToString();
  if (!report.problems.empty()) return "verify: " + report.problems.front();
  if (!report.dead_damage.empty()) return "verify, damage in dead bytes: " + report.dead_damage.front();
  if (orphans == Orphans::kAllowed) return "";
  for (const std::string& note : report.notes) {
    if (note.find("orphan") != std::string::npos) return "after a clean close: " + note;
  }
  return "";
}

}  // namespace internal

// Reads every value. Returns "" if nothing is wrong, else the first problem.
[[nodiscard]] inline std::string DeepVerify(const std::string& path, const Options& options,
                                            Orphans orphans = Orphans::kAllowed) {
  VerifyReport report;
  const Status s = VerifyDB(path, options, {.deep = true}, &report);
  return internal::Verdict(s, report, orphans);
}

[[nodiscard]] inline std::string DeepVerify(const std::string& path, const DBOptions& options,
                                            const std::vector<ColumnFamilyDescriptor>& families,
                                            Orphans orphans = Orphans::kAllowed) {
  VerifyReport report;
  const Status s = VerifyDB(path, options, families, {.deep = true}, &report);
  return internal::Verdict(s, report, orphans);
}

}  // namespace cambium::testing
