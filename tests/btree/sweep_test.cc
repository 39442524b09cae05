// The sweep against a model. Entries are flushed, merged straight into the tree, or swept, in steps or at once. In each
// case the layers agree with the model, and every account is exact to the byte.
#include <gtest/gtest.h>

#include <cctype>

#include "sweep_program.h"
#include "testing/scale.h"
#include "testing/seed.h"

namespace cambium::testing {
namespace {

class SweepTest : public ::testing::TestWithParam<SweepProgramParam> {};

TEST_P(SweepTest, LayersAndAccountsAgreeWithTheModel) {
  const auto write = [](TreeFamily& family, Prng& prng, std::uint64_t space) {
    const auto delete_percent = static_cast<unsigned>(prng.Uniform(4) * 33);
    for (std::uint64_t n = prng.Skewed(9); n > 0; --n) {
      std::string key = RandomSweepKey(prng, space);
      if (!key.empty() && prng.OneIn(2)) key[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(key[0])));
      RandomWrite(family, prng, key, delete_percent);
    }
  };
  RunSweepPrograms(GetParam(), SeedFromEnvironment(0x5eed), ScaledCount(6), write);
}

INSTANTIATE_TEST_SUITE_P(All, SweepTest, SweepProgramParams(),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace cambium::testing
