// Tests of backups: each restores the database of its moment, despite crashes and errors, and no file is stored twice.
#include "cambium/backup_engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backup/backup_record.h"
#include "backup/known_store.h"
#include "manifest/manifest_reader.h"
#include "testing/hook_scope.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/sealed_text.h"

namespace cambium::testing {
namespace {

constexpr const char* kBackups = "/backups";
constexpr const char* kRestored = "/restored";

struct BackedUpStore : KnownStore {
  using KnownStore::KnownStore;
  [[nodiscard]] BackupEngineOptions EngineOptions() const {
    BackupEngineOptions engine_options(kBackups);
    engine_options.file_system = fs;
    engine_options.clock = clock;
    return engine_options;
  }
  Status OpenEngine() { return BackupEngine::Open(EngineOptions(), &engine); }
  void MustOpenEngine() {
    const Status s = OpenEngine();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  std::unique_ptr<BackupEngine> engine;
};

// Restores a backup (0: the latest), verifies the result, and removes it. Returns its contents, or the error under key
// "error".
Map Restore(BackupEngine* engine, BackupID id, const Options& origin) {
  const Status restored =
      id == 0 ? engine->RestoreDBFromLatestBackup(kRestored) : engine->RestoreDBFromBackup(id, kRestored);
  if (!restored.ok()) return {{"error", restored.ToString()}};
  Options options = origin;
  options.create_if_missing = false;
  VerifyReport report;
  const Status verified = VerifyDB(kRestored, options, {.deep = true}, &report);
  if (!verified.ok()) return {{"error", verified.ToString()}};
  if (!report.problems.empty()) return {{"error", report.problems.front()}};
  std::unique_ptr<DB> db;
  const Status opened = DB::Open(options, kRestored, &db);
  if (!opened.ok()) return {{"error", opened.ToString()}};
  Map contents = Contents(db.get());
  EXPECT_TRUE(db->Close().ok());
  db.reset();
  EXPECT_TRUE(DestroyDB(kRestored, origin).ok());
  return contents;
}

std::vector<SimProbe::NamedFile> StoredFiles(const SimFileSystem& fs) {
  std::vector<SimProbe::NamedFile> files;
  for (const auto& file : fs.probe().ListFiles()) {
    if (file.path.starts_with(std::string(kBackups) + "/files/")) files.push_back(file);
  }
  return files;
}

// Flips a bit in the middle of a file.
void Damage(SimFileSystem& fs, const std::string& path) {
  FileInfo info;
  ASSERT_TRUE(fs.GetInfo(path, &info).ok());
  ASSERT_TRUE(fs.tampering().FlipBit(path, info.size / 2, 2).ok());
}

TEST(BackupEngineTest, EachBackupRestoresTheStateAtItsCreation) {
  for (const bool flush : {false, true}) {
    BackedUpStore store;
    store.MustOpen();
    store.MustOpenEngine();
    Prng prng(SeedFromEnvironment(1));
    std::vector<Map> then;
    for (int i = 0; i < 5; ++i) {
      store.ChangeMany(&prng, 60);
      if (i % 2 == 0) store.Compact();
      store.ChangeMany(&prng, 10);
      BackupID id = 0;
      CreateBackupOptions options;
      options.flush_before_backup = flush;
      options.app_metadata = "number " + std::to_string(i) + "\n\x01\xff";
      const Status made = store.engine->CreateNewBackup(options, store.db.get(), &id);
      ASSERT_TRUE(made.ok()) << made.ToString();
      EXPECT_EQ(id, static_cast<BackupID>(i + 1));
      then.push_back(store.known);
      const BackupInfo info = store.engine->GetBackupInfo().back();
      EXPECT_EQ(info.backup_id, id);
      EXPECT_EQ(info.app_metadata, options.app_metadata);
      EXPECT_EQ(info.sequence_number, store.db->GetLatestSequenceNumber());
      EXPECT_EQ(info.timestamp, static_cast<std::int64_t>(store.clock->WallSeconds()));
    }
    store.Compact();
    store.MustClose();
    ASSERT_TRUE(DestroyDB(kStorePath, store.options).ok());
    store.engine.reset();
    store.MustOpenEngine();
    ASSERT_EQ(store.engine->GetBackupInfo().size(), 5u);
    for (BackupID id = 1; id <= 5; ++id) {
      EXPECT_TRUE(store.engine->VerifyBackup(id, true).ok());
      EXPECT_EQ(Restore(store.engine.get(), id, store.options), then[id - 1]) << id;
    }
    EXPECT_EQ(Restore(store.engine.get(), 0, store.options), then.back());
  }
}

TEST(BackupEngineTest, FinalFilesAreStoredOnce) {
  BackedUpStore store;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  store.MustOpenEngine();
  Prng prng(3);
  store.ChangeMany(&prng, 200);
  store.Compact();
  ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get(), true).ok());
  std::uint64_t written = 0;
  const int hook = store.fs->AddHook([&](const SimOp& op) {
    const bool is_ours = op.path.starts_with(std::string(kBackups) + "/files/");
    if (op.kind == SimOpKind::kWrite && op.phase == SimPhase::kAfter && is_ours) written += op.length;
  });
  store.Put("one", store.known["one"] = "more");
  ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get(), true).ok());
  store.fs->RemoveHook(hook);
  const std::uint64_t whole = store.engine->GetBackupInfo()[1].size;
  EXPECT_LT(written, whole / 4) << "of " << whole;
  EXPECT_EQ(Restore(store.engine.get(), 2, store.options), store.known);
}

TEST(BackupEngineTest, DeletingRemovesFilesThatNoOtherBackupHas) {
  BackedUpStore store;
  store.MustOpen();
  store.MustOpenEngine();
  Prng prng(SeedFromEnvironment(5));
  std::vector<Map> then;
  for (int i = 0; i < 6; ++i) {
    store.ChangeMany(&prng, 80);
    if (i % 2 == 1) store.Compact();
    ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get(), i % 3 == 0).ok());
    then.push_back(store.known);
  }
  const std::size_t all = StoredFiles(*store.fs).size();
  ASSERT_TRUE(store.engine->DeleteBackup(3).ok());
  EXPECT_TRUE(store.engine->DeleteBackup(3).IsNotFound());
  EXPECT_TRUE(store.engine->VerifyBackup(3).IsNotFound());
  ASSERT_TRUE(store.engine->PurgeOldBackups(2).ok());
  EXPECT_LT(StoredFiles(*store.fs).size(), all);
  std::set<BackupID> left;
  for (const BackupInfo& info : store.engine->GetBackupInfo()) left.insert(info.backup_id);
  EXPECT_EQ(left, (std::set<BackupID>{5, 6}));
  for (const BackupID id : left) EXPECT_EQ(Restore(store.engine.get(), id, store.options), then[id - 1]);
  ASSERT_TRUE(store.engine->PurgeOldBackups(0).ok());
  EXPECT_TRUE(StoredFiles(*store.fs).empty());
  EXPECT_TRUE(store.engine->RestoreDBFromLatestBackup(kRestored).IsNotFound());
  ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
  EXPECT_EQ(Restore(store.engine.get(), 0, store.options), store.known);
}

// The backup of a closed database includes its log with unflushed writes.
TEST(BackupEngineTest, BacksUpAClosedDatabase) {
  BackedUpStore store;
  store.MustOpen();
  store.MustOpenEngine();
  Prng prng(8);
  store.ChangeMany(&prng, 100);
  EXPECT_TRUE(store.engine->CreateNewBackupOffline({}, kStorePath).IsLocked());
  store.MustClose();
  const Status made = store.engine->CreateNewBackupOffline({}, kStorePath);
  ASSERT_TRUE(made.ok()) << made.ToString();
  EXPECT_EQ(Restore(store.engine.get(), 0, store.options), store.known);
  EXPECT_TRUE(store.engine->CreateNewBackupOffline({}, "/nowhere").IsPathNotFound());
}

// ---- Diverged copies ----

// A database and a copy that was restored from its backup. Different values are deleted in each, and both are backed up
// into one directory. Their segments have the same ids and lengths, and each has holes where the other has live values.
class DivergedCopies : public BackedUpStore {
 public:
  static constexpr int kKeys = 16;  // the first 12 are in a full segment, which has its footer
  static constexpr const char* kOther = "/other";

  void Begin() {
    options.enable_blob_garbage_collection = false;
    options.large_value_size = 64u << 10;
    options.blob_file_size = 512u << 10;
    options.write_buffer_size = 1u << 20;
    MustOpen();
    MustOpenEngine();
    Prng prng(20);
    for (int i = 0; i < kKeys; ++i) Put(NumberedKey(i), known[NumberedKey(i)] = prng.Bytes(40'000));
    Flush();
    MustClose();
    ASSERT_TRUE(engine->CreateNewBackupOffline({}, kStorePath).ok());
    ASSERT_TRUE(engine->RestoreDBFromLatestBackup(kOther).ok());
    ASSERT_TRUE(engine->PurgeOldBackups(0).ok());
  }
  // Deletes the keys in the database at `path`, and punches their values.
  void Punch(const std::string& path, const std::vector<int>& keys) {
    std::unique_ptr<DB> its;
    ASSERT_TRUE(DB::Open(options, path, &its).ok());
    for (const int key : keys) ASSERT_TRUE(its->Delete({}, NumberedKey(key)).ok());
    ASSERT_TRUE(its->CompactRange({}, nullptr, nullptr).ok());
    ASSERT_TRUE(its->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
    ASSERT_TRUE(its->WaitForCompact().ok());
    executor->RunAll();
    ASSERT_TRUE(its->Close().ok());
    const auto manifest = ReadManifest(*fs, path);
    ASSERT_TRUE(manifest.ok());
    std::size_t punched = 0;
    for (const auto& [number, info] : manifest->state.segments) punched += info.punched.size();
    ASSERT_GE(punched, keys.size()) << path;
  }
  [[nodiscard]] Map Without(const std::vector<int>& keys) const {
    Map left = known;
    for (const int key : keys) left.erase(NumberedKey(key));
    return left;
  }
};

std::string RestoreBothCopies(bool origin_first) {
  DivergedCopies store;
  store.Begin();
  store.Punch(kStorePath, {9});
  store.Punch(DivergedCopies::kOther, {0, 2, 5});
  const std::string paths[] = {kStorePath, DivergedCopies::kOther};
  const Map contents[] = {store.Without({9}), store.Without({0, 2, 5})};
  for (const int which : {origin_first ? 0 : 1, origin_first ? 1 : 0}) {
    BackupID id = 0;
    if (const Status s = store.engine->CreateNewBackupOffline({}, paths[which], &id); !s.ok()) return s.ToString();
    const Map restored = Restore(store.engine.get(), id, store.options);
    if (restored != contents[which]) return paths[which] + ": " + (restored.contains("error") ? restored.at("error") : "");
  }
  return "";
}

TEST(BackupEngineTest, DivergedCopiesAreBackedUpIntoOneDirectory) {
  for (const bool origin_first : {false, true}) EXPECT_EQ(RestoreBothCopies(origin_first), "");
}

TEST(BackupEngineMutantTest, SharingAFileWithForeignHolesIsCaught) {
  const MutantScope mutant(Mutant::kBackupSharesOthersHoles);
  EXPECT_NE(RestoreBothCopies(false), "");
}

// If values were punched since the last backup, the stored file is shared: it has all live values, and more.
TEST(BackupEngineTest, FileThatWasPunchedSinceIsShared) {
  DivergedCopies store;
  store.Begin();
  store.Punch(kStorePath, {9});
  ASSERT_TRUE(store.engine->CreateNewBackupOffline({}, kStorePath).ok());
  store.Punch(kStorePath, {2, 4});
  ASSERT_TRUE(store.engine->CreateNewBackupOffline({}, kStorePath).ok());
  EXPECT_EQ(Restore(store.engine.get(), 2, store.options), store.Without({2, 4, 9}));
  std::size_t logs = 0;
  for (const auto& file : StoredFiles(*store.fs)) logs += file.size > 400'000 ? 1 : 0;
  EXPECT_EQ(logs, 1u) << "the segment with the values is stored once";
  // If the older backup is deleted, the file remains for the newer one.
  ASSERT_TRUE(store.engine->DeleteBackup(1).ok());
  EXPECT_EQ(Restore(store.engine.get(), 2, store.options), store.Without({2, 4, 9}));
}

// ---- Damage ----

std::string DamageOneByOne() {
  BackedUpStore store;
  store.MustOpen();
  store.MustOpenEngine();
  Prng prng(9);
  store.ChangeMany(&prng, 120);
  store.Compact();
  EXPECT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
  const SimImage whole = store.fs->Snapshot();
  std::string wrong;
  for (const auto& file : StoredFiles(*store.fs)) {
    if (file.size == 0) continue;
    BackedUpStore damaged(std::make_shared<SimFileSystem>(whole));
    Damage(*damaged.fs, file.path);
    EXPECT_TRUE(damaged.OpenEngine().ok());
    EXPECT_TRUE(damaged.engine->VerifyBackup(1).ok()) << "the size is right";
    const Status verified = damaged.engine->VerifyBackup(1, true);
    const Status restored = damaged.engine->RestoreDBFromBackup(1, kRestored);
    for (const Status& s : {verified, restored}) {
      if (!s.IsCorruption() || s.message().find(file.path) == std::string_view::npos) wrong += s.ToString() + "\n";
    }
    FileInfo info;
    if (damaged.fs->GetInfo(kRestored, &info).ok()) wrong += "something was restored\n";
  }
  return wrong;
}

TEST(BackupEngineTest, DamageOfAnyStoredFileIsFound) {
  EXPECT_EQ(DamageOneByOne(), "");
  const MutantScope mutant(Mutant::kRestoreUnchecked);
  EXPECT_NE(DamageOneByOne(), "");
}

TEST(BackupEngineTest, MissingAndShortFilesAreFound) {
  BackedUpStore store;
  store.MustOpen();
  store.MustOpenEngine();
  Prng prng(10);
  store.ChangeMany(&prng, 100);
  store.Compact();
  ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
  const std::string shortened = StoredFiles(*store.fs).front().path;
  ASSERT_TRUE(store.fs->tampering().Truncate(shortened, 10).ok());
  Status s = store.engine->VerifyBackup(1);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.message().find(shortened + ":10"), std::string_view::npos) << s.ToString();
  EXPECT_TRUE(store.engine->RestoreDBFromBackup(1, kRestored).IsCorruption());
  ASSERT_TRUE(store.fs->tampering().Remove(shortened).ok());
  s = store.engine->VerifyBackup(1);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  // The next backup does not rely on the damaged file.
  ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
  EXPECT_TRUE(store.engine->VerifyBackup(2, true).ok());
  EXPECT_EQ(Restore(store.engine.get(), 2, store.options), store.known);
}

// Regression: a backup after the one with the last number would have had number 0, which no engine finds again.
TEST(BackupEngineTest, NoBackupFollowsTheOneWithTheLastNumber) {
  BackedUpStore store;
  store.MustOpen();
  store.MustOpenEngine();
  store.Put("a", "1");
  ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
  store.engine.reset();
  const BackupID last = std::numeric_limits<BackupID>::max();
  const std::string path = std::string(kBackups) + "/" + BackupRecordName(last);
  ASSERT_TRUE(store.fs->tampering().WriteContents(path, "no record").ok());
  store.MustOpenEngine();
  const Status refused = store.engine->CreateNewBackup(store.db.get());
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  ASSERT_TRUE(store.engine->DeleteBackup(last).ok());
  ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
  EXPECT_EQ(store.engine->GetBackupInfo().back().backup_id, 2u);
}

// An unreadable record may name any stored file. So until the record is deleted, no stored file is removed or
// overwritten.
TEST(BackupEngineTest, FilesOfADamagedRecordAreKept) {
  BackedUpStore store;
  store.MustOpen();
  store.MustOpenEngine();
  Prng prng(11);
  store.ChangeMany(&prng, 100);
  store.Compact();
  ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
  const auto before = StoredFiles(*store.fs);
  Damage(*store.fs, std::string(kBackups) + "/" + BackupRecordName(1));
  store.engine.reset();
  store.MustOpenEngine();
  EXPECT_EQ(store.engine->GetCorruptedBackups(), std::vector<BackupID>{1});
  EXPECT_TRUE(store.engine->GetBackupInfo().empty());
  EXPECT_TRUE(store.engine->RestoreDBFromBackup(1, kRestored).IsCorruption());
  EXPECT_TRUE(store.engine->GarbageCollect().IsCorruption());
  ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
  EXPECT_EQ(store.engine->GetBackupInfo().front().backup_id, 2u);
  const auto now = StoredFiles(*store.fs);
  for (const auto& file : before) {
    const auto same = std::ranges::find(now, file.path, &SimProbe::NamedFile::path);
    ASSERT_NE(same, now.end()) << file.path;
  }
  EXPECT_EQ(Restore(store.engine.get(), 2, store.options), store.known);
  ASSERT_TRUE(store.engine->DeleteBackup(1).ok());
  EXPECT_TRUE(store.engine->GarbageCollect().ok());
  EXPECT_TRUE(store.engine->GetCorruptedBackups().empty());
  EXPECT_LT(StoredFiles(*store.fs).size(), now.size());
  EXPECT_EQ(Restore(store.engine.get(), 2, store.options), store.known);
}

// ---- Crashes and failures ----

// Makes and deletes backups, and cuts the power at one call. After the cut each listed backup must restore the database
// as it was when the backup was made. Returns a description of the first failure, or "".
std::string CutAnywhere(std::uint64_t seed) {
  Prng prng(seed);
  BackedUpStore store;
  store.MustOpen();
  store.ChangeMany(&prng, 60);
  store.Compact();
  if (const Status s = store.OpenEngine(); !s.ok()) return s.ToString();
  std::map<BackupID, Map> then;
  const int cut = static_cast<int>(prng.Uniform(400));
  int calls = 0;
  std::optional<SimImage> after;
  std::set<BackupID> acknowledged;  // the backups made before the cut
  std::map<BackupID, Map> then_at_cut;
  std::set<BackupID> made;
  const HookScope hook(store.fs, [&](const SimOp& op) {
    if (after.has_value() || !op.path.starts_with(kBackups) || calls++ != cut) return;
    after = store.fs->DrawCrash(prng);
    acknowledged = made;
    then_at_cut = then;
  });
  for (int round = 0; round < 6; ++round) {
    store.ChangeMany(&prng, 30);
    if (prng.OneIn(2)) store.Compact();
    if (prng.OneIn(3) && !made.empty()) {
      const BackupID id = *std::next(made.begin(), static_cast<int>(prng.Uniform(made.size())));
      made.erase(id);  // from now on the backup may or may not be listed
      if (const Status s = store.engine->DeleteBackup(id); !s.ok()) return s.ToString();
    }
    BackupID id = 0;
    then[store.engine->GetBackupInfo().empty() ? 1 : store.engine->GetBackupInfo().back().backup_id + 1] = store.known;
    CreateBackupOptions options;
    options.flush_before_backup = prng.OneIn(2);
    if (const Status s = store.engine->CreateNewBackup(options, store.db.get(), &id); !s.ok()) return s.ToString();
    then[id] = store.known;
    made.insert(id);
  }
  if (!after.has_value()) return "";
  BackedUpStore again(std::make_shared<SimFileSystem>(*after));
  if (const Status s = again.OpenEngine(); !s.ok()) return "the engine does not open: " + s.ToString();
  if (!again.engine->GetCorruptedBackups().empty()) return "a record is torn";
  std::set<BackupID> listed;
  for (const BackupInfo& info : again.engine->GetBackupInfo()) listed.insert(info.backup_id);
  for (const BackupID id : acknowledged) {
    if (!listed.contains(id)) return "backup " + std::to_string(id) + " is lost";
  }
  for (const BackupID id : listed) {
    if (const Status s = again.engine->VerifyBackup(id, true); !s.ok()) return s.ToString();
    if (const Map found = Restore(again.engine.get(), id, again.options); found != then_at_cut[id]) {
      const auto error = found.find("error");
      return "backup " + std::to_string(id) + (error == found.end() ? " has other contents" : ": " + error->second);
    }
  }
  std::size_t needed = 0;
  for (const auto& file : StoredFiles(*again.fs)) needed += file.path.empty() ? 0 : 1;
  if (!again.engine->PurgeOldBackups(0).ok() || !StoredFiles(*again.fs).empty()) return "some files are never removed";
  return needed == 0 && !listed.empty() ? "the listed backups have no files" : "";
}

TEST(BackupEngineTest, PowerCutLeavesWholeBackups) {
  const std::uint64_t first = SeedFromEnvironment(100);
  for (std::uint64_t seed = first; seed < first + ScaledCount(150); ++seed) {
    ASSERT_EQ(CutAnywhere(seed), "") << "CAMBIUM_SEED=" << seed;
  }
}

bool SomeCutIsWrong() {
  for (std::uint64_t seed = 100; seed < 700; ++seed) {
    if (!CutAnywhere(seed).empty()) return true;
  }
  return false;
}

TEST(BackupEngineMutantTest, RemovingFilesBeforeTheirRecordIsCaught) {
  const MutantScope mutant(Mutant::kBackupDeletesFilesFirst);
  EXPECT_TRUE(SomeCutIsWrong());
}

TEST(BackupEngineMutantTest, AddingARecordBeforeItsNamesAreDurableIsCaught) {
  const MutantScope mutant(Mutant::kBackupSkipsDirectorySync);
  EXPECT_TRUE(SomeCutIsWrong());
}

// Each call of the file system fails once while a backup is made. Then the backup is listed and whole, or not listed,
// and the database continues.
TEST(BackupEngineTest, FailureOfAnyCallListsOnlyWholeBackups) {
  std::uint64_t failures = 0;
  for (std::uint64_t n = 0;; n += kSweepStep) {
    BackedUpStore store;
    store.MustOpen();
    store.MustOpenEngine();
    Prng prng(12);
    store.ChangeMany(&prng, 40);
    store.Compact();
    ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
    const Map before = store.known;
    store.ChangeMany(&prng, 10);
    SimFault fault;
    fault.nth = n + 1;
    fault.status = Status::IOError("injected");
    store.fs->AddFault(fault);
    BackupID id = 0;
    const Status made = store.engine->CreateNewBackup({}, store.db.get(), &id);
    const bool has_failed = store.fs->fault_hits() > 0;
    store.fs->ClearFaults();
    if (!has_failed) break;
    ++failures;
    EXPECT_NE(made.severity(), Status::Severity::kFatal) << made.ToString();
    ASSERT_TRUE(store.db->Put({}, "still", "writes").ok());
    store.engine.reset();
    store.MustOpenEngine();
    for (const BackupInfo& info : store.engine->GetBackupInfo()) {
      EXPECT_TRUE(store.engine->VerifyBackup(info.backup_id, true).ok());
    }
    ASSERT_FALSE(store.engine->GetBackupInfo().empty());
    EXPECT_EQ(Restore(store.engine.get(), 1, store.options), before);
    if (made.ok()) {
      EXPECT_EQ(store.engine->GetBackupInfo().back().backup_id, id);
    }
    ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok()) << "the next backup failed";
    store.known["still"] = "writes";
    EXPECT_EQ(Restore(store.engine.get(), 0, store.options), store.known);
  }
  EXPECT_GT(failures * kSweepStep, 20u);
}

// ---- Limits ----

TEST(BackupEngineTest, OneWriterAtATimeAndReadersWithoutALock) {
  BackedUpStore store;
  store.MustOpen();
  store.MustOpenEngine();
  Prng prng(13);
  store.ChangeMany(&prng, 20);
  ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
  std::unique_ptr<BackupEngine> second;
  EXPECT_TRUE(BackupEngine::Open(store.EngineOptions(), &second).IsLocked());
  BackupEngineOptions reading = store.EngineOptions();
  reading.read_only = true;
  store.engine.reset();
  ASSERT_TRUE(BackupEngine::Open(reading, &second).ok());
  std::unique_ptr<BackupEngine> third;
  ASSERT_TRUE(BackupEngine::Open(reading, &third).ok());
  EXPECT_TRUE(store.OpenEngine().IsLocked());
  EXPECT_EQ(Restore(second.get(), 1, store.options), store.known);
  EXPECT_TRUE(second->VerifyBackup(1, true).ok());
  EXPECT_TRUE(second->CreateNewBackup(store.db.get()).IsInvalidArgument());
  EXPECT_TRUE(second->CreateNewBackupOffline({}, kStorePath).IsInvalidArgument());
  EXPECT_TRUE(second->DeleteBackup(1).IsInvalidArgument());
  EXPECT_TRUE(second->PurgeOldBackups(0).IsInvalidArgument());
  EXPECT_TRUE(second->GarbageCollect().IsInvalidArgument());
  reading.backup_dir = "/nowhere";
  EXPECT_FALSE(BackupEngine::Open(reading, &third).ok());
}

TEST(BackupEngineTest, RejectsNullResults) {
  BackedUpStore store;
  store.MustOpen();
  store.MustOpenEngine();
  EXPECT_TRUE(BackupEngine::Open(store.EngineOptions(), nullptr).IsInvalidArgument());
  EXPECT_TRUE(BackupEngine::PlanNewBackupOffline(store.EngineOptions(), kStorePath, nullptr).IsInvalidArgument());
  EXPECT_TRUE(BackupEngine::PlanDeletion(store.EngineOptions(), 1, 0, nullptr).IsInvalidArgument());
  EXPECT_TRUE(store.engine->PlanRestore(1, "/out", nullptr).IsInvalidArgument());
}

TEST(BackupEngineTest, RejectsIllegalDirectoriesAndOptions) {
  BackedUpStore store;
  store.MustOpen();
  BackupEngineOptions options = store.EngineOptions();
  options.backup_dir = kStorePath;
  std::unique_ptr<BackupEngine> engine;
  EXPECT_FALSE(BackupEngine::Open(options, &engine).ok()) << "a database's directory";
  options.backup_dir = "";
  EXPECT_TRUE(BackupEngine::Open(options, &engine).IsInvalidArgument());
  options = store.EngineOptions();
  options.backup_rate_limiter.reset(NewGenericRateLimiter(1));
  EXPECT_TRUE(BackupEngine::Open(options, &engine).IsInvalidArgument());
  store.MustOpenEngine();
  CreateBackupOptions create;
  create.app_metadata.assign(kBackupMetadataMax + 1, 'm');
  EXPECT_TRUE(store.engine->CreateNewBackup(create, store.db.get()).IsInvalidArgument());
  ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
  EXPECT_TRUE(store.engine->RestoreDBFromBackup(1, kStorePath).IsInvalidArgument()) << "it exists";
  store.MustClose();
  ASSERT_TRUE(DB::OpenForReadOnly(store.options, kStorePath, &store.db).ok());
  EXPECT_TRUE(store.engine->CreateNewBackup(store.db.get()).IsNotSupported());
}

// A backup is no copy if it is lost with the database's directory, and no other file may be in either directory.
TEST(BackupEngineTest, BackupsInsideTheDatabaseAndRestoresInsideTheBackupsAreRejected) {
  BackedUpStore store;
  store.MustOpen();
  store.Put("a", "1");
  BackupEngineOptions options = store.EngineOptions();
  options.backup_dir = std::string(kStorePath) + "/backups";
  std::unique_ptr<BackupEngine> inside;
  ASSERT_TRUE(BackupEngine::Open(options, &inside).ok());
  EXPECT_TRUE(inside->CreateNewBackup(store.db.get()).IsInvalidArgument());
  EXPECT_TRUE(inside->GetBackupInfo().empty());
  store.MustOpenEngine();
  ASSERT_TRUE(store.engine->CreateNewBackup(store.db.get()).ok());
  for (const char* const place : {"", "/backups", "/backups/copy", "/db/../backups/copy"}) {
    EXPECT_TRUE(store.engine->RestoreDBFromBackup(1, place).IsInvalidArgument()) << place;
    CopyPlan plan;
    EXPECT_TRUE(store.engine->PlanRestore(1, place, &plan).IsInvalidArgument()) << place;
  }
  EXPECT_TRUE(store.engine->CreateNewBackup(nullptr).IsInvalidArgument());
}

TEST(BackupEngineTest, ReportsProgressAndStops) {
  BackedUpStore store;
  store.MustOpen();
  store.MustOpenEngine();
  Prng prng(14);
  store.ChangeMany(&prng, 100);
  std::uint64_t done = 0;
  std::uint64_t all = 0;
  CreateBackupOptions create;
  create.progress = [&](std::uint64_t its_done, std::uint64_t its_all) {
    EXPECT_GE(its_done, done);
    done = its_done;
    all = its_all;
  };
  ASSERT_TRUE(store.engine->CreateNewBackup(create, store.db.get()).ok());
  EXPECT_EQ(done, all);
  EXPECT_EQ(all, store.engine->GetBackupInfo().front().size);
  done = 0;
  RestoreOptions restore;
  restore.progress = create.progress;
  ASSERT_TRUE(store.engine->RestoreDBFromBackup(restore, 1, kRestored).ok());
  EXPECT_EQ(done, all);
  create.progress = [&](std::uint64_t, std::uint64_t) { store.engine->StopBackup(); };
  store.ChangeMany(&prng, 100);
  EXPECT_TRUE(store.engine->CreateNewBackup(create, store.db.get()).IsIncomplete());
  EXPECT_EQ(store.engine->GetBackupInfo().size(), 1u);
  EXPECT_TRUE(store.engine->CreateNewBackup(store.db.get()).IsIncomplete()) << "StopBackup ends all later calls too";
}

// ---- The record ----

TEST(BackupRecordTest, BytesOfVersion3) {
  BackupRecord record;
  record.id = 7;
  record.created_seconds = 1'790'000'000;
  record.sequence = 12'345;
  record.metadata = "a\nb";
  record.is_checked = true;
  Id128 id{};
  id[0] = 0xab;
  const auto add = [&record](FileKind kind, std::uint64_t number, std::uint64_t length, const std::string& stored) {
    record.files.push_back({.name = {kind, number}, .length = length, .checksum = number, .stored = stored});
  };
  add(FileKind::kLog, 12, 4096, StoredName(id, 4096, FileKind::kLog, {}, 0));
  add(FileKind::kRelocation, 13, 9000, StoredName(id, 9000, FileKind::kRelocation, {128, 4400}, 0));
  record.files.back().punched = {128, 4400};
  add(FileKind::kManifest, 15, 300, UnsharedName(7, {FileKind::kManifest, 15}));
  const std::string text = EncodeBackupRecord(record);
  EXPECT_EQ(text,
            "# A backup of a Cambium database: the files it consists of, their bytes, checksums, and names in files/. The last\n"
            "# line is a checksum of the others.\n"
            "backup_file_version=3\n"
            "backup=7\n"
            "created=1790000000\n"
            "sequence=12345\n"
            "metadata=a\\x0ab\n"
            "checked=1\n"
            "file=000012.log 4096 000000000000000c ab000000000000000000000000000000-4096.log\n"
            "file=000013.gc 9000 000000000000000d ab000000000000000000000000000000-9000-b4c90e9bfcd3bbad.gc 128,4400\n"
            "file=MANIFEST-000015 300 000000000000000f 000007-MANIFEST-000015\n"
            "checksum=" + text.substr(text.size() - 17));
  const Result<BackupRecord> read = DecodeBackupRecord(text, 7, "r");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(EncodeBackupRecord(*read), text);
  EXPECT_TRUE(read->files[0].knows_punched);
  EXPECT_EQ(read->files[1].punched, (std::vector<std::uint64_t>{128, 4400}));
  EXPECT_TRUE(DecodeBackupRecord(text, 8, "r").status().IsCorruption());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_TRUE(DecodeBackupRecord(damaged, 7, "r").status().IsCorruption()) << i;
    EXPECT_TRUE(DecodeBackupRecord(Slice(text).substr(0, i), 7, "r").status().IsCorruption()) << i;
  }
}

// Records with a right checksum and illegal contents, which Cambium itself never writes.
TEST(BackupRecordTest, IllegalRecordsAreCorruption) {
  const std::string head = "backup_file_version=3\nbackup=7\ncreated=1\nsequence=1\nmetadata=\nchecked=0\n";
  const std::string manifest = "file=MANIFEST-000015 300 0000000000000001 000007-MANIFEST-000015\n";
  const auto decode = [](const std::string& body) { return DecodeBackupRecord(SealText(body), 7, "r").status(); };
  EXPECT_TRUE(decode(head + manifest).ok());
  for (const std::string& body :
       {std::string(), head, manifest, head + manifest + manifest, head + "file=\n" + manifest,
        head + "file=000012.log 1 0123456789abcdef ../../etc/passwd\n" + manifest,
        head + "file=000012.log 1 0123456789abcdef .\n" + manifest,
        head + "file=000012.log 1 0123456789abcdef x\n" + manifest,
        head + "file=12.log 1 0123456789abcdef 000007-000012.log\n" + manifest, head + "file=000012.log -1 0123456789abcdef 000007-000012.log\n" + manifest,
        head + "file=000012.log 1 0123456789ABCDEF 000007-000012.log\n" + manifest,
        head + "file=000012.log 18446744073709551615 0123456789abcdef 000007-000012.log\n" + manifest,
        head + "file=000012.log 900 0123456789abcdef 000007-000012.log 8,8\n" + manifest,
        head + "file=000012.log 900 0123456789abcdef 000007-000012.log 16,8\n" + manifest,
        head + "file=000012.log 900 0123456789abcdef 000007-000012.log 900\n" + manifest,
        head + "file=000012.log 900 0123456789abcdef 000007-000012.log 8,\n" + manifest,
        head + "file=000012.log 900 0123456789abcdef 000007-000012.log \n" + manifest,
        head + "file=000012.log 900 0123456789abcdef 000007-000012.log 8 16\n" + manifest,
        head + "file=000012.idx 900 0123456789abcdef 000007-000012.log 8\n" + manifest, head + "nothing\n" + manifest, "backup=7\n" + head + manifest,
        "backup_file_version=3\nbackup=7\ncreated=1\nsequence=1\nmetadata=\n" + manifest,
        "backup_file_version=3\nbackup=7\ncreated=1\nsequence=1\nmetadata=\nchecked=2\n" + manifest,
        "backup_file_version=2\nbackup=7\ncreated=1\nsequence=1\nmetadata=\nchecked=1\n" + manifest}) {
    EXPECT_TRUE(decode(body).IsCorruption()) << body;
  }
  EXPECT_TRUE(decode("backup_file_version=5\nanything=else\n").IsNotSupported());
}

// Only a record with a cut has version 4; so older programs read all others.
TEST(BackupRecordTest, CutsAreReadBack) {
  const Id128 id{};
  BackupRecord record;
  record.id = 7;
  const auto add = [&](std::uint64_t number, std::vector<std::uint64_t> punched, std::uint64_t cut) {
    const std::string stored = StoredName(id, 9000, FileKind::kLog, punched, cut);
    record.files.push_back({.name = {FileKind::kLog, number}, .length = 9000, .stored = stored, .punched = punched, .cut = cut});
  };
  add(11, {4096}, 0);
  record.files.push_back({.name = {FileKind::kManifest, 15}, .length = 300, .stored = UnsharedName(7, {FileKind::kManifest, 15})});
  EXPECT_NE(EncodeBackupRecord(record).find("backup_file_version=3\n"), std::string::npos);
  add(12, {}, 4096);
  add(13, {4400}, 4096);
  EXPECT_NE(record.files[0].stored, record.files[2].stored) << "a cut is not a punched record";
  EXPECT_NE(record.files[2].stored, StoredName(id, 9000, FileKind::kLog, {}, 0));
  const std::string text = EncodeBackupRecord(record);
  EXPECT_NE(text.find("backup_file_version=4\n"), std::string::npos);
  EXPECT_NE(text.find(".log - 4096\n"), std::string::npos) << text;
  EXPECT_NE(text.find(".log 4400 4096\n"), std::string::npos) << text;
  const Result<BackupRecord> read = DecodeBackupRecord(text, 7, "r");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(EncodeBackupRecord(*read), text);
  EXPECT_EQ(read->files[2].cut, 4096u);
  EXPECT_TRUE(read->files[2].punched.empty());
  EXPECT_EQ(read->files[3].punched, (std::vector<std::uint64_t>{4400}));
  const std::string head = "backup_file_version=4\nbackup=7\ncreated=1\nsequence=1\nmetadata=\nchecked=0\n";
  const std::string manifest = "file=MANIFEST-000015 300 0000000000000001 000007-MANIFEST-000015\n";
  for (const std::string holes : {"- 0", "- 900", "- x", "-", "8 16", "- ", "- 8 8"}) {
    const std::string file = "file=000012.log 900 0123456789abcdef 000007-000012.log " + holes + "\n";
    EXPECT_TRUE(DecodeBackupRecord(SealText(head + file + manifest), 7, "r").status().IsCorruption()) << holes;
  }
}

// A record of version 1 does not say which values were punched. So its segments can be restored, but not shared.
TEST(BackupRecordTest, Version1IsRead) {
  const std::string head = "backup_file_version=1\nbackup=7\ncreated=1\nsequence=1\nmetadata=\n";
  const std::string manifest = "file=MANIFEST-000015 300 0000000000000001 000007-MANIFEST-000015\n";
  const std::string files = "file=000012.log 900 0123456789abcdef 000007-000012.log\nfile=000013.run 900 0123456789abcdef 000007-000013.run\n";
  const Result<BackupRecord> read = DecodeBackupRecord(SealText(head + files + manifest), 7, "r");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_FALSE(read->files[0].knows_punched);
  EXPECT_TRUE(read->files[1].knows_punched);
  const std::string punched = "file=000012.log 900 0123456789abcdef 000007-000012.log 8\n";
  EXPECT_TRUE(DecodeBackupRecord(SealText(head + punched + manifest), 7, "r").status().IsCorruption());
}

// A record of version 2 does not say whether its files were checked.
TEST(BackupRecordTest, Version2IsRead) {
  const std::string text =
      "backup_file_version=2\nbackup=7\ncreated=1\nsequence=1\nmetadata=\n"
      "file=000012.log 900 0123456789abcdef 000007-000012.log 8\n"
      "file=MANIFEST-000015 300 0000000000000001 000007-MANIFEST-000015\n";
  const Result<BackupRecord> read = DecodeBackupRecord(SealText(text), 7, "r");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_FALSE(read->is_checked);
  EXPECT_TRUE(read->files[0].knows_punched);
  EXPECT_EQ(read->files[0].punched, (std::vector<std::uint64_t>{8}));
}

}  // namespace
}  // namespace cambium::testing
