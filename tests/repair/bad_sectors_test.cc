// Salvage of files of which one sector cannot be read: it costs what garbage in its place would cost, and no more.
#include "testing/bad_sectors.h"

#include <gtest/gtest.h>

#include <memory>

#include "io/sim/sim_file_system.h"
#include "repair/repair_store.h"
#include "testing/damage_subject.h"

namespace cambium::testing {
namespace {

// `bad`: what salvage reads; OUT is written to `fs`, through it.
Entries SalvageThrough(const std::shared_ptr<FileSystem>& bad, const std::shared_ptr<SimFileSystem>& fs, Told* told) {
  TestStore store(fs);
  UseSubjectOptions(&store.options);
  store.options.file_system = bad;
  const Status s = RepairTo(store, {{kDefaultColumnFamilyName, store.options}}, {}, told);
  EXPECT_TRUE(s.ok()) << s.ToString();
  store.options.file_system = fs;
  return s.ok() ? Read(store, kOutPath) : Entries();
}

TEST(BadSectors, CostWhatTheyHold) {
  const Subject subject = MakeSubject(7, End::kClean);
  std::uint64_t sectors = 0;
  std::uint64_t left = 0;
  for (const std::string& path : {subject.manifest, subject.open_log, subject.sealed_log, subject.run, subject.index,
                                  subject.large}) {
    std::string bytes;
    ASSERT_TRUE(SimFileSystem(subject.image).ReadFileForTest(path, &bytes).ok());
    for (std::uint64_t sector = 0; sector * kSectorBytes < bytes.size(); ++sector) {
      SCOPED_TRACE(path + ", sector " + std::to_string(sector));
      ++sectors;
      const auto damaged = std::make_shared<SimFileSystem>(subject.image);
      const std::uint64_t at = sector * kSectorBytes;
      const std::string garbage(std::min<std::uint64_t>(kSectorBytes, bytes.size() - at), 'x');
      ASSERT_TRUE(damaged->OverwriteForTest(path, at, garbage).ok());
      Told of_garbage;
      const Entries expected = SalvageThrough(damaged, damaged, &of_garbage);

      const auto fs = std::make_shared<SimFileSystem>(subject.image);
      Told told;
      EXPECT_EQ(SalvageThrough(std::make_shared<BadSectors>(fs, path, sector), fs, &told), expected);
      EXPECT_EQ(told.report.unproven, of_garbage.report.unproven);
      const std::string where = path + ":" + std::to_string(at) + ": cannot be read";
      EXPECT_EQ(std::ranges::count_if(told.lost, [&](const RepairLoss& loss) { return loss.what.starts_with(where); }), 1);
      left += expected.size();
    }
  }
  EXPECT_GE(sectors, 12u);
  EXPECT_GT(left, sectors * subject.model.size() / 2);
}

}  // namespace
}  // namespace cambium::testing
