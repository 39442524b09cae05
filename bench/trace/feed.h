// TraceFeed: hands out the calls of a trace, in order, to the threads of a replay.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "trace/source.h"

namespace cambium::bench {

// One call: an operation, or the operations of a batch or MultiGet.
using TracedCallOps = std::vector<TracedOp>;

// Any thread.
class TraceFeed {
 public:
  explicit TraceFeed(const std::string& path) { status_ = OpenTrace(path, &source_); }

  // Reads the next call. Incomplete at the end.
  Status Next(TracedCallOps* call) {
    const std::lock_guard lock(mutex_);
    call->clear();
    if (!status_.ok()) return status_;
    do {
      TracedOp& op = call->emplace_back();
      status_ = source_->Next(&op);
      if (!status_.ok()) {
        call->pop_back();
        return call->empty() || !status_.IsIncomplete() ? status_ : Status();  // a truncated call
      }
    } while (call->back().more);
    return {};
  }
  // Returns all facts once Next() has returned Incomplete, some before.
  [[nodiscard]] TraceFacts facts() const {
    const std::lock_guard lock(mutex_);
    return source_ == nullptr ? TraceFacts() : source_->facts();
  }

 private:
  mutable std::mutex mutex_;
  std::unique_ptr<TraceSource> source_;  // guarded by mutex_
  Status status_;                        // guarded by mutex_
};

// Returns the key under which an operation is replayed. The stores here have one key space, so keys of families other
// than the default one get the family's number, 4 bytes big-endian, as a prefix.
inline std::string ReplayKey(std::uint32_t family, const std::string& key) {
  if (family == 0) return key;
  std::string with_family;
  for (int shift = 24; shift >= 0; shift -= 8) with_family += static_cast<char>(family >> shift);
  return with_family + key;
}

}  // namespace cambium::bench
