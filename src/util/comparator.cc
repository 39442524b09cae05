#include "cambium/comparator.h"

namespace cambium {
namespace {

class Bytewise final : public Comparator {
 public:
  int Compare(Slice a, Slice b) const override { return a.compare(b); }
  const char* Name() const override { return "cambium.BytewiseComparator"; }
};
class ReverseBytewise final : public Comparator {
 public:
  int Compare(Slice a, Slice b) const override { return b.compare(a); }
  const char* Name() const override { return "cambium.ReverseBytewiseComparator"; }
};

}  // namespace

const Comparator* BytewiseComparator() {
  static const Bytewise comparator;
  return &comparator;
}
const Comparator* ReverseBytewiseComparator() {
  static const ReverseBytewise comparator;
  return &comparator;
}

}  // namespace cambium
