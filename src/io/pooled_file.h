// PooledFile: a file of a FilePool, which may be closed between two calls.
#pragma once

#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "io/file_pool.h"

namespace cambium {

// Threads and errors as in File. Each call may also return an error of opening the file again: IOError if the name
// leads to another file now, Denied if there is no descriptor.
class PooledFile final : public File {
 public:
  static Status Open(const std::shared_ptr<FilePool>& pool, const std::string& path, OpenMode mode,
                     const FileOptions& options, std::unique_ptr<File>* file);
  ~PooledFile() override;
  PooledFile(const PooledFile&) = delete;
  PooledFile& operator=(const PooledFile&) = delete;

  Status Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override;
  Status ReadVectored(std::uint64_t offset, std::span<const std::span<char>> out, std::size_t* read) const override;
  Status ReadCached(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override;
  Status Write(std::uint64_t offset, Slice data) override;
  Status WriteVectored(std::uint64_t offset, std::span<const Slice> data) override;
  Status SyncData() override;
  Status Sync() override;
  void StartWriteback(std::uint64_t offset, std::uint64_t length) override;
  Status Truncate(std::uint64_t size) override;
  Status Allocate(std::uint64_t offset, std::uint64_t length, bool grow) override;
  [[nodiscard]] bool CanGrowAhead() const override;
  Status PunchHole(std::uint64_t offset, std::uint64_t length) override;
  Status GetInfo(FileInfo* info) const override;
  // NotSupported if half of the pool's files are mapped.
  Status Map(std::uint64_t offset, std::size_t length, std::unique_ptr<MappedRegion>* region) const override;
  Status Residency(std::uint64_t offset, std::uint64_t length, std::uint64_t* resident_bytes) const override;
  // A hint for the whole file holds until the next one, also if the file is closed in between.
  Status Advise(std::uint64_t offset, std::uint64_t length, AccessHint hint) const override;
  [[nodiscard]] bool IsDirect() const override { return is_direct_; }
  [[nodiscard]] const std::string& path() const override { return path_; }

  // Keeps the file open, and opens it if needed, until Unpin. If it returns an error, the file is not pinned.
  Status Pin() const;
  void Unpin() const {
    [[maybe_unused]] const std::uint64_t before = state_.fetch_sub(kOnePin, std::memory_order_release);
    assert((before & kPins) != 0);
  }
  // After Pin: the file of the base.
  [[nodiscard]] const File& inner() const { return *inner_; }

 private:
  friend class FilePool;

  // The parts of state_, from the low end. One word, so that TryTake sees all of them change.
  static constexpr std::uint64_t kOpen = 1;                        // inner_ is set
  static constexpr std::uint64_t kOnePin = std::uint64_t{1} << 1;  // 23 bits: calls that use inner_
  static constexpr std::uint64_t kPins = (std::uint64_t{1} << 24) - kOnePin;
  static constexpr std::uint64_t kOneWriter = std::uint64_t{1} << 24;  // 8 bits: writes that have not returned
  static constexpr std::uint64_t kWriters = (std::uint64_t{1} << 32) - kOneWriter;
  static constexpr std::uint64_t kOneWrite = std::uint64_t{1} << 32;  // 32 bits, modulo 2^32: writes that have begun

  PooledFile(std::shared_ptr<FilePool> pool, const std::string& path, const FileOptions& options, OpenMode mode);

  template <typename Call>
  Status Use(Call call) const;
  template <typename Call>
  Status Change(Call call);  // as Use, unless the pool has failed
  template <typename Call>
  Status ChangeShape(Call call);  // as Change, for other changes than writes
  template <typename Call>
  Status WriteBy(Call call);
  template <typename Call>
  Status SyncBy(Call call);
  // The file is pinned and open.
  template <typename Call>
  Status SyncPinned(Call call);
  // Opens the file again. The caller has counted its pin.
  Status Reopen();
  // Pins the file for good.
  void KeepOpen();

  // ---- For FilePool, under its mutex_ ----
  [[nodiscard]] bool IsOpen() const { return (state_.load(std::memory_order_acquire) & kOpen) != 0; }
  // Takes inner_ unless something keeps the file open.
  std::unique_ptr<File> TryTake();
  // True if it could be taken, were it synced.
  [[nodiscard]] bool OnlyNeedsSync() const;
  [[nodiscard]] bool IsSynced(std::uint64_t state) const;
  void BeginSyncByPool();
  void EndSyncByPool();

  // ---- For FilePool, without its mutex_ ----
  Status SyncForPool();
  [[nodiscard]] bool was_opened() const { return was_opened_.load(std::memory_order_acquire); }

  const std::shared_ptr<FilePool> pool_;
  const std::string path_;
  const FileOptions options_;
  const OpenMode mode_;  // when it is opened again; never kCreateNew
  std::uint64_t inode_ = 0;
  std::uint64_t device_ = 0;
  bool is_direct_ = false;

  mutable std::atomic<std::uint64_t> state_{0};
  // The writes that had begun, modulo 2^32, when the last sync began that succeeded and found no write under way.
  std::atomic<std::uint32_t> synced_writes_{0};
  mutable std::atomic<AccessHint> hint_{AccessHint::kNormal};
  mutable std::atomic<bool> is_used_{true};   // since TakeOne looked
  std::atomic<bool> is_kept_{false};          // KeepOpen was called
  std::atomic<bool> was_opened_{false};       // inode_ and device_ are set
  std::atomic<bool> was_synced_{false};       // by this object
  std::atomic<bool> has_changed_{false};      // other than by writes, since the last sync
  std::atomic<bool> is_pool_syncing_{false};  // set and cleared under the pool's mutex_
  // The number of mappings that exist. They may outlive this object.
  const std::shared_ptr<std::atomic<int>> maps_ = std::make_shared<std::atomic<int>>(0);

  // Set and taken under the pool's mutex_. Read without it by threads that hold a pin and saw kOpen: Install sets kOpen
  // after inner_, and TryTake takes inner_ only after it has cleared kOpen while there was no pin.
  std::unique_ptr<File> inner_;
  std::size_t open_index_ = 0;  // in FilePool::open_, guarded by the pool's mutex_
};

}  // namespace cambium
