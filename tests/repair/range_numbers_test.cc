#include "repair/range_numbers.h"

#include <gtest/gtest.h>

#include <vector>

#include "util/prng.h"

namespace cambium {
namespace {

// Compares the result with one number for each of a few keys.
TEST(RangeNumbersTest, FindsTheNewestRangeOverAKey) {
  Prng prng(9);
  for (int round = 0; round < 300; ++round) {
    RangeNumbers ranges(BytewiseComparator());
    std::vector<SequenceNumber> truth(30);
    const std::uint64_t count = prng.Uniform(12);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t from = prng.Uniform(30);
      const std::uint64_t to = prng.Uniform(30);
      const SequenceNumber sequence = 1 + prng.Uniform(8);
      ranges.Add({sequence, std::string(1, static_cast<char>('0' + from)), std::string(1, static_cast<char>('0' + to))});
      for (std::uint64_t key = from; key < to; ++key) truth[key] = std::max(truth[key], sequence);
    }
    ranges.Sort();
    for (std::size_t key = 0; key < truth.size(); ++key) {
      ASSERT_EQ(ranges.NewestOver(std::string(1, static_cast<char>('0' + key))), truth[key]) << round << " " << key;
    }
  }
}

}  // namespace
}  // namespace cambium
