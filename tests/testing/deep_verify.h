// What VerifyDB says of a directory that nobody has open.
#pragma once

#include <string>
#include <vector>

#include "cambium/db.h"

namespace cambium::testing {

// Files that nobody names: what a crash may leave, and a clean close may not.
enum class Orphans { kMayBe, kAreWrong };

namespace internal {

[[nodiscard]] inline std::string Verdict(const Status& verified, const VerifyReport& report, Orphans orphans) {
  if (!verified.ok()) return "verify: " + verified.ToString();
  if (!report.problems.empty()) return "verify: " + report.problems.front();
  if (!report.dead_damage.empty()) return "verify, of what nobody needs: " + report.dead_damage.front();
  if (orphans == Orphans::kMayBe) return "";
  for (const std::string& note : report.notes) {
    if (note.find("orphan") != std::string::npos) return "after a clean close: " + note;
  }
  return "";
}

}  // namespace internal

// Every value is read. "" if nothing is wrong.
[[nodiscard]] inline std::string DeepVerify(const std::string& path, const Options& options,
                                            Orphans orphans = Orphans::kMayBe) {
  VerifyReport report;
  const Status s = VerifyDB(path, options, {.deep = true}, &report);
  return internal::Verdict(s, report, orphans);
}

[[nodiscard]] inline std::string DeepVerify(const std::string& path, const DBOptions& options,
                                            const std::vector<ColumnFamilyDescriptor>& families,
                                            Orphans orphans = Orphans::kMayBe) {
  VerifyReport report;
  const Status s = VerifyDB(path, options, families, {.deep = true}, &report);
  return internal::Verdict(s, report, orphans);
}

}  // namespace cambium::testing
