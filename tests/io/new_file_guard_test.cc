#include "io/new_file_guard.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "io/sim/sim_file_system.h"
#include "testing/files/forwarding_file_system.h"

namespace cambium::testing {
namespace {

std::vector<std::string> NamesInRoot(FileSystem* fs) {
  std::vector<std::string> names;
  EXPECT_TRUE(fs->List("/", &names).ok());
  return names;
}

using NamesOfRoot = std::vector<std::string>;

TEST(NewFileGuardTest, FileIsRemovedUnlessItIsKept) {
  SimFileSystem fs;
  {
    NewFileGuard guard(&fs, "/new");
    std::unique_ptr<File> file;
    ASSERT_TRUE(guard.Create(&file).ok());
    EXPECT_EQ(NamesInRoot(&fs), NamesOfRoot{"new"});
  }
  EXPECT_EQ(NamesInRoot(&fs), NamesOfRoot{});
  {
    NewFileGuard guard(&fs, "/new");
    std::unique_ptr<File> file;
    ASSERT_TRUE(guard.Create(&file).ok());
    guard.Keep();
  }
  EXPECT_EQ(NamesInRoot(&fs), NamesOfRoot{"new"});
}

TEST(NewFileGuardTest, FileOfAnotherRemains) {
  SimFileSystem fs;
  std::unique_ptr<File> other;
  ASSERT_TRUE(fs.Open("/new", OpenMode::kCreateNew, {}, &other).ok());
  {
    NewFileGuard guard(&fs, "/new");
    std::unique_ptr<File> file;
    EXPECT_FALSE(guard.Create(&file).ok());
  }
  EXPECT_EQ(NamesInRoot(&fs), NamesOfRoot{"new"});
}

// Creates the file, and has no memory to return it.
class NoMemoryAfterCreation final : public ForwardingFileSystem {
 public:
  using ForwardingFileSystem::ForwardingFileSystem;
  Status Open(const std::string& path, OpenMode mode, const FileOptions& options,
              std::unique_ptr<File>* file) override {
    EXPECT_TRUE(base().Open(path, mode, options, file).ok());
    file->reset();
    throw std::bad_alloc();
  }
};

TEST(NewFileGuardTest, FileOfACallThatThrowsIsRemoved) {
  const auto fs = std::make_shared<SimFileSystem>();
  NoMemoryAfterCreation scarce(fs);
  const auto create = [&scarce] {
    NewFileGuard guard(&scarce, "/new");
    std::unique_ptr<File> file;
    static_cast<void>(guard.Create(&file));
  };
  EXPECT_THROW(create(), std::bad_alloc);
  EXPECT_EQ(NamesInRoot(fs.get()), NamesOfRoot{});
}

}  // namespace
}  // namespace cambium::testing
