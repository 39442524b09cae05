#include "io/posix_map.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium {
namespace {

class PosixMapTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(FileSystem::Default()->Open(directory_.File("f"), OpenMode::kCreateNew, {}, &file_).ok());
    content_ = Prng(1).Bytes(5 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + 100);
    ASSERT_TRUE(file_->Write(0, content_).ok());
  }

  testing::TempDirectory directory_;
  std::unique_ptr<File> file_;
  std::string content_;
};

TEST_F(PosixMapTest, ShowsAndCopiesAnyRange) {
  for (const std::size_t offset : {0u, 1u, 4095u, 4096u, 4097u, 12'345u}) {
    for (const std::size_t length : {1u, 100u, 5000u}) {
      std::unique_ptr<MappedRegion> region;
      ASSERT_TRUE(file_->Map(offset, length, &region).ok());
      ASSERT_EQ(region->size(), length);
      EXPECT_EQ(std::string(region->data(), length), content_.substr(offset, length));
      std::string out(length, '?');
      ASSERT_TRUE(region->CopyOut(0, length, out.data()).ok());
      EXPECT_EQ(out, content_.substr(offset, length));
      ASSERT_TRUE(region->CopyOut(length - 1, 1, out.data()).ok());
      EXPECT_EQ(out[0], content_[offset + length - 1]);
      EXPECT_TRUE(region->CopyOut(length, 0, out.data()).ok());
      EXPECT_TRUE(region->CopyOut(1, length, out.data()).IsInvalidArgument());
      EXPECT_TRUE(region->CopyOut(SIZE_MAX, 2, out.data()).IsInvalidArgument());
    }
  }
}

TEST_F(PosixMapTest, OutlivesTheFileObjectAndTheName) {
  std::unique_ptr<MappedRegion> region;
  ASSERT_TRUE(file_->Map(10, 5000, &region).ok());
  file_.reset();
  ASSERT_TRUE(FileSystem::Default()->Unlink(directory_.File("f")).ok());
  std::string out(5000, '?');
  ASSERT_TRUE(region->CopyOut(0, 5000, out.data()).ok());
  EXPECT_EQ(out, content_.substr(10, 5000));
  EXPECT_EQ(std::string(region->data(), 5000), out);
}

TEST_F(PosixMapTest, ShowsLaterWrites) {
  std::unique_ptr<MappedRegion> region;
  ASSERT_TRUE(file_->Map(0, 100, &region).ok());
  ASSERT_TRUE(file_->Write(50, "new").ok());
  char out[3];
  ASSERT_TRUE(region->CopyOut(50, 3, out).ok());
  EXPECT_EQ(std::string(out, 3), "new");
  EXPECT_EQ(std::string(region->data() + 50, 3), "new");
}

// Reading these pages through data() would raise SIGBUS and end the process.
TEST_F(PosixMapTest, TruncatedFileIsAnIOErrorNotASignal) {
  std::unique_ptr<MappedRegion> region;
  ASSERT_TRUE(file_->Map(0, content_.size(), &region).ok());
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t end = page + 1000;
  ASSERT_TRUE(file_->Truncate(end).ok());
  std::string out(content_.size(), '?');
  EXPECT_TRUE(region->CopyOut(0, end, out.data()).ok());
  EXPECT_EQ(out.substr(0, end), content_.substr(0, end));
  const Status cut = region->CopyOut(page, 2 * page, out.data());
  EXPECT_TRUE(cut.IsIOError());
  EXPECT_NE(cut.ToString().find(directory_.File("f") + ":" + std::to_string(end) + ": "), std::string::npos)
      << cut.ToString();
  EXPECT_TRUE(region->CopyOut(content_.size() - 1, 1, out.data()).IsIOError());
  ASSERT_TRUE(file_->Truncate(0).ok());
  EXPECT_TRUE(region->CopyOut(0, 1, out.data()).IsIOError());
}

TEST_F(PosixMapTest, RangeBeyondTheEndMapsButDoesNotCopy) {
  std::unique_ptr<MappedRegion> region;
  ASSERT_TRUE(file_->Map(1 << 20, 100, &region).ok());
  char out[1];
  EXPECT_TRUE(region->CopyOut(0, 1, out).IsIOError());
}

TEST_F(PosixMapTest, EmptyRangeMapsToEmptyRegion) {
  std::unique_ptr<MappedRegion> region;
  ASSERT_TRUE(file_->Map(5, 0, &region).ok());
  EXPECT_EQ(region->size(), 0u);
  EXPECT_NE(region->data(), nullptr);
  EXPECT_TRUE(region->CopyOut(0, 0, nullptr).ok());
}

// A mapping takes address space that the program may need for its own memory.
TEST_F(PosixMapTest, NothingIsMappedIfTheAddressSpaceIsLimited) {
  struct rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  struct rlimit limited = before;
  limited.rlim_cur = rlim_t{1} << 46;
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limited), 0);
  std::unique_ptr<MappedRegion> region;
  const Status mapped = file_->Map(0, 100, &region);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_TRUE(mapped.IsNotSupported()) << mapped.ToString();
  EXPECT_EQ(region, nullptr);
  EXPECT_TRUE(file_->Map(0, 100, &region).ok()) << "there is no limit again";
}

TEST_F(PosixMapTest, RegionsOfTheProcessAreBounded) {
  std::vector<std::unique_ptr<MappedRegion>> regions;
  Status mapped;
  while (mapped.ok() && regions.size() <= kMappedRegionsMax) mapped = file_->Map(0, 100, &regions.emplace_back());
  EXPECT_TRUE(mapped.IsNotSupported()) << mapped.ToString();
  EXPECT_EQ(regions.size(), kMappedRegionsMax + 1) << "the last one is empty";
  regions.resize(10);
  EXPECT_TRUE(file_->Map(0, 100, &regions.emplace_back()).ok()) << "regions that are gone do not count";
}

std::string LockedMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmLck:")) return line;
  }
  return "unknown";
}

// Otherwise the kernel would read the whole file, and keep it in memory.
TEST_F(PosixMapTest, MappedPagesAreNotLockedForAProcessThatLocksItsMemory) {
  if (::mlockall(MCL_FUTURE) != 0) GTEST_SKIP() << "SKIPPED: this process may not lock its memory";
  const std::string before = LockedMemory();
  std::unique_ptr<MappedRegion> region;
  const Status mapped = file_->Map(0, std::size_t{1} << 30, &region);
  const std::string after = LockedMemory();
  ASSERT_EQ(::munlockall(), 0);
  ASSERT_TRUE(mapped.ok()) << mapped.ToString();
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace cambium
