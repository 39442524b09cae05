// PageTable: maps the pages of one file to frames of the pool. An array by page offset, not a hash: a hit is two loads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "manifest/page_id.h"

namespace cambium {

struct PageFrame;

// One cell per unit, in chunks that are allocated on first use: a small file costs little, and a growing one is never
// copied. Any thread may read cells; the pool changes cells and allocates chunks under its mutex.
class PageTable {
 public:
  using Cell = std::atomic<PageFrame*>;

  PageTable() = default;
  ~PageTable();
  PageTable(const PageTable&) = delete;
  PageTable& operator=(const PageTable&) = delete;

  // Null if the chunk does not exist: then none of its pages is in the pool.
  [[nodiscard]] Cell* Find(std::uint64_t unit_offset) const {
    Chunk* chunk = chunks_[unit_offset / kChunkCells].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &(*chunk)[unit_offset % kChunkCells];
  }
  // Returns the cell, allocating its chunk if needed. One thread at a time.
  [[nodiscard]] Cell* FindOrMake(std::uint64_t unit_offset);

  template <typename Visitor>
  void ForEachCell(Visitor visit) {
    for (auto& chunk : chunks_) {
      Chunk* cells = chunk.load(std::memory_order_acquire);
      if (cells == nullptr) continue;
      for (Cell& cell : *cells) visit(cell);
    }
  }

 private:
  static constexpr std::size_t kChunkCells = 1024;
  using Chunk = std::array<Cell, kChunkCells>;
  std::array<std::atomic<Chunk*>, kPageUnitOffsetMax / kChunkCells> chunks_{};
};

}  // namespace cambium
