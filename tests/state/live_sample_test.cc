#include "state/live_sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cambium/comparator.h"
#include "util/prng.h"

namespace cambium {
namespace {

constexpr std::uint64_t kKeys = 20'000;

std::string KeyOf(std::uint64_t i) { return "key" + std::to_string(1'000'000 + i); }

// A database in numbers: it is written through memtables, each of which becomes a part of the layers as a whole. Knows
// exactly what the sample estimates.
class Model {
 public:
  // A value of `bytes` bytes; below a word: an inline value.
  void Put(std::uint64_t i, std::uint64_t bytes) {
    if (bytes < 8) return Add(i, Entry::Inline("inline"), 0);
    const Entry entry = Entry::At(ValueAddress::InLog(Slot{1}, 4096, bytes));
    Add(i, entry, entry.address.size());
  }
  void Delete(std::uint64_t i) { Add(i, Entry::Tombstone(), 0); }
  // Returns the bytes that the memtable has replaced, by the sample.
  std::uint64_t Flush(std::uint64_t grain) {
    const std::uint64_t replaced = sample_.Replace(*table_, nullptr, LiveSample::Of(*table_, grain));
    for (const auto& [key, bytes] : newest_) layers_[key] = bytes;
    newest_.clear();
    table_ = std::make_unique<MemTable>(BytewiseComparator());
    return replaced;
  }

  // The bytes in layers, and those of them that the memtable hides.
  [[nodiscard]] double live() const {
    double sum = 0;
    for (const auto& [key, bytes] : layers_) sum += static_cast<double>(bytes);
    return sum;
  }
  [[nodiscard]] double hidden() const {
    double sum = 0;
    for (const auto& [key, bytes] : newest_) {
      const auto below = layers_.find(key);
      if (below != layers_.end()) sum += static_cast<double>(below->second);
    }
    return sum;
  }
  // By the sample.
  [[nodiscard]] double hidden_estimate() const {
    const MemTable* const tables[] = {table_.get()};
    return static_cast<double>(sample_.BytesIn(tables));
  }
  LiveSample& sample() { return sample_; }

 private:
  void Add(std::uint64_t i, const Entry& entry, std::uint64_t bytes) {
    ASSERT_TRUE(table_->Reserve(1, 64).ok());
    table_->Add(++sequence_, KeyOf(i), entry);
    newest_[i] = bytes;
  }

  std::unique_ptr<MemTable> table_ = std::make_unique<MemTable>(BytewiseComparator());
  SequenceNumber sequence_ = 0;
  LiveSample sample_;
  std::map<std::uint64_t, std::uint64_t> layers_;
  std::map<std::uint64_t, std::uint64_t> newest_;
};

struct Sizes {
  const char* what;
  std::function<std::uint64_t(std::uint64_t)> of;  // key to bytes
};

const std::vector<Sizes>& Distributions() {
  static const std::vector<Sizes> all = {
      {"all equal", [](std::uint64_t) { return 1024u; }},
      {"one key in 1000 has 3 MB, the others are inline",
       [](std::uint64_t i) { return i % 1000 == 0 ? 3'000'000u : 0u; }},
      {"one key in 50 has 20 KB, the others are inline", [](std::uint64_t i) { return i % 50 == 0 ? 20'000u : 0u; }},
      {"one key in 50 has 20 KB, the others 600 bytes", [](std::uint64_t i) { return i % 50 == 0 ? 20'000u : 600u; }},
      {"a power law", [](std::uint64_t i) { return static_cast<std::uint64_t>(3e8 / static_cast<double>(i + 1)); }}};
  return all;
}

// The sample finds nearly all bytes that a part of the database hides or has hidden, whichever keys have the bytes.
TEST(LiveSampleTest, EstimatesDoNotDependOnWhichKeysHaveTheBytes) {
  for (const Sizes& sizes : Distributions()) {
    SCOPED_TRACE(sizes.what);
    Model model;
    for (std::uint64_t i = 0; i < kKeys; ++i) model.Put(i, sizes.of(i));
    EXPECT_EQ(model.hidden_estimate(), 0);
    std::uint64_t grain = LiveSample::kGrainLeast;
    EXPECT_EQ(model.Flush(grain), 0u);
    grain = LiveSample::GrainFor(static_cast<std::uint64_t>(model.live()));
    model.sample().Coarsen(grain);
    const auto error = [&](double bytes) { return 4 * std::sqrt(bytes * static_cast<double>(grain)); };
    EXPECT_NEAR(static_cast<double>(model.sample().bytes()), model.live(), error(model.live()));
    Prng prng(1);
    for (int round = 0; round < 4; ++round) {
      for (std::uint64_t n = 0; n < kKeys / 3; ++n) {
        const std::uint64_t i = prng.Uniform(kKeys);
        round == 3 ? model.Delete(i) : model.Put(i, sizes.of(i));
      }
      const double hidden = model.hidden();
      EXPECT_NEAR(model.hidden_estimate(), hidden, error(hidden)) << round;
      EXPECT_NEAR(static_cast<double>(model.Flush(grain)), hidden, error(hidden)) << round;
      EXPECT_NEAR(static_cast<double>(model.sample().bytes()), model.live(), error(model.live())) << round;
      EXPECT_LE(model.sample().Deviation(), error(model.live()) / 2) << round;
    }
  }
}

// Values that are larger than the grain are all in the sample, so nothing is estimated.
TEST(LiveSampleTest, LargeValuesAreCountedExactly) {
  Model model;
  for (std::uint64_t i = 0; i < kKeys; ++i) model.Put(i, i % 1000 == 0 ? 3'000'000 : 0);
  model.Flush(LiveSample::kGrainLeast);
  EXPECT_EQ(static_cast<double>(model.sample().bytes()), model.live());
  EXPECT_EQ(model.sample().Deviation(), 0u);
  for (std::uint64_t i = 0; i < kKeys; i += 7) model.Put(i, 0);
  EXPECT_GT(model.hidden(), 0);
  EXPECT_EQ(model.hidden_estimate(), model.hidden());
}

TEST(LiveSampleTest, SampleOfAGrownDatabaseStaysSmall) {
  Model model;
  for (std::uint64_t i = 0; i < kKeys; ++i) model.Put(i, 64 << 10);
  model.Flush(LiveSample::kGrainLeast);
  EXPECT_NEAR(static_cast<double>(model.sample().bytes()), model.live(), 0.1 * model.live());
  model.sample().Coarsen(16 * LiveSample::GrainFor(static_cast<std::uint64_t>(model.live())));
  EXPECT_NEAR(static_cast<double>(model.sample().bytes()), model.live(), 0.4 * model.live());
  EXPECT_GT(model.sample().Deviation(), static_cast<std::uint64_t>(model.live() / 20));
}

// The sample holds keys, so long ones are left out. Then it knows that it does not represent all values.
TEST(LiveSampleTest, LongKeysAreLeftOut) {
  MemTable table(BytewiseComparator());
  const std::string key(LiveSample::kKeyBytesMost + 1, 'k');
  ASSERT_TRUE(table.Reserve(1, key.size()).ok());
  table.Add(1, key, Entry::At(ValueAddress::InLog(Slot{1}, 4096, 1 << 20)));
  LiveSample sample;
  EXPECT_TRUE(sample.is_whole());
  sample.Replace(table, nullptr, LiveSample::Of(table, LiveSample::kGrainLeast));
  EXPECT_EQ(sample.bytes(), 0u);
  EXPECT_FALSE(sample.is_whole());
}

// What range deletes cover is measured elsewhere. It is no longer in the sample, but it is not counted as replaced.
TEST(LiveSampleTest, CoveredValuesAreNotCountedAsReplaced) {
  LiveSample sample;
  {
    MemTable table(BytewiseComparator());
    ASSERT_TRUE(table.Reserve(2, 64).ok());
    table.Add(1, "a", Entry::At(ValueAddress::InLog(Slot{1}, 4096, 1 << 20)));
    table.Add(2, "b", Entry::At(ValueAddress::InLog(Slot{1}, 4096, 2 << 20)));
    sample.Replace(table, nullptr, LiveSample::Of(table, LiveSample::kGrainLeast));
  }
  MemTable table(BytewiseComparator());
  ASSERT_TRUE(table.Reserve(1, 64, 1).ok());
  table.AddRange(3, "b", "c");
  table.Add(4, "a", Entry::Tombstone());
  const std::shared_ptr<const RangeDeletes> ranges = table.RangesAt(kMaxSequenceNumber);
  EXPECT_EQ(sample.Replace(table, ranges.get(), LiveSample::Of(table, LiveSample::kGrainLeast)), 1u << 20);
  EXPECT_EQ(sample.bytes(), 0u);
}

}  // namespace
}  // namespace cambium
