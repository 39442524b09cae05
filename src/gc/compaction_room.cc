#include "gc/compaction_room.h"

#include <algorithm>

#include "util/mutant.h"

namespace cambium {

CompactionRoom RoomForCompactions(const LayersShape& shape) {
  constexpr std::uint64_t kSweepLeast = 16u << 10;
  constexpr std::uint64_t kSweepMost = 1u << 20;  // larger steps do not help
  constexpr std::uint64_t kDeadPercent = 10;
  if (shape.levels.empty()) {
    const std::uint64_t with_dead = shape.base_live_bytes + shape.base_live_bytes / 100 * kDeadPercent;
    return {.of_step = std::clamp(shape.base_live_bytes / 8, kSweepLeast, kSweepMost),
            .waiting = shape.run_file_bytes + with_dead - std::min(with_dead, shape.base_file_bytes)};
  }
  std::uint64_t bytes = shape.run_file_bytes;
  for (const LevelShape& level : shape.levels) bytes += level.file_bytes;
  const LevelShape& last = shape.levels.back();
  return {.of_step = bytes - (last.file_bytes - last.file_bytes / std::max<std::uint64_t>(last.file_count, 1))};
}

bool NeedsRoomOfItsOwn(std::uint64_t value_bytes, std::uint64_t index_bytes) {
  // A tree has pages that are half empty; with values of 1,000 bytes and keys of 16 it has a 30th of the bytes.
  constexpr std::uint64_t kSmallIndexParts = 16;
  return value_bytes / (MutantIs(Mutant::kSmallIndexIsHalf) ? 1 : kSmallIndexParts) < index_bytes;
}

void SumOfRooms::Add(const CompactionRoom& room) {
  largest_ = std::max(largest_, room.of_step);
  waiting_ += room.waiting;
  count_ += room.of_step > 0 ? 1 : 0;
}

SharedCompactionRoom SumOfRooms::For(std::uint64_t jobs) const {
  const std::uint64_t steps = std::min(count_, jobs);
  return {.bytes = std::min(waiting_ + largest_ * steps, kCompactionRoomMost),
          .at_once = std::max<std::uint64_t>(steps, 1)};
}

}  // namespace cambium
