// Gaps: ranges of keys in which readers see no entry, so that an iterator need not pass the tombstones there one by
// one. A queue needs them: each key that is taken from its front leaves a tombstone, and the seek to the next key
// passes all of these tombstones again.
//
//   keys     a   b   c   d   e   f   g   h            × tombstone     ● entry
//            ×   ×   ×   ×   ×   ×   ●   ×
//            └────── gap ────────┘
//
// A gap has a sequence number: at this number, and at each later one, no key in it is visible. It stays true as long as
// no key in it is put. Deletes, flushes, compactions and log GC do not make a key visible. A compaction filter can
// remove a key without a new sequence number, so that a reader with an older view still sees it: families with a filter
// have no gaps.
//
//   iterator   passes tombstones ▶ watches puts ▶ passes more ▶ adds a gap of all that it has passed, unless a key in it
//              was put meanwhile
//   writer     adds a key to its memtable ▶ splits the gap that has the key ▶ publishes the write
//
// So a reader whose sequence number shows the key finds the gap split. The iterator begins to watch under the append
// lock, and only if the family's newest put is visible to it: then its walk has seen all earlier puts, and the watch
// sees all later ones.
//
// Gaps are in memory only; Open looks for them in memtables. A family has at most kGapsMax, with keys up to kGapKeyMax.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "cambium/types.h"
#include "state/lock_roles.h"
#include "util/mutex.h"

namespace cambium {

inline constexpr std::size_t kGapsMax = 64;
inline constexpr std::size_t kGapKeyMax = 1024;  // bytes
// A move that passes this many tombstones watches for puts, and adds a gap. A shorter one costs less than a gap.
#ifdef CAMBIUM_TEST_HOOKS
inline std::atomic<std::size_t> gap_tombstones_least{128};
#else
inline constexpr std::size_t gap_tombstones_least = 128;
#endif

// An end of a gap, at a key that belongs to the gap or not.
struct GapEnd {
  std::string key;
  bool is_inside = true;
};

class Gaps {
 public:
  explicit Gaps(const Comparator* comparator) : comparator_(*comparator) {}
  Gaps(const Gaps&) = delete;
  Gaps& operator=(const Gaps&) = delete;

  // For one move of an iterator: notes the puts of its family from Begin on.
  class Watch {
   public:
    Watch() = default;
    ~Watch() { End(); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    [[nodiscard]] bool has_begun() const { return gaps_ != nullptr; }

   private:
    friend class Gaps;
    void End() {
      if (gaps_ != nullptr) gaps_->Remove(this);
      gaps_ = nullptr;
    }
    Gaps* gaps_ = nullptr;  // null: it has not begun, or has ended
    // Guarded by the mutex of the Gaps.
    Watch* next_ = nullptr;
    bool has_puts_ = false;
    bool is_blind_ = false;  // there was no memory to note a put
    std::string lowest_;     // of the keys that were put
    std::string highest_;
  };

  // ---- Readers; any thread ----

  // True if the key lies in a gap that a reader at `sequence` may skip, and the gap does not end at the key. Then *to
  // is the gap's end in the direction of the move.
  bool Find(Slice key, SequenceNumber sequence, bool forward, std::string* to);
  // Begins to watch, for an iterator at `sequence`. False: it does not see the newest put.
  bool Begin(Watch* watch, SequenceNumber sequence) CAMBIUM_REQUIRES(append_lock);
  // Adds the gap, in which an iterator at `sequence` has seen no entry. `watch` has begun, and was begun by that
  // iterator. Does nothing if a key in it was put since. Ends the watch.
  void Add(Watch* watch, SequenceNumber sequence, GapEnd first, GapEnd last);

  // ---- Writers ----

  // Called for each put, when the key is in its memtable and before it is published.
  void NotePut(SequenceNumber sequence, Slice key) noexcept CAMBIUM_REQUIRES(append_lock) {
    newest_put_ = sequence;
    if (has_any_) NotePutInGaps(key);
  }

  [[nodiscard]] std::size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  struct Gap {
    GapEnd first;
    GapEnd last;
    SequenceNumber since = 0;
    std::uint64_t used = 0;  // the time of its last use, in uses
  };

  void NotePutInGaps(Slice key) noexcept CAMBIUM_REQUIRES(append_lock);
  void NoteInWatches(Slice key) noexcept CAMBIUM_REQUIRES(mutex_);
  void Split(std::size_t at, Slice key) noexcept CAMBIUM_REQUIRES(mutex_);
  void Remove(Watch* watch) CAMBIUM_EXCLUDES(mutex_);
  void RemoveLocked(Watch* watch) CAMBIUM_REQUIRES(mutex_);
  // The index of the gap that has the key; size of gaps_ if there is none.
  [[nodiscard]] std::size_t IndexOf(Slice key) const CAMBIUM_REQUIRES(mutex_);
  [[nodiscard]] bool Has(const Gap& gap, Slice key) const;
  // Whether a gap that begins at `begin` overlaps, or continues, one that ends at `end` and begins before.
  [[nodiscard]] bool Touches(const GapEnd& end, const GapEnd& begin) const;
  // Adds `by`, which touches the gap. No key is visible in either, so none is visible in the whole at the later of their
  // sequence numbers.
  void Widen(Gap* gap, Gap by) const;
  void DropLeastRecentlyUsed() CAMBIUM_REQUIRES(mutex_);

  const Comparator& comparator_;
  SequenceNumber newest_put_ CAMBIUM_GUARDED_BY(append_lock) = 0;
  // False: there are no gaps and no watches, so a writer need not look. A watch sets it when it begins.
  bool has_any_ CAMBIUM_GUARDED_BY(append_lock) = false;

  Mutex mutex_;                                      // a leaf
  std::vector<Gap> gaps_ CAMBIUM_GUARDED_BY(mutex_);  // by key; they do not overlap
  Watch* watches_ CAMBIUM_GUARDED_BY(mutex_) = nullptr;
  std::uint64_t uses_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::atomic<std::size_t> size_{0};                 // of gaps_; written under mutex_
};

}  // namespace cambium
