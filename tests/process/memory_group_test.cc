// Runs a database in a control group whose limit of memory is what the options promise, plus some MiB for buffers. The
// database is loaded with more than the limit, and overwritten, in a child process; if it takes more, the kernel kills
// the child. The page cache of the files counts too, but the kernel takes it back.
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "cambium/db.h"
#include "system/memory_group.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr const char* kNoGroup =
    "SKIPPED: this user cannot create a control group with a memory limit (needs root, or delegation, and the memory "
    "controller): ";

constexpr const char* kInMemory = "SKIPPED: the files would be in memory (set TMPDIR to a directory on a disk)";

// Whether the kernel cannot take back the pages of files here.
bool KeepsFilesInMemory(const std::string& path) {
  struct statfs system = {};
  return ::statfs(path.c_str(), &system) == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

// How the child of a group has ended.
struct Ended {
  Status made;                      // not OK: there is no group
  int status = 0;                   // as wait4 returned it
  std::uint64_t resident_most = 0;  // bytes of the child's memory at most, mapped files included
  [[nodiscard]] bool IsKilled() const { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }
};

Ended RunInGroup(const std::string& name, std::uint64_t limit, const std::function<int()>& child) {
  Ended ended;
  bench::MemoryGroupPlace place;
  ended.made = bench::FindMemoryGroupPlace("/", &place);
  if (!ended.made.ok()) return ended;
  bench::MemoryGroup group;
  ended.made = group.Make(place, "cambium_test-" + name + "-" + std::to_string(getpid()), limit);
  if (!ended.made.ok()) return ended;
  const pid_t pid = fork();
  if (pid == 0) _exit(group.Enter().ok() ? child() : 100);
  rusage used = {};
  EXPECT_EQ(wait4(pid, &ended.status, 0, &used), pid);
  ended.resident_most = static_cast<std::uint64_t>(used.ru_maxrss) << 10;
  return ended;
}

Options OptionsWith(IndexKind index) {
  Options options;
  options.create_if_missing = true;
  options.index_type = index;
  options.page_cache_size = 8 * kMiB;
  options.db_write_buffer_size = 8 * kMiB;
  return options;
}

// Loads values of one size, and overwrites some. Returns 0 if all is well.
int Load(const Options& options, const std::string& path, std::uint64_t keys, std::size_t value_bytes,
         std::uint64_t overwrites) {
  std::unique_ptr<DB> db;
  if (!DB::Open(options, path, &db).ok()) return 1;
  Prng prng(1);
  const std::string value = prng.Bytes(value_bytes);
  for (std::uint64_t i = 0; i < keys + overwrites; ++i) {
    const std::uint64_t key = i < keys ? i : prng.Uniform(keys);
    if (!db->Put({}, std::to_string(key * 0x9E3779B97F4A7C15u), value).ok()) return 2;
  }
  if (!db->Flush({}).ok() || !db->WaitForCompact().ok()) return 3;
  return db->Close().ok() ? 0 : 4;
}

// Without this, the tests below would prove nothing.
TEST(ProcessMemoryGroupTest, GroupKillsProcessAboveItsLimit) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  const Ended ended = RunInGroup("control", 96 * kMiB, [] {
    constexpr std::size_t kBytes = 128 * kMiB;
    void* const memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    std::memset(memory, 1, kBytes);
    return 0;
  });
  if (!ended.made.ok()) GTEST_SKIP() << kNoGroup << ended.made.ToString();
  EXPECT_TRUE(ended.IsKilled()) << ended.status;
}

std::string FiguresOf(const Ended& ended, std::uint64_t limit) {
  char figures[80];
  std::snprintf(figures, sizeof(figures), "%.1f MiB resident at most, of a limit of %.1f",
                static_cast<double>(ended.resident_most) / kMiB, static_cast<double>(limit) / kMiB);
  return figures;
}

// Values that are stored in the log are three times the limit; smaller ones, and their index, are as many as a test has
// time for.
TEST(ProcessMemoryGroupTest, LoadsStayWithinDocumentedMemory) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  constexpr std::uint64_t kKeysMax = 120'000;
  for (const IndexKind index : {IndexKind::kBTree, IndexKind::kLsm}) {
    for (const std::size_t value_bytes : {16, 256, 1024, 64 << 10}) {
      SCOPED_TRACE((index == IndexKind::kLsm ? "LSM, " : "tree, ") + std::to_string(value_bytes) + " bytes");
      const TempDirectory directory;
      if (KeepsFilesInMemory(directory.path())) GTEST_SKIP() << kInMemory;
      Options options = OptionsWith(index);
      options.info_log = NullLogger();
      const std::uint64_t limit = options.page_cache_size + options.db_write_buffer_size + 64 * kMiB;
      const std::uint64_t keys = ScaledCount(std::min(kKeysMax, 3 * limit / value_bytes));
      const Ended ended = RunInGroup(
          "load", limit, [&] { return Load(options, directory.File("db"), keys, value_bytes, keys / 4); });
      if (!ended.made.ok()) GTEST_SKIP() << kNoGroup << ended.made.ToString();
      const std::string figures = FiguresOf(ended, limit);
      std::printf("%s, %zu bytes: %s\n", index == IndexKind::kLsm ? "LSM" : "tree", value_bytes, figures.c_str());
      EXPECT_FALSE(ended.IsKilled()) << "it took more than it promises: " << figures;
      EXPECT_EQ(ended.status, 0);
    }
  }
}

// The leaves take more than twice the pool, so pages come and go in all threads. Pages from malloc leave holes there:
// with a pool of 256 MiB, 600 MiB of them were seen.
Ended LoadLeavesOfTwiceThePool(const std::string& path, std::uint64_t* limit) {
  Options options = OptionsWith(IndexKind::kBTree);
  options.info_log = NullLogger();
  options.page_cache_size = 64 * kMiB;
  *limit = options.page_cache_size + options.db_write_buffer_size + 32 * kMiB;
  const std::uint64_t keys = ScaledCount(1'200'000);
  return RunInGroup("leaves", *limit, [&] { return Load(options, path, keys, 100, keys / 2); });
}

TEST(ProcessMemoryGroupTest, FreedPagesReturnToTheSystem) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  const TempDirectory directory;
  if (KeepsFilesInMemory(directory.path())) GTEST_SKIP() << kInMemory;
  std::uint64_t limit = 0;
  const Ended ended = LoadLeavesOfTwiceThePool(directory.File("db"), &limit);
  if (!ended.made.ok()) GTEST_SKIP() << kNoGroup << ended.made.ToString();
  std::printf("%s\n", FiguresOf(ended, limit).c_str());
  EXPECT_FALSE(ended.IsKilled()) << "it took more than it promises: " << FiguresOf(ended, limit);
  EXPECT_EQ(ended.status, 0);
  // How much memory malloc keeps depends on which threads allocate at the same time.
  const MutantScope mutant(Mutant::kPagesFromMalloc);
  Ended with_holes;
  for (int run = 0; run < 5 && !with_holes.IsKilled(); ++run) {
    const TempDirectory again;
    with_holes = LoadLeavesOfTwiceThePool(again.File("holes"), &limit);
    std::printf("with pages from malloc: %s\n", FiguresOf(with_holes, limit).c_str());
  }
  EXPECT_TRUE(with_holes.IsKilled()) << FiguresOf(with_holes, limit) << ", status " << with_holes.status;
}

// Opens a database in a group of this limit. Returns its LOG, or nothing if there is no group.
std::string LogOf(std::uint64_t limit, Ended* ended) {
  const TempDirectory directory;
  const std::string path = directory.File("db");
  *ended = RunInGroup("open", limit, [&] {
    std::unique_ptr<DB> db;
    if (!DB::Open(OptionsWith(IndexKind::kBTree), path, &db).ok()) return 1;
    std::uint64_t found = 0;
    if (!db->GetIntProperty("cambium.memory-limit", &found) || found != limit) return 2;
    if (!db->GetIntProperty("cambium.memory-promise", &found) || found != 16 * kMiB) return 3;
    return db->Close().ok() ? 0 : 4;
  });
  std::ifstream log(path + "/LOG");
  return {std::istreambuf_iterator<char>(log), {}};
}

TEST(ProcessMemoryGroupTest, OpenWarnsIfGroupLimitIsBelowDocumentedMemory) {
  Ended ended;
  const std::string with_limit = LogOf(14 * kMiB, &ended);
  if (!ended.made.ok()) GTEST_SKIP() << kNoGroup << ended.made.ToString();
  EXPECT_EQ(ended.status, 0);
  EXPECT_NE(with_limit.find(" allows " + std::to_string(14 * kMiB) + " bytes"), std::string::npos) << with_limit;
  const std::string with_enough = LogOf(64 * kMiB, &ended);
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(with_enough.find(" allows "), std::string::npos) << with_enough;
}

}  // namespace
}  // namespace cambium::testing
