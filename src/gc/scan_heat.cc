#include "gc/scan_heat.h"

#include <algorithm>
#include <cassert>

namespace cambium {

// The mark at the end bounds the jumps: beyond it they do not count.
bool ScanHeat::Add(Slice from, const Slice* to, std::uint64_t jumps, std::uint64_t least) {
  const MutexLock lock(mutex_);
  const bool is_backward = to != nullptr && marks_.key_comp()(*to, from);
  if (to != nullptr) AddMark(is_backward ? from : *to, 0);
  AddMark(is_backward ? *to : from, jumps);
  total_ += jumps;
  return total_ >= std::max(least, next_look_at_);
}

void ScanHeat::AddMark(Slice key, std::uint64_t jumps) {
  const auto found = marks_.find(key);
  if (found != marks_.end()) {
    found->second += jumps;
    return;
  }
  if (marks_.size() >= kMarksMax || key_bytes_ + key.size() > kKeyBytesMax) JoinNeighbours();
  marks_.emplace(key.ToString(), jumps);
  key_bytes_ += key.size();
  assert(marks_.size() <= kMarksMax);
}

bool ScanHeat::IsLookDue(std::uint64_t least) const {
  const MutexLock lock(mutex_);
  return total_ > 0 && total_ >= std::max(least, next_look_at_);
}

// Joins each second mark with the one before it.
void ScanHeat::JoinNeighbours() {
  for (auto kept = marks_.begin(); kept != marks_.end(); ++kept) {
    const auto next = std::next(kept);
    if (next == marks_.end()) break;
    kept->second += next->second;
    assert(key_bytes_ >= next->first.size());
    key_bytes_ -= next->first.size();
    marks_.erase(next);
  }
}

std::vector<HeatMark> ScanHeat::FromHottest(std::uint64_t now_micros) {
  const MutexLock lock(mutex_);
  if (cooled_micros_ == 0 || now_micros < cooled_micros_) cooled_micros_ = now_micros;
  const std::uint64_t halvings = std::min<std::uint64_t>((now_micros - cooled_micros_) / kHalfLifeMicros, 63);
  if (halvings > 0) {
    cooled_micros_ = now_micros;
    total_ = 0;
    for (auto& [key, jumps] : marks_) total_ += jumps >>= halvings;
    next_look_at_ >>= halvings;
  }
  std::vector<HeatMark> found;
  const auto hottest =
      std::ranges::max_element(marks_, [](const auto& a, const auto& b) { return a.second < b.second; });
  for (auto mark = hottest; mark != marks_.end(); ++mark) found.push_back({mark->first, mark->second});
  return found;
}

void ScanHeat::ReportNoWork() {
  const MutexLock lock(mutex_);
  next_look_at_ = 2 * std::max(total_, next_look_at_);
}

void ScanHeat::Forget(Slice begin, const Slice* end) {
  const MutexLock lock(mutex_);
  const auto first = marks_.lower_bound(begin);
  const auto last = end == nullptr ? marks_.end() : marks_.lower_bound(*end);
  for (auto mark = first; mark != last; ++mark) {
    assert(total_ >= mark->second && key_bytes_ >= mark->first.size());
    total_ -= mark->second;
    key_bytes_ -= mark->first.size();
  }
  marks_.erase(first, last);
}

void ScanHeat::ReportWork() {
  const MutexLock lock(mutex_);
  next_look_at_ = 0;
}

}  // namespace cambium
