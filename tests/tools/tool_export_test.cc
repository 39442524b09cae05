// export: what it writes to, and what happens to an existing file.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "tool.h"

namespace cambium::testing {
namespace {

namespace fs = std::filesystem;

class ToolExportTest : public ToolTest {
 protected:
  void SetUp() override {
    const std::unique_ptr<DB> db = Open();
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(db->Put({}, "key" + std::to_string(i), std::string(100, 'v')).ok());
    ASSERT_TRUE(db->Close().ok());
    fs::create_directory(Folder());
    expected_ = RunTool("export " + Path() + " -", "2>/dev/null").output;
    ASSERT_NE(expected_.find("\"entries\":100"), std::string::npos);
  }
  // A directory for the exported file.
  std::string Folder() const { return directory_.File("folder"); }
  std::string File() const { return Folder() + "/entries"; }
  std::string Line(const std::string& file) const { return "export " + Path() + " " + file; }
  static std::vector<std::string> Names(const std::string& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }

  std::string expected_;
};

TEST_F(ToolExportTest, ReplacesAFileAndKeepsItsMode) {
  WriteFile(File(), "old");
  ASSERT_EQ(::chmod(File().c_str(), 0640), 0);
  EXPECT_EQ(RunTool(Line(File())).exit_code, kClean);
  EXPECT_EQ(ReadFile(File()), expected_);
  EXPECT_EQ(fs::status(File()).permissions(), static_cast<fs::perms>(0640));
  EXPECT_EQ(Names(Folder()), std::vector<std::string>{"entries"});
  EXPECT_EQ(RunCommand("cd " + Folder() + " && " + Tool() + " " + Line("beside")).exit_code, kClean);
  EXPECT_EQ(ReadFile(Folder() + "/beside"), expected_);
}

// Regression: FILE.tmp was overwritten, and then removed.
TEST_F(ToolExportTest, ForeignTmpFileIsKept) {
  WriteFile(File() + ".tmp", "theirs");
  EXPECT_EQ(RunTool(Line(File())).exit_code, kClean);
  EXPECT_EQ(ReadFile(File() + ".tmp"), "theirs");
  EXPECT_EQ(ReadFile(File()), expected_);
  EXPECT_EQ(Names(Folder()), (std::vector<std::string>{"entries", "entries.tmp"}));
}

// Regression: a regular file replaced the device.
TEST_F(ToolExportTest, DeviceIsWrittenTo) {
  const std::string device = Folder() + "/null";
  if (::mknod(device.c_str(), S_IFCHR | 0666, ::makedev(1, 3)) != 0) {
    GTEST_SKIP() << "SKIPPED: no device can be made here";
  }
  const int opened = ::open(device.c_str(), O_WRONLY);
  if (opened < 0) GTEST_SKIP() << "SKIPPED: devices cannot be opened here";
  ::close(opened);
  EXPECT_EQ(RunForJson(Line(device)).at("entries"), 100);
  EXPECT_TRUE(fs::is_character_file(device));
  fs::create_symlink(device, Folder() + "/link");
  EXPECT_EQ(RunTool(Line(Folder() + "/link")).exit_code, kClean);
  EXPECT_TRUE(fs::is_symlink(Folder() + "/link"));
  EXPECT_TRUE(fs::is_character_file(device));
  EXPECT_EQ(Names(Folder()), (std::vector<std::string>{"link", "null"}));
  EXPECT_EQ(RunTool(Line("/dev/full")).exit_code, kCannot);
  EXPECT_EQ(RunTool(Line(Folder())).exit_code, kCannot) << "a directory";
}

TEST_F(ToolExportTest, PipeIsWrittenTo) {
  ASSERT_EQ(::mkfifo(File().c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = ReadFile(File()); });
  const Ended ended = RunTool(Line(File()));
  const int last = ::open(File().c_str(), O_WRONLY | O_NONBLOCK);  // lets a reader end that waits for a writer
  if (last >= 0) ::close(last);
  reader.join();
  EXPECT_EQ(ended.exit_code, kClean) << ended.output;
  EXPECT_EQ(got, expected_);
  EXPECT_TRUE(fs::is_fifo(File()));
}

TEST_F(ToolExportTest, SymlinkLeadsToTheNewFile) {
  fs::create_directory(Folder() + "/sub");
  fs::create_symlink("sub/entries", File());
  fs::create_symlink(File(), Folder() + "/again");
  EXPECT_EQ(RunTool(Line(Folder() + "/again")).exit_code, kClean);  // a link to a name that does not exist yet
  EXPECT_EQ(ReadFile(Folder() + "/sub/entries"), expected_);
  WriteFile(Folder() + "/sub/entries", "old");
  EXPECT_EQ(RunTool(Line(Folder() + "/again")).exit_code, kClean);
  EXPECT_TRUE(fs::is_symlink(Folder() + "/again"));
  EXPECT_TRUE(fs::is_symlink(File()));
  EXPECT_EQ(ReadFile(Folder() + "/sub/entries"), expected_);
  EXPECT_EQ(Names(Folder() + "/sub"), std::vector<std::string>{"entries"});
  fs::create_symlink("round", Folder() + "/round");
  EXPECT_EQ(RunTool(Line(Folder() + "/round")).exit_code, kCannot);
  fs::create_symlink("nowhere/entries", Folder() + "/lost");
  EXPECT_EQ(RunTool(Line(Folder() + "/lost")).exit_code, kCannot);
}

// On a terminal, both commands show the part that is done and the time that is left. At the end the line is erased.
TEST_F(ToolExportTest, ExportAndImportShowProgress) {
  if (RunCommand("script --version").exit_code != kClean) GTEST_SKIP() << "SKIPPED: script(1) is not installed";
  fs::create_directory(Folder() + "/files");
  for (int i = 0; i < 10; ++i) WriteFile(Folder() + "/files/" + std::to_string(i), std::string(1000, 'v'));
  for (const std::string& line : {Line(File()), "import " + Folder() + "/db " + File(),
                                  "import " + Folder() + "/db2 " + Folder() + "/files --format folder"}) {
    const Ended ended = RunCommand("script -qec '" + Tool() + " " + line + "' " + directory_.File("typescript"));
    EXPECT_EQ(ended.exit_code, kClean) << ended.output;
    EXPECT_NE(ended.output.find(" left"), std::string::npos) << line << "\n" << ended.output;
    EXPECT_NE(ended.output.find(" %"), std::string::npos) << line << "\n" << ended.output;
    const std::size_t last = ended.output.rfind("\033[K");
    ASSERT_NE(last, std::string::npos);
    EXPECT_EQ(ended.output.substr(last).find(" left"), std::string::npos) << line << "\n" << ended.output;
  }
}

// Exports to a full and to a read-only file system.
TEST_F(ToolExportTest, FailedExportKeepsTheOldFile) {
  if (::mount("tmpfs", Folder().c_str(), "tmpfs", 0, "size=16k") != 0) {
    GTEST_SKIP() << "SKIPPED: nothing can be mounted here";
  }
  WriteFile(File(), "old");
  const Ended full = RunTool(Line(File()));
  EXPECT_EQ(ReadFile(File()), "old");
  EXPECT_EQ(Names(Folder()), std::vector<std::string>{"entries"});
  const bool is_read_only = ::mount(nullptr, Folder().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  const Ended refused = RunTool(Line(File()));
  EXPECT_EQ(ReadFile(File()), "old");
  ::umount2(Folder().c_str(), MNT_DETACH);
  EXPECT_EQ(full.exit_code, kCannot) << full.output;
  EXPECT_NE(full.output.find("No space"), std::string::npos) << full.output;
  if (!is_read_only) GTEST_SKIP() << "SKIPPED: nothing can be mounted read-only here";
  EXPECT_EQ(refused.exit_code, kCannot) << refused.output;
  EXPECT_NE(refused.output.find("Read-only"), std::string::npos) << refused.output;
}

}  // namespace
}  // namespace cambium::testing
