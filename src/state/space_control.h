// SpaceControl: the size of the database at SpaceKeeper's last look, and the limits for writers that follow from it.
// Writers read the limits without a lock. The next look compares its figures with those kept here. The rules are in
// gc/space.h.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <limits>

#include "gc/space.h"
#include "gc/write_pacer.h"
#include "state/lock_roles.h"
#include "state/live_sample.h"
#include "util/mutant.h"

namespace cambium {

// Counts the bytes that a job writes as in flight, until the job ends, whatever its result.
class InFlight {
 public:
  explicit InFlight(std::atomic<std::uint64_t>* total) : total_(total) {}
  ~InFlight() {
    [[maybe_unused]] const std::uint64_t before = total_->fetch_sub(bytes_, std::memory_order_relaxed);
    assert(before >= bytes_);
  }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;
  void Add(std::uint64_t bytes) {
    bytes_ += bytes;
    total_->fetch_add(bytes, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t>* const total_;
  std::uint64_t bytes_ = 0;
};

struct SpaceControl {
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  // All bytes that writers have put into files since Open: a clock that advances with them. Written under the append
  // lock, and by calls that write files of large values.
  std::atomic<std::uint64_t> written{0};
  // All bytes that background jobs have written since Open.
  std::atomic<std::uint64_t> job_bytes{0};
  // Bytes of files that background jobs are writing now and that no MANIFEST names yet, except those in gc_in_flight.
  // SpaceFigures does not count them yet.
  std::atomic<std::uint64_t> in_flight{0};
  // Bytes of such files that log GC, except clustering, is writing now.
  std::atomic<std::uint64_t> gc_in_flight{0};
  // Bytes of segments that were dropped, but not yet removed at the last look.
  std::atomic<std::uint64_t> gc_leaving{0};
  // SpacePlan::step_room: only what the sum of gc_in_flight and gc_leaving exceeds this by holds writers back.
  std::atomic<std::uint64_t> step_room{0};
  // The present time by the clock of `written`, to which bytes in flight are added.
  [[nodiscard]] std::uint64_t Position() const {
    const std::uint64_t by_gc = gc_in_flight.load(std::memory_order_relaxed) + gc_leaving.load(std::memory_order_relaxed);
    const std::uint64_t room = MutantIs(Mutant::kGcStepStopsWriters) ? 0 : step_room.load(std::memory_order_relaxed);
    return written.load(std::memory_order_relaxed) + in_flight.load(std::memory_order_relaxed) + by_gc -
           std::min(by_gc, room);
  }
  // At check_at the next look is due: writers compare it with `written`, jobs with Position(). If Position() reaches
  // slow_at, writers are slowed down; if it reaches stop_at, they wait. Background jobs set all three.
  std::atomic<std::uint64_t> check_at{kNever};
  std::atomic<std::uint64_t> slow_at{kNever};
  std::atomic<std::uint64_t> stop_at{kNever};
  // Until Position() reaches this, no job is expected to make the database smaller, and writers do not wait. Then
  // SpaceKeeper::Judge decides again.
  std::atomic<std::uint64_t> hopeless_until{0};
  [[nodiscard]] bool IsHopeless() const { return Position() < hopeless_until.load(std::memory_order_relaxed); }
  std::atomic<double> freed_per_second{64e6};
  std::atomic<std::uint64_t> segment_bytes{0};  // size of the next log segment; 0: blob_file_size
  std::atomic<std::uint64_t> sample_grain{LiveSample::kGrainLeast};  // of Family::live_sample
  std::atomic<std::uint64_t> step_bytes{0};     // output of the next step of log GC or of a compaction
  std::atomic<std::uint64_t> index_file_percent_max{200};  // for the next step of a sweep
  std::atomic<bool> is_bound_by_disk{false};  // SpacePlan's
  std::atomic<bool> is_short{false};    // log GC takes every segment with garbage
  std::atomic<bool> is_idle{false};     // nothing was written for a while
  std::atomic<bool> is_ticking{false};  // a check whether anything was written is scheduled
  WritePacer pacer;

  SpaceFigures figures CAMBIUM_GUARDED_BY(commit_lock);  // of the last look
  std::uint64_t written_at_look CAMBIUM_GUARDED_BY(commit_lock) = 0;
  std::uint64_t job_bytes_at_look CAMBIUM_GUARDED_BY(commit_lock) = 0;
  SpacePlan plan CAMBIUM_GUARDED_BY(commit_lock);
  // `others`: the bytes on disk at a look, minus `written` at that moment. It falls only if jobs have freed space.
  static constexpr std::int64_t kNothingYet = std::numeric_limits<std::int64_t>::max();
  std::int64_t others CAMBIUM_GUARDED_BY(commit_lock) = kNothingYet;  // of the last look
  // `others` at the last look at which there was no job to wait for.
  std::int64_t others_when_idle CAMBIUM_GUARDED_BY(commit_lock) = kNothingYet;
  std::uint64_t last_freed_micros CAMBIUM_GUARDED_BY(commit_lock) = 0;  // when log GC last freed a segment
};

}  // namespace cambium
