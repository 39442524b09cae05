// SpaceControl: what the background has found out of the database's size, for writers that look without a lock, and what
// it remembers from one look to the next. The rules are in gc/space.h, who looks is in db_space.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>

#include "gc/space.h"
#include "gc/write_pacer.h"

namespace cambium {

class DbImpl;

// What a job has in flight, until it ends one way or the other.
class InFlight {
 public:
  explicit InFlight(std::atomic<std::uint64_t>* total) : total_(total) {}
  ~InFlight() { total_->fetch_sub(bytes_, std::memory_order_relaxed); }
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

// A task for later may come when the database is gone.
struct TickTarget {
  std::mutex mutex;
  DbImpl* db = nullptr;  // mutex; null once it closes
};

struct SpaceControl {
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  // All bytes that writers have put into files since the database was opened: a clock that goes with them. Written
  // under append_mutex_, and by those who write files of large values.
  std::atomic<std::uint64_t> written{0};
  // Of files that background jobs are writing now, which no MANIFEST names yet: what no figure has.
  std::atomic<std::uint64_t> in_flight{0};
  // How far writers and jobs have come since the last look, by the clock of `written`.
  [[nodiscard]] std::uint64_t Position() const {
    return written.load(std::memory_order_relaxed) + in_flight.load(std::memory_order_relaxed);
  }
  // By that clock: when somebody has to look at the figures again, when writers are slowed down, when they wait.
  // Written by the background.
  std::atomic<std::uint64_t> check_at{kNever};
  std::atomic<std::uint64_t> slow_at{kNever};
  std::atomic<std::uint64_t> stop_at{kNever};
  std::atomic<bool> is_hopeless{false};  // no job can lower what is too high: nobody waits
  std::atomic<double> freed_per_second{64e6};
  std::atomic<std::uint64_t> segment_bytes{0};  // of the next log segment
  std::atomic<std::uint64_t> step_bytes{0};     // of the next step of log GC
  std::atomic<std::uint64_t> index_file_percent_max{200};  // for the next merge into a tree
  std::atomic<bool> is_short{false};            // log GC takes whatever has garbage
  std::atomic<bool> is_idle{false};             // nobody has written for a while
  std::atomic<bool> is_ticking{false};          // a look at whether anybody writes is scheduled
  WritePacer pacer;

  // ---- commit_mutex_ ----
  SpaceFigures figures;  // of the last look
  std::uint64_t written_at_look = 0;
  SpacePlan plan;
  // What the last look found on disk beside what writers had written, if no job was left to wait for then.
  static constexpr std::int64_t kNothingYet = std::numeric_limits<std::int64_t>::max();
  std::int64_t others_when_idle = kNothingYet;
  std::int64_t others = kNothingYet;  // the same of the last look of all
  std::uint64_t last_freed_micros = 0;       // when log GC last gave something back
};

}  // namespace cambium
