// Tests salvage by a process to which the system denies files, for example for lack of permission. The denied files may
// be whole, so the salvage ends with the error and leaves nothing.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "io/sim/sim_file_system.h"
#include "repair/repair_store.h"
#include "testing/damage_subject.h"
#include "testing/mutant_scope.h"

namespace cambium::testing {
namespace {

// Denies the n-th open, read or listing of the damaged database, and all later ones of the same kind and path, as a
// missing permission does. Returns whether the salvage came that far. Sets *wrong, unless it ended with the error and
// left nothing.
bool SalvageDenied(const SimImage& image, std::uint64_t nth, std::string* wrong) {
  const TestStore store(std::make_shared<SimFileSystem>(image));
  TestStore copy(store.fs);
  UseSubjectOptions(&copy.options);
  SimFault fault;
  std::uint64_t calls = 0;
  std::pair<SimOpKind, std::string> denied;
  fault.matches = [&](SimOpKind kind, const std::string& path) {
    const bool reads = kind == SimOpKind::kOpen || kind == SimOpKind::kRead || kind == SimOpKind::kList;
    if (!reads || !path.starts_with(kStorePath)) return false;
    if (++calls == nth) denied = {kind, path};
    return calls >= nth && denied == std::pair(kind, path);
  };
  fault.sticky = true;
  fault.status = Status::Denied("injected");
  copy.fs->AddFault(fault);
  Findings findings;
  const Status s = RepairTo(copy, {{kDefaultColumnFamilyName, copy.options}}, {}, &findings);
  if (copy.fs->fault_hits() == 0) return false;
  copy.fs->ClearFaults();
  const bool is_left = Exists(copy, kOutPath) || Exists(copy, std::string(kOutPath) + ".tmp") ||
                       Exists(copy, std::string(kOutPath) + ".tmp.mark");
  if (!s.IsDenied() || is_left) *wrong = "call " + std::to_string(nth) + ": " + s.ToString() + (is_left ? ", out" : "");
  return true;
}

// Returns the first thing that is wrong, or "".
std::string DenyEachCall(bool with_manifest) {
  const Subject subject = MakeSubject(7, End::kClean);
  const TestStore store(std::make_shared<SimFileSystem>(subject.image));
  if (!with_manifest) RemoveManifests(store);
  const SimImage image = store.fs->Snapshot();
  std::string wrong;
  std::uint64_t calls = 0;
  while (SalvageDenied(image, calls + 1, &wrong) && wrong.empty()) ++calls;
  return wrong.empty() && calls < 30 ? "only " + std::to_string(calls) + " calls" : wrong;
}

TEST(DeniedFilesTest, DeniedCallEndsTheSalvageAndLeavesNothing) {
  for (const bool with_manifest : {true, false}) EXPECT_EQ(DenyEachCall(with_manifest), "") << with_manifest;
  const MutantScope mutant(Mutant::kDeniedIsLoss);
  EXPECT_NE(DenyEachCall(true), "");
}

// An error of the device is what salvage is for: the rest is salvaged, and the loss is listed.
TEST(DeniedFilesTest, ErrorOfTheDeviceIsALoss) {
  const Subject subject = MakeSubject(7, End::kClean);
  TestStore store(std::make_shared<SimFileSystem>(subject.image));
  UseSubjectOptions(&store.options);
  SimFault fault;
  fault.matches = [&](SimOpKind kind, const std::string& path) {
    return kind == SimOpKind::kOpen && path == subject.sealed_log;
  };
  fault.sticky = true;
  store.fs->AddFault(fault);
  Findings findings;
  const Status s = RepairTo(store, {{kDefaultColumnFamilyName, store.options}}, {}, &findings);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_FALSE(findings.lost.empty());
  EXPECT_FALSE(Read(store, kOutPath).empty());
}

}  // namespace
}  // namespace cambium::testing
