// Tests of RepairDB: families, unproven values, rejected calls, crashes. salvage_matrix_test covers single damages.
#include "cambium/repair.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "cambium/convenience.h"
#include "io/sim/sim_file_system.h"
#include "manifest/manifest_reader.h"
#include "repair/repair_store.h"
#include "testing/bytes_per_snapshot.h"
#include "testing/hook_scope.h"
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

// Makes a default family and one with comparator `order`.
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

TEST(RepairDbTest, KeepsFamilies) {
  TestStore store;
  MakeFamilies(&store, ReverseBytewiseComparator());
  const Entries before = Read(store, kStorePath, ReverseBytewiseComparator());
  Findings findings;
  const Status s = RepairTo(store, {}, {}, &findings);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(findings.report.IsClean());
  EXPECT_EQ(findings.report.families.size(), 2u);
  EXPECT_EQ(Read(store, kOutPath, ReverseBytewiseComparator()), before);
}

// Returns the ceiling in the OPTIONS file of the salvaged database.
double CeilingOfSalvage(const TestStore& store, const std::vector<ColumnFamilyDescriptor>& families) {
  Findings findings;
  const Status s = RepairTo(store, families, {}, &findings);
  EXPECT_TRUE(s.ok()) << s.ToString();
  DBOptions db;
  std::vector<ColumnFamilyDescriptor> found;
  ConfigOptions config;
  config.file_system = store.fs;
  EXPECT_TRUE(LoadLatestOptions(config, kOutPath, &db, &found).ok());
  EXPECT_TRUE(DestroyDB(kOutPath, store.options).ok());
  return db.max_space_amplification;
}

// Salvage keeps notes in the index, for which a low ceiling is not legal.
TEST(RepairDbTest, KeepsACeilingThatIsOnlyLegalForValuesInTheLog) {
  TestStore store;
  constexpr double kCeiling = 1.123456789;  // not rounded
  store.options.max_space_amplification = kCeiling;
  store.options.min_blob_size = 0;
  MakeFamilies(&store, BytewiseComparator());
  EXPECT_EQ(CeilingOfSalvage(store, {}), kCeiling) << "families that are not named get options for which it is legal";
  const ColumnFamilyDescriptor fruit("fruit", store.options);
  EXPECT_EQ(CeilingOfSalvage(store, {fruit}), kCeiling);
  ColumnFamilyDescriptor with_small_values = fruit;
  with_small_values.options.min_blob_size = 100;
  EXPECT_EQ(CeilingOfSalvage(store, {with_small_values}), 0) << "it would not be legal";
}

TEST(RepairDbTest, CustomComparatorMustBeNamed) {
  TestStore store;
  const BackwardsInParts order;
  MakeFamilies(&store, &order);
  Findings findings;
  const Status refused = RepairTo(store, {}, {}, &findings);
  EXPECT_TRUE(refused.IsInvalidArgument());
  EXPECT_NE(refused.ToString().find("test.BackwardsInParts"), std::string::npos) << refused.ToString();
  EXPECT_FALSE(Exists(store, kOutPath));
  ColumnFamilyOptions options = store.options;
  options.comparator = &order;
  const Status s = RepairTo(store, {{"fruit", options}}, {}, &findings);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Read(store, kOutPath, &order), Read(store, kStorePath, &order));
}

// Without a MANIFEST, only the family numbers in the records are known, and only the caller knows the order.
TEST(RepairDbTest, WithoutAManifestFamiliesAreNamedByNumber) {
  TestStore store;
  MakeFamilies(&store, BytewiseComparator());
  Entries before = Read(store, kStorePath);
  RemoveManifests(store);
  Findings findings;
  const Status s =
      RepairTo(store, {{kDefaultColumnFamilyName, store.options}, {"salvaged-1", store.options}}, {}, &findings);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_FALSE(findings.report.has_manifest);
  EXPECT_FALSE(findings.report.IsClean());
  Entries renamed;
  for (const auto& [name, value] : before) {
    renamed[name.starts_with("fruit/") ? "salvaged-1" + name.substr(5) : name] = value;
  }
  EXPECT_EQ(Read(store, kOutPath), renamed);  // the log has all operations, and proves them
}

// The log still has the operations of a dropped family, and without a MANIFEST nothing says that it was dropped.
TEST(RepairDbTest, WithoutAManifestADroppedFamilyComesBack) {
  TestStore store;
  store.MustOpen();
  ColumnFamilyHandle* dropped = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "dropped", &dropped).ok());
  ASSERT_TRUE(store.db->Put({}, dropped, "a", "of the dropped family").ok());
  store.Put("b", "of the default family");
  ASSERT_TRUE(store.db->DropColumnFamily(dropped).ok());
  delete dropped;
  store.MustClose();
  const Entries before = {{"default/b", "of the default family"}};
  ASSERT_EQ(Read(store, kStorePath), before);
  for (const bool has_manifest : {true, false}) {
    const TestStore copy(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
    if (!has_manifest) RemoveManifests(copy);
    Findings findings;
    ASSERT_TRUE(RepairTo(copy, {{kDefaultColumnFamilyName, store.options}}, {}, &findings).ok());
    Entries after = before;
    if (!has_manifest) after["salvaged-1/a"] = "of the dropped family";
    EXPECT_EQ(Read(copy, kOutPath), after);
    EXPECT_EQ(findings.report.IsClean(), has_manifest);
  }
}

// Regression: without a MANIFEST, the order of a family in descending order is unknown. Its range deletes, read in
// ascending order, end before they begin, so salvage ignored them and wrote deleted keys as proven.
TEST(RepairDbTest, WithoutAManifestRangesInAnUnknownOrderProveNothing) {
  TestStore store;
  MakeFamilies(&store, ReverseBytewiseComparator());
  const Entries before = Read(store, kStorePath, ReverseBytewiseComparator());
  ASSERT_FALSE(before.contains("fruit/" + NumberedKey(8)));
  RemoveManifests(store);
  RepairCopies(store, {{kDefaultColumnFamilyName, store.options}},
               [&](bool include_unproven, const TestStore& damaged, const Findings& findings) {
    const Entries out = Read(damaged, kOutPath);
    for (int i = 0; i < 30; ++i) {
      EXPECT_TRUE(out.contains("default/" + NumberedKey(i)));
      EXPECT_EQ(out.contains("salvaged-1/" + NumberedKey(i)), include_unproven && i != 3);
    }
    EXPECT_EQ(findings.report.unproven, 29u);
    EXPECT_TRUE(std::ranges::any_of(findings.report.notes, [](const std::string& note) {
      return note.find("salvaged-1: its keys are not in the order") != std::string::npos;
    }));
  });
  // If the caller names the order, the values are proven.
  Findings findings;
  ColumnFamilyOptions fruit = store.options;
  fruit.comparator = ReverseBytewiseComparator();
  ASSERT_TRUE(RepairTo(store, {{kDefaultColumnFamilyName, store.options}, {"salvaged-1", fruit}}, {}, &findings).ok());
  EXPECT_EQ(findings.report.unproven, 0u);
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

// Regression: salvage guessed byte order, in which the ranges of this order look legal. Keys that the first range had
// deleted returned as proven, and keys outside the second range were lost without a report.
TEST(RepairDbTest, WithoutAManifestAGuessedOrderProvesNoRange) {
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
  RepairCopies(store, {{kDefaultColumnFamilyName, store.options}},
               [&](bool include_unproven, const TestStore& damaged, const Findings& findings) {
    const std::string name = "salvaged-1/";
    Entries expected = {{name + LittleKey(7), "7"}};
    if (include_unproven) {
      expected[name + LittleKey(6)] = "6";
      expected[name + LittleKey(258)] = "258";
    }
    EXPECT_EQ(Read(damaged, kOutPath), expected);
    EXPECT_EQ(findings.report.unproven, 2u);
    EXPECT_TRUE(std::ranges::any_of(findings.report.notes, [](const std::string& note) {
      return note.find("salvaged-1: the order of its keys is unknown") != std::string::npos;
    }));
  });
  Findings findings;
  ASSERT_TRUE(
      RepairTo(store, {{kDefaultColumnFamilyName, store.options}, {"salvaged-1", options}}, {}, &findings).ok());
  EXPECT_EQ(findings.report.unproven, 0u);
  EXPECT_EQ(Read(store, kOutPath, &order),
            (Entries{{"salvaged-1/" + LittleKey(258), "258"}, {"salvaged-1/" + LittleKey(7), "7"}}));
}

// The caller names a wrong order. Each page has one key, so no page alone contradicts it.
TEST(RepairDbTest, WithoutAManifestUnorderedPagesShowAWrongComparator) {
  CAMBIUM_FOR_THE_LSM_ALONE("only in runs do keys ascend from leaf to leaf; a tree appends each replaced leaf");
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
  Findings findings;
  Options as_guessed = store.options;
  as_guessed.comparator = BytewiseComparator();
  ASSERT_TRUE(RepairTo(store, {{kDefaultColumnFamilyName, as_guessed}}, {}, &findings).ok());
  EXPECT_EQ(findings.report.unproven, 4u);
}

// A file that only snapshots read has several runs. The keys ascend within a run, and start again at a small key in the
// next one.
TEST(RepairDbTest, WithoutAManifestRunsOfSnapshotsAreInNoWrongOrder) {
  const BytesPerSnapshot all_move(0);
  TestStore store;
  store.options.write_buffer_size = 4u << 10;
  store.MustOpen();
  std::vector<const Snapshot*> held;
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 40; ++i) {
      store.Put(NumberedKey(39 - i), std::string(50, 'v'));
      if (i % 10 == 0) held.push_back(store.db->GetSnapshot());
    }
    store.Flush();
  }
  ASSERT_TRUE(store.db->DeleteRange({}, NumberedKey(1), NumberedKey(5)).ok());
  TestStore crashed(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
  EXPECT_GT(crashed.FilesOf(".run").size(), 3u) << "no private runs";
  for (const Snapshot* const snapshot : held) store.db->ReleaseSnapshot(snapshot);
  RemoveManifests(crashed);
  Findings findings;
  ASSERT_TRUE(RepairTo(crashed, {{kDefaultColumnFamilyName, crashed.options}}, {}, &findings).ok());
  for (const std::string& note : findings.report.notes) EXPECT_EQ(note.find("not in the order"), note.npos) << note;
}

// Makes a tree of small values, and newer values in a run above it. The log no longer has any of them.
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
  store->Reopen();  // removes the log before the replay position
  store->MustClose();
}

TEST(RepairDbTest, ValuesThatADamagedRunMayHaveReplacedAreUnproven) {
  for (const auto& [include_unproven, filter_bits] : {std::pair(false, 0), {true, 0}, {false, 10}, {true, 10}}) {
    TestStore store;
    store.options.filter_bits_per_key = filter_bits;
    Entries old_entries;
    Entries new_entries;
    MakeOldTreeAndNewRun(&store, &old_entries, &new_entries);
    ASSERT_EQ(Read(store, kStorePath), new_entries);
    // The newest run is the smallest.
    std::string run;
    std::size_t run_size = ~std::size_t{0};
    for (const std::string& path : store.FilesOf(".run")) {
      const std::size_t size = store.Files().at(path).size();
      if (size < run_size) {
        run = path;
        run_size = size;
      }
    }
    ASSERT_FALSE(run.empty()) << "the flush was compacted at once";
    ASSERT_TRUE(store.fs->tampering().Overwrite(run, store.options.page_size, std::string(64, 'x')).ok());
    Findings findings;
    RepairOptions how;
    how.include_unproven = include_unproven;
    const Status s = RepairTo(store, {}, how, &findings);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(findings.lost.size(), 1u);
    EXPECT_EQ(findings.lost[0].entries, 4u);
    EXPECT_EQ(findings.lost[0].begin, NumberedKey(0));
    EXPECT_EQ(findings.lost[0].end, NumberedKey(199));
    EXPECT_NE(findings.lost[0].what.find(run), std::string::npos);
    const Entries out = Read(store, kOutPath);
    if (filter_bits == 0) {
      EXPECT_EQ(findings.unproven.size(), 200u);  // each may be one of the four lost keys
      EXPECT_EQ(out, include_unproven ? old_entries : Entries());
      continue;
    }
    // The run's filter excludes most keys that the run never had.
    EXPECT_GE(findings.unproven.size(), 4u);
    EXPECT_LT(findings.unproven.size(), 20u);
    if (include_unproven) {
      EXPECT_EQ(out, old_entries);
    } else {
      EXPECT_EQ(out.size(), 200u - findings.unproven.size());
      for (const auto& [key, value] : out) EXPECT_EQ(new_entries.at(key), value) << key;
    }
  }
}

// Hazard H35: a value contains images of log records. Their checksums belong to another offset, so the images are never
// taken for records.
Entries SalvageImagesOfRecords() {
  TestStore store;
  store.options.blob_file_size = 1 << 20;
  store.MustOpen();
  store.Put("secret", std::string(600, 's'));
  std::string log;
  EXPECT_TRUE(store.fs->probe().ReadContents(store.FilesOf(".log").front(), &log).ok());
  EXPECT_TRUE(store.db->Delete({}, "secret").ok());
  store.Put("an image", log.substr(0, 4096), true);
  store.Put("last", "1", true);
  store.MustClose();
  EXPECT_TRUE(store.fs->probe().ReadContents(store.FilesOf(".log").front(), &log).ok());
  const std::size_t image = log.find("an image");
  EXPECT_NE(image, std::string::npos);
  // Damage the record's header, so that its value is searched for records, and both records of the first key, so that
  // no newer record hides the image.
  EXPECT_TRUE(
      store.fs->tampering().Overwrite(store.FilesOf(".log").front(), 208, std::string(image + 8 - 208, 'x')).ok());
  RemoveManifests(store);
  Findings findings;
  RepairOptions how;
  how.include_unproven = true;
  const Status s = RepairTo(store, {{kDefaultColumnFamilyName, store.options}}, how, &findings);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_FALSE(findings.lost.empty());
  return Read(store, kOutPath);
}

TEST(RepairDbTest, ImagesOfRecordsInValuesAreNotRecords) {
  const Entries real = {{"default/last", "1"}};
  EXPECT_EQ(SalvageImagesOfRecords(), real);
  const MutantScope mutant(Mutant::kSeedWithoutOffset);
  EXPECT_NE(SalvageImagesOfRecords(), real);
}

TEST(RepairDbTest, DryRunReportsTheSameAndLeavesNothing) {
  TestStore store;
  Entries old_entries;
  Entries new_entries;
  MakeOldTreeAndNewRun(&store, &old_entries, &new_entries);
  const auto before = store.Files();
  Findings findings;
  RepairOptions how;
  how.dry_run = true;
  ASSERT_TRUE(RepairTo(store, {}, how, &findings).ok());
  EXPECT_EQ(store.Files(), before);
  EXPECT_FALSE(Exists(store, "/out.tmp"));
  EXPECT_TRUE(findings.report.IsClean());
  EXPECT_EQ(findings.report.families.at(0).entries, new_entries.size());
  Findings real;
  ASSERT_TRUE(RepairTo(store, {}, {}, &real).ok());
  EXPECT_EQ(findings.report.families.at(0).value_bytes, real.report.families.at(0).value_bytes);
}

TEST(RepairDbTest, RejectsMissingOpenAndForeignDirectories) {
  TestStore store;
  Findings findings;
  EXPECT_TRUE(RepairTo(store, {}, {}, &findings).IsPathNotFound());
  ASSERT_TRUE(store.fs->CreateDirectory(kStorePath).ok());
  EXPECT_TRUE(RepairTo(store, {}, {}, &findings).IsInvalidArgument());
  store.MustOpen();
  store.Put("a", "1");
  EXPECT_TRUE(RepairTo(store, {}, {}, &findings).IsLocked());
  store.MustClose();
  RepairReport report;
  EXPECT_TRUE(
      RepairDB(kStorePath, std::string(kStorePath) + "/out", store.options, {}, {}, &report).IsInvalidArgument());
  EXPECT_TRUE(RepairDB(kStorePath, kStorePath, store.options, {}, {}, &report).IsInvalidArgument());
  // Foreign files: no note says that a repair made the directory.
  ASSERT_TRUE(store.fs->tampering().WriteContents("/out.tmp/notes", "seeds").ok());
  EXPECT_TRUE(RepairTo(store, {}, {}, &findings).IsInvalidArgument());
  ASSERT_TRUE(store.fs->tampering().Remove("/out.tmp/notes").ok());
  ASSERT_TRUE(RepairTo(store, {}, {}, &findings).ok());
  EXPECT_TRUE(RepairTo(store, {}, {}, &findings).IsInvalidArgument());  // the directory exists
}

// Regression: all files in a directory with the mark's name were removed, foreign ones too.
TEST(RepairDbTest, ForeignFilesInTheMarkAreKept) {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  store.MustClose();
  ASSERT_TRUE(store.fs->tampering().WriteContents("/out.tmp.mark/17", "").ok());
  ASSERT_TRUE(store.fs->tampering().WriteContents("/out.tmp.mark/letters", "dear").ok());
  Findings findings;
  const Status s = RepairTo(store, {}, {}, &findings);
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::vector<std::string> names;
  ASSERT_TRUE(store.fs->List("/out.tmp.mark", &names).ok());
  EXPECT_EQ(names, std::vector<std::string>{"letters"});
  std::string letters;
  ASSERT_TRUE(store.fs->probe().ReadContents("/out.tmp.mark/letters", &letters).ok());
  EXPECT_EQ(letters, "dear");
  // Once the mark has no foreign files, the next call removes it.
  ASSERT_TRUE(store.fs->tampering().Remove("/out.tmp.mark/letters").ok());
  EXPECT_TRUE(RepairTo(store, {}, {}, &findings).IsInvalidArgument());
  EXPECT_FALSE(Exists(store, "/out.tmp.mark"));
}

// Makes a damaged store; *left is what survives.
void MakeDamaged(TestStore* store, Entries* left) {
  store->MustOpen();
  for (int i = 0; i < 20; ++i) store->Put(NumberedKey(i), (*left)["default/" + NumberedKey(i)] = std::string(700, 'v'));
  store->Flush();
  store->MustClose();
  std::string log;
  const std::string path = store->FilesOf(".log").front();
  ASSERT_TRUE(store->fs->probe().ReadContents(path, &log).ok());
  ASSERT_TRUE(store->fs->tampering().FlipBit(path, log.find(NumberedKey(7)) + 300, 2).ok());
  left->erase("default/" + NumberedKey(7));
}

// Cuts the power at each change of the disk, then repairs again.
TEST(RepairDbTest, OutputAppearsAsAWholeOrNotAtAll) {
  TestStore store;
  Entries left;
  MakeDamaged(&store, &left);
  std::vector<SimImage> images;
  const HookScope hook(store.fs, [&](const SimOp&) { images.push_back(store.fs->Snapshot()); });
  Findings findings;
  ASSERT_TRUE(RepairTo(store, {}, {}, &findings).ok());
  ASSERT_GT(images.size(), 20u);
  Prng prng(11);
  for (const SimImage& image : images) {
    for (const bool is_power : {false, true}) {
      TestStore after(std::make_shared<SimFileSystem>(is_power ? image.DrawCrash(prng) : image.Kill(prng)));
      if (!Exists(after, kOutPath)) {
        Findings again;
        const Status s = RepairTo(after, {}, {}, &again);
        ASSERT_TRUE(s.ok()) << s.ToString();
      }
      ASSERT_EQ(Read(after, kOutPath), left);
      EXPECT_FALSE(Exists(after, "/out.tmp"));
    }
  }
}

TEST(RepairDbTest, InPlaceKeepsTheDamagedDirectory) {
  TestStore store;
  Entries left;
  MakeDamaged(&store, &left);
  std::vector<SimImage> images;
  const HookScope hook(store.fs, [&](const SimOp&) { images.push_back(store.fs->Snapshot()); });
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
      EXPECT_TRUE(again.IsInvalidArgument()) << again.ToString();  // it is unknown who made the directory
    } else {
      ASSERT_TRUE(again.ok()) << again.ToString();
      EXPECT_EQ(Read(after, kStorePath), left);
    }
  }
  EXPECT_GT(between, 0);
}

// Regression: a footer or a branch is damaged, so that reads fail, but all committed entries can be salvaged. The
// repair returned OK, removed the new database and kept the damaged one.
TEST(RepairDbTest, InPlaceReplacesADamagedDatabaseEvenIfNothingIsLost) {
  TestStore store;
  store.options.page_size = 512;
  store.MustOpen();
  for (int i = 0; i < 40; ++i) store.Put(NumberedKey(i), std::string(20, 'v'));
  store.Flush();  // all pages are live
  store.MustClose();
  const Entries before = Read(store, kStorePath);
  std::size_t replaced = 0;
  for (const std::string& path : store.FilesOf(TestsUseLsm() ? ".run" : ".idx")) {
    for (std::uint64_t at = 512 + 70; at < store.Files().at(path).size(); at += 512) {
      SCOPED_TRACE(path + " at " + std::to_string(at));
      TestStore damaged(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
      damaged.options.page_size = 512;
      ASSERT_TRUE(damaged.fs->tampering().FlipBit(path, at, 3).ok());
      Findings findings;
      RepairOptions dry;
      dry.dry_run = true;
      ASSERT_TRUE(RepairTo(damaged, {}, dry, &findings).ok());
      if (!findings.report.IsClean()) continue;
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

TEST(RepairDbTest, InPlaceLeavesAHealthyDatabaseUnchanged) {
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

// Regression: no witness follows the last record of the MANIFEST. If this record is damaged, it looks torn. So the
// check of the damaged database found no problem, although an acknowledged family was missing. The repaired database
// had the family, and was removed.
TEST(RepairDbTest, InPlaceKeepsTheMendedDatabase) {
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
    ASSERT_TRUE(damaged.fs->tampering().FlipBit(path, at, static_cast<int>(at % 8)).ok());
    const Status s = RepairDB(kStorePath, damaged.options);
    ASSERT_TRUE(s.ok()) << s.ToString();
    std::vector<std::string> names;
    ASSERT_TRUE(DB::ListColumnFamilies(damaged.options, kStorePath, &names).ok());
    EXPECT_EQ(names, (std::vector<std::string>{kDefaultColumnFamilyName, "young"}));
    EXPECT_EQ(Read(damaged, kStorePath), (Entries{{"default/a", "1"}}));
    EXPECT_TRUE(Exists(damaged, std::string(kStorePath) + ".damaged"));
  }
}

// Regression: the check of a repair in place ran without the lock of the database, and took any error for damage. A
// healthy database was replaced because another process had it open for a moment, or because one read failed.
TEST(RepairDbTest, InPlaceTakesOnlyDamageForDamage) {
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
  fault.status = Status::Locked("by another process, for a moment");
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
