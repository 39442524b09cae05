// A trace as text, one operation a line:
//
//   ts op key vlen scanlen [family=N] [end=KEY] [sync] [more]
//
//   ts       microseconds since the trace began
//   op       get multiget put delete single_delete delete_range seek seek_for_prev seek_to_first seek_to_last
//   key      bytes from '!' to '~' except the backslash as they are, others as \xHH. '-' is the empty key, \x2d the
//            key '-'
//   vlen     bytes of the value put or found; -1 if nothing was found, 0 for operations without a value
//   scanlen  calls of Next and Prev after a seek; -1 if unknown, 0 for other operations
//   more     the next line belongs to the same batch or MultiGet
//
// Empty lines and lines that begin with '#' are ignored.
#pragma once

#include <string>
#include <string_view>

#include "cambium/status.h"
#include "trace/traced_op.h"

namespace cambium::bench {

inline constexpr std::string_view kTraceTextTitle = "# ts op key vlen scanlen";

[[nodiscard]] std::string EscapedKey(std::string_view key);
// Returns the line without its line feed.
[[nodiscard]] std::string ToTraceLine(const TracedOp& op);
// Corruption says what is wrong with the line, but not which line it is. Must not be called for lines that are ignored.
Status ParseTraceLine(std::string_view line, TracedOp* op);

}  // namespace cambium::bench
