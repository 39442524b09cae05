#include "index/branch_filter.h"

#include <bit>
#include <cassert>

#include "util/coding.h"

namespace cambium {
namespace {

void OrBlock(Slice from, char* to) {
  for (std::size_t i = 0; i < kFilterBlockSize; i += 8) {
    const std::uint64_t word = DecodeFixed<std::uint64_t>(to + i) | DecodeFixed<std::uint64_t>(from.data() + i);
    EncodeFixed<std::uint64_t>(to + i, word);
  }
}

}  // namespace

std::shared_ptr<const LeafKeys> LeafKeys::InFilter(const BranchFilter& filter) {
  auto keys = std::make_shared<LeafKeys>();
  keys->blocks.assign(filter.blocks, std::size_t{filter.count} * kFilterBlockSize);
  keys->filter_keys = filter.keys;
  keys->probes = filter.probes;
  return keys;
}

void BranchFilterBuilder::Add(std::uint64_t hash) {
  char* const block = blocks_.data() + FilterBlockOf(hash, blocks_.size() / kFilterBlockSize) * kFilterBlockSize;
  if (FilterBlockContains(block, hash, probes_)) return;
  AddToFilterBlock(block, hash, probes_);
  ++keys_;
}

void BranchFilterBuilder::AddFilter(Slice blocks, std::uint32_t keys) {
  const std::size_t theirs = blocks.size() / kFilterBlockSize;
  const std::size_t ours = blocks_.size() / kFilterBlockSize;
  assert(std::has_single_bit(theirs) && std::has_single_bit(ours));
  for (std::size_t i = 0; i < std::max(theirs, ours); ++i) {
    const std::size_t from = theirs > ours ? i : i / (ours / theirs);
    const std::size_t to = ours > theirs ? i : i / (theirs / ours);
    OrBlock(blocks.substr(from * kFilterBlockSize, kFilterBlockSize), blocks_.data() + to * kFilterBlockSize);
  }
  keys_ += keys;
}

}  // namespace cambium
