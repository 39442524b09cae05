// The bytes that log GC moves if it follows PickGcVictims. The log is a model; only the choice of victims is real code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <vector>

#include "gc/victims.h"
#include "space/law.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::victims_law_test {
namespace {

constexpr std::uint64_t kRecord = 16u << 10;
constexpr std::uint64_t kSegmentRecords = 64;
constexpr std::uint64_t kKeys = 64 * kSegmentRecords;

// A log of keys 0 to kKeys - 1, collected by PickGcVictims. The test draws the keys to write.
class ModelLog {
 public:
  ModelLog(double space, bool ages_of_values) : records_max_(space * kKeys), ages_of_values_(ages_of_values) {
    policy_.step_bytes = kSegmentRecords * kRecord;
    policy_.target_bytes = policy_.step_bytes;
    where_.assign(kKeys, 0);
    written_at_.assign(kKeys, 0);
    current_ = Begin(0);
  }

  void Put(std::uint64_t key) {
    written_at_[key] = ++now_;
    Add(current_, key);
    if (segments_[current_].records.size() >= kSegmentRecords) {
      segments_[current_].use.made_at = now_;
      segments_[current_].is_sealed = true;
      current_ = Begin(0);
    }
    while (static_cast<double>(records_) >= records_max_ && Collect()) {
    }
  }

  // Starts counting from here on.
  void Count() { moved_ = 0, user_from_ = now_, space_sum_ = 0; }
  void Sample() { space_sum_ += static_cast<double>(records_) / kKeys; }
  [[nodiscard]] double WriteAmp() const { return 1 + static_cast<double>(moved_) / static_cast<double>(now_ - user_from_); }
  [[nodiscard]] double SpaceAmp() const { return space_sum_ / static_cast<double>(now_ - user_from_); }

 private:
  struct ModelSegment {
    SegmentUse use;
    std::vector<std::uint64_t> records;
    bool is_sealed = false;
  };

  std::uint64_t Begin(std::uint32_t generation) {
    const std::uint64_t number = ++last_number_;
    ModelSegment& made = segments_[number];
    made.use.number = number;
    made.use.generation = generation;
    made.use.made_at = now_;
    return number;
  }
  void Add(std::uint64_t number, std::uint64_t key) {
    if (where_[key] != 0) segments_[where_[key]].use.live_bytes -= kRecord;
    where_[key] = number;
    ModelSegment& to = segments_[number];
    to.records.push_back(key);
    to.use.bytes += kRecord;
    to.use.live_bytes += kRecord;
    ++records_;
  }
  bool Collect() {
    std::vector<SegmentUse> uses;
    for (const auto& [number, segment] : segments_) {
      if (segment.is_sealed) uses.push_back(segment.use);
    }
    const VictimChoice choice = PickGcVictims(uses, policy_, now_, GcUrgency::kSpace);
    if (choice.numbers.empty()) return false;
    std::uint64_t to = 0;
    for (const std::uint64_t number : choice.numbers) {
      const ModelSegment victim = segments_[number];
      records_ -= victim.records.size();
      segments_.erase(number);
      for (const std::uint64_t key : victim.records) {
        if (where_[key] != number) continue;
        where_[key] = 0;
        if (to == 0) to = Begin(victim.use.generation + 1), segments_[to].use.made_at = ages_of_values_ ? 0 : now_;
        Add(to, key);
        if (ages_of_values_) segments_[to].use.made_at = std::max(segments_[to].use.made_at, written_at_[key]);
        ++moved_;
      }
    }
    if (to != 0) segments_[to].is_sealed = true;
    return true;
  }

  const double records_max_;
  const bool ages_of_values_;
  VictimPolicy policy_;
  std::map<std::uint64_t, ModelSegment> segments_;
  std::vector<std::uint64_t> where_;  // segment of each key; 0: none
  std::vector<std::uint64_t> written_at_;
  std::uint64_t last_number_ = 0;
  std::uint64_t current_ = 0;
  std::uint64_t records_ = 0;
  SequenceNumber now_ = 0;
  std::uint64_t moved_ = 0;
  std::uint64_t user_from_ = 0;
  double space_sum_ = 0;
};

struct Outcome {
  double write_amp = 0;
  double space_amp = 0;
};

// Overwrites kKeys keys twelve times, and measures the last eight times. `skew`: the exponent of the Zipf distribution
// from which each key is drawn.
Outcome Overwrite(double space, double skew, bool ages_of_values) {
  Prng prng(testing::SeedFromEnvironment(77));
  std::vector<std::uint64_t> keys(kKeys);
  std::iota(keys.begin(), keys.end(), 0);
  for (std::uint64_t i = kKeys; i > 1; --i) std::swap(keys[i - 1], keys[prng.Uniform(i)]);
  std::vector<double> sums;
  double sum = 0;
  for (std::uint64_t i = 1; i <= kKeys; ++i) sums.push_back(sum += std::pow(static_cast<double>(i), -skew));
  ModelLog log(space, ages_of_values);
  for (const std::uint64_t key : keys) log.Put(key);
  for (std::uint64_t i = 0; i < 12 * kKeys; ++i) {
    if (i == 4 * kKeys) log.Count();
    const double drawn = prng.NextDouble() * sum;
    log.Put(keys[static_cast<std::size_t>(std::ranges::lower_bound(sums, drawn) - sums.begin())]);
    log.Sample();
  }
  return {log.WriteAmp(), log.SpaceAmp()};
}

TEST(GcVictimsLawTest, CostOfUniformOverwritesMatchesTheLaw) {
  for (const double space : {1.12, 1.25, 1.5}) {
    const Outcome found = Overwrite(space, 0, false);
    const double law = bench::WriteAmpOfUniform(found.space_amp);
    std::printf("S %.2f: %.3f, by the law %.3f\n", found.space_amp, found.write_amp, law);
    EXPECT_LT(found.write_amp, law * 1.1) << space;
    EXPECT_GT(found.write_amp, law * 0.9) << space << ": the model moves less than is possible";
  }
}

TEST(GcVictimsLawTest, SkewedOverwritesCostLess) {
  const Outcome found = Overwrite(1.25, 0.99, false);
  std::printf("S %.2f: %.3f\n", found.space_amp, found.write_amp);
  EXPECT_LT(found.write_amp, 2.3);
}

// If the age of its values counted, a segment of relocated values would look old, and be emptied again too soon.
TEST(GcVictimsLawTest, UsingTheAgesOfValuesMovesMore) {
  EXPECT_GT(Overwrite(1.12, 0, true).write_amp, 1.04 * Overwrite(1.12, 0, false).write_amp);
}

}  // namespace
}  // namespace cambium::victims_law_test
