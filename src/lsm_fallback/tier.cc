#include "lsm_fallback/tier.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "manifest/file_names.h"
#include "util/common_prefix.h"

namespace cambium {
namespace {

// Eight bytes of the key from `from` on, as a number that compares as the bytes do; missing bytes are zeros.
std::uint64_t FenceOf(Slice key, std::size_t from) {
  std::uint64_t fence = 0;
  for (std::size_t i = from; i < from + sizeof fence; ++i) {
    fence = fence << 8 | (i < key.size() ? static_cast<unsigned char>(key[i]) : 0u);
  }
  return fence;
}

const std::string& PathOf(const Run& run) {
  const IndexFile* const file = run.files().Find(run.number());
  assert(file != nullptr && "a run has its file");
  return file->path();
}

}  // namespace

Tier::Tier(const Comparator* comparator, std::uint32_t level, std::uint64_t number, RunList runs)
    : order_(comparator), level_(level), number_(number), runs_(std::move(runs)), ranges_(RangesOf(comparator, runs_)) {
  if (order_.bytewise) MakeFences();
}

Result<std::shared_ptr<const Tier>> Tier::Make(const Comparator* comparator, std::uint32_t level, std::uint64_t number,
                                               RunList runs) {
  assert(!runs.empty());
  const KeyOrder order(comparator);
  for (const auto& run : runs) CAMBIUM_RETURN_IF_ERROR(CheckSpan(order, *run));
  std::ranges::sort(runs, [&order](const auto& a, const auto& b) {
    return order.Compare(a->info().smallest_key, b->info().smallest_key) < 0;
  });
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (EndsBefore(order, KeySpan::Of(runs[i - 1]->info()), runs[i]->info().smallest_key)) continue;
    return Status::Corruption(PathOf(*runs[i - 1]) + " and " + PathOf(*runs[i]) + " of level " + std::to_string(level) +
                              " overlap");
  }
  return std::shared_ptr<const Tier>(new Tier(comparator, level, number, std::move(runs)));
}

const Run* Tier::Find(Slice key) const {
  const std::size_t i = order_.bytewise ? FirstByFences(key) : FirstNotBefore(order_, runs_, key);
  if (i == runs_.size() || order_.Compare(runs_[i]->info().smallest_key, key) > 0) return nullptr;
  return runs_[i].get();
}

Result<TreePart> Tier::Measure(Slice begin, Slice end) const {
  const auto first = runs_.begin() + static_cast<std::ptrdiff_t>(FirstNotBefore(order_, runs_, begin));
  const auto last = std::partition_point(
      first, runs_.end(), [&](const auto& run) { return order_.Compare(run->info().smallest_key, end) < 0; });
  TreePart part;
  for (auto run = first; run != last; ++run) {
    if (run == first || run + 1 == last) {
      CAMBIUM_TRY(const TreePart measured, (*run)->Measure(begin, end));
      part += measured;
    } else {
      part += WholeTree((*run)->info().root, (*run)->info().file_size);
    }
  }
  return part;
}

void Tier::MakeFences() {
  const Slice first = runs_.front()->info().largest_key;
  const Slice last = runs_.back()->info().largest_key;
  fence_prefix_ = first.substr(0, CommonPrefix(first, last)).ToString();
  for (const auto& run : runs_) fences_.push_back(FenceOf(run->info().largest_key, fence_prefix_.size()));
  assert(fences_.size() == runs_.size());
}

// If two numbers differ, their keys compare in the same way. If they are equal, the keys are compared.
std::size_t Tier::FirstByFences(Slice key) const {
  const Slice prefix = fence_prefix_;
  if (!key.starts_with(prefix)) return key.compare(prefix) < 0 ? 0 : runs_.size();
  const auto [equal, greater] = std::equal_range(fences_.begin(), fences_.end(), FenceOf(key, prefix.size()));
  const auto first = std::partition_point(
      runs_.begin() + (equal - fences_.begin()), runs_.begin() + (greater - fences_.begin()),
      [&](const auto& run) { return EndsBefore(order_, KeySpan::Of(run->info()), key); });
  return static_cast<std::size_t>(first - runs_.begin());
}

std::shared_ptr<const RangeDeletes> RangesOf(const Comparator* comparator, const RunList& runs) {
  std::vector<const RangeDeletes*> parts;
  for (const auto& run : runs) {
    if (run->ranges() != nullptr) parts.push_back(run->ranges().get());
  }
  if (parts.empty()) return nullptr;
  return std::make_shared<const RangeDeletes>(RangeDeletes::Union(comparator, parts));
}

std::size_t FirstNotBefore(const KeyOrder& order, const RunList& runs, Slice key) {
  const auto first = std::ranges::partition_point(
      runs, [&](const auto& run) { return EndsBefore(order, KeySpan::Of(run->info()), key); });
  return static_cast<std::size_t>(first - runs.begin());
}

Status CheckSpan(const KeyOrder& order, const Run& run) {
  const RunInfo& info = run.info();
  const int compared = order.Compare(info.smallest_key, info.largest_key);
  if (compared < 0 || (compared == 0 && !info.largest_is_open)) return Status::OK();
  return Status::Corruption(PathOf(run) + ": its smallest key is above its largest one");
}

}  // namespace cambium
