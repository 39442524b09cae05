// Edit: an atomic change of the ManifestState. It is the payload of a MANIFEST record.
//
// On disk an edit is a message of tagged fields (fields.h has their layout). Tags are part of the format. All numbers
// are varints; "id" is 16 bytes, "sum" 8 bytes, "list" a sequence of varints. [ ] is optional, * may occur any number
// of times, all others are required.
//
//   edit           [1 database id: id]  [2 epoch]  [3 next file number]  [4 last sequence]  [5 durable sequence]
//                  [6 replay: list of segment, offset, sequence]  [7 clean shutdown: 0, 1]  *8 family: message
//                  *9 set segment: message  [10 dropped segments: list]  [11 next family id]
//                  [12 dropped families: list]  [13 shadowed slots: list]
//   family         1 id  [2 creation: message]  [3 flushed sequence]  *4 added run: message  [5 layers: list]
//                  [6 root: message]  [7 end of sweep: 1]  [8 sweep: message]  *9 set index segment: message
//                  [10 dropped index segments: list]
//                  [11 accounts: list of slot, references, bytes; slots ascend, the other two are zigzag]
//                  [12 placed runs: list of number, level, tier]  [13 dropped level runs: list]
//                  [14 versions since]
//   creation       1 name  2 index type  3 comparator  4 page size
//   run            1 number  2 kind  3 file id: id  4 root: message  5 tombstones  6 file size  7 footer checksum: sum
//                  8 smallest key  9 largest key  10 range deletes  11 largest is open: 0, 1  [12 page size]
//   root           1 page id  2 page checksum: sum  3 height  4 entry count  5 value bytes
//   sweep          1 runs: list  2 cursor
//   segment        1 number  2 slot  3 kind  4 file id: id  5 epoch  6 sealed: 0, 1  7 has footer: 0, 1
//                  8 sealed length  9 file size  10 last sequence  11 generation
//                  [12 punched: list of offsets, each as the distance from the one before, the first from 0]  [13 cut]
//   index segment  1 number  2 file id: id  3 length  4 live units
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

// The change of one family. Unset optionals and empty lists change nothing.
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
  std::vector<RunInfo> add_runs;  // new layers; `layers` or `place_runs` gives their place
  // Set if the stack changes: the whole stack after the edit, newest first. Runs of the old stack that are not in it
  // are dropped, unless place_runs has them. The others keep their order: an older run never gets above a newer one.
  std::optional<std::vector<std::uint64_t>> layers;
  // kLsm: new places of added runs, and of runs that leave the stack or another level. Runs only move down.
  struct Placement {
    std::uint64_t number = 0;
    std::uint32_t level = 0;  // 1 to kLevelMax
    std::uint64_t tier = 0;
    friend bool operator==(const Placement&, const Placement&) = default;
  };
  std::vector<Placement> place_runs;
  std::vector<std::uint64_t> drop_level_runs;
  std::optional<TreeRoot> root;
  bool end_sweep = false;                            // its runs must be dropped in the same edit
  std::optional<SweepState> sweep;                   // begins a sweep, or moves its cursor forward
  std::vector<IndexSegmentInfo> set_index_segments;  // new ones, or a new length and live units
  std::vector<std::uint64_t> drop_index_segments;    // the tree reaches no page in them any more
  AccountDelta accounts;
  std::optional<SequenceNumber> versions_since;  // from now on the family keeps versions; at most once
};

struct Edit {
  // Only in the first record of a MANIFEST.
  std::optional<Id128> database_id;
  std::optional<std::uint64_t> epoch;
  std::optional<std::uint64_t> next_file_number;
  std::optional<SequenceNumber> last_sequence;
  std::optional<SequenceNumber> durable_sequence;
  // Both or neither.
  std::optional<LogPosition> replay;
  std::optional<SequenceNumber> replay_sequence;
  std::optional<bool> clean_shutdown;
  std::vector<FamilyEdit> families;       // each family at most once
  std::vector<SegmentInfo> set_segments;  // new ones, or changed ones: sealed, with a footer, punched or cut
  std::vector<std::uint64_t> drop_segments;
  // Slots of segments that are dropped although layers refer to them: log GC has relocated the live values, and the run
  // with their new addresses lies above all entries that refer to the slot.
  std::vector<Slot> shadow_slots;
  std::optional<std::uint32_t> next_family_id;
  std::vector<std::uint64_t> drop_families;  // with their layers and accounts
};

[[nodiscard]] std::string EncodeEdit(const Edit& edit);

// Decodes an edit; any bytes are safe. Corruption if they are malformed. NotSupported if they have a tag of a later
// version: to apply only a part of an edit would make a state that was never committed. Allocates at most a small
// multiple of the size of `bytes`.
Result<Edit> DecodeEdit(Slice bytes);

// Applies `edit`. Corruption if it does not fit (apply_edit.h lists the checks); *state is then unspecified.
Status ApplyEdit(const Edit& edit, ManifestState* state);

// Returns the edit that turns an empty state into `state`.
[[nodiscard]] Edit SnapshotEdit(const ManifestState& state);

}  // namespace cambium
