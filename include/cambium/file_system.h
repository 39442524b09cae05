// FileSystem: every file operation of the library uses this interface. A test can cut the power, fill the disk or fail
// a sync at each of them, and a user can store the database elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

// Facts about an open file or a name. Sizes in bytes.
struct FileInfo {
  std::uint64_t size = 0;
  std::uint64_t allocated_bytes = 0;  // on disk; holes take none
  std::uint64_t link_count = 1;       // number of names; a file with a second name is never changed
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
  // cannot do this opens the file buffered: ask File::IsDirect().
  bool direct = false;
};
inline constexpr std::size_t kDirectAlignment = 4096;

enum class AccessHint : unsigned char { kNormal, kRandom, kSequential, kWillNeed, kDontNeed };

// A mapped range, readable until destroyed. Reading it may fault; see CopyOut.
class MappedRegion {
 public:
  virtual ~MappedRegion() = default;
  [[nodiscard]] virtual const char* data() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;
  // Copies [offset, offset + n) to `out`. A fault (truncated file, dead disk) is an IOError, never a signal. Bytes
  // after the end of a truncated file, within its last page, cannot fault. They read as zeros; an implementation may
  // return IOError instead.
  virtual Status CopyOut(std::size_t offset, std::size_t n, char* out) const = 0;
  // Announces that bytes of [offset, offset + n) will be copied, and that the page cache has them. The region may then
  // map them at once, instead of page by page with a fault each.
  virtual void Populate(std::size_t /*offset*/, std::size_t /*n*/) const {}
};

// An open file. Several threads may read, write and sync one File at once; overlapping writes are an error of the
// caller. All writes and syncs of a file must use one File object, so that an error that the kernel reports once per
// descriptor is seen. The destructor closes the file.
class File {
 public:
  virtual ~File() = default;

  // Reads up to n bytes at `offset` into `out`; *read < n only at the end of the file. Continues after short reads,
  // EINTR and EAGAIN.
  virtual Status Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const = 0;
  // Reads consecutive bytes into several buffers; *read is the sum.
  virtual Status ReadVectored(std::uint64_t offset, std::span<const std::span<char>> out, std::size_t* read) const = 0;

  // Reads only what is in memory, from `offset` on, and never waits for a device. *read < n if the rest is not in
  // memory, or the file ends. NotSupported if the system does not report what is in memory.
  virtual Status ReadCached(std::uint64_t /*offset*/, std::size_t /*n*/, char* /*out*/, std::size_t* read) const {
    *read = 0;
    return Status::NotSupported("read cached " + path() + ": the file system does not tell what is in memory");
  }

  // Writes all bytes at `offset`, growing the file if needed. After an error the bytes of the range, and the size of
  // the file up to the end of the range, are undefined. NoSpace if disk or quota is full.
  virtual Status Write(std::uint64_t offset, Slice data) = 0;
  virtual Status WriteVectored(std::uint64_t offset, std::span<const Slice> data) = 0;

  // SyncData is fdatasync: bytes and size become durable. Sync is fsync: other metadata too. Never retry a failed sync.
  virtual Status SyncData() = 0;
  virtual Status Sync() = 0;

  // Starts to write to the device those bytes of the range that are only in memory, and does not wait. Makes nothing
  // durable. A hint: a later sync has less to do.
  virtual void StartWriteback(std::uint64_t /*offset*/, std::uint64_t /*length*/) {}

  virtual Status Truncate(std::uint64_t size) = 0;
  // Reserves blocks for a range. If `grow`, the file grows to the end of the range.
  virtual Status Allocate(std::uint64_t offset, std::uint64_t length, bool grow) = 0;
  // True if the file system overwrites bytes in place. SyncData then writes no metadata for bytes that replace bytes
  // which were written and synced before, so writing zeros ahead of a log makes its syncs faster.
  [[nodiscard]] virtual bool CanGrowAhead() const { return false; }
  // Frees the blocks of the range, which then reads as zeros; the size does not change. NotSupported if the file system
  // cannot.
  virtual Status PunchHole(std::uint64_t offset, std::uint64_t length) = 0;

  virtual Status GetInfo(FileInfo* info) const = 0;
  // Maps a range for reading. NotSupported if files cannot be mapped.
  virtual Status Map(std::uint64_t offset, std::size_t length, std::unique_ptr<MappedRegion>* region) const = 0;
  // Sets *resident_bytes to how many bytes of the range the page cache holds. NotSupported if the system does not
  // report it.
  virtual Status Residency(std::uint64_t offset, std::uint64_t length, std::uint64_t* resident_bytes) const = 0;
  // A hint. kDontNeed drops clean cached pages of the range (length 0: to the end), so that later reads use the device.
  virtual Status Advise(std::uint64_t offset, std::uint64_t length, AccessHint hint) const = 0;

  [[nodiscard]] virtual bool IsDirect() const { return false; }
  // For messages: the name the file was opened by.
  [[nodiscard]] virtual const std::string& path() const = 0;
};

// One read of a batch. File and memory must live until the read is delivered.
struct ReadRequest {
  const File* file = nullptr;
  std::uint64_t offset = 0;
  std::size_t size = 0;
  char* out = nullptr;
  void* tag = nullptr;    // the caller's
  std::size_t read = 0;   // set on delivery; < size only at the end of the file
  Status status;          // set on delivery
};

// A queue of asynchronous reads, for one thread at a time. The destructor waits for reads in flight.
class ReadQueue {
 public:
  virtual ~ReadQueue() = default;
  // Submits all requests; Wait returns each pointer exactly once, in any order. If more than depth() would be in
  // flight, the call waits for room. If the call fails, or throws because memory ran out, none was submitted.
  virtual Status Submit(std::span<ReadRequest* const> requests) = 0;
  // Waits for at least one request, unless none is in flight; appends finished ones to *done.
  virtual Status Wait(std::vector<ReadRequest*>* done) = 0;
  // As Wait, but waits no longer than about `micros`; it may return earlier, with no request. 0: does not wait. A queue
  // without a timed wait calls Wait, as this default does.
  virtual Status WaitFor(std::uint64_t /*micros*/, std::vector<ReadRequest*>* done) { return Wait(done); }
  // From now on, whenever requests have finished that Wait has not delivered, the queue adds 1 to this eventfd, at
  // least once. The descriptor stays the caller's, and must live as long as the queue. This default, and queues that
  // cannot do this, return NotSupported.
  virtual Status SignalTo(int /*event_fd*/) {
    return Status::NotSupported("the file system's read queue signals no eventfd");
  }
  [[nodiscard]] virtual std::size_t in_flight() const = 0;
  [[nodiscard]] virtual std::size_t depth() const = 0;
  // True if the queue still works, but in a slower way than it was made for, such as threads instead of io_uring.
  // Owners that keep queues for reuse should drop such a queue.
  [[nodiscard]] virtual bool IsSpent() const { return false; }
};

// A held lock. The destructor releases it; in a forked child it releases nothing.
class FileLock {
 public:
  virtual ~FileLock() = default;
};
enum class LockMode : unsigned char { kShared, kExclusive };

// Paths use '/' and are taken literally. Any thread may call any function. A created, renamed or removed name is
// durable only after SyncDirectory of its directory.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // The operating system's. Never destroyed.
  static std::shared_ptr<FileSystem> Default();

  virtual Status Open(const std::string& path, OpenMode mode, const FileOptions& options,
                      std::unique_ptr<File>* file) = 0;
  virtual Status GetInfo(const std::string& path, FileInfo* info) = 0;  // PathNotFound if there is none
  virtual Status List(const std::string& directory, std::vector<std::string>* names) = 0;  // without "." and ".."
  // OK if it exists; parents must exist. Only the owner may enter it, where the system has such permissions.
  virtual Status CreateDirectory(const std::string& path) = 0;
  virtual Status RemoveDirectory(const std::string& path) = 0;  // must be empty
  virtual Status Unlink(const std::string& path) = 0;           // PathNotFound if there is none
  virtual Status Rename(const std::string& from, const std::string& to) = 0;  // replaces `to`
  // Rename that fails if `to` exists. This default looks first; a file system that can do it atomically should.
  virtual Status RenameToNew(const std::string& from, const std::string& to) {
    FileInfo info;
    const Status found = GetInfo(to, &info);
    if (found.ok()) return Status::IOError("rename " + from + " to " + to + ": exists");
    return found.IsPathNotFound() ? Rename(from, to) : found;
  }
  // `to` must not exist. Symbolic links are followed.
  virtual Status Link(const std::string& from, const std::string& to) = 0;
  // Busy: no descriptor was free, so nothing was tried and nothing is lost. After any other error names may be lost.
  virtual Status SyncDirectory(const std::string& path) = 0;
  // Opens a directory. From now on *opened resolves `directory`, and the paths below it, to that directory, even if it
  // is renamed, a symbolic link in its path changes, or the process changes its working directory. *opened resolves
  // other paths as this file system does. It does the same with `directory` in a call that creates, renames or removes
  // it. *opened holds a descriptor, and must be destroyed before this file system. This default returns NotSupported;
  // the library then gives each path to this file system.
  virtual Status OpenDirectory(const std::string& directory, std::shared_ptr<FileSystem>* /*opened*/) {
    return Status::NotSupported("open directory " + directory + ": the file system finds each file by its path");
  }
  // Locks a directory against other handles, of this and other processes. Both the directory and a file LOCK in it are
  // locked, and the identity of LOCK is compared afterwards, so that deleting LOCK does not admit a second holder. A
  // lock that any user may have taken does not count, see docs/SECURITY.md.
  // Waits up to wait_micros for a holder to release it (a dying process may still have I/O in flight), then returns
  // Locked.
  virtual Status Lock(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
                      std::unique_ptr<FileLock>* lock) = 0;
  // Free bytes of the file system that holds `path`, for an ordinary user.
  virtual Status FreeSpace(const std::string& path, std::uint64_t* bytes) = 0;

  // Calls SyncData of each file once. Must not use the files in another way, because a file may be an object of another
  // class that wraps a file of this file system. results[i] becomes the result of files[i]; the spans have the same
  // length. Many syncs at the same time take little more time than one, since they share the flushes of the device's
  // cache: the system's file system makes the calls in several threads. This default makes one call after the other.
  virtual void SyncTogether(std::span<File* const> files, std::span<Status> results) {
    for (std::size_t i = 0; i < files.size(); ++i) results[i] = files[i]->SyncData();
  }

  // Makes a queue for up to `depth` reads in flight. Never null: without io_uring, or with use_io_uring false, threads
  // do the reads.
  virtual std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool use_io_uring) = 0;
};

}  // namespace cambium
