#include "memtable/range_deletes.h"

#include <algorithm>
#include <cassert>

#include "util/coding.h"
#include "vlog/entry.h"

namespace cambium {

RangeDeletes::RangeDeletes(const Comparator* comparator, const std::vector<Range>& ranges) : comparator_(comparator) {
  // Counts how many ranges cover the keys after each bound. A covered interval begins where the count leaves zero, and
  // ends where it returns to zero. All bounds at one key are counted together, so that ranges that touch there are
  // joined.
  struct Bound {
    Slice key;
    int change;
  };
  std::vector<Bound> all;
  all.reserve(2 * ranges.size());
  for (const Range& range : ranges) {
    if (comparator->Compare(range.begin, range.end) >= 0) continue;
    all.push_back({range.begin, +1});
    all.push_back({range.end, -1});
  }
  std::sort(all.begin(), all.end(),
            [comparator](const Bound& a, const Bound& b) { return comparator->Compare(a.key, b.key) < 0; });
  int depth = 0;
  for (std::size_t i = 0; i < all.size();) {
    const Slice key = all[i].key;
    const bool was_covered = depth > 0;
    for (; i < all.size() && comparator->Compare(all[i].key, key) == 0; ++i) depth += all[i].change;
    if (was_covered != (depth > 0)) bounds_.push_back(key.ToString());
  }
}

RangeDeletes RangeDeletes::OfBounds(const Comparator* comparator, std::span<const Slice> bounds) {
  assert(bounds.size() % 2 == 0);
  RangeDeletes ranges(comparator);
  ranges.bounds_.reserve(bounds.size());
  for (const Slice bound : bounds) ranges.bounds_.push_back(bound.ToString());
  return ranges;
}

RangeDeletes RangeDeletes::Union(const Comparator* comparator, std::span<const RangeDeletes* const> parts) {
  std::vector<Range> ranges;
  for (const RangeDeletes* part : parts) {
    for (std::size_t i = 0; i < part->count(); ++i) ranges.push_back({part->begin(i), part->end(i)});
  }
  return RangeDeletes(comparator, ranges);
}

RangeDeletes RangeDeletes::Within(const Slice* from, const Slice* to) const {
  RangeDeletes part(comparator_);
  if (from != nullptr && to != nullptr && comparator_->Compare(*from, *to) >= 0) return part;
  const std::size_t first = from == nullptr ? 0 : BoundsUpTo(*from);
  const std::size_t last = to == nullptr ? bounds_.size() : BoundsUpTo(*to);
  if (first % 2 == 1) part.bounds_.push_back(from->ToString());
  for (std::size_t i = first; i < last; ++i) part.bounds_.push_back(bounds_[i]);
  if (last % 2 == 1) {
    // A range that begins at `to` has no key below it.
    if (comparator_->Compare(part.bounds_.back(), *to) == 0) {
      part.bounds_.pop_back();
    } else {
      part.bounds_.push_back(to->ToString());
    }
  }
  return part;
}

std::size_t RangeDeletes::BoundsUpTo(Slice key) const {
  const auto above = std::upper_bound(bounds_.begin(), bounds_.end(), key, [this](Slice k, const std::string& bound) {
    return comparator_->Compare(k, bound) < 0;
  });
  return static_cast<std::size_t>(above - bounds_.begin());
}

RangeDeletes::Stretch RangeDeletes::StretchOf(Slice key) const {
  const std::size_t before = BoundsUpTo(key);
  Stretch stretch{before % 2 == 1, {}, {}};
  if (before > 0) stretch.from = bounds_[before - 1];
  if (before < bounds_.size()) stretch.to = bounds_[before];
  return stretch;
}

bool RangeDeletes::CoversAllOf(const Slice* from, const Slice* to) const {
  if (from == nullptr || to == nullptr) return false;  // no range is unbounded
  const std::size_t before = BoundsUpTo(*from);
  return before % 2 == 1 && comparator_->Compare(*to, bounds_[before]) <= 0;
}

bool RangeDeletes::Overlaps(const Slice* from, const Slice* to) const {
  const std::size_t before = from == nullptr ? 0 : BoundsUpTo(*from);
  if (before % 2 == 1) return true;
  return before < bounds_.size() && (to == nullptr || comparator_->Compare(bounds_[before], *to) < 0);
}

void RangeDeletes::AppendTo(std::string* out) const {
  PutVarint64(out, count());
  for (const std::string& bound : bounds_) PutLengthPrefixed(out, bound);
}

Result<RangeDeletes> RangeDeletes::Decode(Slice bytes, const Comparator* comparator) {
  const auto corrupt = [](const char* what) { return Status::Corruption(std::string("range deletes ") + what); };
  std::uint64_t count = 0;
  // Each bound takes at least a byte.
  if (!GetVarint64(&bytes, &count) || count > bytes.size() / 2) return corrupt("are cut off");
  RangeDeletes ranges(comparator);
  ranges.bounds_.reserve(2 * count);
  for (std::uint64_t i = 0; i < 2 * count; ++i) {
    Slice bound;
    if (!GetLengthPrefixed(&bytes, &bound)) return corrupt("are cut off");
    if (bound.size() > kMaxKeySize) return corrupt("have a bound that is too long");
    if (i > 0 && comparator->Compare(ranges.bounds_.back(), bound) >= 0) return corrupt("are out of order");
    ranges.bounds_.push_back(bound.ToString());
  }
  if (!bytes.empty()) return corrupt("have bytes after their end");
  return ranges;
}

std::size_t RangeDeletes::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + bounds_.capacity() * sizeof(std::string);
  for (const std::string& bound : bounds_) bytes += bound.capacity();
  return bytes;
}

}  // namespace cambium
