// Edit: one step from a ManifestState to the next, all of it or nothing. It is the payload of a MANIFEST record.
//
// On disk an edit is a message of tagged fields; fields.h says how those are laid out. Tags are part of the format. All
// numbers are varints; "id" is 16 bytes, "sum" 8 bytes, "list" varints one behind the other. [ ] may be absent, * may
// be there any number of times, all others must be there.
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
//   creation       1 name  2 index type  3 comparator  4 page size
//   run            1 number  2 kind  3 file id: id  4 root: message  5 tombstones  6 file size  7 footer checksum: sum
//                  8 smallest key  9 largest key  10 range deletes  11 largest is open: 0, 1
//   root           1 page id  2 page checksum: sum  3 height  4 entry count  5 value bytes
//   sweep          1 runs: list  2 cursor
//   segment        1 number  2 slot  3 kind  4 file id: id  5 epoch  6 sealed: 0, 1  7 has footer: 0, 1
//                  8 sealed length  9 file size  10 last sequence  11 generation
//                  12 punched: distances of the offsets, the first from 0
//   index segment  1 number  2 file id: id  3 length  4 live units
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

// Of one family. Unset optionals and empty lists change nothing.
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
  // The whole stack after the edit, newest first, whenever it changes. Runs that are no longer in it are dropped,
  // unless place_runs has them. Those that stay keep their order: nothing that is older ever gets above something newer.
  std::optional<std::vector<std::uint64_t>> layers;
  // kLsm: added runs, or runs that left the stack or another level, and where they lie now. Runs only go down.
  struct Placement {
    std::uint64_t number = 0;
    std::uint32_t level = 0;  // 1 to kLevelMax
    std::uint64_t tier = 0;
    friend bool operator==(const Placement&, const Placement&) = default;
  };
  std::vector<Placement> place_runs;
  std::vector<std::uint64_t> drop_level_runs;
  std::optional<TreeRoot> root;
  bool end_sweep = false;                            // its runs go in the same edit
  std::optional<SweepState> sweep;                   // begins one, or moves its cursor forward
  std::vector<IndexSegmentInfo> set_index_segments;  // new ones, or new length and live units
  std::vector<std::uint64_t> drop_index_segments;    // says also that no page of theirs is reached any more
  AccountDelta accounts;
};

struct Edit {
  // Set in the first record of a MANIFEST only.
  std::optional<Id128> database_id;
  std::optional<std::uint64_t> epoch;
  std::optional<std::uint64_t> next_file_number;
  std::optional<SequenceNumber> last_sequence;
  std::optional<SequenceNumber> durable_sequence;
  // Both or none.
  std::optional<LogPosition> replay;
  std::optional<SequenceNumber> replay_sequence;
  std::optional<bool> clean_shutdown;
  std::vector<FamilyEdit> families;       // a family at most once
  std::vector<SegmentInfo> set_segments;  // new ones, or sealed now
  std::vector<std::uint64_t> drop_segments;
  // Of segments that are dropped although layers refer to them: log GC has moved what was alive, and put the run that
  // says so above all that refers to them.
  std::vector<Slot> shadow_slots;
  std::optional<std::uint32_t> next_family_id;
  std::vector<std::uint64_t> drop_families;  // with their layers and accounts
};

[[nodiscard]] std::string EncodeEdit(const Edit& edit);

// The opposite. Any bytes are safe: Corruption if they are no edit, NotSupported if they have a tag of a later version
// (an edit understood in part is a state that nobody committed). Needs memory of at most a small multiple of `bytes`.
Result<Edit> DecodeEdit(Slice bytes);

// Applies `edit`. Corruption if it does not fit (apply_edit.h lists what is checked); *state is then unspecified.
Status ApplyEdit(const Edit& edit, ManifestState* state);

// The edit that makes `state` out of nothing.
[[nodiscard]] Edit SnapshotEdit(const ManifestState& state);

}  // namespace cambium
