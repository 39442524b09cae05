#include "api/db_iterator.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "api/db_impl.h"
#include "index/merge_cursor.h"
#include "index/passing_reads.h"
#include "util/destroy.h"
#include "util/fork_guard.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// While a value is copied so many bytes in front of it are asked for, the next value at least. A core has few lines under
// way, so that the next value would wait behind all that is asked for besides: with four values of 1 KiB a scan is a tenth
// slower than with one.
constexpr std::size_t kBytesAhead = 1024;

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
  std::vector<std::unique_ptr<Iterator>> made;
  for (auto& family : families) {
    if (family == nullptr) {
      made.push_back(std::make_unique<EmptyIterator>(Status::OK()));
    } else {
      made.push_back(AllocateAndMake<DbIterator>([&](void* at) {
        return ::new (at) DbIterator(this, std::move(family), options, view, sequence);
      }));
    }
  }
  iterators->reserve(made.size());
  for (std::unique_ptr<Iterator>& iterator : made) iterators->push_back(iterator.release());
  return Status::OK();
}

DbIterator::DbIterator(DbImpl* db, std::shared_ptr<const Family> family_to_walk, const ReadOptions& options,
                       std::shared_ptr<const View> view, SequenceNumber sequence)
    : db_(db), family_(std::move(family_to_walk)), options_(options), view_(std::move(view)) {
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
  family.layers->AppendCursors(&children);
  cursor_.emplace(family_->options().comparator, std::move(children));
  // Last: memory that runs out above makes no iterator.
  db_->iterator_count_.fetch_add(1);
  db_->meter_.Tick(NO_ITERATOR_CREATED);
}

DbIterator::~DbIterator() {
  traced_.reset();
  Leave();
  ahead_.reset();
  cursor_.reset();
  db_->meter_.Tick(NO_ITERATOR_DELETED);
  db_->iterator_count_.fetch_sub(1);
}

void DbIterator::operator delete(DbIterator* it, std::destroying_delete_t) {
  if (ForkGeneration() != it->db_->fork_generation_) return;
  DestroyAndFree(it);
}

bool DbIterator::IsBelowLower(Slice key) const {
  return lower_.has_value() && family_->options().comparator->Compare(key, *lower_) < 0;
}
bool DbIterator::IsAtOrAboveUpper(Slice key) const {
  return upper_.has_value() && family_->options().comparator->Compare(key, *upper_) >= 0;
}

// Reads that the parent has under way are the parent's: whoever waited for them here would take their answers from it.
bool DbIterator::IsForked() const {
  if (ForkGeneration() == db_->fork_generation_) return false;
  status_ = Status::NotSupported("an iterator cannot be used in a forked child");
  return true;
}

void DbIterator::Leave() {
  if (const std::size_t length = streak_ + (fetched_ ? 1 : 0); length > 0) family_->scan_length.Add(length);
  streak_ = 0;
  has_key_ = false;
  fetched_ = false;
  prefetched_ = 0;
  if (ahead_ != nullptr) ahead_->Clear();
}

void DbIterator::Count(Tickers calls, Tickers found) const {
  const Meter& meter = db_->meter_;
  if (!meter.is_on()) return;
  meter.Tick(calls);
  if (!Valid()) return;
  meter.Tick(found);
  const Entry its = entry();
  const std::size_t key_size = IsAhead() ? ahead_->key().size() : cursor_->key().size();
  meter.Tick(ITER_BYTES_READ, key_size + (its.kind == EntryKind::kInline ? its.inline_value.size() : 0));
}

bool DbIterator::IsTraced() const { return db_->traces_.is_on(); }

void DbIterator::BeginTracedScan(TraceType type, Slice key) {
  traced_ = TracedScan::Begin(&db_->traces_, type, family_->id, key);
}

void DbIterator::SeekToFirst() {
  if (IsForked()) return;
  Trace(kTraceIteratorSeekToFirst, {});
  const PassingReads passing(!options_.fill_cache);
  const Stopwatch watch(&db_->meter_, DB_SEEK);
  Leave();
  if (lower_.has_value()) {
    cursor_->Seek(*lower_);
  } else {
    cursor_->SeekToFirst();
  }
  Settle(Direction::kForward);
  Count(NUMBER_DB_SEEK, NUMBER_DB_SEEK_FOUND);
}

void DbIterator::Seek(Slice target) {
  if (IsForked()) return;
  Trace(kTraceIteratorSeek, target);
  const PassingReads passing(!options_.fill_cache);
  const Stopwatch watch(&db_->meter_, DB_SEEK);
  Leave();
  cursor_->Seek(IsBelowLower(target) ? Slice(*lower_) : target);
  Settle(Direction::kForward);
  Count(NUMBER_DB_SEEK, NUMBER_DB_SEEK_FOUND);
}

void DbIterator::SeekToLast() {
  if (IsForked()) return;
  Trace(kTraceIteratorSeekToLast, {});
  const PassingReads passing(!options_.fill_cache);
  const Stopwatch watch(&db_->meter_, DB_SEEK);
  ToLast();
  Count(NUMBER_DB_SEEK, NUMBER_DB_SEEK_FOUND);
}

void DbIterator::ToLast() {
  Leave();
  if (upper_.has_value()) {
    cursor_->SeekForPrev(*upper_);
    if (cursor_->Valid() && IsAtOrAboveUpper(cursor_->key())) cursor_->Prev();
  } else {
    cursor_->SeekToLast();
  }
  Settle(Direction::kBackward);
}

void DbIterator::SeekForPrev(Slice target) {
  if (IsForked()) return;
  Trace(kTraceIteratorSeekForPrev, target);
  const PassingReads passing(!options_.fill_cache);
  const Stopwatch watch(&db_->meter_, DB_SEEK);
  if (IsAtOrAboveUpper(target)) {
    ToLast();
  } else {
    Leave();
    cursor_->SeekForPrev(target);
    Settle(Direction::kBackward);
  }
  Count(NUMBER_DB_SEEK, NUMBER_DB_SEEK_FOUND);
}

void DbIterator::Next() {
  Move(Direction::kForward);
  Count(NUMBER_DB_NEXT, NUMBER_DB_NEXT_FOUND);
}
void DbIterator::Prev() {
  Move(Direction::kBackward);
  Count(NUMBER_DB_PREV, NUMBER_DB_PREV_FOUND);
}

void DbIterator::Move(Direction direction) {
  if (IsForked()) return;
  if (traced_ != nullptr) [[unlikely]] traced_->CountMove();
  const PassingReads passing(!options_.fill_cache);
  assert(IsAhead() || inside_);  // a value that could not be read is no reason not to go on
  if (direction != direction_ && IsAhead()) {
    // The cursor is somewhere in front; back to where the iterator is.
    const std::string here(ahead_->key().data(), ahead_->key().size());
    Leave();
    cursor_->Seek(here);
    status_ = cursor_->status();
    if (!status_.ok() || !cursor_->Valid()) {
      inside_ = false;
      return;
    }
  }
  streak_ = fetched_ && direction == direction_ ? streak_ + 1 : 0;
  if (direction != direction_) prefetched_ = 0;
  if (prefetched_ > 0) --prefetched_;
  has_key_ = false;
  fetched_ = false;
  status_ = Status::OK();
  if (!IsAhead()) {
    direction_ = direction;
    MoveCursor(direction);
    Settle(direction);
    return;
  }
  ahead_->Pop();
  const std::size_t expected = Expected();
  // Where scans usually end this one has not asked for more yet.
  const bool may_end_here = streak_ == family_->scan_length.usual();
  const bool is_wanted = streak_ > 0 && !may_end_here && !ahead_->IsWarm();
  if (is_wanted && ahead_->size() <= expected / 2) FetchAhead(expected);
  if (!IsAhead()) status_ = cursor_->status();
}

void DbIterator::MoveCursor(Direction direction) const {
  if (direction == Direction::kForward) {
    cursor_->Next();
  } else {
    cursor_->Prev();
  }
}

void DbIterator::Settle(Direction direction) const {
  direction_ = direction;
  const auto is_inside = [&] {
    return direction == Direction::kForward ? !IsAtOrAboveUpper(cursor_->key()) : !IsBelowLower(cursor_->key());
  };
  // Tombstones beyond the bound are nobody's business: there may be millions.
  inside_ = cursor_->Valid() && is_inside();
  while (inside_ && cursor_->kind() == EntryKind::kTombstone) {
    db_->meter_.Tick(NUMBER_ITER_SKIP);
    MoveCursor(direction);
    inside_ = cursor_->Valid() && is_inside();
  }
  if (IsAhead()) return;
  status_ = inside_ ? Status::OK() : cursor_->status();
}

// A copy, since to fetch the value may move the cursor, and the key lives until the iterator moves.
Slice DbIterator::key() const {
  assert(Valid());
  if (IsAhead()) return ahead_->key();
  if (!has_key_) {
    const Slice its = cursor_->key();
    key_.assign(its.data(), its.size());
    has_key_ = true;
  }
  return key_;
}

// Scans of a family are often of one length; and who has asked for some values one after the other will ask for as many
// again.
std::size_t DbIterator::Expected() const {
  const std::size_t usual = family_->scan_length.usual();
  return std::min(streak_ < usual ? usual - streak_ : 2 * streak_, ScanAhead::kEntriesMax);
}

// Until `count` entries are in front, the one where the iterator stands among them. `first_is_missing`: it is the first of
// them, and was not in memory.
void DbIterator::FetchAhead(std::size_t count, bool first_is_missing) const {
  if (ahead_ == nullptr) {
    ScanSource source;
    source.segments = &view_->segments;
    source.family = family_->id;
    source.verify_checksums = options_.verify_checksums;
    source.order = family_->equal_by;
    source.queues = &db_->read_queues_;
    source.use_io_uring = options_.async_io;
    source.meter = db_->meter_.is_on() ? &db_->meter_ : nullptr;
    ahead_ = std::make_unique<ScanAhead>(source);
  }
  while (inside_ && ahead_->size() < count && ahead_->Push(*cursor_, std::exchange(first_is_missing, false))) {
    try {
      MoveCursor(direction_);
      Settle(direction_);
    } catch (const std::bad_alloc&) {
      // Nobody knows where the cursor is: the iterator stands nowhere, so that it meets no entry twice and leaves none out.
      ahead_->Clear();
      inside_ = false;
      status_ = Status::Aborted("memory ran out while the iterator looked ahead; it has to seek");
      throw;
    }
  }
  ahead_->Submit();
  if (const std::uint64_t jumps = ahead_->TakeJumps(); jumps > 0) {
    const Slice to = inside_ ? cursor_->key() : Slice();
    db_->NoteJumps(*family_, ahead_->key(), inside_ ? &to : nullptr, jumps);
  }
}

// Values of a scan lie anywhere in the log, each a few cache lines that wait for memory one after the other; those of the
// next ones may come while this one is copied. The first one comes first: with all others in front it would wait for
// them too.
void DbIterator::PrefetchMapped(std::size_t expected, const Entry& here) const {
  if (expected < 2) return;
  if (streak_ == 0) PrefetchMappedValue(view_->segments, here.address);
  std::array<Entry, kValuesPrefetched> next;
  const std::size_t wanted = std::min(expected - 1, next.size());
  const std::size_t found = cursor_->PeekAhead(direction_ == Direction::kForward, {next.data(), wanted});
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < found && bytes < kBytesAhead; ++i) {
    if (next[i].kind != EntryKind::kValue) continue;
    bytes += next[i].address.size();
    if (i < prefetched_) continue;
    PrefetchMappedValue(view_->segments, next[i].address);
    prefetched_ = i + 1;
  }
}

// What is in the page cache is read as it is asked for: to be early brings nothing there.
Status DbIterator::ReadHere() const {
  const ValueQuery query = db_->QueryFor(*family_, options_, cursor_->key(), cursor_->entry());
  if (db_->options_.allow_mmap_reads) PrefetchMapped(Expected(), cursor_->entry());
  CAMBIUM_TRY(const bool is_read, ReadCachedValue(view_->segments, query, &buffer_, &value_));
  if (is_read) return Status::OK();
  const std::size_t expected = Expected();
  if (expected < 2) return ReadValue(view_->segments, query, &buffer_, &value_);
  FetchAhead(expected, true);
  return ahead_->FetchValue(&value_);
}

bool DbIterator::FetchValue() const {
  if (fetched_) return true;
  if (IsForked()) return false;
  const PassingReads passing(!options_.fill_cache);  // the cursor may go ahead
  const Status read = IsAhead() ? ahead_->FetchValue(&value_) : ReadHere();
  if (!read.ok()) {
    status_ = read;
    value_ = Slice();
    return false;
  }
  fetched_ = true;
  db_->meter_.Tick(ITER_BYTES_READ, value_.size());
  return true;
}

Slice DbIterator::value() const {
  assert(Valid());
  const Entry its = entry();
  if (its.kind == EntryKind::kInline) return its.inline_value;
  if (!fetched_ && (options_.allow_unprepared_value || !FetchValue())) return {};
  return value_;
}

bool DbIterator::PrepareValue() {
  if (!Valid()) return false;
  return entry().kind == EntryKind::kInline || FetchValue();
}

std::uint64_t DbIterator::ValueSize() const {
  assert(Valid());
  const Entry its = entry();
  if (!its.HasAddress()) return its.inline_value.size();
  if (fetched_) return value_.size();
  const std::uint64_t overhead = kRecordHeaderSize + key().size();
  return its.address.size() > overhead ? its.address.size() - overhead : 0;
}

}  // namespace cambium
