#include "api/db_iterator.h"

#include <cassert>
#include <vector>

#include "api/db_impl.h"
#include "index/merge_cursor.h"
#include "util/fork_guard.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// A cursor over nothing, and why: an error, or OK.
class EmptyIterator final : public Iterator {
 public:
  explicit EmptyIterator(Status status) : status_(std::move(status)) {}
  [[nodiscard]] bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(Slice) override {}
  void SeekForPrev(Slice) override {}
  void Next() override { assert(false); }
  void Prev() override { assert(false); }
  [[nodiscard]] Slice key() const override { return {}; }
  [[nodiscard]] Slice value() const override { return {}; }
  bool PrepareValue() override { return false; }
  [[nodiscard]] std::uint64_t ValueSize() const override { return 0; }
  [[nodiscard]] Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace

Iterator* DbImpl::NewIterator(const ReadOptions& options, ColumnFamilyHandle* family) {
  std::vector<Iterator*> made;
  const Status s = NewIterators(options, {family}, &made);
  return s.ok() ? made.front() : new EmptyIterator(s);
}

Status DbImpl::NewIterators(const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& handles,
                            std::vector<Iterator*>* iterators) {
  iterators->clear();
  CAMBIUM_RETURN_IF_ERROR(CheckRead(options));
  SequenceNumber sequence = 0;
  const std::shared_ptr<const View> view = PinView(options, &sequence);
  std::vector<std::shared_ptr<const Family>> families;  // null: made after the snapshot
  for (ColumnFamilyHandle* const handle : handles) {
    CAMBIUM_TRY(const Family* const family, FamilyOf(handle));
    const FamilyView* const found = view->Find(family->id);
    if (found == nullptr && family->dropped.load(std::memory_order_acquire)) {
      return Status::ColumnFamilyDropped("column family \"" + family->name + "\" was dropped");
    }
    families.push_back(found == nullptr ? nullptr : found->family);
  }
  if (MutantIs(Mutant::kSnapshotSeqLate)) sequence = kMaxSequenceNumber;
  for (auto& family : families) {
    if (family == nullptr) {
      iterators->push_back(new EmptyIterator(Status::OK()));
    } else {
      iterators->push_back(new DbIterator(this, std::move(family), options, view, sequence));
    }
  }
  return Status::OK();
}

DbIterator::DbIterator(const DbImpl* db, std::shared_ptr<const Family> family_to_walk, const ReadOptions& options,
                       std::shared_ptr<const View> view, SequenceNumber sequence)
    : db_(db), family_(std::move(family_to_walk)), options_(options), view_(std::move(view)) {
  db_->iterator_count_.fetch_add(1);
  if (options.iterate_lower_bound != nullptr) lower_ = options.iterate_lower_bound->ToString();
  if (options.iterate_upper_bound != nullptr) upper_ = options.iterate_upper_bound->ToString();
  const FamilyView& family = *view_->Find(family_->id);
  std::vector<MergeChild> children;
  const auto add = [&](const LogTable& table) {
    children.emplace_back(table.NewCursor(sequence));
    children.back().ranges = table.RangesAt(sequence);
  };
  if (!family.active->empty()) add(*family.active);
  for (const FrozenTable& frozen : family.frozen) add(*frozen.table);
  if (children.empty()) {
    cursor_ = family.layers->NewCursor();
    return;
  }
  children.emplace_back(family.layers->NewCursor());
  cursor_ = std::make_unique<MergeCursor>(family_->options().comparator, std::move(children));
}

DbIterator::~DbIterator() {
  cursor_.reset();
  db_->iterator_count_.fetch_sub(1);
}

void DbIterator::operator delete(DbIterator* it, std::destroying_delete_t) {
  if (ForkGeneration() != it->db_->fork_generation_) return;
  it->~DbIterator();
  ::operator delete(it);
}

void DbIterator::Reset() {
  valid_ = false;
  fetched_ = false;
  status_ = Status::OK();
}

bool DbIterator::IsBelowLower(Slice key) const {
  return lower_.has_value() && family_->options().comparator->Compare(key, *lower_) < 0;
}
bool DbIterator::IsAtOrAboveUpper(Slice key) const {
  return upper_.has_value() && family_->options().comparator->Compare(key, *upper_) >= 0;
}

void DbIterator::SeekToFirst() {
  Reset();
  if (lower_.has_value()) {
    cursor_->Seek(*lower_);
  } else {
    cursor_->SeekToFirst();
  }
  Settle(Direction::kForward);
}

void DbIterator::Seek(Slice target) {
  Reset();
  cursor_->Seek(IsBelowLower(target) ? Slice(*lower_) : target);
  Settle(Direction::kForward);
}

void DbIterator::SeekToLast() {
  Reset();
  if (upper_.has_value()) {
    cursor_->SeekForPrev(*upper_);
    if (cursor_->Valid() && IsAtOrAboveUpper(cursor_->key())) cursor_->Prev();
  } else {
    cursor_->SeekToLast();
  }
  Settle(Direction::kBackward);
}

void DbIterator::SeekForPrev(Slice target) {
  if (IsAtOrAboveUpper(target)) {
    SeekToLast();
    return;
  }
  Reset();
  cursor_->SeekForPrev(target);
  Settle(Direction::kBackward);
}

void DbIterator::Next() {
  assert(valid_);
  Reset();
  cursor_->Next();
  Settle(Direction::kForward);
}

void DbIterator::Prev() {
  assert(valid_);
  Reset();
  cursor_->Prev();
  Settle(Direction::kBackward);
}

void DbIterator::Settle(Direction direction) {
  const auto is_inside = [&] {
    return direction == Direction::kForward ? !IsAtOrAboveUpper(cursor_->key()) : !IsBelowLower(cursor_->key());
  };
  // Tombstones beyond the bound are nobody's business: there may be millions.
  bool inside = cursor_->Valid() && is_inside();
  while (inside && cursor_->entry().kind == EntryKind::kTombstone) {
    if (direction == Direction::kForward) {
      cursor_->Next();
    } else {
      cursor_->Prev();
    }
    inside = cursor_->Valid() && is_inside();
  }
  status_ = cursor_->status();
  valid_ = inside;
}

Slice DbIterator::key() const {
  assert(valid_);
  return cursor_->key();
}

bool DbIterator::FetchValue() const {
  if (fetched_) return true;
  const Status read = db_->ReadEntry(*view_, *family_, options_, cursor_->key(), cursor_->entry(), &value_);
  if (!read.ok()) {
    // The index has the key, so a value that is not found is damage too.
    status_ = read.IsNotFound() ? Status::Corruption("an index entry without a value") : read;
    value_.clear();
    return false;
  }
  fetched_ = true;
  return true;
}

Slice DbIterator::value() const {
  assert(valid_);
  const Entry entry = cursor_->entry();
  if (entry.kind == EntryKind::kInline) return entry.inline_value;
  if (!fetched_ && (options_.allow_unprepared_value || !FetchValue())) return {};
  return value_;
}

bool DbIterator::PrepareValue() {
  if (!Valid()) return false;
  return cursor_->entry().kind == EntryKind::kInline || FetchValue();
}

std::uint64_t DbIterator::ValueSize() const {
  assert(valid_);
  const Entry entry = cursor_->entry();
  if (!entry.HasAddress()) return entry.inline_value.size();
  if (fetched_) return value_.size();
  const std::uint64_t overhead = kRecordHeaderSize + cursor_->key().size();
  return entry.address.size() > overhead ? entry.address.size() - overhead : 0;
}

}  // namespace cambium
