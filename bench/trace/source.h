// TraceSource: reads the operations of a trace, which is a recording of the library or text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "cambium/status.h"
#include "trace/traced_op.h"

namespace cambium::bench {

// Facts about a trace, complete at its end.
struct TraceFacts {
  bool is_text = false;
  bool is_whole = true;            // ended by EndTrace, or text
  std::uint64_t end_offset = 0;    // the offset at which it ends
  bool is_full = false;            // ended at max_trace_file_size
  std::uint64_t left_out = 0;      // batches too large for a record
  std::uint64_t open_scans = 0;    // scans of unknown length
  std::uint64_t sampling_frequency = 1;
  std::uint64_t filter = 0;
  std::uint64_t wall_seconds = 0;  // since 1970, when it began; 0: unknown
};

// One thread at a time.
class TraceSource {
 public:
  virtual ~TraceSource() = default;
  // Reads the next operation. Incomplete at the end; Corruption for a malformed line of text.
  virtual Status Next(TracedOp* op) = 0;
  // Returns the facts known so far: all of them once Next() has returned Incomplete.
  [[nodiscard]] virtual const TraceFacts& facts() const = 0;
};

// The record of a scan's end follows all operations made during the scan. So operations wait until the scans before
// them have ended, but at most this many wait. A longer scan is returned without its length, and counts as one of
// open_scans.
inline constexpr std::size_t kTraceWindow = 1u << 18;

// Opens a recording, or text: any file that does not begin with the eight magic bytes of a recording.
Status OpenTrace(const std::string& path, std::unique_ptr<TraceSource>* source, std::size_t window = kTraceWindow);

}  // namespace cambium::bench
