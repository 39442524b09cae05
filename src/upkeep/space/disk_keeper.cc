#include "upkeep/space/disk_keeper.h"

#include <algorithm>
#include <limits>

#include "gc/punch.h"
#include "gc/reserve.h"
#include "util/count_scope.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::uint64_t kLookMicros = 1'000'000;
// After this many ticks without work, jobs count as unable to free more.
constexpr int kQuietTicks = 2;
// A write waits for at most this many jobs, because other threads may keep jobs running forever.
constexpr std::uint64_t kJobsToAwait = 256;
// A write gives up after this many waits in a row for compactions that have not made more room for it. A single wait
// may make none because a reader keeps dropped files for a moment.
constexpr int kRoundsInVainMax = 5;
constexpr int kRoundsMax = 100;
// A write waits for flushes at most this many times, because other writers may fill memtables forever.
constexpr int kFlushesMax = 16;
constexpr std::uint64_t kPauseMicros = 2'000;
// Most records of a MANIFEST of this size are outdated, so rolling it frees space.
constexpr std::uint64_t kManifestBytesToRoll = 64u << 10;

}  // namespace

DiskKeeper::DiskKeeper(DbState* state, Flusher* flusher, SpaceKeeper* space_keeper)
    : db_(state->context),
      jobs_(state->jobs),
      commits_(state->commits),
      head_(state->head),
      disk_(state->full_disk),
      flusher_(*flusher),
      space_keeper_(*space_keeper) {}

Status DiskKeeper::CheckGrowth() {
  if (!disk_.IsFull() || MutantIs(Mutant::kPutsUseReserve)) return Status::OK();
  if (IsRoomToGoOn()) jobs_.ScheduleIfPossible(Job::kReserve);
  return Status::NoSpace(db_.path + ": the disk is full; only deletes are accepted until there is space again");
}

bool DiskKeeper::IsRoomToGoOn() const {
  const std::uint64_t wanted = disk_.wanted_bytes.load(std::memory_order_relaxed);
  const std::uint64_t has = disk_.reserve_bytes.load(std::memory_order_relaxed);
  std::uint64_t free = 0;
  if (!db_.fs->FreeSpace(db_.path, &free).ok()) return true;
  const bool may_free_more =
      disk_.quiet_ticks.load(std::memory_order_relaxed) < kQuietTicks || MutantIs(Mutant::kQuietDiskStaysFull);
  return free >= FreeBytesToGoOn(wanted - std::min(has, wanted), wanted, may_free_more) +
                     disk_.compaction_room.load(std::memory_order_relaxed);
}

// The space that a write must leave free, as long as the disk does not count as full: for the part of the reserve that
// is not made yet, for compactions, and a margin.
std::uint64_t DiskKeeper::BytesToLeave() const {
  const std::uint64_t wanted = disk_.wanted_bytes.load(std::memory_order_relaxed);
  const std::uint64_t has = disk_.reserve_bytes.load(std::memory_order_relaxed);
  return kFreeBytesLeft + wanted - std::min(has, wanted) + disk_.compaction_room.load(std::memory_order_relaxed);
}

// Returns an upper bound of the bytes that the flush of all memtables takes: a run takes no more bytes than its
// memtable, plus some partly filled pages and blocks.
std::uint64_t DiskKeeper::BytesOfTables() const {
  std::uint64_t bytes = 0;
  const ViewLook view(commits_.view());
  for (const FamilyView& each : view->families) {
    if (each.family->dropped.load(std::memory_order_relaxed)) continue;
    const std::uint64_t of_run = 2 * each.family->options().page_size + kPunchBlock;
    if (!each.active->empty()) bytes += each.active->memory_bytes() + of_run;
    for (const FrozenTable& frozen : each.frozen) bytes += frozen.table->memory_bytes() + of_run;
  }
  return bytes;
}

Status DiskKeeper::CheckFree(std::uint64_t bytes, std::uint64_t left, std::uint64_t* free) const {
  if (!db_.fs->FreeSpace(db_.path, free).ok()) *free = std::numeric_limits<std::uint64_t>::max();
  if (*free >= bytes + left || MutantIs(Mutant::kPutsUseReserve)) return Status::OK();
  return Status::NoSpace(db_.path + ": " + std::to_string(*free) + " bytes are free on the disk, and " +
                         std::to_string(bytes) + " more would not leave " + std::to_string(left));
}

Status DiskKeeper::MakeRoomForFile(std::uint64_t bytes, bool may_wait) {
  if (disk_.wanted_bytes.load(std::memory_order_relaxed) == 0) return Status::OK();
  disk_.look_at.store(0, std::memory_order_relaxed);  // logged_bytes counts the file later
  for (RoomWait wait;;) {
    std::uint64_t free = 0;
    const std::uint64_t of_tables = BytesOfTables();
    const Status fits = CheckFree(bytes, BytesToLeave() + of_tables, &free);
    if (fits.ok() || disk_.IsFull()) return fits;
    if (of_tables > 0 && free >= bytes + BytesToLeave()) {
      const AppendLock lock(head_);
      FreezeForReserve(free, /*must=*/true);
    }
    if (!may_wait) {
      return StartToMakeRoom(bytes) ? Status::Incomplete("the room on the disk is kept for a flush or a compaction") : fits;
    }
    if (!AwaitRoom(bytes, &wait)) {
      CAMBIUM_RETURN_IF_ERROR(jobs_.Health());
      return fits;
    }
  }
}

// A delete that is tried again is judged as on a full disk, even if the reserve has been filled again meanwhile and the
// disk no longer counts as full. So it may take the space that puts leave for compactions.
Status DiskKeeper::CheckRoomForBatch(std::uint64_t bytes, bool only_deletes, WriteTry its_try) {
  const std::uint64_t wanted = disk_.wanted_bytes.load(std::memory_order_relaxed);
  if (wanted == 0) return Status::OK();
  std::uint64_t free = 0;
  if (disk_.IsFull() && !only_deletes) return CheckGrowth();
  const bool has_failed = its_try != WriteTry::kFirst && !MutantIs(Mutant::kRetriedDeletesLeaveRoom);
  if (disk_.IsFull() || (only_deletes && has_failed)) {
    const std::uint64_t parts = its_try == WriteTry::kLast ? 8 : 4;  // the last try may take nearly all of it
    const std::uint64_t for_keys = its_try == WriteTry::kLast ? 0 : disk_.bytes_for_keys.load(std::memory_order_relaxed);
    const std::uint64_t releasable = FullDisk::Releasable(wanted);
    const std::uint64_t left = (releasable - std::min(releasable, for_keys)) / parts + for_keys;
    return CheckFree(bytes, left + BytesOfTables(), &free);
  }
  const std::uint64_t logged = head_.logged_bytes();
  if (logged + bytes < disk_.look_at.load(std::memory_order_relaxed)) return Status::OK();
  const std::uint64_t tables = MutantIs(Mutant::kPutsLeaveNoRoomForFlush) ? 0 : BytesOfTables();
  const std::uint64_t left = BytesToLeave() + tables;
  const Status fits = CheckFree(bytes, left, &free);
  // Whether the batch would find room once all memtables are flushed.
  const bool fits_flushed = !fits.ok() && free >= bytes + BytesToLeave();
  FreezeForReserve(free, fits_flushed);
  CAMBIUM_RETURN_IF_ERROR(fits);
  disk_.look_at.store(logged + BytesUntilNextLook(free - std::min(free, left)), std::memory_order_relaxed);
  return Status::OK();
}

// The fuller the disk is, the smaller this keeps the memtables: in the end their flush must fit.
void DiskKeeper::FreezeForReserve(std::uint64_t free, bool must) {
  const ViewLook view(commits_.view());
  std::uint64_t in_tables = 0;
  for (const FamilyView& each : view->families) in_tables += each.active->memory_bytes();
  if (!must && in_tables <= TableBytesMax(free, BytesToLeave())) return;
  for (const FamilyView& each : view->families) {
    Family& family = *each.family;
    if (family.dropped.load(std::memory_order_relaxed) || family.active->empty() || !each.frozen.empty()) continue;
    head_.Freeze(&family, FlushReason::kSpace);
  }
}

std::vector<std::shared_ptr<Family>> DiskKeeper::FamiliesToFlush() const {
  std::vector<std::shared_ptr<Family>> families;
  if (disk_.IsFull()) return families;
  const ViewLook view(commits_.view());
  for (const FamilyView& each : view->families) {
    if (!each.frozen.empty() && !each.family->dropped.load(std::memory_order_relaxed)) families.push_back(each.family);
  }
  return families;
}

bool DiskKeeper::StartToMakeRoom(std::uint64_t bytes) {
  if (disk_.IsFull()) return false;
  const std::vector<std::shared_ptr<Family>> families = FamiliesToFlush();
  for (const std::shared_ptr<Family>& family : families) jobs_.Schedule(Job::kFlush, family);
  if (families.empty()) {
    if (!MayCompactionsHelp(bytes)) return false;
    StartCompactions();
  }
  const JobsLock lock(jobs_);
  return jobs_.HasJobThatFreesSpace();
}

bool DiskKeeper::AwaitRoom(std::uint64_t bytes, RoomWait* wait) {
  if (disk_.IsFull()) return false;
  const CountScope stalls(jobs_.stalled_writers());
  const std::vector<std::shared_ptr<Family>> families = FamiliesToFlush();
  if (!families.empty() && wait->flushes < kFlushesMax) {
    ++wait->flushes;
    bool has_flushed = false;
    for (const std::shared_ptr<Family>& family : families) {
      has_flushed = flusher_.WaitFor(family.get(), 0).ok() || has_flushed;
    }
    return has_flushed;
  }
  if (!MayCompactionsHelp(bytes)) return false;
  wait->least_missing = std::min(wait->least_missing, BytesMissing(bytes));
  AwaitCompactions(bytes);
  const std::uint64_t missing = BytesMissing(bytes);
  const bool is_nearer = missing + kPunchBlock <= wait->least_missing;
  wait->least_missing = std::min(wait->least_missing, missing);
  wait->rounds_in_vain = is_nearer ? 0 : wait->rounds_in_vain + 1;
  if (!is_nearer && missing > 0) db_.options.clock->SleepMicros(kPauseMicros);
  return wait->rounds_in_vain < kRoundsInVainMax && ++wait->rounds < kRoundsMax;
}

// Compactions give back no more than the room that is kept for them.
bool DiskKeeper::MayCompactionsHelp(std::uint64_t bytes) const {
  const std::uint64_t room = disk_.compaction_room.load(std::memory_order_relaxed);
  return disk_.wanted_bytes.load(std::memory_order_relaxed) != 0 && room > 0 && BytesMissing(bytes) <= room;
}

std::uint64_t DiskKeeper::BytesMissing(std::uint64_t bytes) const {
  std::uint64_t free = 0;
  if (!db_.fs->FreeSpace(db_.path, &free).ok()) return 0;
  const std::uint64_t needed = bytes + BytesToLeave() + BytesOfTables();
  return needed - std::min(needed, free);
}

void DiskKeeper::StartCompactions() {
  SpacePlan plan;
  plan.compact = true;
  space_keeper_.StartJobs(plan);
}

void DiskKeeper::AwaitCompactions(std::uint64_t bytes) {
  const CountScope waiting(&disk_.waiting_for_room);
  StartCompactions();
  for (std::uint64_t jobs = 0; jobs < kJobsToAwait && BytesMissing(bytes) > 0; ++jobs) {
    if (!AwaitJobsThatFreeSpace(1)) return;
  }
}

void DiskKeeper::MakeRoomForDeletes() {
  if (head_.logged_bytes() < disk_.rescue_at.load(std::memory_order_relaxed)) return;
  AwaitRescue();
}

void DiskKeeper::OnNoSpace() {
  if (db_.read_only || db_.is_offline || jobs_.is_closing()) return;  // an offline compaction ends with the error
  const std::uint64_t had = disk_.reserve_bytes.load(std::memory_order_relaxed);
  if (had == 0 && disk_.wanted_bytes.load(std::memory_order_relaxed) == 0) return;
  if (disk_.is_on.exchange(true)) return;
  disk_.quiet_ticks.store(0);
  ReleaseReserve();
  commits_.RollSoon(kManifestBytesToRoll);
  const std::uint64_t has = disk_.reserve_bytes.load(std::memory_order_relaxed);
  db_.logger->Log(InfoLogLevel::kWarn, "the disk is full: " + std::to_string(had - std::min(has, had)) +
                                        " bytes of the reserve are released, and only deletes are accepted");
  if (!disk_.is_ticking.exchange(true)) Tick();
  StartRescue();
}

// Starts the jobs that free space: flushes, seals, compactions, and log GC of segments that there is room to empty.
void DiskKeeper::StartRescue() {
  disk_.rescue_at.store(head_.logged_bytes() + disk_.StepBytes(), std::memory_order_relaxed);
  SpacePlan plan;
  plan.flush = plan.seal = plan.compact = plan.collect = true;
  {
    const ViewLook view(commits_.view());
    for (const FamilyView& each : view->families) {
      each.family->emptied_in_vain.store(false, std::memory_order_relaxed);
    }
  }
  space_keeper_.StartJobs(plan);
}

void DiskKeeper::AwaitRescue() {
  StartRescue();
  const CountScope stalls(jobs_.stalled_writers());
  static_cast<void>(AwaitJobsThatFreeSpace(kJobsToAwait));
}

bool DiskKeeper::AwaitJobsThatFreeSpace(std::uint64_t jobs_max) {
  const auto ended = [this]() CAMBIUM_REQUIRES(jobs_lock) {
    std::uint64_t sum = 0;
    jobs_.ForEach([&sum](Job, const std::shared_ptr<Family>&, const JobState* state) { sum += state->ended; });
    return sum;
  };
  std::uint64_t seen = 0;
  {
    const JobsLock lock(jobs_);
    seen = ended();
  }
  bool is_job_left = false;
  const Status waited = jobs_.WaitUntil([&]() CAMBIUM_REQUIRES(jobs_lock) {
    is_job_left = jobs_.HasJobThatFreesSpace();
    return !is_job_left || ended() - seen >= jobs_max;
  });
  return waited.ok() && is_job_left;  // the write itself reports a fatal error
}

void DiskKeeper::Tick() noexcept {
  try {
    db_.executor->ScheduleAfter(kLookMicros, TaskPriority::kNormal, [target = tick_target_] {
      const MutexLock lock(target->mutex);
      if (target->owner != nullptr) target->owner->OnTick();
    });
  } catch (...) {  // no memory for the task; the next put, or the end of the next job, checks again
    disk_.is_ticking.store(false);
  }
}

// Between two jobs of a rescue there may be a moment in which no job is scheduled. So jobs count as unable to free more
// only if nothing has happened for some ticks, each of which has started a rescue.
void DiskKeeper::NoteQuiet() {
  std::uint64_t free = 0;
  static_cast<void>(db_.fs->FreeSpace(db_.path, &free));
  const std::uint64_t logged = head_.logged_bytes();
  const JobsLock lock(jobs_);
  const bool is_quiet = !jobs_.HasJobThatFreesSpace() && free == disk_.free_at_tick && logged == disk_.logged_at_tick;
  disk_.free_at_tick = free;
  disk_.logged_at_tick = logged;
  disk_.quiet_ticks.store(is_quiet ? disk_.quiet_ticks.load() + 1 : 0);
}

void DiskKeeper::OnTick() {
  if (!disk_.is_on.load()) {
    disk_.is_ticking.store(false);
    // The disk may have become full just now, while this tick still counted as going on.
    if (!disk_.is_on.load() || disk_.is_ticking.exchange(true)) return;
  }
  NoteQuiet();
  disk_.is_rescue_due.store(true);
  jobs_.ScheduleIfPossible(Job::kReserve);
  Tick();
}

void DiskKeeper::Begin(bool had_reserve) {
  if (db_.is_offline) return;
  tick_target_->Set(this);
  if (had_reserve && reserve_number() == 0) {
    OnNoSpace();
  } else if (disk_.IsReserveDue()) {
    jobs_.Schedule(Job::kReserve);
  }
}

void DiskKeeper::Close() { tick_target_->Set(nullptr); }

}  // namespace cambium
