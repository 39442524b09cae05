#include "upkeep/space/no_space_retry.h"

namespace cambium {

Result<bool> NoSpaceRetry::Await(const Status& failed) {
  if (!failed.IsNoSpace() || failed.severity() == Status::Severity::kFatal) return false;
  if (!has_no_room_) {
    CAMBIUM_TRY(const bool has_room, AwaitRoom());
    if (has_room) return true;
    has_no_room_ = true;
  }
  if (is_last_try()) return false;
  disk_keeper_.OnNoSpace();
  if (!only_deletes_ || !disk_.IsFull()) return false;
  AwaitRescue();
  return true;
}

Result<bool> NoSpaceRetry::AwaitRoom() {
  if (disk_.IsFull()) return false;
  if (options_.no_slowdown) {
    if (!disk_keeper_.StartToMakeRoom(bytes_)) return false;
    return Status::Incomplete("the room on the disk is kept for a flush or a compaction");
  }
  if (disk_keeper_.AwaitRoom(bytes_, &wait_)) return true;
  CAMBIUM_RETURN_IF_ERROR(jobs_.Health());
  return false;
}

void NoSpaceRetry::AwaitRescue() {
  constexpr std::uint64_t kRescuePauseMicros = 2'000;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  static_cast<void>(db_.fs->FreeSpace(db_.path, &before));
  if (!options_.no_slowdown) disk_keeper_.AwaitRescue();
  const bool has_freed = db_.fs->FreeSpace(db_.path, &after).ok() && after > before;
  rescues_in_vain_ = has_freed ? 0 : rescues_in_vain_ + 1;
  if (rescues_in_vain_ > 0 && !options_.no_slowdown) db_.options.clock->SleepMicros(kRescuePauseMicros);
}

}  // namespace cambium
