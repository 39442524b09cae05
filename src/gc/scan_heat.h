// ScanHeat: where in a family's keys scans have had to jump from place to place in the log, because neighbours by key are
// no neighbours there. A histogram over the keys whose bounds follow the scans: each that is slow adds one, and when there
// are too many, neighbours are joined.
//
//   jumps  │  3 │ 41 │ 40 │ 2 │
//   keys   b    f    g    m   x
//
// It is memory of a process, and no part of the database: what it tells is worth a rewrite or it is not, and after an
// opening scans tell it again. Pages cannot hold it: they never change once they are written.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "util/mutex.h"

namespace cambium {

// Jumps that began between `key` and that of the next mark.
struct HeatMark {
  std::string key;
  std::uint64_t jumps = 0;
};

// Any thread.
class ScanHeat {
 public:
  static constexpr std::size_t kMarksMax = 4096;
  static constexpr std::size_t kKeyBytesMax = 256u << 10;  // of all marks
  // Of jumps, half are forgotten after so long: an hour says little about the next day.
  static constexpr std::uint64_t kHalfLifeMicros = 3'600'000'000;

  explicit ScanHeat(const Comparator* comparator) : marks_(Before{comparator}) {}

  // A scan jumped so often between these keys, in either order; null: beyond the last one. Returns whether a look is due:
  // `least` have gathered, or, after looks that found nothing, twice as many for each of them.
  bool Add(Slice from, const Slice* to, std::uint64_t jumps, std::uint64_t least);
  // Whether Add would say so.
  [[nodiscard]] bool IsLookDue(std::uint64_t least) const;
  // The marks from the hottest one on, by key; empty if there are none. Forgets as much as the time since the last call
  // asks for; a clock that goes back forgets nothing.
  [[nodiscard]] std::vector<HeatMark> FromHottest(std::uint64_t now_micros);
  // Nothing there was worth it, or could be moved.
  void Disappoint();
  // From `begin` up to `end`, which is not meant, values lie in order. Null `end`: all that follow.
  void Forget(Slice begin, const Slice* end);
  // They do so by the last look.
  void Encourage();

 private:
  struct Before {
    using is_transparent = void;
    const Comparator* comparator;
    bool operator()(Slice a, Slice b) const { return comparator->Compare(a, b) < 0; }
  };

  void AddMark(Slice key, std::uint64_t jumps) CAMBIUM_REQUIRES(mutex_);
  void JoinNeighbours() CAMBIUM_REQUIRES(mutex_);

  mutable Mutex mutex_;  // a leaf
  std::map<std::string, std::uint64_t, Before> marks_ CAMBIUM_GUARDED_BY(mutex_);
  std::size_t key_bytes_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::uint64_t total_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_look_at_ CAMBIUM_GUARDED_BY(mutex_) = 0;   // total_, after a look that found nothing
  std::uint64_t cooled_micros_ CAMBIUM_GUARDED_BY(mutex_) = 0;  // 0: never
};

}  // namespace cambium
