// The sweep against a model. Whether entries are flushed, merged straight in or swept, in steps or at once: the layers
// agree with the model, and every account is exact to the byte.
#include <gtest/gtest.h>

#include <cctype>

#include "tree_family.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"

namespace cambium::testing {
namespace {

struct Program {
  const char* name;
  const Comparator* (*comparator)();
  std::uint32_t page_size;
};

class SweepModelTest : public ::testing::TestWithParam<Program> {};

std::string RandomKey(Prng& prng, std::uint64_t space) {
  const std::uint64_t n = prng.Uniform(space);
  std::string key = "key" + std::to_string(n * 7919 % space);
  if (n % 5 == 0) key += std::string(n % 23, 'x');
  if (n % 97 == 0) key = std::string(static_cast<std::size_t>(n % 700), 'L') + key;
  if (n == 1) key.clear();  // the empty key is a key
  if (prng.OneIn(2)) key[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(key[0])));
  return key;
}

void RandomBatch(TreeFamily& family, Prng& prng, std::uint64_t space, std::uint64_t count, unsigned delete_percent) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string key = RandomKey(prng, space);
    if (prng.Uniform(100) < delete_percent) {
      family.Delete(key);
    } else if (prng.OneIn(3)) {
      family.PutInline(key, prng.Bytes(prng.Uniform(100)));
    } else {
      family.Put(key, 64 + prng.Skewed(24));
    }
  }
}

TEST_P(SweepModelTest, LayersAndAccountsAgreeWithTheModel) {
  const std::uint64_t seed = SeedFromEnvironment(0x5eed);
  Prng prng(seed);
  for (std::uint64_t round = 0; round < ScaledCount(6); ++round) {
    TreeFamilyOptions options;
    options.comparator = GetParam().comparator();
    options.page_size = GetParam().page_size;
    options.segment_bytes_max = prng.OneIn(2) ? 8 * options.page_size : 64 * options.page_size;
    options.evacuation.small_segments_max = prng.Between(1, 4);
    TreeFamily family(options);
    const std::uint64_t space = prng.Between(2, 4000);
    for (int step = 0; step < 60; ++step) {
      SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed) + " round " + std::to_string(round) + " step " +
                   std::to_string(step));
      RandomBatch(family, prng, space, prng.Skewed(9), static_cast<unsigned>(prng.Uniform(4) * 33));
      const bool sweeping = family.layers().parts().sweep.has_value();
      Status s;
      switch (prng.Uniform(8)) {
        case 0:
        case 1:
          s = family.FlushRun();
          break;
        case 2:
          s = sweeping ? family.FlushRun() : family.FlushIntoTree();
          break;
        case 3:
          s = family.Flush();
          break;
        case 4:
        case 5:
          s = family.Step(prng.Uniform(20) * options.page_size);
          break;
        case 6:
          s = family.Step(~std::uint64_t{0});
          break;
        case 7:
          s = family.Reopen();
          break;
      }
      ASSERT_TRUE(s.ok()) << s.ToString();
      ASSERT_TRUE((s = family.Check()).ok()) << s.ToString();
    }
    ASSERT_TRUE(family.pool().CheckInvariants(/*idle=*/true).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(All, SweepModelTest,
                         ::testing::Values(Program{"bytewise512", BytewiseComparator, 512},
                                           Program{"bytewise4096", BytewiseComparator, 4096},
                                           Program{"reverse512", ReverseBytewiseComparator, 512},
                                           Program{"reverse4096", ReverseBytewiseComparator, 4096},
                                           Program{"folding512", CaseFoldingComparator, 512},
                                           Program{"folding4096", CaseFoldingComparator, 4096},
                                           Program{"lengthfirst512", LengthFirstComparator, 512}),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace cambium::testing
