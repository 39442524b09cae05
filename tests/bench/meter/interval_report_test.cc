// Speed over time as CSV: its contents, and the message if the file cannot be written.
#include "meter/interval_report.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "testing/temp_directory.h"

namespace cambium::bench {
namespace {

class IntervalReportTest : public ::testing::Test {
 protected:
  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  const testing::TempDirectory directory_;
  const std::string path_ = directory_.File("report.csv");
};

TEST_F(IntervalReportTest, WritesOneHeadAndALinePerInterval) {
  for (const char* what : {"map,fillseq,0", "map,readseq,0"}) {
    IntervalReport report(path_, 2, what);
    report.Look(1, 100);
    report.Look(2, 300);
    report.Look(3, 350);
    report.Look(6, 700);
  }
  const std::string lines[] = {",2,150\n", ",6,100\n"};
  EXPECT_EQ(Read(path_), "engine,benchmark,round,secs_elapsed,interval_qps\n"
                         "map,fillseq,0" + lines[0] + "map,fillseq,0" + lines[1] +
                         "map,readseq,0" + lines[0] + "map,readseq,0" + lines[1]);
}

TEST_F(IntervalReportTest, NoFileWithoutAnInterval) {
  IntervalReport report(path_, 0, "map,fillseq,0");
  report.Look(5, 100);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

// Regression: a report that could not be written was left out without a message.
TEST_F(IntervalReportTest, UnwritableFileIsReported) {
  EXPECT_TRUE(IntervalReport::CheckFile(path_).ok());
  const std::string nowhere = directory_.File("no/such/report.csv");
  const Status status = IntervalReport::CheckFile(nowhere);
  EXPECT_TRUE(status.IsIOError());
  EXPECT_NE(status.ToString().find("cannot write " + nowhere), std::string::npos) << status.ToString();
  ::testing::internal::CaptureStderr();
  { IntervalReport report(nowhere, 1, "map,fillseq,0"); }
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("cannot write " + nowhere), std::string::npos);
}

TEST_F(IntervalReportTest, FullDiskIsReported) {
  if (!std::filesystem::exists("/dev/full")) {
    GTEST_SKIP() << "SKIPPED: this system has no /dev/full, the device whose writes all fail with ENOSPC; a full disk would need "
                    "a file system of its own";
  }
  ::testing::internal::CaptureStderr();
  {
    IntervalReport report("/dev/full", 1, "map,fillseq,0");
    report.Look(1, 100);
  }
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("cannot write /dev/full"), std::string::npos);
}

}  // namespace
}  // namespace cambium::bench
