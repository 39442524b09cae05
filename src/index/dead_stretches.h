// Dead stretches: long rows of tombstones of a memtable, between which no entry is visible. A queue leaves such rows,
// and each seek for its first key would pass them.
//
//   memtable       ×   ×   ×   ×       ×   ●        × tombstone     ● entry
//   older layers   ●   ×       ●   ×
//                  └── stretch ──────┘
//   its run        [···range delete···)×   ●
//
// A flush writes a stretch as one range delete and its last tombstone. An Open remembers it as a gap (state/gaps.h).
//
// A stretch stays dead until one of its keys is put. Layers get entries only from memtables, and those of newer
// memtables come to lie above the run. Compactions, log GC and compaction filters make no key visible. So the layers may
// change between the search and the commit of the run.
//
// The search is bounded. It walks the memtable once. Older layers are read only at rows that are long enough, and no
// further than 8 keys for each key of the memtable.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cambium/comparator.h"
#include "cambium/types.h"
#include "index/merge_cursor.h"
#include "memtable/entry_cursor.h"
#include "memtable/memtable.h"
#include "memtable/range_deletes.h"

namespace cambium {

// A stretch has at least this many tombstones, and at least the kStretchesMax-th part of its memtable's keys. So a
// flush adds few ranges, whose covered bytes are measured after each flush and compaction (Layers::CoveredByRanges).
#ifdef CAMBIUM_TEST_HOOKS
inline std::atomic<std::size_t> dead_stretch_least{128};
#else
inline constexpr std::size_t dead_stretch_least = 128;
#endif
inline constexpr std::size_t kStretchesMax = 64;

// Both are keys of tombstones of the memtable, and first < last. No key in [first, last] is visible.
struct DeadStretch {
  std::string first;
  std::string last;
  std::uint64_t tombstones = 0;  // how many the memtable has in [first, last]
};

// Appends the layers below the memtable, newest first.
using AppendOlder = std::function<void(std::vector<MergeChild>*)>;

// Returns the stretches of the memtable, in order, for readers at `sequence` who see all of the memtable and all of the
// layers below it. If a layer cannot be read, some stretches are missing.
[[nodiscard]] std::vector<DeadStretch> FindDeadStretches(const Comparator* comparator, const MemTable& table,
                                                         SequenceNumber sequence, const AppendOlder& append_older);

// The ranges [first, last) of the stretches.
[[nodiscard]] RangeDeletes RangesOf(const Comparator* comparator, const std::vector<DeadStretch>& stretches);

// Leaves out the tombstones of a cursor that `ranges`, made by RangesOf, covers. Goes forward only. Both arguments
// outlive it; the cursor is at its first key.
class StretchSkipper final : public EntryCursor {
 public:
  StretchSkipper(EntryCursor* cursor, const Comparator* comparator, const RangeDeletes* ranges);
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(Slice target) override;
  void SeekForPrev(Slice target) override;
  void Next() override;
  void Prev() override;
  [[nodiscard]] bool Valid() const override { return cursor_.Valid(); }
  [[nodiscard]] Slice key() const override { return cursor_.key(); }
  [[nodiscard]] Entry entry() const override { return cursor_.entry(); }
  [[nodiscard]] EntryKind kind() const override { return cursor_.kind(); }
  [[nodiscard]] Status status() const override { return cursor_.status(); }

 private:
  void LeaveStretch();

  EntryCursor& cursor_;
  const Comparator& comparator_;
  const RangeDeletes& ranges_;
  std::size_t next_ = 0;  // the first range that does not end before the current key
};

}  // namespace cambium
