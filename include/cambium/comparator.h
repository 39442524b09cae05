// Comparator: the order of keys.
#pragma once

#include "cambium/slice.h"

namespace cambium {

// A total order of byte strings. Thread-safe, and must outlive every database that uses it. Under one name the order
// must never change: a database stores the name, and Open fails with a comparator of another name. It is asked only
// about whole keys that a caller has given: keys that were written, bounds and targets of calls, and keys in answers of
// a compaction filter. So an order of keys of a fixed width need not expect shorter ones.
class Comparator {
 public:
  virtual ~Comparator() = default;
  // < 0, 0 or > 0 if a is before, equal to, or after b.
  [[nodiscard]] virtual int Compare(Slice a, Slice b) const = 0;
  // At most 255 bytes. Open refuses a caller's comparator whose name begins with "cambium.".
  [[nodiscard]] virtual const char* Name() const = 0;
  // False if keys with different bytes may compare equal (a case-folding order, say). Filters, which compare bytes, are
  // then not used.
  [[nodiscard]] virtual bool EqualMeansSameBytes() const { return true; }
};

// Unsigned byte order, in which a prefix precedes the longer strings that begin with it ("cambium.BytewiseComparator"),
// and its reverse ("cambium.ReverseBytewiseComparator"). Never destroyed.
[[nodiscard]] const Comparator* BytewiseComparator();
[[nodiscard]] const Comparator* ReverseBytewiseComparator();

}  // namespace cambium
