// Runner: carries out the operations of a program and compares every answer with the model.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testing/program.h"
#include "testing/read_all.h"
#include "testing/test_database.h"
#include "testing/timeline.h"

namespace cambium::testing {

// One thread. The database must be open when an operation runs, and stays so.
class Runner {
 public:
  struct Policy {
    // Calls of the file system may fail: errors are answers then, as long as they are honest. A reopening is a
    // recovery.
    bool faults = false;
    // Called when an Open has failed: the next one must not.
    std::function<void()> lift_faults;
    // True if a sync has failed in this opening, for whatever reason but want of space: then every later write must be
    // fatal. (For want of space a file that nobody has named yet may be thrown away.)
    std::function<bool()> sync_has_failed;
    // True if a sync has failed in this opening for any reason: what was not synced may be gone even without a cut.
    std::function<bool()> cache_is_doubted;
    // True if a failed sync has taken unsynced bytes out of the page cache too: reading them is Corruption then, and
    // honestly so.
    std::function<bool()> unsynced_is_gone;
    // VerifyDB after each reopening.
    bool verify = true;
  };
  Runner(const Program& program, TestDatabase* database, std::shared_ptr<Timeline> timeline, Policy policy);
  ~Runner();

  // "" or what is wrong. After Stuck the database has been abandoned.
  [[nodiscard]] std::string Run(const Operation& op);
  // Gives back snapshots and iterators.
  void ReleaseAll();
  // Compares everything with the model.
  [[nodiscard]] std::string CheckAll();
  // Matches what is there after an opening; then a new timeline begins, that of a new life. The old one does not change.
  [[nodiscard]] std::string CheckRecovered(const Timeline::Bound& bound, bool power_cut);

  [[nodiscard]] const std::shared_ptr<Timeline>& timeline() const { return timeline_; }
  [[nodiscard]] bool is_fatal() const { return fatal_; }
  // From now on an error is wrong again, unless a fatal one came before.
  void ForbidErrors() { policy_.faults = fatal_; }
  // Everything that was written so far is acknowledged as durable: a check of files may follow.
  void OnSyncAcknowledged(std::function<std::string()> check) { check_synced_ = std::move(check); }

 private:
  struct HeldSnapshot {
    const Snapshot* snapshot;
    ModelState state;
  };
  struct HeldIterator {
    std::unique_ptr<Iterator> iterator;
    std::string lower;
    std::string upper;
    Slice lower_slice;
    Slice upper_slice;
    std::optional<ModelState> state;      // that it reads
    std::vector<ModelState::Cell> cells;  // of it, within the bounds, in order
    std::optional<std::size_t> place;     // in cells; none: not valid
    bool positioned = false;
    bool keys_only = false;
    bool broken = false;  // an error ended it
  };

  std::string RunUnguarded(const Operation& op);
  std::string Write(const Operation& op);
  std::string Sync();
  [[nodiscard]] bool MayFailToRead(const Status& status) const;
  std::string JudgeWrite(const Status& status, const char* what);
  std::string ExpectValue(const ModelState& state, const std::string& key, const Status& status, const std::string& value);
  std::string Get(const Operation& op);
  std::string MultiGet(const Operation& op);
  std::string Iterate(const Operation& op);
  std::string Step(HeldIterator* held, const IteratorStep& step);
  std::string CompareIterator(HeldIterator* held);
  std::string ReadDurable();
  std::string ReadNow(Contents* contents);
  std::string Reopen(const Operation& op);
  [[nodiscard]] const ModelState& StateOf(const Operation& op, ReadOptions* options) const;
  // With a filter: reads all there is at the snapshot, which `state` must allow and stands for alone from then on.
  // False if it could not be read, and nobody is to blame.
  std::string SettleAt(const Snapshot* snapshot, ModelState* state, bool* is_settled);
  [[nodiscard]] const RuleFilter* filter() const { return program_.config.filter.get(); }

  const Program& program_;
  TestDatabase* const database_;
  std::shared_ptr<Timeline> timeline_;
  Policy policy_;
  std::array<std::optional<HeldSnapshot>, kSnapshotSlots> snapshots_;
  std::array<std::optional<HeldIterator>, kIteratorSlots> iterators_;
  bool fatal_ = false;
  std::function<std::string()> check_synced_;
};

}  // namespace cambium::testing
