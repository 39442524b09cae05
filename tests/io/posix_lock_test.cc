#include "io/posix_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "testing/mutant_scope.h"
#include "testing/temp_directory.h"

namespace cambium {
namespace {

constexpr std::uint64_t kLongMicros = 30'000'000;  // longer than any machine needs: a test that waits so long fails

class PosixLockTest : public ::testing::Test {
 protected:
  Status Lock(LockMode mode, std::unique_ptr<FileLock>* lock, std::uint64_t wait_micros = 0) {
    return FileSystem::Default()->Lock(directory_.path(), mode, wait_micros, lock);
  }
  // Returns whether another handle of this process could get the lock.
  bool IsFree(LockMode mode = LockMode::kExclusive) {
    std::unique_ptr<FileLock> lock;
    const Status status = Lock(mode, &lock);
    EXPECT_TRUE(status.ok() || status.IsLocked()) << status.ToString();
    return status.ok();
  }
  [[nodiscard]] std::string LockFile() const { return directory_.File(kLockFileName); }

  testing::TempDirectory directory_;
};

// Runs `body` in a forked child, and returns its result (0 to 99). Uses _exit: the child must not run gtest's teardown.
int InChild(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + status;
}

// A child that runs `first`, reports it, and then lives until this object is destroyed or kills it.
class LivingChild {
 public:
  explicit LivingChild(const std::function<void()>& first) {
    int ready[2];
    int end[2];
    EXPECT_EQ(::pipe(ready), 0);
    EXPECT_EQ(::pipe(end), 0);
    pid_ = ::fork();
    char byte = 0;
    if (pid_ == 0) {
      ::close(end[1]);
      first();
      if (::write(ready[1], "r", 1) == 1) (void)!::read(end[0], &byte, 1);
      ::_exit(0);
    }
    EXPECT_GT(pid_, 0) << "fork failed";
    ::close(ready[1]);
    ::close(end[0]);
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    end_ = end[1];
  }
  ~LivingChild() {
    ::close(end_);
    ::waitpid(pid_, nullptr, 0);
  }
  LivingChild(const LivingChild&) = delete;
  LivingChild& operator=(const LivingChild&) = delete;
  void Kill() const {
    if (pid_ > 0) ::kill(pid_, SIGKILL);  // -1 would end all processes
  }

 private:
  pid_t pid_;
  int end_;
};

TEST_F(PosixLockTest, OneWriterOrManyReaders) {
  std::unique_ptr<FileLock> one;
  std::unique_ptr<FileLock> two;
  ASSERT_TRUE(Lock(LockMode::kExclusive, &one).ok());
  EXPECT_TRUE(Lock(LockMode::kExclusive, &two).IsLocked());
  EXPECT_TRUE(Lock(LockMode::kShared, &two).IsLocked());
  EXPECT_EQ(two, nullptr);
  one.reset();
  ASSERT_TRUE(Lock(LockMode::kShared, &one).ok());
  ASSERT_TRUE(Lock(LockMode::kShared, &two).ok());
  EXPECT_FALSE(IsFree());
  one.reset();
  EXPECT_FALSE(IsFree());
  two.reset();
  EXPECT_TRUE(IsFree());
}

TEST_F(PosixLockTest, LockExcludesOtherProcessesUntilReleased) {
  const auto try_in_child = [this](LockMode mode) { return InChild([this, mode] { return IsFree(mode) ? 1 : 2; }); };
  std::unique_ptr<FileLock> lock;
  ASSERT_TRUE(Lock(LockMode::kExclusive, &lock).ok());
  EXPECT_EQ(try_in_child(LockMode::kExclusive), 2);
  EXPECT_EQ(try_in_child(LockMode::kShared), 2);
  lock.reset();
  EXPECT_EQ(try_in_child(LockMode::kExclusive), 1);
  ASSERT_TRUE(Lock(LockMode::kShared, &lock).ok());
  EXPECT_EQ(try_in_child(LockMode::kExclusive), 2);
  EXPECT_EQ(try_in_child(LockMode::kShared), 1);
}

TEST_F(PosixLockTest, LockOfAKilledProcessIsReleased) {
  const LivingChild holder([this] {
    std::unique_ptr<FileLock> lock;
    if (!Lock(LockMode::kExclusive, &lock).ok()) ::_exit(1);
    (void)lock.release();  // held until the process dies, as by an open database
  });
  EXPECT_FALSE(IsFree());
  holder.Kill();
  std::unique_ptr<FileLock> lock;
  EXPECT_TRUE(Lock(LockMode::kExclusive, &lock, kLongMicros).ok());
}

TEST_F(PosixLockTest, WaitsUntilReleasedOrGivesUpInTime) {
  std::unique_ptr<FileLock> lock;
  std::unique_ptr<FileLock> late;
  ASSERT_TRUE(Lock(LockMode::kExclusive, &lock).ok());
  EXPECT_TRUE(Lock(LockMode::kExclusive, &late, 5'000).IsLocked());
  std::thread holder([&lock] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    lock.reset();
  });
  EXPECT_TRUE(Lock(LockMode::kExclusive, &late, kLongMicros).ok());
  holder.join();
}

TEST_F(PosixLockTest, DeletingTheLockFileDoesNotRelease) {
  const auto second_is_kept_out = [this] {
    std::unique_ptr<FileLock> lock;
    EXPECT_TRUE(Lock(LockMode::kExclusive, &lock).ok());
    EXPECT_EQ(::unlink(LockFile().c_str()), 0);
    return !IsFree(LockMode::kExclusive) && InChild([this] { return IsFree() ? 1 : 2; }) == 2;
  };
  EXPECT_TRUE(second_is_kept_out());
  EXPECT_TRUE(IsFree()) << "the directory must be free again, with a new LOCK";
  const testing::MutantScope mutant(Mutant::kLockFileOnly);
  EXPECT_FALSE(second_is_kept_out()) << "the mutant must be caught";
}

// Each holder of the lock increments a counter, and decrements it before release. Meanwhile another thread keeps
// deleting LOCK.
TEST_F(PosixLockTest, ReplacingTheLockFileNeverAdmitsTwo) {
  std::atomic<bool> stop = false;
  std::atomic<int> holders = 0;
  std::atomic<int> turns = 0;
  std::atomic<int> collisions = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      while (!stop) {
        std::unique_ptr<FileLock> lock;
        if (!Lock(LockMode::kExclusive, &lock, 1'000).ok()) continue;
        if (holders.fetch_add(1) != 0) ++collisions;
        ++turns;
        holders.fetch_sub(1);
      }
    });
  }
  while (turns < 200) {
    ::unlink(LockFile().c_str());
    std::this_thread::yield();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(collisions, 0);
}

TEST_F(PosixLockTest, ForkedChildDoesNotReleaseTheLock) {
  const auto parent_keeps_it = [this] {
    std::unique_ptr<FileLock> lock;
    EXPECT_TRUE(Lock(LockMode::kExclusive, &lock).ok());
    EXPECT_EQ(InChild([&lock] {
                lock.reset();
                return 0;
              }),
              0);
    return !IsFree() && InChild([this] { return IsFree() ? 1 : 2; }) == 2;
  };
  EXPECT_TRUE(parent_keeps_it());
  const testing::MutantScope mutant(Mutant::kUnlockInChild);
  EXPECT_FALSE(parent_keeps_it()) << "the mutant must be caught";
}

TEST_F(PosixLockTest, SurvivingChildDoesNotKeepTheLock) {
  std::unique_ptr<FileLock> lock;
  ASSERT_TRUE(Lock(LockMode::kExclusive, &lock).ok());
  const LivingChild child([] {});
  lock.reset();
  EXPECT_TRUE(IsFree());
}

// Runs as an ordinary user, even if the tests run as root: permissions do not restrict root.
TEST_F(PosixLockTest, SharedLockNeitherNeedsNorCreatesTheLockFile) {
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0555), 0);
  EXPECT_EQ(InChild([this] {
              if (::geteuid() == 0 && ::setuid(65534) != 0) return 10;
              std::unique_ptr<FileLock> lock;
              if (Lock(LockMode::kExclusive, &lock).ok()) return 11;
              if (!Lock(LockMode::kShared, &lock).ok()) return 12;
              return ::access(LockFile().c_str(), F_OK) == 0 ? 13 : 1;
            }),
            1);
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  std::unique_ptr<FileLock> reader;
  ASSERT_TRUE(Lock(LockMode::kShared, &reader).ok());
  EXPECT_FALSE(IsFree()) << "the directory's lock alone must exclude a writer";
}

// A lock as any user can take it who may read the directory.
class ForeignLock {
 public:
  explicit ForeignLock(const std::string& directory) : fd_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY)) {
    EXPECT_EQ(::flock(fd_, LOCK_EX | LOCK_NB), 0);
  }
  ~ForeignLock() { ::close(fd_); }
  ForeignLock(const ForeignLock&) = delete;
  ForeignLock& operator=(const ForeignLock&) = delete;

 private:
  const int fd_;
};

TEST_F(PosixLockTest, LockFileIsForTheOwnerAlone) {
  const mode_t umask = ::umask(0);
  std::unique_ptr<FileLock> lock;
  EXPECT_TRUE(Lock(LockMode::kExclusive, &lock).ok());
  ::umask(umask);
  struct stat facts;
  ASSERT_EQ(::stat(LockFile().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600u);
}

// If others may read the directory, they may lock it. Their lock does not keep the owner out of a database that has a
// LOCK, and the owner's handles still exclude each other.
TEST_F(PosixLockTest, ForeignLockOnAReadableDirectoryKeepsNoProcessOut) {
  ASSERT_TRUE(IsFree());  // creates LOCK
  const ForeignLock foreign(directory_.path());
  EXPECT_FALSE(IsFree()) << "mode 0700: only the owner can have this lock";
  for (const mode_t mode : {0755, 0750, 0704}) {
    ASSERT_EQ(::chmod(directory_.path().c_str(), mode), 0);
    std::unique_ptr<FileLock> one;
    std::unique_ptr<FileLock> two;
    ASSERT_TRUE(Lock(LockMode::kExclusive, &one).ok());
    EXPECT_FALSE(IsFree());
    EXPECT_FALSE(IsFree(LockMode::kShared));
    one.reset();
    ASSERT_TRUE(Lock(LockMode::kShared, &one).ok());
    ASSERT_TRUE(Lock(LockMode::kShared, &two).ok());
    EXPECT_FALSE(IsFree());
    const testing::MutantScope mutant(Mutant::kTrustEveryDirectoryLock);
    EXPECT_TRUE(Lock(LockMode::kShared, &two).IsLocked()) << "the mutant must be caught";
  }
}

// A reader that found no LOCK has the directory's lock alone. A writer cannot tell it from a foreign one.
TEST_F(PosixLockTest, LockOnADirectoryWithoutLockFileIsRespected) {
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  const ForeignLock foreign(directory_.path());
  EXPECT_FALSE(IsFree());
  EXPECT_FALSE(IsFree(LockMode::kShared));
  EXPECT_NE(::access(LockFile().c_str(), F_OK), 0) << "LOCK was created";
}

TEST_F(PosixLockTest, AnotherUserCannotUseTheLockFile) {
  ASSERT_TRUE(IsFree());
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  EXPECT_EQ(InChild([this] {
              if (::geteuid() != 0) return 1;  // no test without another user
              if (::setuid(65534) != 0) return 10;
              for (const LockMode mode : {LockMode::kShared, LockMode::kExclusive}) {
                std::unique_ptr<FileLock> lock;
                if (!Lock(mode, &lock).IsDenied()) return 11;
              }
              return 1;
            }),
            1);
}

// If the owner lets others read LOCK, they can keep writers out.
TEST_F(PosixLockTest, AUserWhoMayReadTheLockFileCanKeepWritersOut) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: only root can become another user";
  ASSERT_TRUE(IsFree());
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(LockFile().c_str(), 0644), 0);
  {
    const LivingChild other([this] {
      if (::setuid(65534) != 0) ::_exit(1);
      std::unique_ptr<FileLock> lock;
      if (!Lock(LockMode::kShared, &lock).ok()) ::_exit(1);
      (void)lock.release();  // held until the process ends
    });
    EXPECT_FALSE(IsFree(LockMode::kExclusive));
    EXPECT_TRUE(IsFree(LockMode::kShared));
  }
  EXPECT_TRUE(IsFree(LockMode::kExclusive));
}

// As ReplacingTheLockFileNeverAdmitsTwo, in a directory that others may read.
TEST_F(PosixLockTest, HoldersOfAReadableDirectoryExcludeEachOther) {
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  std::atomic<int> holders = 0;
  std::atomic<int> collisions = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        std::unique_ptr<FileLock> lock;
        if (!Lock(LockMode::kExclusive, &lock, 1'000).ok()) continue;
        if (holders.fetch_add(1) != 0) ++collisions;
        holders.fetch_sub(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(collisions, 0);
}

TEST_F(PosixLockTest, DirectoryNamedLockIsAnError) {
  ASSERT_EQ(::mkdir(LockFile().c_str(), 0755), 0);
  std::unique_ptr<FileLock> lock;
  const Status status = Lock(LockMode::kExclusive, &lock, kLongMicros);
  EXPECT_TRUE(status.IsIOError() && !status.IsLocked()) << status.ToString();
  ASSERT_EQ(::rmdir(LockFile().c_str()), 0);
  EXPECT_TRUE(IsFree());
}

}  // namespace
}  // namespace cambium
