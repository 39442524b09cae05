#include "trace/expected.h"

#include <iterator>
#include <unordered_set>
#include <utility>

#include "trace/feed.h"

namespace cambium::bench {
namespace {

using Place = TracedContents::const_iterator;

// Returns where a scan begins; the end if it finds no entry.
Place Begin(const TracedContents& contents, const TracedOp& op, const std::string& key) {
  switch (op.kind) {
    case TracedKind::kSeek: return contents.lower_bound(key);
    case TracedKind::kSeekForPrev: {
      const Place behind = contents.upper_bound(key);
      return behind == contents.begin() ? contents.end() : std::prev(behind);
    }
    case TracedKind::kSeekToLast: return contents.empty() ? contents.end() : std::prev(contents.end());
    default: return contents.begin();
  }
}

std::uint64_t Scan(const TracedContents& contents, const TracedOp& op, const std::string& key) {
  const bool backward = op.kind == TracedKind::kSeekForPrev || op.kind == TracedKind::kSeekToLast;
  const std::uint64_t moves = op.scan_length.value_or(0);
  AnswerOfScan answer;
  Place at = Begin(contents, op, key);
  for (std::uint64_t i = 0; at != contents.end(); ++i) {
    answer.Pass(at->first, at->second);
    if (i == moves) break;
    if (!backward) {
      ++at;
    } else {
      at = at == contents.begin() ? contents.end() : std::prev(at);
    }
  }
  return answer.value();
}

}  // namespace

TracedContents ContentsBefore(const std::string& path, Status* status) {
  TracedContents contents;
  TraceFeed feed(path);
  std::unordered_set<std::string> seen;
  TracedCallOps call;
  Status next;
  while ((next = feed.Next(&call)).ok()) {
    for (const TracedOp& op : call) {
      if (op.IsScan() || op.kind == TracedKind::kDeleteRange) continue;
      std::string key = ReplayKey(op.family, op.key);
      if (!seen.insert(key).second) continue;
      if (op.IsLookup() && op.value_size.has_value()) contents.emplace(std::move(key), *op.value_size);
    }
  }
  if (status != nullptr) *status = next.IsIncomplete() ? Status() : next;
  return contents;
}

ExpectedAnswers AnswersOf(const std::string& path, TracedContents* contents) {
  ExpectedAnswers answers;
  TraceFeed feed(path);
  TracedCallOps call;
  while (feed.Next(&call).ok()) {
    for (const TracedOp& op : call) {
      std::string key = ReplayKey(op.family, op.key);
      if (op.IsScan()) {
        answers.push_back(Scan(*contents, op, key));
      } else if (op.IsLookup()) {
        const auto found = contents->find(key);
        answers.push_back(
            AnswerOfLookup(found == contents->end() ? std::nullopt : std::optional<std::uint64_t>(found->second)));
      } else if (op.kind == TracedKind::kPut) {
        (*contents)[std::move(key)] = *op.value_size;
      } else if (op.kind != TracedKind::kDeleteRange) {
        contents->erase(key);
      }
    }
  }
  return answers;
}

}  // namespace cambium::bench
