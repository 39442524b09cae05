// MovedFamily: the values of one family that a step of log GC has copied, until the step commits: which of them are
// still the newest entries of their keys, and the runs with their new addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gc/relocation.h"
#include "index/filtered_part.h"
#include "index/run.h"
#include "manifest/accounts.h"
#include "state/db_state.h"
#include "upkeep/run_maker.h"
#include "upkeep/unsynced_files.h"

namespace cambium {

// For one step. One thread.
class MovedFamily {
 public:
  // `found_in`: the layers in which all values were the newest entries of their keys.
  MovedFamily(std::shared_ptr<Family> family, std::vector<MovedValue> values, std::shared_ptr<const Layers> found_in)
      : family_(std::move(family)), values_(std::move(values)), newest_in_(std::move(found_in)) {}

  [[nodiscard]] const std::shared_ptr<Family>& family() const { return family_; }
  [[nodiscard]] const std::vector<MovedValue>& values() const { return values_; }
  // True if entries of the runs have addresses of copies.
  [[nodiscard]] bool RefersToCopies() const { return !accounts_.empty(); }

  [[nodiscard]] bool IsInFilterCall(const CommitPoint& commits) const CAMBIUM_EXCLUDES(commit_lock);
  // During a FilterCall, finds out which values the filter was asked about.
  Status LookAtFilterCall(const CommitPoint& commits) CAMBIUM_EXCLUDES(commit_lock);
  // Writes the runs. Does nothing if they are written already.
  Status WriteRuns(RunMaker* runs, int job_id, UnsyncedFiles* unsynced);
  // Looks the values up again in the current layers, and removes those that are no longer the newest of their keys.
  // Returns false if the runs must be written again: values were removed, or the filter has been asked about values
  // meanwhile.
  Result<bool> KeepNewest(const CommitPoint& commits) CAMBIUM_REQUIRES(commit_lock);
  // Adds the runs to the edit, on top of the layers that KeepNewest has looked at.
  void Stage(Edit* edit);
  // Shows the runs to readers.
  void Install(View* view) const;
  // Called after the commit. `hidden`: the change of the family's hidden bytes; `grain`: the grain of its sample. If
  // memory runs out, the sample is lost.
  void Committed(std::int64_t hidden, std::uint64_t grain) CAMBIUM_REQUIRES(commit_lock);

 private:
  // Notes that the filter was asked about the values in the new runs, if it was. Before the commit.
  void NoteFiltered();

  std::shared_ptr<Family> family_;
  std::vector<MovedValue> values_;
  std::shared_ptr<const Layers> newest_in_;  // the layers in which all values were last found to be the newest
  // The part by which was_filtered of the values was set; null: was_filtered is false for all.
  std::shared_ptr<const FilteredPart> filtered_;
  std::vector<std::shared_ptr<const Run>> runs_;
  std::size_t unfiltered_runs_ = 0;  // this many at the beginning have the values with was_filtered = false
  AccountDelta accounts_;
  std::shared_ptr<const Layers> next_;  // the layers after the commit
  std::shared_ptr<const FilteredPart> filtered_after_;  // the new Family::filtered; null: it does not change
};

}  // namespace cambium
