// How much memory a database takes beyond what its options promise. Each database is opened in a child process, which
// has nothing else in memory: neither do blocks that malloc has kept from another database hide what this one takes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

#include "cambium/db.h"
#include "io/system_page.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;

// The bytes of memory that this process has for itself, files in the page cache left out.
std::uint64_t AnonymousBytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  file >> size >> resident >> shared;
  return (resident - shared) * SystemPageBytes();
}

struct Load {
  std::uint64_t keys = 0;
  std::size_t value_bytes = 0;
};

// The most that a database of these options has taken, in addition to what was taken before, while it was loaded,
// overwritten and settled.
std::uint64_t PeakOfThisProcess(const Options& options, const Load& load) {
  const TempDirectory directory;
  const std::uint64_t before = AnonymousBytes();
  std::uint64_t peak = 0;
  std::unique_ptr<DB> db;
  EXPECT_TRUE(DB::Open(options, directory.File("db"), &db).ok());
  Prng prng(1);
  const std::string value = prng.Bytes(load.value_bytes);
  for (std::uint64_t i = 0; i < load.keys * 3 / 2; ++i) {
    const std::uint64_t key = i < load.keys ? i : prng.Uniform(load.keys);
    EXPECT_TRUE(db->Put({}, std::to_string(key * 0x9E3779B97F4A7C15u), value).ok());
    if (i % 1024 == 0) peak = std::max(peak, AnonymousBytes());
  }
  EXPECT_TRUE(db->Flush({}).ok());
  EXPECT_TRUE(db->WaitForCompact().ok());
  peak = std::max(peak, AnonymousBytes());
  EXPECT_TRUE(db->Close().ok());
  std::printf("at most %.1f MiB in addition to %.1f\n", static_cast<double>(peak - std::min(before, peak)) / kMiB,
              static_cast<double>(before) / kMiB);
  return peak - std::min(before, peak);
}

std::uint64_t PeakOf(const Options& options, const Load& load) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::uint64_t peak = PeakOfThisProcess(options, load);
    const bool is_sent = ::write(ends[1], &peak, sizeof(peak)) == sizeof(peak);
    std::fflush(stdout);
    ::_exit(is_sent && !::testing::Test::HasFailure() ? 0 : 1);
  }
  std::uint64_t peak = 0;
  EXPECT_EQ(::read(ends[0], &peak, sizeof(peak)), static_cast<ssize_t>(sizeof(peak)));
  int how = 0;
  EXPECT_EQ(::waitpid(child, &how, 0), child);
  EXPECT_EQ(how, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  return peak;
}

Options SmallOptions() {
  Options options;
  options.create_if_missing = true;
  options.info_log = NullLogger();
  options.page_cache_size = 32 * kMiB;
  options.write_buffer_size = 2 * kMiB;
  options.max_write_buffer_number = 3;
  return options;
}

// The page cache and the memtables, and for buffers, stacks and maps what does not grow with the database.
std::uint64_t PromiseOf(const Options& options) {
  const std::uint64_t memtables =
      options.write_buffer_size * static_cast<std::uint64_t>(options.max_write_buffer_number);
  return options.page_cache_size + memtables + 24 * kMiB;
}

TEST(MemoryTest, SmallValuesTakeWhatTheOptionsPromise) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  const Options options = SmallOptions();
  const Load load = {ScaledCount(600'000), 100};
  EXPECT_LE(PeakOf(options, load), PromiseOf(options));
  const MutantScope mutant(Mutant::kPagesFromMalloc);
  EXPECT_GT(PeakOf(options, load), PromiseOf(options));
}

// An LSM keeps few pages in the cache; what it takes is mostly memory of flushes and compactions, in several threads.
TEST(MemoryTest, AnLsmTakesWhatTheOptionsPromise) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  Options options = SmallOptions();
  options.index_type = kLsm;
  options.page_cache_size = 4 * kMiB;
  const Load load = {ScaledCount(600'000), 100};
  EXPECT_LE(PeakOf(options, load), PromiseOf(options));
  const MutantScope mutant(Mutant::kBuffersFromMalloc);
  EXPECT_GT(PeakOf(options, load), PromiseOf(options));
}

TEST(MemoryTest, SeparatedValuesTakeWhatTheOptionsPromise) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  const Options options = SmallOptions();
  EXPECT_LE(PeakOf(options, {ScaledCount(20'000), 16u << 10}), PromiseOf(options));
}

}  // namespace
}  // namespace cambium::testing
