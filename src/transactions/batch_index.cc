#include "transactions/batch_index.h"

#include <cassert>
#include <iterator>
#include <limits>

#include "api/batch_tags.h"

namespace cambium {
namespace {

constexpr std::size_t kAfterAll = std::numeric_limits<std::size_t>::max();

}  // namespace

BatchOp OpAt(const WriteBatch& batch, std::size_t at) {
  BatchOp op;
  if (at >= batch.Data().size()) return op;
  Slice rest(batch.Data().data() + at, batch.Data().size() - at);
  [[maybe_unused]] const bool is_whole = TakeBatchOp(&rest, &op);
  assert(is_whole && "the batch has made this operation itself");
  return op;
}

BatchIndex::Ops::const_iterator BatchIndex::Part::NewestOf(Slice key) const {
  const auto after = ops.lower_bound(Place{key, kAfterAll});
  if (after == ops.begin()) return ops.end();
  const auto newest = std::prev(after);
  return order->Compare(KeyOf(*newest), key) == 0 ? newest : ops.end();
}

std::size_t BatchIndex::Part::CoverOf(Slice key) const {
  const auto next = covers.upper_bound(key);
  return next == covers.begin() ? 0 : std::prev(next)->second;
}

BatchIndex::Part::Stretch BatchIndex::Part::StretchOf(Slice key) const {
  auto to = covers.upper_bound(key);
  assert(to != covers.begin() && std::prev(to)->second != 0 && "the key is covered");
  auto from = std::prev(to);
  while (from != covers.begin() && std::prev(from)->second != 0) --from;
  while (to->second != 0) ++to;  // the last boundary has 0
  return {from->first, to->first};
}

BatchIndex::Part& BatchIndex::PartOf(const ColumnFamilyHandle* family) {
  const std::uint32_t id = family == nullptr ? 0 : family->GetID();
  const auto found = parts_.find(id);
  if (found != parts_.end()) return found->second;
  const Comparator* const order = family == nullptr ? order_ : family->GetComparator();
  return parts_.try_emplace(id, &batch_, order).first->second;
}

const BatchIndex::Part* BatchIndex::Find(const ColumnFamilyHandle* family) const {
  const auto found = parts_.find(family == nullptr ? 0 : family->GetID());
  return found == parts_.end() ? nullptr : &found->second;
}

void BatchIndex::Add(std::size_t at) {
  if (is_stale_) return;  // the next use finds the operation in the batch
  AddToParts(at);
}

void BatchIndex::AddToParts(std::size_t at) {
  const BatchOp op = OpAt(batch_, at);
  const auto found = parts_.find(op.family);
  if (found == parts_.end()) return;  // an operation that was added to the batch directly
  Part& part = found->second;
  ++version_;
  if (op.tag == kDeleteRangeTag) {
    AddRange(&part, at, op.key, op.value);
  } else {
    AddOp(&part, at, op.key);
  }
}

void BatchIndex::AddOp(Part* part, std::size_t at, Slice key) {
  const auto offset = static_cast<std::size_t>(key.data() - batch_.Data().data());
  const Op op{at, offset, key.size()};
  const auto before = only_newest_ ? part->NewestOf(key) : part->ops.end();
  part->ops.insert(op);
  if (before != part->ops.end()) part->ops.erase(before);
}

void BatchIndex::AddRange(Part* part, std::size_t at, Slice begin, Slice end) {
  if (part->order->Compare(begin, end) >= 0) return;
  Covers& covers = part->covers;
  // The new boundaries first, so that nothing has changed if memory runs out.
  const auto last = covers.try_emplace(end.ToString(), part->CoverOf(end)).first;
  const auto first = covers.insert_or_assign(begin.ToString(), at).first;
  covers.erase(std::next(first), last);
}

void BatchIndex::Clear() {
  for (auto& [id, part] : parts_) {
    part.ops.clear();
    part.covers.clear();
  }
  ++version_;
  is_stale_ = false;
}

void BatchIndex::Rebuild() {
  Clear();
  is_stale_ = true;  // until all is added
  Slice rest(batch_.Data());
  rest.remove_prefix(kCountSize);
  while (!rest.empty()) {
    const auto at = static_cast<std::size_t>(rest.data() - batch_.Data().data());
    BatchOp op;
    if (!TakeBatchOp(&rest, &op)) break;
    AddToParts(at);
  }
  is_stale_ = false;
}

BatchIndex::Says BatchIndex::Find(const ColumnFamilyHandle* family, Slice key, Slice* value) {
  BringUpToDate();
  const Part* const part = Find(family);
  if (part == nullptr) return Says::kNothing;
  const auto newest = part->NewestOf(key);
  const std::size_t cover = part->covers.empty() ? 0 : part->CoverOf(key);
  if (newest == part->ops.end()) return cover == 0 ? Says::kNothing : Says::kDeleted;
  if (cover > newest->at) return Says::kDeleted;
  const BatchOp op = OpAt(batch_, newest->at);
  if (op.tag != kPutTag) return Says::kDeleted;
  *value = op.value;
  return Says::kValue;
}

}  // namespace cambium
