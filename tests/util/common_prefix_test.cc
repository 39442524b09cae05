#include "util/common_prefix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

TEST(CommonPrefixTest, CountsEqualLeadingBytes) {
  EXPECT_EQ(CommonPrefix("", ""), 0u);
  EXPECT_EQ(CommonPrefix("", "a"), 0u);
  EXPECT_EQ(CommonPrefix("abc", "abd"), 2u);
  EXPECT_EQ(CommonPrefix("abc", "abcdefghijk"), 3u);
  EXPECT_EQ(CommonPrefix("0123456789", "0123456789"), 10u);
  EXPECT_EQ(CommonPrefix("01234567", "01234567\xff"), 8u);
}

// Both slices begin at any offset, differ at any byte in any bit, and end at any size.
TEST(CommonPrefixTest, AgreesWithACountOfBytes) {
  const std::uint64_t seed = testing::SeedFromEnvironment(17);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = prng.Bytes(prng.Uniform(40));
    std::string b = a + prng.Bytes(prng.Uniform(10));
    if (!b.empty() && !prng.OneIn(4)) {
      char& changed = b[prng.Uniform(b.size())];
      changed = static_cast<char>(changed ^ (1 << prng.Uniform(8)));
    }
    b.resize(prng.Uniform(b.size() + 1));
    const std::string space(prng.Uniform(8), ' ');
    const std::string shifted = space + b;
    std::size_t shared = 0;
    while (shared < std::min(a.size(), b.size()) && a[shared] == b[shared]) ++shared;
    ASSERT_EQ(CommonPrefix(a, Slice(shifted).substr(space.size(), b.size())), shared) << i;
  }
}

}  // namespace
}  // namespace cambium
