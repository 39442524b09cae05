#include "index/page_pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

#include "index/compressed_page.h"
#include "index/transit_frames.h"
#include "util/mutant.h"
#include "util/mutex.h"
#include "util/thread_stripe.h"

namespace cambium {
namespace {

// A read in progress. Waiters share it; all fields are guarded by the pool's mutex.
struct LoadInProgress {
  PagePointer page;
  bool done = false;
  Status status;
};

// While the pool is full, one of this many missing leaves that could be copied out of a mapping enters the pool.
constexpr std::uint64_t kCopiesPerLoad = 64;
// Frames in transit may take the capacity divided by this.
constexpr std::size_t kTransitShare = 16;

struct alignas(64) Counts {
  std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> misses{0};
  std::atomic<std::uint64_t> copies{0};  // leaves that could be copied out of a mapping
};

// Detects a valid page that is not the one its parent refers to, for example after a lost write.
Status CheckPointer(const IndexFile& file, PagePointer expected, PagePointer found) {
  if (found == expected) return Status::OK();
  if (found.id == expected.id && MutantIs(Mutant::kSkipParentChecksum)) return Status::OK();
  return Status::Corruption(found.id == expected.id ? "checksum is not the one that its parent expects"
                                                    : "length is not the one that its parent expects")
      .WithContext(PagePlaceName(file.path(), file.OffsetOf(expected.id)));
}

}  // namespace

struct PagePool::Rep {
  Rep(std::size_t capacity_bytes, const Meter& its_meter) : meter(its_meter), capacity(capacity_bytes) {}
  ~Rep() {
    const MutexLock lock(mutex);
    for (PageFrame& frame : frames) frame.FreeBytes(&memory);
  }
  Rep(const Rep&) = delete;
  Rep& operator=(const Rep&) = delete;

  void CountHit() {
    const ThreadStripe stripe = ThreadStripe::OfThisThread();
    stripe.Add(&stripes[stripe.index()].hits, 1);
    meter.Tick(BLOCK_CACHE_HIT);
  }
  void CountMiss() {
    const ThreadStripe stripe = ThreadStripe::OfThisThread();
    stripe.Add(&stripes[stripe.index()].misses, 1);
    meter.Tick(BLOCK_CACHE_MISS);
  }
  // Counts a leaf that could be copied out of a mapping. Returns true if it should be loaded into the pool instead.
  bool ShouldLoad() {
    const ThreadStripe stripe = ThreadStripe::OfThisThread();
    std::atomic<std::uint64_t>& copies = stripes[stripe.index()].copies;
    stripe.Add(&copies, 1);
    return copies.load(std::memory_order_relaxed) % kCopiesPerLoad == 0;
  }

  const Meter meter;
  std::array<Counts, ThreadStripe::kCount> stripes;
  TransitFrames transit;              // Add and RemoveUnused under the mutex
  std::atomic<bool> is_full{false};   // a page has been evicted since the pool last had room

  // Guards everything below, all cells, and opening and closing of frames. Innermost lock; not held during a read.
  mutable Mutex mutex;
  CondVar load_done;
  FrameMemory memory CAMBIUM_GUARDED_BY(mutex);                   // frames take their bytes from it
  std::deque<PageFrame> frames CAMBIUM_GUARDED_BY(mutex);         // never shrinks; a frame's address never changes
  std::vector<PageFrame*> free_frames CAMBIUM_GUARDED_BY(mutex);  // closed, without bytes
  std::vector<PageFrame*> orphans CAMBIUM_GUARDED_BY(mutex);      // closed but still pinned; their files are closed
  // Oldest first; entries that are not passing any more are dropped on sight.
  std::deque<PageFrame*> passing CAMBIUM_GUARDED_BY(mutex);
  std::vector<PageFrame*> spare_transit CAMBIUM_GUARDED_BY(mutex);  // closed, without bytes, removed from `transit`
  std::size_t transit_count CAMBIUM_GUARDED_BY(mutex) = 0;          // frames of `transit`, and spare ones
  std::size_t transit_bytes CAMBIUM_GUARDED_BY(mutex) = 0;          // included in resident_bytes
  std::unordered_map<const PageTable::Cell*, std::shared_ptr<LoadInProgress>> loads CAMBIUM_GUARDED_BY(mutex);
  std::size_t capacity CAMBIUM_GUARDED_BY(mutex);
  std::size_t hand CAMBIUM_GUARDED_BY(mutex) = 0;
  std::uint64_t resident_bytes CAMBIUM_GUARDED_BY(mutex) = 0;
  std::uint64_t evictions CAMBIUM_GUARDED_BY(mutex) = 0;

  // Needs no memory: free_frames has capacity for all frames.
  void Discard(PageFrame* frame) CAMBIUM_REQUIRES(mutex) {
    assert((frame->state.load(std::memory_order_relaxed) & PageFrame::kClosed) != 0 && resident_bytes >= frame->size);
    frame->is_passing = false;
    resident_bytes -= frame->size;
    frame->FreeBytes(&memory);
    free_frames.push_back(frame);
    assert(free_frames.size() <= frames.size());
  }

  void CollectOrphans() CAMBIUM_REQUIRES(mutex) {
    std::erase_if(orphans, [&](PageFrame* frame) CAMBIUM_REQUIRES(mutex) {
      if (frame->state.load(std::memory_order_acquire) != PageFrame::kClosed) return false;
      Discard(frame);
      return true;
    });
  }

  // Closes the next frame that is neither pinned nor warm. Null if a whole round found only pinned frames.
  PageFrame* Evict() CAMBIUM_REQUIRES(mutex) {
    std::size_t pinned_in_a_row = 0;
    // Enough rounds to cool the warmest page, unless hits warm it again meanwhile.
    const std::size_t steps_max = frames.size() * (PageFrame::kBranchWarmth + 2);
    for (std::size_t step = 0; step < steps_max && pinned_in_a_row < frames.size(); ++step) {
      PageFrame& frame = frames[hand];
      hand = (hand + 1) % frames.size();
      PageTable::Cell* cell = frame.cell.load(std::memory_order_relaxed);
      if (cell == nullptr || frame.state.load(std::memory_order_relaxed) != 0) {
        ++pinned_in_a_row;
        continue;
      }
      if (const std::uint8_t warmth = frame.warmth.load(std::memory_order_relaxed); warmth > 0) {
        // A hit that warms the page at this moment may be lost: that costs the page one round.
        frame.warmth.store(static_cast<std::uint8_t>(warmth - 1), std::memory_order_relaxed);
        pinned_in_a_row = 0;
        continue;
      }
      if (!frame.TryClose()) {
        ++pinned_in_a_row;
        continue;
      }
      Leave(&frame, cell);
      return &frame;
    }
    return nullptr;
  }

  // Detaches a frame from its page; the frame has just been closed.
  void Leave(PageFrame* frame, PageTable::Cell* cell) CAMBIUM_REQUIRES(mutex) {
    assert(cell->load(std::memory_order_relaxed) == frame);
    cell->store(nullptr, std::memory_order_relaxed);
    frame->cell.store(nullptr, std::memory_order_relaxed);
    frame->is_passing = false;
    ++evictions;
    meter.Tick(PAGE_CACHE_EVICTED);
  }

  // Closes the oldest unpinned passing page. Null if there are fewer passing pages than allowed, or all are pinned.
  PageFrame* EvictPassing() CAMBIUM_REQUIRES(mutex) {
    if (passing.size() < kPassingPagesMax) return nullptr;
    for (std::size_t left = passing.size(); left > 0; --left) {
      PageFrame* const frame = passing.front();
      passing.pop_front();
      if (!frame->is_passing) continue;
      PageTable::Cell* const cell = frame->cell.load(std::memory_order_relaxed);
      if (frame->warmth.load(std::memory_order_relaxed) > 0) {
        frame->is_passing = false;  // an ordinary read has used it
      } else if (cell != nullptr && frame->TryClose()) {
        Leave(frame, cell);
        return frame;
      } else {
        passing.push_back(frame);
      }
    }
    return nullptr;
  }

  // Makes a closed frame without bytes, and room for it in the lists of frames: Discard and Forget must not fail.
  PageFrame* AddFrame() CAMBIUM_REQUIRES(mutex) {
    if (free_frames.capacity() <= frames.size()) free_frames.reserve(2 * frames.size() + 16);
    if (orphans.capacity() <= frames.size()) orphans.reserve(2 * frames.size() + 16);
    if (spare_transit.capacity() <= frames.size()) spare_transit.reserve(2 * frames.size() + 16);
    return &frames.emplace_back();
  }

  // Returns a closed frame in transit with room for `size` bytes. Null if none may be added.
  PageFrame* TakeTransit(std::size_t size) CAMBIUM_EXCLUDES(mutex) {
    const ThreadStripe stripe = ThreadStripe::OfThisThread();
    if (PageFrame* const frame = transit.Take(stripe, size); frame != nullptr) return frame;
    if (!transit.HasRoom(stripe)) return nullptr;
    const MutexLock lock(mutex);
    if (!transit.HasRoom(stripe) || transit_bytes + size > capacity / kTransitShare) return nullptr;
    // Makes room as if for a page of this size.
    PageFrame* const made_room = Take(size, false);
    if (made_room == nullptr) return nullptr;
    Discard(made_room);
    if (spare_transit.empty()) {
      spare_transit.push_back(AddFrame());
      spare_transit.back()->is_transit = true;
      ++transit_count;
    }
    PageFrame* const frame = spare_transit.back();
    frame->TakeBytes(size, &memory);
    spare_transit.pop_back();
    resident_bytes += size;
    transit_bytes += size;
    transit.Add(stripe, frame);
    return frame;
  }

  // Copies the leaf out of the mapping into a closed frame in transit. False if it cannot be used, for any reason.
  static bool CopyLeaf(const IndexFile& file, const MappedRegion& map, PagePointer page, PageFrame* frame) {
    const Slice bytes(frame->bytes, file.PageBytes(page.id));
    const std::uint64_t offset = file.OffsetOf(page.id);
    if (!map.CopyOut(offset, bytes.size(), frame->bytes).ok()) return false;
    if (bytes[kPageTypeOffset] != static_cast<char>(PageType::kLeaf)) return false;
    if (!VerifyPage(bytes, page.id, file.page_size(), file.seed(), file.path()).ok() &&
        !MutantIs(Mutant::kTrustMappedPages)) {
      return false;
    }
    const Result<PageView> view = PageView::Parse(bytes, file.path(), offset);
    if (!view.ok() || !CheckPointer(file, page, view->pointer()).ok()) return false;
    frame->view = *view;
    frame->pointer = page;
    return true;
  }

  // Returns a closed frame with room for `size` bytes, evicting others if needed. Exceeds the capacity only if
  // `may_grow`; otherwise returns null.
  PageFrame* Take(std::size_t size, bool may_grow) CAMBIUM_REQUIRES(mutex) {
    CollectOrphans();
    PageFrame* taken = nullptr;
    if (PageFrame* const passed = PassingReads::AreOn() ? EvictPassing() : nullptr; passed != nullptr) {
      if (passed->size == size) return passed;  // its bytes are already counted
      Discard(passed);
    }
    if (resident_bytes + size > capacity) is_full.store(true, std::memory_order_relaxed);
    while (resident_bytes - (taken == nullptr ? 0 : size) + size > capacity) {
      PageFrame* evicted = Evict();
      if (evicted == nullptr) break;
      if (taken == nullptr && evicted->size == size) {
        taken = evicted;  // its bytes are already counted
      } else {
        Discard(evicted);
      }
    }
    if (taken != nullptr) return taken;
    if (resident_bytes + size > capacity && !may_grow) return nullptr;
    if (free_frames.empty()) free_frames.push_back(AddFrame());
    taken = free_frames.back();
    taken->TakeBytes(size, &memory);
    free_frames.pop_back();
    resident_bytes += size;
    return taken;
  }

  // Replaces *frame, a closed frame with the stored bytes of a compressed page, by one with the expanded page. On error
  // *frame is unchanged. Takes the mutex, but does not hold it while expanding.
  Status Expand(const IndexFile& file, PageId id, PageFrame** frame) CAMBIUM_EXCLUDES(mutex) {
    const std::uint64_t offset = file.OffsetOf(id);
    CAMBIUM_TRY(const CompressedPage page, CompressedPage::Parse({(*frame)->bytes, (*frame)->size}, file.page_size(),
                                                                 file.path(), offset));
    PageFrame* expanded = nullptr;
    {
      const MutexLock lock(mutex);
      expanded = Take(page.raw_size(), true);
    }
    Status status;
    try {
      status = page.Expand(expanded->bytes, file.path(), offset);
    } catch (...) {  // out of memory
      const MutexLock lock(mutex);
      Discard(expanded);
      throw;
    }
    const MutexLock lock(mutex);
    if (status.ok()) {
      std::swap(*frame, expanded);
      meter.Tick(NUMBER_BLOCK_DECOMPRESSED);
    }
    Discard(expanded);
    return status;
  }

  // Reads the page into *frame, a closed frame, or into another one, if it has to be expanded.
  Status Read(const IndexFile& file, PagePointer page, PageFrame** frame, PageView* view) CAMBIUM_EXCLUDES(mutex) {
    CAMBIUM_RETURN_IF_ERROR(file.ReadPage(page.id, (*frame)->bytes));
    if (CompressedPage::Is({(*frame)->bytes, (*frame)->size})) CAMBIUM_RETURN_IF_ERROR(Expand(file, page.id, frame));
    CAMBIUM_TRY(*view, PageView::Parse({(*frame)->bytes, (*frame)->size}, file.path(), file.OffsetOf(page.id)));
    return CheckPointer(file, page, view->pointer());
  }

  // If this throws, the frame can be discarded.
  void Publish(PageFrame* frame, PageTable::Cell* cell, const PageView& view, std::uint32_t pins)
      CAMBIUM_REQUIRES(mutex) {
    assert(cell->load(std::memory_order_relaxed) == nullptr && "a page has one frame");
    meter.Tick(BLOCK_CACHE_ADD);
    meter.Tick(BLOCK_CACHE_BYTES_WRITE, frame->size);
    frame->view = view;
    frame->pointer = view.pointer();
    frame->children = view.is_leaf() ? nullptr : std::make_unique<PageFrame::Child[]>(view.count());
    frame->is_passing = PassingReads::AreOn();
    if (frame->is_passing) passing.push_back(frame);
    frame->warmth.store(frame->is_passing ? 0 : PageFrame::kLeafWarmth, std::memory_order_relaxed);
    frame->cell.store(cell, std::memory_order_relaxed);
    frame->Publish(pins);
    cell->store(frame, std::memory_order_release);
  }
};

PagePool::PagePool(std::size_t capacity_bytes, const Meter& meter, std::shared_ptr<WriteBudget> budget)
    : meter_(meter), budget_(std::move(budget)), rep_(std::make_unique<Rep>(capacity_bytes, meter)) {}
PagePool::~PagePool() = default;

Result<PageRef> PagePool::Get(const IndexFile& file, PagePointer page) {
  assert(file.pool_ == this && FileNumberOf(page.id) == file.number());
  if (PageTable::Cell* cell = file.table_.Find(UnitOffsetOf(page.id)); cell != nullptr) {
    PageFrame* frame = cell->load(std::memory_order_acquire);
    if (frame != nullptr) frame->Prefetch();
    if (frame != nullptr && frame->TryPin()) {
      PageRef ref(frame);
      if (frame->cell.load(std::memory_order_relaxed) == cell) {
        frame->Warm();
        rep_->CountHit();
        if (frame->pointer != page) CAMBIUM_RETURN_IF_ERROR(CheckPointer(file, page, frame->pointer));
        return ref;
      }
    }
  }
  if (PageRef copy = CopyOut(file, page)) return copy;
  return Load(file, page);
}

Result<PageRef> PagePool::Get(const FileSet& files, PagePointer page) {
  CAMBIUM_TRY(const IndexFile* file, files.FileOf(page.id));
  return Get(*file, page);
}

Result<PageRef> PagePool::GetChild(const FileSet& files, const PageRef& parent, std::uint32_t index,
                                   std::optional<std::uint64_t> hash) {
  PageFrame::Child& hint = parent.frame_->children[index];
  PageFrame* const frame = hint.frame.load(std::memory_order_acquire);
  const PagePointer page = parent->child_pointer(index);
  if (frame != nullptr) {
    frame->Prefetch();
    hint.PrefetchFirst(hash);
    if (frame->TryPin()) {
      PageRef ref(frame);
      if (frame->pointer == page && frame->view.level() + 1 == parent->level()) {
        frame->Warm();
        rep_->CountHit();
        return ref;
      }
    }
    // The child has left this frame. The next reader need not fetch it.
    hint.frame.store(nullptr, std::memory_order_relaxed);
  }
  CAMBIUM_TRY(const IndexFile* file, files.FileOf(page.id));
  if (parent->level() == 1) file->PrefetchMapped(page.id);
  CAMBIUM_TRY(PageRef ref, Get(*file, page));
  if (ref->level() + 1 != parent->level() && !MutantIs(Mutant::kNoDepthLimit)) {
    return Status::Corruption("level is " + std::to_string(ref->level()) + "; its parent expects " +
                              std::to_string(parent->level() - 1))
        .WithContext(PagePlaceName(file->path(), file->OffsetOf(page.id)));
  }
  if (!ref.frame_->is_transit) hint.Remember(ref.frame_);
  return ref;
}

void PagePool::PrefetchChild(const FileSet& files, const PageRef& parent, std::uint32_t index,
                             std::optional<std::uint64_t> hash) {
  const PageFrame::Child& hint = parent.frame_->children[index];
  if (const PageFrame* const frame = hint.frame.load(std::memory_order_acquire); frame != nullptr) {
    frame->Prefetch();
    __builtin_prefetch(frame, 1);  // its pins
    hint.PrefetchFirst(hash);
    return;
  }
  const PageId id = parent->child_pointer(index).id;
  const IndexFile* const file = files.Find(FileNumberOf(id));
  if (file == nullptr) return;
  if (const PageTable::Cell* cell = file->table_.Find(UnitOffsetOf(id)); cell != nullptr) __builtin_prefetch(cell);
  if (parent->level() == 1) file->PrefetchMapped(id);
}

PageRef PagePool::CopyOut(const IndexFile& file, PagePointer page) {
  const bool is_passing = PassingReads::AreOn();
  if (!is_passing && !rep_->is_full.load(std::memory_order_relaxed)) return {};
  const MappedRegion* const map = file.MapOf(page.id);
  if (map == nullptr || (!is_passing && rep_->ShouldLoad())) return {};
  PageFrame* const frame = rep_->TakeTransit(file.PageBytes(page.id));
  if (frame == nullptr) return {};
  bool is_copied = false;
  try {
    is_copied = Rep::CopyLeaf(file, *map, page, frame);
  } catch (...) {
    frame->Publish(0);
    throw;
  }
  frame->Publish(is_copied ? 1 : 0);
  if (!is_copied) return {};
  rep_->CountMiss();
  return PageRef(frame);
}

Result<PageRef> PagePool::Load(const IndexFile& file, PagePointer page) {
  MutexLock lock(rep_->mutex);
  PageTable::Cell* const cell = file.table_.FindOrMake(UnitOffsetOf(page.id));
  for (;;) {
    if (PageFrame* frame = cell->load(std::memory_order_relaxed); frame != nullptr) {
      [[maybe_unused]] const bool pinned = frame->TryPin();
      assert(pinned);  // under the mutex, a frame in a cell is open
      PageRef ref(frame);
      frame->Warm();
      rep_->CountHit();
      CAMBIUM_RETURN_IF_ERROR(CheckPointer(file, page, frame->pointer));
      return ref;
    }
    const auto found = rep_->loads.find(cell);
    if (found == rep_->loads.end()) break;
    const std::shared_ptr<LoadInProgress> load = found->second;
    // The error of the thread that read concerns this thread only if both expected the same page. Otherwise this thread
    // reads the page itself.
    while (!load->done) rep_->load_done.Wait(rep_->mutex);
    if (!load->status.ok() && load->page == page) return load->status;
  }

  const auto load = std::make_shared<LoadInProgress>();
  load->page = page;
  PageFrame* frame = nullptr;
  rep_->loads.emplace(cell, load);
  try {
    frame = rep_->Take(file.PageBytes(page.id), true);
  } catch (...) {  // no thread waits yet
    rep_->loads.erase(cell);
    throw;
  }
  rep_->CountMiss();
  lock.Unlock();

  // If memory runs out, the threads that wait for the page read it themselves. They must not wait for ever.
  bool has_memory = true;
  PageView view;
  Status status;
  try {
    status = rep_->Read(file, page, &frame, &view);
  } catch (...) {
    has_memory = false;
  }

  lock.Lock();
  try {
    load->status = status;
    if (has_memory && status.ok()) rep_->Publish(frame, cell, view, 1);
  } catch (...) {
    has_memory = false;
  }
  const bool is_read = has_memory && status.ok();
  if (!is_read) rep_->Discard(frame);
  if (is_read && file.map_ != nullptr) file.map_->Grow(file.OffsetOf(page.id) + file.PageBytes(page.id));
  load->done = true;
  rep_->loads.erase(cell);
  rep_->load_done.NotifyAll();
  if (!has_memory) return Status::OutOfMemory("while a page was read");
  if (!is_read) return status;
  return PageRef(frame);
}

void PagePool::Insert(const IndexFile& file, PagePointer page, Slice bytes) {
  assert(file.pool_ == this && FileNumberOf(page.id) == file.number() && bytes.size() == file.PageBytes(page.id));
  const MutexLock lock(rep_->mutex);
  PageTable::Cell* const cell = file.table_.FindOrMake(UnitOffsetOf(page.id));
  if (cell->load(std::memory_order_relaxed) != nullptr || rep_->loads.contains(cell)) return;
  PageFrame* const frame = rep_->Take(bytes.size(), false);
  if (frame == nullptr) return;
  std::memcpy(frame->bytes, bytes.data(), bytes.size());
  const Result<PageView> view = PageView::Parse({frame->bytes, frame->size}, file.path(), file.OffsetOf(page.id));
  assert(view.ok() && view->pointer() == page);  // this process has just built the page
  if (!view.ok() || view->pointer() != page) {
    rep_->Discard(frame);
    return;
  }
  try {
    rep_->Publish(frame, cell, *view, 0);
  } catch (...) {  // out of memory: the page is read when it is needed
    rep_->Discard(frame);
  }
}

void PagePool::Forget(const IndexFile& file) {
  const MutexLock lock(rep_->mutex);
  rep_->is_full.store(false, std::memory_order_relaxed);
  file.table_.ForEachCell([&](PageTable::Cell& cell) {
    rep_->mutex.AssertHeld();
    PageFrame* const frame = cell.exchange(nullptr, std::memory_order_relaxed);
    if (frame == nullptr) return;
    const std::uint32_t pins = frame->state.fetch_or(PageFrame::kClosed, std::memory_order_acquire);
    frame->cell.store(nullptr, std::memory_order_relaxed);
    if (pins == 0) {
      rep_->Discard(frame);
    } else {
      rep_->orphans.push_back(frame);
    }
  });
}

void PagePool::SetCapacity(std::size_t capacity_bytes) {
  const MutexLock lock(rep_->mutex);
  rep_->capacity = capacity_bytes;
  rep_->is_full.store(false, std::memory_order_relaxed);
  rep_->transit.RemoveUnused([&](PageFrame* frame) {
    rep_->mutex.AssertHeld();
    rep_->resident_bytes -= frame->size;
    rep_->transit_bytes -= frame->size;
    frame->FreeBytes(&rep_->memory);
    rep_->spare_transit.push_back(frame);
  });
  rep_->CollectOrphans();
  while (rep_->resident_bytes > rep_->capacity) {
    PageFrame* const evicted = rep_->Evict();
    if (evicted == nullptr) break;
    rep_->Discard(evicted);
  }
}

std::size_t PagePool::capacity_bytes() const {
  const MutexLock lock(rep_->mutex);
  return rep_->capacity;
}

PagePoolStats PagePool::stats() const {
  PagePoolStats stats;
  for (const Counts& counts : rep_->stripes) {
    stats.hits += counts.hits.load(std::memory_order_relaxed);
    stats.misses += counts.misses.load(std::memory_order_relaxed);
  }
  const MutexLock lock(rep_->mutex);
  stats.evictions = rep_->evictions;
  stats.resident_bytes = rep_->resident_bytes;
  stats.resident_pages = rep_->frames.size() - rep_->free_frames.size() - rep_->spare_transit.size();
  return stats;
}

Status PagePool::CheckInvariants(bool idle) const {
  const MutexLock lock(rep_->mutex);
  const auto broken = [](const char* what) { return Status::Corruption("page pool: " + std::string(what)); };
  std::uint64_t bytes = 0;
  std::size_t mapped = 0;
  for (const PageFrame& frame : rep_->frames) {
    const std::uint32_t state = frame.state.load(std::memory_order_acquire);
    bytes += frame.size;
    const PageTable::Cell* cell = frame.cell.load(std::memory_order_relaxed);
    if (frame.is_transit ? cell != nullptr : (cell == nullptr) != ((state & PageFrame::kClosed) != 0)) {
      return broken("open without a cell, or reverse");
    }
    if (idle && (state & ~PageFrame::kClosed) != 0) return broken("pinned frame");
    if (cell == nullptr) continue;
    ++mapped;
    if (cell->load(std::memory_order_relaxed) != &frame) return broken("cell points elsewhere");
    if (frame.view.bytes().data() != frame.bytes) return broken("view of other bytes");
    if (frame.view.pointer() != frame.pointer) return broken("frame's pointer is not its page's");
  }
  if (bytes != rep_->resident_bytes) return broken("resident bytes do not add up");
  if (idle && !rep_->loads.empty()) return broken("load in progress");
  if (idle && mapped + rep_->free_frames.size() + rep_->orphans.size() + rep_->transit_count != rep_->frames.size()) {
    return broken("lost frame");
  }
  return Status::OK();
}

}  // namespace cambium
