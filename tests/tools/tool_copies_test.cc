// checkpoint, backup, restore, convert.
#include <vector>

#include "cambium/file_system.h"
#include "tool.h"

namespace cambium::testing {
namespace {

class ToolCopiesTest : public ToolTest {
 protected:
  void Put(const std::string& key, const std::string& value) const {
    ASSERT_EQ(RunTool("put " + Path() + " " + key + " " + value).exit_code, kClean);
  }
  std::string Scan(const std::string& directory) const { return RunTool("scan " + directory).output; }
};

TEST_F(ToolCopiesTest, CheckpointIsIndependentOfItsOrigin) {
  ASSERT_TRUE(Open()->Close().ok());
  Put("a", "1");
  const std::string copy = directory_.File("copy");
  const Ended ended = RunTool("checkpoint " + Path() + " " + copy);
  EXPECT_EQ(ended.exit_code, kClean) << ended.output;
  Put("a", "2");
  EXPECT_EQ(Scan(copy), "a\t1\n");
  EXPECT_EQ(Scan(Path()), "a\t2\n");
  EXPECT_EQ(RunTool("verify --deep " + copy).exit_code, kClean);
  const Ended again = RunTool("checkpoint " + Path() + " " + copy);
  EXPECT_EQ(again.exit_code, kCannot);
  EXPECT_NE(again.output.find("exists"), std::string::npos) << again.output;
}

// verify reports damage if a file is missing, or shorter than its committed length. Copies must fail on such a file
// too, since the copy may be all that is left when the origin is removed.
TEST_F(ToolCopiesTest, IncompleteDatabaseIsNotCopied) {
  {
    Options options = TheOptions();
    options.write_buffer_size = 1u << 20;
    options.blob_file_size = 1u << 20;
    options.large_value_size = 64u << 10;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, Path(), &db).ok());
    for (int i = 0; i < 80; ++i) {
      ASSERT_TRUE(db->Put({}, "key" + std::to_string(i), std::string(i == 0 ? 100'000 : 30'000, 'v')).ok());
    }
    ASSERT_TRUE(db->Flush({}).ok());
    ASSERT_TRUE(db->Put({}, "late", std::string(20'000, 'l')).ok());
    ASSERT_TRUE(db->Close().ok());
  }
  const std::string whole = directory_.File("whole");
  std::filesystem::rename(Path(), whole);
  const std::string out = directory_.File("out");
  const std::string backups = directory_.File("backups");
  const std::vector<std::string> lines = {
      "checkpoint " + Path() + " " + out, "backup create " + Path() + " " + backups,
      "convert " + Path() + " " + out + " --index " + (TestsUseLsm() ? "btree" : "lsm")};
  int rows = 0;
  for (const auto& entry : std::filesystem::directory_iterator(whole)) {
    const std::string name = entry.path().filename();
    const std::string kind = entry.path().extension();
    if (kind != ".log" && kind != ".val" && kind != ".idx" && kind != ".run") continue;
    for (const bool is_short : {false, true}) {
      SCOPED_TRACE(name + (is_short ? " is short" : " is missing"));
      std::filesystem::remove_all(Path());
      std::filesystem::copy(whole, Path());
      if (is_short) {
        std::filesystem::resize_file(Path() + "/" + name, std::min<std::uintmax_t>(5000, entry.file_size() / 2));
      } else {
        std::filesystem::remove(Path() + "/" + name);
      }
      EXPECT_EQ(RunTool("verify " + Path()).exit_code, kDamage);
      for (const std::string& line : lines) {
        for (const char* const how : {" --dry-run", ""}) {
          const Ended ended = RunTool(line + how);
          EXPECT_EQ(ended.exit_code, kDamage) << line << how << "\n" << ended.output;
          EXPECT_NE(ended.output.find(name), std::string::npos) << ended.output;
          ++rows;
        }
      }
      EXPECT_FALSE(std::filesystem::exists(out));
      EXPECT_FALSE(std::filesystem::exists(backups));
    }
  }
  EXPECT_GE(rows, 4 * 2 * 6);
}

// The second command ends as if the database were locked, and the copy that the first command makes is complete.
TEST_F(ToolCopiesTest, ConcurrentCommandsCannotMakeOneDirectory) {
  ASSERT_TRUE(Open()->Close().ok());
  Put("a", "1");
  const std::string out = directory_.File("out");
  const std::string backups = directory_.File("backups");
  ASSERT_EQ(RunTool("backup create " + Path() + " " + backups).exit_code, kClean);
  std::filesystem::create_directory(out + ".tmp.mark");
  std::unique_ptr<FileLock> first;
  ASSERT_TRUE(FileSystem::Default()->Lock(out + ".tmp.mark", LockMode::kExclusive, 0, &first).ok());
  const std::vector<std::string> lines = {
      "checkpoint " + Path() + " " + out, "restore " + backups + " " + out,
      "convert " + Path() + " " + out + " --index " + (TestsUseLsm() ? "btree" : "lsm")};
  for (const std::string& line : lines) {
    EXPECT_EQ(RunTool(line).exit_code, kLocked) << line;
    EXPECT_EQ(RunTool(line + " --dry-run").exit_code, kLocked) << line;
  }
  EXPECT_EQ(RunTool("salvage " + Path() + " " + out).exit_code, kLocked);
  first.reset();
  for (const std::string& line : lines) {
    EXPECT_EQ(RunTool(line).exit_code, kClean) << line;
    EXPECT_EQ(Scan(out), "a\t1\n");
    EXPECT_FALSE(std::filesystem::exists(out + ".tmp.mark"));
    std::filesystem::remove_all(out);
  }
}

TEST_F(ToolCopiesTest, BackupsAreListedVerifiedRestoredAndDeleted) {
  ASSERT_TRUE(Open()->Close().ok());
  const std::string backups = directory_.File("backups");
  for (int i = 1; i <= 3; ++i) {
    Put("a", std::to_string(i));
    const nlohmann::json made = RunForJson("backup create " + Path() + " " + backups + " --metadata 'of\\x0aday'");
    EXPECT_EQ(made.at("backup"), i);
    EXPECT_EQ(made.at("metadata"), "of\\x0aday");
    EXPECT_GT(made.at("bytes_stored"), 0);
  }
  EXPECT_EQ(RunForJson("backup list " + backups).at("backups").size(), 3u);
  const Ended list = RunTool("backup list " + backups);
  EXPECT_NE(list.output.find("backup 2  20"), std::string::npos) << list.output;
  EXPECT_EQ(RunTool("backup verify " + backups + " --deep").output, "backup 1: clean\nbackup 2: clean\nbackup 3: clean\n");
  EXPECT_EQ(RunTool("restore " + backups + " " + directory_.File("newest")).exit_code, kClean);
  EXPECT_EQ(Scan(directory_.File("newest")), "a\t3\n");
  EXPECT_EQ(RunTool("restore " + backups + " " + directory_.File("older") + " --id 1").exit_code, kClean);
  EXPECT_EQ(Scan(directory_.File("older")), "a\t1\n");
  EXPECT_EQ(RunTool("restore " + backups + " " + directory_.File("older") + " --id 1").exit_code, kCannot) << "exists";
  EXPECT_EQ(RunTool("restore " + backups + " " + directory_.File("none") + " --id 7").exit_code, kCannot);

  EXPECT_EQ(RunTool("backup delete " + backups + " --keep 1 --dry-run").output, "would delete backup 1\nwould delete backup 2\n");
  EXPECT_EQ(RunForJson("backup list " + backups).at("backups").size(), 3u);
  EXPECT_EQ(RunTool("backup delete " + backups + " --id 2").output, "deleted backup 2\n");
  EXPECT_EQ(RunTool("backup delete " + backups + " --id 2").exit_code, kCannot);
  EXPECT_EQ(RunTool("backup delete " + backups).exit_code, kCannot);
  EXPECT_EQ(RunForJson("backup create " + Path() + " " + backups + " --keep 1").at("backup"), 4);
  EXPECT_EQ(RunForJson("backup list " + backups).at("backups").size(), 1u);
}

TEST_F(ToolCopiesTest, DamagedBackupsAreReported) {
  ASSERT_TRUE(Open()->Close().ok());
  Put("a", "1");
  const std::string backups = directory_.File("backups");
  ASSERT_EQ(RunTool("backup create " + Path() + " " + backups).exit_code, kClean);
  const auto stored = FilesIn(backups + "/files");
  const std::string file = backups + "/files/" + stored.rbegin()->first;
  FlipByte(file, stored.rbegin()->second.size() / 2);
  EXPECT_EQ(RunTool("backup verify " + backups).exit_code, kClean) << "the size is right";
  const Ended deep = RunTool("backup verify " + backups + " --deep");
  EXPECT_EQ(deep.exit_code, kDamage);
  EXPECT_NE(deep.output.find(file), std::string::npos) << deep.output;
  EXPECT_EQ(RunTool("restore " + backups + " " + directory_.File("out")).exit_code, kDamage);
  EXPECT_FALSE(std::filesystem::exists(directory_.File("out")));
  FlipByte(backups + "/000001.backup", 10);
  EXPECT_EQ(RunTool("backup list " + backups).exit_code, kDamage);
  EXPECT_EQ(RunTool("backup verify " + backups).exit_code, kDamage);
  EXPECT_EQ(RunTool("backup list " + Path()).exit_code, kCannot) << "a database";
  EXPECT_EQ(RunTool("backup list " + directory_.File("nothing")).exit_code, kCannot);
  EXPECT_EQ(RunTool("restore " + directory_.File("nothing") + " " + directory_.File("out")).exit_code, kCannot);
}

TEST_F(ToolCopiesTest, ConversionHasTheSameDataUnderTheOtherIndex) {
  {
    const std::unique_ptr<DB> db = Open();
    for (int i = 0; i < 300; ++i) {
      ASSERT_TRUE(db->Put({}, "key" + std::to_string(i), std::string(i % 3 == 0 ? 2000 : 20, 'v') + std::to_string(i)).ok());
    }
    ASSERT_TRUE(db->Flush({}).ok());
    ASSERT_TRUE(db->Put({}, "late", "not flushed").ok());
    ASSERT_TRUE(db->Close().ok());
  }
  const std::string scan = Scan(Path());
  const auto before = FilesIn(Path());
  const std::string other = TestsUseLsm() ? "btree" : "lsm";
  const std::string out = directory_.File("out");
  const nlohmann::json dry = RunForJson("convert " + Path() + " " + out + " --dry-run --index " + other);
  EXPECT_EQ(dry.at("entries"), 300);
  EXPECT_FALSE(std::filesystem::exists(out));
  const nlohmann::json made = RunForJson("convert " + Path() + " " + out + " --index " + other);
  EXPECT_EQ(made.at("families"), 1);
  EXPECT_EQ(made.at("log_bytes"), dry.at("log_bytes"));
  EXPECT_EQ(made.at("entries"), 300);
  EXPECT_EQ(FilesIn(Path()), before);
  EXPECT_EQ(Scan(out), scan);
  EXPECT_EQ(RunTool("verify --deep " + out).exit_code, kClean);
  EXPECT_NE(RunTool("options " + out).output.find(TestsUseLsm() ? "index_type=kBTree" : "index_type=kLsm"), std::string::npos);
  const std::string back = directory_.File("back");
  EXPECT_EQ(RunTool("convert " + out + " " + back + " --index " + (TestsUseLsm() ? "lsm" : "btree")).exit_code, kClean);
  EXPECT_EQ(Scan(back), scan);
  EXPECT_EQ(RunTool("convert " + Path() + " " + out + " --index " + other).exit_code, kCannot) << "exists";
  EXPECT_EQ(RunTool("convert " + Path() + " " + out + "2").exit_code, kCannot) << "to what?";
}

}  // namespace
}  // namespace cambium::testing
