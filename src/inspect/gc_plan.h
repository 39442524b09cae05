// A GcPlan says what log GC would do with each segment of a closed database, and why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "gc/forecast.h"
#include "gc/segment_uses.h"
#include "inspect/database.h"

namespace cambium {

// One round of log GC, as CompactRange makes it; see BlobGarbageCollectionPolicy.
struct GcRound {
  bool all = false;    // as kForce; otherwise as kUseDefault, even if log GC is off
  double cutoff = -1;  // outside [0, 1]: the option's value
};

enum class GcVerdict : std::uint8_t {
  kMoved,          // in the round: live values are relocated, and the file is removed
  kPunched,        // in the round: large dead values become holes
  kUnreferenced,   // nothing refers to it; the next Open for writing removes it
  kTooYoung,       // not among the oldest segments; age_cutoff says what part of all they are
  kNoGarbage,      // less than 4 KiB of garbage
  kLittleGarbage,  // less than a quarter: too little to copy the rest while space is not short
  kDamaged,        // log GC leaves it alone
  kLargeValue,     // the file of a large value: removed with its last reference
  kNotSealed,
  kAfterUnsealed,  // an older segment of the log is not sealed
  kInReplay,       // recovery would read it: flush first
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
  std::size_t member_count = 0;    // number of segments in F, see gc/victims.h
  std::size_t eligible_count = 0;  // number of these that are old enough
  std::uint64_t unreferenced_bytes = 0;
  GcCost punched;  // by the round
  GcCost moved;    // by the round
  bool is_enabled = false;  // enable_blob_garbage_collection
  // The forecast of idle work: the property cambium.gc-forecast of the open database would have the same value. With a
  // ceiling, sizes of segments and steps are computed from the accounts, as after Open.
  GcOutlook by_itself;
};

// Makes the plan from the MANIFEST as Open for writing would leave it, and from the footers of segments. OpenFiles must
// have read the tail. Notes a damaged footer as a problem and continues. `options` and `families` are the database's,
// with defaults for unknown ones.
Result<GcPlan> PlanGc(InspectedDatabase* database, const DBOptions& options,
                      const std::vector<ColumnFamilyDescriptor>& families, const GcRound& round);

// Runs a round and returns when it is finished. InvalidArgument if `db` was not opened by this library.
Status RunGcRound(DB* db, const GcRound& round);

}  // namespace cambium
