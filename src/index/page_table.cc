#include "index/page_table.h"

namespace cambium {

PageTable::~PageTable() {
  for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
}

PageTable::Cell* PageTable::FindOrMake(std::uint64_t unit_offset) {
  std::atomic<Chunk*>& place = chunks_[unit_offset / kChunkCells];
  Chunk* chunk = place.load(std::memory_order_acquire);
  if (chunk == nullptr) {
    chunk = new Chunk();  // cells are null
    place.store(chunk, std::memory_order_release);
  }
  return &(*chunk)[unit_offset % kChunkCells];
}

}  // namespace cambium
