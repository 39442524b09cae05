// RelocationStep: executes one step of log GC: copies the values, writes runs with their new addresses, and commits. If
// flushes or compactions changed some of the keys meanwhile, it writes the runs again without these (moved_family.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "gc/relocation.h"
#include "gc/relocation_writer.h"
#include "state/db_state.h"
#include "upkeep/log_gc/gc_step.h"
#include "upkeep/log_gc/moved_family.h"
#include "upkeep/log_gc/segment_cut.h"

namespace cambium {

class CompactionPause;

// For one step. One thread. All constructor arguments outlive it.
class RelocationStep {
 public:
  RelocationStep(const RelocationTools& tools, const GcPick& pick, RelocationWriter* writer, GcReport* report);

  // Relocates the records, which are live in the layers of the pick, and drops the sources that the report marks as
  // emptied.
  Status Execute(std::span<const GcRecord> records);
  // True if a MANIFEST record names the new segment, or may name it.
  [[nodiscard]] bool is_named() const { return is_named_; }

 private:
  Status Copy(std::span<const GcRecord> records);
  // Syncs the runs, and the copies unless they are durable already.
  Status Sync(UnsyncedFiles* runs);
  // In families with a FilterCall under way, keeps compactions from running until the result is destroyed: a compaction
  // that has asked the filter about a value, and has not committed, does not know that the value is moved.
  Result<std::vector<std::unique_ptr<CompactionPause>>> PauseFilterCalls() CAMBIUM_EXCLUDES(commit_lock);
  // False: the runs must be written again, because values are no longer the newest of their keys, or the filter was
  // asked about values meanwhile.
  Result<bool> TryCommit() CAMBIUM_EXCLUDES(commit_lock);
  // The edit is empty if nothing is left to relocate or drop.
  void FillEdit(Edit* edit) CAMBIUM_REQUIRES(commit_lock);
  // Adds the cut of the first source to the edit, if the step makes one. False: it cannot be made any more.
  Result<bool> AddCut(Edit* edit) CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] bool UsesWriter() const;
  // The change of the family's hidden bytes by the commit: plus the old copies of relocated values, minus all bytes
  // that accounts count in the dropped segments. The values in these segments were hidden, or were just relocated.
  [[nodiscard]] std::int64_t HiddenAfter(const MovedFamily& moved) const CAMBIUM_REQUIRES(commit_lock);
  void NoteCommitted(const std::vector<std::int64_t>& hidden) CAMBIUM_REQUIRES(commit_lock);
  // Updates the rate at which consecutive steps free space, by which writers are paced.
  void NoteFreed(std::uint64_t moved_bytes) CAMBIUM_REQUIRES(commit_lock);
  void DropSources();
  void Count() const;

  const RelocationTools& tools_;
  DbContext& db_;
  CommitPoint& commits_;
  const GcPick& pick_;
  RelocationWriter& writer_;
  GcReport& report_;
  std::vector<MovedFamily> families_;
  Relocation copied_;  // values of families_ that have become inline refer to it
  bool is_unsynced_ = false;  // the copies are written, but not durable
  bool is_named_ = false;
  std::optional<SegmentCut> cut_;  // of the first source
};

}  // namespace cambium
