// TraceSource: the operations of a trace, one after the other, be it one that the library has recorded, or text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "cambium/status.h"
#include "trace/traced_op.h"

namespace cambium::bench {

// What is known of a trace at its end.
struct TraceFacts {
  bool is_text = false;
  bool is_whole = true;            // it was ended by EndTrace, or is text
  std::uint64_t end_offset = 0;    // where it ends
  bool is_full = false;            // it ended at max_trace_file_size
  std::uint64_t left_out = 0;      // batches too large for a record
  std::uint64_t open_scans = 0;    // whose length is not known
  std::uint64_t sampling_frequency = 1;
  std::uint64_t filter = 0;
  std::uint64_t wall_seconds = 0;  // since 1970, when it began; 0: unknown
};

// One thread at a time.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  // Incomplete at the end. Corruption: a line of text that is none.
  virtual Status Next(TracedOp* op) = 0;
  // What is known so far; all of it after Incomplete.
  [[nodiscard]] virtual const TraceFacts& facts() const = 0;
};

// The end of a scan stands behind all that was done meanwhile: operations wait until the scans before them have ended,
// at most so many. A longer scan goes on without its length, and is one of open_scans.
inline constexpr std::size_t kTraceWindow = 1u << 18;

// Text is what does not begin with the eight bytes of a trace.
Status OpenTrace(const std::string& path, std::unique_ptr<TraceSource>* source, std::size_t window = kTraceWindow);

}  // namespace cambium::bench
