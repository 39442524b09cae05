// ScanHeat: where in a family's key space scans have had to jump in the log, because neighbours by key are not
// neighbours there. A histogram over the keys. Its bounds (marks) follow the scans: each slow scan adds the keys where
// it began and ended; if there are too many marks, neighbours are joined.
//
//   jumps  │  3 │ 41 │ 40 │ 2 │
//   keys   b    f    g    m   x
//
// Kept in memory only, not in the database: hot ranges are soon rewritten, and after an Open scans find them again.
// Pages cannot store it, because they never change once written.
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

// Jumps between `key` and the next mark's key.
struct HeatMark {
  std::string key;
  std::uint64_t jumps = 0;
};

// Any thread.
class ScanHeat {
 public:
  static constexpr std::size_t kMarksMax = 4096;
  static constexpr std::size_t kKeyBytesMax = 256u << 10;  // of all marks together
  // Half of the jumps are forgotten after this time: old scans predict little.
  static constexpr std::uint64_t kHalfLifeMicros = 3'600'000'000;

  explicit ScanHeat(const Comparator* comparator) : marks_(Before{comparator}) {}

  // Records `jumps` of a scan between the two keys, in either order; `to` null: up to the last key. Returns true if at
  // least `least` jumps have gathered: then a look is due, in which Clusterer searches for values to move. Each look
  // that found nothing doubles the number of jumps that the next one needs.
  bool Add(Slice from, const Slice* to, std::uint64_t jumps, std::uint64_t least);
  // Whether a look is due, as Add returns it.
  [[nodiscard]] bool IsLookDue(std::uint64_t least) const;
  // The marks from the hottest one on, by key; empty if there are none. First forgets jumps according to the time since
  // the last call; a clock that goes back forgets nothing.
  [[nodiscard]] std::vector<HeatMark> FromHottest(std::uint64_t now_micros);
  // Reports that a look found nothing worthwhile, or nothing that could be moved.
  void ReportNoWork();
  // Forgets the jumps in [begin, end): its values are in key order now. Null `end`: up to the last key.
  void Forget(Slice begin, const Slice* end);
  // Reports that a look found work: undoes ReportNoWork.
  void ReportWork();

 private:
  struct Before {
    using is_transparent = void;
    const Comparator* comparator;
    bool operator()(Slice a, Slice b) const { return comparator->Compare(a, b) < 0; }
  };

  void AddMark(Slice key, std::uint64_t jumps) CAMBIUM_REQUIRES(mutex_);
  void JoinNeighbours() CAMBIUM_REQUIRES(mutex_);

  mutable Mutex mutex_;  // a leaf: no other lock is taken under it
  std::map<std::string, std::uint64_t, Before> marks_ CAMBIUM_GUARDED_BY(mutex_);
  std::size_t key_bytes_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::uint64_t total_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::uint64_t next_look_at_ CAMBIUM_GUARDED_BY(mutex_) = 0;   // value of total_, after a look that found nothing
  std::uint64_t cooled_micros_ CAMBIUM_GUARDED_BY(mutex_) = 0;  // when jumps were last halved; 0: never
};

}  // namespace cambium
