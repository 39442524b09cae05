// Entries like a user's small documents: inline values of about 100 bytes that compress to a half or less.
#pragma once

#include <string>

#include "index_test_util.h"

namespace cambium::testing {

inline std::string CompressibleValue(Prng* prng, std::size_t size = 100) {
  static const char* const kWords[] = {"amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath"};
  std::string value = "{\"user\":" + std::to_string(prng->Uniform(1000000)) + ",\"tags\":[";
  while (value.size() + 9 < size) value += std::string("\"") + kWords[prng->Uniform(8)] + "\",";
  value.resize(size, '}');
  return value;
}

inline OwnedEntry CompressibleEntry(Prng* prng, std::size_t size = 100) {
  OwnedEntry entry;
  entry.kind = EntryKind::kInline;
  entry.value = CompressibleValue(prng, size);
  return entry;
}

inline std::string NumberedKey(std::uint64_t n) {
  std::string digits = std::to_string(n);
  return "key:" + std::string(12 - digits.size(), '0') + digits;
}

// Keys 0, 3, 6, ... All values are compressible, except every seventh, which RandomEntry makes.
inline Model CompressibleModel(std::uint64_t count, std::uint32_t page_size, Prng* prng) {
  Model model{KeyLess{BytewiseComparator()}};
  for (std::uint64_t n = 0; n < count; ++n) {
    model[NumberedKey(3 * n)] = prng->OneIn(7) ? RandomEntry(prng, page_size) : CompressibleEntry(prng);
  }
  return model;
}

}  // namespace cambium::testing
