// Tests gaps: a gap that was added is found, a put splits it, and no key that a put may have made visible is ever in a
// gap.
#include "state/gaps.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// One thread, so that there is no lock to take.
class GapsTest : public ::testing::Test {
 protected:
  void Add(const std::string& first, const std::string& last, SequenceNumber sequence = 10) {
    Gaps::Watch watch;
    ASSERT_TRUE(Begin(&watch, sequence));
    gaps->Add(&watch, sequence, {first, true}, {last, true});
  }
  bool Begin(Gaps::Watch* watch, SequenceNumber sequence)
      CAMBIUM_NO_THREAD_SAFETY_ANALYSIS("the test has one thread") {
    return gaps->Begin(watch, sequence);
  }
  void Put(const std::string& key, SequenceNumber sequence = 1)
      CAMBIUM_NO_THREAD_SAFETY_ANALYSIS("the test has one thread") {
    gaps->NotePut(sequence, key);
  }
  // Where an iterator at `key` continues; "" if `key` is in no gap.
  std::string From(const std::string& key, bool forward = true, SequenceNumber sequence = 10) {
    std::string to;
    return gaps->Find(key, sequence, forward, &to) ? to : "";
  }

  std::unique_ptr<Gaps> gaps = std::make_unique<Gaps>(BytewiseComparator());
};

TEST_F(GapsTest, IteratorPassesGapInBothDirections) {
  Add("b", "f");
  EXPECT_EQ(From("b"), "f");
  EXPECT_EQ(From("c"), "f");
  EXPECT_EQ(From("c", false), "b");
  EXPECT_EQ(From("f", false), "b");
  EXPECT_EQ(From("a"), "") << "before the gap";
  EXPECT_EQ(From("g"), "") << "after it";
  EXPECT_EQ(From("f"), "") << "at its end there is nothing to pass";
  EXPECT_EQ(From("b", false), "");
}

TEST_F(GapsTest, OlderReaderDoesNotPassGap) {
  Add("b", "f", 10);
  EXPECT_EQ(From("c", true, 9), "");
  EXPECT_EQ(From("c", true, 11), "f");
  const MutantScope mutant(Mutant::kGapIgnoresSequence);
  EXPECT_EQ(From("c", true, 9), "f");
}

TEST_F(GapsTest, PutSplitsGap) {
  Add("b", "f");
  Put("d");
  EXPECT_EQ(gaps->size(), 2u);
  EXPECT_EQ(From("c"), "d");
  EXPECT_EQ(From("e"), "f");
  EXPECT_EQ(From("e", false), "d");
  EXPECT_EQ(From("d"), "") << "the key that was put is in no gap";
  EXPECT_EQ(From("d", false), "");
  Put("d");
  Put("b");
  Put("f");
  EXPECT_EQ(From("b"), "");
  EXPECT_EQ(From("bb"), "d");
  EXPECT_EQ(From("bb", false), "b");
  EXPECT_EQ(From("f", false), "");
  EXPECT_EQ(From("ee"), "f");
}

TEST_F(GapsTest, PutIntoGapIsFound) {
  const MutantScope mutant(Mutant::kGapOutlivesPut);
  Add("b", "f");
  Put("d");
  EXPECT_EQ(From("d"), "f") << "the mutant has no effect";
}

TEST_F(GapsTest, IteratorThatDoesNotSeeNewestPutAddsNoGap) {
  Put("x", 7);
  Gaps::Watch watch;
  EXPECT_FALSE(Begin(&watch, 6));
  EXPECT_FALSE(watch.has_begun());
  EXPECT_TRUE(Begin(&watch, 7));
}

TEST_F(GapsTest, PutDuringWatchPreventsGap) {
  for (const auto& [key, is_added] : {std::pair("a", true), {"b", false}, {"d", false}, {"f", false}, {"g", true}}) {
    gaps = std::make_unique<Gaps>(BytewiseComparator());
    Gaps::Watch watch;
    ASSERT_TRUE(Begin(&watch, 10));
    Put(key);
    gaps->Add(&watch, 10, {"b", true}, {"f", true});
    EXPECT_EQ(gaps->size(), is_added ? 1u : 0u) << key;
  }
}

TEST_F(GapsTest, MutantThatIgnoresWatchAddsGap) {
  const MutantScope mutant(Mutant::kGapIgnoresWatch);
  Gaps::Watch watch;
  ASSERT_TRUE(Begin(&watch, 10));
  Put("d");
  gaps->Add(&watch, 10, {"b", true}, {"f", true});
  EXPECT_EQ(From("d"), "f") << "the mutant has no effect";
}

TEST_F(GapsTest, ShortGapsBetweenPutsAreEvictedFirst) {
  for (const bool ascending : {true, false}) {
    gaps = std::make_unique<Gaps>(BytewiseComparator());
    Add("a", "b");
    Add("k0000", "k9999");
    for (int i = 1; i < 200; ++i) {
      char key[16];
      std::snprintf(key, sizeof(key), "k%04d", ascending ? i : 9999 - i);
      Put(key);
    }
    EXPECT_EQ(gaps->size(), kGapsMax);
    EXPECT_EQ(From("k5000"), ascending ? "k9999" : "k9800") << "what is left of the gap";
  }
}

TEST_F(GapsTest, PutsOnBothSidesOfWatchedRangePreventGap) {
  Gaps::Watch watch;
  ASSERT_TRUE(Begin(&watch, 10));
  Put("a");
  Put("g");
  gaps->Add(&watch, 10, {"b", true}, {"f", true});
  EXPECT_EQ(gaps->size(), 0u) << "only the smallest and the largest key are noted";
}

TEST_F(GapsTest, AbandonedWatchIsRemoved) {
  {
    Gaps::Watch first;
    Gaps::Watch second;
    ASSERT_TRUE(Begin(&first, 10));
    ASSERT_TRUE(Begin(&second, 10));
    Put("c");
  }
  Put("d");
  Add("b", "f");
  EXPECT_EQ(From("c"), "f");
}

TEST_F(GapsTest, OverlappingGapsBecomeOne) {
  Add("b", "d", 10);
  Add("f", "h", 20);
  EXPECT_EQ(gaps->size(), 2u);
  Add("c", "g", 15);
  EXPECT_EQ(gaps->size(), 1u);
  EXPECT_EQ(From("b", true, 20), "h");
  EXPECT_EQ(From("b", true, 19), "") << "the whole is empty from the latest of the three numbers on";
}

TEST_F(GapsTest, GapsAreNotJoinedAcrossAPut) {
  Add("b", "f");
  Put("d");
  EXPECT_EQ(gaps->size(), 2u);
  Gaps::Watch watch;
  ASSERT_TRUE(Begin(&watch, 10));
  gaps->Add(&watch, 10, {"b", true}, {"d", false});
  EXPECT_EQ(gaps->size(), 2u);
  EXPECT_EQ(From("c"), "d");
  Add("c", "d");  // d was deleted
  EXPECT_EQ(gaps->size(), 1u);
  EXPECT_EQ(From("b"), "f");
}

TEST_F(GapsTest, LeastUsedGapIsEvicted) {
  const auto key = [](std::size_t i, char end) {
    char text[16];
    std::snprintf(text, sizeof(text), "%04zu%c", i, end);
    return std::string(text);
  };
  for (std::size_t i = 0; i < kGapsMax; ++i) Add(key(i, 'a'), key(i, 'z'));
  EXPECT_EQ(gaps->size(), kGapsMax);
  EXPECT_EQ(From(key(0, 'c')), key(0, 'z'));
  Add(key(kGapsMax, 'a'), key(kGapsMax, 'z'));
  EXPECT_EQ(gaps->size(), kGapsMax);
  EXPECT_EQ(From(key(0, 'c')), key(0, 'z')) << "it was used";
  EXPECT_EQ(From(key(1, 'c')), "");
}

TEST_F(GapsTest, LongKeysAreNotKept) {
  Add(std::string(kGapKeyMax + 1, 'b'), "f");
  EXPECT_EQ(gaps->size(), 0u);
  Add(std::string(kGapKeyMax, 'b'), "f");
  EXPECT_EQ(gaps->size(), 1u);
}

// Against a set of the keys that were put since they were last seen to be absent.
TEST_F(GapsTest, NoGapHasKeyThatWasPut) {
  constexpr int kKeys = 40;
  const auto key = [](int i) { return std::string(1, static_cast<char>('0' + i)); };
  Prng random(SeedFromEnvironment(11));
  std::set<int> alive;
  SequenceNumber now = 1;
  for (int step = 0; step < 20'000; ++step) {
    const int at = static_cast<int>(random.Uniform(kKeys));
    if (random.Uniform(3) == 0) {
      ++now;
      alive.insert(at);
      Put(key(at), now);
    } else if (random.Uniform(3) == 0) {
      alive.erase(at);
    } else if (!alive.contains(at)) {
      int first = at;
      int last = at;
      while (first > 0 && !alive.contains(first - 1)) --first;
      while (last + 1 < kKeys && !alive.contains(last + 1)) ++last;
      Gaps::Watch watch;
      ASSERT_TRUE(Begin(&watch, now));
      const bool first_is_inside = random.Uniform(2) == 0 || first == 0;
      const bool last_is_inside = random.Uniform(2) == 0 || last + 1 == kKeys;
      gaps->Add(&watch, now, {key(first_is_inside ? first : first - 1), first_is_inside},
               {key(last_is_inside ? last : last + 1), last_is_inside});
    }
    for (int i = 0; i < kKeys; ++i) {
      for (const bool forward : {true, false}) {
        const std::string to = From(key(i), forward, now);
        if (to.empty()) continue;
        ASSERT_FALSE(alive.contains(i)) << key(i);
        for (int passed = i; key(passed) != to; passed += forward ? 1 : -1) ASSERT_FALSE(alive.contains(passed));
      }
    }
  }
}

}  // namespace
}  // namespace cambium::testing
