// Backups with RocksDB's names.
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/utilities/backup_engine.h"
#include "rocksdb_names/open_names.h"

using ROCKSDB_NAMESPACE::BackupEngine;
using ROCKSDB_NAMESPACE::BackupEngineOptions;
using ROCKSDB_NAMESPACE::BackupEngineReadOnly;
using ROCKSDB_NAMESPACE::BackupInfo;
using ROCKSDB_NAMESPACE::Env;
using ROCKSDB_NAMESPACE::RestoreOptions;

namespace rocksdb_names_test::names_backup_test {

class NamesBackupTest : public NamesTest {
 protected:
  std::unique_ptr<BackupEngine> OpenEngine() {
    BackupEngine* engine = nullptr;
    const auto opened = BackupEngine::Open(Env::Default(), BackupEngineOptions(backups_), &engine);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    return std::unique_ptr<BackupEngine>(engine);
  }
  const std::string backups_ = directory_.File("backups");
};

TEST_F(NamesBackupTest, TwoEnginesShareADirectoryAndRestoreReplacesTheDatabase) {
  options_.use_fsync = true;  // so that the database has a file of hints
  Open();
  Put("key", "first");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  ASSERT_TRUE(engine->CreateNewBackup(db_.get()).ok());
  Put("key", "second");
  Put("more", "x");
  uint32_t id = 0;
  ASSERT_TRUE(engine->CreateNewBackupWithMetadata({}, db_.get(), "note", &id).ok());
  EXPECT_EQ(id, 2u);
  std::vector<BackupInfo> infos;
  engine->GetBackupInfo(&infos);
  ASSERT_EQ(infos.size(), 2u);
  EXPECT_EQ(infos[1].app_metadata, "note");
  EXPECT_TRUE(engine->VerifyBackup(1, true).ok());

  BackupEngineReadOnly* made = nullptr;
  ASSERT_TRUE(BackupEngineReadOnly::Open(Env::Default(), BackupEngineOptions(backups_), &made).ok());
  const std::unique_ptr<BackupEngineReadOnly> reader(made);
  EXPECT_TRUE(reader->RestoreDBFromBackup(1, path_, path_).IsLocked());  // the database is open
  EXPECT_EQ(Get("key"), "second");
  db_.reset();
  EXPECT_TRUE(reader->RestoreDBFromBackup(1, path_, "/elsewhere").IsNotSupported());
  EXPECT_TRUE(reader->RestoreDBFromBackup(1, path_, path_, RestoreOptions(true)).IsNotSupported());
  const auto restored = reader->RestoreDBFromBackup(1, path_, path_);
  ASSERT_TRUE(restored.ok()) << restored.ToString();
  Open();
  EXPECT_EQ(Get("key"), "first");
  EXPECT_EQ(Get("more"), "none");
  db_.reset();
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup(path_, path_).ok());
  Open();
  EXPECT_EQ(Get("key"), "second");
}

TEST_F(NamesBackupTest, BackupsCanBeDeletedAndStopped) {
  Open();
  Put("key", "value");
  const std::unique_ptr<BackupEngine> engine = OpenEngine();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(engine->CreateNewBackup(db_.get(), true).ok());
  ASSERT_TRUE(engine->PurgeOldBackups(1).ok());
  BackupInfo info;
  ASSERT_TRUE(engine->GetLatestBackupInfo(&info).ok());
  EXPECT_EQ(info.backup_id, 3u);
  EXPECT_TRUE(engine->GetBackupInfo(1, &info).IsNotFound());
  ASSERT_TRUE(engine->DeleteBackup(3).ok());
  EXPECT_TRUE(engine->GetLatestBackupInfo(&info).IsNotFound());
  engine->StopBackup();
  EXPECT_TRUE(engine->CreateNewBackup(db_.get()).IsIncomplete());
}

TEST_F(NamesBackupTest, DestroyOldDataIsNotSupported) {
  BackupEngineOptions options(backups_);
  options.destroy_old_data = true;
  BackupEngine* engine = nullptr;
  EXPECT_TRUE(BackupEngine::Open(options, Env::Default(), &engine).IsNotSupported());
}

}  // namespace rocksdb_names_test::names_backup_test
