// GcPlan: what log GC would do to a database that nobody has open, and why not more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "gc/forecast.h"
#include "gc/segment_uses.h"
#include "inspect/database.h"

namespace cambium {

// Of what a CompactRange would collect; see BlobGarbageCollectionPolicy.
struct GcRound {
  bool all = false;    // as kForce; else as kUseDefault, also where log GC is switched off
  double cutoff = -1;  // outside of [0, 1]: as the option says
};

enum class GcVerdict : std::uint8_t {
  kMoved,          // in the round: what is alive is copied, and the file goes
  kPunched,        // in the round: its dead values become holes
  kUnreferenced,   // nothing refers to it, and the next opening removes it
  kTooYoung,       // not among the oldest, of which age_cutoff says how many
  kNoGarbage,      // none to speak of: less than 4 KiB
  kLittleGarbage,  // less than the quarter that is worth a copy when nothing forces anybody
  kDamaged,        // log GC leaves it alone
  kLargeValue,     // a file of its own goes with its last reference
  kNotSealed,
  kBehindOpen,  // an older segment of the log is not sealed
  kInReplay,    // recovery would read it: flush first
};
[[nodiscard]] const char* NameOf(GcVerdict verdict);

struct GcPlanSegment {
  SegmentInfo info;
  SegmentUse use;
  double benefit = 0;
  GcVerdict verdict{};
};

struct GcPlan {
  std::vector<GcPlanSegment> segments;  // by number
  double age_cutoff = 0;
  std::size_t member_count = 0;  // of F in gc/victims.h, and how many of it are old enough
  std::size_t eligible_count = 0;
  std::uint64_t unreferenced_bytes = 0;
  GcCost punched;  // of the round
  GcCost moved;
  bool is_enabled = false;  // enable_blob_garbage_collection
  // What the database would do by itself when nobody writes: cambium.gc-forecast of one that is open and idle. With a
  // ceiling, sizes of segments and steps are those of an opening as far as accounts tell.
  GcOutlook by_itself;
};

// Once OpenFiles has read the tail. By the MANIFEST, as an opening for writing would leave it, and the footers of
// segments that have some. A damaged footer is a problem of the database, and no reason to stop. `options` and
// `families`: of the database; what is not known of them is as it is by default.
Result<GcPlan> PlanGc(InspectedDatabase* database, const DBOptions& options,
                      const std::vector<ColumnFamilyDescriptor>& families, const GcRound& round);

// Carries a round out: returns when it is done. InvalidArgument if `db` is not the library's own.
Status RunGcRound(DB* db, const GcRound& round);

}  // namespace cambium
