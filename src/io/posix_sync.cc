#include "io/posix_sync.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <utility>

#include "io/lock_file_name.h"
#include "io/posix_error.h"
#include "util/fork_guard.h"
#include "util/mutex.h"

namespace cambium {
namespace {

// Returns false only if it is known that the journal need not be asked.
bool MayForget(int descriptor) {
  if (!MayHaveJournalOfExt4(descriptor)) return false;
  struct stat of_file;
  return ::fstat(descriptor, &of_file) != 0 || of_file.st_size > 0;  // an empty file has nothing to lose
}

// Starts a handle in the journal by allocating the file's first byte, which works even if the file is empty. Returns
// false if the journal is known to be dead.
bool JournalLives(int descriptor, bool* is_known) {
  *is_known = ::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, 1) == 0;
  return *is_known || (errno != EROFS && errno != EIO);
}

struct Witnesses {
  // The opened directory, or null, and the path from there. As long as a witness exists, the file that uses it exists,
  // and so does the opened directory: no other directory can have its address.
  using Directory = std::pair<const PosixDirectory*, std::string>;
  Mutex mutex;
  std::map<Directory, std::weak_ptr<const PosixDescriptor>> of_directory CAMBIUM_GUARDED_BY(mutex);
};

// A forked child has its own: a thread of the parent may have held the mutex.
Witnesses& AllWitnesses() {
  static constinit PerProcess<Witnesses> all;
  return all.Get();
}

// Sets *error to the errno of a failed open().
std::shared_ptr<const PosixDescriptor> OpenWitness(int from, const std::string& directory, int* error) {
  const std::string path = directory + "/" + kLockFileName;
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  PosixDescriptor opened(RetryOnSignal([&] { return ::openat(from, path.c_str(), flags); }));
  struct stat facts;
  if (!opened.valid()) *error = errno;
  if (!opened.valid() || ::fstat(opened.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return nullptr;
  // If LOCK has no written block, asking the journal through it changes more of LOCK's inode, and syncs of other files
  // take as long as without a witness. So write a byte. If this fails, syncs are only slower.
  if (facts.st_size == 0 && ::pwrite(opened.get(), "\n", 1, 0) == 1) static_cast<void>(::fdatasync(opened.get()));
  return std::make_shared<const PosixDescriptor>(std::move(opened));
}

}  // namespace

bool MayHaveJournalOfExt4(int descriptor) {
  struct statfs of_system;
  return ::fstatfs(descriptor, &of_system) != 0 || of_system.f_type == EXT4_SUPER_MAGIC ||
         of_system.f_type == OVERLAYFS_SUPER_MAGIC;
}

std::shared_ptr<const PosixDescriptor> JournalWitnessFor(int descriptor, const PosixPlace& place, bool* is_final) {
  if (is_final != nullptr) *is_final = true;
  if (!MayHaveJournalOfExt4(descriptor)) return nullptr;
  const std::string path = place.name;
  const std::size_t slash = path.rfind('/');
  const Witnesses::Directory directory(place.opened.get(), slash == std::string::npos ? "." : path.substr(0, slash));
  Witnesses& all = AllWitnesses();
  std::shared_ptr<const PosixDescriptor> witness;
  {
    const MutexLock lock(all.mutex);
    if (const auto known = all.of_directory.find(directory); known != all.of_directory.end()) {
      witness = known->second.lock();
    }
  }
  if (witness == nullptr) {
    int error = 0;
    witness = OpenWitness(place.directory(), directory.second, &error);  // may take long: not under the mutex
    const bool is_short_of = error == EMFILE || error == ENFILE || error == ENOMEM;
    if (is_short_of && is_final != nullptr) *is_final = false;
    if (witness == nullptr) return nullptr;
    const MutexLock lock(all.mutex);
    std::erase_if(all.of_directory, [](const auto& each) { return each.second.expired(); });
    const auto there = all.of_directory.try_emplace(directory, witness).first;
    if (auto earlier = there->second.lock(); earlier != nullptr) witness = std::move(earlier);
  }
  struct stat of_file;
  struct stat of_witness;
  const bool serves = ::fstat(descriptor, &of_file) == 0 && ::fstat(witness->get(), &of_witness) == 0 &&
                      of_file.st_dev == of_witness.st_dev && of_file.st_ino != of_witness.st_ino;
  return serves ? witness : nullptr;
}

bool OverwritesInPlace(int descriptor) {
  struct statfs of_system;
  if (::fstatfs(descriptor, &of_system) != 0) return false;
  return of_system.f_type == EXT4_SUPER_MAGIC || of_system.f_type == XFS_SUPER_MAGIC;
}

Status PosixSync(int descriptor, SyncKind kind, const PosixDescriptor* witness, const std::string& path) {
  const char* const name = kind == SyncKind::kData ? "fdatasync" : "fsync";
  if ((kind == SyncKind::kData ? ::fdatasync(descriptor) : ::fsync(descriptor)) != 0) {
    return PosixError(name, path, errno);
  }
  if (!MayForget(descriptor)) return Status::OK();
  bool is_known = false;
  bool lives = witness == nullptr || JournalLives(witness->get(), &is_known);
  // On a full disk the witness may lack the block that the handle needs; then it gives no answer. The file itself
  // already has the block of its first byte, so we ask through the file. If that gives no answer either, we trust the
  // sync.
  if (lives && !is_known) lives = JournalLives(descriptor, &is_known);
  if (lives) return Status::OK();
  return PosixError(std::string(name) + " (the journal of the file system is dead)", path, errno);
}

}  // namespace cambium
