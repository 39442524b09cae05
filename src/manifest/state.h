// ManifestState: everything that is committed except the log's tail. Which files are the database's, in which order
// their layers lie, how far the log is absorbed.
//
// A state is changed only by applying an Edit. What is not named here does not exist: recovery deletes files of ours
// that no state names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cambium/status.h"
#include "cambium/types.h"
#include "io/file_header.h"
#include "manifest/accounts.h"
#include "manifest/page_id.h"
#include "manifest/run_info.h"

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
  kRelocation = 2,  // what log GC has moved out of other segments; no part of the log
  kLargeValue = 3,  // one value of over 16 MiB in a file of its own
};

// Values that were moved so often are as old as they will ever be known to be.
inline constexpr std::uint32_t kGenerationMax = 255;

struct SegmentInfo {
  std::uint64_t number = 0;
  Slot slot{};
  SegmentKind kind = SegmentKind::kLog;
  Id128 file_id{};
  std::uint64_t epoch = 0;
  bool sealed = false;
  bool has_footer = false;          // an index of its records stands behind sealed_length
  std::uint64_t sealed_length = 0;  // bytes of header and records; what is behind them is not log
  std::uint64_t file_size = 0;      // once sealed: with the footer
  // Once sealed: of its last record, or of the one before it began. Of a relocation segment: the newest when it was made.
  SequenceNumber last_sequence = 0;
  std::uint32_t generation = 0;  // kRelocation: how often log GC has moved what is in it, 1 or more; else 0
  // Offsets of records, ascending, that no layer has as the newest of its key any more, and whose values may be holes by
  // now. Header and key are there. Only ever grows.
  std::vector<std::uint64_t> punched;
  friend bool operator==(const SegmentInfo&, const SegmentInfo&) = default;
};

// An append-only file of tree pages.
struct IndexSegmentInfo {
  std::uint64_t number = 0;
  Id128 file_id{};
  std::uint64_t length = 0;      // bytes committed; what is behind them is not the index
  std::uint64_t live_units = 0;  // page units that the tree still reaches
  friend bool operator==(const IndexSegmentInfo&, const IndexSegmentInfo&) = default;
};

// On disk.
enum class IndexType : std::uint8_t { kBTree = 1, kLsm = 2 };

// A sweep that has begun: it merges exactly these runs, the oldest of the stack, into the tree. Keys below the cursor
// have arrived, and are masked in the runs. The cursor never goes back, and the set never changes.
struct SweepState {
  std::vector<std::uint64_t> runs;  // newest first: a suffix of FamilyState::runs
  std::string cursor;
  friend bool operator==(const SweepState&, const SweepState&) = default;
};

// A run that has left the stack for a level of a kLsm family. Levels count from 1; what lies in a level hides what lies
// in the ones with larger numbers. Within a level a tier hides those with smaller numbers, and the runs of one tier
// share no key: together they are one sorted sequence.
inline constexpr std::uint32_t kLevelMax = 63;

struct LevelRun {
  RunInfo info;
  std::uint32_t level = 0;
  std::uint64_t tier = 0;
  friend bool operator==(const LevelRun&, const LevelRun&) = default;
};

struct FamilyState {
  std::uint32_t id = 0;
  std::string name;
  IndexType index_type = IndexType::kBTree;
  std::string comparator;
  std::uint64_t page_size = 0;
  SequenceNumber flushed_sequence = 0;  // what is at or below it is in the durable layers
  std::vector<RunInfo> runs;            // newest first: the order of layers is this order
  std::map<std::uint64_t, LevelRun> level_runs;  // kLsm only; by number; below `runs`
  TreeRoot root;                                 // kBTree only, as sweep and index segments are
  std::optional<SweepState> sweep;
  std::map<std::uint64_t, IndexSegmentInfo> index_segments;  // by number
  std::map<Slot, Account> accounts;                          // no zero entries
  friend bool operator==(const FamilyState&, const FamilyState&) = default;
};

// Bounds what a record from a foreign hand can make a decoder allocate.
inline constexpr std::size_t kMaxFamilies = 65536;

struct ManifestState {
  Id128 database_id{};
  std::uint64_t epoch = 0;
  std::uint64_t next_file_number = 1;
  SequenceNumber last_sequence = 0;     // the largest that any committed layer holds
  SequenceNumber durable_sequence = 0;  // known durable in the log when the last record was written
  LogPosition replay;                   // recovery reads the log from here
  SequenceNumber replay_sequence = 0;   // of the last operation before it
  bool clean_shutdown = false;          // Close synced everything; durable_sequence is then the end of the log
  std::uint32_t next_family_id = 1;     // ids are never reused: the log may still name families that were dropped
  std::map<std::uint32_t, FamilyState> families;    // by id
  std::map<std::uint64_t, SegmentInfo> segments;    // by number
  // Slots whose segment log GC has emptied and dropped, while older layers still refer to it: every such entry is hidden by
  // a newer one. Their accounts go on counting, and only ever fall; the slot is free when nothing refers to it any more.
  // Every other slot is taken as long as a segment has it.
  std::set<Slot> shadowed_slots;

  // References of all families into a slot.
  [[nodiscard]] Account TotalAccount(Slot slot) const;

  // What must hold of any state, from whatever disk it came: OK, or Corruption with the first problem.
  //  - Every file number is in [1, next_file_number), and names one file: a segment, a run or an index segment.
  //  - No two segments have the same slot; a shadowed slot has no segment, and references; a footer stands only in a sealed one, behind sealed_length.
  //  - The replay position is not behind the end of the sealed segment it names.
  //  - Names of families differ, their ids are below next_family_id. A sweep's runs are the oldest of the stack.
  //  - A B+-tree has no levels, an LSM no tree. Runs of a tier share no key, as far as the order of keys is known here.
  //  - A root lies within the committed length of an index segment of its family, a run's root within the run.
  //  - Accounts are positive, references and bytes both, and speak of living segments or shadowed slots.
  // O(everything). An edit is checked on its own; this is for what was read, and for tests.
  [[nodiscard]] Status Check() const;

  friend bool operator==(const ManifestState&, const ManifestState&) = default;
};

}  // namespace cambium
