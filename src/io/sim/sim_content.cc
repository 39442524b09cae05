#include "io/sim/sim_content.h"

#include <algorithm>
#include <cstring>

namespace cambium {

const SimRef<SimContent::Block>& SimContent::ZeroBlock() {
  static const SimRef<Block> block(new Block);
  return block;
}

const SimRef<SimContent::Chunk>& SimContent::ZeroChunk() {
  static const SimRef<Chunk> chunk = [] {
    auto* full = new Chunk;
    full->blocks.fill(ZeroBlock());
    full->allocated = kBlocksPerChunk;
    return SimRef<Chunk>(full);
  }();
  return chunk;
}

const SimRef<SimContent::Chunk>* SimContent::FindChunk(std::uint64_t chunk) const {
  if (!table_ || chunk >= table_->chunks.size() || !table_->chunks[chunk]) return nullptr;
  return &table_->chunks[chunk];
}

const SimRef<SimContent::Block>* SimContent::FindBlock(std::uint64_t block) const {
  const SimRef<Chunk>* chunk = FindChunk(block / kBlocksPerChunk);
  if (chunk == nullptr) return nullptr;
  const SimRef<Block>& found = (*chunk)->blocks[block % kBlocksPerChunk];
  return found ? &found : nullptr;
}

SimRef<SimContent::Chunk>& SimContent::EditSlot(std::uint64_t chunk) {
  if (!table_) table_ = SimRef<Table>(new Table);
  Table& table = table_.Edit();
  if (chunk >= table.chunks.size()) table.chunks.resize(chunk + 1);
  return table.chunks[chunk];
}

SimContent::Chunk& SimContent::EditChunk(std::uint64_t chunk) {
  SimRef<Chunk>& slot = EditSlot(chunk);
  if (!slot) slot = SimRef<Chunk>(new Chunk);
  return slot.Edit();
}

char* SimContent::EditBlock(std::uint64_t block) {
  Chunk& chunk = EditChunk(block / kBlocksPerChunk);
  SimRef<Block>& slot = chunk.blocks[block % kBlocksPerChunk];
  if (!slot) {
    slot = SimRef<Block>(new Block);
    ++chunk.allocated;
    ++allocated_blocks_;
  }
  return slot.Edit().bytes;
}

// Calls each(chunk, first block in it, end block in it) for the blocks [first, end).
template <typename Each>
static void ForEachChunk(std::uint64_t first, std::uint64_t end, Each each) {
  while (first < end) {
    const std::uint64_t chunk = first / SimContent::kBlocksPerChunk;
    const std::uint64_t chunk_start = chunk * SimContent::kBlocksPerChunk;
    const std::uint64_t stop = std::min<std::uint64_t>(end, chunk_start + SimContent::kBlocksPerChunk);
    each(chunk, first - chunk_start, stop - chunk_start);
    first = stop;
  }
}

static std::uint64_t BlocksUpTo(std::uint64_t end) {
  return (end + SimContent::kBlockSize - 1) / SimContent::kBlockSize;
}

std::uint64_t SimContent::MissingBlocks(std::uint64_t offset, std::uint64_t length) const {
  if (length == 0) return 0;
  std::uint64_t missing = 0;
  ForEachChunk(offset / kBlockSize, BlocksUpTo(offset + length),
               [&](std::uint64_t chunk, std::uint64_t first, std::uint64_t end) {
                 const SimRef<Chunk>* found = FindChunk(chunk);
                 if (found == nullptr) {
                   missing += end - first;
                 } else if ((*found)->allocated < kBlocksPerChunk) {
                   for (std::uint64_t b = first; b < end; ++b) missing += (*found)->blocks[b] ? 0 : 1;
                 }
               });
  return missing;
}

void SimContent::Read(std::uint64_t offset, std::size_t n, char* out) const {
  while (n > 0) {
    const std::size_t within = offset % kBlockSize;
    const std::size_t length = std::min(n, kBlockSize - within);
    if (const SimRef<Block>* block = FindBlock(offset / kBlockSize); block != nullptr) {
      std::memcpy(out, (*block)->bytes + within, length);
    } else {
      std::memset(out, 0, length);
    }
    out += length;
    offset += length;
    n -= length;
  }
}

void SimContent::Write(std::uint64_t offset, Slice data) {
  size_ = std::max(size_, offset + data.size());
  while (!data.empty()) {
    const std::size_t within = offset % kBlockSize;
    const std::size_t length = std::min(data.size(), kBlockSize - within);
    std::memcpy(EditBlock(offset / kBlockSize) + within, data.data(), length);
    data.remove_prefix(length);
    offset += length;
  }
}

void SimContent::DropBlocks(std::uint64_t first, std::uint64_t end) {
  if (!table_) return;
  end = std::min<std::uint64_t>(end, table_->chunks.size() * kBlocksPerChunk);
  ForEachChunk(first, end, [&](std::uint64_t index, std::uint64_t from, std::uint64_t to) {
    const SimRef<Chunk>* found = FindChunk(index);
    if (found == nullptr || (*found)->allocated == 0) return;
    if (from == 0 && to == kBlocksPerChunk) {
      allocated_blocks_ -= (*found)->allocated;
      EditSlot(index) = SimRef<Chunk>();
      return;
    }
    Chunk& chunk = EditChunk(index);
    for (std::uint64_t b = from; b < to; ++b) {
      if (!chunk.blocks[b]) continue;
      chunk.blocks[b] = SimRef<Block>();
      --chunk.allocated;
      --allocated_blocks_;
    }
  });
}

void SimContent::Punch(std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t end = offset + length;
  const std::uint64_t first_whole = (offset + kBlockSize - 1) / kBlockSize;
  const std::uint64_t end_whole = end / kBlockSize;
  const auto zero = [this](std::uint64_t from, std::uint64_t to) {  // inside one block
    if (from < to && FindBlock(from / kBlockSize) != nullptr) {
      std::memset(EditBlock(from / kBlockSize) + from % kBlockSize, 0, to - from);
    }
  };
  if (first_whole > end_whole) {
    zero(offset, end);
    return;
  }
  zero(offset, first_whole * kBlockSize);
  DropBlocks(first_whole, end_whole);
  zero(end_whole * kBlockSize, end);
}

void SimContent::Allocate(std::uint64_t offset, std::uint64_t length) {
  if (length == 0) return;
  ForEachChunk(offset / kBlockSize, BlocksUpTo(offset + length),
               [&](std::uint64_t index, std::uint64_t from, std::uint64_t to) {
                 const SimRef<Chunk>* found = FindChunk(index);
                 if (found != nullptr && (*found)->allocated == kBlocksPerChunk) return;
                 if (found == nullptr && from == 0 && to == kBlocksPerChunk) {
                   EditSlot(index) = ZeroChunk();
                   allocated_blocks_ += kBlocksPerChunk;
                   return;
                 }
                 Chunk& chunk = EditChunk(index);
                 for (std::uint64_t b = from; b < to; ++b) {
                   if (chunk.blocks[b]) continue;
                   chunk.blocks[b] = ZeroBlock();
                   ++chunk.allocated;
                   ++allocated_blocks_;
                 }
               });
}

void SimContent::Resize(std::uint64_t size) {
  // The bytes of a block after the file's size are always zeros, so growing changes no bytes.
  if (size < size_ && table_) Punch(size, table_->chunks.size() * kBlocksPerChunk * kBlockSize - size);
  size_ = size;
}

bool SimContent::Equals(const SimContent& other) const {
  if (size_ != other.size_) return false;
  if (table_.SameAs(other.table_)) return true;
  for (std::uint64_t b = 0; b < BlocksUpTo(size_); ++b) {
    const SimRef<Block>* mine = FindBlock(b);
    const SimRef<Block>* theirs = other.FindBlock(b);
    const char* left = (mine == nullptr ? ZeroBlock() : *mine)->bytes;
    const char* right = (theirs == nullptr ? ZeroBlock() : *theirs)->bytes;
    if (left != right && std::memcmp(left, right, kBlockSize) != 0) return false;
  }
  return true;
}

}  // namespace cambium
