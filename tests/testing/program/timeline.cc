#include "testing/program/timeline.h"

#include <algorithm>
#include <cassert>

#include "testing/test_comparators.h"
#include "util/coding.h"

namespace cambium::testing {

void Timeline::Issue(const Operation& write) {
  Entry entry;
  entry.write = write;
  entry.commits_before = commits_.size();
  entry.last_sequence = sequence_ + write.mutations.size();
  ModelState next = tip_;
  next.Apply(write);
  entry.hash = next.hash();
  entries_.push_back(std::move(entry));
}

void Timeline::Commit() {
  Entry& entry = entries_.back();
  assert(!entry.committed && !entry.failed);
  entry.committed = true;
  tip_.Apply(entry.write);
  sequence_ = entry.last_sequence;
  commits_.push_back(entries_.size() - 1);
}

void Timeline::Fail() {
  assert(!entries_.back().committed && !entries_.back().failed);
  entries_.back().failed = true;
}

void Timeline::Filtered(const std::optional<std::string>& lower, const std::optional<std::string>& upper) {
  if (tip_.filter() == nullptr) return;
  tip_.Filter(lower, upper);
  filtered_.push_back({commits_.size(), lower, upper});
}

Timeline::Bound Timeline::bound() const {
  return {entries_.size(), commits_.size(), acknowledged_, synced_count(), filtered_.size()};
}

Timeline::Bound Timeline::BoundOfCommits(std::size_t commits) const {
  const std::size_t entries = commits == 0 ? 0 : commits_[commits - 1] + 1;
  return {entries, commits, commits, commits, filtered_.size()};
}

bool Timeline::Find(const Bound& bound, bool power_cut, std::uint64_t hash, SequenceNumber sequence,
                    const std::map<std::string, std::string>& found, Match* match, std::string* violation) const {
  const std::size_t least = power_cut ? bound.synced : bound.acknowledged;
  // Newest first: batches that change nothing give several prefixes with the same state.
  for (std::size_t e = bound.entries; e-- > 0;) {
    const Entry& entry = entries_[e];
    if (entry.last_sequence != sequence || entry.hash != hash) continue;
    if (entry.committed) {
      if (entry.commits_before + 1 < least) continue;
      *match = {entry.commits_before + 1, 0};
      return CompletesMatch(match, bound, found, violation);
    }
    // A batch that is not visible (yet) can match only if no commit came after it.
    if (entry.commits_before < least || entry.commits_before != bound.commits) continue;
    *match = {entry.commits_before, e + 1};
    return CompletesMatch(match, bound, found, violation);
  }
  if (least == 0 && sequence == base_sequence_ && hash == base_.hash()) {
    *match = {0, 0};
    return CompletesMatch(match, bound, found, violation);
  }
  *violation = Explain(bound, power_cut, sequence, found);
  return false;
}

std::string Timeline::Explain(const Bound& bound, bool power_cut, SequenceNumber sequence,
                              const std::map<std::string, std::string>& found) const {
  const std::size_t least = power_cut ? bound.synced : bound.acknowledged;
  std::string text = "the recovered state is not a prefix of the commits: sequence number " +
                     std::to_string(sequence) + ", " + std::to_string(found.size()) + " keys; " +
                     std::to_string(least) + " to " + std::to_string(bound.commits) + " batches were expected";
  // Compare with the commit of this sequence number, or the nearest one below it.
  std::size_t commits = 0;
  SequenceNumber reached = base_sequence_;
  for (std::size_t k = 0; k < commits_.size(); ++k) {
    if (entries_[commits_[k]].last_sequence > sequence) break;
    commits = k + 1;
    reached = entries_[commits_[k]].last_sequence;
  }
  text += ". " + std::string(reached == sequence ? "That number ends" : "The nearest number below it ends") +
          " batch " + std::to_string(commits) +
          (commits == 0 ? " (the beginning)" : " (operation " + std::to_string(entries_[commits_[commits - 1]].write.id) + ")");
  if (commits < least) text += "; acknowledged batches are lost";
  const ModelState expected = StateAt(commits);
  int lines = 0;
  for (const auto& [key, cell] : expected.map()) {
    const auto there = found.find(CanonicalKey(expected.comparator(), key));
    const std::string right = expected.ValueOf(cell);
    if (expected.Allows(cell, there == found.end() ? std::nullopt : std::optional(there->second))) continue;
    if (++lines > 8) break;
    text += "\n    " + Quote(key) + " should be " + DescribeValue(right) + ", but is " +
            (there == found.end() ? "missing" : DescribeValue(there->second));
  }
  for (const auto& [key, value] : found) {
    if (expected.map().contains(key)) continue;
    if (++lines > 8) break;
    text += "\n    " + Quote(key) + " should not exist, but is " + DescribeValue(value);
  }
  for (const auto& [key, value] : found) {
    if (value.size() < 8) continue;
    const auto dropped = dropped_.find(DecodeFixed<std::uint64_t>(value.data()));
    if (dropped == dropped_.end()) continue;
    text += "\n    operation " + std::to_string(dropped->first) + " was dropped by recovery " +
            std::to_string(dropped->second) + ", but reappeared";
    break;
  }
  return text;
}

ModelState Timeline::StateAt(std::size_t commits, std::size_t filtered) const {
  ModelState state = base_;
  std::size_t next = 0;
  const auto filter_before = [&](std::size_t k) {
    for (; next < filtered && filtered_[next].commits <= k; ++next) {
      state.Filter(filtered_[next].lower, filtered_[next].upper);
    }
  };
  for (std::size_t k = 0; k < commits; ++k) {
    filter_before(k);
    state.Apply(entries_[commits_[k]].write);
  }
  filter_before(commits);
  return state;
}

ModelState Timeline::StateOf(const Match& match) const {
  ModelState state = StateAt(match.commits, match.filtered);
  if (match.failed_entry != 0) state.Apply(entries_[match.failed_entry - 1].write);
  return state;
}

bool Timeline::CompletesMatch(Match* match, const Bound& bound, const std::map<std::string, std::string>& found,
                              std::string* violation) const {
  match->filtered = bound.filtered;
  if (base_.filter() == nullptr) return true;
  const std::string wrong = StateOf(*match).NarrowTo(found);
  if (wrong.empty()) return true;
  *violation =
      "the state after " + std::to_string(match->commits) + " batches, but not what the filter leaves: " + wrong;
  return false;
}

Timeline Timeline::After(const Match& match) const {
  Timeline next(base_.comparator(), base_.filter());
  next.base_ = StateOf(match);
  next.base_sequence_ = match.commits == 0 ? base_sequence_ : entries_[commits_[match.commits - 1]].last_sequence;
  if (match.failed_entry != 0) {
    next.base_sequence_ = entries_[match.failed_entry - 1].last_sequence;
  }
  next.tip_ = next.base_;
  next.sequence_ = next.base_sequence_;
  next.recoveries_ = recoveries_ + 1;
  next.dropped_ = dropped_;
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    const Entry& entry = entries_[e];
    const bool kept = entry.committed ? entry.commits_before < match.commits : e + 1 == match.failed_entry;
    if (!kept) next.dropped_[entry.write.id] = next.recoveries_;
  }
  return next;
}

}  // namespace cambium::testing
