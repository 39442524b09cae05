// FilePool: a file system whose files share a bounded number of descriptors. A file that nothing uses at the moment is
// closed if another one needs its descriptor, and is opened again by the next call that uses it.
//
//   Open ──▶ open ◀──────────────────────────── the next call opens it again, and checks that it is the same file
//             │   not in use, not mapped, not waiting for a sync; another file needs its descriptor
//             ╰──────────▶ closed
//
// A file stays open while
//   - a call uses it, or a read of a queue is in flight;
//   - it is mapped;
//   - bytes that were written to it are not synced: only the descriptor that wrote them is sure to get the report of a
//     failed write-back (see PosixFile). If no other file can be closed, the pool syncs such a file. A file whose sync
//     failed stays open until it is destroyed. If the pool made that sync, every later write, sync, creation, rename or
//     removal in the pool fails;
//   - its name was removed, or given to another file, because the file could then not be opened again by name.
// So more files than the limit can be open for a while. If the process has no descriptor left, files of this pool are
// closed before Open gives up, even if fewer are open than the limit allows.
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "cambium/file_system.h"
#include "util/mutex.h"

namespace cambium {

class PooledFile;

// The state that the files of one pool share. It may live longer than the PooledFileSystem. Any thread.
class FilePool {
 public:
  // `max_open` > 0. `base` opens the files.
  FilePool(std::shared_ptr<FileSystem> base, std::size_t max_open) : base_(std::move(base)), max_open_(max_open) {
    assert(base_ != nullptr && max_open_ > 0);
  }
  FilePool(const FilePool&) = delete;
  FilePool& operator=(const FilePool&) = delete;

  // Makes room for one more open file, then opens it. Denied: the process has no descriptor left, although all files of
  // the pool that can be closed are closed.
  Status OpenInner(const std::string& path, OpenMode mode, const FileOptions& options, std::unique_ptr<File>* inner);
  // Gives the file the inner file that OpenInner has opened, unless another thread has given it one.
  void Install(PooledFile& file, std::unique_ptr<File> inner);

  // A file belongs to the pool from Add until Remove, which the file's destructor calls.
  void Add(PooledFile* file);
  void Remove(PooledFile* file);

  // Called before a name is removed, or given to another file. From now on the files that were opened by that name stay
  // open; the pool opens those that it had closed.
  Status LoseName(const std::string& path);

  // Reserves one of the mappings that the pool allows at a time: half of the limit, since mapped files stay open.
  [[nodiscard]] bool BeginMap();
  void EndMap();

  [[nodiscard]] std::size_t open_count() const;

  // Waits until the pool does not sync the file.
  void AwaitSync(const PooledFile& file);

  // Fatal if a sync by the pool has failed: bytes that the owner of the file counts on may be lost.
  [[nodiscard]] Status Health() const { return has_failed_.load(std::memory_order_acquire) ? failure() : Status::OK(); }

 private:
  [[nodiscard]] Status failure() const;
  // Closes up to `count` files, and returns how many. `may_sync`: if only unsynced files are left, syncs some.
  std::size_t CloseSome(std::size_t count, bool may_sync);
  // Finds a file that could be closed if it were synced. Pins it, and adds it to syncing_. Null: there is none.
  PooledFile* PickUnsynced();
  // Syncs a file that PickUnsynced finds. False: there is none, or the sync has failed.
  bool SyncOne();
  // Takes the inner file of a file that can be closed. Null: there is none.
  std::unique_ptr<File> TakeOne() CAMBIUM_REQUIRES(mutex_);
  void DropOpen(PooledFile& file) CAMBIUM_REQUIRES(mutex_);

  const std::shared_ptr<FileSystem> base_;
  const std::size_t max_open_;

  Mutex names_mutex_;  // held while LoseName opens files; taken before mutex_
  std::unordered_multimap<std::string, PooledFile*> by_name_ CAMBIUM_GUARDED_BY(names_mutex_);

  mutable Mutex mutex_;                                       // never held during a call of the base
  std::vector<PooledFile*> open_ CAMBIUM_GUARDED_BY(mutex_);  // each knows its index here
  std::size_t leaving_ CAMBIUM_GUARDED_BY(mutex_) = 0;        // files in Remove, which may still be in open_
  std::size_t hand_ CAMBIUM_GUARDED_BY(mutex_) = 0;           // the next file that TakeOne looks at
  std::size_t maps_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::vector<PooledFile*> syncing_ CAMBIUM_GUARDED_BY(mutex_);  // by SyncOne; they are pinned
  CondVar synced_;                                               // syncing_ has changed
  Status failure_ CAMBIUM_GUARDED_BY(mutex_);                    // the first error of SyncOne
  std::atomic<bool> has_failed_{false};
};

}  // namespace cambium
