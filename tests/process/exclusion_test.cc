// Several processes and one database: either one writer, or any number of readers. Another process has the database
// open, and this one tries to open it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "manifest/file_names.h"
#include "process/check.h"
#include "process/child.h"
#include "testing/mutant_scope.h"
#include "testing/temp_directory.h"

namespace cambium::testing {
namespace {

class ExclusionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    plan_.directory = directory_.File("db");
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(WorkloadOptions(plan_.size), plan_.directory, &db).ok());
    ASSERT_TRUE(db->Put({}, "key", "value").ok());
    ASSERT_TRUE(db->Close().ok());
  }
  Status TryOpen(bool read_only) const {
    Options options = WorkloadOptions(plan_.size);
    options.lock_wait_micros = 0;
    std::unique_ptr<DB> db;
    return read_only ? DB::OpenForReadOnly(options, plan_.directory, &db) : DB::Open(options, plan_.directory, &db);
  }
  [[nodiscard]] std::unique_ptr<Child> Hold(const std::string& role) const {
    auto child = std::make_unique<Child>(role, plan_);
    EXPECT_TRUE(child->Listen(60'000'000, [](const Message& m) { return m.kind == Message::Kind::kOpened; }));
    return child;
  }
  // Returns names, sizes and contents of all files, except LOG and LOCK.
  [[nodiscard]] std::string Fingerprint() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(plan_.directory)) {
      const std::string name = entry.path().filename();
      if (name == "LOG" || name == "LOCK") continue;
      std::unique_ptr<File> file;
      FileInfo info;
      EXPECT_TRUE(FileSystem::Default()->Open(entry.path(), OpenMode::kReadOnly, {}, &file).ok());
      EXPECT_TRUE(file->GetInfo(&info).ok());
      std::string bytes(info.size, '\0');
      std::size_t read = 0;
      EXPECT_TRUE(file->Read(0, bytes.size(), bytes.data(), &read).ok());
      files[name] = bytes;
    }
    std::string all;
    for (const auto& [name, bytes] : files) all += name + ":" + std::to_string(bytes.size()) + ":" + bytes;
    return all;
  }

  TempDirectory directory_;
  Plan plan_;
};

TEST_F(ExclusionTest, SecondOpenIsRefusedAndChangesNothing) {
  const std::unique_ptr<Child> holder = Hold("hold");
  const std::string before = Fingerprint();
  const Status writer = TryOpen(false);
  EXPECT_TRUE(writer.IsLocked()) << writer.ToString();
  EXPECT_NE(writer.ToString().find(plan_.directory), std::string::npos) << writer.ToString();
  const Status reader = TryOpen(true);
  EXPECT_TRUE(reader.IsLocked()) << reader.ToString();
  Options options = WorkloadOptions(plan_.size);
  options.lock_wait_micros = 0;
  EXPECT_TRUE(DestroyDB(plan_.directory, options).IsLocked());
  EXPECT_EQ(Fingerprint(), before);
}

// Regression: two floors had constants of the same name, one a string and one a view, and the linker took them for one.
// Depending on the optimizer, the locked file had garbage for a name, and DestroyDB and verify did not recognize it.
TEST_F(ExclusionTest, LockedFileIsNamedLock) {
  const std::unique_ptr<Child> holder = Hold("hold");
  std::vector<std::string> names;
  ASSERT_TRUE(FileSystem::Default()->List(plan_.directory, &names).ok());
  EXPECT_NE(std::find(names.begin(), names.end(), "LOCK"), names.end());
  for (const std::string& name : names) {
    EXPECT_TRUE(name == "LOCK" || name.starts_with("LOG") || ParseFileName(name).has_value()) << name;
  }
}

TEST_F(ExclusionTest, ReadersShareAndExcludeAWriter) {
  const std::unique_ptr<Child> one = Hold("hold-for-reading");
  const std::unique_ptr<Child> two = Hold("hold-for-reading");
  const std::string before = Fingerprint();
  EXPECT_TRUE(TryOpen(true).ok());
  EXPECT_TRUE(TryOpen(false).IsLocked());
  EXPECT_EQ(Fingerprint(), before);
}

TEST_F(ExclusionTest, LockOfAKilledHolderIsFree) {
  std::unique_ptr<Child> holder = Hold("hold");
  EXPECT_TRUE(TryOpen(false).IsLocked());
  holder->Kill([](const Message&) {});
  EXPECT_TRUE(TryOpen(false).ok());
}

// An operator takes the lock for stale, removes LOCK, and starts a second process.
TEST_F(ExclusionTest, DeletingTheLockFileAdmitsNoSecondOpen) {
  const std::unique_ptr<Child> holder = Hold("hold");
  ASSERT_EQ(::unlink((plan_.directory + "/LOCK").c_str()), 0);
  EXPECT_TRUE(TryOpen(false).IsLocked());
  EXPECT_TRUE(TryOpen(true).IsLocked());
  // The attempts above may have created a new LOCK. That must not help either.
  EXPECT_TRUE(TryOpen(false).IsLocked());
}

TEST_F(ExclusionTest, SecondOpenInTheSameProcessIsRefused) {
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(WorkloadOptions(plan_.size), plan_.directory, &db).ok());
  EXPECT_TRUE(TryOpen(false).IsLocked());
  EXPECT_TRUE(TryOpen(true).IsLocked());
  // The refused attempts have not released the first handle's locks.
  EXPECT_TRUE(TryOpen(false).IsLocked());
  const std::unique_ptr<Child> other = std::make_unique<Child>("hold", plan_);
  EXPECT_FALSE(other->Listen(300'000, [](const Message& m) { return m.kind == Message::Kind::kOpened; }));
  EXPECT_TRUE(db->Put({}, "key", "another").ok());
  EXPECT_TRUE(db->Close().ok());
  // The other process has been waiting for the lock.
  EXPECT_TRUE(other->Listen(60'000'000, [](const Message& m) { return m.kind == Message::Kind::kOpened; }));
}

TEST_F(ExclusionTest, MutantWithoutLockAdmitsASecondOpen) {
  const std::unique_ptr<Child> holder = Hold("hold");
  const MutantScope mutant(Mutant::kNoExclusiveLock);
  EXPECT_FALSE(TryOpen(false).IsLocked());
}

TEST_F(ExclusionTest, MutantWithLockFileOnlyAdmitsASecondOpen) {
  const MutantScope mutant(Mutant::kLockFileOnly);
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(WorkloadOptions(plan_.size), plan_.directory, &db).ok());
  ASSERT_EQ(::unlink((plan_.directory + "/LOCK").c_str()), 0);
  EXPECT_FALSE(TryOpen(true).IsLocked());
}

}  // namespace
}  // namespace cambium::testing
