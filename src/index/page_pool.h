// PagePool: a cache of index pages, each verified when it is copied into memory of the pool.
//
// Why no page is searched in a mapping: a mapped file does not say when a page was read from disk again, so a checksum
// would have to be verified at each use; a bad sector would raise SIGBUS instead of returning an error; and random
// reads of values would evict the index.
//
//   pointer ──▶ IndexFile's PageTable ──▶ PageFrame { pins and closed bit, page bytes, parsed view }
//
// A hit takes no lock and makes no system call: it loads the cell, adds a pin, and checks that the frame was not closed
// and still belongs to the cell. From a branch to its child there is a shortcut: the branch's frame remembers the
// child's frame, and the bytes that a search reads first are prefetched while the pin is being taken. A frame is closed
// only when it has no pins, or when its file is closed. A thread that pins too late sees the closed bit, removes its
// pin and follows the slow path. Frames (not their page bytes) live as long as the pool, so that a late access is
// always safe.
//
// If the pool is full and a leaf is missing that the page cache holds, the leaf is copied out of a mapping of its file
// into a frame of the thread (transit_frames.h), and verified and parsed there, without a lock. That takes less time than
// evicting another page for it. So only one of kCopiesPerLoad of these pages is loaded: pages that are read often enter
// the pool soon, and those that are read once seldom.
//
// Everything else (misses, eviction, Insert, Forget) runs under one mutex, which is not held during a read. If several
// threads miss the same page, one of them reads it. Pages are evicted by the clock algorithm: after a hit, a leaf is
// spared for one round, a branch for three.
//
// A compressed leaf is expanded when it is loaded. The pool holds the expanded page and counts its raw size, so it is
// also the cache of decompressed blocks. Until then the stored bytes use a frame of their own.
//
// Reads with fill_cache = false (passing_reads.h) recycle a few frames among themselves.
//
// Pinned pages are never evicted. If all pages are pinned, the pool grows beyond its capacity instead of failing or
// waiting, and shrinks when it next needs room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "index/index_file.h"
#include "index/page_format.h"
#include "index/page_frame.h"
#include "memtable/budget_charges.h"
#include "util/meter.h"
#include "util/result.h"

namespace cambium {

// A pinned page: its bytes stay valid, at the same address, until the PageRef is released. Move-only. Must not outlive
// the pool.
class PageRef {
 public:
  PageRef() = default;
  ~PageRef() { Release(); }
  PageRef(PageRef&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  PageRef& operator=(PageRef&& other) noexcept {
    if (this != &other) {
      Release();
      frame_ = std::exchange(other.frame_, nullptr);
    }
    return *this;
  }

  [[nodiscard]] explicit operator bool() const { return frame_ != nullptr; }
  [[nodiscard]] const PageView& operator*() const { return frame_->view; }
  [[nodiscard]] const PageView* operator->() const { return &frame_->view; }
  void Release() {
    if (frame_ != nullptr) std::exchange(frame_, nullptr)->Unpin();
  }

 private:
  friend class PagePool;
  explicit PageRef(PageFrame* frame) : frame_(frame) {}  // owns a pin that its maker has added
  PageFrame* frame_ = nullptr;
};

struct PagePoolStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;
  std::uint64_t resident_bytes = 0;  // page bytes in memory; raw sizes of compressed pages
  std::uint64_t resident_pages = 0;
};

class PagePool {
 public:
  // The capacity counts page bytes only. A frame takes about 200 bytes more per page, and 16 per child of a branch. The
  // pool must not outlive what `meter` refers to.
  explicit PagePool(std::size_t capacity_bytes, const Meter& meter = Meter(),
                    std::shared_ptr<WriteBudget> budget = nullptr);
  ~PagePool();  // requires that no PageRef and no IndexFile of this pool is left
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  // Returns the page, pinned. `file` is the file of page.id and was made for this pool. Corruption if the page is not
  // the one that `page` describes. A read error is returned and not cached. Any thread.
  Result<PageRef> Get(const IndexFile& file, PagePointer page);
  // As above; finds the page's file in `files`.
  Result<PageRef> Get(const FileSet& files, PagePointer page);

  // Returns child `index` of a branch; its file is in `files`. Corruption if its level is not one below the parent's.
  // `hash` is the FilterHash of the key that is looked up, to prefetch the right line of a filter; none if the filter
  // will not be used. Any thread.
  Result<PageRef> GetChild(const FileSet& files, const PageRef& parent, std::uint32_t index,
                           std::optional<std::uint64_t> hash);

  // Prefetch what GetChild will read, for callers that do something else meanwhile: first where the child is, then,
  // some time later, the child.
  static void PrefetchChildPlace(const PageRef& parent, std::uint32_t index) {
    __builtin_prefetch(&parent.frame_->children[index]);
    parent->PrefetchChildPointer(index);
  }
  static void PrefetchChild(const FileSet& files, const PageRef& parent, std::uint32_t index,
                            std::optional<std::uint64_t> hash);

  // Keeps a copy of an uncompressed page that was just written to `file`, so that its first reader gets a hit. Does
  // nothing if there is no room and none can be made. Any thread.
  void Insert(const IndexFile& file, PagePointer page, Slice bytes);

  // Drops the file's pages from the pool. Called by the file's destructor; no thread may call Get() for the file any
  // more.
  void Forget(const IndexFile& file);

  // Lets files be mapped that are opened from now on. Call it before the pool is used.
  void MapFiles() { maps_files_ = true; }
  [[nodiscard]] bool maps_files() const { return maps_files_; }

  void SetCapacity(std::size_t capacity_bytes);
  [[nodiscard]] std::size_t capacity_bytes() const;
  [[nodiscard]] PagePoolStats stats() const;
  // Where lookups in the pool's files count their events.
  [[nodiscard]] const Meter& meter() const { return meter_; }
  // The budget to which the filters of runs in the pool's files are charged; null: none.
  [[nodiscard]] const std::shared_ptr<WriteBudget>& budget() const { return budget_; }

  // For tests, while no other thread uses the pool: checks that cells and frames point at each other, that counts
  // agree, and, if `idle`, that nothing is pinned.
  Status CheckInvariants(bool idle) const;

 private:
  struct Rep;
  // Returns a leaf out of the file's mapping, in a frame for this use only. Empty if the page has to be loaded.
  PageRef CopyOut(const IndexFile& file, PagePointer page);
  Result<PageRef> Load(const IndexFile& file, PagePointer page);
  const Meter meter_;
  const std::shared_ptr<WriteBudget> budget_;
  bool maps_files_ = false;
  std::unique_ptr<Rep> rep_;
};

}  // namespace cambium
