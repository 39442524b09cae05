// The ceiling with small values in dozens of families at default options: each family has a small tree of its own, and
// the trees are nearly all there is on disk.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "testing/family_store.h"
#include "testing/mutant_scope.h"
#include "testing/units.h"
#include "util/prng.h"

namespace cambium::testing::small_trees_ceiling_test {
namespace {

constexpr std::size_t kFamilies = 30;
constexpr std::uint64_t kKeys = 60'000;  // of all families together
constexpr std::size_t kValueSize = 100;

class Trees {
 public:
  Trees() {
    const Options small = store_.options;
    store_.options = Options();
    store_.options.create_if_missing = store_.options.create_missing_column_families = true;
    store_.options.file_system = small.file_system;
    store_.options.clock = small.clock;
    store_.options.random_source = small.random_source;
    store_.options.executor = small.executor;
    store_.options.info_log = small.info_log;
    store_.options.min_space_limit = 0;
    std::vector<std::string> names;
    for (std::size_t i = 1; i < kFamilies; ++i) names.push_back("f" + std::to_string(i));
    store_.MustOpenWith(names);
  }

  // Loads the keys in random order, and overwrites half of them. Returns the highest sample, as a part of S * L + A.
  double Run() {
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      Put(i);
      ++keys_;
    }
    Prng prng(3);
    for (std::uint64_t i = 0; i < kKeys / 2; ++i) Put(prng.Uniform(kKeys));
    return most_;
  }
  // After idle time.
  double AtRest() {
    store_.LetSecondsPass(12);
    return static_cast<double>(store_.BytesOnDisk()) / Allowed();
  }

 private:
  void Put(std::uint64_t i) {
    Prng prng(i + 1);
    const std::string key = prng.Bytes(16);
    store_.PutIn(store_.handles[i % kFamilies], key, Prng(++puts_).Bytes(kValueSize));
    if (puts_ % 64 == 0 && store_.executor->pending() > 0) store_.executor->RunOneInstead();
    if (puts_ % 64 == 0 && keys_ > kKeys / 4) {
      most_ = std::max(most_, static_cast<double>(store_.BytesOnDisk()) / Allowed());
    }
  }
  // An entry with its part of headers, branches and filters. An empty tree takes three pages.
  [[nodiscard]] double Allowed() const {
    constexpr double kEntry = (16 + kValueSize + 8) * 1.07;
    const double live = static_cast<double>(keys_) * kEntry + kFamilies * 3.0 * 4096;
    return 1.5 * live + 3 * std::max<double>(kMiB, live * 0.5 / 8);
  }

  FamilyStore store_;
  std::uint64_t keys_ = 0;
  std::uint64_t puts_ = 0;
  double most_ = 0;
};

double MostOfRun() { return Trees().Run(); }

TEST(SmallTreesCeilingTest, TreesOfManyFamiliesStayBelowTheCeiling) {
  Trees trees;
  const double most = trees.Run();
  EXPECT_LE(most, 1);
  EXPECT_LE(trees.AtRest(), 1);
  std::printf("at most %.3f of S * L + A\n", most);
  {
    const MutantScope mutant(Mutant::kSmallTreesKeepDeadPages);
    EXPECT_GT(MostOfRun(), 1);
  }
  const MutantScope mutant(Mutant::kFlushesMergeAllTrees);
  EXPECT_GT(MostOfRun(), most + 0.05);
}

}  // namespace
}  // namespace cambium::testing::small_trees_ceiling_test
