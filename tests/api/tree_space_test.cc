// How a tree's files look to the ceiling: where values lie in its pages they are nearly all there is, and what merges have
// replaced in them has to go as well.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "api/test_store.h"
#include "cambium/statistics.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kKeys = 60'000;
constexpr std::size_t kValueBytes = 100;

class TreeSpace : public ::testing::TestWithParam<std::size_t> {
 protected:
  TreeSpace() {
    Options& its = store_.options;
    its.index_type = IndexKind::kBTree;
    its.max_space_amplification = 1.5;
    its.write_buffer_size = GetParam();
    its.min_blob_size = 1024;
    its.max_total_wal_size = 0;
    its.blob_file_size = 64u << 20;
    its.page_size = 4096;
    its.page_cache_size = 32u << 20;
    its.statistics = CreateDBStatistics();
    store_.MustOpen();
  }

  void Put(std::uint64_t i) {
    Prng key(i + 1);  // in no order
    Prng value(++puts_);
    store_.Put(key.Bytes(16), value.Bytes(kValueBytes));
    if (puts_ % 64 == 0 && store_.executor->pending() > 0) store_.executor->RunOneInstead();
  }
  // No more than S times what is alive, and A: segments and steps are of 1 MiB here.
  void ExpectBelowTheCeiling(std::uint64_t i) {
    std::map<std::string, std::string> space;
    ASSERT_TRUE(store_.db->GetMapProperty("cambium.space", &space));
    std::string text;
    ASSERT_TRUE(store_.db->GetProperty("cambium.space", &text));
    ASSERT_LE(store_.BytesOnDisk(), std::stoull(space.at("live")) * 3 / 2 + 3 * kMiB) << "after " << i << " puts\n" << text;
  }

  TestStore store_;

 private:
  std::uint64_t puts_ = 0;
};

// Files held twice what was alive whatever the ceiling said, no job could help, and so writers went on, a run of a few pages
// for each look at the figures; a flush straight into the tree wrote all of it again at once. D reached fourteen times L.
TEST_P(TreeSpace, SmallValuesStayBelowTheCeiling) {
  for (std::uint64_t i = 0; i < kKeys; ++i) {
    Put(i);
    if (i % 64 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectBelowTheCeiling(i));
  }
  Prng prng(SeedFromEnvironment(6));
  for (std::uint64_t i = 0; i < 4 * kKeys; ++i) {
    Put(prng.Uniform(kKeys));
    if (i % 64 != 0) continue;
    ASSERT_NO_FATAL_FAILURE(ExpectBelowTheCeiling(kKeys + i));
  }
  store_.executor->RunAll();
  ExpectBelowTheCeiling(5 * kKeys);
  // And not by rewriting the tree for a handful of keys.
  const std::uint64_t user_bytes = 5 * kKeys * (16 + kValueBytes);
  const auto bytes = [&](Tickers ticker) { return store_.options.statistics->getTickerCount(ticker); };
  EXPECT_LT(bytes(FILE_BYTES_MERGE) + bytes(FILE_BYTES_FLUSH), 24 * user_bytes);
  EXPECT_EQ(store_.Verify(), "");
}

INSTANTIATE_TEST_SUITE_P(WriteBuffers, TreeSpace, ::testing::Values(256u << 10, 64u << 20));

}  // namespace
}  // namespace cambium::testing
