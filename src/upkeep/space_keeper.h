// SpaceKeeper: keeps the database below its ceiling: measures it, starts the jobs that free space, and delays writers
// until these jobs have freed some. gc/space.h has the rules.
//
//   writers ──bytes──▶ SpaceControl::written ──crosses check_at──▶ Job::kLookAtSpace ──▶ Measure ──▶ PlanSpace
//      ▲                                                                                              │
//      └────────── slow_at, stop_at, rate ◀────── each job looks at its end ◀─── flush, compaction, log GC, seal
//
// A writer that waits holds no lock, waits only while some job can help, and checks again at least each millisecond.
//
// In space_keeper.cc; space_figures.cc measures the database.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "cambium/options.h"
#include "gc/space.h"
#include "state/db_state.h"
#include "state/tick_target.h"
#include "upkeep/collector.h"
#include "upkeep/compactor.h"
#include "upkeep/gc_segments.h"
#include "upkeep/pace.h"

namespace cambium {

class SpaceKeeper {
 public:
  SpaceKeeper(DbState* state, Pace* pace, Compactor* compactor, GcSegments* segments, Collector* collector);

  // Called at the end of Open: takes the first look, and starts the ticks that detect idle time.
  void Begin();
  // After it returns, no tick runs.
  void Close();
  // Takes a look, and starts the jobs that the figures call for.
  void Check();
  // The same after a job: starts jobs only if the figures have changed. If the job has freed nothing, the look may come
  // up to a second later.
  void CheckAfter(Job job);
  // Starts the jobs of a plan.
  void StartJobs(const SpacePlan& plan);

  // Called before a write of `bytes` bytes. Waits at the ceiling.
  Status Await(const WriteOptions& options, std::uint64_t bytes) CAMBIUM_EXCLUDES_ROLES;
  // Starts the ticks that detect idle time, unless they are running.
  void StartTicking();
  // Flushes and seals everything after a while without writes. The job kIdle.
  Status WorkWhileIdle();
  // Measures the figures, also for properties.
  [[nodiscard]] SpaceFigures Measure() const CAMBIUM_REQUIRES(commit_lock);

 private:
  // Add a family's memtables, and its layers, to the figures.
  void MeasureTables(const FamilyView& view, double bytes_per_reference, SpaceFigures* figures) const;
  void MeasureLayers(const FamilyView& view, const FamilySums& sums, SpaceFigures* figures) const
      CAMBIUM_REQUIRES(commit_lock);
  // Measures, plans, and sets the limits for writers.
  void Look() CAMBIUM_REQUIRES(commit_lock);
  void LookAndStartJobs(bool after_job);
  // Tells each index how much of the slack it may take.
  void ShareRoom() CAMBIUM_REQUIRES(commit_lock);
  // Says how much puts leave for compactions.
  void SumCompactionRoom() CAMBIUM_REQUIRES(commit_lock);
  void SetRoom(Family* family, const IndexRoom& room) CAMBIUM_REQUIRES(commit_lock);
  // Whether enough was written since the last look, or space is so short, that a look is worth its time.
  [[nodiscard]] bool IsLookDue() CAMBIUM_EXCLUDES(commit_lock);
  // Makes sure that a look is taken within a second.
  void ScheduleLateLook() noexcept;
  // Decides whether jobs can still reduce the size. `no_job_left`: no job that frees space is scheduled, so all that an
  // earlier look started have ended.
  void Judge(std::uint64_t on_disk, std::int64_t others, bool no_job_left) CAMBIUM_REQUIRES(commit_lock);
  void EstimateHidden() CAMBIUM_REQUIRES(commit_lock);
  void ScheduleLookIfDue();
  Status PassWithoutWait(std::uint64_t position, std::uint64_t bytes);
  Status SleepUntilSpace(std::uint64_t bytes);
  // Bytes per second for writers at `position`, between slow_at and stop_at.
  [[nodiscard]] double Rate(std::uint64_t position, std::uint64_t slow_at, std::uint64_t stop_at) const;
  [[nodiscard]] std::uint64_t Now() const;  // microseconds
  // Makes sure that a job is scheduled that looks or frees space.
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
  Pace& pace_;
  Compactor& compactor_;
  GcSegments& segments_;
  Collector& collector_;
  std::atomic<bool> has_late_look_{false};  // one is scheduled
  bool bounds_indexes_ CAMBIUM_GUARDED_BY(commit_lock) = false;  // ShareRoom gives them less than they may want
  const std::shared_ptr<TickTarget<SpaceKeeper>> tick_target_ = std::make_shared<TickTarget<SpaceKeeper>>();
};

}  // namespace cambium
