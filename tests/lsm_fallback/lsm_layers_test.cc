// Reads: which layer answers, walks over the files of a tier, and which files Open rejects.
#include "lsm_fallback/lsm_layers.h"

#include <gtest/gtest.h>

#include "lsm_family.h"
#include "lsm_fallback/tier_cursor.h"
#include "testing/merged_layers.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// Makes several levels of several files each from the keys 0, 2, 4 and so on, and a run on top.
void MakeLevels(LsmFamily& family, std::uint64_t count) {
  for (std::uint64_t part = 0; part < 8; ++part) {
    for (std::uint64_t i = part; i < count; i += 8) family.Put(NumberKey(i * 2), 300);
    ASSERT_TRUE(family.FlushRun().ok());
    ASSERT_TRUE(family.CompactWhileDue().ok());
  }
  for (std::uint64_t i = 0; i < count; i += 7) family.Put(NumberKey(i * 2), 400);
  for (std::uint64_t i = 0; i < count; i += 11) family.Delete(NumberKey(i * 2));
  ASSERT_TRUE(family.FlushRun().ok());
}

TEST(LsmLayersTest, NewestLayerWins) {
  LsmFamily family;
  MakeLevels(family, 3000);
  ASSERT_GE(family.layers().tiers().size(), 2u);
  ASSERT_GE(family.layers().tiers().back()->runs().size(), 3u);
  ExpectGood(family);
  PageRef keep;
  Entry entry;
  const Result<bool> absent = family.layers().Find(NumberKey(3), &keep, &entry);
  ASSERT_TRUE(absent.ok());
  EXPECT_FALSE(*absent);
  const Result<bool> deleted = family.layers().Find(NumberKey(22), &keep, &entry);
  ASSERT_TRUE(deleted.ok() && *deleted) << "a tombstone counts as found";
  EXPECT_EQ(entry.kind, EntryKind::kTombstone);
}

// Mutant: levels, which are older, are asked before the runs.
TEST(LsmLayersTest, LevelZeroIsSearchedFirst) {
  LsmFamily family;
  MakeLevels(family, 500);
  ExpectGood(family);
  const MutantScope mutant(Mutant::kLevelsBeforeRuns);
  EXPECT_FALSE(family.Check().ok());
}

TEST(LsmLayersTest, ShapeCountsEntriesAndFiles) {
  LsmFamily family;
  EXPECT_EQ(family.layers().shape().run_count, 0u);
  EXPECT_TRUE(family.layers().shape().levels.empty());
  MakeLevels(family, 3000);
  const LayersShape shape = family.layers().shape();
  EXPECT_EQ(shape.run_count, family.layers().runs().size());
  EXPECT_GT(shape.run_tombstones, 0u);
  ASSERT_EQ(shape.levels.size(), family.layers().tiers().size());
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < shape.levels.size(); ++i) {
    EXPECT_EQ(shape.levels[i].level, family.layers().tiers()[i]->level());
    EXPECT_EQ(shape.levels[i].tier_count, 1u);
    EXPECT_EQ(shape.levels[i].file_count, family.layers().tiers()[i]->runs().size());
    EXPECT_GT(shape.levels[i].value_bytes, shape.levels[i].entries * 299);
    entries += shape.levels[i].entries;
    bytes += shape.levels[i].file_bytes;
  }
  EXPECT_EQ(shape.base_keys, entries);
  EXPECT_EQ(shape.base_file_bytes, bytes);
  EXPECT_EQ(entries + shape.run_keys, family.entry_count());
  std::uint64_t stated = 0;
  for (const auto& [number, run] : family.state().level_runs) stated += run.info.root.entry_count;
  EXPECT_EQ(entries, stated);
  std::vector<NumberedFile> files;
  family.layers().AppendFiles(&files);
  EXPECT_EQ(files.size(), family.state().runs.size() + family.state().level_runs.size());
}

// The result is compared with a search of every span. Keys share prefixes, are prefixes of each other, and differ late
// or in zeros.
TEST(TierTest, FindsTheRunWhoseSpanContainsTheKey) {
  Prng prng(SeedFromEnvironment(20261121));
  const auto random_key = [&prng](const std::string& prefix) {
    std::string key = prng.OneIn(10) ? std::string(prefix, 0, prng.Uniform(prefix.size() + 1)) : prefix;
    const std::size_t length = prng.Uniform(14);
    for (std::size_t i = 0; i < length; ++i) key.push_back(prng.OneIn(3) ? '\0' : prng.OneIn(2) ? '\xff' : '\x01');
    return key;
  };
  for (const std::string& prefix :
       {std::string(), std::string("a"), std::string("user:0000000"), std::string(5, '\0')}) {
    LsmFamilyOptions options;
    options.policy.target_file_size_base = 1024;
    LsmFamily family(options);
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < 400; ++i) family.PutInline(random_key(prefix), std::string(60, 'v'));
      if (round == 0) family.DeleteRange(prefix + '\x01', prefix + "\x01\xff");
      ASSERT_TRUE(family.FlushRun().ok());
    }
    ASSERT_TRUE(family.Step().ok());
    const Tier& tier = *family.layers().tiers().front();
    ASSERT_GT(tier.runs().size(), 10u);
    for (int i = 0; i < 5000; ++i) {
      std::string key = random_key(prefix);
      if (prng.OneIn(3)) key = tier.runs()[prng.Uniform(tier.runs().size())]->info().largest_key;
      if (prng.OneIn(20)) key.push_back('\0');
      if (prng.OneIn(50)) key = prng.OneIn(2) ? "zzz" : "!";
      const cambium::Run* expected = nullptr;
      for (const auto& run : tier.runs()) {
        const KeySpan span = KeySpan::Of(run->info());
        if (span.smallest <= Slice(key) && !EndsBefore(KeyOrder(BytewiseComparator()), span, key)) expected = run.get();
      }
      ASSERT_EQ(tier.Find(key), expected) << Slice(key).ToString(true);
    }
    ExpectGood(family);
  }
}

// A walk over the files of a tier against a map: every kind of seek, and random changes of direction.
TEST(TierCursorTest, WalksSeveralFilesAsOne) {
  const std::uint64_t seed = SeedFromEnvironment(20261120);
  for (const Comparator* comparator : {BytewiseComparator(), ReverseBytewiseComparator(), LengthFirstComparator()}) {
    SCOPED_TRACE(comparator->Name());
    LsmFamilyOptions options;
    options.comparator = comparator;
    options.policy.max_bytes_for_level_base = 1u << 30;
    LsmFamily family(options);
    Prng prng(seed);
    for (int i = 0; i < 1500; ++i) family.Put(std::to_string(prng.Uniform(4000)), 300);
    ASSERT_TRUE(family.FlushRun().ok());
    ASSERT_TRUE(family.Step().ok());                       // moves
    ASSERT_TRUE(family.Step().ok());                       // does nothing
    for (int i = 0; i < 1500; ++i) family.Put(std::to_string(prng.Uniform(4000)), 300);
    ASSERT_TRUE(family.FlushRun().ok());
    ASSERT_TRUE(family.Step().ok());
    ASSERT_EQ(family.layers().tiers().size(), 1u);
    const std::shared_ptr<const Tier> tier = family.layers().tiers()[0];
    ASSERT_GT(tier->runs().size(), 4u);
    TierCursor cursor(comparator, std::shared_ptr<const RunList>(tier, &tier->runs()));
    EXPECT_FALSE(cursor.Valid());
    const EntryMap& map = family.durable();
    const auto expect_at = [&](EntryMap::const_iterator at) {
      ASSERT_TRUE(cursor.status().ok());
      ASSERT_EQ(cursor.Valid(), at != map.end());
      if (at == map.end()) return;
      ASSERT_EQ(cursor.key(), Slice(at->first));
      ASSERT_TRUE(at->second.Equals(cursor.entry()));
    };
    for (int n = -1; n <= 4001; ++n) {
      const std::string target = n < 0 ? "" : std::to_string(n);
      cursor.Seek(target);
      expect_at(map.lower_bound(target));
      cursor.SeekForPrev(target);
      const auto above = map.upper_bound(target);
      expect_at(above == map.begin() ? map.end() : std::prev(above));
    }
    auto at = map.begin();
    cursor.SeekToFirst();
    for (int i = 0; i < 20'000; ++i) {
      expect_at(at);
      if (at == map.end()) {
        prng.OneIn(2) ? cursor.SeekToLast() : cursor.SeekToFirst();
        at = cursor.Valid() && cursor.key() == Slice(map.begin()->first) ? map.begin() : std::prev(map.end());
      } else if (prng.OneIn(3)) {
        cursor.Prev();
        at = at == map.begin() ? map.end() : std::prev(at);
      } else {
        cursor.Next();
        ++at;
      }
    }
  }
}

// A failed read in the middle of a walk is reported until the next seek: the walk neither ends nor skips keys.
TEST(TierCursorTest, ReadErrorIsNotTheEnd) {
  LsmFamilyOptions options;
  options.pool_bytes = 2048;
  options.policy.max_bytes_for_level_base = 1u << 30;
  LsmFamily family(options);
  for (std::uint64_t i = 0; i < 3000; ++i) family.Put(NumberKey(i), 300);
  ASSERT_TRUE(family.FlushRun().ok());
  family.Put(NumberKey(1), 300);
  ASSERT_TRUE(family.FlushRun().ok());
  ASSERT_TRUE(family.Step().ok());
  ASSERT_GT(family.layers().tiers()[0]->runs().size(), 4u);
  for (const bool forward : {true, false}) {
    int failed = 0;
    for (std::uint64_t n = 1;; n += 3) {
      const std::unique_ptr<EntryCursor> cursor = MergedLayers(family.layers());
      SimFault fault;
      fault.kind = SimOpKind::kRead;
      fault.nth = n;
      const int id = family.fs().AddFault(fault);
      std::uint64_t seen = 0;
      for (forward ? cursor->SeekToFirst() : cursor->SeekToLast(); cursor->Valid();
           forward ? cursor->Next() : cursor->Prev()) {
        ++seen;
      }
      family.fs().RemoveFault(id);
      if (cursor->status().ok()) {
        EXPECT_EQ(seen, 3000u);
        break;
      }
      ++failed;
      EXPECT_TRUE(cursor->status().IsIOError());
      EXPECT_FALSE(cursor->Valid());
      const std::string next = NumberKey(forward ? seen : 2999 - seen);
      forward ? cursor->Seek(next) : cursor->SeekForPrev(next);
      ASSERT_TRUE(cursor->Valid()) << cursor->status().ToString();
      EXPECT_EQ(cursor->key(), Slice(next)) << "no key was skipped";
    }
    EXPECT_GT(failed, 20);
  }
}

// ---- Open ----

TEST(LsmLayersOpenTest, CommittedStateIsRestored) {
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleLazyLevel}) {
    LsmFamilyOptions options;
    options.policy = TinyPolicy(style);
    LsmFamily family(options);
    MakeLevels(family, 2000);
    ASSERT_TRUE(family.Reopen().ok());
    ExpectGood(family);
  }
}

// The check of a MANIFEST's state knows only the order of built-in comparators. The layers know the real order.
TEST(LsmLayersOpenTest, OverlappingRunsOfATierAreNamedAndRejected) {
  LsmFamilyOptions options;
  options.comparator = LengthFirstComparator();
  LsmFamily family(options);
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (std::uint64_t k = i; k < 300; k += 3) family.Put(std::to_string(k), 300);
    ASSERT_TRUE(family.FlushRun().ok());
  }
  FamilyState& state = family.mutable_state();
  for (int i = 0; i < 2; ++i) {
    const RunInfo info = state.runs.back();
    state.level_runs.Set({info.number, {info, 1, 0}});
    state.runs = std::vector<RunInfo>(state.runs.begin(), state.runs.end() - 1);
  }
  const Status s = family.Reopen();
  ASSERT_TRUE(s.IsCorruption()) << s.ToString();
  for (const auto& [number, run] : state.level_runs) {
    EXPECT_NE(s.ToString().find(FileName(FileKind::kRun, number)), std::string::npos) << s.ToString();
  }
  state.level_runs.Mutable(state.level_runs.front().first)->second.tier = 7;  // files of different tiers may overlap
  EXPECT_TRUE(family.Reopen().ok());
}

TEST(LsmLayersOpenTest, RunThatEndsBeforeItBeginsIsRejected) {
  // The keys are written in byte order. In the order by length, "10" is above "9".
  LsmFamily family;
  family.Put("10", 300);
  family.Put("9", 300);
  ASSERT_TRUE(family.FlushRun().ok());
  const auto open = [&](const Comparator* comparator) {
    PagePool pool(1u << 20);
    return LsmLayers::Open(family.state(), comparator, &pool,
                           [&](FileKind, std::uint64_t number) -> Result<std::shared_ptr<File>> {
                             std::unique_ptr<File> file;
                             CAMBIUM_RETURN_IF_ERROR(
                                 family.fs().Open(family.PathOf(number), OpenMode::kReadOnly, {}, &file));
                             return std::shared_ptr<File>(std::move(file));
                           })
        .status();
  };
  EXPECT_TRUE(open(BytewiseComparator()).ok());
  const Status s = open(LengthFirstComparator());
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
}

TEST(LsmLayersOpenTest, WrongOrMissingFileIsRejected) {
  LsmFamily family;
  MakeLevels(family, 1000);
  const std::uint64_t number = family.state().level_runs.begin()->first;
  const std::uint64_t other = family.state().level_runs.back().first;
  ASSERT_NE(number, other);
  std::string bytes;
  ASSERT_TRUE(family.fs().probe().ReadContents(family.PathOf(number), &bytes).ok());
  ASSERT_TRUE(family.fs().tampering().Truncate(family.PathOf(number), bytes.size() - 1).ok());
  EXPECT_TRUE(family.Reopen().IsCorruption());
  ASSERT_TRUE(family.fs().tampering().Copy(family.PathOf(other), family.PathOf(number)).ok());
  EXPECT_TRUE(family.Reopen().IsCorruption());
  ASSERT_TRUE(family.fs().tampering().Remove(family.PathOf(number)).ok());
  EXPECT_FALSE(family.Reopen().ok());
  ASSERT_TRUE(family.fs().tampering().WriteContents(family.PathOf(number), bytes).ok());
  ASSERT_TRUE(family.Reopen().ok());
  ExpectGood(family);
}

}  // namespace
}  // namespace cambium::testing
