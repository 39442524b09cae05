#include "index/tree_builder.h"

#include <algorithm>
#include <cassert>

#include "util/mutant.h"

namespace cambium {

TreeBuilder::TreeBuilder(PageSink* sink, const Comparator* comparator, const PageBuilderOptions& options)
    : sink_(sink), order_(comparator), options_(options), leaf_(order_, options) {
  assert(IsLegalPageSize(options.page_size) && options.fill_percent >= 10 && options.fill_percent <= 100);
}
TreeBuilder::~TreeBuilder() = default;

Status TreeBuilder::Add(Slice key, const Entry& entry) {
  if (status_.ok()) status_ = AddEntry(key, entry);
  return status_;
}

Status TreeBuilder::AddSubtree(const ChildRef& child, unsigned level, Slice lower, const Slice* upper) {
  if (status_.ok()) status_ = Graft(child, level, lower, upper);
  return status_;
}

Result<TreeRoot> TreeBuilder::Finish() {
  CAMBIUM_RETURN_IF_ERROR(status_);
  Result<TreeRoot> root = CloseAll();
  status_ = root.ok() ? Status::InvalidArgument("tree is finished") : root.status();
  return root;
}

Status TreeBuilder::CheckOrder(Slice key) const {
  if (bound_kind_ == Bound::kNone || bound_kind_ == Bound::kUnknown || MutantIs(Mutant::kSkipOrderCheck)) return Status::OK();
  const int c = order_.Compare(bound_, key);
  if (c < 0 || (c == 0 && bound_kind_ == Bound::kUpper)) return Status::OK();
  return Status::Corruption("keys out of order: " + key.substr(0, std::min<std::size_t>(key.size(), 64)).ToString(true) +
                            " comes behind " +
                            Slice(bound_).substr(0, std::min<std::size_t>(bound_.size(), 64)).ToString(true));
}

Slice TreeBuilder::SeparatorBefore(Slice key) const {
  switch (bound_kind_) {
    case Bound::kNone:
      return {};
    case Bound::kKey:
      return ShortestSeparator(bound_, key, order_);
    case Bound::kUpper:
      return bound_;
    case Bound::kSubtree:
    case Bound::kUnknown:
      break;
  }
  return key;
}

void TreeBuilder::SetBound(Bound kind, Slice key) {
  bound_kind_ = kind;
  bound_.assign(key.data(), key.size());
}

Status TreeBuilder::AddEntry(Slice key, const Entry& entry) {
  CAMBIUM_RETURN_IF_ERROR(CheckOrder(key));
  if (!leaf_.Fits(key, entry)) CAMBIUM_RETURN_IF_ERROR(CloseLeaf());
  if (leaf_.empty()) leaf_lower_ = SeparatorBefore(key).ToString();
  CAMBIUM_RETURN_IF_ERROR(leaf_.Add(key, entry));
  SetBound(Bound::kKey, key);
  ++entry_count_;
  value_bytes_ += ValueBytesOf(entry);
  return Status::OK();
}

Status TreeBuilder::Graft(const ChildRef& child, unsigned level, Slice lower, const Slice* upper) {
  if (level >= kMaxTreeHeight) return Status::InvalidArgument("subtree of level " + std::to_string(level));
  CAMBIUM_RETURN_IF_ERROR(CheckOrder(lower));
  const bool is_first = bound_kind_ == Bound::kNone;
  if (!is_first && upper != nullptr && order_.Compare(lower, *upper) >= 0) {
    return Status::Corruption("keys out of order: bounds of a subtree");
  }
  const std::string separator = SeparatorBefore(lower).ToString();
  if (!leaf_.empty()) CAMBIUM_RETURN_IF_ERROR(CloseLeaf());
  for (unsigned l = 1; l <= level; ++l) {
    if (Branch(l) != nullptr) CAMBIUM_RETURN_IF_ERROR(CloseBranch(l));
  }
  CAMBIUM_RETURN_IF_ERROR(AddChild(level + 1, separator, child));
  if (upper != nullptr) {
    SetBound(Bound::kUpper, *upper);
  } else {
    SetBound(is_first ? Bound::kUnknown : Bound::kSubtree, lower);
  }
  entry_count_ += child.entry_count;
  value_bytes_ += child.value_bytes;
  return Status::OK();
}

template <typename Builder>
Result<ChildRef> TreeBuilder::Write(Builder* builder) {
  CAMBIUM_TRY(const PageSink::Place place, sink_->Reserve(builder->units()));
  const ChildRef ref = builder->Finish(place.id, place.file_seed, &page_);
  CAMBIUM_RETURN_IF_ERROR(sink_->Append(ref.page, page_));
  ++pages_written_;
  bytes_written_ += page_.size();
  return ref;
}

Status TreeBuilder::CloseLeaf() {
  CAMBIUM_TRY(const ChildRef ref, Write(&leaf_));
  return AddChild(1, leaf_lower_, ref);
}

Status TreeBuilder::CloseBranch(unsigned level) {
  if (level >= kMaxTreeHeight) {
    return Status::NotSupported("tree of more than " + std::to_string(kMaxTreeHeight) + " levels");
  }
  BranchBuilder* branch = Branch(level);
  const std::string lower = branch->lower().ToString();
  CAMBIUM_TRY(const ChildRef ref, Write(branch));
  return AddChild(level + 1, lower, ref);
}

// Recursion with CloseBranch is one step per level, and there are at most kMaxTreeHeight.
Status TreeBuilder::AddChild(unsigned level, Slice separator, const ChildRef& child) {
  while (branches_.size() < level) {
    branches_.push_back(
        std::make_unique<BranchBuilder>(order_, options_, static_cast<unsigned>(branches_.size() + 1)));
  }
  BranchBuilder* branch = branches_[level - 1].get();
  if (!branch->Fits(separator)) CAMBIUM_RETURN_IF_ERROR(CloseBranch(level));
  return branch->Add(separator, child);
}

const BranchBuilder* TreeBuilder::Branch(unsigned level) const {
  if (level > branches_.size() || branches_[level - 1]->empty()) return nullptr;
  return branches_[level - 1].get();
}
BranchBuilder* TreeBuilder::Branch(unsigned level) {
  return const_cast<BranchBuilder*>(std::as_const(*this).Branch(level));
}

Result<TreeRoot> TreeBuilder::CloseAll() {
  if (!leaf_.empty()) CAMBIUM_RETURN_IF_ERROR(CloseLeaf());
  for (unsigned level = 1; level <= branches_.size(); ++level) {
    BranchBuilder* branch = Branch(level);
    if (branch == nullptr) continue;
    const bool is_top = level == branches_.size();
    if (is_top && branch->count() == 1) {
      const ChildRef& only = branch->child(0);
      return TreeRoot{only.page, level, only.entry_count, only.value_bytes};
    }
    // Closing the top branch opens one above it, of which it then is the only child.
    CAMBIUM_RETURN_IF_ERROR(CloseBranch(level));
  }
  return TreeRoot{};
}

unsigned TreeBuilder::OpenFillPercent(unsigned level) const {
  unsigned smallest = 100;
  bool open_below = !leaf_.empty();
  if (open_below) smallest = std::min(smallest, leaf_.fill_percent());
  for (unsigned l = 1; l <= level; ++l) {
    if (const BranchBuilder* branch = Branch(l); branch != nullptr) {
      smallest = std::min(smallest, branch->fill_percent());
      open_below = true;
    } else if (open_below) {
      return 0;  // a branch with a single child would be made here
    }
  }
  return smallest;
}

unsigned TreeBuilder::FillPercentAt(unsigned level) const {
  if (level == 0) return leaf_.empty() ? 0 : leaf_.fill_percent();
  const BranchBuilder* branch = Branch(level);
  return branch == nullptr ? 0 : branch->fill_percent();
}

std::uint32_t TreeBuilder::ItemsAt(unsigned level) const {
  if (level == 0) return leaf_.count();
  const BranchBuilder* branch = Branch(level);
  return branch == nullptr ? 0 : branch->count();
}

}  // namespace cambium
