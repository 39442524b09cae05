// Runner: runs the operations of a program and compares every result with the model.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "testing/program/program.h"
#include "testing/program/program_database.h"
#include "testing/program/read_all.h"
#include "testing/program/timeline.h"

namespace cambium::testing {

// One thread. The database must be open when an operation runs, and is open afterwards.
class Runner {
 public:
  struct Policy {
    // Calls of the file system may fail. Operations may then return errors, as long as these are correct. A reopen is
    // then a recovery.
    bool faults = false;
    // Called after an Open has failed: the next Open must succeed.
    std::function<void()> lift_faults;
    // Returns true if a sync has failed since the last Open for a reason other than NoSpace. Then every later write
    // must return a fatal error. (After NoSpace, a file that is not named yet may be discarded.)
    std::function<bool()> sync_has_failed;
    // Returns true if a sync has failed since the last Open for any reason: unsynced writes may be lost without a power
    // cut.
    std::function<bool()> cache_is_doubted;
    // Returns true if a failed sync has also removed unsynced bytes from the page cache: reading them may return
    // Corruption.
    std::function<bool()> unsynced_is_gone;
    // Whether to run VerifyDB after each reopen.
    bool verify = true;
  };
  Runner(const Program& program, ProgramDatabase* database, std::shared_ptr<Timeline> timeline, Policy policy);
  ~Runner();

  // Runs one operation. Returns "", or what is wrong. If the operation got stuck, the database has been abandoned.
  [[nodiscard]] std::string Run(const Operation& op);
  // Releases snapshots and iterators.
  void ReleaseAll();
  // Compares all contents with the model.
  [[nodiscard]] std::string CheckAll();
  // Compares the contents after an Open with the timeline, then begins a new timeline for the new life. Does not change
  // the old one.
  [[nodiscard]] std::string CheckRecovered(const Timeline::Bound& bound, bool power_cut);

  [[nodiscard]] const std::shared_ptr<Timeline>& timeline() const { return timeline_; }
  [[nodiscard]] bool is_fatal() const { return fatal_; }
  // From now on errors are wrong, unless a fatal one has occurred.
  void ForbidErrors() { policy_.faults = fatal_; }
  // Sets a check that runs after each acknowledged sync, when all writes so far must be durable.
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
    std::optional<ModelState> state;      // the state that it reads
    std::vector<ModelState::Cell> cells;  // the cells of `state` within the bounds, in order
    std::optional<std::size_t> place;     // its position in `cells`; nullopt: not valid
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
  // With a filter: reads everything at the snapshot, and narrows `state` to these contents. Returns "", or an entry
  // that `state` does not allow. *is_known is false if the contents could not be read because of an allowed error.
  std::string NarrowAt(const Snapshot* snapshot, ModelState* state, bool* is_known);
  [[nodiscard]] const RuleFilter* filter() const { return program_.config.filter.get(); }

  const Program& program_;
  ProgramDatabase* const database_;
  std::shared_ptr<Timeline> timeline_;
  Policy policy_;
  std::array<std::optional<HeldSnapshot>, kSnapshotSlots> snapshots_;
  std::array<std::optional<HeldIterator>, kIteratorSlots> iterators_;
  bool fatal_ = false;
  std::function<std::string()> check_synced_;
};

}  // namespace cambium::testing
