// Commands on directories of backups: which directories they accept, what they leave unchanged, and what they report.
#include <sys/mount.h>

#include <vector>

#include "cambium/backup_engine.h"
#include "tool.h"
#include "util/sealed_text.h"

namespace cambium::testing {
namespace {

class ToolBackupsTest : public ToolTest {
 protected:
  ToolBackupsTest() {
    std::filesystem::create_directory(All());
    const std::unique_ptr<DB> db = Open();
    EXPECT_TRUE(db->Put({}, "key", std::string(1000, 'v')).ok());
    EXPECT_TRUE(db->Close().ok());
  }
  std::string All() const { return directory_.File("all"); }
  std::string Backups() const { return All() + "/backups"; }
  std::string Out() const { return All() + "/out"; }
  void MakeBackups(int count) const {
    for (int i = 0; i < count; ++i) ASSERT_EQ(RunTool("backup create " + Path() + " " + Backups()).exit_code, kClean);
  }
  std::size_t CountBackups() const { return RunForJson("backup list " + Backups()).at("backups").size(); }
  // Commands that need backups.
  std::vector<std::string> Lines() const {
    return {"backup list " + Backups(),
            "backup verify " + Backups(),
            "backup verify " + Backups() + " --deep",
            "backup delete " + Backups() + " --id 1",
            "backup delete " + Backups() + " --keep 0",
            "backup delete " + Backups() + " --id 1 --dry-run",
            "backup delete " + Backups() + " --keep 0 --dry-run",
            "restore " + Backups() + " " + Out(),
            "restore " + Backups() + " " + Out() + " --dry-run"};
  }
  std::vector<std::string> CreatingLines() const {
    return {"backup create " + Path() + " " + Backups() + " --dry-run", "backup create " + Path() + " " + Backups()};
  }
  // Expects each command to end with this code, to say why, and to change nothing.
  void ExpectAll(const std::vector<std::string>& lines, int exit_code, const std::string& why = "") const {
    for (const std::string& line : lines) {
      SCOPED_TRACE(line);
      const auto before = Tree(All());
      const Ended ended = RunTool(line);
      EXPECT_EQ(ended.exit_code, exit_code) << ended.output;
      EXPECT_NE(ended.output.find(why), std::string::npos) << ended.output;
      EXPECT_NE(ended.output.find(Backups()), std::string::npos) << ended.output;
      EXPECT_EQ(Tree(All()), before);
    }
  }
};

// ---- Accepted directories ----

TEST_F(ToolBackupsTest, MissingDirectoryIsReported) { ExpectAll(Lines(), kCannot); }

TEST_F(ToolBackupsTest, OnlyCreateAcceptsAnEmptyDirectory) {
  std::filesystem::create_directory(Backups());
  ExpectAll(Lines(), kCannot, "is not a directory of backups");
  MakeBackups(1);
  EXPECT_EQ(CountBackups(), 1u);
}

TEST_F(ToolBackupsTest, ForeignDirectoryIsRejected) {
  std::filesystem::create_directory(Backups());
  WriteFile(Backups() + "/shopping list", "seeds");
  ExpectAll(Lines(), kCannot, "is not a directory of backups");
  ExpectAll(CreatingLines(), kCannot, "shopping list");
}

// A directory with names like ours, and with foreign files. (Regression: opening it for writing removed these files.)
TEST_F(ToolBackupsTest, ForeignFilesUnderOurNamesAreKept) {
  for (const bool has_lock : {false, true}) {
    std::filesystem::remove_all(Backups());
    std::filesystem::create_directories(Backups() + "/files");
    std::filesystem::create_directories(Backups() + "/staging/inner");
    if (has_lock) WriteFile(Backups() + "/LOCK", "");
    WriteFile(Backups() + "/files/holiday.jpg", "sun");
    WriteFile(Backups() + "/staging/app.tar", "app");
    ExpectAll(Lines(), kCannot, "is not a directory of backups");
    ExpectAll(CreatingLines(), kCannot, "is not a directory of backups");
  }
}

// Foreign files in a directory of backups are kept; files that an interrupted engine left are removed.
TEST_F(ToolBackupsTest, OnlyFilesOfAnEngineAreRemoved) {
  MakeBackups(2);
  std::filesystem::create_directories(Backups() + "/staging");
  const std::vector<std::string> theirs = {"files/holiday.jpg", "files/000001-", "files/1-000007.log",
                                           "files/0123456789abcdef0123456789abcdeF-12.log",
                                           "files/0123456789abcdef0123456789abcdef-012.log",
                                           "files/0123456789abcdef0123456789abcdef-12-abc.log",
                                           "files/0123456789abcdef0123456789abcdef-12.txt",
                                           "staging/app.tar", "staging/000007.log", "000003.backup.unfinished.old",
                                           "read me"};
  const std::vector<std::string> ours = {"files/000009-000007.log", "files/000009-MANIFEST-000007",
                                         "files/0123456789abcdef0123456789abcdef-12.log",
                                         "files/0123456789abcdef0123456789abcdef-12-0123456789abcdef.gc",
                                         "staging/MANIFEST-000007", "staging/000007.dbtmp", "000003.backup.unfinished"};
  for (const std::string& name : theirs) WriteFile(Backups() + "/" + name, "theirs");
  for (const std::string& name : ours) WriteFile(Backups() + "/" + name, "ours");
  EXPECT_EQ(RunTool("backup delete " + Backups() + " --id 1").exit_code, kClean);
  for (const std::string& name : theirs) EXPECT_EQ(ReadFile(Backups() + "/" + name), "theirs") << name;
  for (const std::string& name : ours) EXPECT_FALSE(std::filesystem::exists(Backups() + "/" + name)) << name;
  EXPECT_EQ(RunTool("backup create " + Path() + " " + Backups()).exit_code, kClean);
  for (const std::string& name : theirs) EXPECT_EQ(ReadFile(Backups() + "/" + name), "theirs") << name;
  EXPECT_EQ(RunTool("restore " + Backups() + " " + Out()).exit_code, kClean);
}

TEST_F(ToolBackupsTest, LaterVersionIsNotSupported) {
  MakeBackups(2);
  WriteFile(Backups() + "/000002.backup", SealText("backup_file_version=5\nbackup=2\nwhat=nobody knows\n"));
  ExpectAll(Lines(), kCannot, "backup_file_version is 5");
  ExpectAll(CreatingLines(), kCannot, "backup_file_version is 5");
}

TEST_F(ToolBackupsTest, DamagedRecordIsReported) {
  MakeBackups(1);
  FlipByte(Backups() + "/000001.backup", 100);
  ExpectAll({"backup verify " + Backups(), "restore " + Backups() + " " + Out() + " --id 1",
             "restore " + Backups() + " " + Out() + " --id 1 --dry-run"},
            kDamage);
  EXPECT_EQ(RunTool("backup list " + Backups()).exit_code, kDamage);
  EXPECT_EQ(RunTool("backup delete " + Backups() + " --id 1 --dry-run").output, "would delete backup 1\n");
  EXPECT_EQ(RunTool("backup delete " + Backups() + " --id 1").exit_code, kClean);
  EXPECT_EQ(CountBackups(), 0u);
}

// Regression: an older backup was restored, with exit code 0 and "every checksum compared".
TEST_F(ToolBackupsTest, DamagedNewestBackupIsNotReplacedByAnOlderOne) {
  MakeBackups(2);
  FlipByte(Backups() + "/000002.backup", 100);
  ExpectAll({"restore " + Backups() + " " + Out(), "restore " + Backups() + " " + Out() + " --dry-run"}, kDamage,
            "000002.backup: the newest backup cannot be read; backup 1 is the newest that can be read");
  const Ended list = RunTool("backup list " + Backups());
  EXPECT_EQ(list.exit_code, kDamage);
  EXPECT_NE(list.output.find("backup 2  DAMAGED"), std::string::npos) << list.output;
  EXPECT_EQ(RunTool("restore " + Backups() + " " + Out() + " --id 1").exit_code, kClean);
  // The damaged backup is neither counted nor deleted.
  EXPECT_EQ(RunTool("backup delete " + Backups() + " --keep 1").output, "");
  EXPECT_EQ(RunForJson("backup list " + Backups(), kDamage).at("damaged"), std::vector<int>{2});
  EXPECT_EQ(RunTool("backup delete " + Backups() + " --id 2").exit_code, kClean);
  EXPECT_EQ(RunTool("backup list " + Backups()).exit_code, kClean);
}

// ---- A rotten database ----

// Regression: the backup, its verification and the restore were all clean, and the good backups were deleted.
TEST_F(ToolBackupsTest, DamagedValueEndsTheBackupAndKeepsOlderOnes) {
  MakeBackups(1);
  const std::string value(3000, 'w');
  ASSERT_EQ(RunTool("put " + Path() + " rotten " + value).exit_code, kClean);
  ASSERT_EQ(RunTool("compact " + Path()).exit_code, kClean);  // no recovery reads the value any more
  int flipped = 0;
  for (const auto& [name, bytes] : FilesIn(Path())) {
    const std::size_t at = bytes.find(value);
    if (at == std::string::npos) continue;
    FlipByte(Path() + "/" + name, at + 1500);
    ++flipped;
  }
  ASSERT_EQ(flipped, 1);
  ASSERT_EQ(RunTool("verify --deep " + Path()).exit_code, kDamage);
  const Ended made = RunTool("backup create " + Path() + " " + Backups() + " --keep 1");
  EXPECT_EQ(made.exit_code, kDamage) << made.output;
  EXPECT_NE(made.output.find(Path() + "/0000"), std::string::npos) << made.output;
  EXPECT_NE(made.output.find("no backup was made and none deleted"), std::string::npos) << made.output;
  EXPECT_EQ(RunForJson("backup list " + Backups()).at("backups").at(0).at("backup"), 1);
  EXPECT_TRUE(RunForJson("backup create " + Path() + " " + Backups() + " --keep 1", kDamage).contains("error"));
  // On purpose, the files are stored as they are. The backup says so, and its verification finds the damage.
  const Ended as_it_is = RunTool("backup create " + Path() + " " + Backups() + " --no-verify");
  EXPECT_EQ(as_it_is.exit_code, kClean) << as_it_is.output;
  EXPECT_NE(as_it_is.output.find("not checked"), std::string::npos) << as_it_is.output;
  EXPECT_EQ(RunTool("backup verify " + Backups() + " --deep --id 1").exit_code, kClean);
  EXPECT_EQ(RunTool("backup verify " + Backups() + " --deep").exit_code, kDamage);
  const Ended restored = RunTool("restore " + Backups() + " " + Out());
  EXPECT_EQ(restored.exit_code, kClean);
  EXPECT_NE(restored.output.find("were not checked when the backup was made"), std::string::npos) << restored.output;
}

// A backup that cannot be made creates nothing, not even the directory.
TEST_F(ToolBackupsTest, FailedBackupLeavesNoDirectory) {
  for (const std::string& line : {"backup create " + All() + "/none " + Backups(),
                                  "backup create " + Path() + " " + Backups() + " --metadata '\\x'"}) {
    EXPECT_EQ(RunTool(line).exit_code, kCannot) << line;
    EXPECT_EQ(RunTool(line + " --dry-run").exit_code, kCannot) << line;
  }
  const std::unique_ptr<DB> db = Open();
  EXPECT_EQ(RunTool("backup create " + Path() + " " + Backups()).exit_code, kLocked);
  EXPECT_TRUE(std::filesystem::is_empty(All()));
}

TEST_F(ToolBackupsTest, DirectoryThatIsOpenElsewhereIsLocked) {
  MakeBackups(1);
  BackupEngineOptions options(Backups());
  std::unique_ptr<BackupEngine> engine;
  ASSERT_TRUE(BackupEngine::Open(options, &engine).ok());
  ExpectAll(Lines(), kLocked);
  ExpectAll(CreatingLines(), kLocked);
  engine.reset();
  options.read_only = true;
  ASSERT_TRUE(BackupEngine::Open(options, &engine).ok());
  for (const std::string& line : Lines()) {
    const bool writes = line.find("delete") != std::string::npos;
    EXPECT_EQ(RunTool(line).exit_code, writes ? kLocked : kClean) << line;
    std::filesystem::remove_all(Out());
  }
  ExpectAll(CreatingLines(), kLocked);
}

TEST_F(ToolBackupsTest, ReadOnlyFileSystemAllowsReadingCommands) {
  MakeBackups(1);
  if (::mount(Backups().c_str(), Backups().c_str(), nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "SKIPPED: nothing can be mounted here";
  }
  const bool is_read_only = ::mount(nullptr, Backups().c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
  if (is_read_only) {
    for (const std::string& line : Lines()) {
      const bool writes = line.find("delete") != std::string::npos;
      EXPECT_EQ(RunTool(line).exit_code, writes ? kCannot : kClean) << line;
      std::filesystem::remove_all(Out());
    }
    ExpectAll(CreatingLines(), kCannot);
  }
  ::umount2(Backups().c_str(), MNT_DETACH);
  if (!is_read_only) GTEST_SKIP() << "SKIPPED: nothing can be mounted read-only here";
}

// ---- Deletion ----

// Regression: id 0 meant "all backups".
TEST_F(ToolBackupsTest, IdZeroIsRejected) {
  MakeBackups(2);
  for (const std::string id : {"0", "-1", "x", "4294967296"}) {
    for (const std::string& line : {"backup delete " + Backups(), "backup verify " + Backups(),
                                   "backup delete " + Backups() + " --dry-run", "restore " + Backups() + " " + Out()}) {
      EXPECT_EQ(RunTool(line + " --id " + id).exit_code, kCannot) << line << " " << id;
    }
  }
  EXPECT_EQ(CountBackups(), 2u);
  EXPECT_FALSE(std::filesystem::exists(Out()));
}

TEST_F(ToolBackupsTest, DryRunOfADeletionListsTheBackups) {
  MakeBackups(3);
  ExpectAll({"backup delete " + Backups() + " --id 99 --dry-run", "backup delete " + Backups() + " --id 99"}, kCannot,
            "no backup 99");
  const nlohmann::json planned = RunForJson("backup delete " + Backups() + " --keep 1 --dry-run");
  EXPECT_EQ(CountBackups(), 3u);
  const nlohmann::json done = RunForJson("backup delete " + Backups() + " --keep 1");
  EXPECT_EQ(planned.at("deleted"), done.at("deleted"));
  EXPECT_EQ(done.at("deleted"), (std::vector<int>{1, 2}));
  EXPECT_EQ(CountBackups(), 1u);
}

// The deletion fails because a mount point cannot be removed.
TEST_F(ToolBackupsTest, FailedDeletionReportsFinishedWork) {
  MakeBackups(3);
  const std::string record = Backups() + "/000002.backup";
  if (::mount(record.c_str(), record.c_str(), nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "SKIPPED: nothing can be mounted here";
  }
  const nlohmann::json json = RunForJson("backup delete " + Backups() + " --keep 0", kCannot);
  EXPECT_EQ(json.at("deleted"), (std::vector<int>{1}));
  EXPECT_NE(json.at("error").get<std::string>().find(record), std::string::npos);
  const nlohmann::json made = RunForJson("backup create " + Path() + " " + Backups() + " --keep 1", kCannot);
  EXPECT_EQ(made.at("backup"), 4);
  EXPECT_EQ(made.at("deleted"), (std::vector<int>{}));
  EXPECT_NE(made.at("error").get<std::string>().find(record), std::string::npos);
  const Ended text = RunTool("backup create " + Path() + " " + Backups() + " --keep 1");
  EXPECT_EQ(text.exit_code, kCannot);
  EXPECT_NE(text.output.find("backup 5 "), std::string::npos) << text.output;
  EXPECT_NE(text.output.find(record), std::string::npos) << text.output;
  ::umount2(record.c_str(), MNT_DETACH);
  EXPECT_EQ(RunTool("backup delete " + Backups() + " --keep 1").output,
            "deleted backup 2\ndeleted backup 3\ndeleted backup 4\n");
}

}  // namespace
}  // namespace cambium::testing
