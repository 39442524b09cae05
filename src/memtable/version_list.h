// VersionList: the versions of a memtable by sequence number. It makes cursors over the versions between two sequence
// numbers, and visits only these versions. A walk over the memtable (MemTable::NewCursor) would pass all keys.
//
// It takes 8 bytes for each version. The memtable takes no more writes, and outlives the list and its cursors. Any
// thread.
#pragma once

#include <memory>
#include <vector>

#include "memtable/memtable.h"
#include "memtable/record.h"

namespace cambium {

class VersionList {
 public:
  explicit VersionList(const MemTable* table);

  // As MemTable::NewCursor. Takes O(n log n) for n versions between the two sequence numbers.
  [[nodiscard]] std::unique_ptr<EntryCursor> NewCursor(SequenceNumber read_seq, SequenceNumber after_seq,
                                                       HasVersions has = HasVersions::kNo) const;

 private:
  const MemTable& table_;
  const std::vector<Record> versions_;  // by sequence number
};

}  // namespace cambium
