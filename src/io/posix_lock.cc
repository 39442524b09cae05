#include "io/posix_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "io/posix_descriptor.h"
#include "io/posix_error.h"
#include "util/mutant.h"
#include "util/result.h"

namespace cambium {
namespace {

int LockWholeFile(int fd, short type) {
  struct flock whole = {};
  whole.l_type = type;
  whole.l_whence = SEEK_SET;
  return fcntl(fd, F_OFD_SETLK, &whole);
}

class PosixLock final : public FileLock {
 public:
  PosixLock() = default;
  ~PosixLock() override {
    if (getpid() != owner_ && !MutantIs(Mutant::kUnlockInChild)) return;
    if (file.valid()) (void)LockWholeFile(file.get(), F_UNLCK);
    if (directory.valid()) (void)::flock(directory.get(), LOCK_UN);
  }
  PosixLock(const PosixLock&) = delete;
  PosixLock& operator=(const PosixLock&) = delete;

  PosixDescriptor directory;
  PosixDescriptor file;  // LOCK; not valid if a shared lock found none

 private:
  const pid_t owner_ = getpid();
};

enum class Attempt : unsigned char {
  kHeld,     // by us
  kBusy,     // by another
  kChanged,  // a name no longer leads to the file that we locked: start again
};

bool SameFile(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// Sets *attempt to kChanged unless `name`, looked up from `directory`, leads to the file that is open as `fd`. Errors
// name `path`.
Status CompareWithName(int fd, int directory, const char* name, const std::string& path, Attempt* attempt) {
  struct stat opened;
  struct stat named;
  if (fstat(fd, &opened) != 0) return PosixError("lock", path, errno);
  if (::fstatat(directory, name, &named, 0) != 0) {
    if (errno != ENOENT) return PosixError("lock", path, errno);
    *attempt = Attempt::kChanged;
  } else if (!SameFile(opened, named)) {
    *attempt = Attempt::kChanged;
  }
  return Status::OK();
}

// Returns whether a user other than the owner may open the directory, and so may lock it.
Result<bool> MayOthersLock(int directory, const std::string& path) {
  struct stat facts;
  if (fstat(directory, &facts) != 0) return PosixError("lock", path, errno);
  return (facts.st_mode & (S_IRGRP | S_IROTH)) != 0 && !MutantIs(Mutant::kTrustEveryDirectoryLock);
}

// Sets *attempt to kBusy if another handle has the directory's own lock.
Status TryDirectory(const std::string& path, LockMode mode, PosixLock* lock, Attempt* attempt) {
  if (MutantIs(Mutant::kLockFileOnly)) return Status::OK();
  const int operation = (mode == LockMode::kExclusive ? LOCK_EX : LOCK_SH) | LOCK_NB;
  if (RetryOnSignal([&] { return ::flock(lock->directory.get(), operation); }) == 0) return Status::OK();
  if (errno != EWOULDBLOCK) return PosixError("lock", path, errno);
  *attempt = Attempt::kBusy;
  return Status::OK();
}

// Takes the directory's lock if the other holder releases it within a moment. A holder that then fails to lock LOCK
// releases it so soon.
Status TryDirectoryAgain(const std::string& path, LockMode mode, PosixLock* lock) {
  constexpr int kTries = 10;
  Attempt attempt = Attempt::kBusy;
  for (int i = 0; i < kTries && attempt == Attempt::kBusy; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    attempt = Attempt::kHeld;
    CAMBIUM_RETURN_IF_ERROR(TryDirectory(path, mode, lock, &attempt));
  }
  return Status::OK();
}

// Tries once, without waiting for another holder. The locks taken belong to *lock, also after a failure; its destructor
// releases them.
Status TryOnce(const std::string& path, const PosixPlace& place, LockMode mode, PosixLock* lock, Attempt* attempt) {
  const bool exclusive = mode == LockMode::kExclusive;
  const int directory_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  lock->directory =
      PosixDescriptor(RetryOnSignal([&] { return ::openat(place.directory(), place.name, directory_flags); }));
  if (!lock->directory.valid()) return PosixError("lock", path, errno);
  const int directory = lock->directory.get();

  Attempt of_directory = Attempt::kHeld;
  CAMBIUM_RETURN_IF_ERROR(TryDirectory(path, mode, lock, &of_directory));
  if (of_directory == Attempt::kBusy) {
    CAMBIUM_TRY(const bool may_be_foreign, MayOthersLock(directory, path));
    *attempt = Attempt::kBusy;
    if (!may_be_foreign) return Status::OK();
  }

  const std::string file_path = path + "/" + kLockFileName;
  // If the directory's lock is not ours, we must not create LOCK: its holder may have no other lock.
  const int mode_flags = exclusive ? O_RDWR | (of_directory == Attempt::kHeld ? O_CREAT : 0) : O_RDONLY;
  const int file_flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | mode_flags;
  lock->file = PosixDescriptor(RetryOnSignal([&] { return ::openat(directory, kLockFileName, file_flags, 0600); }));
  if (!lock->file.valid()) {
    if (errno != ENOENT) return PosixError("lock", file_path, errno);
    if (of_directory == Attempt::kBusy) return Status::OK();
    if (exclusive) return PosixError("lock", file_path, ENOENT);
    *attempt = Attempt::kHeld;
    return CompareWithName(directory, place.directory(), place.name, path, attempt);
  }
  const auto lock_file = [&] { return LockWholeFile(lock->file.get(), exclusive ? F_WRLCK : F_RDLCK); };
  if (RetryOnSignal(lock_file) != 0) {
    if (errno != EAGAIN && errno != EACCES) return PosixError("lock", file_path, errno);
    *attempt = Attempt::kBusy;
    return Status::OK();
  }
  if (of_directory == Attempt::kBusy) CAMBIUM_RETURN_IF_ERROR(TryDirectoryAgain(path, mode, lock));
  *attempt = Attempt::kHeld;
  CAMBIUM_RETURN_IF_ERROR(CompareWithName(lock->file.get(), directory, kLockFileName, file_path, attempt));
  return CompareWithName(directory, place.directory(), place.name, path, attempt);
}

}  // namespace

Status LockDirectory(const std::string& directory, const PosixPlace& place, LockMode mode, std::uint64_t wait_micros,
                     std::unique_ptr<FileLock>* lock) {
  using std::chrono::microseconds;
  using std::chrono::steady_clock;
  constexpr std::uint64_t kLongestNapMicros = 20'000;
  constexpr int kChangesMax = 100;  // each means that LOCK or the directory was replaced while we locked it

  const auto start = steady_clock::now();
  int changes = 0;
  for (std::uint64_t nap = 1'000;;) {
    auto attempt_lock = std::make_unique<PosixLock>();
    Attempt attempt = Attempt::kHeld;
    CAMBIUM_RETURN_IF_ERROR(TryOnce(directory, place, mode, attempt_lock.get(), &attempt));
    if (attempt == Attempt::kHeld) {
      *lock = std::move(attempt_lock);
      return Status::OK();
    }
    // Release a partial lock before waiting: two waiters that each hold one of the locks would exclude each other.
    attempt_lock.reset();
    if (attempt == Attempt::kChanged) {
      if (++changes < kChangesMax) continue;
      return Status::Locked("lock " + directory + ": it or its " + kLockFileName + " keeps being replaced");
    }
    const auto waited =
        static_cast<std::uint64_t>(std::chrono::duration_cast<microseconds>(steady_clock::now() - start).count());
    if (waited >= wait_micros) {
      return Status::Locked("lock " + directory + "/" + kLockFileName +
                            ": held by another process, or by another handle of this one");
    }
    std::this_thread::sleep_for(microseconds(std::min(nap, wait_micros - waited)));
    nap = std::min(2 * nap, kLongestNapMicros);
  }
}

}  // namespace cambium
