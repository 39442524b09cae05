// SimContent: the bytes of one simulated file, as a value. A copy costs one pointer: copies share blocks of 4 KiB until
// one of them changes. Absent blocks are holes and read as zeros.
//
//   table -> chunks of 64 blocks -> blocks
//
// With two levels, changing one byte of a large shared file copies one block, one chunk and a short table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cambium/slice.h"
#include "io/sim/sim_ref.h"

namespace cambium {

class SimContent {
 public:
  static constexpr std::size_t kBlockSize = 4096;
  static constexpr std::size_t kBlocksPerChunk = 64;

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t allocated_bytes() const { return allocated_blocks_ * kBlockSize; }
  // Returns how many blocks a write or an allocation of this range would take.
  [[nodiscard]] std::uint64_t MissingBlocks(std::uint64_t offset, std::uint64_t length) const;

  // Copies [offset, offset + n) to `out`; zeros in holes and after the end.
  void Read(std::uint64_t offset, std::size_t n, char* out) const;
  // Writes `data`, and grows the file if it is shorter than offset + data.size().
  void Write(std::uint64_t offset, Slice data);
  // Makes the range read as zeros; its whole blocks become holes. Does not change the size.
  void Punch(std::uint64_t offset, std::uint64_t length);
  // Allocates blocks for the range; they read as zeros. Does not change the size.
  void Allocate(std::uint64_t offset, std::uint64_t length);
  // Truncates the file, or grows it with zeros.
  void Resize(std::uint64_t size);

  // Calls each(block) for the blocks of bytes [begin, end) that may hold something other than zeros.
  template <typename Each>
  void ForEachWrittenBlock(std::uint64_t begin, std::uint64_t end, Each each) const {
    if (!table_ || begin >= end) return;
    const std::uint64_t last = (end - 1) / kBlockSize;
    for (std::uint64_t b = begin / kBlockSize; b <= last && b / kBlocksPerChunk < table_->chunks.size();) {
      const SimRef<Chunk>* chunk = FindChunk(b / kBlocksPerChunk);
      if (chunk == nullptr || chunk->SameAs(ZeroChunk())) {
        b = (b / kBlocksPerChunk + 1) * kBlocksPerChunk;
        continue;
      }
      const SimRef<Block>& block = (*chunk)->blocks[b % kBlocksPerChunk];
      if (block && !block.SameAs(ZeroBlock())) each(b);
      ++b;
    }
  }

  [[nodiscard]] bool Equals(const SimContent& other) const;

 private:
  struct Block : SimShared {
    char bytes[kBlockSize] = {};
  };
  struct Chunk : SimShared {
    std::array<SimRef<Block>, kBlocksPerChunk> blocks;
    std::size_t allocated = 0;  // the number of blocks that are not holes
  };
  struct Table : SimShared {
    std::vector<SimRef<Chunk>> chunks;
  };

  static const SimRef<Block>& ZeroBlock();
  static const SimRef<Chunk>& ZeroChunk();
  [[nodiscard]] const SimRef<Chunk>* FindChunk(std::uint64_t chunk) const;
  [[nodiscard]] const SimRef<Block>* FindBlock(std::uint64_t block) const;
  SimRef<Chunk>& EditSlot(std::uint64_t chunk);  // unshares the table; the chunk may be absent
  Chunk& EditChunk(std::uint64_t chunk);         // unshares the chunk; adds an empty one if it was absent
  char* EditBlock(std::uint64_t block);          // unshares the block; allocates it if it was a hole
  void DropBlocks(std::uint64_t first, std::uint64_t end);

  SimRef<Table> table_;
  std::uint64_t size_ = 0;
  std::uint64_t allocated_blocks_ = 0;
};

}  // namespace cambium
