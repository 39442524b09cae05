// CompactionChange: the outcome of a compaction, or of a flush into the tree, until it is committed.
#pragma once

#include <vector>

#include "index/index.h"
#include "state/db_state.h"
#include "upkeep/compact/filter_job.h"
#include "upkeep/pending_change.h"

namespace cambium {

// Used by the thread that has claimed the family's compaction.
class CompactionChange final : public PendingChange {
 public:
  // `table`: the memtable that was merged too. `filter`: the compaction's filter job. Both may be null. All outlive the
  // change.
  CompactionChange(DbContext* db, CommitPoint* commits, Family* family, CompactionOutcome* outcome,
                   const FrozenTable* table, FilterJob* filter)
      : db_(*db), commits_(*commits), family_(*family), outcome_(*outcome), table_(table), filter_(filter) {}
  // Removes the old files even if memory runs out between the commit and Finish.
  ~CompactionChange() override { RemoveOld(); }
  CompactionChange(const CompactionChange&) = delete;
  CompactionChange& operator=(const CompactionChange&) = delete;

  Result<bool> Stage(Edit* edit) override CAMBIUM_REQUIRES(commit_lock);
  [[nodiscard]] const FrozenTable* table() const override { return table_; }
  void Install(View* view) override;
  void Committed() override CAMBIUM_REQUIRES(commit_lock);

  // The files that the compaction has replaced, and those that it has added.
  struct Files {
    std::vector<NumberedFile> old_files;
    std::vector<NumberedFile> new_files;
  };
  // Called after the commit, with no lock held: removes the old files once no reader has them.
  Files Finish();

 private:
  void NoteEstimates() noexcept CAMBIUM_REQUIRES(commit_lock);
  void NoteFiltered() CAMBIUM_REQUIRES(commit_lock);
  void FindFiles();
  void RemoveOld() noexcept;
  void InstallChanged(View* view);

  DbContext& db_;
  CommitPoint& commits_;
  Family& family_;
  CompactionOutcome& outcome_;
  const FrozenTable* const table_;
  FilterJob* const filter_;
  std::shared_ptr<const Layers> before_;
  std::shared_ptr<const Layers> after_;
  Files files_;
  std::shared_ptr<const FilteredPart> filtered_;  // the new Family::filtered; null: it does not change
  bool has_old_files_ = false;  // committed, and not removed yet
  std::int64_t uncharged_ = 0;  // bytes of hidden values that become garbage
};

}  // namespace cambium
