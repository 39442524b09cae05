// RepairDB beyond single damages (those are salvage_matrix_test's): families, what cannot be proven, what is refused,
// kills.
#include "cambium/repair.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "io/sim/sim_file_system.h"
#include "manifest/manifest_reader.h"
#include "repair/repair_store.h"
#include "testing/mutant_scope.h"
#include "util/coding.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

class BackwardsInParts final : public Comparator {
 public:
  [[nodiscard]] int Compare(Slice a, Slice b) const override { return b.compare(a); }
  [[nodiscard]] const char* Name() const override { return "test.BackwardsInParts"; }
};

// A default family and one of an order of its own.
void MakeFamilies(TestStore* store, const Comparator* order) {
  store->MustOpen();
  ColumnFamilyOptions options = store->options;
  options.comparator = order;
  ColumnFamilyHandle* fruit = nullptr;
  ASSERT_TRUE(store->db->CreateColumnFamily(options, "fruit", &fruit).ok());
  for (int i = 0; i < 30; ++i) {
    store->Put(NumberedKey(i), std::string(static_cast<std::size_t>(i) * 40, 'd'));
    ASSERT_TRUE(store->db->Put({}, fruit, NumberedKey(i), std::string(static_cast<std::size_t>(i) * 40, 'f')).ok());
  }
  ASSERT_TRUE(store->db->Flush({}, fruit).ok());
  ASSERT_TRUE(store->db->Delete({}, fruit, NumberedKey(3)).ok());
  const bool is_backwards = order != BytewiseComparator();
  ASSERT_TRUE(
      store->db->DeleteRange({}, fruit, NumberedKey(is_backwards ? 9 : 6), NumberedKey(is_backwards ? 6 : 9)).ok());
  delete fruit;
  store->MustClose();
}

TEST(RepairDb, KeepsFamilies) {
  TestStore store;
  MakeFamilies(&store, ReverseBytewiseComparator());
  const Entries before = Read(store, kStorePath, ReverseBytewiseComparator());
  Told told;
  const Status s = RepairTo(store, {}, {}, &told);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(told.report.IsClean());
  EXPECT_EQ(told.report.families.size(), 2u);
  EXPECT_EQ(Read(store, kOutPath, ReverseBytewiseComparator()), before);
}

TEST(RepairDb, AnOrderOfTheCallersOwnHasToBeNamed) {
  TestStore store;
  const BackwardsInParts order;
  MakeFamilies(&store, &order);
  Told told;
  const Status refused = RepairTo(store, {}, {}, &told);
  EXPECT_TRUE(refused.IsInvalidArgument());
  EXPECT_NE(refused.ToString().find("test.BackwardsInParts"), std::string::npos) << refused.ToString();
  EXPECT_FALSE(Exists(store, kOutPath));
  ColumnFamilyOptions options = store.options;
  options.comparator = &order;
  const Status s = RepairTo(store, {{"fruit", options}}, {}, &told);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Read(store, kOutPath, &order), Read(store, kStorePath, &order));
}

// Nothing but the numbers in the records tells of families then, and nothing but the caller of their order.
TEST(RepairDb, WithoutAManifestFamiliesHaveNumbers) {
  TestStore store;
  MakeFamilies(&store, BytewiseComparator());
  Entries before = Read(store, kStorePath);
  RemoveManifests(store);
  Told told;
  const Status s = RepairTo(store, {{kDefaultColumnFamilyName, store.options}, {"salvaged-1", store.options}}, {}, &told);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_FALSE(told.report.has_manifest);
  EXPECT_FALSE(told.report.IsClean());
  Entries renamed;
  for (const auto& [name, value] : before) {
    renamed[name.starts_with("fruit/") ? "salvaged-1" + name.substr(5) : name] = value;
  }
  EXPECT_EQ(Read(store, kOutPath), renamed);  // the log has all, and proves it
}

// Of a family in descending order nobody knows the order then. In ascending order its range deletes begin behind where they
// end, so they were taken for none, and what they had deleted came back as proven.
TEST(RepairDb, WithoutAManifestRangesOfAnOrderThatNobodyKnowsProveNothing) {
  TestStore store;
  MakeFamilies(&store, ReverseBytewiseComparator());
  const Entries before = Read(store, kStorePath, ReverseBytewiseComparator());
  ASSERT_FALSE(before.contains("fruit/" + NumberedKey(8)));
  RemoveManifests(store);
  RepairCopies(store, {{kDefaultColumnFamilyName, store.options}}, [&](bool include_unproven, const TestStore& damaged, const Told& told) {
    const Entries out = Read(damaged, kOutPath);
    for (int i = 0; i < 30; ++i) {
      EXPECT_TRUE(out.contains("default/" + NumberedKey(i)));
      EXPECT_EQ(out.contains("salvaged-1/" + NumberedKey(i)), include_unproven && i != 3);
    }
    EXPECT_EQ(told.report.unproven, 29u);
    EXPECT_TRUE(std::ranges::any_of(told.report.notes, [](const std::string& note) {
      return note.find("salvaged-1: its keys are not in the order") != std::string::npos;
    }));
  });
  // Who names the order gets what is proven.
  Told told;
  ColumnFamilyOptions fruit = store.options;
  fruit.comparator = ReverseBytewiseComparator();
  ASSERT_TRUE(RepairTo(store, {{kDefaultColumnFamilyName, store.options}, {"salvaged-1", fruit}}, {}, &told).ok());
  EXPECT_EQ(told.report.unproven, 0u);
  EXPECT_EQ(Read(store, kOutPath, ReverseBytewiseComparator()).size(), before.size());
}

class LittleEndian final : public Comparator {
 public:
  [[nodiscard]] int Compare(Slice a, Slice b) const override {
    const auto x = DecodeFixed<std::uint64_t>(a.data());
    const auto y = DecodeFixed<std::uint64_t>(b.data());
    return x < y ? -1 : x > y ? 1 : 0;
  }
  [[nodiscard]] const char* Name() const override { return "test.LittleEndian"; }
};
std::string LittleKey(std::uint64_t i) {
  std::string key;
  PutFixed<std::uint64_t>(&key, i);
  return key;
}

// The ranges of an order that was guessed look like ranges in the order of bytes too, and nothing spoke against it: what the
// first had deleted came back as proven, and what the second had left was neither there nor told.
TEST(RepairDb, WithoutAManifestAnOrderThatIsGuessedProvesNoRange) {
  const LittleEndian order;
  TestStore store;
  store.MustOpen();
  ColumnFamilyOptions options = store.options;
  options.comparator = &order;
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(options, "numbers", &family).ok());
  const auto put = [&](std::uint64_t i) { ASSERT_TRUE(store.db->Put({}, family, LittleKey(i), std::to_string(i)).ok()); };
  put(6);
  ASSERT_TRUE(store.db->DeleteRange({}, family, LittleKey(1), LittleKey(0x105)).ok());
  put(258);
  ASSERT_TRUE(store.db->DeleteRange({}, family, LittleKey(1), LittleKey(5)).ok());
  put(7);
  delete family;
  store.MustClose();
  RemoveManifests(store);
  RepairCopies(store, {{kDefaultColumnFamilyName, store.options}}, [&](bool include_unproven, const TestStore& damaged, const Told& told) {
    const std::string name = "salvaged-1/";
    Entries expected = {{name + LittleKey(7), "7"}};
    if (include_unproven) {
      expected[name + LittleKey(6)] = "6";
      expected[name + LittleKey(258)] = "258";
    }
    EXPECT_EQ(Read(damaged, kOutPath), expected);
    EXPECT_EQ(told.report.unproven, 2u);
    EXPECT_TRUE(std::ranges::any_of(told.report.notes, [](const std::string& note) {
      return note.find("salvaged-1: nobody says in which order") != std::string::npos;
    }));
  });
  Told told;
  ASSERT_TRUE(
      RepairTo(store, {{kDefaultColumnFamilyName, store.options}, {"salvaged-1", options}}, {}, &told).ok());
  EXPECT_EQ(told.report.unproven, 0u);
  EXPECT_EQ(Read(store, kOutPath, &order),
            (Entries{{"salvaged-1/" + LittleKey(258), "258"}, {"salvaged-1/" + LittleKey(7), "7"}}));
}

// The same where the order was named, and is another one. A page that holds one key is in any order.
TEST(RepairDb, WithoutAManifestKeysFromPageToPageShowAWrongOrder) {
  CAMBIUM_FOR_THE_LSM_ALONE("that keys ascend from leaf to leaf holds in runs; leaves of a tree lie as they were replaced");
  const LittleEndian order;
  TestStore store;
  store.options.comparator = &order;
  store.MustOpen();
  Prng prng(3);
  const auto long_key = [&](std::uint64_t i) {
    std::string key = LittleKey(i);
    while (key.size() < 300) key += static_cast<char>(prng.Next());
    return key;
  };
  for (const std::uint64_t i : {255u, 256u, 257u, 258u}) store.Put(long_key(i), "v");
  store.Flush();
  ASSERT_TRUE(store.db->DeleteRange({}, LittleKey(1), LittleKey(5)).ok());
  store.MustClose();
  RemoveManifests(store);
  Told told;
  Options as_guessed = store.options;
  as_guessed.comparator = BytewiseComparator();
  ASSERT_TRUE(RepairTo(store, {{kDefaultColumnFamilyName, as_guessed}}, {}, &told).ok());
  EXPECT_EQ(told.report.unproven, 4u);
}

// A tree of small values, newer ones in a run above it, and a log that no longer has either.
void MakeOldTreeAndNewRun(TestStore* store, Entries* old_entries, Entries* new_entries) {
  store->options.blob_file_size = 16 << 10;
  store->MustOpen();
  for (int i = 0; i < 200; ++i) {
    store->Put(NumberedKey(i), (*old_entries)["default/" + NumberedKey(i)] = "old" + std::to_string(i));
  }
  store->Compact();
  *new_entries = *old_entries;
  for (const int i : {0, 50, 199}) {
    store->Put(NumberedKey(i), (*new_entries)["default/" + NumberedKey(i)] = "new" + std::to_string(i));
  }
  ASSERT_TRUE(store->db->Delete({}, NumberedKey(60)).ok());
  new_entries->erase("default/" + NumberedKey(60));
  store->Flush();
  store->Reopen();  // the log behind the replay position goes
  store->MustClose();
}

TEST(RepairDb, WhatADamagedRunMayHaveReplacedIsUnproven) {
  for (const auto& [include_unproven, filter_bits] : {std::pair(false, 0), {true, 0}, {false, 10}, {true, 10}}) {
    TestStore store;
    store.options.filter_bits_per_key = filter_bits;
    Entries old_entries;
    Entries new_entries;
    MakeOldTreeAndNewRun(&store, &old_entries, &new_entries);
    ASSERT_EQ(Read(store, kStorePath), new_entries);
    // The smallest run is the newest one.
    std::string run;
    std::size_t run_size = ~std::size_t{0};
    for (const std::string& path : store.FilesOf(".run")) {
      const std::size_t size = store.Files().at(path).size();
      if (size < run_size) {
        run = path;
        run_size = size;
      }
    }
    ASSERT_FALSE(run.empty()) << "the flush was merged at once";
    ASSERT_TRUE(store.fs->OverwriteForTest(run, store.options.page_size, std::string(64, 'x')).ok());
    Told told;
    RepairOptions how;
    how.include_unproven = include_unproven;
    const Status s = RepairTo(store, {}, how, &told);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(told.lost.size(), 1u);
    EXPECT_EQ(told.lost[0].entries, 4u);
    EXPECT_EQ(told.lost[0].begin, NumberedKey(0));
    EXPECT_EQ(told.lost[0].end, NumberedKey(199));
    EXPECT_NE(told.lost[0].what.find(run), std::string::npos);
    const Entries out = Read(store, kOutPath);
    if (filter_bits == 0) {
      EXPECT_EQ(told.unproven.size(), 200u);  // each may be one of the four
      EXPECT_EQ(out, include_unproven ? old_entries : Entries());
      continue;
    }
    // The run's filter knows which keys it never had, but for a few.
    EXPECT_GE(told.unproven.size(), 4u);
    EXPECT_LT(told.unproven.size(), 20u);
    if (include_unproven) {
      EXPECT_EQ(out, old_entries);
    } else {
      EXPECT_EQ(out.size(), 200u - told.unproven.size());
      for (const auto& [key, value] : out) EXPECT_EQ(new_entries.at(key), value) << key;
    }
  }
}

// Hazard H35. The images of records inside values have the checksums of another place: they are never taken for
// records.
Entries SalvageOfAForgery() {
  TestStore store;
  store.options.blob_file_size = 1 << 20;
  store.MustOpen();
  store.Put("secret", std::string(600, 's'));
  std::string log;
  EXPECT_TRUE(store.fs->ReadFileForTest(store.FilesOf(".log").front(), &log).ok());
  EXPECT_TRUE(store.db->Delete({}, "secret").ok());
  store.Put("an image", log.substr(0, 4096), true);
  store.Put("last", "1", true);
  store.MustClose();
  EXPECT_TRUE(store.fs->ReadFileForTest(store.FilesOf(".log").front(), &log).ok());
  const std::size_t image = log.find("an image");
  EXPECT_NE(image, std::string::npos);
  // Its header is gone, so that its value is searched; and both records of the first key, so that nothing hides it.
  EXPECT_TRUE(store.fs->OverwriteForTest(store.FilesOf(".log").front(), 208, std::string(image + 8 - 208, 'x')).ok());
  RemoveManifests(store);
  Told told;
  RepairOptions how;
  how.include_unproven = true;
  const Status s = RepairTo(store, {{kDefaultColumnFamilyName, store.options}}, how, &told);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_FALSE(told.lost.empty());
  return Read(store, kOutPath);
}

TEST(RepairDb, ValuesThatLookLikeTheLogAreValues) {
  const Entries real = {{"default/last", "1"}};
  EXPECT_EQ(SalvageOfAForgery(), real);
  const MutantScope mutant(Mutant::kSeedWithoutOffset);
  EXPECT_NE(SalvageOfAForgery(), real);
}

TEST(RepairDb, ADryRunTellsTheSameAndLeavesNothing) {
  TestStore store;
  Entries old_entries;
  Entries new_entries;
  MakeOldTreeAndNewRun(&store, &old_entries, &new_entries);
  const auto before = store.Files();
  Told told;
  RepairOptions how;
  how.dry_run = true;
  ASSERT_TRUE(RepairTo(store, {}, how, &told).ok());
  EXPECT_EQ(store.Files(), before);
  EXPECT_FALSE(Exists(store, "/out.tmp"));
  EXPECT_TRUE(told.report.IsClean());
  EXPECT_EQ(told.report.families.at(0).entries, new_entries.size());
  Told real;
  ASSERT_TRUE(RepairTo(store, {}, {}, &real).ok());
  EXPECT_EQ(told.report.families.at(0).value_bytes, real.report.families.at(0).value_bytes);
}

TEST(RepairDb, RefusesWhatItMustNotDo) {
  TestStore store;
  Told told;
  EXPECT_TRUE(RepairTo(store, {}, {}, &told).IsPathNotFound());
  ASSERT_TRUE(store.fs->CreateDirectory(kStorePath).ok());
  EXPECT_TRUE(RepairTo(store, {}, {}, &told).IsInvalidArgument());
  store.MustOpen();
  store.Put("a", "1");
  EXPECT_TRUE(RepairTo(store, {}, {}, &told).IsLocked());
  store.MustClose();
  RepairReport report;
  EXPECT_TRUE(
      RepairDB(kStorePath, std::string(kStorePath) + "/out", store.options, {}, {}, &report).IsInvalidArgument());
  EXPECT_TRUE(RepairDB(kStorePath, kStorePath, store.options, {}, {}, &report).IsInvalidArgument());
  // Somebody's: nothing says that a repair began it.
  ASSERT_TRUE(store.fs->WriteFileForTest("/out.tmp/notes", "seeds").ok());
  EXPECT_TRUE(RepairTo(store, {}, {}, &told).IsInvalidArgument());
  ASSERT_TRUE(store.fs->RemoveForTest("/out.tmp/notes").ok());
  ASSERT_TRUE(RepairTo(store, {}, {}, &told).ok());
  EXPECT_TRUE(RepairTo(store, {}, {}, &told).IsInvalidArgument());  // it exists
}

// Everything in a directory of that name was removed, whoever had put it there.
TEST(RepairDb, InTheMarkOnlyItsOwnFilesAreRemoved) {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  store.MustClose();
  ASSERT_TRUE(store.fs->WriteFileForTest("/out.tmp.mark/17", "").ok());
  ASSERT_TRUE(store.fs->WriteFileForTest("/out.tmp.mark/letters", "dear").ok());
  Told told;
  const Status s = RepairTo(store, {}, {}, &told);
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::vector<std::string> names;
  ASSERT_TRUE(store.fs->List("/out.tmp.mark", &names).ok());
  EXPECT_EQ(names, std::vector<std::string>{"letters"});
  std::string letters;
  ASSERT_TRUE(store.fs->ReadFileForTest("/out.tmp.mark/letters", &letters).ok());
  EXPECT_EQ(letters, "dear");
  // Once it is empty the next call removes it.
  ASSERT_TRUE(store.fs->RemoveForTest("/out.tmp.mark/letters").ok());
  EXPECT_TRUE(RepairTo(store, {}, {}, &told).IsInvalidArgument());
  EXPECT_FALSE(Exists(store, "/out.tmp.mark"));
}

// A store with damage, and what is left of it.
void MakeDamaged(TestStore* store, Entries* left) {
  store->MustOpen();
  for (int i = 0; i < 20; ++i) store->Put(NumberedKey(i), (*left)["default/" + NumberedKey(i)] = std::string(700, 'v'));
  store->Flush();
  store->MustClose();
  std::string log;
  const std::string path = store->FilesOf(".log").front();
  ASSERT_TRUE(store->fs->ReadFileForTest(path, &log).ok());
  ASSERT_TRUE(store->fs->FlipBit(path, log.find(NumberedKey(7)) + 300, 2).ok());
  left->erase("default/" + NumberedKey(7));
}

// The machine stops at each change of the disk, in whatever state that leaves it; then it is done again.
TEST(RepairDb, AppearsAsAWholeOrNotAtAll) {
  TestStore store;
  Entries left;
  MakeDamaged(&store, &left);
  std::vector<SimImage> images;
  store.fs->AddHook([&](const SimOp&) { images.push_back(store.fs->Snapshot()); });
  Told told;
  ASSERT_TRUE(RepairTo(store, {}, {}, &told).ok());
  ASSERT_GT(images.size(), 20u);
  Prng prng(11);
  for (const SimImage& image : images) {
    for (const bool is_power : {false, true}) {
      TestStore after(std::make_shared<SimFileSystem>(is_power ? image.DrawCrash(prng) : image.Kill(prng)));
      if (!Exists(after, kOutPath)) {
        Told again;
        const Status s = RepairTo(after, {}, {}, &again);
        ASSERT_TRUE(s.ok()) << s.ToString();
      }
      ASSERT_EQ(Read(after, kOutPath), left);
      EXPECT_FALSE(Exists(after, "/out.tmp"));
    }
  }
}

TEST(RepairDb, InPlaceKeepsWhatWasDamaged) {
  TestStore store;
  Entries left;
  MakeDamaged(&store, &left);
  std::vector<SimImage> images;
  store.fs->AddHook([&](const SimOp&) { images.push_back(store.fs->Snapshot()); });
  const Status s = RepairDB(kStorePath, store.options);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Read(store, kStorePath), left);
  EXPECT_TRUE(Exists(store, std::string(kStorePath) + ".damaged"));
  EXPECT_FALSE(Exists(store, std::string(kStorePath) + ".repaired"));

  Prng prng(13);
  int between = 0;
  for (const SimImage& image : images) {
    TestStore after(std::make_shared<SimFileSystem>(image.Kill(prng)));
    const bool has_both = Exists(after, kStorePath) && Exists(after, std::string(kStorePath) + ".repaired");
    const bool is_done = Exists(after, kStorePath) && Exists(after, std::string(kStorePath) + ".damaged");
    between += Exists(after, kStorePath) ? 0 : 1;
    const Status again = RepairDB(kStorePath, after.options);
    if (has_both || is_done) {
      EXPECT_TRUE(again.IsInvalidArgument()) << again.ToString();  // whose it is nobody can tell
    } else {
      ASSERT_TRUE(again.ok()) << again.ToString();
      EXPECT_EQ(Read(after, kStorePath), left);
    }
  }
  EXPECT_GT(between, 0);
}

// Its footer or a branch is damaged, so that it cannot be read, and all that was committed is there. The new one was
// thrown away, and the damaged one stayed, with OK.
TEST(RepairDb, InPlaceReplacesWhatCannotBeReadThoughNothingIsLost) {
  TestStore store;
  store.options.page_size = 512;
  store.MustOpen();
  for (int i = 0; i < 40; ++i) store.Put(NumberedKey(i), std::string(20, 'v'));
  store.Flush();  // into pages of which all are live
  store.MustClose();
  const Entries before = Read(store, kStorePath);
  std::size_t replaced = 0;
  for (const std::string& path : store.FilesOf(TestsUseLsm() ? ".run" : ".idx")) {
    for (std::uint64_t at = 512 + 70; at < store.Files().at(path).size(); at += 512) {
      SCOPED_TRACE(path + " at " + std::to_string(at));
      TestStore damaged(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
      damaged.options.page_size = 512;
      ASSERT_TRUE(damaged.fs->FlipBit(path, at, 3).ok());
      Told told;
      RepairOptions dry;
      dry.dry_run = true;
      ASSERT_TRUE(RepairTo(damaged, {}, dry, &told).ok());
      if (!told.report.IsClean()) continue;
      const bool is_damaged = !damaged.Verify().empty();
      ASSERT_TRUE(RepairDB(kStorePath, damaged.options).ok());
      EXPECT_EQ(Read(damaged, kStorePath), before);
      EXPECT_EQ(damaged.Verify(), "");
      EXPECT_EQ(Exists(damaged, std::string(kStorePath) + ".damaged"), is_damaged);
      replaced += is_damaged ? 1 : 0;
    }
  }
  EXPECT_GT(replaced, 0u);
}

TEST(RepairDb, InPlaceLeavesAHealthyOneAlone) {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  store.MustClose();
  const auto before = store.Files();
  ASSERT_TRUE(RepairDB(kStorePath, store.options).ok());
  EXPECT_EQ(store.Files(), before);
  EXPECT_FALSE(Exists(store, std::string(kStorePath) + ".repaired"));
  EXPECT_TRUE(RepairDB("/nowhere", store.options).IsInvalidArgument());

  TestStore families;
  MakeFamilies(&families, ReverseBytewiseComparator());
  const auto both = families.Files();
  ASSERT_TRUE(RepairDB(kStorePath, families.options).ok());
  EXPECT_EQ(families.Files(), both);
}

// The last record of the MANIFEST has no witness behind it: damaged, it is taken for a torn one, so the check found nothing,
// and a family that was acknowledged was missing. The repair had it, and was thrown away.
TEST(RepairDb, InPlaceKeepsWhatWasMended) {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1", true);
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "young", &family).ok());
  delete family;
  Prng prng(1);
  const SimImage image = store.fs->Snapshot().Kill(prng);
  store.fs->PowerOff();
  store.db.reset();
  TestStore whole(std::make_shared<SimFileSystem>(image));
  const std::string path = whole.FilesOf("MANIFEST").back();
  std::uint64_t last = 0;
  ManifestRead read;
  ASSERT_TRUE(ReadManifestFile(*whole.fs, path, [&](const ManifestRecordSeen& record) { last = record.offset; }, &read).ok());
  ASSERT_LT(last, read.valid_length);
  for (std::uint64_t at = last; at < read.valid_length; ++at) {
    SCOPED_TRACE(at);
    TestStore damaged(std::make_shared<SimFileSystem>(image));
    ASSERT_TRUE(damaged.fs->FlipBit(path, at, static_cast<int>(at % 8)).ok());
    const Status s = RepairDB(kStorePath, damaged.options);
    ASSERT_TRUE(s.ok()) << s.ToString();
    std::vector<std::string> names;
    ASSERT_TRUE(DB::ListColumnFamilies(damaged.options, kStorePath, &names).ok());
    EXPECT_EQ(names, (std::vector<std::string>{kDefaultColumnFamilyName, "young"}));
    EXPECT_EQ(Read(damaged, kStorePath), (Entries{{"default/a", "1"}}));
    EXPECT_TRUE(Exists(damaged, std::string(kStorePath) + ".damaged"));
  }
}

// The check ran without the lock, and whatever it met was taken for damage: a healthy database was replaced since
// somebody had it open for a moment, or one read had failed.
TEST(RepairDb, InPlaceTakesNothingButDamageForDamage) {
  TestStore store;
  store.MustOpen();
  for (int i = 0; i < 20; ++i) store.Put(NumberedKey(i), std::string(700, 'v'));
  store.Flush();
  store.MustClose();
  const auto before = store.Files();
  const auto expect_nothing_done = [&] {
    EXPECT_TRUE(store.Files() == before);
    EXPECT_FALSE(Exists(store, std::string(kStorePath) + ".damaged"));
    EXPECT_FALSE(Exists(store, std::string(kStorePath) + ".repaired"));
  };
  SimFault fault;
  fault.kind = SimOpKind::kLock;
  fault.status = Status::Locked("by somebody, for a moment");
  store.fs->AddFault(fault);
  EXPECT_TRUE(RepairDB(kStorePath, store.options).IsLocked());
  expect_nothing_done();
  for (const char* const kind : {"MANIFEST", ".log", TestsUseLsm() ? ".run" : ".idx"}) {
    SCOPED_TRACE(kind);
    store.fs->ClearFaults();
    SimFault read;
    read.kind = SimOpKind::kRead;
    read.matches = [kind](SimOpKind, const std::string& path) { return path.find(kind) != std::string::npos; };
    store.fs->AddFault(read);
    const Status s = RepairDB(kStorePath, store.options);
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    expect_nothing_done();
  }
  store.fs->ClearFaults();
  EXPECT_TRUE(RepairDB(kStorePath, store.options).ok());
  expect_nothing_done();
}

}  // namespace
}  // namespace cambium::testing
