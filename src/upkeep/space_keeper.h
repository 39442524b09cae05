// SpaceKeeper: the ceiling: how large the database is, which jobs that asks for, and writers that wait for these.
// gc/space.h has the rules.
//
//   writers ──bytes──▶ SpaceControl::written ──crosses check_at──▶ Job::kSpace ──▶ Measure ──▶ PlanSpace
//      ▲                                                                                              │
//      └────────── slow_at, stop_at, rate ◀────── jobs that end look again ◀──── flush, compaction, log GC, seal
//
// A writer that waits holds no lock, waits only as long as some job can help, and looks again at least each millisecond.
#pragma once

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

  // At the end of Open: the first look, and the ticks that find out whether anybody writes.
  void Begin();
  // No tick comes after it.
  void Close();
  // Looks at the figures and starts what they ask for; after a job, only if they have changed.
  void Check(bool after_job);
  // Starts the jobs of a plan.
  void StartJobs(const SpacePlan& plan);

  // Before a write of so many bytes; the caller holds no lock. Waits at the ceiling.
  Status Await(const WriteOptions& options, std::uint64_t bytes);
  // Finds out from now on whether anybody writes, unless that is under way.
  void StartTicking();
  // When nobody has written for a while: what writers have left is flushed and sealed. The job kIdle.
  Status WorkWhileIdle();
  // The figures of now, for properties.
  [[nodiscard]] SpaceFigures Measure() const CAMBIUM_REQUIRES(commit_lock);

 private:
  // What a family's memtables, and its layers, add to the figures.
  void MeasureTables(const FamilyView& view, double bytes_per_reference, SpaceFigures* figures) const;
  void MeasureLayers(const FamilyView& view, const FamilyState& state, SpaceFigures* figures) const
      CAMBIUM_REQUIRES(commit_lock);
  // Measures, plans, and tells the writers.
  void Look() CAMBIUM_REQUIRES(commit_lock);
  // Whether jobs can still lower what is too high. `no_job_left`: all that the last such look started have ended.
  void Judge(std::uint64_t on_disk, std::int64_t others, bool no_job_left) CAMBIUM_REQUIRES(commit_lock);
  void EstimateHidden() CAMBIUM_REQUIRES(commit_lock);
  void ScheduleLookIfDue();
  Status Wait(std::uint64_t bytes);
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
  const std::shared_ptr<TickTarget<SpaceKeeper>> tick_target_ = std::make_shared<TickTarget<SpaceKeeper>>();
};

}  // namespace cambium
