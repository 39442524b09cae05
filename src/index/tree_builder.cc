#include "index/tree_builder.h"

#include <algorithm>
#include <cassert>

#include "index/compressed_page.h"
#include "index/key_for_message.h"
#include "util/coding.h"
#include "util/mutant.h"

namespace cambium {

TreeBuilder::TreeBuilder(PageSink* sink, const Comparator* comparator, const PageBuilderOptions& options,
                         const LeafCompression& compression)
    : sink_(sink), order_(comparator), options_(options), codec_(compression.codec), leaf_(order_, options) {
  assert(IsLegalPageSize(options.page_size) && options.fill_percent >= 10 && options.fill_percent <= 100);
  if (codec_ == Codec::kNone) return;
  assert(compression.block_size >= 2 * options.page_size &&
         compression.block_size <= kPageUnitsMax / 2 * options.page_size);
  sizer_.emplace(compression.block_size, options.page_size);
}
TreeBuilder::~TreeBuilder() = default;

Status TreeBuilder::Add(Slice key, const Entry& entry) {
  if (status_.ok()) status_ = AddEntry(key, entry);
  return status_;
}

Result<TreeRoot> TreeBuilder::Finish() {
  CAMBIUM_RETURN_IF_ERROR(status_);
  Result<TreeRoot> root = CloseAll();
  status_ = root.ok() ? Status::InvalidArgument("tree is finished") : root.status();
  return root;
}

Status TreeBuilder::AddEntry(Slice key, const Entry& entry) {
  if (entry_count_ > 0 && order_.Compare(last_key_, key) >= 0 && !MutantIs(Mutant::kSkipOrderCheck)) {
    return Status::Corruption("keys out of order: " + KeyForMessage(key) + " follows " + KeyForMessage(last_key_));
  }
  if (!FitsLeaf(key, entry)) CAMBIUM_RETURN_IF_ERROR(CloseLeaf());
  if (leaf_.empty() && entry_count_ > 0) leaf_lower_ = ShortestSeparator(last_key_, key, order_).ToString();
  CAMBIUM_RETURN_IF_ERROR(leaf_.Add(key, entry));
  last_key_.assign(key.data(), key.size());
  ++entry_count_;
  value_bytes_ += ValueBytesOf(entry);
  return Status::OK();
}

template <typename Builder>
Result<ChildRef> TreeBuilder::Write(Builder* builder) {
  CAMBIUM_TRY(const PageSink::Place place, sink_->Reserve(builder->units()));
  ChildRef ref;
  if constexpr (std::is_same_v<Builder, BranchBuilder>) {
    ref = builder->Finish(place.id, place.file_seed, nullptr, &page_);
  } else {
    ref = builder->Finish(place.id, place.file_seed, &page_);
  }
  CAMBIUM_RETURN_IF_ERROR(sink_->Append(ref.page, page_));
  return ref;
}

// Here the place is reserved last, because the number of units depends on the compressed size.
Result<ChildRef> TreeBuilder::WriteCompressed() {
  const std::size_t used = leaf_.used_bytes();
  ChildRef ref = leaf_.FinishUnplaced(&page_);
  std::size_t packed_end = used;
  const Slice leaf = Slice(page_).substr(0, AlignUp(used, kRawSizeStep));
  const bool is_packed = CompressLeaf(codec_, leaf, options_.page_size, &packed_page_, &packed_end);
  sizer_->Observe(used, is_packed ? packed_end : used);
  std::string* const page = is_packed ? &packed_page_ : &page_;
  CAMBIUM_TRY(const PageSink::Place place, sink_->Reserve(static_cast<unsigned>(page->size() / options_.page_size)));
  ref.page = {place.id, PlacePage(page, place.id, options_.page_size, place.file_seed)};
  CAMBIUM_RETURN_IF_ERROR(sink_->Append(ref.page, *page));
  return ref;
}

bool TreeBuilder::FitsLeaf(Slice key, const Entry& entry) const {
  return sizer_ ? leaf_.FitsIn(sizer_->target(), key, entry) : leaf_.Fits(key, entry);
}

Status TreeBuilder::CloseLeaf() {
  CAMBIUM_TRY(const ChildRef ref, codec_ == Codec::kNone ? Write(&leaf_) : WriteCompressed());
  return AddChild(1, leaf_lower_, ref);
}

Status TreeBuilder::CloseBranch(unsigned level) {
  if (level >= kMaxTreeHeight) {
    return Status::NotSupported("tree of more than " + std::to_string(kMaxTreeHeight) + " levels");
  }
  assert(level > 0 && level <= branches_.size());
  BranchBuilder* branch = branches_[level - 1].get();
  const std::string lower = branch->lower().ToString();
  CAMBIUM_TRY(const ChildRef ref, Write(branch));
  return AddChild(level + 1, lower, ref);
}

// Recurses with CloseBranch, one step per level: at most kMaxTreeHeight.
Status TreeBuilder::AddChild(unsigned level, Slice separator, const ChildRef& child) {
  assert(level > 0 && level <= branches_.size() + 1 && "a tree grows by one level at a time");
  if (branches_.size() < level) branches_.push_back(std::make_unique<BranchBuilder>(order_, options_, level));
  BranchBuilder* branch = branches_[level - 1].get();
  if (!branch->Fits(separator, child)) CAMBIUM_RETURN_IF_ERROR(CloseBranch(level));
  return branch->Add(separator, child);
}

Result<TreeRoot> TreeBuilder::CloseAll() {
  if (leaf_.empty()) return TreeRoot{};
  CAMBIUM_RETURN_IF_ERROR(CloseLeaf());
  // Closing the top branch opens a new one above it, with the closed branch as its only child.
  unsigned top = 1;
  while (top < branches_.size() || branches_.back()->count() > 1) {
    CAMBIUM_RETURN_IF_ERROR(CloseBranch(top));
    ++top;
  }
  const ChildRef& root = branches_.back()->child(0);
  return TreeRoot{root.page, top, root.entry_count, root.value_bytes};
}

}  // namespace cambium
