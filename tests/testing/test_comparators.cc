#include "testing/test_comparators.h"

#include <algorithm>

namespace cambium::testing {
namespace {

unsigned char Fold(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 'A' && byte <= 'Z' ? static_cast<unsigned char>(byte - 'A' + 'a') : byte;
}

class CaseFolding final : public Comparator {
 public:
  [[nodiscard]] int Compare(Slice a, Slice b) const override {
    const std::size_t shared = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < shared; ++i) {
      if (Fold(a[i]) != Fold(b[i])) return Fold(a[i]) < Fold(b[i]) ? -1 : 1;
    }
    return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
  }
  [[nodiscard]] const char* Name() const override { return "test.CaseFolding"; }
  [[nodiscard]] bool EqualMeansSameBytes() const override { return false; }
};

class LengthFirst final : public Comparator {
 public:
  [[nodiscard]] int Compare(Slice a, Slice b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  [[nodiscard]] const char* Name() const override { return "test.LengthFirst"; }
};

}  // namespace

const Comparator* CaseFoldingComparator() {
  static const CaseFolding comparator;
  return &comparator;
}

const Comparator* LengthFirstComparator() {
  static const LengthFirst comparator;
  return &comparator;
}

std::string CanonicalKey(const Comparator* comparator, Slice key) {
  std::string canonical = key.ToString();
  if (comparator == CaseFoldingComparator()) {
    for (char& c : canonical) c = static_cast<char>(Fold(c));
  }
  return canonical;
}

}  // namespace cambium::testing
