// The tests imitate the kernel's files below a directory of their own.
#include "io/memory_limit.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "testing/mutant_scope.h"
#include "testing/temp_directory.h"

namespace cambium {
namespace {
namespace fs = std::filesystem;

constexpr const char* kV1Mounts =
    "23 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n";
constexpr const char* kV2Mounts = "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw\n";

class MemoryLimitTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  [[nodiscard]] std::uint64_t Find() const {
    const auto limit = FindMemoryLimit(root_);
    return limit.has_value() ? limit->bytes : 0;
  }

  const testing::TempDirectory directory_;
  const std::string root_ = directory_.path();
};

TEST_F(MemoryLimitTest, MissingFilesMeanNoLimit) {
  EXPECT_EQ(Find(), 0u);
  Write("/proc/self/mountinfo", "\n35 - cgroup\n");
  Write("/proc/self/cgroup", ":\n\n::\n");
  EXPECT_EQ(Find(), 0u);
}

TEST_F(MemoryLimitTest, LimitOfCgroupVersionOneIsRead) {
  Write("/proc/self/mountinfo", kV1Mounts);
  Write("/proc/self/cgroup", "4:memory:/jobs/a\n1:cpu:/elsewhere\n0::/unified\n");
  Write("/sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(Find(), 0u);
  Write("/sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes", "1048576\n");
  EXPECT_EQ(Find(), 1048576u);
  EXPECT_EQ(FindMemoryLimit(root_)->file, root_ + "/sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes");
  Write("/sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes", "much\n");
  EXPECT_EQ(Find(), 0u);
}

TEST_F(MemoryLimitTest, LimitOfCgroupVersionTwoIsRead) {
  Write("/proc/self/mountinfo", kV2Mounts);
  Write("/proc/self/cgroup", "0::/user.slice/a\n");
  Write("/sys/fs/cgroup/user.slice/a/memory.max", "max\n");
  EXPECT_EQ(Find(), 0u);
  Write("/sys/fs/cgroup/user.slice/a/memory.max", "2097152\n");
  EXPECT_EQ(Find(), 2097152u);
}

TEST_F(MemoryLimitTest, LowestLimitOfAllParentGroupsApplies) {
  Write("/proc/self/mountinfo", std::string(kV1Mounts) + "41 31 0:38 / /unified rw - cgroup2 cgroup2 rw\n");
  Write("/proc/self/cgroup", "4:memory:/jobs/a\n0::/b\n");
  Write("/sys/fs/cgroup/memory/jobs/a/memory.limit_in_bytes", "4000000\n");
  Write("/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "3000000\n");
  Write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "5000000\n");
  EXPECT_EQ(Find(), 3000000u);
  {
    const testing::MutantScope mutant(Mutant::kGroupsAboveIgnored);
    EXPECT_EQ(Find(), 4000000u);
  }
  Write("/unified/memory.max", "2000000\n");
  EXPECT_EQ(Find(), 2000000u);
}

// A container may see only the part of the hierarchy below its own group.
TEST_F(MemoryLimitTest, AMountMayShowPartOfTheHierarchy) {
  Write("/proc/self/mountinfo", "35 31 0:32 /docker/77 /cg rw - cgroup cgroup rw,memory\n");
  Write("/proc/self/cgroup", "4:memory:/docker/77/inner\n");
  Write("/cg/inner/memory.limit_in_bytes", "7000000\n");
  Write("/cg/memory.limit_in_bytes", "6000000\n");
  EXPECT_EQ(Find(), 6000000u);
  Write("/proc/self/cgroup", "4:memory:/docker/778\n");
  EXPECT_EQ(Find(), 0u);
}

// A hierarchy may be mounted several times. (Regression: only the first mount was looked at.)
TEST_F(MemoryLimitTest, MountWithLargestPartOfHierarchyIsUsed) {
  Write("/proc/self/mountinfo",
        "34 31 0:32 /other /hidden rw - cgroup cgroup rw,memory\n"
        "35 31 0:32 /jobs/a /part rw - cgroup cgroup rw,memory\n"
        "36 31 0:32 /jobs /more rw - cgroup cgroup rw,memory\n"
        "37 31 0:32 /jobs/a /part2 rw - cgroup cgroup rw,memory\n");
  Write("/proc/self/cgroup", "4:memory:/jobs/a\n");
  Write("/part/memory.limit_in_bytes", "7000000\n");
  Write("/part2/memory.limit_in_bytes", "7000000\n");
  Write("/more/a/memory.limit_in_bytes", "7000000\n");
  Write("/more/memory.limit_in_bytes", "5000000\n");
  EXPECT_EQ(Find(), 5000000u);
}

// The kernel writes spaces and backslashes of mountinfo as octal numbers, but not those of /proc/self/cgroup.
// (Regression: they were taken as they are.)
TEST_F(MemoryLimitTest, PathsInMountinfoAreEscaped) {
  Write("/proc/self/mountinfo",
        "35 31 0:32 /my\\040jobs\\134x /cg\\040v1 rw - cgroup cgroup rw,memory\n"
        "41 31 0:38 / /cg\\011v2 rw - cgroup2 cgroup2 rw\n");
  Write("/proc/self/cgroup", "4:memory:/my jobs\\x/a\n0::/b\\040\n");
  Write("/cg v1/a/memory.limit_in_bytes", "7000000\n");
  EXPECT_EQ(Find(), 7000000u);
  Write("/cg\tv2/b\\040/memory.max", "6000000\n");
  EXPECT_EQ(Find(), 6000000u);
  Write("/proc/self/mountinfo", "35 31 0:32 / /cg\\04 rw - cgroup cgroup rw,memory\n");
  Write("/cg\\04/memory.limit_in_bytes", "5000000\n");
  EXPECT_EQ(Find(), 5000000u) << "no escape";
}

// In a namespace of groups, paths begin at its root: a group outside of it is "/..", and cannot be seen.
TEST_F(MemoryLimitTest, GroupsOutsideOfTheNamespaceAreNotSeen) {
  Write("/proc/self/mountinfo", kV2Mounts);
  Write("/sys/fs/cgroup/memory.max", "4000000\n");
  Write("/proc/self/cgroup", "0::/\n");
  EXPECT_EQ(Find(), 4000000u) << "the root of the namespace is the process's own group";
  for (const char* outside : {"0::/..\n", "0::/../a\n"}) {
    Write("/proc/self/cgroup", outside);
    EXPECT_EQ(Find(), 0u) << outside;
  }
  Write("/proc/self/cgroup", "0::/..a\n");
  EXPECT_EQ(Find(), 4000000u) << "a name that begins with two dots";
  Write("/proc/self/mountinfo", "41 31 0:38 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  Write("/proc/self/cgroup", "0::/\n");
  EXPECT_EQ(Find(), 0u) << "the mount is of a group above the namespace";
}

// The first one of nested groups has no limit, and the second one no file for it.
TEST_F(MemoryLimitTest, GroupsWithoutALimitArePassedOver) {
  Write("/proc/self/mountinfo", kV2Mounts);
  Write("/proc/self/cgroup", "1:name=systemd:/x\n0::/a/b/c/d\n");
  Write("/sys/fs/cgroup/a/b/c/d/memory.max", "max\n");
  Write("/sys/fs/cgroup/a/b/memory.max", "3000000\n");
  Write("/sys/fs/cgroup/a/memory.max", "max\n");
  EXPECT_EQ(Find(), 3000000u);
}

}  // namespace
}  // namespace cambium
