// Timeline: the batches of a run in the order of their commits, and which of them must survive a crash. It is the
// oracle of all crash tests.
//
// A recovered database must hold the state after the first k batches, for some k: whole batches, with none missing in
// the middle. k is at least the number of acknowledged batches, and at most the number of issued ones. Each batch has
// the hash of the state after it, so the hash of a recovered state gives its k. After a crash the run continues with a
// new timeline that is cut at k. The later batches are dropped; if a dropped batch reappears, no prefix matches.
//
// With a compaction filter, a ModelState stands for several states. A key that is known to be filtered, from
// CompactRange or from a read, must be filtered after a crash too: the commit of the compaction was durable before it
// became visible.
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
#include "testing/program/model_state.h"

namespace cambium::testing {

class Timeline {
 public:
  // Begins with an empty database.
  explicit Timeline(const Comparator* comparator, const RuleFilter* filter = nullptr)
      : base_(comparator, filter), tip_(comparator, filter) {}

  // ---- During a life ----

  // The batch is passed to the database. Exactly one of Commit and Fail must follow before the next Issue.
  void Issue(const Operation& write);
  // The batch is visible.
  void Commit();
  // The batch returned an error and is not visible. It is unknown which bytes a failed write has written, so a crash
  // before the next commit may bring the batch back as a whole. After the next commit the batch must not come back.
  void Fail();
  // All commits so far must survive the death of the process. AcknowledgeSync: the first `commits` must survive a power
  // cut.
  void Acknowledge() { acknowledged_ = commits_.size(); }
  // The keys in [lower, upper] that were written so far are filtered from now on.
  void Filtered(const std::optional<std::string>& lower, const std::optional<std::string>& upper);
  void AcknowledgeSync(std::size_t commits) { synced_ = std::max(synced_, commits); }

  [[nodiscard]] const ModelState& tip() const { return tip_; }
  [[nodiscard]] SequenceNumber sequence() const { return sequence_; }
  [[nodiscard]] std::size_t commit_count() const { return commits_.size(); }
  [[nodiscard]] std::size_t synced_count() const { return synced_; }

  // ---- About a crash ----

  // The states that a crash at this moment may leave.
  struct Bound {
    std::size_t entries = 0;       // batches issued so far
    std::size_t commits = 0;       // batches known to be visible
    std::size_t acknowledged = 0;  // commits that survive a kill
    std::size_t synced = 0;        // commits that survive a power cut
    std::size_t filtered = 0;      // calls of Filtered() so far; each holds for writes before it that survive
  };
  [[nodiscard]] Bound bound() const;
  [[nodiscard]] Bound BoundOfCommits(std::size_t commits) const;  // exactly these survive

  // The state that a recovery found.
  struct Match {
    std::size_t commits = 0;
    std::size_t failed_entry = 0;  // 1 + index of a failed batch that reappeared after them; 0: none
    std::size_t filtered = 0;      // the bound's
  };
  // Finds the state with this hash and sequence number within the bound. Returns false if there is none; *violation
  // then says what is wrong. `found` (canonical key -> value) is for the message, and, with a filter, to tell states of
  // one hash apart.
  bool Find(const Bound& bound, bool power_cut, std::uint64_t hash, SequenceNumber sequence,
            const std::map<std::string, std::string>& found, Match* match, std::string* violation) const;

  // Returns the timeline of the next life. It begins with the state that was found, all of which is durable now.
  [[nodiscard]] Timeline After(const Match& match) const;
  // Returns the state after the first `commits` batches and the first `filtered` calls of Filtered().
  [[nodiscard]] ModelState StateAt(std::size_t commits) const { return StateAt(commits, filtered_.size()); }
  [[nodiscard]] ModelState StateAt(std::size_t commits, std::size_t filtered) const;

 private:
  struct Entry {
    Operation write;
    std::size_t commits_before = 0;
    SequenceNumber last_sequence = 0;
    std::uint64_t hash = 0;  // of the state after it
    bool committed = false;
    bool failed = false;
  };
  [[nodiscard]] ModelState StateOf(const Match& match) const;
  // Completes *match if the filter may have left `found`. Otherwise returns false and sets *violation.
  bool CompletesMatch(Match* match, const Bound& bound, const std::map<std::string, std::string>& found,
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
