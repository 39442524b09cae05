#include "index/filter.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "util/coding.h"

namespace cambium {

FilterBuilder::FilterBuilder(unsigned bits_per_key, std::uint64_t keys_expected)
    : bits_per_key_(std::clamp(bits_per_key, 1u, 64u)), probes_(FilterProbesFor(bits_per_key_)) {
  if (keys_expected > 0) SizeFor(keys_expected);
}

void FilterBuilder::SizeFor(std::uint64_t keys) {
  const std::uint64_t blocks = (keys * bits_per_key_ + kFilterBlockBits - 1) / kFilterBlockBits;
  blocks_.assign(std::clamp<std::uint64_t>(blocks, 1, 0xffffffffu), FilterBlock());
}

void FilterBuilder::AddHash(std::uint64_t hash) {
  if (blocks_.empty()) {
    hashes_.push_back(hash);
  } else {
    Set(hash);
  }
}

void FilterBuilder::Set(std::uint64_t hash) {
  assert(!blocks_.empty());
  FilterBlock& block = blocks_[FilterBlockOf(hash, blocks_.size())];
  AddToFilterBlock(reinterpret_cast<char*>(block.words), hash, probes_);
}

std::string FilterBuilder::Finish() {
  if (blocks_.empty()) {
    SizeFor(hashes_.size());
    for (const std::uint64_t hash : hashes_) Set(hash);
  }
  std::string bytes;
  bytes.reserve(blocks_.size() * kFilterBlockSize + kFilterTrailerSize);
  for (const FilterBlock& block : blocks_) {
    for (const std::uint64_t word : block.words) PutFixed<std::uint64_t>(&bytes, word);
  }
  PutFixed<std::uint32_t>(&bytes, static_cast<std::uint32_t>(blocks_.size()));
  PutFixed<std::uint32_t>(&bytes, probes_);  // one byte, then three zeros
  hashes_ = {};
  blocks_ = {};
  return bytes;
}

Result<Filter> Filter::Parse(Slice bytes) {
  if (bytes.size() < kFilterBlockSize + kFilterTrailerSize) {
    return Status::Corruption("filter of " + std::to_string(bytes.size()) + " bytes");
  }
  const std::size_t blocks_size = bytes.size() - kFilterTrailerSize;
  const auto block_count = DecodeFixed<std::uint32_t>(bytes.data() + blocks_size);
  const auto probes = DecodeFixed<std::uint32_t>(bytes.data() + blocks_size + 4);
  if (blocks_size % kFilterBlockSize != 0 || blocks_size / kFilterBlockSize != block_count) {
    return Status::Corruption("filter of " + std::to_string(bytes.size()) + " bytes claims " +
                              std::to_string(block_count) + " blocks");
  }
  if (probes < 1 || probes > kFilterProbesMax) {
    return Status::Corruption("filter with " + std::to_string(probes) + " probes");
  }
  FilterBlocks blocks(block_count);
  std::memcpy(blocks.data(), bytes.data(), blocks_size);
  return Filter(probes, std::move(blocks));
}

void Filter::Prefetch(std::uint64_t hash) const { __builtin_prefetch(&blocks_[FilterBlockOf(hash, blocks_.size())]); }

bool Filter::MayContain(std::uint64_t hash) const {
  const FilterBlock& block = blocks_[FilterBlockOf(hash, blocks_.size())];
  return FilterBlockContains(reinterpret_cast<const char*>(block.words), hash, probes_);
}

}  // namespace cambium
