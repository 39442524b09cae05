// Edit: one step from a ManifestState to the next, all of it or nothing. It is the payload of a MANIFEST record.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

// Of one family. Unset optionals change nothing.
struct FamilyEdit {
  std::uint32_t id = 0;
  // Set for a new family only.
  struct Creation {
    std::string name;
    IndexType index_type = IndexType::kBTree;
    std::string comparator;
    std::uint64_t page_size = 0;
  };
  std::optional<Creation> create;
  std::optional<SequenceNumber> flushed_sequence;
  std::vector<RunInfo> add_runs;  // files that become layers; their place is given by `layers`
  // The whole stack after the edit, newest first, whenever it changes. Runs that are no longer in it are dropped.
  std::optional<std::vector<std::uint64_t>> layers;
  std::optional<TreeRoot> root;
  bool end_sweep = false;
  std::optional<SweepState> sweep;                    // begins one, or moves its cursor forward
  std::vector<IndexSegmentInfo> set_index_segments;   // new ones, or new length and live units
  std::vector<std::uint64_t> drop_index_segments;
  AccountDelta accounts;
};

struct Edit {
  // Set in the first record of a MANIFEST only.
  std::optional<Id128> database_id;
  std::optional<std::uint64_t> epoch;
  std::optional<std::uint64_t> next_file_number;
  std::optional<SequenceNumber> last_sequence;
  std::optional<SequenceNumber> durable_sequence;
  std::optional<LogPosition> replay;
  std::optional<bool> clean_shutdown;
  std::vector<FamilyEdit> families;
  std::vector<SegmentInfo> set_segments;  // new ones, or sealed now
  std::vector<std::uint64_t> drop_segments;
};

// Tagged fields, so that later versions can add some. A decoder refuses tags it does not know (NotSupported): an edit
// understood in part is a state that nobody committed.
[[nodiscard]] std::string EncodeEdit(const Edit& edit);
Result<Edit> DecodeEdit(Slice bytes);

// Applies `edit`; Corruption if it does not fit the state (drops what is not there, moves a cursor or the replay
// position back, an account below zero, ...), then *state is unspecified.
Status ApplyEdit(const Edit& edit, ManifestState* state);

// The edit that makes `state` out of nothing.
[[nodiscard]] Edit SnapshotEdit(const ManifestState& state);

}  // namespace cambium
