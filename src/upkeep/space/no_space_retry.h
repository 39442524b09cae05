// NoSpaceRetry: decides whether a write that found no space on the disk is tried again, and waits before that.
//
//   the disk does not count as full: flushes or compactions give back the room that is kept for them (AwaitRoom)
//     ─▶ they cannot: the disk counts as full ─▶ a put fails; a delete waits for rescues, until several have freed
//        nothing
#pragma once

#include <cstdint>

#include "cambium/options.h"
#include "state/db_state.h"
#include "upkeep/space/disk_keeper.h"

namespace cambium {

// For one write. One thread.
class NoSpaceRetry {
 public:
  // `bytes`: the size of the write. All other arguments outlive the retry.
  NoSpaceRetry(DbState* state, DiskKeeper* disk_keeper, const WriteOptions& options, std::uint64_t bytes,
               bool only_deletes)
      : db_(state->context),
        jobs_(state->jobs),
        disk_(state->full_disk),
        disk_keeper_(*disk_keeper),
        options_(options),
        bytes_(bytes),
        only_deletes_(only_deletes) {}

  // Called after a try that failed with `failed`. True: the write is to be tried again. False: it fails with `failed`.
  // With no_slowdown it does not wait, and returns Incomplete if jobs can make the room.
  Result<bool> Await(const Status& failed) CAMBIUM_EXCLUDES_ROLES;
  // kLast: no try follows it.
  [[nodiscard]] WriteTry next() const { return is_last_try() ? WriteTry::kLast : WriteTry::kAgain; }

 private:
  // A rescue may seem to free nothing while a reader still keeps dropped files, or while the files of a failed job are
  // still being removed. So a delete fails only after several such rescues in a row.
  static constexpr int kRescuesInVainMax = 5;

  [[nodiscard]] bool is_last_try() const { return rescues_in_vain_ == kRescuesInVainMax; }
  // True: jobs have made room, or may have.
  Result<bool> AwaitRoom();
  void AwaitRescue();

  DbContext& db_;
  Jobs& jobs_;
  FullDisk& disk_;
  DiskKeeper& disk_keeper_;
  const WriteOptions& options_;
  const std::uint64_t bytes_;
  const bool only_deletes_;
  RoomWait wait_;
  bool has_no_room_ = false;  // AwaitRoom has given up, or the disk was full
  int rescues_in_vain_ = 0;   // in a row
};

}  // namespace cambium
