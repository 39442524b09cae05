// ReadAll: reads everything in a database in several ways and compares them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "testing/program/rule_filter.h"

namespace cambium::testing {

struct Contents {
  std::uint64_t hash = 0;                      // as ModelState::hash()
  std::map<std::string, std::string> values;  // by canonical key
  Status status;                               // why reading ended early
};

// Iterates forwards and backwards, and gets every key of `universe`. Returns "" if these ways of reading agree, else a
// description of the first difference. An error is not a difference: it is in contents->status. contents->hash is the
// hash of the entries that were read; with `filter`, after the filter has changed them.
[[nodiscard]] std::string ReadAll(DB* db, const ReadOptions& options, const Comparator* comparator,
                                  const std::vector<std::string>& universe, Contents* contents,
                                  const RuleFilter* filter = nullptr);

// Reads everything with one iterator, that is, at one moment, while other threads write.
void ReadAtOnce(DB* db, const ReadOptions& options, const Comparator* comparator, Contents* contents,
                const RuleFilter* filter = nullptr);

}  // namespace cambium::testing
