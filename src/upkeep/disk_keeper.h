// DiskKeeper: the full disk: a reserve for it, what is done when there is no space, and which writes are taken.
//
//                        a write finds no space: the reserve is given back
//        ┌───────────────┐ ──────────────────────────────────────────────▶ ┌────────────────────────────────────┐
//        │ puts, deletes │                                                  │ deletes; flush, compaction, log GC │
//        └───────────────┘ ◀────────────────────────────────────────────── │ in steps that fit; puts get NoSpace │
//                        the reserve could be made again, and more is free  └────────────────────────────────────┘
//
// A batch of deletes takes a first part of what was given back, jobs have the rest: so that what turns deletes into free
// space always has room to begin. Each time that part is used up, the next delete waits until the jobs have done what they
// can, and then goes on, whatever came of them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "state/db_state.h"
#include "state/tick_target.h"
#include "upkeep/space_keeper.h"

namespace cambium {

class DiskKeeper {
 public:
  DiskKeeper(DbState* state, SpaceKeeper* space_keeper);

  // ---- Before a write ----

  // Called before a batch that grows the database. NoSpace if the disk is still full.
  Status CheckGrowth();
  // NoSpace if a new file of so many bytes does not leave what the reserve needs.
  Status CheckRoomForFile(std::uint64_t bytes);
  // Before a batch of so many bytes is appended. Freezes memtables that the reserve would not be enough to flush.
  // `is_last_try`: jobs have given nothing back, so that deletes may use nearly all of the reserve.
  Status CheckRoomForBatch(std::uint64_t bytes, bool only_deletes, bool is_last_try)
      CAMBIUM_REQUIRES(append_lock);
  // Before a batch of deletes on a full disk; the caller holds no lock. Waits for a rescue if one is due.
  void MakeRoomForDeletes();
  // Waits until the jobs have freed what they can. The caller holds no lock.
  void AwaitRescue();

  // ---- When there is no space ----

  // A write, or a job, has found no space. The caller holds no lock.
  void OnNoSpace();
  // Makes the reserve, or resizes it. The job kReserve.
  Status MakeReserve();
  // For an offline compaction: it uses the space of the reserve; the next Open makes it again.
  void ReleaseReserve();

  // ---- Opening and closing ----

  // Takes over the reserve that is among the files. No other thread uses the database yet.
  void AdoptReserve(const std::vector<NumberedFile>& files);
  // Removes the reserve if the new MANIFEST would not fit on the disk otherwise.
  void MakeRoomForManifest(const ManifestState& state);
  [[nodiscard]] std::uint64_t reserve_number() const;
  // The last step of Open: if the reserve had to go, the database starts on a full disk.
  void Begin(bool had_reserve);
  // No tick comes after it.
  void Close();
  // Closes the file of the reserve. No other thread uses the database any more.
  void ReleaseFile() CAMBIUM_EXCLUDES(disk_.mutex);

 private:
  [[nodiscard]] std::uint64_t BytesToLeave() const;
  Status CheckFree(std::uint64_t bytes, std::uint64_t left, std::uint64_t* free) const;
  void FreezeForReserve(std::uint64_t free) CAMBIUM_REQUIRES(append_lock);
  void StartRescue();
  Status ResizeReserve(std::uint64_t number, std::uint64_t bytes) CAMBIUM_REQUIRES(disk_.mutex);
  Status GrowReserve(std::uint64_t number, std::uint64_t has, std::uint64_t bytes, bool is_new)
      CAMBIUM_REQUIRES(disk_.mutex);
  void DropReserve() CAMBIUM_REQUIRES(disk_.mutex);
  void Tick() noexcept;
  void OnTick();

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  FullDisk& disk_;
  SpaceKeeper& space_keeper_;
  const std::shared_ptr<TickTarget<DiskKeeper>> tick_target_ = std::make_shared<TickTarget<DiskKeeper>>();
};

}  // namespace cambium
