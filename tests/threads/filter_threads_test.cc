// A compaction filter during everything else, on the real file system: writes, deletes, log GC, flushes, background
// compactions and CompactRange. Readers know what they may see.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cambium/compaction_filter.h"
#include "testing/scale.h"
#include "threads/threads_fixture.h"
#include "util/prng.h"

namespace cambium::testing::filter_threads_test {
namespace {

constexpr std::size_t kKeys = 400;
constexpr std::size_t kWriters = 2;

// Whether the filter removes a value. Each value says which round wrote it.
bool IsRemoved(std::uint64_t round) { return round % 3 == 0; }

class RoundFilter final : public CompactionFilter {
 public:
  explicit RoundFilter(std::atomic<std::uint64_t>* shown) : shown_(shown) {}
  Decision FilterV2(int /*level*/, const Slice& /*key*/, ValueType /*type*/, const Slice& value, std::string* new_value,
                    std::string* /*skip_until*/) const override {
    shown_->fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t round = NumberIn(value.ToString());
    if (IsRemoved(round)) return Decision::kRemove;
    if (round % 3 == 2 || value.ends_with("changed")) return Decision::kKeep;
    *new_value = value.ToString() + std::string(round % 2 == 0 ? 0 : 400, 'c') + "changed";
    return Decision::kChangeValue;
  }
  [[nodiscard]] const char* Name() const override { return "RoundFilter"; }

 private:
  std::atomic<std::uint64_t>* const shown_;
};

class RoundFilterFactory final : public CompactionFilterFactory {
 public:
  explicit RoundFilterFactory(std::atomic<std::uint64_t>* shown) : shown_(shown) {}
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(const CompactionFilter::Context& /*context*/) override {
    return std::make_unique<RoundFilter>(shown_);
  }
  [[nodiscard]] const char* Name() const override { return "RoundFilterFactory"; }

 private:
  std::atomic<std::uint64_t>* const shown_;
};

class FilterThreadsTest : public DbThreadsTest {
 protected:
  static std::string KeyOf(std::size_t key) { return "key" + std::to_string(1000 + key); }

  // Each key has one writer. Each round puts a key. If the filter would remove the value, the round deletes the key
  // instead in half of the cases.
  void WriteKeys(std::size_t writer, std::uint64_t rounds) {
    Prng prng(seed_ + writer);
    for (std::uint64_t i = 0; i < rounds && !complaints_.any(); ++i) {
      const std::size_t key = prng.Uniform(kKeys / kWriters) * kWriters + writer;
      const std::uint64_t round = begun_[key].load() + 1;
      begun_[key].store(round);
      const std::size_t size = prng.OneIn(50) ? 5000 : prng.Uniform(400);
      const bool is_delete = IsRemoved(round) && prng.OneIn(2);
      const Status s = is_delete ? db_->Delete({}, KeyOf(key))
                                 : db_->Put({}, KeyOf(key), std::to_string(round) + ":" + std::string(size, 'v'));
      if (!Ok(s, "write")) return;
      done_[key].store(round);
    }
  }

  // A read must not return a round before the last finished one. The key may be missing only if the filter removes the
  // value of a round that may be the newest.
  void CheckKey(std::size_t key) {
    const std::uint64_t least = done_[key].load();
    std::string value;
    const Status s = db_->Get({}, KeyOf(key), &value);
    const std::uint64_t most = begun_[key].load();
    if (s.ok()) {
      const std::uint64_t round = NumberIn(value);
      if (round >= least && round <= most) return;
      return complaints_.Add(KeyOf(key) + " is of round " + std::to_string(round) + "; the last finished one is " +
                             std::to_string(least));
    }
    if (!s.IsNotFound()) return complaints_.Add("Get: " + s.ToString());
    if (least == 0) return;
    for (std::uint64_t round = least; round <= most; ++round) {
      if (IsRemoved(round)) return;
    }
    complaints_.Add(KeyOf(key) + " is missing; its last finished round is " + std::to_string(least));
  }

  std::array<std::atomic<std::uint64_t>, kKeys> begun_{};
  std::array<std::atomic<std::uint64_t>, kKeys> done_{};
  std::atomic<std::uint64_t> shown_{0};
};

TEST_F(FilterThreadsTest, NoKeyIsLostOrReappears) {
  const RoundFilter shared(&shown_);
  for (const bool by_factory : {false, true}) {
    Options options = TinyOptions();
    options.blob_garbage_collection_age_cutoff = 1;
    options.max_background_jobs = 3;
    if (by_factory) {
      options.compaction_filter_factory = std::make_shared<RoundFilterFactory>(&shown_);
    } else {
      options.compaction_filter = &shared;
    }
    Open(options);
    std::atomic<bool> stop{false};
    std::vector<std::thread> writers;
    std::vector<std::thread> others;
    const std::uint64_t rounds = ScaledCount(12'000);
    for (std::size_t w = 0; w < kWriters; ++w) writers.emplace_back([this, w, rounds] { WriteKeys(w, rounds); });
    others.emplace_back([&] {
      Prng prng(seed_ + 50);
      while (!stop.load()) CheckKey(prng.Uniform(kKeys));
    });
    others.emplace_back([&] {
      Prng prng(seed_ + 60);
      while (!stop.load() && !complaints_.any()) {
        const std::string from = KeyOf(prng.Uniform(kKeys));
        const std::string to = from + "9";
        const Slice begin(from);
        const Slice end(to);
        const bool whole = prng.OneIn(3);
        Ok(db_->CompactRange({}, whole ? nullptr : &begin, whole ? nullptr : &end), "CompactRange");
      }
    });
    others.emplace_back([&] {  // snapshots must not change
      while (!stop.load() && !complaints_.any()) {
        const ManagedSnapshot snapshot(db_.get());
        ReadOptions then;
        then.snapshot = snapshot.snapshot();
        std::vector<std::string> seen;
        for (int look = 0; look < 2; ++look) {
          std::vector<std::string> now;
          const std::unique_ptr<Iterator> it(db_->NewIterator(then));
          for (it->SeekToFirst(); it->Valid(); it->Next()) now.push_back(it->key().ToString() + it->value().ToString());
          Ok(it->status(), "iterator");
          if (look == 1 && now != seen) complaints_.Add("a snapshot has changed");
          seen = std::move(now);
        }
      }
    });
    for (std::thread& thread : writers) thread.join();
    stop.store(true);
    for (std::thread& thread : others) thread.join();
    EXPECT_EQ(complaints_.first(), "");
    Ok(db_->CompactRange({}, nullptr, nullptr), "the last CompactRange");
    for (std::size_t key = 0; key < kKeys; ++key) {
      const std::uint64_t round = done_[key].load();
      std::string value;
      const Status s = db_->Get({}, KeyOf(key), &value);
      if (round == 0 || IsRemoved(round)) {
        ASSERT_TRUE(s.IsNotFound()) << KeyOf(key) << " round " << round << " is " << s.ToString();
      } else {
        ASSERT_TRUE(s.ok()) << KeyOf(key) << " " << s.ToString();
        ASSERT_EQ(NumberIn(value), round);
        ASSERT_EQ(value.ends_with("changed"), round % 3 == 1) << value.substr(0, 30);
      }
    }
    CloseAndVerify();
  }
  EXPECT_GT(shown_.load(), 1000u);
}

}  // namespace
}  // namespace cambium::testing::filter_threads_test
