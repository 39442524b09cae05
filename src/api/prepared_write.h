// PreparedWrite: the records of a Put, Delete or Write, ready to be appended.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "state/write_head.h"
#include "util/meter.h"
#include "vlog/prepared_batch.h"

namespace cambium {

// Asked right before a batch is appended, so that no other write is in between.
class WriteCondition {
 public:
  virtual ~WriteCondition() = default;
  // OK: the batch is appended. Any other result is that of the write, which changes nothing.
  [[nodiscard]] virtual Status Check() const CAMBIUM_REQUIRES(append_lock) = 0;
};

// Used by one thread.
struct PreparedWrite {
  PreparedBatch batch;
  std::span<const WriteTarget> targets;  // the families of the batch; kept alive by the caller
  std::vector<std::uint64_t> large;      // numbers of the files of its large values; 0: one that is being made
  std::uint64_t user_bytes = 0;          // the bytes of all keys and values, uncompressed
  bool only_deletes = false;
  SequenceNumber last = 0;               // its last sequence number; 0: it is not appended
  const WriteCondition* condition = nullptr;  // null: it always holds
};

// Counts a write that was appended.
void CountWritten(Meter meter, const PreparedWrite& write);

}  // namespace cambium
