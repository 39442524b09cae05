// PagePool: index pages in memory, verified once when they come in.
//
// Ours and not the kernel's page cache: a mapped file cannot say when a page was read anew, so checksums could not be
// verified once; a bad sector would be a SIGBUS and not an error; and random value reads would evict the index.
//
//   pointer ──▶ IndexFile's PageTable ──▶ PageFrame { pins and closed bit, page bytes, parsed view }
//
// A hit takes no lock and makes no system call: load the cell, add a pin, see that the frame was not closed and still
// belongs to the cell. From a branch to its child it goes more directly: the branch's frame remembers the child's, and
// what a search reads there is asked for while the pin is still on its way. A frame is closed only while it has no pins,
// or when its file goes; a thread whose pin comes too late sees the closed bit, takes the pin back and goes the slow way.
// Frames (not the page bytes in them) live as long as the pool, so that a late look at one is always safe.
//
// Everything else (misses, eviction, Insert, Forget) is done under one mutex, which is not held during a read: several
// threads that miss the same page read it once. The clock gives leaves one more round for a hit, branches three.
//
// A compressed leaf is expanded when it comes in, and the pool holds and counts it with its raw size: this is the cache
// of decompressed blocks. Its stored bytes take a frame of their own only until then.
//
// Reads that are not to fill the pool (passing_reads.h) have a few frames that go round among them.
//
// Pinned pages are never evicted. If all are pinned the pool grows beyond its capacity rather than fail or wait, and
// shrinks when it next needs room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "index/index_file.h"
#include "index/page_format.h"
#include "index/page_frame.h"
#include "util/meter.h"
#include "util/result.h"

namespace cambium {

// A pinned page: while this lives its bytes stay where they are. Move-only. Must not outlive the pool.
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
  explicit PageRef(PageFrame* frame) : frame_(frame) {}  // takes over a pin
  PageFrame* frame_ = nullptr;
};

struct PagePoolStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;
  std::uint64_t resident_bytes = 0;  // page bytes held, of compressed pages the raw ones
  std::uint64_t resident_pages = 0;
};

class PagePool {
 public:
  // The capacity is of page bytes; a frame takes about 200 more per page, and 16 per child of a branch. What `meter`
  // refers to must outlive the pool.
  explicit PagePool(std::size_t capacity_bytes, const Meter& meter = Meter());
  ~PagePool();  // no PageRef and no IndexFile that uses the pool may be left
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  // The page, pinned. `file` is the file of page.id and was made for this pool. Corruption if the bytes are not what
  // the pointer's owner expects; an error of the read is passed on and not remembered. Any thread.
  Result<PageRef> Get(const IndexFile& file, PagePointer page);
  // The same for a page of one of several files.
  Result<PageRef> Get(const FileSet& files, PagePointer page);

  // Child `index` of a branch, in one of the files. It must have the level below, or it is Corruption. `hash` of the key
  // that is looked for, to ask for the right line of a filter early; none if the filter is of no use. Any thread.
  Result<PageRef> GetChild(const FileSet& files, const PageRef& parent, std::uint32_t index,
                           std::optional<std::uint64_t> hash);

  // Keeps a copy of a page, not a compressed one, that was just written to `file`, so that the first reader finds it;
  // not if there is no room that could be made. Any thread.
  void Insert(const IndexFile& file, PagePointer page, Slice bytes);

  // Pages of this file leave the pool. Called by the file's destructor: nobody may Get() from it any more.
  void Forget(const IndexFile& file);

  void SetCapacity(std::size_t capacity_bytes);
  [[nodiscard]] std::size_t capacity_bytes() const;
  [[nodiscard]] PagePoolStats stats() const;
  // What look-ups in the pool's files are counted with.
  [[nodiscard]] const Meter& meter() const { return meter_; }

  // For tests, while no other thread uses the pool: cells and frames point at each other, counts agree, and nothing is
  // pinned if `idle`.
  Status CheckInvariants(bool idle) const;

 private:
  struct Rep;
  Result<PageRef> GetSlow(const IndexFile& file, PagePointer page);
  const Meter meter_;
  std::unique_ptr<Rep> rep_;
};

}  // namespace cambium
