#include "btree/tree_rebuilder.h"

#include <algorithm>
#include <cassert>

#include "index/branch_filter.h"
#include "index/key_for_message.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Only in a mutant: takes the left edge of the tree for an empty key.
void CompareTheEdge(const KeyOrder& order, const Slice* lower, const Slice* upper) {
  if (lower != nullptr || upper == nullptr || !MutantIs(Mutant::kGraftComparesTheEdge)) return;
  static_cast<void>(order.Compare(Slice(), *upper));
}

}  // namespace

TreeRebuilder::TreeRebuilder(PageSink* sink, const Comparator* comparator, const PageBuilderOptions& options,
                             KeyReader read_keys)
    : sink_(sink),
      order_(comparator),
      options_(options),
      read_keys_(std::move(read_keys)),
      leaves_(order_, options, 0) {
  assert(IsLegalPageSize(options.page_size) && options.fill_percent >= OpenLeaves::kFillMin);
}
TreeRebuilder::~TreeRebuilder() = default;

Status TreeRebuilder::CheckOrder(Slice key) const {
  if (bound_kind_ == Bound::kNone || MutantIs(Mutant::kSkipOrderCheck)) return Status::OK();
  const int c = bound_kind_ == Bound::kEnd ? 1 : order_.Compare(bound_, key);
  if (c < 0 || (c == 0 && bound_kind_ == Bound::kUpper)) return Status::OK();
  return Status::Corruption("keys out of order: " + KeyForMessage(key) + " follows " + KeyForMessage(bound_));
}

// Returns the separator between `key`, the first of a new page, and everything before it.
Slice TreeRebuilder::SeparatorBefore(Slice key) const {
  switch (bound_kind_) {
    case Bound::kKey:
      return ShortestSeparator(bound_, key, order_);
    case Bound::kUpper:
      return bound_;
    case Bound::kNone:
    case Bound::kEnd:
      break;
  }
  return {};
}

Status TreeRebuilder::Add(Slice key, const Entry& entry) {
  CAMBIUM_RETURN_IF_ERROR(CheckOrder(key));
  CAMBIUM_RETURN_IF_ERROR(leaves_.Add({key, entry}, SeparatorBefore(key),
                                      [this](Slice lower, LeafBuilder* page) { return CloseLeaf(lower, page); }));
  bound_kind_ = Bound::kKey;
  bound_.assign(key.data(), key.size());
  return Status::OK();
}

template <typename Builder>
Result<ChildRef> TreeRebuilder::Write(Builder* page) {
  CAMBIUM_TRY(const PageSink::Place place, sink_->Reserve(page->units()));
  ChildRef ref;
  if constexpr (std::is_same_v<Builder, BranchBuilder>) {
    const std::optional<BranchFilterBuilder> filter = MakeFilter(*page);
    ref = page->Finish(place.id, place.file_seed, filter.has_value() ? &*filter : nullptr, &encoded_);
  } else {
    ref = page->Finish(place.id, place.file_seed, &encoded_);
  }
  CAMBIUM_RETURN_IF_ERROR(sink_->Append(ref.page, encoded_));
  return ref;
}

OpenBranches& TreeRebuilder::Branches(unsigned level) {
  while (branches_.size() < level) {
    branches_.push_back(
        std::make_unique<OpenBranches>(order_, options_, static_cast<unsigned>(branches_.size() + 1)));
  }
  return *branches_[level - 1];
}

Status TreeRebuilder::CloseLeaf(Slice lower, LeafBuilder* page) {
  const std::shared_ptr<const LeafKeys> keys = options_.filter_bits_per_key > 0 ? page->HashKeys() : nullptr;
  CAMBIUM_TRY(const ChildRef ref, Write(page));
  return AddChild(1, lower, ref, keys);
}

// Builds the filter of a branch. For leaves that were kept by address, only the old branch's filter is known, which
// also contains the keys of their old neighbours. If the new filter would then hold more stale keys than half the
// number of entries, the leaves are read instead.
std::optional<BranchFilterBuilder> TreeRebuilder::MakeFilter(const BranchBuilder& page) {
  if (page.filter_blocks() == 0) return std::nullopt;
  const unsigned probes = FilterProbesFor(options_.filter_bits_per_key);
  const auto make = [&](bool may_add_filters) -> std::optional<BranchFilterBuilder> {
    BranchFilterBuilder filter(page.filter_blocks(), probes);
    const auto is_usable_filter = [&](const LeafKeys* keys) {
      return keys != nullptr && keys->is_filter() && keys->probes == probes && may_add_filters;
    };
    // Filters first: keys that a filter already contains are then not counted again.
    const LeafKeys* added = nullptr;  // neighbours often share one filter
    for (std::uint32_t i = 0; i < page.count() && !MutantIs(Mutant::kForgetGraftedKeys); ++i) {
      const LeafKeys* const keys = page.keys_of(i).get();
      if (keys == added || !is_usable_filter(keys)) continue;
      filter.AddFilter(keys->blocks, keys->filter_keys);
      added = keys;
    }
    for (std::uint32_t i = 0; i < page.count(); ++i) {
      std::shared_ptr<const LeafKeys> keys = page.keys_of(i);
      if (is_usable_filter(keys.get())) continue;
      if (keys == nullptr || keys->is_filter()) {
        if (read_keys_ == nullptr) return std::nullopt;
        keys = read_keys_(page.child(i));
        if (keys == nullptr) return std::nullopt;
      }
      for (const std::uint64_t hash : keys->hashes) filter.Add(hash);
    }
    return filter;
  };
  std::optional<BranchFilterBuilder> filter = make(true);
  const std::uint64_t entries = page.entry_count();
  if (!filter.has_value() || filter->keys() <= entries + entries / 2) return filter;
  std::optional<BranchFilterBuilder> exact = make(false);
  return exact.has_value() ? exact : filter;
}

Status TreeRebuilder::CloseBranch(unsigned level, Slice lower, BranchBuilder* page) {
  if (level >= kMaxTreeHeight) {
    return Status::NotSupported("tree of more than " + std::to_string(kMaxTreeHeight) + " levels");
  }
  CAMBIUM_TRY(const ChildRef ref, Write(page));
  return AddChild(level + 1, lower, ref);
}

// Recurses with CloseBranch, one step per level: at most kMaxTreeHeight.
Status TreeRebuilder::AddChild(unsigned level, Slice separator, const ChildRef& child,
                               std::shared_ptr<const LeafKeys> keys) {
  assert(level > 0 && "a leaf has no children");
  return Branches(level).Add(
      {separator, child, std::move(keys)}, separator,
      [this, level](Slice lower, BranchBuilder* page) { return CloseBranch(level, lower, page); });
}

Result<bool> TreeRebuilder::CanGraft(unsigned level) {
  CAMBIUM_TRY(bool is_cut,
              leaves_.Cut([this](Slice lower, LeafBuilder* page) { return CloseLeaf(lower, page); }));
  for (unsigned l = 1; is_cut && l <= level; ++l) {
    CAMBIUM_TRY(is_cut, Branches(l).Cut([this, l](Slice lower, BranchBuilder* page) {
      return CloseBranch(l, lower, page);
    }));
  }
  return is_cut;
}

// A comparator of the user is asked about keys that exist, never about the empty separator at the tree's left edge.
Status TreeRebuilder::Graft(const ChildRef& child, unsigned level, const Slice* lower, const Slice* upper,
                            std::shared_ptr<const LeafKeys> keys) {
  assert(leaves_.empty());
  CompareTheEdge(order_, lower, upper);
  if (bound_kind_ != Bound::kNone) {
    if (lower == nullptr) return Status::Corruption("keys out of order: a left edge follows " + KeyForMessage(bound_));
    CAMBIUM_RETURN_IF_ERROR(CheckOrder(*lower));
    if (upper != nullptr && order_.Compare(*lower, *upper) >= 0) {
      return Status::Corruption("keys out of order: " + KeyForMessage(*upper) + " bounds a page that begins at " +
                                KeyForMessage(*lower));
    }
  }
  CAMBIUM_RETURN_IF_ERROR(AddChild(level + 1, lower == nullptr ? Slice() : *lower, child, std::move(keys)));
  bound_kind_ = upper == nullptr ? Bound::kEnd : Bound::kUpper;
  if (upper != nullptr) bound_.assign(upper->data(), upper->size());
  return Status::OK();
}

Result<TreeRoot> TreeRebuilder::Finish() {
  // The only page of the highest level is the root. A branch with one child is not written: the child is the root.
  TreeRoot root;
  const auto above_is_empty = [this](unsigned level) {
    return std::all_of(branches_.begin() + std::min<std::ptrdiff_t>(level, std::ssize(branches_)), branches_.end(),
                       [](const auto& row) { return row->empty(); });
  };
  if (above_is_empty(0) && leaves_.page_count() <= 1) {
    CAMBIUM_RETURN_IF_ERROR(leaves_.End([this, &root](Slice, LeafBuilder* page) {
      CAMBIUM_TRY(const ChildRef ref, Write(page));
      root = {ref.page, 1, ref.entry_count, ref.value_bytes};
      return Status::OK();
    }));
    return root;
  }
  CAMBIUM_RETURN_IF_ERROR(
      leaves_.End([this](Slice lower, LeafBuilder* page) { return CloseLeaf(lower, page); }));
  for (unsigned level = 1;; ++level) {
    OpenBranches& row = Branches(level);
    const bool is_top = above_is_empty(level) && row.page_count() == 1;
    if (is_top && row.page(0).count() == 1) {
      const ChildRef& only = row.page(0).child(0);
      return TreeRoot{only.page, level, only.entry_count, only.value_bytes};
    }
    CAMBIUM_RETURN_IF_ERROR(row.End([&](Slice lower, BranchBuilder* page) -> Status {
      if (!is_top || level >= kMaxTreeHeight) return CloseBranch(level, lower, page);
      CAMBIUM_TRY(const ChildRef ref, Write(page));
      root = {ref.page, level + 1, ref.entry_count, ref.value_bytes};
      return Status::OK();
    }));
    if (is_top) return root;
  }
}

}  // namespace cambium
