// KeySpan: the range between the smallest and the largest key that a run, or several runs, may contain or delete.
//
//   smallest            largest              open: `largest` is the end of a range delete, so the span ends before it
//   |--- a -----------------|
#pragma once

#include "cambium/slice.h"
#include "index/page_format.h"
#include "manifest/run_info.h"

namespace cambium {

// Borrows its keys. Never empty.
struct KeySpan {
  Slice smallest;
  Slice largest;
  bool largest_is_open = false;

  static KeySpan Of(const RunInfo& run) { return {run.smallest_key, run.largest_key, run.largest_is_open}; }
};

// Whether the whole span is below `key`.
[[nodiscard]] inline bool EndsBefore(const KeyOrder& order, const KeySpan& span, Slice key) {
  const int compared = order.Compare(span.largest, key);
  return compared < 0 || (compared == 0 && span.largest_is_open);
}

[[nodiscard]] inline bool Overlap(const KeyOrder& order, const KeySpan& a, const KeySpan& b) {
  return !EndsBefore(order, a, b.smallest) && !EndsBefore(order, b, a.smallest);
}

// The smallest span that covers both.
[[nodiscard]] inline KeySpan Union(const KeyOrder& order, const KeySpan& a, const KeySpan& b) {
  KeySpan both = a;
  if (order.Compare(b.smallest, a.smallest) < 0) both.smallest = b.smallest;
  const int compared = order.Compare(b.largest, a.largest);
  if (compared > 0 || (compared == 0 && a.largest_is_open)) {
    both.largest = b.largest;
    both.largest_is_open = b.largest_is_open;
  }
  return both;
}

}  // namespace cambium
