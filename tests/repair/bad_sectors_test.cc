// Tests salvage of files with one unreadable sector: the loss is the same as with garbage in place of the sector.
#include "testing/files/bad_sectors.h"

#include <gtest/gtest.h>

#include <memory>

#include "io/sim/sim_file_system.h"
#include "repair/repair_store.h"
#include "testing/damage_subject.h"

namespace cambium::testing {
namespace {

// Salvages through `bad`, which reads and writes `fs`.
Entries SalvageThrough(const std::shared_ptr<FileSystem>& bad, const std::shared_ptr<SimFileSystem>& fs,
                       Findings* findings) {
  TestStore store(fs);
  UseSubjectOptions(&store.options);
  store.options.file_system = bad;
  const Status s = RepairTo(store, {{kDefaultColumnFamilyName, store.options}}, {}, findings);
  EXPECT_TRUE(s.ok()) << s.ToString();
  store.options.file_system = fs;
  return s.ok() ? Read(store, kOutPath) : Entries();
}

TEST(BadSectorsTest, UnreadableSectorLosesOnlyItsContents) {
  const Subject subject = MakeSubject(7, End::kClean);
  std::uint64_t sectors = 0;
  std::uint64_t left = 0;
  for (const std::string& path : {subject.manifest, subject.open_log, subject.sealed_log, subject.run, subject.index,
                                  subject.large}) {
    std::string bytes;
    ASSERT_TRUE(SimFileSystem(subject.image).probe().ReadContents(path, &bytes).ok());
    for (std::uint64_t sector = 0; sector * kSectorBytes < bytes.size(); ++sector) {
      SCOPED_TRACE(path + ", sector " + std::to_string(sector));
      ++sectors;
      const auto damaged = std::make_shared<SimFileSystem>(subject.image);
      const std::uint64_t at = sector * kSectorBytes;
      const std::string garbage(std::min<std::uint64_t>(kSectorBytes, bytes.size() - at), 'x');
      ASSERT_TRUE(damaged->tampering().Overwrite(path, at, garbage).ok());
      Findings of_garbage;
      const Entries expected = SalvageThrough(damaged, damaged, &of_garbage);

      const auto fs = std::make_shared<SimFileSystem>(subject.image);
      Findings findings;
      EXPECT_EQ(SalvageThrough(std::make_shared<BadSectors>(fs, path, sector), fs, &findings), expected);
      EXPECT_EQ(findings.report.unproven, of_garbage.report.unproven);
      const std::string where = path + ":" + std::to_string(at) + ": cannot be read";
      const auto is_there = [&](const RepairLoss& loss) { return loss.what.starts_with(where); };
      EXPECT_EQ(std::ranges::count_if(findings.lost, is_there), 1);
      left += expected.size();
    }
  }
  EXPECT_GE(sectors, 12u);
  EXPECT_GT(left, sectors * subject.model.size() / 2);
}

}  // namespace
}  // namespace cambium::testing
