#include "index/leaf_filter.h"

#include <algorithm>
#include <cassert>

#include "index/filter.h"
#include "util/coding.h"

namespace cambium {
namespace {

constexpr std::uint32_t kWindowWords = 8;  // a cache line

[[nodiscard]] std::uint32_t FirstWord(std::uint64_t hash, std::uint32_t words) {
  return static_cast<std::uint32_t>((hash >> 32) * words >> 32);
}

// Calls visit(word, mask) for each bit of a key.
template <typename Visit>
void VisitBits(std::uint64_t hash, std::uint32_t words, unsigned probes, Visit visit) {
  const std::uint64_t window_bits = 64u * std::min(words, kWindowWords);
  const std::uint32_t first = FirstWord(hash, words);
  std::uint64_t product = hash;
  for (unsigned i = 0; i < probes; ++i) {
    product *= kFilterMultiplier;
    const auto bit = static_cast<std::uint32_t>((product >> 32) * window_bits >> 32);
    std::uint32_t word = first + bit / 64;
    if (word >= words) word -= words;
    visit(word, std::uint64_t{1} << (bit % 64));
  }
}

}  // namespace

bool LeafFilter::MayContain(std::uint64_t hash) const {
  if (words.empty()) return true;
  const auto count = static_cast<std::uint32_t>(words.size() / 8);
  // Both lines at once; and all bits are looked at, because where to stop is what no processor can predict.
  std::uint32_t last = FirstWord(hash, count) + std::min(count, kWindowWords) - 1;
  if (last >= count) last -= count;
  __builtin_prefetch(words.data() + std::size_t{last} * 8);
  std::uint64_t missing = 0;
  VisitBits(hash, count, probes, [&](std::uint32_t word, std::uint64_t mask) {
    missing |= ~DecodeFixed<std::uint64_t>(words.data() + std::size_t{word} * 8) & mask;
  });
  return missing == 0;
}

std::string MakeLeafFilter(const std::vector<std::uint64_t>& hashes, unsigned bits_per_key) {
  assert(bits_per_key > 0);
  std::vector<std::uint64_t> words((hashes.size() * bits_per_key + 63) / 64);
  for (const std::uint64_t hash : hashes) {
    VisitBits(hash, static_cast<std::uint32_t>(words.size()), FilterProbesFor(bits_per_key),
              [&](std::uint32_t word, std::uint64_t mask) { words[word] |= mask; });
  }
  std::string bytes;
  bytes.reserve(words.size() * 8);
  for (const std::uint64_t word : words) PutFixed<std::uint64_t>(&bytes, word);
  return bytes;
}

}  // namespace cambium
