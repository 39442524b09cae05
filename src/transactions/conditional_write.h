// ConditionalWrite: the conditions of one WriteIf, with the families that their handles stand for.
//
//   note the newest write ─▶ read the keys ─▶ append lock: are they unchanged? ─▶ append
//                                                          no ─▶ from the beginning
//
// A TransactionDB locks the keys before. It looks at them under the append lock too: its locks are for bytes, and a
// comparator may take keys with other bytes for equal.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/db_inside.h"
#include "cambium/conditional_write.h"

namespace cambium {

// A key and the id of its family.
using FamilyKey = std::pair<std::uint32_t, std::string>;

// One thread.
class ConditionalWrite {
 public:
  // Both must outlive it.
  ConditionalWrite(DbInside* inside, const WriteConditions* conditions) : inside_(*inside), conditions_(*conditions) {}

  // Finds the families. Called first, once. An error if a handle is of another database.
  Status FindFamilies();
  // Adds the keys of the conditions.
  void AddKeys(std::set<FamilyKey>* keys) const;
  // Writes the batch if all conditions hold. As WriteIf.
  Status Write(const WriteOptions& options, WriteBatch* batch, bool* written) const;

 private:
  class Unchanged;

  // Whether all conditions hold in the newest state. Reads each key once, one after another.
  [[nodiscard]] Result<bool> AllHold() const;
  // Whether the i-th condition holds.
  [[nodiscard]] Result<bool> Holds(std::size_t i) const;
  // OK if none of the keys was written after `since`; Busy or TryAgain as ChangeFinder.
  [[nodiscard]] Status CheckUnchanged(SequenceNumber since) const;

  DbInside& inside_;
  const WriteConditions& conditions_;
  std::vector<std::shared_ptr<Family>> families_;  // one for each condition
};

}  // namespace cambium
