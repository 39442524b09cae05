// Comparator: the order of keys.
#pragma once

#include "cambium/slice.h"

namespace cambium {

// A total order of byte strings. Thread-safe, never destroyed before the last database that uses it, and for ever the
// same under the same name: a database stores the name and refuses to open with another.
class Comparator {
 public:
  virtual ~Comparator() = default;
  // < 0, 0 or > 0 as a is before, equal to, or behind b.
  [[nodiscard]] virtual int Compare(Slice a, Slice b) const = 0;
  // At most 255 bytes. Names that start with "cambium." are taken.
  [[nodiscard]] virtual const char* Name() const = 0;
  // False if two keys with different bytes may compare equal (a case-folding order, say). Filters, which know bytes
  // only, are not used then.
  [[nodiscard]] virtual bool EqualMeansSameBytes() const { return true; }
};

// Unsigned byte order, a prefix before what it starts ("cambium.BytewiseComparator"), and its reverse
// ("cambium.ReverseBytewiseComparator"). Live for ever.
[[nodiscard]] const Comparator* BytewiseComparator();
[[nodiscard]] const Comparator* ReverseBytewiseComparator();

}  // namespace cambium
