#include "api/db_iterator.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "api/reader.h"
#include "index/merge_cursor.h"
#include "index/passing_reads.h"
#include "util/destroy.h"
#include "util/fork_guard.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// While a value is copied, the next values are prefetched: at least one, and no more after this many bytes. A core can
// load only few cache lines at a time, so the next value would wait for all others that are prefetched: with four
// values of 1 KiB a scan is a tenth slower than with one.
constexpr std::size_t kBytesAhead = 1024;

}  // namespace

DbIterator::DbIterator(const IteratorSource* source, std::shared_ptr<const Family> family_to_walk,
                       const ReadOptions& options, std::shared_ptr<const View> view, SequenceNumber sequence)
    : source_(*source),
      db_(source->state->context),
      family_(std::move(family_to_walk)),
      options_(options),
      view_(std::move(view)) {
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
  // Last: if memory runs out above, the iterator is not constructed.
  source_.state->iterator_count.fetch_add(1);
  db_.meter.Tick(NO_ITERATOR_CREATED);
}

DbIterator::~DbIterator() {
  traced_.reset();
  Leave();
  ahead_.reset();
  cursor_.reset();
  db_.meter.Tick(NO_ITERATOR_DELETED);
  source_.state->iterator_count.fetch_sub(1);
}

void DbIterator::operator delete(DbIterator* it, std::destroying_delete_t) {
  if (ForkGeneration() != it->db_.fork_generation) return;
  DestroyAndFree(it);
}

bool DbIterator::IsBelowLower(Slice key) const {
  return lower_.has_value() && family_->options().comparator->Compare(key, *lower_) < 0;
}
bool DbIterator::IsAtOrAboveUpper(Slice key) const {
  return upper_.has_value() && family_->options().comparator->Compare(key, *upper_) >= 0;
}

// Reads that are under way belong to the parent. A child that waited for them would take their results.
bool DbIterator::IsForked() const {
  if (ForkGeneration() == db_.fork_generation) return false;
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
  const Meter& meter = db_.meter;
  if (!meter.is_on()) return;
  meter.Tick(calls);
  if (!Valid()) return;
  meter.Tick(found);
  const Entry its = entry();
  const std::size_t key_size = IsAhead() ? ahead_->key().size() : cursor_->key().size();
  meter.Tick(ITER_BYTES_READ, key_size + (its.kind == EntryKind::kInline ? its.inline_value.size() : 0));
}

bool DbIterator::IsTraced() const { return source_.traces->is_on(); }

void DbIterator::BeginTracedScan(TraceType type, Slice key) {
  traced_ = TracedScan::Begin(source_.traces, type, family_->id, key);
}

void DbIterator::SeekToFirst() {
  if (IsForked()) return;
  Trace(kTraceIteratorSeekToFirst, {});
  const PassingReads passing(!options_.fill_cache);
  const Stopwatch watch(&db_.meter, DB_SEEK);
  Leave();
  if (lower_.has_value()) {
    cursor_->Seek(*lower_);
  } else {
    cursor_->SeekToFirst();
  }
  SkipHidden(Direction::kForward);
  Count(NUMBER_DB_SEEK, NUMBER_DB_SEEK_FOUND);
}

void DbIterator::Seek(Slice target) {
  if (IsForked()) return;
  Trace(kTraceIteratorSeek, target);
  const PassingReads passing(!options_.fill_cache);
  const Stopwatch watch(&db_.meter, DB_SEEK);
  Leave();
  cursor_->Seek(IsBelowLower(target) ? Slice(*lower_) : target);
  SkipHidden(Direction::kForward);
  Count(NUMBER_DB_SEEK, NUMBER_DB_SEEK_FOUND);
}

void DbIterator::SeekToLast() {
  if (IsForked()) return;
  Trace(kTraceIteratorSeekToLast, {});
  const PassingReads passing(!options_.fill_cache);
  const Stopwatch watch(&db_.meter, DB_SEEK);
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
  SkipHidden(Direction::kBackward);
}

void DbIterator::SeekForPrev(Slice target) {
  if (IsForked()) return;
  Trace(kTraceIteratorSeekForPrev, target);
  const PassingReads passing(!options_.fill_cache);
  const Stopwatch watch(&db_.meter, DB_SEEK);
  if (IsAtOrAboveUpper(target)) {
    ToLast();
  } else {
    Leave();
    cursor_->SeekForPrev(target);
    SkipHidden(Direction::kBackward);
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
  assert(IsAhead() || inside_);  // not Valid(): after a value that could not be read, the scan may continue
  if (direction != direction_ && IsAhead()) {
    // The cursor is ahead of the iterator: moves it back.
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
    SkipHidden(direction);
    return;
  }
  ahead_->Pop();
  const std::size_t expected = Expected();
  // At the usual length of a scan, reading ahead waits until the user asks for one more value.
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

void DbIterator::SkipHidden(Direction direction) const {
  direction_ = direction;
  const auto is_inside = [&] {
    return direction == Direction::kForward ? !IsAtOrAboveUpper(cursor_->key()) : !IsBelowLower(cursor_->key());
  };
  // Stops at the bound, because there may be millions of tombstones beyond it.
  inside_ = cursor_->Valid() && is_inside();
  while (inside_ && cursor_->kind() == EntryKind::kTombstone) {
    db_.meter.Tick(NUMBER_ITER_SKIP);
    MoveCursor(direction);
    inside_ = cursor_->Valid() && is_inside();
  }
  if (IsAhead()) return;
  status_ = inside_ ? Status::OK() : cursor_->status();
}

// Returns a copy, because reading the value may move the cursor, and the key must be valid until the iterator moves.
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

// Scans of a family often have the same length. A scan that has passed this usual length is expected to ask for twice
// as many values again.
std::size_t DbIterator::Expected() const {
  const std::size_t usual = family_->scan_length.usual();
  return std::min(streak_ < usual ? usual - streak_ : 2 * streak_, ScanAhead::kEntriesMax);
}

// Reads ahead until `count` entries are held, the entry at the iterator's position first. `first_is_missing`: the
// caches do not have the value of the first entry.
void DbIterator::FetchAhead(std::size_t count, bool first_is_missing) const {
  if (ahead_ == nullptr) {
    ScanSource source;
    source.segments = &view_->segments;
    source.family = family_->id;
    source.verify_checksums = options_.verify_checksums;
    source.order = family_->equal_by;
    source.queues = &source_.state->read_queues;
    source.use_io_uring = options_.async_io;
    source.meter = db_.meter.is_on() ? &db_.meter : nullptr;
    ahead_ = std::make_unique<ScanAhead>(source);
  }
  while (inside_ && ahead_->size() < count && ahead_->Push(*cursor_, std::exchange(first_is_missing, false))) {
    try {
      MoveCursor(direction_);
      SkipHidden(direction_);
    } catch (const std::bad_alloc&) {
      // The position of the cursor is undefined. The iterator becomes invalid, so that it neither repeats nor skips
      // entries.
      ahead_->Clear();
      inside_ = false;
      status_ = Status::Aborted("memory ran out while the iterator read ahead; it must seek");
      throw;
    }
  }
  ahead_->Submit();
  if (const std::uint64_t jumps = ahead_->TakeJumpCount(); jumps > 0) {
    const Slice to = inside_ ? cursor_->key() : Slice();
    source_.clusterer->NoteJumps(*family_, ahead_->key(), inside_ ? &to : nullptr, jumps);
  }
}

// The values of a scan are scattered over the log. Each is a few cache lines, so copying one after the other would wait
// for memory each time. So the cache lines of the next values are loaded while the current value is copied. The first
// value of a scan is prefetched before the others, because otherwise it would wait for them too.
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

// A value in the page cache is read on demand: reading it ahead gains nothing.
Status DbIterator::ReadHere() const {
  const ValueQuery query = QueryFor(db_, *family_, options_, cursor_->key(), cursor_->entry());
  if (db_.options.allow_mmap_reads) PrefetchMapped(Expected(), cursor_->entry());
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
  const PassingReads passing(!options_.fill_cache);  // the cursor may read pages ahead
  const Status read = IsAhead() ? ahead_->FetchValue(&value_) : ReadHere();
  if (!read.ok()) {
    status_ = read;
    value_ = Slice();
    return false;
  }
  fetched_ = true;
  db_.meter.Tick(ITER_BYTES_READ, value_.size());
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
