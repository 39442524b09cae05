// TraceFeed: the calls of a trace, handed out to the threads of a replay in their order.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "trace/source.h"

namespace cambium::bench {

// One call: an operation, or those of a batch or MultiGet.
using TracedCallOps = std::vector<TracedOp>;

// Any thread.
class TraceFeed {
 public:
  explicit TraceFeed(const std::string& path) { status_ = OpenTrace(path, &source_); }

  // Incomplete at the end.
  Status Next(TracedCallOps* call) {
    const std::lock_guard lock(mutex_);
    call->clear();
    if (!status_.ok()) return status_;
    do {
      TracedOp& op = call->emplace_back();
      status_ = source_->Next(&op);
      if (!status_.ok()) {
        call->pop_back();
        return call->empty() || !status_.IsIncomplete() ? status_ : Status();  // a call that was cut off
      }
    } while (call->back().more);
    return {};
  }
  // After Incomplete.
  [[nodiscard]] TraceFacts facts() const {
    const std::lock_guard lock(mutex_);
    return source_ == nullptr ? TraceFacts() : source_->facts();
  }

 private:
  mutable std::mutex mutex_;
  std::unique_ptr<TraceSource> source_;  // mutex_
  Status status_;                        // mutex_
};

// The key under which an operation is replayed: families other than the default one have their number, 4 bytes
// big-endian, in front of theirs, since the stores here have one space of keys.
inline std::string ReplayKey(std::uint32_t family, const std::string& key) {
  if (family == 0) return key;
  std::string with_family;
  for (int shift = 24; shift >= 0; shift -= 8) with_family += static_cast<char>(family >> shift);
  return with_family + key;
}

}  // namespace cambium::bench
