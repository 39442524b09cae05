// The ceiling with hundreds of column families at default options: all share one log, and each has little data.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "testing/family_store.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/units.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr std::size_t kFamilies = kUnderSanitizer ? 60 : 300;
constexpr std::size_t kKeysOfEach = 50;
constexpr std::size_t kValueSize = 2'000;

class FamiliesCeilingTest : public ::testing::Test {
 protected:
  FamiliesCeilingTest() {
    const Options small = store_.options;
    store_.options = Options();
    store_.options.create_if_missing = store_.options.create_missing_column_families = true;
    store_.options.file_system = small.file_system;
    store_.options.clock = small.clock;
    store_.options.random_source = small.random_source;
    store_.options.executor = small.executor;
    store_.options.info_log = small.info_log;
    store_.options.max_space_amplification = 1.5;
    store_.options.index_type = small.index_type;
    store_.MustOpenWith(Names());
    live_.resize(kFamilies);
  }

  static std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (std::size_t i = 1; i < kFamilies; ++i) names.push_back("f" + std::to_string(i));
    return names;
  }
  static std::string Value(std::size_t family, std::size_t key, std::uint64_t life) {
    return Prng(life * 1'000'003 + family * 1'009 + key).Bytes(kValueSize);
  }
  void Put(std::size_t family, std::size_t key) {
    store_.PutIn(store_.handles[family], NumberedKey(static_cast<int>(key)), Value(family, key, ++lives_));
    live_[family][key] = lives_;
    Step();
  }
  void Delete(std::size_t family, std::size_t key) {
    const Status s = store_.db->Delete({}, store_.handles[family], NumberedKey(static_cast<int>(key)));
    ASSERT_TRUE(s.ok()) << s.ToString();
    live_[family].erase(key);
    Step();
  }
  // Now and then runs a background task and measures the files.
  void Step() {
    if (++steps_ % 64 == 0 && store_.executor->pending() > 0) store_.executor->RunOneInstead();
    if (steps_ % 32 != 0) return;
    const std::uint64_t files = store_.BytesOnDisk();
    std::string figures;
    EXPECT_TRUE(store_.db->GetProperty("cambium.space", &figures));
    ASSERT_LE(files, Allowed()) << "after " << steps_ << " operations\n" << figures;
    if (files > store_.options.min_space_limit) ++measured_above_limit_;
  }
  // S * L + A, as docs/LIMITS.md has it. An empty index takes three pages.
  [[nodiscard]] std::uint64_t Allowed(bool is_idle = false) const {
    std::size_t keys = 0;
    for (const auto& family : live_) keys += family.size();
    constexpr std::size_t kRecord = 48 + 5 + kValueSize + 6;
    const double live = static_cast<double>(keys * (kRecord + 5 + 28) + kFamilies * 3 * store_.options.page_size);
    const double segment = std::max<double>(kMiB, live * 0.5 / 8);
    const double allowed = 1.5 * live + 3 * segment;
    return std::max(static_cast<std::uint64_t>(allowed), is_idle ? 0 : store_.options.min_space_limit);
  }
  void ExpectAllThere() {
    for (std::size_t family = 0; family < kFamilies; ++family) {
      for (std::size_t key = 0; key < kKeysOfEach; ++key) {
        const auto life = live_[family].find(key);
        const std::string want = life == live_[family].end() ? "NotFound" : Value(family, key, life->second);
        ASSERT_TRUE(store_.GetFrom(store_.handles[family], NumberedKey(static_cast<int>(key))) == want)
            << "family " << family << ", key " << key;
      }
    }
  }

  FamilyStore store_;
  std::vector<std::map<std::size_t, std::uint64_t>> live_;  // by family and key: the number of the put
  std::uint64_t lives_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t measured_above_limit_ = 0;
};

TEST_F(FamiliesCeilingTest, OverwritesAndDeletesStayBelowTheCeiling) {
  const std::uint64_t seed = SeedFromEnvironment(29);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  for (std::size_t key = 0; key < kKeysOfEach; ++key) {
    for (std::size_t family = 0; family < kFamilies; ++family) Put(family, key);
    if (HasFatalFailure()) return;
  }
  for (std::size_t i = 0; i < 2 * kFamilies * kKeysOfEach; ++i) {
    Put(prng.Uniform(kFamilies), prng.Uniform(kKeysOfEach));
    if (HasFatalFailure()) return;
  }
  for (std::size_t family = 0; family < kFamilies; family += 2) {  // half of all data goes
    for (std::size_t key = 0; key < kKeysOfEach; ++key) Delete(family, key);
    if (HasFatalFailure()) return;
  }
  for (std::size_t i = 0; i < kFamilies * kKeysOfEach; ++i) {
    Put(prng.Uniform(kFamilies / 2) * 2 + 1, prng.Uniform(kKeysOfEach));
    if (HasFatalFailure()) return;
  }
  if (!kUnderSanitizer) {
    EXPECT_GT(measured_above_limit_, 100u) << "the ceiling did not matter";
  }
  store_.LetSecondsPass(10);
  EXPECT_LE(store_.BytesOnDisk(), Allowed(true));
  ExpectAllThere();
  EXPECT_EQ(store_.Verify(), "");
  store_.KillAndOpenWith(Names());
  ExpectAllThere();
}

}  // namespace
}  // namespace cambium::testing
