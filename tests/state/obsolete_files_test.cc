// ObsoleteFiles: which index files are removed, and when.
#include "state/obsolete_files.h"

#include <gtest/gtest.h>

#include "io/sim/sim_file_system.h"

namespace cambium::testing {
namespace {

// A tracked file, and how often it was reported as ready.
struct Tracking {
  explicit Tracking(bool is_named) : obsolete([this] { ++ready; }) {
    std::unique_ptr<File> made;
    EXPECT_TRUE(fs.Open("/7.idx", OpenMode::kCreateNew, {}, &made).ok());
    file = obsolete.Track(7, std::move(made), is_named);
  }
  SimFileSystem fs;
  int ready = 0;
  ObsoleteFiles obsolete;
  std::shared_ptr<File> file;
};

TEST(ObsoleteFilesTest, NamedFileIsNotRemoved) {
  Tracking tracking(/*is_named=*/true);
  EXPECT_FALSE(tracking.obsolete.IsObsolete(7));
  tracking.file.reset();
  EXPECT_EQ(tracking.ready, 0);
  EXPECT_TRUE(tracking.obsolete.Take().empty());
}

TEST(ObsoleteFilesTest, FileThatNoCommitNamesIsRemoved) {
  Tracking tracking(/*is_named=*/false);
  EXPECT_TRUE(tracking.obsolete.IsObsolete(7));
  tracking.file.reset();
  EXPECT_EQ(tracking.obsolete.Take(), std::list<std::string>{"/7.idx"});
  EXPECT_EQ(tracking.ready, 1);
}

TEST(ObsoleteFilesTest, KeptFileIsNotRemoved) {
  Tracking tracking(/*is_named=*/false);
  tracking.obsolete.Keep(7);
  EXPECT_FALSE(tracking.obsolete.IsObsolete(7));
  tracking.file.reset();
  EXPECT_TRUE(tracking.obsolete.Take().empty());
}

// A file counts as obsolete even while readers keep it: CheckInvariants looks for named files that are obsolete.
TEST(ObsoleteFilesTest, FileIsObsoleteFromMakeObsoleteOn) {
  Tracking tracking(/*is_named=*/true);
  tracking.obsolete.MakeObsolete(7);
  EXPECT_TRUE(tracking.obsolete.IsObsolete(7));
  EXPECT_TRUE(tracking.obsolete.Take().empty());
  tracking.file.reset();
  EXPECT_FALSE(tracking.obsolete.IsObsolete(7));
  EXPECT_EQ(tracking.obsolete.Take(), std::list<std::string>{"/7.idx"});
}

TEST(ObsoleteFilesTest, ClosedFileIsForgottenWhenItBecomesObsolete) {
  Tracking tracking(/*is_named=*/true);
  tracking.file.reset();
  tracking.obsolete.MakeObsolete(7);
  EXPECT_FALSE(tracking.obsolete.IsObsolete(7));
  EXPECT_TRUE(tracking.obsolete.Take().empty());
}

}  // namespace
}  // namespace cambium::testing
