// Salvages a whole directory. If that succeeds, the new database must have no problems.
#include "cambium/repair.h"
#include "fuzz/directory.h"

namespace cambium::fuzz {
namespace {

constexpr const char* kOut = "/out";

void Salvage(const GoldenFiles& files, bool include_unproven) {
  const Directory directory(files);
  Contents before;
  bool is_readable = false;
  {
    OpenDatabase reading;
    const Directory copy(directory.fs->Snapshot());
    is_readable = directory.VerifiesClean(kDirectory) && OpenAll(copy, kDirectory, OpenFor::kReading, &reading).ok() &&
                  ReadEverything(reading, true, &before).ok();
  }
  std::uint64_t lost = 0;
  std::uint64_t unproven = 0;
  RepairOptions how;
  how.include_unproven = include_unproven;
  how.on_lost = [&](const RepairLoss& loss) {
    Promise(!loss.what.empty(), "a loss without a reason");
    ++lost;
  };
  how.on_unproven = [&](const RepairUnproven&) { ++unproven; };
  RepairReport report;
  const Status s = RepairDB(kDirectory, kOut, directory.options, {}, how, &report);
  if (s.IsNotSupported()) return PromiseDamage(s, kDirectory, "salvaging");  // also in records that are dead
  if (!s.ok()) {
    Promise(!is_readable, "a database without a problem cannot be salvaged: " + s.ToString());
    return PromiseDamage(s, kDirectory, "salvaging");
  }
  Promise(report.lost == lost && report.unproven == unproven, "a report counts other findings than were reported");
  Promise(directory.VerifiesClean(kOut), "a salvaged database has problems");

  // The families of the new database are in its own MANIFEST.
  std::vector<std::string> names;
  Promise(DB::ListColumnFamilies(directory.options, kOut, &names).ok(), "a salvaged database has no list of families");
  if (!is_readable || !report.IsClean()) return;
  OpenDatabase salvaged;
  const Status opened = OpenAll(directory, kOut, OpenFor::kReading, &salvaged);
  Promise(opened.ok(), "a salvaged database cannot be opened: " + opened.ToString());
  Contents after;
  const Status read = ReadEverything(salvaged, true, &after);
  Promise(read.ok() && after == before, "a salvage without losses has other contents");
}

void FuzzSalvage(Slice input) {
  const GoldenFiles files = testing::UnpackGolden(input.ToString());
  if (files.empty()) return;
  Salvage(files, false);
  Salvage(files, true);
}

void AddSalvageSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  if (!files.contains("golden.trace")) seeds->push_back(testing::PackGolden(files));
}

}  // namespace

const Target kSalvageTarget = {"salvage", true, FuzzSalvage, AddSalvageSeeds};

}  // namespace cambium::fuzz
