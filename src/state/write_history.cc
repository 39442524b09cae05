#include "state/write_history.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <new>

#include "util/mutant.h"

namespace cambium {

WriteHistory::Mark::Mark(WriteHistory* history) : history_(*history) {
  const MutexLock lock(history_.mutex_);
  at_ = history_.marks_.insert(0);
}

WriteHistory::Mark::~Mark() {
  std::list<Kept> dropped;
  const MutexLock lock(history_.mutex_);
  const bool was_oldest = at_ == history_.marks_.begin();
  history_.marks_.erase(at_);
  if (was_oldest) history_.Trim(&dropped);
}

void WriteHistory::Mark::StartAt(SequenceNumber since) {
  std::list<Kept> dropped;
  const MutexLock lock(history_.mutex_);
  assert(*at_ == 0 && "a mark starts once");
  auto node = history_.marks_.extract(at_);
  node.value() = since;
  at_ = history_.marks_.insert(std::move(node));
  history_.Trim(&dropped);
}

void WriteHistory::Leave(std::uint32_t family, const std::shared_ptr<const LogTable>& table, SequenceNumber end,
                         std::size_t bytes_max) noexcept {
  const std::size_t bytes = table->counted_bytes();
  std::list<Kept> dropped;
  const MutexLock lock(mutex_);
  if (marks_.empty() || *marks_.begin() >= end || MutantIs(Mutant::kHistoryForgetsFlushed)) return;
  try {
    OfFamily& its = families_[family];
    its.kept.push_front({table, end, bytes});
    bytes_ += bytes;
    while (bytes_ > bytes_max) DropOldest(&dropped);
  } catch (const std::bad_alloc&) {
    // The newest memtable is missing, so the whole history is dropped: no open transaction may rely on it.
    lost_ = std::max(lost_, end);
    for (auto& [id, each] : families_) {
      if (!each.kept.empty()) lost_ = std::max(lost_, each.kept.front().end);
      dropped.splice(dropped.end(), each.kept);
    }
    bytes_ = 0;
  }
}

void WriteHistory::DropOldest(std::list<Kept>* dropped) {
  OfFamily* oldest = nullptr;
  for (auto& [id, each] : families_) {
    if (each.kept.empty()) continue;
    if (oldest == nullptr || each.kept.back().end < oldest->kept.back().end) oldest = &each;
  }
  assert(oldest != nullptr && "bytes_ counts kept memtables only");
  oldest->floor = oldest->kept.back().end;
  bytes_ -= oldest->kept.back().bytes;
  dropped->splice(dropped->end(), oldest->kept, std::prev(oldest->kept.end()));
}

void WriteHistory::Trim(std::list<Kept>* dropped) {
  for (auto at = families_.begin(); at != families_.end();) {
    OfFamily& each = at->second;
    while (!each.kept.empty() && (marks_.empty() || each.kept.back().end <= *marks_.begin())) {
      bytes_ -= each.kept.back().bytes;
      dropped->splice(dropped->end(), each.kept, std::prev(each.kept.end()));
    }
    const bool has_floor = !marks_.empty() && each.floor > *marks_.begin();
    at = each.kept.empty() && !has_floor ? families_.erase(at) : std::next(at);
  }
}

WriteHistory::Part WriteHistory::PartOf(std::uint32_t family, SequenceNumber since) const {
  Part part;
  const MutexLock lock(mutex_);
  part.floor = lost_;
  const auto found = families_.find(family);
  if (found == families_.end()) return part;
  for (const Kept& kept : found->second.kept) {
    if (kept.end <= since) break;
    part.tables.push_back(kept.table);
  }
  part.floor = std::max(lost_, found->second.floor);
  return part;
}

std::size_t WriteHistory::mark_count() const {
  const MutexLock lock(mutex_);
  return marks_.size();
}

std::size_t WriteHistory::bytes() const {
  const MutexLock lock(mutex_);
  return bytes_;
}

}  // namespace cambium
