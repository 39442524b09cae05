// Tests that a new backup checks what it stores: a database with damage that matters never becomes a backup, and a
// backup is never refused for bytes that nothing needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "backup/backup_record.h"
#include "backup/known_store.h"
#include "cambium/backup_engine.h"
#include "manifest/manifest_reader.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"

namespace cambium::testing::backup_check_test {
namespace {

constexpr const char* kBackups = "/backups";
constexpr const char* kRestored = "/restored";

struct CheckedStore : KnownStore {
  using KnownStore::KnownStore;
  void MustOpenEngine() {
    BackupEngineOptions engine_options(kBackups);
    engine_options.file_system = fs;
    engine_options.clock = clock;
    const Status s = BackupEngine::Open(engine_options, &engine);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Backs up the closed database, and collects the dead damage.
  Status Create(bool verify_checksums = true) {
    dead.clear();
    CreateBackupOptions how;
    how.verify_checksums = verify_checksums;
    how.on_dead_damage = [this](const std::string& what) { dead.push_back(what); };
    return engine->CreateNewBackupOffline(how, kStorePath);
  }
  // Restores the newest backup and verifies it. Returns what is wrong, or "" if it has the known contents.
  std::string RestoreNewest() {
    const Status restored = engine->RestoreDBFromLatestBackup(kRestored);
    if (!restored.ok()) return restored.ToString();
    VerifyReport report;
    std::string wrong = VerifyDB(kRestored, options, {.deep = true}, &report).ToString();
    if (wrong == "OK") wrong = report.problems.empty() ? "" : report.problems.front();
    std::unique_ptr<DB> restored_db;
    if (wrong.empty()) wrong = DB::OpenForReadOnly(options, kRestored, &restored_db).ToString();
    if (wrong == "OK") wrong = Contents(restored_db.get()) == known ? "" : "other contents";
    restored_db.reset();
    EXPECT_TRUE(DestroyDB(kRestored, options).ok());
    return wrong;
  }
  [[nodiscard]] std::vector<std::string> Problems() const {
    VerifyReport report;
    const Status s = VerifyDB(kStorePath, options, {.deep = true}, &report);
    if (!s.ok()) return {s.ToString()};
    return report.problems;
  }

  std::unique_ptr<BackupEngine> engine;
  std::vector<std::string> dead;
};

// A closed database with all kinds of files: sealed and unsealed segments, segments of log GC, large values, runs and
// pages of both indexes, compressed values; some values are dead, some are not flushed.
void Fill(CheckedStore* store, std::uint64_t seed) {
  store->options.blob_compression_type = kLZ4Compression;
  store->options.enable_blob_garbage_collection = seed % 2 == 0;
  store->MustOpen();
  Prng prng(seed);
  store->ChangeMany(&prng, 150);
  store->Compact();
  store->ChangeMany(&prng, 40);
  store->Flush();
  store->Put("text", store->known["text"] = std::string(3000, 'x'));
  store->ChangeMany(&prng, 15);
  store->MustClose();
}

struct Tally {
  int refused = 0;
  int made = 0;
  std::string wrong;
};

// Damages one place of the database at a time, and backs it up each time.
Tally DamageAndBackUp() {
  Tally tally;
  const std::uint64_t first_seed = SeedFromEnvironment(31);
  for (std::uint64_t seed = first_seed; seed < first_seed + ScaledCount(2); ++seed) {
    CheckedStore whole;
    Fill(&whole, seed);
    const SimImage image = whole.fs->Snapshot();
    Prng prng(seed);
    for (const auto& file : whole.fs->probe().ListFiles()) {
      const bool is_binary = file.path.starts_with(kStorePath) && file.path.find("LOG") == std::string::npos;
      if (!is_binary || file.size == 0 || file.path.find("MANIFEST") != std::string::npos) continue;
      for (int i = 0; i < 12; ++i) {
        const std::uint64_t at = i < 2   ? prng.Uniform(std::min<std::uint64_t>(file.size, 128))
                                 : i < 4 ? file.size - 1 - prng.Uniform(std::min<std::uint64_t>(file.size, 300))
                                         : prng.Uniform(file.size);
        CheckedStore store(std::make_shared<SimFileSystem>(image));
        store.options = whole.options;
        store.options.file_system = store.fs;
        store.known = whole.known;
        store.MustOpenEngine();
        EXPECT_TRUE(store.fs->tampering().FlipBit(file.path, at, static_cast<int>(prng.Uniform(8))).ok());
        const std::string place =
            "CAMBIUM_SEED=" + std::to_string(seed) + " " + file.path + ":" + std::to_string(at) + ": ";
        const Status made = store.Create();
        if (made.ok()) {
          ++tally.made;
          if (const std::string wrong = store.RestoreNewest(); !wrong.empty()) tally.wrong += place + wrong + "\n";
        } else {
          ++tally.refused;
          const bool is_named = made.IsCorruption() && made.message().find(kStorePath) != std::string_view::npos;
          if (!is_named || !store.engine->GetBackupInfo().empty()) tally.wrong += place + made.ToString() + "\n";
        }
      }
    }
  }
  return tally;
}

TEST(BackupCheckTest, NewBackupIsComplete) {
  const Tally tally = DamageAndBackUp();
  EXPECT_EQ(tally.wrong, "");
  EXPECT_GT(tally.refused, 50);
  EXPECT_GT(tally.made, 5);
  if (kUnderSanitizer) return;  // As in mutant_test: builds without sanitizers check that the test detects defects.
  {
    const MutantScope mutant(Mutant::kBackupUnchecked);
    EXPECT_NE(DamageAndBackUp().wrong, "");
  }
  const MutantScope mutant(Mutant::kBackupTakesDamageForDead);
  EXPECT_NE(DamageAndBackUp().wrong, "");
}

// Flips a byte of the value in every segment that contains it. Returns how many there are.
int DamageValue(const CheckedStore& store, const std::string& value, const std::string& below = kStorePath) {
  int count = 0;
  for (const auto& [path, bytes] : store.Files()) {
    const std::size_t at = bytes.find(value);
    if (!path.starts_with(below) || at == std::string::npos) continue;
    EXPECT_TRUE(store.fs->tampering().FlipBit(path, at + value.size() / 2, 3).ok());
    ++count;
  }
  return count;
}

// A store whose first segment is full, and sealed with a footer. It has a live value, a dead one, and others.
void FillWithGarbage(CheckedStore* store) {
  store->options.enable_blob_garbage_collection = false;
  store->options.blob_compression_type = kNoCompression;
  store->options.min_punch_size = 0;
  store->options.blob_file_size = 16u << 10;
  store->MustOpen();
  for (const char* key : {"live", "dead", "other"}) store->Put(key, std::string(key) + std::string(2000, key[0]));
  for (int i = 0; i < 12; ++i) store->Put(NumberedKey(i), store->known[NumberedKey(i)] = std::string(2000, 'z'));
  store->Compact();
  store->Put("dead", "new");
  store->Compact();
  for (const char* key : {"live", "other"}) store->known[key] = std::string(key) + std::string(2000, key[0]);
  store->known["dead"] = "new";
  store->Reopen();
  store->MustClose();
  store->MustOpenEngine();
}
const std::string kLive = "live" + std::string(2000, 'l');
const std::string kDead = "dead" + std::string(2000, 'd');

TEST(BackupCheckTest, DamagedValueIsReportedAndOlderBackupsStay) {
  CheckedStore store;
  FillWithGarbage(&store);
  ASSERT_TRUE(store.Create().ok());
  ASSERT_TRUE(store.engine->PurgeOldBackups(0).ok());
  store.MustOpen();
  store.Put("later", store.known["later"] = "1");
  store.MustClose();
  ASSERT_TRUE(store.Create().ok());
  // The value rots in the database. A new backup shares the stored file, which is whole; without any backup, the damage
  // is found.
  ASSERT_TRUE(store.engine->RestoreDBFromLatestBackup(kRestored).ok());
  ASSERT_EQ(DamageValue(store, kLive), 1);
  ASSERT_TRUE(store.Create().ok()) << "the stored file was checked, and is shared: the new backup has the good bytes";
  EXPECT_EQ(store.engine->GetBackupInfo().size(), 2u);
  ASSERT_TRUE(DestroyDB(kRestored, store.options).ok());
  EXPECT_EQ(store.RestoreNewest(), "");
  ASSERT_TRUE(store.engine->DeleteBackup(1).ok());
  ASSERT_TRUE(store.engine->DeleteBackup(2).ok());
  const Status made = store.Create();
  EXPECT_TRUE(made.IsCorruption()) << made.ToString();
  EXPECT_NE(made.message().find(".log:"), std::string_view::npos) << made.ToString();
  EXPECT_TRUE(store.engine->GetBackupInfo().empty());
}

TEST(BackupCheckTest, DamagedDeadValueDoesNotFailTheBackup) {
  CheckedStore store;
  FillWithGarbage(&store);
  ASSERT_EQ(DamageValue(store, kDead), 1);
  ASSERT_TRUE(store.Problems().empty());
  const Status made = store.Create();
  ASSERT_TRUE(made.ok()) << made.ToString();
  ASSERT_EQ(store.dead.size(), 1u);
  EXPECT_TRUE(store.dead.front().starts_with(kStorePath)) << store.dead.front();
  EXPECT_EQ(store.RestoreNewest(), "");
  EXPECT_TRUE(store.engine->GetBackupInfo().back().is_checked);
}

// Log GC walks the records of a segment without a whole footer, so then it needs the dead ones too.
TEST(BackupCheckTest, DamagedDeadValueCountsIfTheFooterIsDamagedToo) {
  CheckedStore store;
  FillWithGarbage(&store);
  const auto manifest = ReadManifest(*store.fs, kStorePath);
  ASSERT_TRUE(manifest.ok());
  int footers = 0;
  for (const auto& [number, info] : manifest->state.segments) {
    if (!info.has_footer) continue;
    ++footers;
    ASSERT_TRUE(
        store.fs->tampering().FlipBit(FilePath(kStorePath, FileKindOf(info.kind), number), info.sealed_length, 1).ok());
  }
  ASSERT_GT(footers, 0);
  ASSERT_TRUE(store.Create().ok());
  EXPECT_EQ(store.dead.size(), static_cast<std::size_t>(footers));
  ASSERT_TRUE(store.engine->PurgeOldBackups(0).ok());
  ASSERT_EQ(DamageValue(store, kDead), 1);
  EXPECT_FALSE(store.Problems().empty());
  EXPECT_TRUE(store.Create().IsCorruption());
}

// The database stays open, and its values rot meanwhile, also in the segment that takes appends.
TEST(BackupCheckTest, OpenDatabaseIsCheckedToo) {
  for (const bool is_flushed : {false, true}) {
    CheckedStore store;
    store.options.blob_compression_type = kNoCompression;
    store.MustOpen();
    store.MustOpenEngine();
    store.Put("live", kLive);
    if (is_flushed) store.Compact();
    ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
    ASSERT_TRUE(store.engine->PurgeOldBackups(0).ok());
    ASSERT_EQ(DamageValue(store, kLive), 1);
    const Status made = store.engine->CreateNewBackup(store.db.get());
    EXPECT_TRUE(made.IsCorruption()) << made.ToString();
    EXPECT_TRUE(store.engine->GetBackupInfo().empty());
  }
}

// Zeros up to the end of the records look like space that was never written.
TEST(BackupCheckTest, ZerosAtTheEndOfASegmentAreDamage) {
  CheckedStore store;
  FillWithGarbage(&store);
  const auto manifest = ReadManifest(*store.fs, kStorePath);
  ASSERT_TRUE(manifest.ok());
  const SegmentInfo& first = manifest->state.segments.begin()->second;
  ASSERT_TRUE(first.has_footer);
  const std::string path = FilePath(kStorePath, FileKind::kLog, first.number);
  const std::size_t at = store.Files().at(path).find("other" + std::string(2000, 'o'));
  ASSERT_NE(at, std::string::npos);
  const std::uint64_t from = (at + 2005 + 7) / 8 * 8;  // the end of its record
  ASSERT_LT(from, first.sealed_length);
  ASSERT_TRUE(store.fs->tampering().Overwrite(path, from, std::string(first.sealed_length - from, '\0')).ok());
  const Status made = store.Create();
  EXPECT_TRUE(made.IsCorruption()) << made.ToString();
  EXPECT_NE(made.message().find("zeros instead of records"), std::string_view::npos) << made.ToString();
}

// A backup that was made without the check may have damaged values. Verifying it finds them, and no checked backup
// relies on its files without checking them.
TEST(BackupCheckTest, UncheckedFilesAreNotTrusted) {
  CheckedStore store;
  FillWithGarbage(&store);
  const auto whole = store.Files();
  ASSERT_EQ(DamageValue(store, kLive), 1);
  ASSERT_TRUE(store.Create(/*verify_checksums=*/false).ok());
  EXPECT_FALSE(store.engine->GetBackupInfo().back().is_checked);
  EXPECT_TRUE(store.engine->VerifyBackup(1).ok());
  const Status verified = store.engine->VerifyBackup(1, true);
  EXPECT_TRUE(verified.IsCorruption()) << verified.ToString();
  EXPECT_NE(verified.message().find(kBackups), std::string_view::npos) << verified.ToString();
  EXPECT_NE(store.RestoreNewest(), "");
  // The value is good again, for example because another disk has it.
  for (const auto& [path, bytes] : whole) {
    if (!path.starts_with(kStorePath)) continue;
    ASSERT_TRUE(store.fs->tampering().WriteContents(path, bytes).ok());
  }
  const Status made = store.Create();
  ASSERT_TRUE(made.ok()) << made.ToString();
  EXPECT_TRUE(store.engine->VerifyBackup(2, true).ok());
  EXPECT_EQ(store.RestoreNewest(), "");
}

// Whole files of an unchecked backup are shared once they were checked.
TEST(BackupCheckTest, UncheckedFilesAreSharedIfUndamaged) {
  CheckedStore store;
  FillWithGarbage(&store);
  ASSERT_TRUE(store.Create(/*verify_checksums=*/false).ok());
  EXPECT_TRUE(store.engine->VerifyBackup(1, true).ok());
  const auto stored = [&] {
    std::size_t count = 0;
    for (const auto& [path, bytes] : store.Files())
      count += path.find("/files/") != std::string::npos && path.ends_with(".log");
    return count;
  };
  const std::size_t before = stored();
  ASSERT_TRUE(store.Create().ok());
  EXPECT_LE(stored(), before + 1) << "at most the segment that is not sealed";
  EXPECT_TRUE(store.engine->GetBackupInfo().back().is_checked);
}

// ---- The newest backup ----

std::string RestoreWithADamagedNewest() {
  CheckedStore store;
  FillWithGarbage(&store);
  EXPECT_TRUE(store.Create().ok());
  EXPECT_TRUE(store.Create().ok());
  const std::string record = std::string(kBackups) + "/" + BackupRecordName(2);
  EXPECT_TRUE(store.fs->tampering().FlipBit(record, 100, 2).ok());
  store.engine.reset();
  store.MustOpenEngine();
  CopyPlan plan;
  for (const Status& s :
       {store.engine->RestoreDBFromLatestBackup(kRestored), store.engine->PlanRestore(0, kRestored, &plan)}) {
    if (!s.IsCorruption() || s.message().find(record) == std::string_view::npos)
      return "an older one is taken: " + s.ToString();
  }
  FileInfo info;
  if (store.fs->GetInfo(kRestored, &info).ok()) return "something was restored";
  // The older one can be restored by its number, and it is the newest once the damaged one is deleted.
  EXPECT_TRUE(store.engine->PlanRestore(1, kRestored, &plan).ok());
  EXPECT_TRUE(store.engine->RestoreDBFromBackup(1, kRestored).ok());
  EXPECT_TRUE(DestroyDB(kRestored, store.options).ok());
  EXPECT_TRUE(store.engine->PurgeOldBackups(1).ok());
  EXPECT_EQ(store.engine->GetCorruptedBackups(), std::vector<BackupID>{2});
  EXPECT_TRUE(store.engine->DeleteBackup(2).ok());
  return store.RestoreNewest();
}

TEST(BackupCheckTest, DamagedNewestBackupIsNotReplacedByAnOlderOne) {
  EXPECT_EQ(RestoreWithADamagedNewest(), "");
  const MutantScope mutant(Mutant::kLatestSkipsDamaged);
  EXPECT_NE(RestoreWithADamagedNewest(), "");
}

}  // namespace
}  // namespace cambium::testing::backup_check_test
