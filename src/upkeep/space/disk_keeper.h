// DiskKeeper: handles a full disk. It keeps a reserve, starts the jobs that free space when the disk has none, and
// decides which writes are accepted.
//
//                        a write finds no space: the reserve is released
//        ┌───────────────┐ ──────────────────────────────────────────────▶ ┌────────────────────────────────────┐
//        │ puts, deletes │                                                  │ deletes; flush, compaction, log GC │
//        └───────────────┘ ◀────────────────────────────────────────────── │ in steps that fit; puts get NoSpace │
//                        the reserve can be made again, and more is free    └────────────────────────────────────┘
//
// Until the disk counts as full, writes leave enough space for two things: to flush all memtables, and to compact
// indexes with inline values up to the point where a compaction frees as much as it takes. So when the disk is full,
// all keys can be flushed, and a delete of any key can free space.
//
// Deletes may use a part of the released space. The rest is for the jobs that turn deletes into free space, so that
// they always have room to begin. Each time the deletes' part is used up, the next delete waits for these jobs. It
// proceeds once no job can free more, even if jobs have failed.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "state/db_state.h"
#include "state/tick_target.h"
#include "upkeep/flush/flusher.h"
#include "upkeep/space/space_keeper.h"

namespace cambium {

// Counts the waits of one write for room. The write gives up after several consecutive waits that did not reduce the
// missing space.
struct RoomWait {
  int flushes = 0;
  std::uint64_t least_missing = std::numeric_limits<std::uint64_t>::max();  // before and after waits for compactions
  int rounds = 0;
  int rounds_in_vain = 0;
};

// kAgain: the write has failed before for lack of space, and jobs have run since. kLast: they have freed nothing.
enum class WriteTry : std::uint8_t { kFirst, kAgain, kLast };

class DiskKeeper {
 public:
  DiskKeeper(DbState* state, Flusher* flusher, SpaceKeeper* space_keeper);

  // ---- Before a write ----

  // Called before a batch that grows the database. NoSpace if the disk is still full.
  Status CheckGrowth();
  // Returns NoSpace if a new file of this size would take space that other writes must leave free, and jobs
  // cannot make room for it. If they can, waits for them, or returns Incomplete if it may not wait.
  Status MakeRoomForFile(std::uint64_t bytes, bool may_wait) CAMBIUM_EXCLUDES_ROLES;
  // Called before a batch of this size is appended. Freezes memtables that take too much of the free space for their
  // flush.
  Status CheckRoomForBatch(std::uint64_t bytes, bool only_deletes, WriteTry its_try) CAMBIUM_REQUIRES(append_lock);
  // Called when a write has not found room. If the disk does not count as full yet, waits for the flush of frozen
  // memtables; if there are none, waits for compactions. The end of a flush or compaction gives back the room that was
  // kept for it. Returns false if neither makes room for a write of this size.
  bool AwaitRoom(std::uint64_t bytes, RoomWait* wait) CAMBIUM_EXCLUDES_ROLES;
  // Schedules the jobs that AwaitRoom would wait for. Returns false if there are none.
  bool StartToMakeRoom(std::uint64_t bytes) CAMBIUM_EXCLUDES_ROLES;
  // Called before a batch of deletes on a full disk. Waits for a rescue if one is due.
  void MakeRoomForDeletes() CAMBIUM_EXCLUDES_ROLES;
  // Waits until the jobs have freed what they can.
  void AwaitRescue() CAMBIUM_EXCLUDES_ROLES;

  // ---- When there is no space ----

  // Called when a write or a job has found no space.
  void OnNoSpace() CAMBIUM_EXCLUDES_ROLES;
  // Makes the reserve, or resizes it. The job kReserve.
  Status MakeReserve();
  // Releases the reserve, so that a full disk or an offline compaction can use its space. MakeReserve makes it again.
  void ReleaseReserve();

  // ---- Opening and closing ----

  // Takes over the reserve if it is among the files. Called while no other thread uses the database yet.
  void AdoptReserve(const std::vector<NumberedFile>& files);
  // Removes the reserve if the new MANIFEST would not fit on the disk otherwise.
  void MakeRoomForManifest(const ManifestState& state);
  [[nodiscard]] std::uint64_t reserve_number() const;
  // Called at the end of Open. If Open had to remove the reserve, the database starts with a full disk.
  void Begin(bool had_reserve);
  // Once this returns, no tick runs.
  void Close();
  // Closes the file of the reserve. Called when no other thread uses the database any more.
  void ReleaseFile() CAMBIUM_EXCLUDES(disk_.mutex);

 private:
  // Whether a full disk has enough free bytes for puts.
  [[nodiscard]] bool IsRoomToGoOn() const;
  [[nodiscard]] std::uint64_t BytesToLeave() const;
  [[nodiscard]] std::uint64_t BytesOfTables() const;
  // How many more bytes must be free before a write of this size leaves the space that writes must leave. Also 0 if the
  // file system does not report the free space. On a full disk 0 does not allow a put: puts are refused until the
  // reserve exists again.
  [[nodiscard]] std::uint64_t BytesMissing(std::uint64_t bytes) const;
  Status CheckFree(std::uint64_t bytes, std::uint64_t left, std::uint64_t* free) const;
  [[nodiscard]] std::vector<std::shared_ptr<Family>> FamiliesToFlush() const;
  void FreezeForReserve(std::uint64_t free, bool must) CAMBIUM_REQUIRES(append_lock);
  void StartRescue();
  void StartCompactions();
  [[nodiscard]] bool MayCompactionsHelp(std::uint64_t bytes) const;
  void AwaitCompactions(std::uint64_t bytes) CAMBIUM_EXCLUDES_ROLES;
  // Waits until `jobs_max` jobs have ended, or until no job that frees space is left. Returns false if none is left, or
  // if an error ends the wait.
  bool AwaitJobsThatFreeSpace(std::uint64_t jobs_max) CAMBIUM_EXCLUDES_ROLES;
  Status ResizeReserve(std::uint64_t number, std::uint64_t bytes) CAMBIUM_REQUIRES(disk_.mutex);
  Status GrowReserve(std::uint64_t number, std::uint64_t has, std::uint64_t bytes, bool is_new)
      CAMBIUM_REQUIRES(disk_.mutex);
  void DropReserve() CAMBIUM_REQUIRES(disk_.mutex);
  void Tick() noexcept;
  void NoteQuiet();
  void OnTick();

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  FullDisk& disk_;
  Flusher& flusher_;
  SpaceKeeper& space_keeper_;
  const std::shared_ptr<TickTarget<DiskKeeper>> tick_target_ = std::make_shared<TickTarget<DiskKeeper>>();
};

}  // namespace cambium
