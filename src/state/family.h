// Family: a column family while the database is open: its options, its index, and the state of its background work. Its
// memtables and layers are in the view.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "state/cluster_walk.h"
#include "state/gaps.h"
#include "state/index_stats.h"
#include "state/log_table.h"
#include "options/options_check.h"
#include "state/scan_length.h"
#include "state/table_files.h"
#include "state/live_sample.h"
#include "cambium/column_family.h"
#include "gc/scan_heat.h"
#include "index/index.h"
#include "io/file_header.h"
#include "util/compression.h"
#include "state/lock_roles.h"
#include "util/mutant.h"
#include "util/result.h"

namespace cambium {

// The state of a background job. Guarded by jobs_lock.
struct JobState {
  bool scheduled = false;
  bool under_way = false;    // its task runs now
  // See Jobs::Take. is_taken: another job does the work. was_skipped: meanwhile the task has begun, and has left the
  // work to that job. is_done, for kCompact: that job has done the work, and the task has not begun yet.
  bool is_taken = false;
  bool was_skipped = false;
  bool is_done = false;
  bool has_failed = false;   // kFlush only: its last run failed, and it is not scheduled again
  bool again = false;        // scheduled while it ran: the run may have looked for work before that
  Status last;               // result of its last run
  std::uint64_t ended = 0;   // how many times it has ended
  int failures = 0;          // in a row, see Jobs::NoteResult
  Status failure;            // the last of them
};

// A family's options, and the values derived from them. Immutable.
struct OptionsInForce {
  explicit OptionsInForce(const ColumnFamilyOptions& its_options)
      : options(its_options), separate_from(SeparateFrom(its_options, its_options.page_size)) {
    static_cast<void>(CodecOf(options.blob_compression_type, &codec));  // checked before
  }
  const ColumnFamilyOptions options;
  const std::uint64_t separate_from;  // bytes, see SeparateFrom
  Codec codec = Codec::kNone;         // of separated values
};

struct Family {
  // `its_options` have been checked, and page_size is the stored one. The memtables are charged to `its_share`, unless
  // null.
  Family(std::uint32_t its_id, std::string its_name, const ColumnFamilyOptions& its_options,
         std::shared_ptr<BudgetShare> its_share)
      : id(its_id),
        name(std::move(its_name)),
        equal_by(its_options.comparator->EqualMeansSameBytes() ? nullptr : its_options.comparator),
        share(std::move(its_share)),
        active(std::make_shared<LogTable>(its_options.comparator, share)),
        gaps(its_options.comparator),
        scan_heat(its_options.comparator) {
    PutInForce(MakeOptions(its_options));
  }

  // The current options, read without a lock. The reference is valid as long as the family; two calls may return
  // different options.
  [[nodiscard]] const OptionsInForce& in_force() const { return *in_force_.load(std::memory_order_acquire); }
  [[nodiscard]] const ColumnFamilyOptions& options() const { return in_force().options; }
  // Takes all memory that PutInForce needs. For both, the caller holds the families lock if other threads see the
  // family. `next` differs from the options in force in dynamic options only.
  [[nodiscard]] std::unique_ptr<const OptionsInForce> MakeOptions(const ColumnFamilyOptions& next) {
    if (were_in_force_.size() == were_in_force_.capacity()) were_in_force_.reserve(2 * were_in_force_.size() + 1);
    return std::make_unique<const OptionsInForce>(next);
  }
  void PutInForce(std::unique_ptr<const OptionsInForce> next) noexcept {
    assert(were_in_force_.size() < were_in_force_.capacity());
    were_in_force_.push_back(std::move(next));
    in_force_.store(were_in_force_.back().get(), std::memory_order_release);
  }

  const std::uint32_t id;
  const std::string name;
  const Comparator* const equal_by;   // set if keys with different bytes may be equal
  std::unique_ptr<Index> index;       // set before other threads see the family; null once the database is closed

  // Set under the append and the commit lock, so that a thread that holds one of them may rely on it.
  std::atomic<bool> dropped{false};
  // Under the same locks: a drop failed, and its record may or may not be on disk.
  std::atomic<bool> drop_in_doubt{false};

  // FamilyState::versions_since; kKeepsNone: the family does not keep versions. Set under the commit lock, after the
  // commit, or before other threads see the family; never changes after that.
  static constexpr SequenceNumber kKeepsNone = ~SequenceNumber{0};
  mutable std::atomic<SequenceNumber> versions_since{kKeepsNone};
  [[nodiscard]] bool KeepsVersions() const {
    return versions_since.load(std::memory_order_acquire) != kKeepsNone;
  }

  const std::shared_ptr<BudgetShare> share;
  std::shared_ptr<LogTable> active CAMBIUM_GUARDED_BY(append_lock);  // the one in the current view
  // `active`, before other threads see the family.
  [[nodiscard]] std::shared_ptr<LogTable> FirstTable() const
      CAMBIUM_NO_THREAD_SAFETY_ANALYSIS("no other thread sees the family yet") {
    return active;
  }
  std::atomic<int> frozen_count{0};  // written under the append lock or by the flush
  // Memory of the oldest frozen memtable; 0: there is none. Written when a view is replaced.
  std::atomic<std::size_t> flush_bytes{0};

  std::atomic<std::size_t> run_count{0};  // runs in the current layers; writers read it without a lock
  // An estimate of how much of these runs a sweep in progress has merged already, in numbers of runs. The thread that
  // has claimed the compaction writes this member, and the next one, after each step. After an Open it is 0 until the
  // first step.
  std::atomic<double> merged_runs{0};
  std::atomic<std::uint64_t> compaction_steps{0};  // committed since Open, without flushes into the tree
  // How many runs wait for a compaction. A sweep removes its runs only when it ends, which may take minutes, so the
  // part of the runs that it has merged does not count.
  [[nodiscard]] double WaitingRuns() const {
    const auto runs = static_cast<double>(run_count.load(std::memory_order_relaxed));
    if (MutantIs(Mutant::kNoRunsWait)) return 0;
    if (MutantIs(Mutant::kSweptRunsWait)) return runs;
    return std::max(0.0, runs - merged_runs.load(std::memory_order_relaxed));
  }

  // Estimates for gc/space.h. hidden_bytes: bytes of records that newer entries hide and that the accounts still count.
  // hidden_index_bytes: bytes that hidden entries take in an LSM's files. replaced_share: the fraction of the entries
  // above the last level that hide older entries. Each flush averages it with the fraction of its own keys that existed
  // before, weighted by the numbers of entries. In a tree: the fraction of the last flush alone.
  std::atomic<std::int64_t> hidden_bytes{0};
  std::atomic<std::int64_t> hidden_index_bytes{0};
  std::atomic<double> replaced_share{0};
  // A sample of the values in the layers, from which these estimates are made. For values that it does not represent, a
  // KeySample of each flush is used.
  LiveSample live_sample CAMBIUM_GUARDED_BY(commit_lock);
  // The bytes of the index's files at the last look at the size of the database.
  std::atomic<std::uint64_t> index_bytes{0};
  // Set on a full disk if the last step that should empty files of the tree has not made them smaller. Then no other
  // such step begins until the next rescue.
  std::atomic<bool> emptied_in_vain{false};
  // The bytes that a step of a compaction may write before it frees as many. 0 if most bytes of the family are in the
  // log.
  std::atomic<std::uint64_t> step_room{0};
  // The bytes that a tree needs between steps: its runs until a sweep has merged them, and as many bytes as its dead
  // pages may still grow before they are a tenth of the tree. 0 for an LSM, and if most bytes of the family are in the
  // log.
  std::atomic<std::uint64_t> waiting_room{0};
  IndexRoom room CAMBIUM_GUARDED_BY(commit_lock);  // the last one that SpaceKeeper passed to `index`
  // The room has become smaller: a compaction may be due although nothing was written.
  std::atomic<bool> has_less_room{false};
  // Estimates of the bytes that range deletes cover in older layers: of records that accounts still count, of pages.
  std::atomic<std::uint64_t> covered_bytes{0};
  std::atomic<std::uint64_t> covered_index_bytes{0};
  // If set, a single run makes a compaction due. Without runs, a compaction is due if levels above the last one hide
  // entries. `squeeze` is the request that compacts these levels; only the thread that has claimed the compaction uses
  // it.
  std::atomic<bool> compacts_urgently{false};
  std::optional<CompactionRequest> squeeze;
  std::uint64_t flushes_before_squeeze = 0;  // flush.ended when `squeeze` was made; used like `squeeze`

  // Receives the new files of the compaction step, or of the flush into the tree, under way. Set by the thread that has
  // claimed the compaction; null if none has.
  TableFiles* compaction_files = nullptr;

  IndexStats index_stats;
  mutable Gaps gaps;
  ScanLength scan_length;
  mutable ScanHeat scan_heat;         // with ValueClustering::kAuto
  ClusterPass pass;                   // under the commit lock; with ValueClustering::kFull

  // The entries about which the compaction filter was asked since the current call of CompactRange began; null without
  // such a call.
  std::shared_ptr<const FilteredPart> filtered CAMBIUM_GUARDED_BY(commit_lock);
  bool has_filter_call CAMBIUM_GUARDED_BY(jobs_lock) = false;  // claimed: one such call at a time
  // Such a call waits to begin: a compaction that asks the filter is given up.
  std::atomic<bool> gives_up_filtering{false};

  JobState flush CAMBIUM_GUARDED_BY(jobs_lock);
  JobState compaction CAMBIUM_GUARDED_BY(jobs_lock);
  bool compacting CAMBIUM_GUARDED_BY(jobs_lock) = false;  // claimed: an Index has one compaction at a time
  int next_claims CAMBIUM_GUARDED_BY(jobs_lock) = 0;      // threads in AwaitNextClaimOfCompaction
  std::uint64_t compactions_ended CAMBIUM_GUARDED_BY(jobs_lock) = 0;  // number of claims that were released
  std::atomic<bool> is_compaction_failing{false};                     // kCompact has failed kFailuresMax times in a row

 private:
  // All options that were ever in force. They are kept as long as the family, because a thread may still read old ones.
  // The objects are small, and options change seldom.
  std::vector<std::unique_ptr<const OptionsInForce>> were_in_force_;  // under the families lock
  std::atomic<const OptionsInForce*> in_force_{nullptr};
};

// A handle for a family of the database whose facade is `database`. Only this library makes handles.
class FamilyHandle final : public ColumnFamilyHandle {
 public:
  FamilyHandle(const void* database, const Id128& database_id, std::shared_ptr<Family> family)
      : database_(database), database_id_(database_id), family_(std::move(family)) {}
  [[nodiscard]] const std::string& GetName() const override { return family_->name; }
  [[nodiscard]] std::uint32_t GetID() const override { return family_->id; }
  [[nodiscard]] const Comparator* GetComparator() const override { return family_->options().comparator; }
  Status GetDescriptor(ColumnFamilyDescriptor* descriptor) const override {
    *descriptor = {family_->name, family_->options()};
    return Status::OK();
  }
  [[nodiscard]] const void* database() const { return database_; }
  // The same in every Open of the database: a write batch may outlive the handles of its families.
  [[nodiscard]] const Id128& database_id() const { return database_id_; }
  [[nodiscard]] const std::shared_ptr<Family>& family() const { return family_; }

 private:
  const void* const database_;
  const Id128 database_id_;
  const std::shared_ptr<Family> family_;
};

// The family of a handle. InvalidArgument if it is null or belongs to another database.
inline Result<Family*> FamilyOf(const void* database, ColumnFamilyHandle* handle) {
  const auto* const ours = static_cast<const FamilyHandle*>(handle);
  if (ours == nullptr) return Status::InvalidArgument("the column family handle is null");
  if (ours->database() != database) {
    return Status::InvalidArgument("the handle of column family \"" + ours->GetName() +
                                   "\" belongs to another database");
  }
  return ours->family().get();
}

inline Status DroppedStatus(const Family& family) {
  return Status::ColumnFamilyDropped("column family \"" + family.name + "\" was dropped");
}

}  // namespace cambium
