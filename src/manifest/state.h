// ManifestState: everything committed except the tail of the log: the database's files, the order of layers, and the
// replay position.
//
// A state is changed only by applying an Edit. A file that the state does not name does not count: recovery deletes
// files of ours that it does not name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cambium/status.h"
#include "cambium/types.h"
#include "io/file_header.h"
#include "manifest/accounts.h"
#include "manifest/page_id.h"
#include "manifest/run_info.h"
#include "util/shared_table.h"
#include "util/shared_vector.h"

namespace cambium {

// A place in the log: before the record at `offset` of the segment `segment`. Orders by segment, then offset.
struct LogPosition {
  std::uint64_t segment = 0;
  std::uint64_t offset = 0;
  friend auto operator<=>(const LogPosition&, const LogPosition&) = default;
};

// On disk.
enum class SegmentKind : std::uint8_t {
  kLog = 1,         // the commit log
  kRelocation = 2,  // values that log GC relocated from other segments; not part of the log
  kLargeValue = 3,  // one value above large_value_size, in a file of its own
};

// The largest generation: values that are relocated more often keep it.
inline constexpr std::uint32_t kGenerationMax = 255;

struct SegmentInfo {
  std::uint64_t number = 0;
  Slot slot{};
  SegmentKind kind = SegmentKind::kLog;
  Id128 file_id{};
  std::uint64_t epoch = 0;
  bool sealed = false;
  bool has_footer = false;          // an index of its records follows at sealed_length
  std::uint64_t sealed_length = 0;  // of header and records; bytes after it are not log
  std::uint64_t file_size = 0;      // once sealed: with the footer
  // Once sealed: of the segment's last record; if it has no record, of the last record before the segment. For a
  // relocation segment: the newest sequence number when it was made.
  SequenceNumber last_sequence = 0;
  std::uint32_t generation = 0;  // kRelocation: how often log GC has relocated its values, at least 1; else 0
  // Offsets, ascending, of dead records whose values may be holes; their header and key are intact. Only grows.
  std::vector<std::uint64_t> punched;
  // Records below this offset are dead, and all their bytes may be holes. 0: none are. Only grows.
  std::uint64_t cut = 0;

  [[nodiscard]] bool MayHaveHoles() const { return cut != 0 || !punched.empty(); }
  // The offset of the first record that is whole.
  [[nodiscard]] std::uint64_t FirstRecord() const { return cut != 0 ? cut : kFileHeaderSize; }
  friend bool operator==(const SegmentInfo&, const SegmentInfo&) = default;
};

// An append-only file of tree pages.
struct IndexSegmentInfo {
  std::uint64_t number = 0;
  Id128 file_id{};
  std::uint64_t length = 0;      // bytes committed; bytes after them are not part of the index
  std::uint64_t live_units = 0;  // page units that the tree still reaches
  friend bool operator==(const IndexSegmentInfo&, const IndexSegmentInfo&) = default;
};

// On disk.
enum class IndexType : std::uint8_t { kBTree = 1, kLsm = 2 };

// A sweep in progress: it merges exactly these runs, the oldest of the stack, into the tree. Entries below the cursor
// are already in the tree, and ignored in the runs. The cursor never moves back, and the runs never change.
struct SweepState {
  std::vector<std::uint64_t> runs;  // newest first: a suffix of FamilyState::runs
  std::string cursor;
  friend bool operator==(const SweepState&, const SweepState&) = default;
};

// A run in a level of a kLsm family. Levels count from 1, and a level hides those with larger numbers. Within a level a
// tier hides those with smaller numbers. The runs of a tier share no key: together they are one sorted sequence.
inline constexpr std::uint32_t kLevelMax = 63;

struct LevelRun {
  RunInfo info;
  std::uint32_t level = 0;
  std::uint64_t tier = 0;
  friend bool operator==(const LevelRun&, const LevelRun&) = default;
};

// A copy of these shares their entries, since each commit that edits a family copies its state.
using LevelRuns = SharedTable<std::pair<std::uint64_t, LevelRun>>;              // by number
using IndexSegments = SharedTable<std::pair<std::uint64_t, IndexSegmentInfo>>;  // by number

struct FamilyState {
  std::uint32_t id = 0;
  std::string name;
  IndexType index_type = IndexType::kBTree;
  std::string comparator;
  std::uint64_t page_size = 0;
  SequenceNumber flushed_sequence = 0;  // operations up to it are in the durable layers
  // Set once the family keeps versions: inline values in its layers have the sequence number of their write, except for
  // those that the layers had before. All operations of these are at or before this number. Never changes once set.
  std::optional<SequenceNumber> versions_since;
  SharedVector<RunInfo> runs;           // newest first: the order of layers is this order
  LevelRuns level_runs;                 // kLsm only; below `runs`
  TreeRoot root;                        // kBTree only, like sweep and index_segments
  std::optional<SweepState> sweep;
  IndexSegments index_segments;
  Accounts accounts;                    // no zero entries

  // The page size of the file of a run.
  [[nodiscard]] std::uint64_t PageSizeOf(const RunInfo& run) const {
    return run.page_size != 0 ? run.page_size : page_size;
  }
  friend bool operator==(const FamilyState&, const FamilyState&) = default;
};

// Bounds the memory that a forged record can make a decoder allocate.
inline constexpr std::size_t kMaxFamilies = 65536;

struct ManifestState {
  Id128 database_id{};
  std::uint64_t epoch = 0;
  std::uint64_t next_file_number = 1;
  SequenceNumber last_sequence = 0;     // the largest in any committed layer
  SequenceNumber durable_sequence = 0;  // the log was known durable up to it when the last record was written
  LogPosition replay;                   // recovery reads the log from here
  SequenceNumber replay_sequence = 0;   // of the last operation before the replay position
  bool clean_shutdown = false;          // Close synced everything; durable_sequence is then the end of the log
  std::uint32_t next_family_id = 1;     // ids are never reused: the log may still name dropped families
  std::map<std::uint32_t, FamilyState> families;  // by id
  std::map<std::uint64_t, SegmentInfo> segments;  // by number
  // Slots of segments that log GC has emptied and dropped while older layers still refer to them; newer entries hide
  // all these references. Their accounts still count, and only decrease; at zero references the slot is free. Every
  // other slot is taken while a segment has it.
  std::set<Slot> shadowed_slots;

  // Checks what must hold for any state, however it was read. Returns OK, or Corruption with the first problem.
  //  - Every file number is in [1, next_file_number), and names one file: a segment, a run or an index segment.
  //  - No two segments have the same slot. A shadowed slot has no segment, and has references.
  //  - Only a sealed segment has a footer, which lies at or after sealed_length.
  //  - The replay position is not after the end of the sealed segment it names.
  //  - Names of families differ, their ids are below next_family_id. A sweep's runs are the oldest of the stack.
  //  - A B+-tree has no levels, an LSM no tree. Runs of a tier share no key, as far as the order of keys is known here.
  //  - A root lies within the committed length of an index segment of its family, a run's root within the run.
  //  - Accounts have positive references and bytes, and belong to a segment or a shadowed slot.
  // O(state). Edits are checked by StageEdit; this is for states read from disk, and for tests. (In state_check.cc.)
  [[nodiscard]] Status Check() const;

  friend bool operator==(const ManifestState&, const ManifestState&) = default;
};

}  // namespace cambium
