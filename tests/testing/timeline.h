// Timeline: the batches of a run in the order of their commits, and which of them must be there after a crash. The
// oracle of all crash tests.
//
// A recovered database must hold the state after some k batches, and no other: whole batches, none left out in the
// middle. k is bounded from below by what was acknowledged, and from above by what had been asked for. Each batch
// carries the hash of the state behind it, so a recovered state finds its k at once. After a crash the run goes on with
// a timeline that was cut at k: what lies behind is dropped, and a dropped batch that comes back later is in no prefix.
//
// With a compaction filter a state stands for several, see ModelState. What is known to be filtered, since CompactRange
// said so or a read has shown it, is filtered after a crash too: its commit was durable before anybody saw it.
//
// One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cambium/types.h"
#include "testing/model_state.h"

namespace cambium::testing {

class Timeline {
 public:
  // Begins with an empty database.
  explicit Timeline(const Comparator* comparator, const RuleFilter* filter = nullptr)
      : base_(comparator, filter), tip_(comparator, filter) {}

  // ---- During a life ----

  // The batch has been handed to the database. Exactly one of Commit and Fail follows before the next Issue.
  void Issue(const Operation& write);
  // It is visible.
  void Commit();
  // It returned an error and is not visible. A crash before the next commit may bring it back whole, since nobody knows
  // what a failed write has written; never later.
  void Fail();
  // What the last commit left is acknowledged: to survive the death of the process, or a power cut as well.
  void Acknowledge() { acknowledged_ = commits_.size(); }
  // Keys of [lower, upper] that were written so far are filtered from now on.
  void Filtered(const std::optional<std::string>& lower, const std::optional<std::string>& upper);
  void AcknowledgeSync(std::size_t commits) { synced_ = std::max(synced_, commits); }

  [[nodiscard]] const ModelState& tip() const { return tip_; }
  [[nodiscard]] SequenceNumber sequence() const { return sequence_; }
  [[nodiscard]] std::size_t commit_count() const { return commits_.size(); }
  [[nodiscard]] std::size_t synced_count() const { return synced_; }

  // ---- About a crash ----

  // What a crash at this moment may leave.
  struct Bound {
    std::size_t entries = 0;       // batches asked for so far
    std::size_t commits = 0;       // of them, known to be visible
    std::size_t acknowledged = 0;  // commits that survive a kill
    std::size_t synced = 0;        // commits that survive a power cut
    std::size_t filtered = 0;      // calls of Filtered() that hold, if what was written before them is there
  };
  [[nodiscard]] Bound bound() const;
  [[nodiscard]] Bound BoundOfCommits(std::size_t commits) const;  // exactly these, no more and no fewer

  // Which state a recovery found.
  struct Match {
    std::size_t commits = 0;
    std::size_t failed_entry = 0;  // 1 + index of a failed batch that came back behind them; 0: none
    std::size_t filtered = 0;      // the bound's
  };
  // Finds the state with this hash and sequence number within the bound; else *violation says what is wrong. `found`
  // (canonical key -> value) is used for the message, and where a filter lets one hash stand for several states.
  bool Find(const Bound& bound, bool power_cut, std::uint64_t hash, SequenceNumber sequence,
            const std::map<std::string, std::string>& found, Match* match, std::string* violation) const;

  // The timeline of the next life: it begins with what was found, all of which is durable now.
  [[nodiscard]] Timeline After(const Match& match) const;
  // The state after the first `commits` batches; of the calls of Filtered() the first `filtered` count.
  [[nodiscard]] ModelState StateAt(std::size_t commits) const { return StateAt(commits, filtered_.size()); }
  [[nodiscard]] ModelState StateAt(std::size_t commits, std::size_t filtered) const;

 private:
  struct Entry {
    Operation write;
    std::size_t commits_before = 0;
    SequenceNumber last_sequence = 0;
    std::uint64_t hash = 0;  // of the state behind it
    bool committed = false;
    bool failed = false;
  };
  [[nodiscard]] ModelState StateOf(const Match& match) const;
  // *match with what the filter may have done; false, and *violation, if it cannot have.
  bool Settles(Match* match, const Bound& bound, const std::map<std::string, std::string>& found,
               std::string* violation) const;
  [[nodiscard]] std::string Explain(const Bound& bound, bool power_cut, SequenceNumber sequence,
                                    const std::map<std::string, std::string>& found) const;

  ModelState base_;
  SequenceNumber base_sequence_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::size_t> commits_;  // indices of entries
  struct FilteredKeys {
    std::size_t commits = 0;  // before it
    std::optional<std::string> lower;
    std::optional<std::string> upper;
  };
  std::vector<FilteredKeys> filtered_;
  ModelState tip_;
  SequenceNumber sequence_ = 0;
  std::size_t acknowledged_ = 0;
  std::size_t synced_ = 0;
  std::map<std::uint64_t, int> dropped_;  // operation -> the recovery that dropped it
  int recoveries_ = 0;
};

[[nodiscard]] inline std::shared_ptr<Timeline> NewTimeline(const Program& program) {
  return std::make_shared<Timeline>(program.config.comparator, program.config.filter.get());
}

}  // namespace cambium::testing
