#include "io/file_pool.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "io/pooled_file.h"
#include "util/mutant.h"
#include "util/result.h"

namespace cambium {

Status FilePool::OpenInner(const std::string& path, OpenMode mode, const FileOptions& options,
                           std::unique_ptr<File>* inner) {
  if (const std::size_t open = open_count(); open >= max_open_) CloseSome(open - max_open_ + 1, /*may_sync=*/true);
  // Closes this many files at once, because other threads of the process may take the descriptors. Does not close all,
  // because the error may be a lack of permission.
  constexpr std::size_t kAtOnce = 8;
  constexpr int kRounds = 4;
  Status opened = base_->Open(path, mode, options, inner);
  for (int round = 0; opened.IsDenied() && round < kRounds; ++round) {
    if (CloseSome(kAtOnce, /*may_sync=*/round == 0) == 0) break;
    opened = base_->Open(path, mode, options, inner);
  }
  return opened;
}

std::size_t FilePool::CloseSome(std::size_t count, bool may_sync) {
  std::size_t closed = 0;
  std::size_t syncs = may_sync ? count : 0;
  while (closed < count) {
    std::unique_ptr<File> taken;  // closed without the lock
    {
      const MutexLock lock(mutex_);
      taken = TakeOne();
    }
    if (taken != nullptr) {
      ++closed;
    } else if (syncs == 0 || !SyncOne()) {
      break;
    } else {
      --syncs;
    }
  }
  return closed;
}

PooledFile* FilePool::PickUnsynced() {
  const MutexLock lock(mutex_);
  // Beginning with the file that TakeOne would look at next, so that it is not always the same one.
  for (std::size_t i = 0; i < open_.size(); ++i) {
    PooledFile* const file = open_[(hand_ + i) % open_.size()];
    if (!file->OnlyNeedsSync()) continue;
    syncing_.push_back(file);
    assert(std::ranges::count(syncing_, file) == 1 && "a file that the pool syncs is pinned");
    file->BeginSyncByPool();
    return file;
  }
  return nullptr;
}

bool FilePool::SyncOne() {
  PooledFile* const file = PickUnsynced();
  if (file == nullptr) return false;
  Status synced;
  bool has_thrown = false;
  try {
    synced = file->SyncForPool();
  } catch (...) {  // memory ran out, and the result of the sync is unknown
    has_thrown = true;
  }
  const bool is_synced = synced.ok() && !has_thrown;
  const MutexLock lock(mutex_);
  if (!is_synced) {
    if (failure_.ok() && !has_thrown) failure_ = std::move(synced);
    has_failed_.store(true, std::memory_order_release);
  }
  // After has_failed_ is set: a thread that sees the end of this sync must see its failure too.
  file->EndSyncByPool();
  const auto found = std::ranges::find(syncing_, file);
  assert(found != syncing_.end());
  syncing_.erase(found);
  synced_.NotifyAll();
  return is_synced;
}

void FilePool::AwaitSync(const PooledFile& file) {
  const MutexLock lock(mutex_);
  while (std::ranges::find(syncing_, &file) != syncing_.end()) synced_.Wait(mutex_);
}

Status FilePool::failure() const {
  const MutexLock lock(mutex_);
  if (!failure_.ok()) return failure_.Fatal();
  return Status::IOError("memory ran out during a sync, and the result of the sync is unknown").Fatal();
}

std::unique_ptr<File> FilePool::TakeOne() {
  // The first round passes over files that were used since the last one.
  for (std::size_t looked_at = 0; looked_at < 2 * open_.size(); ++looked_at) {
    if (hand_ >= open_.size()) hand_ = 0;
    PooledFile& file = *open_[hand_];
    if (file.is_used_.exchange(false, std::memory_order_relaxed)) {
      ++hand_;
      continue;
    }
    std::unique_ptr<File> taken = file.TryTake();
    if (taken == nullptr) {
      ++hand_;
      continue;
    }
    DropOpen(file);
    return taken;
  }
  return nullptr;
}

void FilePool::Install(PooledFile& file, std::unique_ptr<File> inner) {
  const MutexLock lock(mutex_);
  if (file.IsOpen()) return;  // the caller's is closed
  assert(open_.size() < open_.capacity());
  open_.push_back(&file);
  file.open_index_ = open_.size() - 1;
  file.inner_ = std::move(inner);
  file.state_.fetch_or(PooledFile::kOpen, std::memory_order_release);
}

void FilePool::DropOpen(PooledFile& file) {
  assert(file.open_index_ < open_.size() && open_[file.open_index_] == &file);
  PooledFile* const last = open_.back();
  open_[file.open_index_] = last;
  last->open_index_ = file.open_index_;
  open_.pop_back();
}

// ---- Names ----

void FilePool::Add(PooledFile* file) {
  const MutexLock names_lock(names_mutex_);
  const MutexLock lock(mutex_);
  // Reserves room for all files with names and all files in Remove, so that Install needs no memory.
  const std::size_t files = by_name_.size() + leaving_;
  if (open_.capacity() <= files) open_.reserve(2 * files + 1);
  by_name_.emplace(file->path(), file);
}

void FilePool::Remove(PooledFile* file) {
  {
    const MutexLock lock(names_mutex_);
    const auto [first, last] = by_name_.equal_range(file->path());
    const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second == file; });
    assert(found != last && "a file is in its pool until it is removed, once");
    if (found != last) by_name_.erase(found);
    const MutexLock open_lock(mutex_);
    ++leaving_;
  }
  AwaitSync(*file);
  const MutexLock lock(mutex_);
  if (file->IsOpen()) DropOpen(*file);
  --leaving_;
}

Status FilePool::LoseName(const std::string& path) {
  const MutexLock lock(names_mutex_);
  const auto [first, last] = by_name_.equal_range(path);
  for (auto each = first; each != last; ++each) {
    PooledFile& file = *each->second;
    if (MutantIs(Mutant::kClosedFileLosesName)) continue;
    file.KeepOpen();
    if (!file.IsOpen() && file.was_opened()) CAMBIUM_RETURN_IF_ERROR(file.Reopen());
  }
  return Status::OK();
}

// ---- Counts ----

bool FilePool::BeginMap() {
  const MutexLock lock(mutex_);
  if (maps_ >= max_open_ / 2) return false;
  ++maps_;
  return true;
}

void FilePool::EndMap() {
  const MutexLock lock(mutex_);
  assert(maps_ > 0);
  --maps_;
}

std::size_t FilePool::open_count() const {
  const MutexLock lock(mutex_);
  return open_.size();
}

}  // namespace cambium
