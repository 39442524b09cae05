// A trace as text, one operation a line:
//
//   ts op key vlen scanlen [family=N] [end=KEY] [sync] [more]
//
//   ts       microseconds since the trace began
//   op       get multiget put delete single_delete delete_range seek seek_for_prev seek_to_first seek_to_last
//   key      bytes from '!' to '~' but the backslash are themselves, others \xHH; no bytes are '-', and the key '-' is \x2d
//   vlen     bytes of the value that was put or found; -1 if nothing was found, 0 where there is no value
//   scanlen  calls of Next and Prev behind a seek; -1 if the trace does not know, 0 for what is no scan
//   more     the next line is of the same batch or MultiGet
//
// Lines that begin with '#' and empty ones say nothing.
#pragma once

#include <string>
#include <string_view>

#include "cambium/status.h"
#include "trace/traced_op.h"

namespace cambium::bench {

inline constexpr std::string_view kTraceTextTitle = "# ts op key vlen scanlen";

[[nodiscard]] std::string EscapedKey(std::string_view key);
// Without the line feed.
[[nodiscard]] std::string ToTraceLine(const TracedOp& op);
// Corruption says what is wrong with the line, and not which one it is. Not for lines that say nothing.
Status ParseTraceLine(std::string_view line, TracedOp* op);

}  // namespace cambium::bench
