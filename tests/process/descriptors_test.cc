// Which files an open database has open, and how often, as the system lists them in /proc/self/fd.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "testing/index_mode.h"
#include "testing/files/io_uring_here.h"
#include "testing/files/page_cache.h"
#include "testing/temp_directory.h"

namespace cambium::testing {
namespace {

// The descriptors that lead into `directory`, by the kind of their file: its suffix, or its name up to a hyphen.
std::map<std::string, int> DescriptorsOf(const std::string& directory) {
  std::map<std::string, int> kinds;
  for (const auto& descriptor : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;
    const std::filesystem::path target = std::filesystem::read_symlink(descriptor.path(), closed);
    if (closed) continue;
    if (target == directory) ++kinds["directory"];
    if (target.parent_path() != directory) continue;
    const std::string name = target.filename();
    ++kinds[target.has_extension() ? std::string(target.extension()) : name.substr(0, name.find('-'))];
  }
  return kinds;
}

std::map<std::string, int> FilesOf(const std::string& directory) {
  std::map<std::string, int> kinds;
  for (const auto& file : std::filesystem::directory_iterator(directory)) ++kinds[file.path().extension()];
  return kinds;
}

// Segments, relocated ones too, large values, and index files.
std::unique_ptr<DB> Fill(const Options& options, const std::string& path) {
  std::unique_ptr<DB> db;
  EXPECT_TRUE(DB::Open(options, path, &db).ok());
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 600; ++i) {
      const std::size_t size = i % 100 == 0 ? 20'000 : 3'000;
      EXPECT_TRUE(db->Put({}, std::to_string(i % (400 - 100 * round)), std::string(size, 'v')).ok());
    }
    EXPECT_TRUE(db->CompactRange({.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce,
                                  .blob_garbage_collection_age_cutoff = 1},
                                 nullptr, nullptr)
                    .ok());
  }
  EXPECT_TRUE(db->WaitForCompact().ok());
  return db;
}

Options OptionsWith(int max_open_files) {
  Options options;
  options.create_if_missing = true;
  options.blob_file_size = 64u << 10;
  options.large_value_size = 16u << 10;
  options.max_space_amplification = 0;
  options.max_open_files = max_open_files;
  UseIndexOfTest(&options);
  return options;
}

int Count(const std::map<std::string, int>& open, const std::string& kind) {
  return open.contains(kind) ? open.at(kind) : 0;
}

TEST(DescriptorsTest, DatabaseTakesOneDescriptorPerFilePlusAConstant) {
  const TempDirectory directory;
  const std::string path = std::filesystem::canonical(directory.path()).string() + "/db";
  const Options options = OptionsWith(-1);
  std::unique_ptr<DB> db = Fill(options, path);
  for (int opens = 0; opens < 2; ++opens) {
    ASSERT_TRUE(db->WaitForCompact().ok());
    std::map<std::string, int> files = FilesOf(path);
    std::map<std::string, int> open = DescriptorsOf(path);
    EXPECT_EQ(Count(open, "directory"), 2);
    EXPECT_EQ(Count(open, "LOCK"), 2);
    EXPECT_EQ(Count(open, "MANIFEST"), 1);
    EXPECT_EQ(Count(open, "LOG"), 1);
    EXPECT_EQ(Count(open, "OPTIONS"), 0);
    for (const char* kind : {".log", ".gc", ".val"}) EXPECT_GT(files[kind], 0) << kind;
    EXPECT_GT(files[".idx"] + files[".run"], 0);
    for (const char* kind : {".log", ".gc", ".val", ".idx", ".run", ".rsv"}) EXPECT_LE(open[kind], files[kind]) << kind;
    EXPECT_GE(open[".log"] + open[".gc"] + open[".val"], 3);
    ASSERT_TRUE(db->Close().ok());
    db.reset();
    EXPECT_TRUE(DescriptorsOf(path).empty()) << "the destructor closes all";
    ASSERT_TRUE(DB::Open(options, path, &db).ok());
  }
}

TEST(DescriptorsTest, MaxOpenFilesIsKeptWhileNothingIsWritten) {
  const TempDirectory directory;
  const std::string path = std::filesystem::canonical(directory.path()).string() + "/db";
  constexpr int kMax = 6;
  const std::unique_ptr<DB> db = Fill(OptionsWith(kMax), path);
  const std::unique_ptr<Iterator> it(db->NewIterator({}));
  int entries = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++entries;
  EXPECT_EQ(entries, 400);
  const std::map<std::string, int> open = DescriptorsOf(path);
  int all = -Count(open, "directory") - Count(open, "LOCK");
  for (const auto& [kind, count] : open) all += count;
  EXPECT_LE(Count(open, "directory") + Count(open, "LOCK"), 4);
  // The current segment and the spare one are being written.
  EXPECT_LE(all, kMax + 2);
}

// Returns how many io_uring rings the process has.
int Rings() {
  int rings = 0;
  for (const auto& descriptor : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code closed;
    const std::string target = std::filesystem::read_symlink(descriptor.path(), closed);
    rings += target.find("io_uring") != std::string::npos ? 1 : 0;
  }
  return rings;
}

// Each iterator that has read values from the disk keeps its ring; 8 of them are kept for later reads.
TEST(DescriptorsTest, EightIdleRingsAreKept) {
  if (KernelRefusesIoUring()) GTEST_SKIP() << kNoIoUring;
  constexpr int kIterators = 12;
  const TempDirectory directory;
  std::unique_ptr<DB> db;
  Options options;
  options.create_if_missing = true;
  ASSERT_TRUE(DB::Open(options, directory.File("db"), &db).ok());
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(db->Put({}, std::to_string(i * 7919 % 300), std::string(3000, 'v')).ok());
  if (!ColdReadsWait(directory.File("db"))) GTEST_SKIP() << "SKIPPED: no read is cold here";
  std::vector<std::unique_ptr<Iterator>> iterators;
  for (int i = 0; i < kIterators; ++i) {
    // The kernel may keep pages that it is still reading ahead. Then this scan may have no cold read, and takes no ring.
    static_cast<void>(ForgetLogPages(directory.File("db")));
    iterators.emplace_back(db->NewIterator({}));
    Iterator* const it = iterators.back().get();
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
    }
    EXPECT_TRUE(it->status().ok());
  }
  const int rings = Rings();  // fewer if the kernel has read pages ahead, and an iterator found its values in memory
  EXPECT_LE(rings, kIterators);
  if (rings <= 8) GTEST_SKIP() << "SKIPPED: fewer than nine of twelve scans had a cold read, because the kernel "
                                    "read pages ahead; without a cold read an iterator takes no ring";
  iterators.clear();
  EXPECT_EQ(Rings(), 8);
}

}  // namespace
}  // namespace cambium::testing
