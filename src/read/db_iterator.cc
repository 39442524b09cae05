#include "read/db_iterator.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <vector>

#include "index/merge_cursor.h"
#include "index/passing_reads.h"
#include "read/gap_finder.h"
#include "read/reader.h"
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
      view_(std::move(view)),
      sequence_(sequence) {
  if (options.iterate_lower_bound != nullptr) lower_ = options.iterate_lower_bound->ToString();
  if (options.iterate_upper_bound != nullptr) upper_ = options.iterate_upper_bound->ToString();
  assert(view_->Find(family_->id) != nullptr);
  const FamilyView& family = *view_->Find(family_->id);
  std::vector<MergeChild> children;
  const auto add = [&](const LogTable& table) {
    // A seek would pass all keys of a memtable in which nothing is visible.
    if (table.IsNewerThan(sequence) && !MutantIs(Mutant::kIteratorPassesNewerTables)) return;
    children.emplace_back(table.NewCursor(sequence));
    children.back().cover = table.CoverAt(sequence);
  };
  add(*family.active);
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
  [[maybe_unused]] const int before = source_.state->iterator_count.fetch_sub(1);
  assert(before > 0);
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
bool DbIterator::IsForked() {
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
  piece_.Clear();
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

// ---- Moving ----

template <typename Part>
void DbIterator::OrLose(Part part) {
  try {
    part();
  } catch (...) {
    Lose();
    throw;
  }
}

void DbIterator::Lose() noexcept {
  if (ahead_ != nullptr) ahead_->Clear();
  inside_ = false;
  is_lost_ = true;
}

template <typename Find>
void DbIterator::SeekWith(TraceType type, Slice traced_key, Find find) {
  if (IsForked()) return;
  Trace(type, traced_key);
  const PassingReads passing(!options_.fill_cache);
  const Stopwatch watch(&db_.meter, DB_SEEK);
  OrLose([&] {
    Leave();
    is_lost_ = false;
    find();
    Arrive();
  });
  Count(NUMBER_DB_SEEK, NUMBER_DB_SEEK_FOUND);
}

void DbIterator::SeekToFirst() {
  SeekWith(kTraceIteratorSeekToFirst, {}, [&] {
    if (lower_.has_value()) {
      cursor_->Seek(*lower_);
    } else {
      cursor_->SeekToFirst();
    }
    SkipHidden(Direction::kForward);
  });
}

void DbIterator::Seek(Slice target) {
  SeekWith(kTraceIteratorSeek, target, [&] {
    cursor_->Seek(IsBelowLower(target) ? Slice(*lower_) : target);
    SkipHidden(Direction::kForward);
  });
}

void DbIterator::SeekToLast() {
  SeekWith(kTraceIteratorSeekToLast, {}, [&] { FindLast(); });
}

void DbIterator::FindLast() {
  if (upper_.has_value()) {
    cursor_->SeekForPrev(*upper_);
    if (cursor_->Valid() && IsAtOrAboveUpper(cursor_->key())) cursor_->Prev();
  } else {
    cursor_->SeekToLast();
  }
  SkipHidden(Direction::kBackward);
}

void DbIterator::SeekForPrev(Slice target) {
  SeekWith(kTraceIteratorSeekForPrev, target, [&] {
    if (IsAtOrAboveUpper(target)) return FindLast();
    cursor_->SeekForPrev(target);
    SkipHidden(Direction::kBackward);
  });
}

// Does nothing at an end, and after an error. After an error the position is unknown, or its entry cannot be shown.
// Only a seek makes the iterator valid again, so that no loop skips damaged entries without noticing.
void DbIterator::Move(Direction direction) {
  if (IsForked() || !Valid()) return;
  if (traced_ != nullptr) [[unlikely]] traced_->CountMove();
  const PassingReads passing(!options_.fill_cache);
  OrLose([&] {
    MoveOn(direction);
    Arrive();
  });
  if (direction == Direction::kForward) {
    Count(NUMBER_DB_NEXT, NUMBER_DB_NEXT_FOUND);
  } else {
    Count(NUMBER_DB_PREV, NUMBER_DB_PREV_FOUND);
  }
}

void DbIterator::MoveOn(Direction direction) {
  if (direction != direction_ && IsAhead() && !Return()) return;
  streak_ = fetched_ && direction == direction_ ? streak_ + 1 : 0;
  if (direction != direction_) prefetched_ = 0;
  if (prefetched_ > 0) --prefetched_;
  has_key_ = false;
  fetched_ = false;
  if (!IsAhead()) {
    MoveCursor(direction);
    SkipHidden(direction);
    return;
  }
  ahead_->Pop();
  const std::size_t expected = Expected();
  // At the usual length of a scan, reading ahead waits until one more value is wanted.
  const bool may_end_here = streak_ == family_->scan_length.usual();
  const bool is_wanted = streak_ > 0 && !may_end_here && !ahead_->IsWarm();
  if (is_wanted && ahead_->size() <= expected / 2) FetchAhead(expected);
  if (!IsAhead()) status_ = cursor_->status();
}

bool DbIterator::Return() {
  const std::string here(ahead_->key().data(), ahead_->key().size());
  Leave();
  cursor_->Seek(here);
  status_ = cursor_->status();
  inside_ = status_.ok() && cursor_->Valid();
  return inside_;
}

void DbIterator::Arrive() {
  if (options_.allow_unprepared_value || !Valid() || IsInline()) return;
  FetchValue();
}

void DbIterator::MoveCursor(Direction direction) {
  if (direction == Direction::kForward) {
    cursor_->Next();
  } else {
    cursor_->Prev();
  }
}

void DbIterator::SkipHidden(Direction direction) {
  direction_ = direction;
  const auto is_inside = [&] {
    return direction == Direction::kForward ? !IsAtOrAboveUpper(cursor_->key()) : !IsBelowLower(cursor_->key());
  };
  // Stops at the bound, because there may be millions of tombstones beyond it.
  inside_ = cursor_->Valid() && is_inside();
  if (inside_ && cursor_->kind() == EntryKind::kTombstone) {
    const bool forward = direction == Direction::kForward;
    GapFinder gaps(source_.state->head, *family_, sequence_, forward);
    std::string beyond;
    std::uint64_t passed = 0;
    do {
      ++passed;
      if (!gaps.Pass(cursor_->key(), &beyond)) {
        MoveCursor(direction);
      } else if (forward) {
        cursor_->Seek(beyond);
      } else {
        cursor_->SeekForPrev(beyond);
      }
      inside_ = cursor_->Valid() && is_inside();
    } while (inside_ && cursor_->kind() == EntryKind::kTombstone);
    db_.meter.Tick(NUMBER_ITER_SKIP, passed);
    const Slice stop = cursor_->Valid() ? cursor_->key() : Slice();
    gaps.End(cursor_->Valid() ? &stop : nullptr);
  }
  if (IsAhead()) return;
  status_ = inside_ ? Status::OK() : cursor_->status();
}

// ---- The entry ----

// With allow_unprepared_value, returns a copy: PrepareValue may move the cursor, and the key must be valid until the
// iterator moves.
Slice DbIterator::key() const {
  assert(Valid());
  if (IsAhead()) return ahead_->key();
  if (!options_.allow_unprepared_value) return cursor_->key();
  if (!has_key_) {
    const Slice its = cursor_->key();
    key_.assign(its.data(), its.size());
    has_key_ = true;
  }
  return key_;
}

// How many more values the scan is expected to read. Scans of a family often have the same length, so a shorter scan is
// expected to reach it. A scan that is already longer is expected to read twice as many values as it has read so far.
std::size_t DbIterator::Expected() const {
  const std::size_t usual = family_->scan_length.usual();
  return std::min(streak_ < usual ? usual - streak_ : 2 * streak_, ScanAhead::kEntriesMax);
}

// A scan that is longer than usual is expected to read as many values again: then it copies at most twice what it needs.
std::size_t DbIterator::ExpectedInMemory() const {
  const std::size_t usual = family_->scan_length.usual();
  return std::min(streak_ < usual ? usual - streak_ : streak_ + 1, ScanPiece::kEntriesMax);
}

// Reads ahead until `count` entries are held, the entry at the iterator's position first. `first_is_missing`: the
// caches do not have the value of the first entry.
void DbIterator::FetchAhead(std::size_t count, bool first_is_missing) {
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
    OrLose([&] {
      MoveCursor(direction_);
      SkipHidden(direction_);
    });
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
void DbIterator::PrefetchMapped(std::size_t expected, const Entry& here) {
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

// A value in the page cache is read on demand, or together with those near it in the log.
Status DbIterator::ReadHere() {
  const ValueQuery query = QueryFor(db_, *family_, options_, cursor_->key(), cursor_->entry());
  value_ = Slice();
  if (options_.pin_mapped_values) {
    if (db_.options.allow_mmap_reads) PrefetchMapped(Expected(), cursor_->entry());
    CAMBIUM_TRY(const bool is_mapped, BorrowValue(view_->segments, query, &value_, nullptr));
    if (is_mapped) return Status::OK();
  }
  const bool forward = direction_ == Direction::kForward;
  CAMBIUM_TRY(const ScanPiece::Outcome outcome,
              piece_.Read(view_->segments, *cursor_, forward, ExpectedInMemory(), query, &buffer_, &value_));
  bool is_read = outcome == ScanPiece::Outcome::kRead;
  if (outcome == ScanPiece::Outcome::kAlone) {
    if (db_.options.allow_mmap_reads) PrefetchMapped(Expected(), cursor_->entry());
    CAMBIUM_TRY(is_read, ReadCachedValue(view_->segments, query, &buffer_, &value_));
  }
  if (is_read) {
    if (options_.pin_mapped_values) NoteVerified(view_->segments, query);
    return Status::OK();
  }
  const std::size_t expected = Expected();
  if (expected < 2) {
    CAMBIUM_RETURN_IF_ERROR(ReadValue(view_->segments, query, &buffer_, &value_));
    if (options_.pin_mapped_values) NoteVerified(view_->segments, query);
    return Status::OK();
  }
  FetchAhead(expected, true);
  return ahead_->FetchValue(&value_);
}

bool DbIterator::FetchValue() {
  if (Status read = IsAhead() ? ahead_->FetchValue(&value_) : ReadHere(); !read.ok()) {
    if (MutantIs(Mutant::kScanPassesDamage)) return true;
    status_ = std::move(read);
    return false;
  }
  fetched_ = true;
  db_.meter.Tick(ITER_BYTES_READ, value_.size());
  return true;
}

Slice DbIterator::value() const {
  assert(Valid());
  if (fetched_) return value_;
  const Entry its = entry();
  return its.kind == EntryKind::kInline ? its.inline_value : Slice();
}

bool DbIterator::PrepareValue() {
  if (IsForked() || !Valid()) return false;
  if (fetched_ || IsInline()) return true;
  const PassingReads passing(!options_.fill_cache);  // the cursor may read pages ahead
  return FetchValue();
}

std::uint64_t DbIterator::ValueSize() const {
  assert(Valid());
  if (fetched_) return value_.size();
  const Entry its = entry();
  if (!its.HasAddress()) return its.inline_value.size();
  const std::uint64_t overhead = kRecordHeaderSize + key().size();
  return its.address.size() > overhead ? its.address.size() - overhead : 0;
}

Status DbIterator::status() const {
  if (is_lost_) return Status::Aborted("memory ran out while the iterator moved; it must seek");
  return status_;
}

}  // namespace cambium
