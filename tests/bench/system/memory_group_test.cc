// Tests where a memory group is made: with a tree of files that imitates the kernel's, and with a real group, if this
// machine permits it.
#include "system/memory_group.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "testing/temp_directory.h"

namespace cambium::bench {
namespace {
namespace fs = std::filesystem;

using Version = MemoryGroupPlace::Version;

constexpr const char* kRootMount = "23 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n";
constexpr const char* kMemoryMount =
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n";
constexpr const char* kCpuMount = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n";
constexpr const char* kUnifiedMount = "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw\n";

class BenchMemoryGroupTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  // A group of version 1, or of version 2 that delegates `controllers`.
  void MakeGroup(const std::string& path, const std::string& controllers) const {
    Write(path + "/cgroup.procs", "");
    Write(path + "/cgroup.subtree_control", controllers + "\n");
  }
  Status Find() { return FindMemoryGroupPlace(root_, &place_); }

  cambium::testing::TempDirectory directory_;
  const std::string root_ = directory_.path();
  MemoryGroupPlace place_;
};

TEST_F(BenchMemoryGroupTest, VersionOneUsesTheGroupOfThisProcess) {
  Write("/proc/self/mountinfo", std::string(kRootMount) + kCpuMount + kMemoryMount);
  Write("/proc/self/cgroup", "4:memory:/jobs/a b\n1:cpu:/elsewhere\n0::/unified\n");
  MakeGroup("/sys/fs/cgroup/memory/jobs/a b", "");
  const Status status = Find();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(place_.version, Version::kV1);
  EXPECT_EQ(place_.directory, root_ + "/sys/fs/cgroup/memory/jobs/a b");
}

TEST_F(BenchMemoryGroupTest, ControllersMayShareAHierarchy) {
  Write("/proc/self/mountinfo", "35 31 0:32 / /cg rw - cgroup cgroup rw,cpu,memory\n");
  Write("/proc/self/cgroup", "4:cpu,memory:/\n");
  MakeGroup("/cg", "");
  ASSERT_TRUE(Find().ok());
  EXPECT_EQ(place_.directory, root_ + "/cg");
}

// A container may see only the part of the hierarchy below its own group.
TEST_F(BenchMemoryGroupTest, MountMayShowPartOfTheHierarchy) {
  Write("/proc/self/mountinfo", "35 31 0:32 /docker/77 /cg rw - cgroup cgroup rw,memory\n");
  Write("/proc/self/cgroup", "4:memory:/docker/77/inner\n");
  MakeGroup("/cg/inner", "");
  ASSERT_TRUE(Find().ok());
  EXPECT_EQ(place_.directory, root_ + "/cg/inner");

  Write("/proc/self/cgroup", "4:memory:/docker/778\n");
  EXPECT_NE(Find().ToString().find("/cg does not show the group of this process"), std::string::npos)
      << Find().ToString();
}

// The process's own group has processes in it, and so cannot delegate a controller.
TEST_F(BenchMemoryGroupTest, VersionTwoUsesTheNearestGroupThatDelegatesMemory) {
  Write("/proc/self/mountinfo", std::string(kRootMount) + kUnifiedMount);
  Write("/proc/self/cgroup", "0::/user.slice/user-0.slice/session-1.scope\n");
  MakeGroup("/sys/fs/cgroup", "cpu memory pids");
  MakeGroup("/sys/fs/cgroup/user.slice", "cpu memory pids");
  MakeGroup("/sys/fs/cgroup/user.slice/user-0.slice", "memory pids");
  MakeGroup("/sys/fs/cgroup/user.slice/user-0.slice/session-1.scope", "");
  Status status = Find();
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(place_.version, Version::kV2);
  EXPECT_EQ(place_.directory, root_ + "/sys/fs/cgroup/user.slice/user-0.slice");

  MakeGroup("/sys/fs/cgroup/user.slice/user-0.slice", "pids");
  MakeGroup("/sys/fs/cgroup/user.slice", "cpu pids");
  ASSERT_TRUE(Find().ok());
  EXPECT_EQ(place_.directory, root_ + "/sys/fs/cgroup");

  MakeGroup("/sys/fs/cgroup", "cpu pids");
  status = Find();
  EXPECT_TRUE(status.IsNotSupported());
  EXPECT_NE(status.ToString().find("/sys/fs/cgroup does not hand the memory controller down"), std::string::npos)
      << status.ToString();
}

// Both versions are mounted. Version 1 is chosen if it has the memory controller and a group for us, else version 2.
TEST_F(BenchMemoryGroupTest, WorkingVersionIsChosen) {
  Write("/proc/self/mountinfo", std::string(kMemoryMount) + "41 31 0:38 / /unified rw - cgroup2 cgroup2 rw\n");
  Write("/proc/self/cgroup", "4:memory:/a\n0::/b\n");
  MakeGroup("/sys/fs/cgroup/memory/a", "");
  MakeGroup("/unified/b", "");
  MakeGroup("/unified", "");
  ASSERT_TRUE(Find().ok());
  EXPECT_EQ(place_.version, Version::kV1);

  fs::remove_all(root_ + "/sys/fs/cgroup/memory/a");
  MakeGroup("/unified", "memory");
  ASSERT_TRUE(Find().ok());
  EXPECT_EQ(place_.version, Version::kV2);
  EXPECT_EQ(place_.directory, root_ + "/unified");
}

TEST_F(BenchMemoryGroupTest, MissingGroupsAreNotSupportedWithReasons) {
  Write("/proc/self/mountinfo", std::string(kRootMount) + kCpuMount);
  Write("/proc/self/cgroup", "1:cpu:/\n");
  EXPECT_EQ(Find().message(), "cgroup v1 with its memory controller is not mounted; cgroup v2 is not mounted");
  fs::remove_all(root_ + "/proc");
  EXPECT_TRUE(Find().IsNotSupported());
  Write("/proc/self/mountinfo", "\n35 - cgroup\n35 31 0:32 / /x rw - cgroup\n- - - - - - -\n");
  Write("/proc/self/cgroup", ":\n\n::\n");
  EXPECT_TRUE(Find().IsNotSupported()) << "lines of another shape";
}

// In a control group, the kernel puts files into each new subdirectory. If it does not, the directory is not one.
TEST_F(BenchMemoryGroupTest, PlainDirectoryIsRefusedAndRemoved) {
  fs::create_directories(root_ + "/fake");
  {
    MemoryGroup group;
    EXPECT_TRUE(group.Make({.version = Version::kV1, .directory = root_ + "/fake"}, "g", 1 << 20).IsNotFound());
    EXPECT_TRUE(fs::exists(root_ + "/fake/g"));
    EXPECT_FALSE(group.Enter().ok());
  }
  EXPECT_FALSE(fs::exists(root_ + "/fake/g"));
  MemoryGroup group;
  EXPECT_TRUE(group.Make({.version = Version::kV2, .directory = root_ + "/none"}, "g", 1 << 20).IsIOError());
}

std::uint64_t ReadNumber(const std::string& path) {
  std::uint64_t number = 0;
  std::ifstream(path) >> number;
  return number;
}

// The tests above are never skipped, since they use ordinary files that look like those of a control group.
constexpr const char* kNoGroup =
    "SKIPPED: this user cannot create a control group with a memory limit (needs root, or delegation, and the memory "
    "controller): ";

// A child in the group writes a file of twice its limit; the pages that stay in the cache count.
TEST_F(BenchMemoryGroupTest, RealGroupLimitsThePageCache) {
  constexpr std::uint64_t kLimit = 48u << 20;
  const Status found = FindMemoryGroupPlace("/", &place_);
  if (!found.ok()) GTEST_SKIP() << kNoGroup << found.ToString();
  std::string group_directory;
  {
    MemoryGroup group;
    const Status made = group.Make(place_, "cambium_test-" + std::to_string(getpid()), kLimit);
    if (!made.ok()) GTEST_SKIP() << kNoGroup << made.ToString();
    group_directory = group.directory();
    const std::string data = root_ + "/data";
    const pid_t child = fork();
    if (child == 0) {
      if (!group.Enter().ok()) _exit(2);
      std::FILE* file = std::fopen(data.c_str(), "wb");
      const std::string piece(1 << 20, 'x');
      for (int i = 0; i < 96; ++i) {
        if (file == nullptr || std::fwrite(piece.data(), 1, piece.size(), file) != piece.size()) _exit(3);
      }
      _exit(std::fclose(file) == 0 ? 0 : 4);
    }
    int how = 0;
    ASSERT_EQ(waitpid(child, &how, 0), child);
    EXPECT_EQ(how, 0);
    EXPECT_EQ(fs::file_size(data), 96u << 20);
    const bool v1 = place_.version == Version::kV1;
    const std::uint64_t used = ReadNumber(group_directory + (v1 ? "/memory.usage_in_bytes" : "/memory.current"));
    EXPECT_GT(used, 1u << 20) << "what the child left in the page cache is charged";
    EXPECT_LE(used, kLimit);
  }
  EXPECT_FALSE(fs::exists(group_directory));
}

}  // namespace
}  // namespace cambium::bench
