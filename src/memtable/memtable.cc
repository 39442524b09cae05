#include "memtable/memtable.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <string>
#include <utility>

#include "memtable/arena.h"
#include "memtable/record.h"
#include "memtable/table_ranges.h"
#include "memtable/tree.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Takes the sequence numbers of a key's newest version, and of the newest range that covers the key (0: none).
[[nodiscard]] bool IsHidden(SequenceNumber version, SequenceNumber range) {
  return range > version || (range != 0 && MutantIs(Mutant::kTableRangeHidesNewer));
}

// Works on copies of leaves. A copy is consistent, and records never change, so no later change by the writer matters
// to it. The next leaf is found by its separator, the previous leaf by the first key of this one.
class MemTableCursor final : public EntryCursor {
 public:
  // `ranges` as of read_seq; null: none.
  MemTableCursor(const MemTree* tree, SequenceNumber read_seq, SequenceNumber after_seq, HasVersions has,
                 const TableRanges* owner, const TableRanges::Version* ranges)
      : tree_(*tree), read_seq_(read_seq), after_seq_(after_seq), has_(has), range_owner_(*owner), ranges_(ranges) {}

  void SeekToFirst() override {
    tree_.CopyFirstLeaf(&leaf_);
    slot_ = 0;
    FindVisibleForward();
  }
  void SeekToLast() override {
    tree_.CopyLastLeaf(&leaf_);
    slot_ = leaf_.count;
    FindVisibleBackward();
  }
  void Seek(Slice target) override {
    tree_.CopyLeafOf(target, &leaf_);
    slot_ = LowerBound(target);
    FindVisibleForward();
  }
  void SeekForPrev(Slice target) override {
    tree_.CopyLeafOf(target, &leaf_);
    slot_ = LowerBound(target);
    if (slot_ < leaf_.count && tree_.Compare(leaf_.records[slot_].key(), target) == 0) ++slot_;
    FindVisibleBackward();
  }
  void Next() override {
    assert(Valid());
    ++slot_;
    FindVisibleForward();
  }
  void Prev() override {
    assert(Valid());
    FindVisibleBackward();
  }

  bool Valid() const override { return static_cast<bool>(current_); }
  Slice key() const override {
    assert(MemTableCursor::Valid());
    return current_.key();
  }
  Entry entry() const override {
    assert(MemTableCursor::Valid());
    const Entry entry = current_.entry();
    return has_ == HasVersions::kYes ? entry : entry.WithoutVersion();
  }
  Status status() const override { return {}; }

 private:
  // Moves to the first visible record at or after slot_, in this leaf or a later one.
  void FindVisibleForward() {
    for (;;) {
      for (; slot_ < leaf_.count; ++slot_) {
        if (slot_ + kAhead < leaf_.count) __builtin_prefetch(leaf_.records[slot_ + kAhead].bytes());
        current_ = leaf_.records[slot_].VisibleAt(read_seq_);
        if (current_ && current_.seq() > after_seq_ && !IsCovered(current_)) return;
      }
      if (!leaf_.next) {
        current_ = Record();
        return;
      }
      const Slice next = leaf_.next.key();
      tree_.CopyLeafOf(next, &leaf_);
      slot_ = LowerBound(next);
    }
  }
  // Moves to the last visible record before slot_, in this leaf or an earlier one.
  void FindVisibleBackward() {
    for (;;) {
      while (slot_ > 0) {
        --slot_;
        if (slot_ >= kAhead) __builtin_prefetch(leaf_.records[slot_ - kAhead].bytes());
        current_ = leaf_.records[slot_].VisibleAt(read_seq_);
        if (current_ && current_.seq() > after_seq_ && !IsCovered(current_)) return;
      }
      current_ = Record();
      if (leaf_.count == 0) return;
      const Slice first = leaf_.records[0].key();
      tree_.CopyLeafBefore(first, &leaf_);
      slot_ = LowerBound(first);
      if (slot_ == 0) return;
    }
  }

  // True if a range newer than the record covers it. Caches the stretch, since neighbours are mostly in the same one.
  [[nodiscard]] bool IsCovered(Record record) {
    if (ranges_ == nullptr) return false;
    const Slice key = record.key();
    if (!stretch_known_ || (stretch_.has_from && tree_.Compare(key, stretch_.from) < 0) ||
        (stretch_.has_to && tree_.Compare(key, stretch_.to) >= 0)) {
      stretch_ = range_owner_.StretchOf(*ranges_, key);
      stretch_known_ = true;
    }
    return IsHidden(record.seq(), stretch_.number);
  }

  [[nodiscard]] unsigned LowerBound(Slice target) const {
    unsigned low = 0;
    unsigned high = leaf_.count;
    while (low < high) {
      const unsigned middle = low + (high - low) / 2;
      if (tree_.Compare(leaf_.records[middle].key(), target) < 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  static constexpr unsigned kAhead = 6;  // how many records ahead to prefetch

  const MemTree& tree_;
  const SequenceNumber read_seq_;
  const SequenceNumber after_seq_;
  const HasVersions has_;
  LeafCopy leaf_;
  unsigned slot_ = 0;  // of current_ in leaf_
  Record current_;
  const TableRanges& range_owner_;
  const TableRanges::Version* const ranges_;
  TableRanges::Stretch stretch_;  // around the last key that IsCovered checked
  bool stretch_known_ = false;
};

}  // namespace

struct MemTable::Rep {
  Rep(const Comparator* comparator, std::shared_ptr<BudgetShare> share)
      : charge(std::move(share)),
        arena(charge.budget() == nullptr ? nullptr : &charge),
        tree(comparator),
        ranges(comparator) {}

  TableCharge charge;  // outlives the arena, which frees memory before the budget counts it as free
  Arena arena;
  MemTree tree;
  TableRanges ranges;
  // Used by the writer only. `place` is a member only to reuse its memory.
  SequenceNumber last_seq = 0;
  MemTree::Place place;
  // Written by the writer only; read by anyone.
  std::atomic<std::uint64_t> key_count{0};
  std::atomic<std::uint64_t> version_count{0};
  std::atomic<std::uint64_t> range_count{0};
  std::atomic<std::size_t> used_bytes{0};
  std::atomic<std::uint64_t> separated_bytes{0};
  std::atomic<std::uint64_t> newest_separated_count{0};
  std::atomic<std::uint64_t> newest_separated_bytes{0};

  // Only the writer changes a count, so a load and a store suffice.
  static void Raise(std::atomic<std::uint64_t>* number, std::uint64_t by) {
    number->store(number->load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }
  static void Lower(std::atomic<std::uint64_t>* number, std::uint64_t by) {
    assert(number->load(std::memory_order_relaxed) >= by);
    number->store(number->load(std::memory_order_relaxed) - by, std::memory_order_relaxed);
  }
};

MemTable::MemTable(const Comparator* comparator, std::shared_ptr<BudgetShare> share)
    : rep_(std::make_unique<Rep>(comparator, std::move(share))) {}
MemTable::~MemTable() = default;

Status MemTable::Reserve(std::size_t entries, std::size_t bytes, std::size_t ranges, BudgetClaim claim) {
  // More ranges than fit into memory, but few enough that adding up their sizes cannot overflow.
  constexpr std::size_t kRangesMax = std::size_t{1} << 32;
  std::size_t records;
  if (__builtin_mul_overflow(entries, Record::kOverheadMax + sizeof(Node) + sizeof(Branch), &records) ||
      __builtin_add_overflow(records, bytes, &records) || records > SIZE_MAX / 2 || ranges > kRangesMax) {
    return Status::OutOfMemory(std::to_string(entries) + " entries and " + std::to_string(ranges) +
                           " range deletes of " + std::to_string(bytes) + " bytes at once for a memtable");
  }
  std::size_t needed = entries * Record::kOverheadMax + bytes + rep_->tree.SplitBytesMax(entries);
  if (ranges > 0) needed += rep_->ranges.BytesMax(ranges) + ranges * 2 * TableRanges::kKeyOverhead;
  return rep_->arena.Reserve(needed, claim);
}

void MemTable::DropSpare() { rep_->arena.DropSpare(); }

void MemTable::Add(SequenceNumber seq, Slice key, const Entry& entry) {
  Rep& r = *rep_;
  assert(seq > r.last_seq && seq <= kMaxSequenceNumber);
  r.last_seq = seq;
  MemTree::Place& place = r.place;
  r.tree.Locate(key, &place);
  const Record older = place.record();
  char* memory = r.arena.TakeBytes(Record::SizeOf(key, entry, older));
  const Record record = Record::Write(memory, seq, key, entry, older);
  // Counts the record before readers can find it, so that a reader that finds it never sees an empty memtable.
  Rep::Raise(&r.version_count, 1);
  if (entry.HasAddress()) {
    Rep::Raise(&r.separated_bytes, entry.address.size());
    Rep::Raise(&r.newest_separated_count, 1);
    Rep::Raise(&r.newest_separated_bytes, entry.address.size());
  }
  if (older) {
    if (const Entry replaced = older.entry(); replaced.HasAddress()) {
      Rep::Lower(&r.newest_separated_count, 1);
      Rep::Lower(&r.newest_separated_bytes, replaced.address.size());
    }
    r.tree.Replace(place, record);
  } else {
    Rep::Raise(&r.key_count, 1);
    r.tree.Insert(place, record, &r.arena);
  }
  r.used_bytes.store(r.arena.used_bytes(), std::memory_order_relaxed);
}

void MemTable::AddRange(SequenceNumber seq, Slice begin, Slice end) {
  Rep& r = *rep_;
  assert(seq > r.last_seq && seq <= kMaxSequenceNumber);
  r.last_seq = seq;
  Rep::Raise(&r.range_count, 1);
  r.ranges.Add(seq, begin, end, &r.arena);
  r.used_bytes.store(r.arena.used_bytes(), std::memory_order_relaxed);
}

bool MemTable::Find(Slice key, SequenceNumber read_seq, Entry* entry, SequenceNumber* seq) const {
  const Record visible = rep_->tree.Find(key).VisibleAt(read_seq);
  if (const TableRanges::Version* newest = rep_->ranges.newest(); newest != nullptr) {
    const TableRanges::Version* ranges = TableRanges::VisibleAt(newest, read_seq);
    const SequenceNumber covering = ranges == nullptr ? 0 : rep_->ranges.NewestCovering(*ranges, key);
    if (IsHidden(visible ? visible.seq() : 0, covering)) {
      *entry = Entry::Tombstone();
      if (seq != nullptr) *seq = covering;
      return true;
    }
  }
  if (!visible) return false;
  *entry = visible.entry();
  if (seq != nullptr) *seq = visible.seq();
  return true;
}

std::unique_ptr<EntryCursor> MemTable::NewCursor(SequenceNumber read_seq, SequenceNumber after_seq,
                                                 HasVersions has) const {
  const TableRanges::Version* ranges = TableRanges::VisibleAt(rep_->ranges.newest(), read_seq);
  return std::make_unique<MemTableCursor>(&rep_->tree, read_seq, after_seq, has, &rep_->ranges, ranges);
}

std::shared_ptr<const RangeDeletes> MemTable::RangesAt(SequenceNumber read_seq, SequenceNumber after_seq) const {
  const TableRanges::Version* ranges = TableRanges::VisibleAt(rep_->ranges.newest(), read_seq);
  if (ranges == nullptr) return nullptr;
  auto covered = std::make_shared<const RangeDeletes>(rep_->ranges.UnionOf(*ranges, after_seq));
  return covered->empty() ? nullptr : covered;
}

std::shared_ptr<const RangeCover> MemTable::CoverAt(SequenceNumber read_seq) const {
  const TableRanges::Version* ranges = TableRanges::VisibleAt(rep_->ranges.newest(), read_seq);
  return ranges == nullptr ? nullptr : rep_->ranges.CoverOf(*ranges);
}

std::vector<Record> MemTable::VersionsBySequence() const {
  std::vector<Record> versions;
  versions.reserve(version_count());
  LeafCopy leaf;
  for (rep_->tree.CopyFirstLeaf(&leaf); leaf.count > 0; rep_->tree.CopyLeafOf(leaf.next.key(), &leaf)) {
    for (unsigned i = 0; i < leaf.count; ++i) {
      for (Record version = leaf.records[i]; version; version = version.older()) versions.push_back(version);
    }
    if (!leaf.next) break;
  }
  std::ranges::sort(versions, {}, &Record::seq);
  return versions;
}

int MemTable::Compare(Slice a, Slice b) const { return rep_->tree.Compare(a, b); }

std::uint64_t MemTable::key_count() const { return rep_->key_count.load(std::memory_order_relaxed); }
std::uint64_t MemTable::version_count() const { return rep_->version_count.load(std::memory_order_relaxed); }
std::uint64_t MemTable::range_delete_count() const { return rep_->range_count.load(std::memory_order_relaxed); }
std::size_t MemTable::memory_bytes() const { return rep_->used_bytes.load(std::memory_order_relaxed); }
TableCharge& MemTable::charge() const { return rep_->charge; }
std::uint64_t MemTable::separated_bytes() const { return rep_->separated_bytes.load(std::memory_order_relaxed); }

std::uint64_t MemTable::newest_separated_count() const {
  return rep_->newest_separated_count.load(std::memory_order_relaxed);
}
std::uint64_t MemTable::newest_separated_bytes() const {
  return rep_->newest_separated_bytes.load(std::memory_order_relaxed);
}

std::uint64_t MemTable::ApproximateSize(Slice begin, Slice end) const {
  const double part = rep_->tree.PartBefore(end) - rep_->tree.PartBefore(begin);
  return part <= 0 ? 0 : static_cast<std::uint64_t>(part * static_cast<double>(memory_bytes() + separated_bytes()));
}

Status MemTable::CheckInvariants() const {
  MemTree::Counts counts;
  Status status = rep_->tree.CheckInvariants(&counts);
  if (!status.ok()) return status;
  if (counts.keys != key_count()) return Status::Corruption("memtable: keys miscounted");
  if (counts.versions != version_count()) return Status::Corruption("memtable: versions miscounted");
  if (TableRanges::CountOf(rep_->ranges.newest()) != range_delete_count()) {
    return Status::Corruption("memtable: range deletes miscounted");
  }
  if (status = rep_->ranges.CheckInvariants(); !status.ok()) return status;
  if (rep_->used_bytes.load() != rep_->arena.used_bytes()) return Status::Corruption("memtable: bytes miscounted");
  return {};
}

}  // namespace cambium
