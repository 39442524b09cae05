// PageTable: which frame of the pool holds a page of one file. An array by page offset, not a hash: a hit is two loads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "manifest/page_id.h"

namespace cambium {

struct PageFrame;

// A cell per unit, in chunks that are made when first needed, so that a small file costs little and a growing one is
// never copied. Any thread may look up; cells are changed, and chunks made, by the pool under its mutex.
class PageTable {
 public:
  using Cell = std::atomic<PageFrame*>;

  PageTable() = default;
  ~PageTable();
  PageTable(const PageTable&) = delete;
  PageTable& operator=(const PageTable&) = delete;

  // Null if the chunk has not been made: then no page of it is in the pool.
  [[nodiscard]] Cell* Find(std::uint64_t unit_offset) const {
    Chunk* chunk = chunks_[unit_offset / kChunkCells].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &(*chunk)[unit_offset % kChunkCells];
  }
  // The cell, made if need be. One thread at a time.
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
