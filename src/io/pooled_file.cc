#include "io/pooled_file.h"

#include <cassert>
#include <new>
#include <utility>

#include "util/mutant.h"
#include "util/result.h"

namespace cambium {
namespace {

// A mapping that counts as one of the pool's.
class PooledMap final : public MappedRegion {
 public:
  PooledMap(std::shared_ptr<FilePool> pool, std::shared_ptr<std::atomic<int>> of_file)
      : pool_(std::move(pool)), of_file_(std::move(of_file)) {
    of_file_->fetch_add(1, std::memory_order_relaxed);
  }
  ~PooledMap() override {
    inner_.reset();
    of_file_->fetch_sub(1, std::memory_order_relaxed);
    pool_->EndMap();
  }
  PooledMap(const PooledMap&) = delete;
  PooledMap& operator=(const PooledMap&) = delete;

  // Called once, before the other functions.
  Status Map(const File& file, std::uint64_t offset, std::size_t length) { return file.Map(offset, length, &inner_); }

  const char* data() const override { return inner_->data(); }
  std::size_t size() const override { return inner_->size(); }
  Status CopyOut(std::size_t offset, std::size_t n, char* out) const override {
    return inner_->CopyOut(offset, n, out);
  }
  void Populate(std::size_t offset, std::size_t n) const override { inner_->Populate(offset, n); }

 private:
  const std::shared_ptr<FilePool> pool_;
  const std::shared_ptr<std::atomic<int>> of_file_;
  std::unique_ptr<MappedRegion> inner_;
};

}  // namespace

PooledFile::PooledFile(std::shared_ptr<FilePool> pool, const std::string& path, const FileOptions& options,
                       OpenMode mode)
    : pool_(std::move(pool)),
      path_(path),
      options_(options),
      mode_(mode == OpenMode::kCreateNew ? OpenMode::kReadWrite : mode) {
  pool_->Add(this);
}

PooledFile::~PooledFile() { pool_->Remove(this); }

Status PooledFile::Open(const std::shared_ptr<FilePool>& pool, const std::string& path, OpenMode mode,
                        const FileOptions& options, std::unique_ptr<File>* file) {
  // Allocates before it creates the file: if memory runs out here, no file remains.
  std::unique_ptr<PooledFile> made(new PooledFile(pool, path, options, mode));
  std::unique_ptr<File> inner;
  CAMBIUM_RETURN_IF_ERROR(pool->OpenInner(path, mode, options, &inner));
  FileInfo info;
  // Without its inode, the file could not be recognized when it is opened again, so it stays open. This is no error:
  // the file may be new, and an error would say that it was not created.
  if (!inner->GetInfo(&info).ok()) made->KeepOpen();
  made->inode_ = info.inode;
  made->device_ = info.device;
  made->is_direct_ = inner->IsDirect();
  made->was_opened_.store(true, std::memory_order_release);
  pool->Install(*made, std::move(inner));
  *file = std::move(made);
  return Status::OK();
}

// ---- Pins ----

Status PooledFile::Pin() const {
  if (!is_used_.load(std::memory_order_relaxed)) is_used_.store(true, std::memory_order_relaxed);
  if ((state_.fetch_add(kOnePin, std::memory_order_acquire) & kOpen) != 0) return Status::OK();
  try {
    Status opened = const_cast<PooledFile*>(this)->Reopen();
    if (!opened.ok()) Unpin();
    return opened;
  } catch (...) {  // out of memory
    Unpin();
    throw;
  }
}

Status PooledFile::Reopen() {
  std::unique_ptr<File> inner;
  Status opened = pool_->OpenInner(path_, mode_, options_, &inner);
  // The file system may have become read-only since. Then writes fail, as they would by an old descriptor.
  if (!opened.ok() && mode_ == OpenMode::kReadWrite && !opened.IsPathNotFound() && !IsOpen()) {
    std::unique_ptr<File> readable;
    if (pool_->OpenInner(path_, OpenMode::kReadOnly, options_, &readable).ok()) {
      inner = std::move(readable);
      opened = Status::OK();
    }
  }
  // Another thread may have opened it meanwhile, and then may have removed its name.
  if (!opened.ok()) return IsOpen() ? Status::OK() : opened;
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(inner->GetInfo(&info));
  if ((info.inode != inode_ || info.device != device_) && !MutantIs(Mutant::kReopenedFileUnchecked)) {
    if (IsOpen()) return Status::OK();
    return Status::IOError("open " + path_ + " again: it is another file now");
  }
  const AccessHint hint = hint_.load(std::memory_order_relaxed);
  if (hint != AccessHint::kNormal) static_cast<void>(inner->Advise(0, 0, hint));
  pool_->Install(*this, std::move(inner));
  return Status::OK();
}

void PooledFile::KeepOpen() {
  if (!is_kept_.exchange(true, std::memory_order_relaxed)) state_.fetch_add(kOnePin, std::memory_order_relaxed);
}

bool PooledFile::IsSynced(std::uint64_t state) const {
  return static_cast<std::uint32_t>(state / kOneWrite) == synced_writes_.load(std::memory_order_relaxed);
}

std::unique_ptr<File> PooledFile::TryTake() {
  std::uint64_t state = state_.load(std::memory_order_relaxed);
  assert((state & kOpen) != 0 && "the pool has the file among the open ones");
  if (!IsSynced(state) && !MutantIs(Mutant::kCloseBeforeSync)) return nullptr;
  if ((state & (kPins | kWriters)) != 0 || maps_->load(std::memory_order_relaxed) != 0) return nullptr;
  // Acquires what the last users released. Fails if the file was used, or written to, since it was looked at.
  if (!state_.compare_exchange_strong(state, state & ~kOpen, std::memory_order_acquire)) return nullptr;
  return std::move(inner_);
}

bool PooledFile::OnlyNeedsSync() const {
  const std::uint64_t state = state_.load(std::memory_order_relaxed);
  return !IsSynced(state) && (state & (kPins | kWriters)) == 0 && maps_->load(std::memory_order_relaxed) == 0;
}

void PooledFile::BeginSyncByPool() {
  assert(IsOpen() && !is_pool_syncing_.load(std::memory_order_relaxed));
  state_.fetch_add(kOnePin, std::memory_order_acquire);
  is_pool_syncing_.store(true, std::memory_order_relaxed);
}

void PooledFile::EndSyncByPool() {
  assert(is_pool_syncing_.load(std::memory_order_relaxed));
  is_pool_syncing_.store(false, std::memory_order_release);
  Unpin();
}

Status PooledFile::SyncForPool() {
  return SyncPinned([](File& inner) { return inner.SyncData(); });
}

template <typename Call>
Status PooledFile::Use(Call call) const {
  CAMBIUM_RETURN_IF_ERROR(Pin());
  struct Unpinned {
    const PooledFile& file;
    ~Unpinned() { file.Unpin(); }
  } const unpinned{*this};
  assert(inner_ != nullptr && "a pinned file is open");
  return call(*inner_);
}

template <typename Call>
Status PooledFile::Change(Call call) {
  CAMBIUM_RETURN_IF_ERROR(pool_->Health());
  Status changed = Use(call);
  if (!changed.ok()) CAMBIUM_RETURN_IF_ERROR(pool_->Health());  // a sync by the pool may have failed just now
  return changed;
}

template <typename Call>
Status PooledFile::ChangeShape(Call call) {
  // Set before the call and after it, because a sync that runs meanwhile clears it and may not cover the change.
  has_changed_.store(true, std::memory_order_relaxed);
  Status changed = Change(call);
  has_changed_.store(true, std::memory_order_relaxed);
  return changed;
}

template <typename Call>
Status PooledFile::WriteBy(Call call) {
  return Change([&](File& inner) {
    [[maybe_unused]] const std::uint64_t before = state_.fetch_add(kOneWriter + kOneWrite, std::memory_order_relaxed);
    assert((before & kWriters) != kWriters);  // 255 writes at once
    struct Ended {
      std::atomic<std::uint64_t>& state;
      ~Ended() {
        [[maybe_unused]] const std::uint64_t at_end = state.fetch_sub(kOneWriter, std::memory_order_release);
        assert((at_end & kWriters) != 0);
      }
    } const ended{state_};
    return call(inner);
  });
}

template <typename Call>
Status PooledFile::SyncPinned(Call call) {
  // Acquires the writes that have returned, so that the sync covers them.
  const std::uint64_t state = state_.load(std::memory_order_acquire);
  has_changed_.store(false, std::memory_order_relaxed);
  Status synced;
  try {
    synced = call(*inner_);
  } catch (...) {  // out of memory; the kernel may have reported an error
    KeepOpen();
    throw;
  }
  if (!synced.ok()) {
    KeepOpen();
  } else if ((state & kWriters) == 0) {
    was_synced_.store(true, std::memory_order_relaxed);
    // If two syncs end at once, the older count may be stored last. Then the file stays open until the next sync.
    synced_writes_.store(static_cast<std::uint32_t>(state / kOneWrite), std::memory_order_relaxed);
  }
  return synced;
}

template <typename Call>
Status PooledFile::SyncBy(Call call) {
  CAMBIUM_RETURN_IF_ERROR(pool_->Health());
  // If the pool has synced and closed the file, there is nothing to sync, and perhaps no descriptor to do it with.
  const std::uint64_t state = state_.load(std::memory_order_acquire);
  if ((state & kOpen) == 0 && was_synced_.load(std::memory_order_relaxed) &&
      !has_changed_.load(std::memory_order_relaxed) && IsSynced(state)) {
    return Status::OK();
  }
  Status synced = Use([&](File&) { return SyncPinned(call); });
  // If two syncs of one descriptor overlap, only one of them gets the error. The pool's may have got it.
  while (is_pool_syncing_.load(std::memory_order_acquire)) pool_->AwaitSync(*this);
  CAMBIUM_RETURN_IF_ERROR(pool_->Health());
  return synced;
}

// ---- File ----

Status PooledFile::Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const {
  *read = 0;
  return Use([&](const File& inner) { return inner.Read(offset, n, out, read); });
}

Status PooledFile::ReadVectored(std::uint64_t offset, std::span<const std::span<char>> out, std::size_t* read) const {
  *read = 0;
  return Use([&](const File& inner) { return inner.ReadVectored(offset, out, read); });
}

Status PooledFile::ReadCached(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const {
  *read = 0;
  return Use([&](const File& inner) { return inner.ReadCached(offset, n, out, read); });
}

Status PooledFile::Write(std::uint64_t offset, Slice data) {
  return WriteBy([&](File& inner) { return inner.Write(offset, data); });
}

Status PooledFile::WriteVectored(std::uint64_t offset, std::span<const Slice> data) {
  return WriteBy([&](File& inner) { return inner.WriteVectored(offset, data); });
}

Status PooledFile::SyncData() {
  return SyncBy([](File& inner) { return inner.SyncData(); });
}

Status PooledFile::Sync() {
  return SyncBy([](File& inner) { return inner.Sync(); });
}

void PooledFile::StartWriteback(std::uint64_t offset, std::uint64_t length) {
  static_cast<void>(Use([&](File& inner) {
    inner.StartWriteback(offset, length);
    return Status::OK();
  }));
}

Status PooledFile::Truncate(std::uint64_t size) {
  return ChangeShape([&](File& inner) { return inner.Truncate(size); });
}

Status PooledFile::Allocate(std::uint64_t offset, std::uint64_t length, bool grow) {
  return ChangeShape([&](File& inner) { return inner.Allocate(offset, length, grow); });
}

bool PooledFile::CanGrowAhead() const {
  bool can = false;
  static_cast<void>(Use([&](const File& inner) {
    can = inner.CanGrowAhead();
    return Status::OK();
  }));
  return can;
}

Status PooledFile::PunchHole(std::uint64_t offset, std::uint64_t length) {
  return ChangeShape([&](File& inner) { return inner.PunchHole(offset, length); });
}

Status PooledFile::GetInfo(FileInfo* info) const {
  return Use([&](const File& inner) { return inner.GetInfo(info); });
}

Status PooledFile::Map(std::uint64_t offset, std::size_t length, std::unique_ptr<MappedRegion>* region) const {
  if (!pool_->BeginMap()) {
    return Status::NotSupported("map " + path_ + ": half of the files that may be open (max_open_files) are mapped");
  }
  // From here on the counted mapping belongs to `counted`, unless there is no memory for it.
  std::unique_ptr<PooledMap> counted;
  try {
    counted = std::make_unique<PooledMap>(pool_, maps_);
  } catch (const std::bad_alloc&) {
    pool_->EndMap();
    throw;
  }
  CAMBIUM_RETURN_IF_ERROR(Use([&](const File& inner) { return counted->Map(inner, offset, length); }));
  *region = std::move(counted);
  return Status::OK();
}

Status PooledFile::Residency(std::uint64_t offset, std::uint64_t length, std::uint64_t* resident_bytes) const {
  *resident_bytes = 0;
  return Use([&](const File& inner) { return inner.Residency(offset, length, resident_bytes); });
}

Status PooledFile::Advise(std::uint64_t offset, std::uint64_t length, AccessHint hint) const {
  const bool is_lasting = offset == 0 && length == 0 && hint != AccessHint::kWillNeed && hint != AccessHint::kDontNeed;
  if (is_lasting) hint_.store(hint, std::memory_order_relaxed);
  return Use([&](const File& inner) { return inner.Advise(offset, length, hint); });
}

}  // namespace cambium
