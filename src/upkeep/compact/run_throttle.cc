#include "upkeep/compact/run_throttle.h"

#include "util/count_scope.h"

namespace cambium {
namespace {

constexpr double kSlowdownMicrosMax = 1000;

WriteStallCondition ConditionOf(const ColumnFamilyOptions& options, double runs) {
  if (runs < options.level0_slowdown_writes_trigger) return WriteStallCondition::kNormal;
  return runs < options.level0_stop_writes_trigger ? WriteStallCondition::kDelayed : WriteStallCondition::kStopped;
}

}  // namespace

Status RunThrottle::Await(const WriteOptions& options, Family* family) {
  const ColumnFamilyOptions& its = family->options();
  const double slowdown = its.level0_slowdown_writes_trigger;
  const double stop = its.level0_stop_writes_trigger;
  const double runs = family->WaitingRuns();
  if (db_.events.is_on()) {
    db_.events.Stalls(family->name, family->id, WriteStallCause::kL0FileCountLimit, ConditionOf(its, runs));
    db_.events.Deliver();
  }
  if (runs < slowdown) return Status::OK();
  if (options.no_slowdown) {
    return Status::Incomplete(std::to_string(static_cast<std::size_t>(runs)) + " runs wait for a compaction");
  }
  const std::uint64_t start = db_.NowMicros();
  Status waited;
  if (runs < stop) {
    const double part = (runs - slowdown + 1) / (stop - slowdown + 1);
    db_.options.clock->SleepMicros(static_cast<std::uint64_t>(kSlowdownMicrosMax * part));
  } else {
    waited = AwaitSteps(family);
  }
  pace_.CountStall(db_.NowMicros() - start, false);
  return waited;
}

Status RunThrottle::AwaitSteps(Family* family) {
  const CountScope stalls(jobs_.stalled_writers());
  while (family->WaitingRuns() >= family->options().level0_stop_writes_trigger) {
    CAMBIUM_TRY(const bool has_stepped, compactor_.WaitForStep(family));
    if (!has_stepped) break;
  }
  return Status::OK();
}

}  // namespace cambium
