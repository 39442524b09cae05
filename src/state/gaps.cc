#include "state/gaps.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "util/mutant.h"

namespace cambium {

bool Gaps::Has(const Gap& gap, Slice key) const {
  const int from = comparator_.Compare(key, gap.first.key);
  const int to = comparator_.Compare(key, gap.last.key);
  return (gap.first.is_inside ? from >= 0 : from > 0) && (gap.last.is_inside ? to <= 0 : to < 0);
}

bool Gaps::Touches(const GapEnd& end, const GapEnd& begin) const {
  const int order = comparator_.Compare(begin.key, end.key);
  return order < 0 || (order == 0 && (begin.is_inside || end.is_inside));
}

void Gaps::Widen(Gap* gap, Gap by) const {
  const int first = comparator_.Compare(by.first.key, gap->first.key);
  if (first < 0 || (first == 0 && by.first.is_inside)) gap->first = std::move(by.first);
  const int last = comparator_.Compare(by.last.key, gap->last.key);
  if (last > 0 || (last == 0 && by.last.is_inside)) gap->last = std::move(by.last);
  gap->since = std::max(gap->since, by.since);
}

std::size_t Gaps::IndexOf(Slice key) const {
  // If two gaps meet at a key that is in neither, the first one ends there.
  const auto after = std::ranges::partition_point(
      gaps_, [&](const Gap& gap) { return comparator_.Compare(gap.first.key, key) < (gap.first.is_inside ? 1 : 0); });
  if (after == gaps_.begin() || !Has(*std::prev(after), key)) return gaps_.size();
  return static_cast<std::size_t>(std::prev(after) - gaps_.begin());
}

bool Gaps::Find(Slice key, SequenceNumber sequence, bool forward, std::string* to) {
  if (size() == 0) return false;
  const MutexLock lock(mutex_);
  const std::size_t at = IndexOf(key);
  if (at == gaps_.size()) return false;
  Gap& gap = gaps_[at];
  if (sequence < gap.since && !MutantIs(Mutant::kGapIgnoresSequence)) return false;
  const std::string& end = forward ? gap.last.key : gap.first.key;
  if (comparator_.Compare(key, end) == 0) return false;
  *to = end;
  gap.used = ++uses_;
  return true;
}

bool Gaps::Begin(Watch* watch, SequenceNumber sequence) {
  if (sequence < newest_put_ && !MutantIs(Mutant::kGapMissesEarlierPuts)) return false;
  assert(!watch->has_begun());
  has_any_ = true;
  const MutexLock lock(mutex_);
  watch->gaps_ = this;
  watch->next_ = watches_;
  watches_ = watch;
  return true;
}

void Gaps::Remove(Watch* watch) {
  const MutexLock lock(mutex_);
  RemoveLocked(watch);
}

void Gaps::RemoveLocked(Watch* watch) {
  Watch** link = &watches_;
  while (*link != watch) {
    assert(*link != nullptr && "only a watch that has begun ends");
    link = &(*link)->next_;
  }
  *link = watch->next_;
}

void Gaps::Add(Watch* watch, SequenceNumber sequence, GapEnd first, GapEnd last) {
  assert(watch->gaps_ == this && "the iterator has begun to watch");
  const bool is_small = first.key.size() <= kGapKeyMax && last.key.size() <= kGapKeyMax;
  const MutexLock lock(mutex_);
  gaps_.reserve(gaps_.size() + 1);
  RemoveLocked(watch);
  watch->gaps_ = nullptr;
  if (!is_small || watch->is_blind_ || comparator_.Compare(first.key, last.key) >= 0) return;
  Gap added{std::move(first), std::move(last), sequence, ++uses_};
  if (watch->has_puts_ && !MutantIs(Mutant::kGapIgnoresWatch)) {
    const bool are_before = comparator_.Compare(watch->highest_, added.first.key) < 0;
    const bool are_after = comparator_.Compare(watch->lowest_, added.last.key) > 0;
    if (!are_before && !are_after) return;
  }
  const auto begin = std::ranges::partition_point(
      gaps_, [&](const Gap& gap) { return !Touches(gap.last, added.first); });
  auto end = begin;
  for (; end != gaps_.end() && Touches(added.last, end->first); ++end) Widen(&added, std::move(*end));
  gaps_.insert(gaps_.erase(begin, end), std::move(added));
  if (gaps_.size() > kGapsMax) DropLeastRecentlyUsed();
  size_.store(gaps_.size(), std::memory_order_relaxed);
}

void Gaps::DropLeastRecentlyUsed() {
  assert(gaps_.size() == kGapsMax + 1);
  gaps_.erase(std::ranges::min_element(gaps_, {}, &Gap::used));
}

void Gaps::NotePutInGaps(Slice key) noexcept {
  if (MutantIs(Mutant::kGapOutlivesPut)) return;
  const MutexLock lock(mutex_);
  NoteInWatches(key);
  if (const std::size_t at = IndexOf(key); at < gaps_.size()) Split(at, key);
  size_.store(gaps_.size(), std::memory_order_relaxed);
  has_any_ = !gaps_.empty() || watches_ != nullptr;
}

// The write is in the log already, so it must not fail for want of memory.
void Gaps::NoteInWatches(Slice key) noexcept {
  for (Watch* watch = watches_; watch != nullptr; watch = watch->next_) {
    try {
      const bool is_first = !watch->has_puts_;
      if (is_first || comparator_.Compare(key, watch->lowest_) < 0) watch->lowest_.assign(key.data(), key.size());
      if (is_first || comparator_.Compare(key, watch->highest_) > 0) watch->highest_.assign(key.data(), key.size());
      watch->has_puts_ = true;
    } catch (...) {
      watch->is_blind_ = true;
    }
  }
}

// If memory runs out, the gap is lost. Keys that are put in order cut slivers off a gap: parts that lie between two
// puts. A part that ends at a tombstone counts as just used, so that slivers are dropped first if there are too many
// gaps.
void Gaps::Split(std::size_t at, Slice key) noexcept {
  assert(at < gaps_.size());
  const auto place = gaps_.begin() + static_cast<std::ptrdiff_t>(at);
  Gap whole = std::move(*place);
  gaps_.erase(place);
  try {
    gaps_.reserve(gaps_.size() + 2);
    const GapEnd edge{key.ToString(), false};
    Gap before{whole.first, edge, whole.since, whole.first.is_inside ? ++uses_ : whole.used};
    Gap after{edge, whole.last, whole.since, whole.last.is_inside ? ++uses_ : whole.used};
    const auto here = gaps_.begin() + static_cast<std::ptrdiff_t>(at);
    if (comparator_.Compare(key, whole.last.key) < 0) gaps_.insert(here, std::move(after));
    if (comparator_.Compare(whole.first.key, key) < 0) gaps_.insert(here, std::move(before));
  } catch (...) {
    return;
  }
  if (gaps_.size() > kGapsMax) DropLeastRecentlyUsed();
}

}  // namespace cambium
