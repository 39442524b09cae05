// Files as values: which files of a directory are used.
#include "data/source_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "testing/temp_directory.h"

namespace cambium::bench {
namespace {

class SourceFilesTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& content) {
    const std::filesystem::path path = directory_.File(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
  }
  // Writes a file of `size` bytes that takes no blocks on the disk.
  void WriteHole(const std::string& name, std::uint64_t size) {
    Write(name, "");
    std::filesystem::resize_file(directory_.File(name), size);
  }

  cambium::testing::TempDirectory directory_;
};

TEST_F(SourceFilesTest, AreTakenInTheOrderOfTheirPaths) {
  Write("b", "second");
  Write("a/z", "first");
  Write("c", "");
  std::filesystem::create_symlink(directory_.File("b"), directory_.File("a/link"));
  std::vector<std::string> files;
  ASSERT_TRUE(ReadSourceFiles(directory_.path(), &files).ok());
  EXPECT_EQ(files, (std::vector<std::string>{"first", "second", ""}));
  SourceFiles list;
  ASSERT_TRUE(ListSourceFiles(directory_.path(), &list).ok());
  EXPECT_EQ(list.bytes, 11u);
  EXPECT_EQ(TextOf(list, "D"), "3 of 3 files below D, 0 of 0 KiB");
}

// Regression: the first file that did not fit ended the list, without a message.
TEST_F(SourceFilesTest, TooLargeFileDoesNotEndTheList) {
  Write("a", "small");
  WriteHole("b", kSourceBytesMax + 1);
  WriteHole("c", kSourceBytesMax);  // would fit alone
  Write("d", "small too");
  std::vector<std::string> files;
  ASSERT_TRUE(ReadSourceFiles(directory_.path(), &files).ok());
  EXPECT_EQ(files, (std::vector<std::string>{"small", "small too"}));
  SourceFiles list;
  ASSERT_TRUE(ListSourceFiles(directory_.path(), &list).ok());
  EXPECT_EQ(TextOf(list, "D"), "2 of 4 files below D, 0 of 2048 MiB");
}

TEST_F(SourceFilesTest, NoFilesIsAnError) {
  std::vector<std::string> files;
  EXPECT_TRUE(ReadSourceFiles(directory_.path(), &files).IsNotFound());
  WriteHole("a", kSourceBytesMax + 1);
  EXPECT_TRUE(ReadSourceFiles(directory_.path(), &files).IsNotFound());
  EXPECT_TRUE(ReadSourceFiles(directory_.File("none"), &files).IsIOError());
  EXPECT_TRUE(files.empty());
}

}  // namespace
}  // namespace cambium::bench
