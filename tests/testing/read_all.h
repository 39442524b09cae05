// ReadAll: everything a database holds, read in every way there is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "testing/rule_filter.h"

namespace cambium::testing {

struct Contents {
  std::uint64_t hash = 0;                      // as ModelState::hash()
  std::map<std::string, std::string> values;  // by canonical key
  Status status;                               // why reading ended early
};

// Walks forwards and backwards and gets every key of `universe`; "" or where two of them differ. A status that is not
// OK is left in contents->status and is no difference. With a filter the hash is that of what it leaves.
[[nodiscard]] std::string ReadAll(DB* db, const ReadOptions& options, const Comparator* comparator,
                                  const std::vector<std::string>& universe, Contents* contents,
                                  const RuleFilter* filter = nullptr);

// The same by one iterator, so at one moment, while others write.
void ReadAtOnce(DB* db, const ReadOptions& options, const Comparator* comparator, Contents* contents,
                const RuleFilter* filter = nullptr);

}  // namespace cambium::testing
