// SimContent: the bytes of one simulated file, as a value. Copying costs a pointer; copies share blocks of 4 KiB until
// one of them is changed. Absent blocks are holes and read as zeros.
//
//   table -> chunks of 64 blocks -> blocks
//
// Two levels, so that changing a byte of a shared large file copies one block, one chunk and a short table.
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
  // How many blocks a write or an allocation of this range would take.
  [[nodiscard]] std::uint64_t MissingBlocks(std::uint64_t offset, std::uint64_t length) const;

  // Copies [offset, offset + n) to `out`; zeros in holes and behind the end.
  void Read(std::uint64_t offset, std::size_t n, char* out) const;
  // Writes, growing the size to offset + data.size() if it is less.
  void Write(std::uint64_t offset, Slice data);
  // The range reads as zeros; whole blocks in it become holes. The size stays.
  void Punch(std::uint64_t offset, std::uint64_t length);
  // Takes blocks for the range, without bytes. The size stays.
  void Allocate(std::uint64_t offset, std::uint64_t length);
  // Cuts, or grows with zeros.
  void Resize(std::uint64_t size);

  // Calls each(block) for the blocks in [begin, end) that may hold something other than zeros.
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
    std::size_t allocated = 0;  // how many are there
  };
  struct Table : SimShared {
    std::vector<SimRef<Chunk>> chunks;
  };

  static const SimRef<Block>& ZeroBlock();
  static const SimRef<Chunk>& ZeroChunk();
  [[nodiscard]] const SimRef<Chunk>* FindChunk(std::uint64_t chunk) const;
  [[nodiscard]] const SimRef<Block>* FindBlock(std::uint64_t block) const;
  SimRef<Chunk>& EditSlot(std::uint64_t chunk);  // makes the table ours; the chunk may be absent
  Chunk& EditChunk(std::uint64_t chunk);         // makes it ours, empty if it was absent
  char* EditBlock(std::uint64_t block);          // makes it ours, taking it if it was a hole
  void DropBlocks(std::uint64_t first, std::uint64_t end);

  SimRef<Table> table_;
  std::uint64_t size_ = 0;
  std::uint64_t allocated_blocks_ = 0;
};

}  // namespace cambium
