#include "state/range_watches.h"

#include <algorithm>
#include <cassert>

#include "util/mutant.h"

namespace cambium {
namespace {

bool Hits(const WatchedKeys& keys, const PreparedBatch::Op& op) {
  const auto its = keys.find(op.header.family);
  if (its == keys.end()) return false;
  return op.header.op == RecordOp::kDeleteRange ? its->second.Overlaps(op.key, op.value) : its->second.Has(op.key);
}

}  // namespace

void RangeWatches::Begin(Watch* watch) {
  watch->next_ = first_;
  first_ = watch;
}

void RangeWatches::End(Watch* watch) noexcept {
  if (first_ == watch) {
    first_ = watch->next_;
    return;
  }
  for (Watch* each = first_; each != nullptr; each = each->next_) {
    if (each->next_ != watch) continue;
    each->next_ = watch->next_;
    return;
  }
  assert(false && "the watch has begun");
}

void RangeWatches::NoteInAll(const PreparedBatch& batch) noexcept {
  if (MutantIs(Mutant::kWritersMarkNoWatches)) return;
  for (Watch* each = first_; each != nullptr; each = each->next_) {
    const auto hits = [&](const PreparedBatch::Op& op) { return Hits(each->keys_, op); };
    if (!each->is_hit_ && std::ranges::any_of(batch.ops(), hits)) each->is_hit_ = true;
  }
}

}  // namespace cambium
