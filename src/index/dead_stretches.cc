#include "index/dead_stretches.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>
#include <utility>

#include "index/passing_reads.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::uint64_t kMergedPerKey = 8;
// If a look at older layers finds a visible entry too soon, the next look begins further on in the row: each time twice
// as far, up to so many times the length of the shortest stretch.
constexpr std::size_t kDistanceMax = 16;

class StretchSearch {
 public:
  StretchSearch(const Comparator* comparator, const MemTable& table, SequenceNumber sequence,
                const AppendOlder& append_older)
      : comparator_(*comparator),
        table_(table),
        sequence_(sequence),
        append_older_(append_older),
        least_(std::max<std::uint64_t>({2, dead_stretch_least, table.key_count() / kStretchesMax})),
        merged_left_(kMergedPerKey * table.key_count()) {}

  std::vector<DeadStretch> Run() {
    if (table_.key_count() < least_) return {};
    const std::unique_ptr<EntryCursor> cursor = table_.NewCursor(sequence_);
    for (cursor->SeekToFirst(); cursor->Valid() && merged_left_ > 0;) {
      if (cursor->kind() == EntryKind::kTombstone) {
        TakeRow(cursor.get());
        if (length_ >= least_) LookAtRow();
      } else {
        cursor->Next();
      }
    }
    return std::move(found_);
  }

 private:
  // Reads consecutive tombstones of the memtable, and leaves the cursor at the first entry after them.
  void TakeRow(EntryCursor* cursor) {
    starts_.clear();
    for (length_ = 0; cursor->Valid() && cursor->kind() == EntryKind::kTombstone; cursor->Next()) {
      const Slice key = cursor->key();
      if (length_++ % least_ == 0) starts_.push_back(key.ToString());
      last_.assign(key.data(), key.size());
    }
  }

  // Looks for stretches of the row in the merge with older layers.
  void LookAtRow() {
    if (!merge_.has_value()) OpenMerge();
    std::size_t distance = 1;
    for (std::size_t at = 0; at < starts_.size();) {
      merge_->Seek(starts_[at]);
      while (PassStretch()) distance = 1;
      if (!IsInRow()) return;
      const auto next = std::ranges::partition_point(
          starts_, [&](const std::string& start) { return comparator_.Compare(start, merge_->key()) < 0; });
      at = static_cast<std::size_t>(next - starts_.begin()) + distance - 1;
      distance = std::min(2 * distance, kDistanceMax);
    }
  }

  void OpenMerge() {
    std::vector<MergeChild> children;
    children.emplace_back(table_.NewCursor(sequence_));
    children.back().cover = table_.CoverAt(sequence_);
    append_older_(&children);
    merge_.emplace(&comparator_, std::move(children));
  }

  [[nodiscard]] bool IsInRow() const {
    return merged_left_ > 0 && merge_->Valid() && comparator_.Compare(merge_->key(), last_) <= 0;
  }

  // Passes all keys up to the next visible one, and that one. True: enough keys before it were tombstones of the
  // memtable for a stretch.
  bool PassStretch() {
    DeadStretch stretch;
    for (bool is_dead = true; is_dead && IsInRow(); merge_->Next()) {
      --merged_left_;
      const bool is_of_table = merge_->source() == 0;
      is_dead = merge_->kind() == EntryKind::kTombstone || (!is_of_table && MutantIs(Mutant::kStretchHidesOlderKeys));
      if (!is_dead || !is_of_table) continue;
      const Slice key = merge_->key();
      if (stretch.tombstones++ == 0) stretch.first = key.ToString();
      stretch.last.assign(key.data(), key.size());
    }
    if (stretch.tombstones < least_) return false;
    assert(found_.empty() || comparator_.Compare(found_.back().last, stretch.first) < 0);
    found_.push_back(std::move(stretch));
    return true;
  }

  const Comparator& comparator_;
  const MemTable& table_;
  const SequenceNumber sequence_;
  const AppendOlder& append_older_;
  const std::uint64_t least_;
  std::uint64_t merged_left_;  // how many keys may still be merged
  std::optional<MergeCursor> merge_;  // merges the memtable and the layers below it; made at the first long row
  // The current row: each least_-th tombstone, the last one, and their number.
  std::vector<std::string> starts_;
  std::string last_;
  std::uint64_t length_ = 0;
  std::vector<DeadStretch> found_;
};

}  // namespace

std::vector<DeadStretch> FindDeadStretches(const Comparator* comparator, const MemTable& table,
                                           SequenceNumber sequence, const AppendOlder& append_older) {
  const PassingReads passing(true);
  return StretchSearch(comparator, table, sequence, append_older).Run();
}

RangeDeletes RangesOf(const Comparator* comparator, const std::vector<DeadStretch>& stretches) {
  std::vector<Slice> bounds;
  bounds.reserve(2 * stretches.size());
  for (const DeadStretch& stretch : stretches) {
    bounds.push_back(stretch.first);
    bounds.push_back(stretch.last);
  }
  return RangeDeletes::OfBounds(comparator, bounds);
}

StretchSkipper::StretchSkipper(EntryCursor* cursor, const Comparator* comparator, const RangeDeletes* ranges)
    : cursor_(*cursor), comparator_(*comparator), ranges_(*ranges) {
  LeaveStretch();
}

// All keys of the memtable in a stretch are tombstones. The range hides what they would hide.
void StretchSkipper::LeaveStretch() {
  for (; cursor_.Valid() && next_ < ranges_.count(); ++next_) {
    if (comparator_.Compare(cursor_.key(), ranges_.begin(next_)) < 0) return;
    while (cursor_.Valid() && comparator_.Compare(cursor_.key(), ranges_.end(next_)) < 0) {
      assert(cursor_.kind() == EntryKind::kTombstone && "nothing is visible in a stretch");
      cursor_.Next();
    }
  }
}

void StretchSkipper::SeekToFirst() {
  cursor_.SeekToFirst();
  next_ = 0;
  LeaveStretch();
}

void StretchSkipper::Next() {
  cursor_.Next();
  LeaveStretch();
}

void StretchSkipper::SeekToLast() { assert(false && "goes forward only"); }
void StretchSkipper::Seek(Slice) { assert(false && "goes forward only"); }
void StretchSkipper::SeekForPrev(Slice) { assert(false && "goes forward only"); }
void StretchSkipper::Prev() { assert(false && "goes forward only"); }

}  // namespace cambium
