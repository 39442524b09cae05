// Measures how much memory a database takes beyond what its options promise. Each database is opened in a child process
// of its own. In a shared process, malloc could give it blocks of an earlier database, and the measured growth would be
// too small.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "io/system_page.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/temp_directory.h"
#include "util/prng.h"
#include "vlog/segment.h"

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

// Returns the most memory that a database with these options takes during a load, overwrites, and the background work
// after them, in addition to the memory taken before.
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

// Runs `measure` in a child, which ends without closing anything. Returns its result, or nothing if the child did not
// come to its end.
std::optional<std::uint64_t> FromChild(const std::function<std::optional<std::uint64_t>()>& measure) {
  int pipe[2] = {};
  if (::pipe(pipe) != 0) return std::nullopt;
  std::fflush(stdout);  // else the child prints it too
  const pid_t child = ::fork();
  if (child == 0) {
    const std::optional<std::uint64_t> measured = measure();
    const bool is_sent = measured.has_value() && ::write(pipe[1], &*measured, sizeof(*measured)) == sizeof(*measured);
    std::fflush(stdout);
    ::_exit(is_sent ? 0 : 1);
  }
  ::close(pipe[1]);
  std::uint64_t measured = 0;
  const bool is_read = ::read(pipe[0], &measured, sizeof(measured)) == sizeof(measured);
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!is_read || status != 0) return std::nullopt;
  return measured;
}

std::uint64_t PeakOf(const Options& options, const Load& load) {
  const std::optional<std::uint64_t> peak = FromChild([&]() -> std::optional<std::uint64_t> {
    const std::uint64_t measured = PeakOfThisProcess(options, load);
    if (::testing::Test::HasFailure()) return std::nullopt;
    return measured;
  });
  EXPECT_TRUE(peak.has_value());
  return peak.value_or(0);
}

// A figure of this process in /proc/self/status, in bytes.
std::uint64_t StatusBytes(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return std::stoull(line.substr(name.size() + 1)) << 10;
  }
  return 0;
}

// Runs `work` in a child, which ends without closing anything. Returns the most memory that the child has taken beyond
// its memory at the start; nothing if `work` returns false.
std::optional<std::uint64_t> PeakOfChild(const std::function<bool()>& work) {
  const std::optional<std::uint64_t> taken = FromChild([&]() -> std::optional<std::uint64_t> {
    const std::uint64_t before = StatusBytes("VmRSS");
    if (!work()) return std::nullopt;
    return StatusBytes("VmHWM") - before;
  });
  if (taken.has_value()) std::printf("at most %.1f MiB\n", static_cast<double>(*taken) / kMiB);
  return taken;
}

// Whether a deep VerifyDB finds nothing.
bool VerifiesClean(const std::string& path, const Options& options) {
  VerifyReport report;
  const Status done = VerifyDB(path, options, {.deep = true}, &report);
  return done.ok() && report.problems.empty() && report.dead_damage.empty();
}

Options QuietOptions() {
  Options options;
  options.create_if_missing = true;
  options.info_log = NullLogger();
  return options;
}

Options SmallOptions() {
  Options options = QuietOptions();
  options.page_cache_size = 32 * kMiB;
  options.write_buffer_size = 2 * kMiB;
  options.max_write_buffer_number = 3;
  return options;
}

// The page cache, the memtables, and for buffers, stacks and maps an amount that does not grow with the database.
std::uint64_t PromiseOf(const Options& options) {
  const std::uint64_t memtables =
      options.write_buffer_size * static_cast<std::uint64_t>(options.max_write_buffer_number);
  return options.page_cache_size + memtables + 24 * kMiB;
}

// Whether the database takes more than the promise in one of a few runs. How much memory malloc keeps depends on which
// threads allocate at the same time.
bool TakesMoreThanPromised(const Options& options, const Load& load) {
  for (int run = 0; run < 8; ++run) {
    if (PeakOf(options, load) > PromiseOf(options)) return true;
  }
  return false;
}

TEST(MemoryTest, SmallValuesStayWithinDocumentedMemory) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  const Options options = SmallOptions();
  const Load load = {ScaledCount(600'000), 100};
  EXPECT_LE(PeakOf(options, load), PromiseOf(options));
  const MutantScope mutant(Mutant::kPagesFromMalloc);
  EXPECT_TRUE(TakesMoreThanPromised(options, load));
}

// An LSM keeps few pages in the cache; it takes memory mostly for flushes and compactions, in several threads.
TEST(MemoryTest, LsmStaysWithinDocumentedMemory) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  Options options = SmallOptions();
  options.index_type = kLsm;
  options.page_cache_size = 4 * kMiB;
  const Load load = {ScaledCount(600'000), 100};
  EXPECT_LE(PeakOf(options, load), PromiseOf(options));
  options.max_space_amplification = 0;  // under a ceiling, the files of so small a database are small too
  EXPECT_LE(PeakOf(options, load), PromiseOf(options));
  const MutantScope mutant(Mutant::kBuffersFromMalloc);
  EXPECT_TRUE(TakesMoreThanPromised(options, load));
}

TEST(MemoryTest, SeparatedValuesStayWithinDocumentedMemory) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  const Options options = SmallOptions();
  EXPECT_LE(PeakOf(options, {ScaledCount(20'000), 16u << 10}), PromiseOf(options));
}

// The log of a process with large memtables, which was killed.
TEST(MemoryTest, RecoveryStaysWithinDocumentedMemory) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  const TempDirectory directory;
  Options options = QuietOptions();
  options.page_cache_size = 8 * kMiB;
  options.min_blob_size = 1024;  // the memtables hold the values
  const auto write = [&] {
    Options large = options;
    large.write_buffer_size = std::size_t{1} << 30;
    large.max_total_wal_size = std::uint64_t{4} << 30;
    large.max_space_amplification = 0;  // near a ceiling memtables are flushed early
    std::unique_ptr<DB> db;
    bool is_ok = DB::Open(large, directory.File("db"), &db).ok();
    for (std::uint64_t i = 0; i < ScaledCount(300'000) && is_ok; ++i) {
      is_ok = db->Put({}, std::to_string(i * 0x9E3779B97F4A7C15u), std::string(200, 'v')).ok();
    }
    return is_ok;
  };
  ASSERT_TRUE(PeakOfChild(write).has_value());
  Options small = options;
  small.write_buffer_size = 8 * kMiB;
  // Returns the peak of an Open of a copy, which finds the log unflushed.
  const auto peak_of_open = [&] {
    const std::string copy = directory.File("copy");
    std::filesystem::remove_all(copy);
    std::filesystem::copy(directory.File("db"), copy, std::filesystem::copy_options::recursive);
    const std::optional<std::uint64_t> peak = PeakOfChild([&] {
      std::unique_ptr<DB> db;
      std::string value;
      const bool is_open = DB::Open(small, copy, &db).ok();
      return is_open && db->Get({}, "0", &value).ok() && value.size() == 200;
    });
    EXPECT_TRUE(peak.has_value());
    return peak.value_or(0);
  };
  const std::uint64_t memtables = small.write_buffer_size * static_cast<std::uint64_t>(small.max_write_buffer_number);
  const std::uint64_t promise = memtables + small.page_cache_size + 20 * kMiB;
  EXPECT_LE(peak_of_open(), promise);
  {
    const MutantScope mutant(Mutant::kReplayAllInMemory);
    EXPECT_GT(peak_of_open(), promise);
  }
  const MutantScope mutant(Mutant::kReplayPinsTables);
  EXPECT_GT(peak_of_open(), promise);
}

// The memory of families, of segments, and of index files with a few pages is within the figures of docs/LIMITS.md.
TEST(MemoryTest, FamiliesAndFilesStayWithinDocumentedMemory) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  for (const IndexKind index : {IndexKind::kBTree, IndexKind::kLsm}) {
    SCOPED_TRACE(index == IndexKind::kLsm ? "LSM" : "tree");
    const TempDirectory directory;
    Options options = QuietOptions();
    options.index_type = index;
    options.page_cache_size = 64u << 10;
    options.max_space_amplification = 0;  // else segments are not smaller than 1 MiB
    options.blob_file_size = 16u << 10;
    // Opens a database with this number of families and segments, writes or reads a key in each family, and has a flush
    // between. Returns the memory that the second Open and the reads took.
    const auto peak_with = [&](const std::string& name, std::uint64_t families, std::uint64_t segments) {
      const std::string path = directory.File(name);
      std::vector<ColumnFamilyDescriptor> descriptors{{kDefaultColumnFamilyName, options}};
      for (std::uint64_t i = 1; i < families; ++i) descriptors.emplace_back("family" + std::to_string(i), options);
      const auto run = [&](const std::function<bool(DB*, ColumnFamilyHandle*)>& in_each) {
        DBOptions all = options;
        all.create_missing_column_families = true;
        std::vector<ColumnFamilyHandle*> handles;
        std::unique_ptr<DB> db;
        bool is_ok = DB::Open(all, path, descriptors, &handles, &db).ok();
        for (ColumnFamilyHandle* family : handles) is_ok = is_ok && in_each(db.get(), family);
        for (ColumnFamilyHandle* family : handles) delete family;
        // The second Open must not begin with compactions that are due: background work has buffers of its own.
        return is_ok && db->WaitForCompact().ok() && db->Close().ok();
      };
      const auto write = [&](DB* db, ColumnFamilyHandle* family) {
        bool is_ok = db->Put({}, family, "key", "value").ok() && db->Flush({}, family).ok();
        for (std::uint64_t i = 0; i < segments * 2 / families && is_ok; ++i) {
          is_ok = db->Put({}, family, std::to_string(i), std::string(15'000, 'v')).ok();
        }
        return is_ok && db->Flush({}, family).ok();
      };
      EXPECT_TRUE(PeakOfChild([&] { return run(write); }).has_value());
      std::string value;
      const auto read = [&](DB* db, ColumnFamilyHandle* family) { return db->Get({}, family, "key", &value).ok(); };
      return PeakOfChild([&] { return run(read); }).value_or(0);
    };
    constexpr std::uint64_t kFamilies = 300;
    constexpr std::uint64_t kSegments = 1500;
    const std::uint64_t base = peak_with("small", 1, 1);
    const std::uint64_t peak = peak_with("large", kFamilies, kSegments);
    std::map<std::string, std::uint64_t> files;
    for (const auto& file : std::filesystem::directory_iterator(directory.File("large"))) ++files[file.path().extension()];
    const std::uint64_t index_files = files[".run"] + files[".idx"];
    EXPECT_GE(index_files, kFamilies);
    EXPECT_GE(files[".log"], kSegments - kSegments / 10);
    EXPECT_GT(peak, base + 6 * kMiB);
    // The cells of 1,024 pages are allocated at once.
    EXPECT_LE(peak, base + (7 * kFamilies + (10 + 8) * index_files + 3 * files[".log"]) * 1024);
  }
}

// The memory of large values and of segments that log GC has written is within the figures of docs/LIMITS.md.
TEST(MemoryTest, LargeValuesAndLogGcStayWithinDocumentedMemory) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  Options options = QuietOptions();
  options.page_cache_size = 64u << 10;
  options.max_space_amplification = 0;  // else segments are not smaller than 1 MiB
  options.blob_garbage_collection_age_cutoff = 1;
  for (const std::string kind : {".val", ".gc"}) {
    SCOPED_TRACE(kind);
    const TempDirectory directory;
    options.large_value_size = kind == ".val" ? 4u << 10 : 64u << 10;
    options.blob_file_size = 1u << 20;
    const auto write = [&](const std::string& path, int values) {
      std::unique_ptr<DB> db;
      bool is_ok = DB::Open(options, path, &db).ok();
      for (int i = 0; i < values && is_ok;) {
        WriteBatch batch;  // less than a segment
        for (const int end = std::min(values, i + 100); i < end; ++i) {
          is_ok = is_ok && batch.Put(std::to_string(i), std::string(7'000, 'v')).ok();
        }
        is_ok = is_ok && db->Write({}, &batch).ok();
      }
      return is_ok && db->Flush({}).ok() && db->Close().ok();
    };
    // Deletes every second value. Log GC copies the others to many small segments.
    const auto collect = [&](const std::string& path, int values) {
      std::unique_ptr<DB> db;
      Options small = options;
      small.blob_file_size = 16u << 10;
      bool is_ok = DB::Open(small, path, &db).ok();
      for (int i = 1; i < values; i += 2) is_ok = is_ok && db->Delete({}, std::to_string(i)).ok();
      CompactRangeOptions all;
      all.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
      return is_ok && db->CompactRange(all, nullptr, nullptr).ok() && db->Close().ok();
    };
    // Makes a database of so many values. Returns how many files of this kind it has, and the memory that the next Open
    // and a read take.
    const auto measure = [&](const std::string& name, int values) {
      const std::string path = directory.File(name);
      EXPECT_TRUE(PeakOfChild([&] { return write(path, values); }).has_value());
      if (kind == ".gc") {
        EXPECT_TRUE(PeakOfChild([&] { return collect(path, values); }).has_value());
      }
      const std::optional<std::uint64_t> peak = PeakOfChild([&] {
        std::unique_ptr<DB> db;
        std::string value;
        return DB::Open(options, path, &db).ok() && db->Get({}, "0", &value).ok() && db->Close().ok();
      });
      EXPECT_TRUE(peak.has_value());
      std::uint64_t files = 0;
      for (const auto& file : std::filesystem::directory_iterator(path)) {
        files += file.path().extension() == kind ? 1 : 0;
      }
      return std::pair(files, peak.value_or(0));
    };
    const auto [few, base] = measure("small", 2);
    const auto [many, peak] = measure("large", kind == ".val" ? 400 : 3200);
    EXPECT_GE(many, few + 300);
    const double each = (static_cast<double>(peak) - static_cast<double>(base)) / static_cast<double>(many - few);
    std::printf("%s: %.0f bytes for each of %llu files\n", kind.c_str(), each,
                static_cast<unsigned long long>(many - few));
    EXPECT_LE(each, 3 * 1024);
    if (kind == ".gc") {
      EXPECT_GE(each, sizeof(Segment)) << "other memory of Open hides that of the files: this measures nothing";
    }
  }
}

// The lists of keys and addresses that are checked together are full several times.
TEST(MemoryTest, VerificationOfManyValuesStaysWithinDocumentedMemory) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  const TempDirectory directory;
  Options options = QuietOptions();
  options.page_cache_size = 8 * kMiB;
  options.write_buffer_size = 16 * kMiB;
  options.max_space_amplification = 0;
  const auto write = [&] {
    std::unique_ptr<DB> db;
    bool is_ok = DB::Open(options, directory.File("db"), &db).ok();
    Prng prng(1);
    for (int i = 0; i < 18'000 && is_ok; ++i) {
      is_ok = db->Put({}, prng.Bytes(8u << 10), std::string(600, 'v')).ok();
    }
    return is_ok && db->Flush({}).ok() && db->WaitForCompact().ok() && db->Close().ok();
  };
  ASSERT_TRUE(PeakOfChild(write).has_value());
  const std::optional<std::uint64_t> peak = PeakOfChild([&] { return VerifiesClean(directory.File("db"), options); });
  ASSERT_TRUE(peak.has_value());
  EXPECT_LE(*peak, 128 * kMiB);
  EXPECT_GT(*peak, 64 * kMiB) << "the lists were not full";
}

// A value in a file of its own, and one in the log.
TEST(MemoryTest, VerificationHoldsNoValue) {
  if (kUnderSanitizer) GTEST_SKIP() << "SKIPPED under a sanitizer: it takes memory of its own";
  const TempDirectory directory;
  Options options = QuietOptions();
  options.large_value_size = 64 * kMiB;
  options.blob_file_size = 1 * kMiB;
  const auto write = [&] {
    std::unique_ptr<DB> db;
    bool is_ok = DB::Open(options, directory.File("db"), &db).ok();
    Prng prng(1);
    for (const std::size_t mib : {100u, 60u}) {
      is_ok = is_ok && db->Put({}, std::to_string(mib), prng.Bytes(mib * kMiB)).ok();
    }
    return is_ok && db->Flush({}).ok() && db->Put({}, "last", "1").ok() && db->Close().ok();
  };
  ASSERT_TRUE(PeakOfChild(write).has_value());
  const auto verify = [&] { return VerifiesClean(directory.File("db"), options); };
  const std::uint64_t promise = 24 * kMiB;
  const std::optional<std::uint64_t> peak = PeakOfChild(verify);
  ASSERT_TRUE(peak.has_value());
  EXPECT_LE(*peak, promise);
  const MutantScope mutant(Mutant::kCheckHoldsValue);
  const std::optional<std::uint64_t> held = PeakOfChild(verify);
  ASSERT_TRUE(held.has_value());
  EXPECT_GT(*held, promise);
}

}  // namespace
}  // namespace cambium::testing
