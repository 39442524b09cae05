// An open database stays in its directory, whatever becomes of the path that it was opened by. Real files, real
// threads.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cambium/backup_engine.h"
#include "cambium/checkpoint.h"
#include "cambium/db.h"
#include "cambium/logger.h"
#include "testing/deep_verify.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "testing/small_options.h"
#include "testing/temp_directory.h"
#include "testing/test_store.h"
#include "util/prng.h"

namespace cambium::testing::moved_directory_test {
namespace {

namespace stdfs = std::filesystem;

constexpr int kKeys = 200;

// Two databases. A test makes the path of the first lead to the second.
class MovedDirectoryTest : public ::testing::Test {
 protected:
  MovedDirectoryTest() { options_.info_log = nullptr; }
  ~MovedDirectoryTest() override { stdfs::current_path(working_directory_); }

  void SetUp() override {
    stdfs::create_directory(Path("A"));
    stdfs::create_directory(Path("B"));
  }
  [[nodiscard]] std::string Path(const std::string& name) const { return directory_.File(name); }

  // Writes values that go into the log, into the index and into files of their own, so that segments rotate, log GC
  // runs, and files are removed. Returns the first error.
  Status Write(DB* db, const std::string& prefix) {
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < kKeys; ++i) {
        const std::string value(i % 50 == 0 ? 9000 : i % 3 == 0 ? 20 : 600, static_cast<char>('a' + round));
        const Status s = db->Put({.sync = i % 50 == 49}, prefix + std::to_string(i), value);
        if (!s.ok()) return s;
      }
      if (const Status s = db->Flush({}); !s.ok()) return s;
    }
    if (const Status s = db->CompactRange({}, nullptr, nullptr); !s.ok()) return s;
    return db->SetDBOptions({{"max_total_wal_size", "300000"}});  // writes an OPTIONS file
  }

  // Opens a database, and returns what is wrong with it; "" if it has exactly the keys with this prefix.
  std::string Check(const std::string& path, const std::string& prefix) {
    Options options = options_;
    options.create_if_missing = false;
    if (std::string wrong = DeepVerify(path, options, Orphans::kForbidden); !wrong.empty()) return wrong;
    std::unique_ptr<DB> db;
    if (const Status s = DB::Open(options, path, &db); !s.ok()) return s.ToString();
    int count = 0;
    {
      const std::unique_ptr<Iterator> it(db->NewIterator({}));
      for (it->SeekToFirst(); it->Valid(); it->Next(), ++count) {
        if (!it->key().starts_with(prefix)) return path + ": has the key " + it->key().ToString();
      }
      if (!it->status().ok()) return it->status().ToString();
    }
    const Status closed = db->Close();
    return closed.ok() && count == kKeys ? "" : path + ": " + std::to_string(count) + " keys, " + closed.ToString();
  }

  // Opens the first database by `path`, then calls `move`, and opens the second by `second`. Both write alternately.
  // Returns what is wrong: "" if each then has its own data, in its own directory.
  std::string WriteBoth(const std::string& path, const std::function<void()>& move, const std::string& second,
                        const std::string& first_is_now) {
    std::unique_ptr<DB> a;
    std::unique_ptr<DB> b;
    Status s = DB::Open(options_, path, &a);
    if (s.ok()) s = Write(a.get(), "a");
    if (!s.ok()) return "before: " + s.ToString();
    move();
    s = DB::Open(options_, second, &b);
    if (!s.ok()) return "the second: " + s.ToString();
    s = Write(b.get(), "b");
    if (s.ok()) s = Write(a.get(), "a");
    if (s.ok()) s = Write(b.get(), "b");
    if (s.ok()) s = a->Close();
    if (s.ok()) s = b->Close();
    if (!s.ok()) return s.ToString();
    a.reset();
    b.reset();
    std::string wrong = Check(first_is_now, "a");
    return wrong.empty() ? Check(second, "b") : wrong;
  }

  TempDirectory directory_;
  Options options_ = SmallOptions();
  const stdfs::path working_directory_ = stdfs::current_path();
};

TEST_F(MovedDirectoryTest, ChangedSymbolicLinkLeadsNoFileElsewhere) {
  const auto run = [this](const std::string& name) {
    stdfs::create_directory_symlink(Path("A"), Path("current"));
    return WriteBoth(
        Path("current/" + name),
        [this] {
          stdfs::remove(Path("current"));
          stdfs::create_directory_symlink(Path("B"), Path("current"));
        },
        Path("B/" + name), Path("A/" + name));
  };
  EXPECT_EQ(run("db"), "");
  stdfs::remove(Path("current"));
  const MutantScope mutant(Mutant::kFindFilesByPath);
  EXPECT_NE(run("db2"), "") << "the mutant must be caught";
}

TEST_F(MovedDirectoryTest, RelativePathIsThatOfTheFirstWorkingDirectory) {
  stdfs::current_path(Path("A"));
  EXPECT_EQ(WriteBoth(
                "db", [this] { stdfs::current_path(Path("B")); }, "db", Path("A/db")),
            "");
}

// Regression: a path was cut at a zero byte, so the calls concerned the database whose path is the first part.
TEST_F(MovedDirectoryTest, PathWithAZeroByteIsNoDatabase) {
  Options options = options_;
  options.create_if_missing = true;
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options, Path("A"), &db).ok());
  ASSERT_TRUE(db->Put({}, "k", "v").ok());
  for (const std::string& tail : {std::string("\0", 1), std::string("\0db", 3), std::string("/\0", 2)}) {
    const std::string path = Path("C") + tail;
    const std::string existing = Path("A") + tail;
    std::unique_ptr<DB> other;
    EXPECT_FALSE(DB::Open(options, path, &other).ok());
    EXPECT_FALSE(DB::Open(options, existing, &other).ok());
    std::vector<std::string> names;
    EXPECT_FALSE(DB::ListColumnFamilies(options, existing, &names).ok());
    std::unique_ptr<Checkpoint> checkpoint;
    ASSERT_TRUE(Checkpoint::Create(db.get(), &checkpoint).ok());
    EXPECT_FALSE(checkpoint->CreateCheckpoint(path).ok());
    EXPECT_FALSE(stdfs::exists(Path("C")));
  }
  ASSERT_TRUE(db->Close().ok());
  db.reset();
  EXPECT_TRUE(DestroyDB(Path("A") + std::string("\0b", 2), options).ok()) << "there is none";
  ASSERT_TRUE(DB::Open(options, Path("A"), &db).ok());
  std::string value;
  EXPECT_TRUE(db->Get({}, "k", &value).ok());
  ASSERT_TRUE(db->Close().ok());
}

TEST_F(MovedDirectoryTest, DatabaseInTheWorkingDirectoryStaysThere) {
  stdfs::current_path(Path("A"));
  EXPECT_EQ(WriteBoth(
                ".", [this] { stdfs::current_path(Path("B")); }, ".", Path("A")),
            "");
}

TEST_F(MovedDirectoryTest, RenamedDatabaseGoesOnWhenANewOneHasItsName) {
  EXPECT_EQ(WriteBoth(
                Path("A/db"), [this] { stdfs::rename(Path("A/db"), Path("moved")); }, Path("A/db"), Path("moved")),
            "");
}

// A reader opens files only when it is opened; but it locks the directory that it reads.
TEST_F(MovedDirectoryTest, ReaderOfARenamedDatabaseKeepsWritersOut) {
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options_, Path("A/db"), &db).ok());
  ASSERT_TRUE(Write(db.get(), "a").ok());
  ASSERT_TRUE(db->Close().ok());
  db.reset();
  ASSERT_TRUE(DB::OpenForReadOnly(options_, Path("A/db"), &db).ok());
  stdfs::rename(Path("A/db"), Path("moved"));
  std::unique_ptr<DB> writer;
  EXPECT_TRUE(DB::Open(options_, Path("moved"), &writer).IsLocked());
  std::string value;
  EXPECT_TRUE(db->Get({}, "a7", &value).ok());
  ASSERT_TRUE(db->Close().ok());
  EXPECT_EQ(Check(Path("moved"), "a"), "");
}

TEST_F(MovedDirectoryTest, CheckpointAndBackupOfARenamedDatabaseHaveItsData) {
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::Open(options_, Path("A/db"), &db).ok());
  ASSERT_TRUE(Write(db.get(), "a").ok());
  stdfs::rename(Path("A/db"), Path("moved"));
  ASSERT_TRUE(DestroyDB(Path("A/db"), options_).ok()) << "there is none";
  std::unique_ptr<DB> other;
  ASSERT_TRUE(DB::Open(options_, Path("A/db"), &other).ok());
  ASSERT_TRUE(Write(other.get(), "b").ok());
  ASSERT_TRUE(other->Close().ok());

  std::unique_ptr<Checkpoint> checkpoint;
  ASSERT_TRUE(Checkpoint::Create(db.get(), &checkpoint).ok());
  Status s = checkpoint->CreateCheckpoint(Path("checkpoint"), 0, nullptr);
  ASSERT_TRUE(s.ok()) << s.ToString();
  s = checkpoint->CreateCheckpoint(Path("moved/inside"), 0, nullptr);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_EQ(Check(Path("checkpoint"), "a"), "");

  // The directory of the backups moves too, once by its own name, and once by a link.
  stdfs::create_directory_symlink(Path("A"), Path("current"));
  std::unique_ptr<BackupEngine> engine;
  BackupEngineOptions engine_options(Path("current/backups"));
  s = BackupEngine::Open(engine_options, &engine);
  ASSERT_TRUE(s.ok()) << s.ToString();
  s = engine->CreateNewBackup({}, db.get(), nullptr);
  ASSERT_TRUE(s.ok()) << s.ToString();
  stdfs::rename(Path("A/backups"), Path("backups"));
  stdfs::remove(Path("current"));
  stdfs::create_directory_symlink(Path("B"), Path("current"));
  ASSERT_TRUE(db->Put({}, "a0", "new").ok());
  s = engine->CreateNewBackup({}, db.get(), nullptr);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_FALSE(stdfs::exists(Path("B/backups")));
  ASSERT_TRUE(engine->VerifyBackup(2, true).ok());
  ASSERT_TRUE(engine->DeleteBackup(1).ok());
  s = engine->RestoreDBFromBackup({}, 2, Path("restored"));
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Check(Path("restored"), "a"), "");
  engine.reset();
  engine_options.backup_dir = Path("backups");
  ASSERT_TRUE(BackupEngine::Open(engine_options, &engine).ok());
  EXPECT_EQ(engine->GetBackupInfo().size(), 1u);
  ASSERT_TRUE(db->Close().ok());
}

// On the simulated disk, with a power cut at every third call after the rename.
TEST(MovedDirectoryCrashTest, SyncedWritesSurviveCutsAfterARename) {
  TestStore store;
  store.MustOpen();
  store.Put("before", "1", /*sync=*/true);
  ASSERT_TRUE(store.fs->Rename(kStorePath, "/moved").ok());
  ASSERT_TRUE(store.fs->SyncDirectory("/").ok());
  int synced = 0;
  std::vector<std::pair<SimImage, int>> images;
  const int hook = store.fs->AddHook([&](const SimOp& op) {
    if (op.index % 3 == 0) images.emplace_back(store.fs->Snapshot(), synced);
  });
  for (int i = 0; i < 60; ++i) {
    store.Put(NumberedKey(i), std::string(i % 20 == 0 ? 9000 : 500, 'v'), /*sync=*/true);
    synced = i + 1;
    if (i % 20 == 19) store.Flush();
  }
  store.RunUntilIdle();
  store.fs->RemoveHook(hook);
  store.MustClose();
  EXPECT_GT(images.size(), 100u);
  EXPECT_TRUE(store.FilesOf("/db/").empty());
  Prng prng(SeedFromEnvironment(62));
  for (const auto& [image, count] : images) {
    TestStore after(std::make_shared<SimFileSystem>(image.DrawCrash(prng)));
    const Status s = DB::Open(after.options, "/moved", &after.db);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_EQ(after.Get("before"), "1");
    for (int i = 0; i < count; ++i) ASSERT_NE(after.Get(NumberedKey(i)), "NotFound") << i << " of " << count;
    after.MustClose();
  }
}

}  // namespace
}  // namespace cambium::testing::moved_directory_test
