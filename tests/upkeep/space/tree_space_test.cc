// The ceiling and a tree's files: with inline values its pages are nearly all of the database, and pages that merges
// have replaced must be freed too.
#include <gtest/gtest.h>

#include "testing/units.h"
#include "upkeep/space/small_value_store.h"
#include "testing/seed.h"

namespace cambium::testing::tree_space_test {
namespace {

constexpr std::uint64_t kKeys = 60'000;

class TreeSpaceTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  TreeSpaceTest() {
    store_.options.write_buffer_size = GetParam();
    store_.MustOpen();
  }

  // At most S times the live bytes, plus A: segments and steps are of 1 MiB here.
  void ExpectBelowTheCeiling(std::uint64_t puts) {
    ASSERT_LE(store_.BytesOnDisk(), store_.Space("live") * 3 / 2 + 3 * kMiB)
        << "after " << puts << " puts\n" << store_.SpaceText();
  }

  SmallValueStore store_{IndexKind::kBTree};
};

// Regression: files held twice the live bytes, under any ceiling. No job could help, so writers continued. Each look
// at the figures made a run of a few pages, and a flush straight into the tree rewrote all of the tree at once. The
// files reached fourteen times the live bytes.
TEST_P(TreeSpaceTest, SmallValuesStayBelowTheCeiling) {
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    store_.PutNumber(i);
    if (i % 64 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectBelowTheCeiling(i));
  }
  Prng prng(SeedFromEnvironment(6));
  for (std::uint64_t i = 0; i < 4 * kKeys; ++i) {
    store_.PutNumber(prng.Uniform(kKeys));
    if (i % 64 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectBelowTheCeiling(kKeys + i));
  }
  store_.executor->RunAll();
  ExpectBelowTheCeiling(5 * kKeys);
  // The tree was not rewritten for a handful of keys.
  const std::uint64_t user_bytes = 5 * kKeys * (SmallValueStore::kKeyBytes + SmallValueStore::kValueBytes);
  EXPECT_LT(store_.Ticker(FILE_BYTES_MERGE) + store_.Ticker(FILE_BYTES_FLUSH), 24 * user_bytes);
  EXPECT_EQ(store_.Verify(), "");
}

INSTANTIATE_TEST_SUITE_P(WriteBuffers, TreeSpaceTest, ::testing::Values(256u << 10, 64u << 20));

}  // namespace
}  // namespace cambium::testing::tree_space_test
