// Runs a database in a control group whose limit of memory is what the options promise, plus 64 MiB. The database is
// loaded and overwritten in a child process; if it takes more, the kernel kills the child. The page cache of the files
// counts too, but the kernel takes it back.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>

#include "cambium/db.h"
#include "system/memory_group.h"
#include "testing/scale.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr const char* kNoGroup =
    "SKIPPED: this user cannot create a control group with a memory limit (needs root, or delegation, and the memory "
    "controller): ";

// How the child of a group has ended.
struct Ended {
  Status made;     // not OK: there is no group
  int status = 0;  // of waitpid
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
  EXPECT_EQ(waitpid(pid, &ended.status, 0), pid);
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

// Loads and overwrites values of one size. Returns 0 if all is well.
int Load(const Options& options, const std::string& path, std::size_t value_bytes) {
  std::unique_ptr<DB> db;
  if (!DB::Open(options, path, &db).ok()) return 1;
  constexpr std::uint64_t kBytes = 16 * kMiB;
  constexpr std::uint64_t kKeysMax = 60'000;
  const std::uint64_t keys = ScaledCount(std::min(kKeysMax, kBytes / value_bytes));
  Prng prng(1);
  const std::string value = prng.Bytes(value_bytes);
  for (std::uint64_t i = 0; i < 2 * keys; ++i) {
    const std::uint64_t key = i < keys ? i : prng.Uniform(keys);
    if (!db->Put({}, std::to_string(key * 0x9E3779B97F4A7C15u), value).ok()) return 2;
  }
  if (!db->Flush({}).ok() || !db->WaitForCompact().ok()) return 3;
  return db->Close().ok() ? 0 : 4;
}

// Without this, the tests below would prove nothing.
TEST(ProcessMemoryGroupTest, TheGroupKillsWhatTakesMore) {
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

TEST(ProcessMemoryGroupTest, LoadsStayWithinThePromise) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  for (const IndexKind index : {IndexKind::kBTree, IndexKind::kLsm}) {
    for (const std::size_t value_bytes : {16, 256, 1024, 16 << 10, 64 << 10}) {
      SCOPED_TRACE((index == IndexKind::kLsm ? "LSM, " : "tree, ") + std::to_string(value_bytes) + " bytes");
      const TempDirectory directory;
      Options options = OptionsWith(index);
      options.info_log = NullLogger();
      const std::uint64_t promise = options.page_cache_size + options.db_write_buffer_size;
      const Ended ended =
          RunInGroup("load", promise + 64 * kMiB, [&] { return Load(options, directory.File("db"), value_bytes); });
      if (!ended.made.ok()) GTEST_SKIP() << kNoGroup << ended.made.ToString();
      EXPECT_FALSE(ended.IsKilled()) << "it took more than it promises";
      EXPECT_EQ(ended.status, 0);
    }
  }
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

TEST(ProcessMemoryGroupTest, OpenWarnsIfTheLimitIsBelowThePromise) {
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
