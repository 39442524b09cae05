#include "demo/file_list.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace cambium::demo {
namespace {

namespace fs = std::filesystem;

class FileListTest : public ::testing::Test {
 protected:
  FileListTest() {
    std::string name = (fs::temp_directory_path() / "cambium_file_list-XXXXXX").string();
    root_ = mkdtemp(name.data());
    fs::create_directories(root_ / "a" / "deep");
    Write("a/deep/two", "22");
    Write("a/empty", "");
    Write("b", "333");
    fs::create_symlink(root_ / "b", root_ / "link");
    fs::create_directory_symlink(root_ / "a", root_ / "loop");
  }
  ~FileListTest() override { fs::remove_all(root_); }

  void Write(const std::string& name, const std::string& bytes) const { std::ofstream(root_ / name) << bytes; }
  [[nodiscard]] std::string Names(const FileList& list) const {
    std::string names;
    for (const FileEntry& file : list.files) names += file.path.substr(root_.string().size()) + " ";
    return names;
  }

  fs::path root_;
};

TEST_F(FileListTest, TakesRegularFilesInByteOrderAndFollowsNoLinks) {
  const FileList list = ListFiles(root_.string(), 1000);
  EXPECT_EQ(Names(list), "/a/deep/two /a/empty /b ");
  EXPECT_EQ(list.bytes, 5u);
  EXPECT_EQ(list.skipped, 0u);
}

TEST_F(FileListTest, LeavesOutFilesBeyondTheCap) {
  const FileList list = ListFiles(root_.string(), 4);
  EXPECT_EQ(Names(list), "/a/deep/two /a/empty ");
  EXPECT_EQ(list.skipped, 1u);
}

TEST_F(FileListTest, MissingFolderHasNoFiles) {
  EXPECT_TRUE(ListFiles((root_ / "nowhere").string(), 1000).files.empty());
}

TEST_F(FileListTest, ReadsWholeFiles) {
  std::string bytes = "old";
  EXPECT_TRUE(ReadWholeFile((root_ / "b").string(), &bytes));
  EXPECT_EQ(bytes, "333");
  EXPECT_TRUE(ReadWholeFile((root_ / "a/empty").string(), &bytes));
  EXPECT_EQ(bytes, "");
  EXPECT_FALSE(ReadWholeFile((root_ / "nowhere").string(), &bytes));
}

}  // namespace
}  // namespace cambium::demo
