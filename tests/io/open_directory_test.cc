// FileSystem::OpenDirectory: a directory that was opened is found again, whatever becomes of its path.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/at_directory.h"
#include "io/opened_prefix.h"
#include "testing/limit_scope.h"
#include "testing/mutant_scope.h"
#include "testing/temp_directory.h"

namespace cambium {
namespace {

using Names = std::vector<std::string>;

TEST(PathBelowTest, ComparesWholeNames) {
  const auto below = [](const std::string& directory, const std::string& path) -> std::string {
    const char* const rest = PathBelow(directory, path);
    return rest == nullptr ? "(no)" : rest;
  };
  EXPECT_EQ(below("/a/db", "/a/db"), ".");
  EXPECT_EQ(below("/a/db", "/a/db/"), ".");
  EXPECT_EQ(below("/a/db/", "/a/db"), ".");
  EXPECT_EQ(below("/a/db/", "/a/db//LOCK"), "LOCK");
  EXPECT_EQ(below("/a/db", "/a/db/files/x"), "files/x");
  EXPECT_EQ(below("/a/db", "/a/db.tmp/x"), "(no)");
  EXPECT_EQ(below("/a/db", "/a"), "(no)");
  EXPECT_EQ(below("/a/db", "a/db/x"), "(no)");
  EXPECT_EQ(below("/", "/x"), "x");
  EXPECT_EQ(below("/", "/"), ".");
  EXPECT_EQ(below("/", "x"), "(no)");
  EXPECT_EQ(below(".", "x/y"), "x/y");
  EXPECT_EQ(below(".", "./x"), "x");
  EXPECT_EQ(below(".", "."), ".");
  EXPECT_EQ(below(".", ".hidden"), ".hidden");
  EXPECT_EQ(below(".", "/x"), "(no)");
  EXPECT_EQ(below("db", ""), "(no)");
}

class OpenDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(fs_->CreateDirectory(Path("here")).ok());
    ASSERT_TRUE(fs_->CreateDirectory(Path("here/db")).ok());
  }
  [[nodiscard]] std::string Path(const std::string& name) const { return directory_.File(name); }
  std::shared_ptr<FileSystem> At(const std::string& path) {
    Result<std::shared_ptr<FileSystem>> opened = AtDirectory(fs_, path);
    EXPECT_TRUE(opened.ok()) << opened.status().ToString();
    return opened.ok() ? *opened : fs_;
  }
  Names NamesIn(const std::string& name) {
    Names names;
    EXPECT_TRUE(fs_->List(Path(name), &names).ok()) << name;
    return names;
  }

  testing::TempDirectory directory_;
  const std::shared_ptr<FileSystem> fs_ = FileSystem::Default();
};

// Makes every call about the files of `path`, through `at`.
void UseEveryCall(FileSystem& at, const std::string& path) {
  FileInfo info;
  Names names;
  std::uint64_t bytes = 0;
  std::unique_ptr<File> file;
  ASSERT_TRUE(at.Open(path + "/a", OpenMode::kCreateNew, {}, &file).ok());
  ASSERT_TRUE(file->Write(0, "1").ok());
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_EQ(file->path(), path + "/a");
  EXPECT_TRUE(at.GetInfo(path, &info).ok() && info.is_directory);
  EXPECT_TRUE(at.GetInfo(path + "/a", &info).ok() && info.size == 1);
  ASSERT_TRUE(at.Link(path + "/a", path + "/b").ok());
  ASSERT_TRUE(at.Rename(path + "/b", path + "/c").ok());
  EXPECT_TRUE(at.RenameToNew(path + "/c", path + "/d").ok());
  EXPECT_FALSE(at.RenameToNew(path + "/a", path + "/d").ok());
  ASSERT_TRUE(at.Unlink(path + "/a").ok());
  ASSERT_TRUE(at.CreateDirectory(path + "/files").ok());
  ASSERT_TRUE(at.Open(path + "/files/x", OpenMode::kCreateNew, {}, &file).ok());
  EXPECT_TRUE(at.SyncDirectory(path + "/files").ok());
  EXPECT_TRUE(at.FreeSpace(path, &bytes).ok());
  EXPECT_TRUE(at.FreeSpace(path + "/files", &bytes).ok());
  ASSERT_TRUE(at.List(path + "/files", &names).ok());
  EXPECT_EQ(names, Names{"x"});
  ASSERT_TRUE(at.Unlink(path + "/files/x").ok());
  ASSERT_TRUE(at.RemoveDirectory(path + "/files").ok());
  std::unique_ptr<FileLock> lock;
  ASSERT_TRUE(at.Lock(path, LockMode::kExclusive, 0, &lock).ok());
  EXPECT_TRUE(at.Open(path + "/a", OpenMode::kReadOnly, {}, &file).IsPathNotFound());
  EXPECT_NE(at.Open(path + "/a", OpenMode::kReadOnly, {}, &file).ToString().find(path + "/a"), std::string::npos);
  ASSERT_TRUE(at.List(path, &names).ok());
  EXPECT_EQ(names, (Names{"LOCK", "d"}));
  EXPECT_TRUE(at.SyncDirectory(path).ok());
}

TEST_F(OpenDirectoryTest, EveryCallFollowsARenamedDirectory) {
  const auto is_followed = [this] {
    const std::shared_ptr<FileSystem> at = At(Path("here/db"));
    EXPECT_TRUE(fs_->Rename(Path("here/db"), Path("moved")).ok());
    EXPECT_TRUE(fs_->CreateDirectory(Path("here/db")).ok());  // another one has the name now
    UseEveryCall(*at, Path("here/db"));
    return NamesIn("moved") == Names{"LOCK", "d"} && NamesIn("here/db").empty();
  };
  EXPECT_TRUE(is_followed());
  ASSERT_TRUE(fs_->Rename(Path("moved"), Path("moved before")).ok());
  const testing::MutantScope mutant(Mutant::kFindFilesByPath);
  EXPECT_FALSE(is_followed()) << "the mutant must be caught";
}

TEST_F(OpenDirectoryTest, EveryCallFollowsTheFirstTargetOfASymbolicLink) {
  ASSERT_TRUE(fs_->CreateDirectory(Path("there")).ok());
  ASSERT_TRUE(fs_->CreateDirectory(Path("there/db")).ok());
  std::filesystem::create_directory_symlink(Path("here"), Path("current"));
  const std::shared_ptr<FileSystem> at = At(Path("current/db"));
  std::filesystem::remove(Path("current"));
  std::filesystem::create_directory_symlink(Path("there"), Path("current"));
  UseEveryCall(*at, Path("current/db"));
  EXPECT_EQ(NamesIn("here/db"), (Names{"LOCK", "d"}));
  EXPECT_EQ(NamesIn("there/db"), Names());
}

TEST_F(OpenDirectoryTest, RelativePathsFollowTheFirstWorkingDirectory) {
  for (const std::string path : {"db", "./db", "db/", "."}) {
    SCOPED_TRACE(path);
    const std::filesystem::path before = std::filesystem::current_path();
    ASSERT_TRUE(fs_->CreateDirectory(Path("other")).ok());
    ASSERT_TRUE(fs_->CreateDirectory(Path("other/db")).ok());
    std::filesystem::current_path(Path(path == "." ? "here/db" : "here"));
    const std::shared_ptr<FileSystem> at = At(path);
    std::filesystem::current_path(Path("other"));
    UseEveryCall(*at, path);
    std::filesystem::current_path(before);
    EXPECT_EQ(NamesIn("here/db"), (Names{"LOCK", "d"}));
    EXPECT_EQ(NamesIn("other/db"), Names());
    std::filesystem::remove(Path("here/db/d"));
    std::filesystem::remove(Path("here/db/LOCK"));
  }
}

TEST_F(OpenDirectoryTest, OtherPathsAreUnaffected) {
  const std::shared_ptr<FileSystem> at = At(Path("here/db"));
  ASSERT_TRUE(at->CreateDirectory(Path("here/db.tmp")).ok());
  std::unique_ptr<File> file;
  ASSERT_TRUE(at->Open(Path("here/db.tmp/x"), OpenMode::kCreateNew, {}, &file).ok());
  ASSERT_TRUE(at->Link(Path("here/db.tmp/x"), Path("here/db/x")).ok());
  EXPECT_EQ(NamesIn("here"), (Names{"db", "db.tmp"}));
  EXPECT_EQ(NamesIn("here/db"), Names{"x"});
}

// If an opened directory lies within another opened directory, calls below it use the inner one.
TEST_F(OpenDirectoryTest, DeepestOpenedDirectoryIsUsed) {
  for (const bool outer_first : {false, true}) {
    const std::shared_ptr<FileSystem> first = At(Path(outer_first ? "here" : "here/db"));
    const Result<std::shared_ptr<FileSystem>> both = AtDirectory(first, Path(outer_first ? "here/db" : "here"));
    ASSERT_TRUE(both.ok());
    ASSERT_TRUE(fs_->Rename(Path("here/db"), Path("away")).ok());
    ASSERT_TRUE(fs_->Rename(Path("here"), Path("gone")).ok());
    std::unique_ptr<File> file;
    ASSERT_TRUE((*both)->Open(Path("here/db/x"), OpenMode::kCreateNew, {}, &file).ok());
    ASSERT_TRUE((*both)->Link(Path("here/db/x"), Path("here/y")).ok());
    EXPECT_EQ(NamesIn("away"), Names{"x"});
    EXPECT_EQ(NamesIn("gone"), Names{"y"});
    ASSERT_TRUE(fs_->Unlink(Path("gone/y")).ok());
    ASSERT_TRUE(fs_->Unlink(Path("away/x")).ok());
    ASSERT_TRUE(fs_->Rename(Path("gone"), Path("here")).ok());
    ASSERT_TRUE(fs_->Rename(Path("away"), Path("here/db")).ok());
  }
}

TEST_F(OpenDirectoryTest, AnotherDirectoryOfTheSameNameIsNotRemoved) {
  const std::shared_ptr<FileSystem> at = At(Path("here/db"));
  ASSERT_TRUE(fs_->Rename(Path("here/db"), Path("moved")).ok());
  EXPECT_TRUE(at->RemoveDirectory(Path("here/db")).IsPathNotFound());
  ASSERT_TRUE(fs_->CreateDirectory(Path("here/db")).ok());
  EXPECT_TRUE(at->RemoveDirectory(Path("here/db")).IsIOError());
  EXPECT_EQ(NamesIn("here"), Names{"db"});
  ASSERT_TRUE(fs_->RemoveDirectory(Path("here/db")).ok());
  ASSERT_TRUE(fs_->Rename(Path("moved"), Path("here/db")).ok());
  EXPECT_TRUE(at->RemoveDirectory(Path("here/db")).ok());
}

TEST_F(OpenDirectoryTest, RemovedDirectoryTakesNoFiles) {
  const std::shared_ptr<FileSystem> at = At(Path("here/db"));
  ASSERT_TRUE(fs_->RemoveDirectory(Path("here/db")).ok());
  ASSERT_TRUE(fs_->CreateDirectory(Path("here/db")).ok());
  std::unique_ptr<File> file;
  std::unique_ptr<FileLock> lock;
  EXPECT_TRUE(at->Open(Path("here/db/x"), OpenMode::kCreateNew, {}, &file).IsPathNotFound());
  EXPECT_TRUE(at->Lock(Path("here/db"), LockMode::kExclusive, 0, &lock).IsPathNotFound());
  EXPECT_EQ(NamesIn("here/db"), Names());
}

TEST_F(OpenDirectoryTest, OpenedDirectoryIsSyncedWithoutAFreeDescriptor) {
  const std::shared_ptr<FileSystem> at = At(Path("here/db"));
  const testing::LimitScope no_more(RLIMIT_NOFILE, 0);
  std::unique_ptr<File> file;
  ASSERT_TRUE(at->Open(Path("here/db/x"), OpenMode::kCreateNew, {}, &file).IsDenied());
  EXPECT_TRUE(at->SyncDirectory(Path("here/db")).ok());
  EXPECT_TRUE(at->SyncDirectory(Path("here")).IsBusy());
  EXPECT_TRUE(fs_->SyncDirectory(Path("here/db")).IsBusy());
}

TEST_F(OpenDirectoryTest, MissingDirectoryCannotBeOpened) {
  EXPECT_TRUE(AtDirectory(fs_, Path("none")).status().IsPathNotFound());
  std::unique_ptr<File> file;
  ASSERT_TRUE(fs_->Open(Path("file"), OpenMode::kCreateNew, {}, &file).ok());
  EXPECT_FALSE(AtDirectory(fs_, Path("file")).ok());
}

}  // namespace
}  // namespace cambium
