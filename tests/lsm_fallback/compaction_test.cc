// What level compactions do to entries and accounts: random programs against a model, and the rules one by one.
#include "lsm_fallback/level_compaction.h"

#include <gtest/gtest.h>

#include <functional>

#include "lsm_family.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

std::string Key(std::uint64_t n) {
  char text[24];
  std::snprintf(text, sizeof text, "%06llu", static_cast<unsigned long long>(n));
  return text;
}

struct Program {
  const Comparator* comparator = BytewiseComparator();
  CompactionStyle style = kCompactionStyleLevel;
  std::uint64_t seed = 0;
  int rounds = 120;
};

std::string RandomKey(Prng& prng) {
  // One of the comparators takes keys that differ only in case for one key.
  std::string key = (prng.OneIn(2) ? "k" : "K") + Key(prng.Skewed(11));
  if (prng.OneIn(20)) key += std::string(prng.Uniform(60), 'x');
  return key;
}

void WriteSome(LsmFamily& family, Prng& prng) {
  const std::uint64_t count = prng.Between(1, 150);
  const bool in_order = prng.OneIn(5);
  std::uint64_t next = prng.Uniform(3000);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string key = in_order ? "k" + Key(next++) : RandomKey(prng);
    if (prng.OneIn(60)) {
      // Mostly short ranges; now and then a very wide one.
      const std::string other = prng.OneIn(4) ? RandomKey(prng) : key + std::string(prng.Uniform(3), 'z');
      family.DeleteRange(key, other);
      family.DeleteRange(other, key);
    } else if (prng.OneIn(4)) {
      family.Delete(key);
    } else if (prng.OneIn(2)) {
      family.PutInline(key, prng.OneIn(2) ? prng.Bytes(prng.Uniform(100)) : std::string(prng.Uniform(100), 'v'));
    } else {
      family.Put(key, prng.Between(100, 5000));
    }
  }
}

// Runs random operations on a family, and checks everything after each.
Status RunProgram(const Program& program) {
  Prng prng(program.seed);
  LsmFamilyOptions options;
  options.comparator = program.comparator;
  options.policy = TinyPolicy(program.style);
  options.pool_bytes = 64 * 1024;
  if (prng.OneIn(3)) options.compression = prng.OneIn(2) ? Codec::kLz4 : Codec::kZstd;
  LsmFamily family(options);
  for (int round = 0; round < program.rounds; ++round) {
    const std::uint64_t step = prng.OneIn(3) ? LsmFamily::kWholeStep : prng.Between(1, 40'000);
    const std::uint64_t dice = prng.Uniform(20);
    if (dice < 10) {
      WriteSome(family, prng);
      CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
    } else if (dice < 14) {
      CAMBIUM_RETURN_IF_ERROR(family.CompactWhileDue(step));
    } else if (dice < 16) {
      // A run is added between the compaction and its commit.
      CAMBIUM_TRY(const std::unique_ptr<CompactionOutcome> outcome, family.Compact(step));
      WriteSome(family, prng);
      CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
      CAMBIUM_RETURN_IF_ERROR(family.Commit(outcome.get()));
    } else if (dice < 17) {
      CAMBIUM_TRY(const std::unique_ptr<CompactionOutcome> abandoned, family.Compact(step));
    } else if (dice < 18) {
      std::optional<std::string> begin = RandomKey(prng);
      std::optional<std::string> end = RandomKey(prng);
      if (program.comparator->Compare(*begin, *end) > 0) std::swap(begin, end);
      if (prng.OneIn(4)) begin.reset();
      if (prng.OneIn(4)) end.reset();
      CAMBIUM_RETURN_IF_ERROR(family.CompactRange(begin, end, step));
    } else if (dice < 19) {
      CompactionPolicy policy = TinyPolicy(prng.OneIn(2) ? kCompactionStyleLevel : kCompactionStyleLazyLevel);
      if (prng.OneIn(2)) policy.style = program.style;
      policy.max_bytes_for_level_multiplier = static_cast<double>(prng.Between(2, 10));
      policy.level0_file_num_compaction_trigger = prng.Between(1, 6);
      policy.target_file_size_base = prng.Between(1024, 8192);
      family.index().SetPolicy(policy);
    } else {
      CAMBIUM_RETURN_IF_ERROR(family.Reopen());
    }
    const Status s = family.Check();
    if (!s.ok()) return s.WithContext("round " + std::to_string(round));
  }
  CAMBIUM_RETURN_IF_ERROR(family.CompactRange({}, {}));
  CAMBIUM_RETURN_IF_ERROR(family.Check());
  // At the end everything is in one tier: no entry is hidden, and none is a tombstone.
  if (family.layers().tiers().size() > 1 || !family.layers().runs().empty()) {
    return Status::Corruption("not all files reached the bottom");
  }
  if (family.tombstone_count() != 0 || family.range_delete_count() != 0 ||
      family.entry_count() != family.durable().size()) {
    return Status::Corruption("tombstones or hidden entries at the bottom");
  }
  return Status::OK();
}

class CompactionProgramTest : public ::testing::TestWithParam<CompactionStyle> {};

TEST_P(CompactionProgramTest, AgreesWithAMapAtEveryStep) {
  const std::uint64_t seed = SeedFromEnvironment(0x15fa11);
  const std::uint64_t programs = 2 * ScaleFromEnvironment();
  for (const Comparator* comparator : {BytewiseComparator(), ReverseBytewiseComparator(), CaseFoldingComparator(),
                                       LengthFirstComparator()}) {
    for (std::uint64_t i = 0; i < programs; ++i) {
      const Status s = RunProgram({comparator, GetParam(), seed + i});
      ASSERT_TRUE(s.ok()) << comparator->Name() << ", CAMBIUM_SEED=" << seed + i << ": " << s.ToString();
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Styles, CompactionProgramTest,
                         ::testing::Values(kCompactionStyleLevel, kCompactionStyleLazyLevel),
                         [](const auto& its) { return its.param == kCompactionStyleLevel ? "Level" : "LazyLevel"; });

// ---- The rules one by one ----

// Deletes a key in level 1 that level 2 has.
Status DeleteAboveTheBottom() {
  LsmFamily family;
  for (std::uint64_t i = 0; i < 3000; ++i) family.Put(Key(i), 300);
  CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
  CAMBIUM_RETURN_IF_ERROR(family.CompactWhileDue());
  CAMBIUM_RETURN_IF_ERROR(family.CompactRange({}, {}));
  if (family.layers().tiers().front()->level() != 2) return Status::Aborted("level 1 is not empty");
  for (std::uint64_t i = 0; i < 3000; i += 10) family.Delete(Key(i));
  CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
  CAMBIUM_RETURN_IF_ERROR(family.Step());
  return family.Check();
}

TEST(CompactionTest, TombstonesAreKeptAboveTheirEntries) {
  const Status s = DeleteAboveTheBottom();
  EXPECT_TRUE(s.ok()) << s.ToString();
  const MutantScope mutant(Mutant::kDropTombstonesAnywhere);
  const Status dropped = DeleteAboveTheBottom();
  EXPECT_TRUE(dropped.IsCorruption()) << dropped.ToString();
}

TEST(CompactionTest, TombstonesAreDroppedKeyByKey) {
  LsmFamily family;
  for (std::uint64_t i = 1000; i < 4000; ++i) family.Put(Key(i), 300);
  ASSERT_TRUE(family.FlushRun().ok());
  ASSERT_TRUE(family.CompactWhileDue().ok());
  ASSERT_TRUE(family.CompactRange({}, {}).ok());
  ASSERT_EQ(family.layers().tiers().size(), 1u);
  ASSERT_GE(family.layers().tiers()[0]->level(), 2u);
  // Level 1 gets tombstones of keys that level 2 may have, and of keys that it cannot have.
  const std::uint64_t first = std::stoull(family.layers().tiers().back()->runs()[0]->info().smallest_key);
  for (std::uint64_t i = 0; i < 100; ++i) family.Delete(Key(first - 200 + 2 * i));
  ASSERT_TRUE(family.FlushRun().ok());
  for (std::uint64_t i = 0; i < 100; ++i) family.Delete(Key(first + 2 * i));
  ASSERT_TRUE(family.FlushRun().ok());
  ASSERT_TRUE(family.Step().ok());
  EXPECT_EQ(family.tombstone_count(), 100u);
  ExpectGood(family);
}

// A new tier of a level hides the older tiers of the level, and is not merged with them.
TEST(CompactionTest, TombstonesAreKeptAboveAnOlderTierOfTheLevel) {
  LsmFamilyOptions options;
  options.policy = TinyPolicy(kCompactionStyleLazyLevel);
  LsmFamily family(options);
  for (std::uint64_t i = 5000; i < 9000; ++i) family.Put(Key(i), 300);
  ASSERT_TRUE(family.FlushRun().ok());
  ASSERT_TRUE(family.CompactWhileDue().ok());
  ASSERT_EQ(family.layers().tiers().size(), 1u);
  ASSERT_GE(family.layers().tiers()[0]->level(), 2u);
  const auto twice = [&](const std::function<void()>& write) {
    for (int i = 0; i < 2; ++i) {
      write();
      ASSERT_TRUE(family.FlushRun().ok());
    }
    ASSERT_TRUE(family.Step().ok());
  };
  twice([&] { family.Put(Key(100), 300); family.Put(Key(200), 300); });
  twice([&] { family.Delete(Key(100)); family.DeleteRange(Key(150), Key(250)); family.Delete(Key(9)); });
  ASSERT_EQ(family.layers().tiers().size(), 3u);
  EXPECT_EQ(family.tombstone_count(), 1u) << "the tombstone without an older entry was dropped";
  EXPECT_EQ(family.range_delete_count(), 1u);
  ExpectGood(family);
}

// ---- Range deletes ----

// Makes two levels, the upper one with a range delete.
Status DeleteRangeAboveTheBottom() {
  LsmFamily family;
  for (std::uint64_t i = 0; i < 3000; ++i) family.Put(Key(i), 300);
  CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
  CAMBIUM_RETURN_IF_ERROR(family.CompactWhileDue());
  CAMBIUM_RETURN_IF_ERROR(family.CompactRange({}, {}));
  if (family.layers().tiers().front()->level() != 2) return Status::Aborted("level 1 is not empty");
  family.DeleteRange(Key(100), Key(110));
  family.DeleteRange(Key(2990), Key(5000));
  family.Put(Key(105), 300);
  family.Delete(Key(500));
  CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
  CAMBIUM_RETURN_IF_ERROR(family.Check());
  CAMBIUM_RETURN_IF_ERROR(family.Step());
  CAMBIUM_RETURN_IF_ERROR(family.Check());
  if (!family.layers().runs().empty() || family.range_delete_count() != 2) {
    return Status::Corruption(std::to_string(family.range_delete_count()) + " ranges above the bottom");
  }
  CAMBIUM_RETURN_IF_ERROR(family.Reopen());
  CAMBIUM_RETURN_IF_ERROR(family.Check());
  CAMBIUM_RETURN_IF_ERROR(family.CompactRange({}, {}));
  if (family.range_delete_count() != 0) return Status::Corruption("ranges at the bottom");
  return family.Check();
}

TEST(CompactionRangesTest, RangesAreKeptAboveTheirKeys) {
  const Status s = DeleteRangeAboveTheBottom();
  EXPECT_TRUE(s.ok()) << s.ToString();
  const MutantScope mutant(Mutant::kDropTombstonesAnywhere);
  EXPECT_TRUE(DeleteRangeAboveTheBottom().IsCorruption());
}

// A compaction of two runs: the range delete of the newer run hides keys of the older run, but none of its own run. The
// accounts lose the references of hidden entries.
TEST(CompactionRangesTest, CoveredEntriesAreDroppedAndCharged) {
  LsmFamily family;
  for (std::uint64_t i = 0; i < 300; ++i) family.Put(Key(i), 300);
  ASSERT_TRUE(family.FlushRun().ok());
  family.DeleteRange(Key(100), Key(200));
  family.Put(Key(150), 300);
  ASSERT_TRUE(family.FlushRun().ok());
  ASSERT_TRUE(family.Step().ok());
  EXPECT_EQ(family.entry_count(), 201u);
  EXPECT_EQ(family.range_delete_count(), 0u);
  std::int64_t dropped = 0;
  for (const auto& [slot, account] : family.last_edit().accounts.by_slot()) dropped -= account.references;
  EXPECT_EQ(dropped, 100);
  ExpectGood(family);
}

// Without a cut, a range over all keys would make one file, which can only be compacted with the whole level below.
TEST(CompactionRangesTest, WideRangeIsCutBeforeItOverlapsTooMuch) {
  LsmFamilyOptions options;
  options.policy.max_bytes_for_level_base = 64 * 1024;
  LsmFamily family(options);
  for (std::uint64_t i = 0; i < 20'000; i += 2) family.Put(Key(i), 300);
  ASSERT_TRUE(family.FlushRun().ok());
  ASSERT_TRUE(family.CompactRange({}, {}).ok());
  ASSERT_TRUE(family.CompactWhileDue().ok());
  const std::shared_ptr<const Tier> lower = family.layers().tiers().back();
  ASSERT_GT(lower->runs().size(), 12u);
  family.Put(Key(7), 300);
  for (std::uint64_t i = 10; i < 19'990; i += 20) family.DeleteRange(Key(i), Key(i + 19));
  ASSERT_TRUE(family.FlushRun().ok());
  family.DeleteRange(Key(1001), Key(1002));
  ASSERT_TRUE(family.FlushRun().ok());
  ASSERT_TRUE(family.Step().ok());
  ExpectGood(family);
  const std::shared_ptr<const Tier> upper = family.layers().tiers().front();
  ASSERT_EQ(upper->level(), 1u);
  ASSERT_EQ(family.layers().tiers().back(), lower);
  EXPECT_GT(upper->runs().size(), 1u);
  EXPECT_EQ(upper->runs().back()->entry_count(), 0u) << "only ranges";
  const KeyOrder order(BytewiseComparator());
  for (const auto& file : upper->runs()) {
    std::uint64_t met = 0;
    for (const auto& below : lower->runs()) {
      if (Overlap(order, KeySpan::Of(file->info()), KeySpan::Of(below->info()))) met += below->info().file_size;
    }
    EXPECT_LE(met, (kGrandparentFiles + 3) * 4096);
  }
  ASSERT_TRUE(family.Reopen().ok());
  ASSERT_TRUE(family.CompactRange({}, {}).ok());
  ExpectGood(family);
  EXPECT_EQ(family.entry_count(), family.durable().size());
}

// Ordinary compactions free the space; no request is needed.
TEST(CompactionRangesTest, RangeOverAllKeysFreesTheirSpace) {
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleLazyLevel}) {
    LsmFamilyOptions options;
    options.policy = TinyPolicy(style);
    LsmFamily family(options);
    for (int round = 0; round < 6; ++round) {
      for (std::uint64_t i = 0; i < 3000; ++i) family.Put(Key(i * 7 % 3001), 300);
      ASSERT_TRUE(family.FlushRun().ok());
      ASSERT_TRUE(family.CompactWhileDue(4096).ok());
    }
    ASSERT_GT(family.layers().tiers().back()->level(), 1u);
    family.DeleteRange(Key(0), Key(9999));
    family.Put(Key(17), 300);
    ASSERT_TRUE(family.FlushRun().ok());
    ASSERT_TRUE(family.CompactWhileDue(4096).ok());
    EXPECT_LT(family.entry_count(), 3000u * 2) << "the covered files were dropped";
    ExpectGood(family);
  }
}

// Mutant: dropped addresses are not taken from the accounts, so their segments are never freed.
TEST(CompactionTest, DroppedEntriesAreChargedAndMovedOnesAreNot) {
  const auto overwrite = [] {
    LsmFamily family;
    for (int round = 0; round < 3; ++round) {
      for (std::uint64_t i = 0; i < 300; ++i) family.Put(Key(i), 300);
      CAMBIUM_RETURN_IF_ERROR(family.FlushRun());
    }
    CAMBIUM_RETURN_IF_ERROR(family.Step());
    std::int64_t dropped = 0;
    for (const auto& [slot, account] : family.last_edit().accounts.by_slot()) dropped -= account.references;
    if (dropped != 600 || family.last_stats().entries_dropped != 600) {
      return Status::Corruption("600 are hidden, " + std::to_string(dropped) + " are charged");
    }
    return family.Check();
  };
  const Status s = overwrite();
  EXPECT_TRUE(s.ok()) << s.ToString();
  const MutantScope mutant(Mutant::kForgetDroppedAccounts);
  EXPECT_FALSE(overwrite().ok());
}

TEST(CompactionTest, FilesEndAtTheirSizeAndBeforeTheyOverlapTooMuch) {
  LsmFamilyOptions options;
  options.policy.target_file_size_base = 8192;
  options.policy.max_bytes_for_level_base = 1u << 20;
  LsmFamily family(options);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t i = 0; i < 20'000; i += 2) family.Put(Key(i + round), 300);
    ASSERT_TRUE(family.FlushRun().ok());
  }
  ASSERT_TRUE(family.CompactRange({}, {}).ok());
  const RunList bottom = family.layers().tiers()[0]->runs();
  ASSERT_GT(bottom.size(), 25u);
  for (std::size_t i = 0; i + 1 < bottom.size(); ++i) {
    EXPECT_GE(bottom[i]->info().file_size, 8192u);
    EXPECT_LE(bottom[i]->info().file_size, 8192u * 2) << "plus pages, filter and footer";
  }
  // Moves everything to level 2, so that it limits the files of level 1.
  CompactionPolicy policy = options.policy;
  policy.max_bytes_for_level_base = 1;
  policy.max_bytes_for_level_multiplier = 1u << 20;
  family.index().SetPolicy(policy);
  ASSERT_TRUE(family.CompactWhileDue().ok());
  ASSERT_EQ(family.layers().tiers().size(), 1u);
  ASSERT_EQ(family.layers().tiers()[0]->level(), 2u);
  family.index().SetPolicy(options.policy);
  for (std::uint64_t i = 0; i < 20'000; i += 100) family.Put(Key(i), 300);
  ASSERT_TRUE(family.FlushRun().ok());
  ASSERT_TRUE(family.Step().ok());
  ASSERT_EQ(family.layers().tiers().size(), 2u);
  const Tier& upper = *family.layers().tiers()[0];
  const Tier& lower = *family.layers().tiers()[1];
  EXPECT_GT(upper.runs().size(), 2u) << "200 keys fit into one file, which would overlap all of level 2";
  const KeyOrder order(BytewiseComparator());
  for (const auto& file : upper.runs()) {
    std::uint64_t met = 0;
    for (const auto& below : lower.runs()) {
      if (Overlap(order, KeySpan::Of(file->info()), KeySpan::Of(below->info()))) met += below->info().file_size;
    }
    EXPECT_LE(met, (kGrandparentFiles + 3) * 8192);
  }
  ExpectGood(family);
}

// A source out of order would silently lose keys.
TEST(CompactionTest, KeysOutOfOrderAreCorruption) {
  LsmFamilyOptions options;
  options.comparator = LengthFirstComparator();
  LsmFamily family(options);
  for (const char* key : {"1", "9", "10", "99", "100"}) family.Put(key, 300);
  ASSERT_TRUE(family.FlushRun().ok());
  for (const char* key : {"2", "8", "11", "98", "101"}) family.Put(key, 300);
  ASSERT_TRUE(family.FlushRun().ok());
  // Under this order the bounds of the same files look right, but their contents are out of order.
  class Liar final : public Comparator {
   public:
    [[nodiscard]] int Compare(Slice a, Slice b) const override {
      const int x = LengthFirstComparator()->Compare(a, b);
      return a.size() == 2 && b.size() == 2 ? -x : x;
    }
    [[nodiscard]] const char* Name() const override { return LengthFirstComparator()->Name(); }
  };
  static const Liar liar;
  PagePool pool(1u << 20);
  const auto layers = LsmLayers::Open(family.state(), &liar, &pool,
                                      [&](FileKind, std::uint64_t number) -> Result<std::shared_ptr<File>> {
                                        std::unique_ptr<File> file;
                                        CAMBIUM_RETURN_IF_ERROR(
                                            family.fs().Open(family.PathOf(number), OpenMode::kReadOnly, {}, &file));
                                        return std::shared_ptr<File>(std::move(file));
                                      });
  ASSERT_TRUE(layers.ok()) << layers.status().ToString();
  CompactionChoice choice;
  choice.kind = CompactionChoice::Kind::kCompact;
  choice.output_level = 1;
  for (const RunInfo& run : family.state().runs) choice.inputs.push_back(run.number);
  std::uint64_t next = 1000;
  LevelCompactionInput input;
  input.layers = layers->get();
  input.choice = &choice;
  input.run.page_size = 512;
  input.create_file = [&]() -> Result<NewIndexFile> {
    NewIndexFile made;
    made.header.number = next++;
    std::unique_ptr<File> file;
    CAMBIUM_RETURN_IF_ERROR(family.fs().Open(family.PathOf(made.header.number), OpenMode::kCreateNew, {}, &file));
    made.file = std::move(file);
    return made;
  };
  const Status s = CompactLevel(input).status();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("out of order"), std::string::npos) << s.ToString();
}

TEST(CompactionTest, LeavesAreCompressedOnRequest) {
  std::uint64_t bytes[2] = {0, 0};
  for (const bool compressed : {false, true}) {
    LsmFamilyOptions options;
    options.compression = compressed ? Codec::kZstd : Codec::kNone;
    LsmFamily family(options);
    for (int round = 0; round < 4; ++round) {
      for (std::uint64_t i = 0; i < 2000; ++i) family.PutInline(Key(i), std::string(80, 'v'));
      ASSERT_TRUE(family.FlushRun().ok());
    }
    ASSERT_TRUE(family.CompactRange({}, {}).ok());
    ExpectGood(family);
    bytes[compressed ? 1 : 0] = family.layers().shape().base_file_bytes;
  }
  EXPECT_LT(bytes[1] * 3, bytes[0]);
}

TEST(CompactionTest, MissingInputIsAborted) {
  LsmFamily family;
  family.Put("a", 300);
  ASSERT_TRUE(family.FlushRun().ok());
  CompactionChoice choice;
  choice.kind = CompactionChoice::Kind::kCompact;
  choice.output_level = 1;
  choice.inputs = {family.state().runs[0].number, 999};
  LevelCompactionInput input;
  input.layers = &family.layers();
  input.choice = &choice;
  input.create_file = [] { return Result<NewIndexFile>(Status::IOError("must not be called")); };
  EXPECT_TRUE(CompactLevel(input).status().IsAborted());
}

// Compactions have a pool of their own, so that pages in use stay in the shared one.
TEST(CompactionTest, ReadersKeepTheirPages) {
  LsmFamilyOptions options;
  options.pool_bytes = 32 * 1024;
  LsmFamily family(options);
  for (int round = 0; round < 4; ++round) {
    for (std::uint64_t i = 0; i < 3000; ++i) family.Put(Key(i), 300);
    ASSERT_TRUE(family.FlushRun().ok());
  }
  PageRef keep;
  Entry entry;
  const std::shared_ptr<const LsmLayers> before = family.shared_layers();
  for (std::uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(before->Find(Key(i), &keep, &entry).ok());
  ASSERT_TRUE(family.Step().ok());
  const std::uint64_t reads = family.fs().calls(SimOpKind::kRead);
  for (std::uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(before->Find(Key(i), &keep, &entry).ok());
  EXPECT_EQ(family.fs().calls(SimOpKind::kRead), reads);
}

}  // namespace
}  // namespace cambium::testing
