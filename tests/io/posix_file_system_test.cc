#include "io/posix_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <set>

#include "testing/temp_directory.h"

namespace cambium {
namespace {

class PosixFileSystemTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, Slice content) {
    std::unique_ptr<File> file;
    ASSERT_TRUE(fs_->Open(directory_.File(name), OpenMode::kCreateNew, {}, &file).ok());
    ASSERT_TRUE(file->Write(0, content).ok());
  }
  std::string Content(const std::string& name) {
    std::unique_ptr<File> file;
    char out[64];
    std::size_t read = 0;
    if (!fs_->Open(directory_.File(name), OpenMode::kReadOnly, {}, &file).ok()) return "(none)";
    EXPECT_TRUE(file->Read(0, sizeof(out), out, &read).ok());
    return {out, read};
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names = {"cleared first"};
    EXPECT_TRUE(fs_->List(directory_.path(), &names).ok());
    return names;
  }
  using Strings = std::vector<std::string>;

  testing::TempDirectory directory_;
  const std::shared_ptr<FileSystem> fs_ = FileSystem::Default();
};

TEST_F(PosixFileSystemTest, CreatesListsRenamesAndUnlinks) {
  EXPECT_EQ(Names(), Strings());
  Write("b", "2");
  Write("a", "1");
  Write(".hidden", "3");
  EXPECT_EQ(Names(), (Strings{".hidden", "a", "b"}));
  ASSERT_TRUE(fs_->Rename(directory_.File("a"), directory_.File("b")).ok());
  EXPECT_EQ(Content("b"), "1");
  EXPECT_EQ(Names(), (Strings{".hidden", "b"}));
  ASSERT_TRUE(fs_->Unlink(directory_.File("b")).ok());
  EXPECT_EQ(Names(), Strings{".hidden"});
  EXPECT_TRUE(fs_->SyncDirectory(directory_.path()).ok());
}

TEST_F(PosixFileSystemTest, MissingNamesArePathNotFound) {
  FileInfo info;
  Strings names;
  std::unique_ptr<FileLock> lock;
  std::uint64_t bytes = 0;
  const std::string none = directory_.File("none");
  EXPECT_TRUE(fs_->GetInfo(none, &info).IsPathNotFound());
  EXPECT_TRUE(fs_->Unlink(none).IsPathNotFound());
  EXPECT_TRUE(fs_->Rename(none, directory_.File("x")).IsPathNotFound());
  EXPECT_TRUE(fs_->Link(none, directory_.File("x")).IsPathNotFound());
  EXPECT_TRUE(fs_->List(none, &names).IsPathNotFound());
  EXPECT_TRUE(fs_->SyncDirectory(none).IsPathNotFound());
  EXPECT_TRUE(fs_->RemoveDirectory(none).IsPathNotFound());
  EXPECT_TRUE(fs_->CreateDirectory(none + "/deeper").IsPathNotFound());
  EXPECT_TRUE(fs_->FreeSpace(none, &bytes).IsPathNotFound());
  EXPECT_TRUE(fs_->Lock(none, LockMode::kExclusive, 0, &lock).IsPathNotFound());
  EXPECT_TRUE(fs_->Lock(none, LockMode::kShared, 0, &lock).IsPathNotFound());
  EXPECT_NE(fs_->Unlink(none).ToString().find(none), std::string::npos);
}

// Regression: a path was cut at a zero byte, so a database with such a path was another database.
TEST_F(PosixFileSystemTest, APathWithAZeroByteIsNotFound) {
  using namespace std::string_literals;
  Write("a", "bytes");
  ASSERT_TRUE(fs_->CreateDirectory(directory_.File("folder")).ok());
  const std::string file = directory_.File("a\0b"s);
  const std::string folder = directory_.File("folder\0more"s);
  std::unique_ptr<File> opened;
  FileInfo info;
  Strings names;
  EXPECT_TRUE(fs_->Open(file, OpenMode::kReadOnly, {}, &opened).IsPathNotFound());
  EXPECT_TRUE(fs_->Open(directory_.File("new\0"s), OpenMode::kCreateNew, {}, &opened).IsPathNotFound());
  EXPECT_TRUE(fs_->GetInfo(file, &info).IsPathNotFound());
  EXPECT_TRUE(fs_->Unlink(file).IsPathNotFound());
  EXPECT_TRUE(fs_->Rename(file, directory_.File("c")).IsPathNotFound());
  EXPECT_TRUE(fs_->Rename(directory_.File("a"), directory_.File("c\0d"s)).IsPathNotFound());
  EXPECT_TRUE(fs_->Link(file, directory_.File("c")).IsPathNotFound());
  EXPECT_TRUE(fs_->CreateDirectory(folder).IsPathNotFound());
  EXPECT_TRUE(fs_->RemoveDirectory(folder).IsPathNotFound());
  EXPECT_TRUE(fs_->List(folder, &names).IsPathNotFound());
  std::unique_ptr<FileLock> lock;
  EXPECT_TRUE(fs_->Lock(folder, LockMode::kExclusive, 0, &lock).IsPathNotFound());
  EXPECT_TRUE(fs_->SyncDirectory(folder).IsPathNotFound());
  EXPECT_EQ(Names(), (Strings{"a", "folder"}));
  EXPECT_TRUE(fs_->List(directory_.File("folder"), &names).ok());
  EXPECT_TRUE(names.empty());
}

TEST_F(PosixFileSystemTest, NewDirectoryIsForTheOwnerAlone) {
  const mode_t umask = ::umask(0);
  EXPECT_TRUE(fs_->CreateDirectory(directory_.File("d")).ok());
  ::umask(umask);
  struct stat facts;
  ASSERT_EQ(::stat(directory_.File("d").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0700u);
  ASSERT_EQ(::chmod(directory_.File("d").c_str(), 0750), 0);
  EXPECT_TRUE(fs_->CreateDirectory(directory_.File("d")).ok());
  ASSERT_EQ(::stat(directory_.File("d").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0750u) << "a directory that exists keeps its mode";
}

TEST_F(PosixFileSystemTest, CreateDirectoryIsIdempotentAndRemoveNeedsEmpty) {
  const std::string path = directory_.File("d");
  EXPECT_TRUE(fs_->CreateDirectory(path).ok());
  EXPECT_TRUE(fs_->CreateDirectory(path).ok());
  FileInfo info;
  ASSERT_TRUE(fs_->GetInfo(path, &info).ok());
  EXPECT_TRUE(info.is_directory);
  EXPECT_FALSE(info.is_regular);
  Write("d/f", "");
  EXPECT_TRUE(fs_->CreateDirectory(path + "/f").IsIOError()) << "a file has this name";
  EXPECT_TRUE(fs_->RemoveDirectory(path).IsIOError());
  EXPECT_TRUE(fs_->Unlink(path).IsIOError());
  ASSERT_TRUE(fs_->Unlink(path + "/f").ok());
  EXPECT_TRUE(fs_->RemoveDirectory(path).ok());
}

TEST_F(PosixFileSystemTest, LinkAddsASecondNameOfTheFile) {
  Write("a", "one");
  ASSERT_TRUE(fs_->Link(directory_.File("a"), directory_.File("b")).ok());
  FileInfo a;
  FileInfo b;
  ASSERT_TRUE(fs_->GetInfo(directory_.File("a"), &a).ok());
  ASSERT_TRUE(fs_->GetInfo(directory_.File("b"), &b).ok());
  EXPECT_EQ(a.inode, b.inode);
  EXPECT_EQ(b.link_count, 2u);
  Write("c", "two");
  EXPECT_TRUE(fs_->Link(directory_.File("a"), directory_.File("c")).IsIOError());
  EXPECT_EQ(Content("c"), "two");
  ASSERT_TRUE(fs_->Unlink(directory_.File("a")).ok());
  EXPECT_EQ(Content("b"), "one");
}

// A second name of the symbolic link itself would still depend on the link's target.
TEST_F(PosixFileSystemTest, LinkFollowsSymbolicLinks) {
  Write("a", "one");
  ASSERT_EQ(::symlink(directory_.File("a").c_str(), directory_.File("s").c_str()), 0);
  ASSERT_TRUE(fs_->Link(directory_.File("s"), directory_.File("b")).ok());
  struct stat facts;
  ASSERT_EQ(::lstat(directory_.File("b").c_str(), &facts), 0);
  EXPECT_TRUE(S_ISREG(facts.st_mode));
  ASSERT_TRUE(fs_->Unlink(directory_.File("a")).ok());
  EXPECT_EQ(Content("b"), "one");
}

TEST_F(PosixFileSystemTest, RenameToNewReplacesNothing) {
  Write("a", "one");
  Write("b", "two");
  ASSERT_TRUE(fs_->CreateDirectory(directory_.File("d")).ok());
  ASSERT_TRUE(fs_->CreateDirectory(directory_.File("empty")).ok());
  EXPECT_TRUE(fs_->RenameToNew(directory_.File("a"), directory_.File("b")).IsIOError());
  EXPECT_TRUE(fs_->RenameToNew(directory_.File("d"), directory_.File("empty")).IsIOError());
  EXPECT_EQ(Content("a"), "one");
  EXPECT_EQ(Content("b"), "two");
  EXPECT_TRUE(fs_->RenameToNew(directory_.File("a"), directory_.File("c")).ok());
  EXPECT_EQ(Content("c"), "one");
  EXPECT_TRUE(fs_->RenameToNew(directory_.File("d"), directory_.File("e")).ok());
  EXPECT_TRUE(fs_->RenameToNew(directory_.File("none"), directory_.File("f")).IsPathNotFound());
}

TEST_F(PosixFileSystemTest, LinkAcrossFileSystemsIsNotSupported) {
  struct stat here;
  ASSERT_EQ(::stat(directory_.path().c_str(), &here), 0);
  std::string elsewhere;
  for (const std::string place : {"/dev/shm", "/run", "/var/tmp", "/tmp"}) {
    struct stat there;
    const bool serves = ::stat(place.c_str(), &there) == 0 && here.st_dev != there.st_dev;
    if (serves && ::access(place.c_str(), W_OK) == 0) elsewhere = place + "/cambium-link-" + std::to_string(::getpid());
  }
  if (elsewhere.empty()) {
    GTEST_SKIP() << "SKIPPED: a link across file systems needs a second writable one; /dev/shm, /run, /var/tmp and /tmp are "
                    "read-only or on the one of "
                 << directory_.path();
  }
  Write("a", "one");
  const Status status = fs_->Link(directory_.File("a"), elsewhere);
  EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
  EXPECT_NE(status.ToString().find(elsewhere), std::string::npos);
}

TEST_F(PosixFileSystemTest, FreeSpaceIsPositive) {
  std::uint64_t bytes = 0;
  ASSERT_TRUE(fs_->FreeSpace(directory_.path(), &bytes).ok());
  EXPECT_GT(bytes, 0u);
}

std::set<int> OpenDescriptors() {
  std::set<int> open;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir("/proc/self/fd"), &::closedir);
  while (const dirent* const entry = ::readdir(stream.get())) {
    if (entry->d_name[0] != '.') open.insert(std::atoi(entry->d_name));
  }
  open.erase(::dirfd(stream.get()));
  return open;
}

// H49: a program that the host starts must not inherit our descriptors.
TEST_F(PosixFileSystemTest, DescriptorsAreCloseOnExecAndClosedAfterUse) {
  Write("a", "one");
  const std::set<int> before = OpenDescriptors();
  {
    std::unique_ptr<File> file;
    std::unique_ptr<File> direct;
    std::unique_ptr<FileLock> lock;
    std::unique_ptr<MappedRegion> region;
    ASSERT_TRUE(fs_->Open(directory_.File("a"), OpenMode::kReadWrite, {}, &file).ok());
    ASSERT_TRUE(fs_->Open(directory_.File("a"), OpenMode::kReadOnly, {.direct = true}, &direct).ok());
    ASSERT_TRUE(fs_->Lock(directory_.path(), LockMode::kExclusive, 0, &lock).ok());
    ASSERT_TRUE(file->Map(0, 3, &region).ok());
    for (const bool use_io_uring : {false, true}) {
      char out[3];
      ReadRequest request;
      request.file = file.get();
      request.size = sizeof(out);
      request.out = out;
      ReadRequest* const pointer = &request;
      const auto queue = fs_->NewReadQueue(2, use_io_uring);
      ASSERT_TRUE(queue->Submit({&pointer, 1}).ok());
      for (const int fd : OpenDescriptors()) {
        EXPECT_TRUE(before.contains(fd) || (::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0) << fd;
      }
    }
    EXPECT_GE(OpenDescriptors().size(), before.size() + 4);
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

}  // namespace
}  // namespace cambium
