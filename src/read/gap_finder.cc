#include "read/gap_finder.h"

#include <algorithm>
#include <utility>

namespace cambium {
namespace {

// Most moves pass few tombstones. So gaps are looked for at the fourth tombstone, and then at every eighth.
constexpr std::size_t kPassedBeforeLook = 4;
constexpr std::size_t kLookEach = 8;

}  // namespace

bool GapFinder::Pass(Slice key, std::string* to) {
  const std::size_t least = gap_tombstones_least;
  const std::size_t before_look = std::min(kPassedBeforeLook, least);
  if (++passed_ < before_look) return false;
  if (passed_ == before_look) first_ = key.ToString();
  const bool is_look_due = (passed_ - before_look) % kLookEach == 0;
  if (is_look_due && family_.gaps.Find(key, sequence_, forward_, to)) return true;
  if (passed_ % least != 0) return false;
  if (!watch_.has_begun() && may_watch_) {
    may_watch_ = head_.TryWatch(family_, sequence_, &watch_) != WriteHead::Watching::kNever;
  }
  if (watch_.has_begun()) last_ = key.ToString();
  return false;
}

void GapFinder::End(const Slice* stop) {
  if (!watch_.has_begun()) return;
  GapEnd from{std::move(first_), true};
  const bool ends_at_stop = stop != nullptr && stop->size() <= kGapKeyMax;
  GapEnd to = ends_at_stop ? GapEnd{stop->ToString(), false} : GapEnd{std::move(last_), true};
  if (!forward_) std::swap(from, to);
  family_.gaps.Add(&watch_, sequence_, std::move(from), std::move(to));
}

}  // namespace cambium
