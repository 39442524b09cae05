#include "testing/program/read_all.h"

#include <memory>

#include "testing/program/model_state.h"
#include "testing/test_comparators.h"

namespace cambium::testing {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Status Walk(DB* db, const ReadOptions& options, bool forwards, Pairs* pairs) {
  const std::unique_ptr<Iterator> it(db->NewIterator(options));
  for (forwards ? it->SeekToFirst() : it->SeekToLast(); it->Valid(); forwards ? it->Next() : it->Prev()) {
    std::string key = it->key().ToString();
    const Slice value = it->value();
    if (!it->Valid()) break;
    pairs->emplace_back(std::move(key), value.ToString());
  }
  return it->status();
}

}  // namespace

std::string ReadAll(DB* db, const ReadOptions& options, const Comparator* comparator,
                    const std::vector<std::string>& universe, Contents* contents, const RuleFilter* filter) {
  *contents = {};
  Pairs forwards;
  Pairs backwards;
  contents->status = Walk(db, options, true, &forwards);
  if (!contents->status.ok()) return "";
  ReadOptions other = options;
  other.async_io = !options.async_io;
  contents->status = Walk(db, other, false, &backwards);
  if (!contents->status.ok()) return "";
  for (std::size_t i = 0; i < forwards.size(); ++i) {
    const auto& [key, value] = forwards[i];
    if (i > 0 && comparator->Compare(forwards[i - 1].first, key) >= 0) {
      return "an iterator shows " + Quote(key) + " after " + Quote(forwards[i - 1].first);
    }
    contents->hash ^= HashOf(comparator, key, value, filter);
    contents->values[CanonicalKey(comparator, key)] = value;
  }
  if (forwards.size() != backwards.size()) {
    return "an iterator shows " + std::to_string(forwards.size()) + " keys forwards, but backwards " +
           std::to_string(backwards.size());
  }
  for (std::size_t i = 0; i < forwards.size(); ++i) {
    if (forwards[i] != backwards[backwards.size() - 1 - i]) {
      return "forwards and backwards differ at " + Quote(forwards[i].first);
    }
  }
  for (const std::string& key : universe) {
    std::string value;
    const Status status = db->Get(options, key, &value);
    if (!status.ok() && !status.IsNotFound()) {
      contents->status = status;
      return "";
    }
    const auto walked = contents->values.find(CanonicalKey(comparator, key));
    if (status.ok() != (walked != contents->values.end())) {
      return "Get(" + Quote(key) + ") returns " + status.ToString() + ", but an iterator shows the opposite";
    }
    if (status.ok() && value != walked->second) {
      return "Get(" + Quote(key) + ") gives " + DescribeValue(value) + ", but an iterator " + DescribeValue(walked->second);
    }
  }
  return "";
}

void ReadAtOnce(DB* db, const ReadOptions& options, const Comparator* comparator, Contents* contents,
                const RuleFilter* filter) {
  *contents = {};
  Pairs pairs;
  contents->status = Walk(db, options, true, &pairs);
  for (const auto& [key, value] : pairs) {
    contents->hash ^= HashOf(comparator, key, value, filter);
    contents->values[CanonicalKey(comparator, key)] = value;
  }
}

}  // namespace cambium::testing
