// SpaceKeeper: keeps the database below its ceiling. It measures the files, starts the jobs that free space, and delays
// writers until these jobs have freed some. One such round is a look. gc/space.h has the rules.
//
//   writers ──bytes──▶ SpaceControl::written ──crosses check_at──▶ Job::kLookAtSpace ──▶ Measure ──▶ PlanSpace
//      ▲                                                                                              │
//      └── slow_at, stop_at, rate ◀── a look, at most a second after each job ◀── flush, compaction, log GC, seal
//
// A writer that waits holds no lock. It waits only while some job can help, and checks again at least each millisecond.
//
// The code is in space_keeper.cc, and in space_figures.cc, which has Measure.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "cambium/options.h"
#include "gc/space.h"
#include "state/db_state.h"
#include "state/tick_target.h"
#include "upkeep/compact/compactor.h"
#include "upkeep/log_gc/collector.h"
#include "upkeep/log_gc/gc_segments.h"
#include "upkeep/pace.h"

namespace cambium {

class SpaceKeeper {
 public:
  SpaceKeeper(DbState* state, Pace* pace, Compactor* compactor, GcSegments* segments, Collector* collector);

  // Called at the end of Open: takes the first look, and starts the ticks that detect idle time.
  void Begin();
  // Once this returns, no tick runs.
  void Close();
  // Takes a look, and starts the jobs that are due after it.
  void Check();
  // Called after a job. Takes a look, and starts jobs only if the figures have changed. After a flush, a seal or a
  // removal, the look may come up to a second later.
  void CheckAfter(Job job);
  // Starts the jobs of a plan.
  void StartJobs(const SpacePlan& plan);

  // Called before a write of `bytes` bytes. If the database is near or at the ceiling, waits until jobs have freed
  // space.
  Status Await(const WriteOptions& options, std::uint64_t bytes) CAMBIUM_EXCLUDES_ROLES;
  // Starts the ticks that detect idle time, unless they are running.
  void StartTicking();
  // Flushes and seals everything after a while without writes. The job kIdle.
  Status WorkWhileIdle();
  // Computes the figures. Properties call it too.
  [[nodiscard]] SpaceFigures Measure() const CAMBIUM_REQUIRES(commit_lock);

 private:
  // Schedules the family's compaction, if one is due or must be made for space.
  void StartCompaction(const std::shared_ptr<Family>& family, bool must);
  // Of one family: the figure tail_live_bytes, and the memtables that are not empty.
  struct TailOfFamily {
    std::uint64_t live_bytes = 0;
    std::vector<const MemTable*> tables;
  };
  // Add a family's memtables, and its layers, to the figures.
  TailOfFamily MeasureTables(const FamilyView& view, SpaceFigures* figures) const;
  void MeasureLayers(const FamilyView& view, const FamilySums& sums, const TailOfFamily& tail,
                     SpaceFigures* figures) const
      CAMBIUM_REQUIRES(commit_lock);
  // Measures, plans, and sets the limits for writers.
  void Look() CAMBIUM_REQUIRES(commit_lock);
  void LookAndStartJobs(bool after_job);
  // Sets the grain of the families' samples.
  void SetSampleGrain() CAMBIUM_REQUIRES(commit_lock);
  // Tells each index how much of the slack it may take.
  void ShareRoom() CAMBIUM_REQUIRES(commit_lock);
  // Sets how much space puts must leave for compactions on a full disk.
  void SumCompactionRoom() CAMBIUM_REQUIRES(commit_lock);
  void SetRoom(Family* family, const IndexRoom& room) CAMBIUM_REQUIRES(commit_lock);
  // Whether a look is worth its time: enough was written since the last one, or space is short.
  [[nodiscard]] bool IsLookDue() CAMBIUM_EXCLUDES(commit_lock);
  // Makes sure that a look is taken within a second.
  void ScheduleLateLook() noexcept;
  // Decides whether jobs can still make the database smaller; if not, writers no longer wait for them. `no_job_left`:
  // no job that frees space is scheduled, so every job that an earlier look started has ended.
  void Judge(std::uint64_t on_disk, std::int64_t others, bool no_job_left) CAMBIUM_REQUIRES(commit_lock);
  void EstimateHidden() CAMBIUM_REQUIRES(commit_lock);
  void ScheduleLookIfDue();
  Status PassWithoutWait(std::uint64_t position, std::uint64_t bytes);
  Status SleepUntilSpace(std::uint64_t bytes);
  // Bytes per second for writers at `position`, between slow_at and stop_at.
  [[nodiscard]] double Rate(std::uint64_t position, std::uint64_t slow_at, std::uint64_t stop_at) const;
  [[nodiscard]] std::uint64_t Now() const;  // microseconds
  // Schedules a look unless a job that frees space is scheduled.
  void LookUnlessFreeing();
  bool IsSpaceComing(bool* has_looked);
  void RunOrAwaitJob();
  void Tick(std::uint64_t written, int quiet) noexcept;
  void OnTick(std::uint64_t written, int quiet);

  DbContext& db_;
  Jobs& jobs_;
  CommitPoint& commits_;
  WriteHead& head_;
  SpaceControl& space_;
  FullDisk& disk_;
  SnapshotList& snapshots_;
  const std::atomic<int>& iterator_count_;
  const ValuePins& value_pins_;
  Pace& pace_;
  Compactor& compactor_;
  GcSegments& segments_;
  Collector& collector_;
  std::atomic<bool> has_late_look_{false};  // one is scheduled
  // The count of written bytes up to which range deletes count as frequent.
  std::uint64_t range_deletes_until_ CAMBIUM_GUARDED_BY(commit_lock) = 0;
  bool bounds_indexes_ CAMBIUM_GUARDED_BY(commit_lock) = false;  // ShareRoom gives them less than they may want
  std::uint64_t coarsened_to_ CAMBIUM_GUARDED_BY(commit_lock) = 0;  // the grain of the coarsest sample
  const std::shared_ptr<TickTarget<SpaceKeeper>> tick_target_ = std::make_shared<TickTarget<SpaceKeeper>>();
};

}  // namespace cambium
