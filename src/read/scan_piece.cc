#include "read/scan_piece.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "util/mutant.h"

namespace cambium {
namespace {

// A range of one segment that grows around the values that come next.
struct PieceRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t wanted = 0;  // bytes of values

  // Takes the value in, unless it is too far away or makes the range too large.
  bool Take(ValueAddress address) {
    const std::uint64_t from = std::min(begin, address.offset());
    const std::uint64_t to = std::max(end, address.offset() + address.size());
    const std::uint64_t all_wanted = wanted + address.size();
    if (to - from > ScanPiece::kBytesMax || to - from > 2 * all_wanted) return false;
    *this = {from, to, all_wanted};
    return true;
  }
};

}  // namespace

void ScanPiece::Judge() {
  if (count_ == 0) return;
  if (2 * used_ >= count_ || MutantIs(Mutant::kUnusedPiecesGoOn)) {
    allowed_ = std::min(2 * allowed_, kEntriesMax);
  } else {
    allowed_ = kEntriesAtFirst;
    pause_ = kPause;
  }
  Clear();
}

bool ScanPiece::Choose(const EntryCursor& cursor, bool forward, std::size_t expected, ValueAddress first) {
  if (first.size() > kBytesMax / 2) return false;
  PieceRange range = {first.offset(), first.offset() + first.size(), first.size()};
  const auto take = [&](const Entry& entry) {
    return entry.kind == EntryKind::kValue && entry.address.slot() == first.slot() && range.Take(entry.address);
  };
  Entry second;  // mostly, it says that values are scattered: then no more is done
  if (cursor.PeekAhead(forward, {&second, 1}) == 0 || !take(second)) return false;
  std::array<Entry, kEntriesMax> next;
  const std::size_t wanted = std::min(expected - 1, allowed_ - 1);
  const std::size_t known = cursor.PeekAhead(forward, {next.data(), wanted});
  count_ = 2;
  while (count_ - 1 < known && take(next[count_ - 1])) ++count_;
  begin_ = range.begin;
  size_ = static_cast<std::size_t>(range.end - range.begin);
  return true;
}

Result<ScanPiece::Outcome> ScanPiece::Read(const SegmentTable& segments, const EntryCursor& cursor, bool forward,
                                           std::size_t expected, const ValueQuery& query, std::string* buffer,
                                           Slice* value) {
  if (query.address.kind() != EntryKind::kValue) return Outcome::kAlone;
  if (has_ == 0 && pause_ > 0) {
    --pause_;
    return Outcome::kAlone;
  }
  CAMBIUM_TRY(const ValuePlace place, LocateValue(segments, query));
  const auto read_here = [&]() -> Result<Outcome> {
    ++used_;
    CountRead(query, VALUE_READ_CACHED, place.size);
    const Slice record(bytes_.get() + (place.offset - begin_), place.size);
    CAMBIUM_RETURN_IF_ERROR(ParseValue(place, query, record, buffer, value));
    return Outcome::kRead;
  };
  if (Has(place)) return read_here();
  if (expected < 2) return Outcome::kAlone;
  Judge();
  if (pause_ > 0) return Outcome::kAlone;
  if (!Choose(cursor, forward, expected, query.address)) {
    scattered_ = std::min(2 * scattered_ + 1, kScatteredPauseMax);
    pause_ = scattered_;
    return Outcome::kAlone;
  }
  scattered_ = 0;
  if (capacity_ < size_) {
    bytes_ = std::make_unique_for_overwrite<char[]>(size_);
    capacity_ = size_;
  }
  segment_ = place.segment;
  const Result<std::size_t> read = ReadCachedBytes({place.segment, begin_, size_}, bytes_.get());
  if (!read.ok()) {  // the value itself may be readable
    Clear();
    pause_ = kPause;
    return Outcome::kAlone;
  }
  has_ = *read;
  if (Has(place)) return read_here();
  const bool is_missing = place.offset == begin_;
  Clear();
  if (is_missing) return Outcome::kMissing;
  pause_ = kPause;  // in a walk backwards, the value is at the end of the piece: what was copied has no use
  return Outcome::kAlone;
}

}  // namespace cambium
