// FileSystem: every file operation of the library goes through this interface, so that a test can cut the power,
// fill the disk or fail a sync at any of them, and a user can put the database elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

// Facts of an open file or a name. Sizes in bytes.
struct FileInfo {
  std::uint64_t size = 0;
  std::uint64_t allocated_bytes = 0;  // what the file takes on disk; holes take nothing
  std::uint64_t link_count = 1;       // names; nothing with a second name is ever changed
  std::uint64_t inode = 0;            // identity within the file system
  std::uint64_t device = 0;           // identity of the file system
  bool is_directory = false;
  bool is_regular = true;
};

enum class OpenMode : unsigned char {
  kReadOnly,   // must exist
  kReadWrite,  // must exist
  kCreateNew,  // must not exist; opened for reading and writing
};

struct FileOptions {
  // Bypass the page cache. Offsets, sizes and memory must then be multiples of kDirectAlignment. A file system that
  // cannot do it opens the file buffered: ask File::IsDirect().
  bool direct = false;
};
inline constexpr std::size_t kDirectAlignment = 4096;

enum class AccessHint : unsigned char { kNormal, kRandom, kSequential, kWillNeed, kDontNeed };

// A mapped range, readable until destroyed. Reading it may fault; see File::Map.
class MappedRegion {
 public:
  virtual ~MappedRegion() = default;
  [[nodiscard]] virtual const char* data() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  // Copies [offset, offset + n) to `out`; a fault (truncated file, dead disk) is an IOError, never a signal. What lies
  // behind the end of a file that was cut, but in its last page, is no fault and reads as zeros, or is an IOError too.
  virtual Status CopyOut(std::size_t offset, std::size_t n, char* out) const = 0;
  // Says that bytes of [offset, offset + n) will be copied, and that the page cache has them: it may enter them into the
  // process's page table at once, and not page by page with a fault for each.
  virtual void Populate(std::size_t /*offset*/, std::size_t /*n*/) const {}
};

// An open file. Reads, writes and syncs of one File may run in several threads at once; overlapping writes are the
// caller's mistake. One File object serves all writes and syncs of a file during its life, so that an error the kernel
// reports once per descriptor reaches us. Closed by the destructor.
class File {
 public:
  virtual ~File() = default;

  // Reads up to n bytes at `offset` into `out`; *read < n only at the end of the file. Short reads, EINTR and EAGAIN
  // are continued inside.
  virtual Status Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const = 0;
  // One piece of file after the other into several buffers; *read is the sum.
  virtual Status ReadVectored(std::uint64_t offset, std::span<const std::span<char>> out, std::size_t* read) const = 0;

  // What of the same bytes is in memory, from `offset` on: never waits for a device. *read < n where the rest is not, or
  // the file ends. NotSupported where nobody can tell.
  virtual Status ReadCached(std::uint64_t /*offset*/, std::size_t /*n*/, char* /*out*/, std::size_t* read) const {
    *read = 0;
    return Status::NotSupported("read cached " + path() + ": nobody knows what is in memory");
  }

  // Writes all bytes at `offset`, growing the file if need be. After an error the bytes of the range, and the size of
  // the file up to the end of the range, are undefined. NoSpace when disk or quota is full.
  virtual Status Write(std::uint64_t offset, Slice data) = 0;
  virtual Status WriteVectored(std::uint64_t offset, std::span<const Slice> data) = 0;

  // fdatasync: bytes and size durable. fsync: other metadata too. A failed one must never be retried by the caller.
  virtual Status SyncData() = 0;
  virtual Status Sync() = 0;

  // Bytes of the range that are in memory only are on their way to the device from now on; it is not waited for, and
  // nothing is durable by it. A hint: a later sync has less to do.
  virtual void StartWriteback(std::uint64_t /*offset*/, std::uint64_t /*length*/) {}

  virtual Status Truncate(std::uint64_t size) = 0;
  // Reserves blocks for a range; the file grows to its end if `grow`.
  virtual Status Allocate(std::uint64_t offset, std::uint64_t length, bool grow) = 0;
  // Is SyncData, of bytes written into what Allocate(grow) made, known to make durable that they are no zeros any more?
  [[nodiscard]] virtual bool CanGrowAhead() const { return false; }
  // The range reads as zeros and its blocks go back; the size stays. NotSupported where the file system cannot.
  virtual Status PunchHole(std::uint64_t offset, std::uint64_t length) = 0;

  virtual Status GetInfo(FileInfo* info) const = 0;
  // Maps a range for reading. NotSupported where files cannot be mapped.
  virtual Status Map(std::uint64_t offset, std::size_t length, std::unique_ptr<MappedRegion>* region) const = 0;
  // How many bytes of a range the page cache holds. NotSupported where nobody knows.
  virtual Status Residency(std::uint64_t offset, std::uint64_t length, std::uint64_t* resident_bytes) const = 0;
  // A hint; kDontNeed drops clean cached pages of the range (length 0: to the end), so that later reads ask the device.
  virtual Status Advise(std::uint64_t offset, std::uint64_t length, AccessHint hint) const = 0;

  [[nodiscard]] virtual bool IsDirect() const { return false; }
  // For messages: the name under which it was opened.
  [[nodiscard]] virtual const std::string& path() const = 0;
};

// One read of a batch. The file and the memory must live until the read has been delivered.
struct ReadRequest {
  const File* file = nullptr;
  std::uint64_t offset = 0;
  std::size_t size = 0;
  char* out = nullptr;
  void* tag = nullptr;    // the caller's
  std::size_t read = 0;   // set on delivery; < size only at the end of the file
  Status status;          // set on delivery
};

// A queue of asynchronous reads, for one thread at a time. The destructor waits for what is in flight.
class ReadQueue {
 public:
  virtual ~ReadQueue() = default;
  // Hands in all requests at once; each pointer comes back from Wait exactly once, in any order.
  // More than depth() in flight: the call itself waits for room. After an error, or an exception for want of memory, none
  // of them was handed in.
  virtual Status Submit(std::span<ReadRequest* const> requests) = 0;
  // Waits for at least one request, unless none is in flight; appends what is done to *done.
  virtual Status Wait(std::vector<ReadRequest*>* done) = 0;
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  [[nodiscard]] virtual std::size_t depth() const = 0;
  // True if it serves what it gets, but by other means than it was made for: who keeps queues for reuse lets it go.
  [[nodiscard]] virtual bool IsSpent() const { return false; }
};

// A held lock; released by the destructor. A forked child's copy releases nothing.
class FileLock {
 public:
  virtual ~FileLock() = default;
};
enum class LockMode : unsigned char { kShared, kExclusive };

// Paths use '/', and are taken as they are. Any thread may call any function. A name that a function creates, renames
// or removes is durable only after SyncDirectory of the directory that holds it.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // The operating system's. Never destroyed.
  static std::shared_ptr<FileSystem> Default();

  virtual Status Open(const std::string& path, OpenMode mode, const FileOptions& options,
                      std::unique_ptr<File>* file) = 0;
  virtual Status GetInfo(const std::string& path, FileInfo* info) = 0;  // PathNotFound if there is none
  virtual Status List(const std::string& directory, std::vector<std::string>* names) = 0;  // without "." and ".."
  virtual Status CreateDirectory(const std::string& path) = 0;  // OK if it is there; parents must exist
  virtual Status RemoveDirectory(const std::string& path) = 0;  // must be empty
  virtual Status Unlink(const std::string& path) = 0;           // PathNotFound if there is none
  virtual Status Rename(const std::string& from, const std::string& to) = 0;  // replaces `to`
  // The same if `to` does not exist, an error otherwise. This one looks first; a file system that can tell at once should.
  virtual Status RenameToNew(const std::string& from, const std::string& to) {
    FileInfo info;
    const Status found = GetInfo(to, &info);
    if (found.ok()) return Status::IOError("rename " + from + " to " + to + ": exists");
    return found.IsPathNotFound() ? Rename(from, to) : found;
  }
  // `to` must not exist. A symbolic link is followed.
  virtual Status Link(const std::string& from, const std::string& to) = 0;
  // Busy: no descriptor was free, so nothing was tried and nothing is lost. Any other error: names may be lost.
  virtual Status SyncDirectory(const std::string& path) = 0;
  // Locks a directory against other handles of this and other processes: the directory itself and a file LOCK in it
  // are locked, and LOCK's identity compared afterwards, so that deleting LOCK does not let a second one in. Waits up
  // to wait_micros for a holder to let go (a dying process may still have I/O in flight). Status::Locked if it is held.
  virtual Status Lock(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
                      std::unique_ptr<FileLock>* lock) = 0;
  // Free bytes of the file system that holds `path`, for whoever we are.
  virtual Status FreeSpace(const std::string& path, std::uint64_t* bytes) = 0;

  // A queue for up to `depth` reads in flight. Never null: without io_uring (or with use_io_uring false) threads serve
  // it.
  virtual std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool use_io_uring) = 0;
};

}  // namespace cambium
