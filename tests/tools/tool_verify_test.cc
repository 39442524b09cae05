// `cambium verify` as users see it: a program with an output and an exit code. Databases are made through the API on
// the real file system, closed, damaged by plain file operations, and verified by the program.
#include "tool.h"

#include <sys/stat.h>

#include <vector>

namespace cambium::testing {
namespace {

constexpr int kKeys = 4000;
constexpr int kKeysOfRun = 100;
constexpr std::size_t kFirstPage = 4096;  // after the unit with the file's header

std::string KeyOf(int i) {
  char key[16];
  std::snprintf(key, sizeof(key), "key%06d", i);
  return key;
}
std::string LargeValue(int i) {
  return "<value of " + KeyOf(i) + ">" + std::string(600, static_cast<char>('a' + i % 26));
}

class ToolVerifyTest : public ToolTest {
 protected:
  std::unique_ptr<DB> Open(const Comparator* comparator = BytewiseComparator()) const {
    Options options;
    options.create_if_missing = true;
    options.comparator = comparator;
    std::unique_ptr<DB> db;
    const Status s = DB::Open(options, Path(), &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return db;
  }

  // Makes a tree of kKeys keys, every 40th with a separated value, and a run above it. If the writes are slow, an idle
  // flush runs between them, and there are two runs.
  void MakeDatabase() const {
    const std::unique_ptr<DB> db = Open();
    for (int i = 0; i < kKeys; ++i) {
      ASSERT_TRUE(db->Put({}, KeyOf(i), i % 40 == 0 ? LargeValue(i) : "small").ok());
    }
    ASSERT_TRUE(db->CompactRange({}, nullptr, nullptr).ok());
    for (int i = 0; i < kKeysOfRun; ++i) ASSERT_TRUE(db->Put({}, KeyOf(i * (kKeys / kKeysOfRun) + 7), "again").ok());
    ASSERT_TRUE(db->Flush({}).ok());
    ASSERT_TRUE(db->Close().ok());
  }

  // Expects damage, in text and in JSON, both with the file's name.
  void ExpectDamage(const std::string& file, const std::string& flags) const {
    const std::string name = std::filesystem::path(file).filename();
    const Ended text = RunTool("verify " + Path() + flags);
    EXPECT_EQ(text.exit_code, kDamage) << text.output;
    EXPECT_NE(text.output.find(name + ":"), std::string::npos) << text.output;
    EXPECT_NE(text.output.find("damaged"), std::string::npos) << text.output;
    const Ended printed = RunTool("verify " + Path() + " --json" + flags);
    EXPECT_EQ(printed.exit_code, kDamage) << printed.output;
    const auto json = nlohmann::json::parse(printed.output, nullptr, false);
    ASSERT_FALSE(json.is_discarded()) << printed.output;
    EXPECT_EQ(json.at("result"), "damaged");
    ASSERT_FALSE(json.at("problems").empty());
    EXPECT_NE(json.at("problems").dump().find(name + ":"), std::string::npos) << printed.output;
  }
};

TEST_F(ToolVerifyTest, CleanDatabaseIsCleanAndIsNotWrittenTo) {
  MakeDatabase();
  const auto before = FilesIn(Path());
  for (const std::string flags : {"", " --deep"}) {
    const Ended ended = RunTool("verify " + Path() + flags);
    EXPECT_EQ(ended.exit_code, kClean) << ended.output;
    EXPECT_NE(ended.output.find("problems: none"), std::string::npos) << ended.output;
  }
  EXPECT_EQ(FilesIn(Path()), before);
}

TEST_F(ToolVerifyTest, JsonCountsWhatTheDatabaseHolds) {
  MakeDatabase();
  const Ended ended = RunTool("verify --json --deep " + Path());
  EXPECT_EQ(ended.exit_code, kClean) << ended.output;
  const auto json = nlohmann::json::parse(ended.output, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << ended.output;
  EXPECT_EQ(json.at("path"), Path());
  EXPECT_EQ(json.at("result"), "clean");
  EXPECT_EQ(json.at("exit_code"), kClean);
  EXPECT_EQ(json.at("complete"), true);
  EXPECT_TRUE(json.at("error").is_null());
  EXPECT_EQ(json.at("deep"), true);
  EXPECT_EQ(json.at("entries"), kKeys + kKeysOfRun);
  EXPECT_EQ(json.at("live_references"), kKeys / 40);
  EXPECT_TRUE(json.at("problems").empty());
}

// Damage to bytes that nothing needs is reported, and is not a failure.
TEST_F(ToolVerifyTest, DeadDamageIsReportedWithoutFailing) {
  MakeDatabase();
  const std::string file = FileLike("OPTIONS-");
  FlipByte(file, 200);
  const std::string name = std::filesystem::path(file).filename();
  const Ended text = RunTool("verify " + Path());
  EXPECT_EQ(text.exit_code, kClean) << text.output;
  EXPECT_NE(text.output.find("clean"), std::string::npos) << text.output;
  EXPECT_NE(text.output.find("dead damage, without effect: 1\n"), std::string::npos) << text.output;
  EXPECT_NE(text.output.find(name), std::string::npos) << text.output;
  const auto json = nlohmann::json::parse(RunTool("verify --json " + Path()).output, nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json.at("result"), "clean");
  EXPECT_EQ(json.at("exit_code"), kClean);
  EXPECT_TRUE(json.at("problems").empty());
  ASSERT_EQ(json.at("dead_damage").size(), 1u);
}

// The log has the key's value twice: the older record is dead, the newer one live.
TEST_F(ToolVerifyTest, DeadRecordIsDeadDamageAndLiveRecordIsDamage) {
  {
    Options options;
    options.create_if_missing = true;
    options.enable_blob_garbage_collection = false;
    options.blob_file_size = 16u << 10;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, Path(), &db).ok());
    ASSERT_TRUE(db->Put({}, "key", "older" + std::string(600, 'o')).ok());
    ASSERT_TRUE(db->Put({}, "key", "newer" + std::string(600, 'n')).ok());
    // Enough that their segment is sealed, and gets a footer.
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(db->Put({}, KeyOf(i), LargeValue(i)).ok());
    ASSERT_TRUE(db->Flush({}).ok());
    ASSERT_TRUE(db->WaitForCompact().ok());
    ASSERT_TRUE(db->Close().ok());
  }
  std::string file;
  std::string bytes;
  for (const auto& [path, content] : FilesIn(Path())) {
    const bool has_both = path.ends_with(".log") && content.find("older") != std::string::npos;
    if (has_both) file = Path() + "/" + path, bytes = content;
  }
  ASSERT_NE(file, "");
  FlipByte(file, bytes.find("older"));
  const Ended dead = RunTool("verify --deep " + Path());
  EXPECT_EQ(dead.exit_code, kClean) << dead.output;
  EXPECT_NE(dead.output.find("dead damage, without effect: 1\n"), std::string::npos) << dead.output;
  FlipByte(file, bytes.find("newer"));
  const Ended live = RunTool("verify --deep " + Path());
  EXPECT_EQ(live.exit_code, kDamage) << live.output;
  EXPECT_NE(live.output.find("problems: 1\n"), std::string::npos) << live.output;
}

TEST_F(ToolVerifyTest, FlippedByteInTheTreeIsDamage) {
  MakeDatabase();
  const std::string file = FileLike(".idx");
  FlipByte(file, kFirstPage + 200);
  ExpectDamage(file, "");
}

TEST_F(ToolVerifyTest, FlippedByteInARunIsDamage) {
  MakeDatabase();
  const std::string file = FilesLike(".run").front();
  FlipByte(file, kFirstPage + 200);
  ExpectDamage(file, "");
}

TEST_F(ToolVerifyTest, FlippedByteInTheManifestIsDamage) {
  MakeDatabase();
  const std::string file = FileLike("MANIFEST-");
  FlipByte(file, 128 + 40 + 8);  // in the snapshot, before later records
  ExpectDamage(file, "");
}

TEST_F(ToolVerifyTest, FlippedByteInALogHeaderIsDamage) {
  MakeDatabase();
  const std::string file = FileLike(".log");
  FlipByte(file, 60);
  ExpectDamage(file, "");
}

// Without --deep values are not read, and the report says so.
TEST_F(ToolVerifyTest, FlippedByteInAValueIsFoundByDeep) {
  MakeDatabase();
  const std::string file = FileLike(".log");
  const std::size_t value = ReadFile(file).find(LargeValue(80));
  ASSERT_NE(value, std::string::npos);
  FlipByte(file, value + 300);
  const Ended shallow = RunTool("verify " + Path());
  EXPECT_EQ(shallow.exit_code, kClean) << shallow.output;
  EXPECT_NE(shallow.output.find("not read (--deep reads them)"), std::string::npos) << shallow.output;
  ExpectDamage(file, " --deep");
}

TEST_F(ToolVerifyTest, MissingFileOfTheTreeIsDamage) {
  MakeDatabase();
  const std::string file = FileLike(".idx");
  std::filesystem::remove(file);
  ExpectDamage(file, "");
}

TEST_F(ToolVerifyTest, ForeignFileIsANoteNotDamage) {
  MakeDatabase();
  std::ofstream(Path() + "/shopping list") << "seeds";
  const Ended ended = RunTool("verify " + Path());
  EXPECT_EQ(ended.exit_code, kClean) << ended.output;
  EXPECT_NE(ended.output.find("shopping list"), std::string::npos) << ended.output;
}

TEST_F(ToolVerifyTest, DatabaseOpenForWritingIsLocked) {
  const std::unique_ptr<DB> db = Open();
  ASSERT_TRUE(db->Put({}, "key", "value").ok());
  const Ended ended = RunTool("verify " + Path());
  EXPECT_EQ(ended.exit_code, kLocked) << ended.output;
  const Ended printed = RunTool("verify --json " + Path());
  EXPECT_EQ(printed.exit_code, kLocked);
  const auto json = nlohmann::json::parse(printed.output, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << printed.output;
  EXPECT_EQ(json.at("result"), "locked");
  EXPECT_EQ(json.at("complete"), false);
  EXPECT_TRUE(json.at("error").is_string());
}

TEST_F(ToolVerifyTest, ForeignDirectoryCannotBeVerified) {
  const Ended missing = RunTool("verify " + Path());
  EXPECT_EQ(missing.exit_code, kCannot) << missing.output;
  std::filesystem::create_directory(Path());
  const Ended empty = RunTool("verify " + Path());
  EXPECT_EQ(empty.exit_code, kCannot) << empty.output;
  EXPECT_TRUE(std::filesystem::is_empty(Path()));
}

// Regression: byte order was assumed, unless a flag named another order.
TEST_F(ToolVerifyTest, DatabaseInReverseOrderNeedsNoFlag) {
  const std::unique_ptr<DB> db = Open(ReverseBytewiseComparator());
  ASSERT_TRUE(db->Put({}, "a", "1").ok());
  ASSERT_TRUE(db->Put({}, "b", "2").ok());
  ASSERT_TRUE(db->Flush({}).ok());
  ASSERT_TRUE(db->Close().ok());
  const Ended unsaid = RunTool("verify --deep " + Path());
  EXPECT_EQ(unsaid.exit_code, kClean) << unsaid.output;
  const Ended wrong = RunTool("verify " + Path() + " --comparator=bytewise");
  EXPECT_EQ(wrong.exit_code, kCannot) << wrong.output;
  EXPECT_NE(wrong.output.find("cambium.ReverseBytewiseComparator"), std::string::npos) << wrong.output;
  const Ended right = RunTool("verify " + Path() + " --comparator=reverse-bytewise");
  EXPECT_EQ(right.exit_code, kClean) << right.output;
}

// wal_recovery_mode decides what is damage in the log; reads and writes take it from the OPTIONS file. (Regression:
// verify, stats and dump assumed the default. They called some databases clean that could not be opened, and called
// some damaged that could be opened.)
TEST_F(ToolVerifyTest, AllCommandsUseTheStoredRecoveryMode) {
  struct Case {
    WALRecoveryMode mode;
    const char* name;
    bool is_torn;  // true: torn by a crash; false: damaged before the synced end
    int expected;
  };
  const std::vector<Case> cases = {
      {WALRecoveryMode::kTolerateCorruptedTailRecords, "kTolerateCorruptedTailRecords", true, kClean},
      {WALRecoveryMode::kTolerateCorruptedTailRecords, "kTolerateCorruptedTailRecords", false, kDamage},
      {WALRecoveryMode::kAbsoluteConsistency, "kAbsoluteConsistency", true, kDamage},
      {WALRecoveryMode::kAbsoluteConsistency, "kAbsoluteConsistency", false, kDamage},
      {WALRecoveryMode::kPointInTimeRecovery, "kPointInTimeRecovery", true, kClean},
      {WALRecoveryMode::kPointInTimeRecovery, "kPointInTimeRecovery", false, kClean}};
  for (const Case& each : cases) {
    const std::string trace = each.name + std::string(each.is_torn ? ", torn" : ", damaged");
    std::filesystem::remove_all(Path());
    const std::string crashed = directory_.File("crashed");
    std::filesystem::remove_all(crashed);
    {
      Options options;
      options.create_if_missing = true;
      options.wal_recovery_mode = each.mode;
      std::unique_ptr<DB> db;
      ASSERT_TRUE(DB::Open(options, Path(), &db).ok());
      WriteOptions durable;
      durable.sync = true;
      for (const char* const key : {"first", "middle", "last"}) {
        ASSERT_TRUE(db->Put(durable, key, LargeValue(key[0])).ok());
      }
      ASSERT_TRUE(db->Put({}, "unsynced", LargeValue(99)).ok());
      if (each.is_torn) std::filesystem::copy(Path(), crashed);
      ASSERT_TRUE(db->Close().ok());
    }
    if (!each.is_torn) std::filesystem::copy(Path(), crashed);
    for (const auto& [name, bytes] : FilesIn(crashed)) {
      const std::size_t at = bytes.find(each.is_torn ? LargeValue(99) : LargeValue('m'));
      if (!name.ends_with(".log") || at == std::string::npos) continue;
      each.is_torn ? WriteFile(crashed + "/" + name, bytes.substr(0, at + 100)) : FlipByte(crashed + "/" + name, at);
    }
    for (const std::string command : {"verify", "verify --deep", "get", "stats", "dump", "put"}) {
      const std::string arguments = command == "get" ? " first" : command == "put" ? " new value" : "";
      const Ended ended = RunTool(command + " " + crashed + arguments);
      EXPECT_EQ(ended.exit_code, each.expected) << trace << ": " << command << "\n" << ended.output;
      if (command == "verify" || command == "stats") {
        EXPECT_NE(ended.output.find(each.name), std::string::npos) << trace << ": " << ended.output;
      }
    }
  }
}

// Regression: if an OPTIONS name was not a regular file, every command failed, although most do not need the file.
TEST_F(ToolVerifyTest, OptionsNameThatIsNotAFileIsIgnored) {
  for (const bool is_fifo : {true, false}) {
    std::filesystem::remove_all(Path());
    MakeDatabase();
    const std::string name = Path() + "/OPTIONS-000099";
    if (is_fifo) {
      ASSERT_EQ(::mkfifo(name.c_str(), 0600), 0);
    } else {
      std::filesystem::create_directory(name);
    }
    const Ended verified = RunTool("verify " + Path());
    EXPECT_EQ(verified.exit_code, kClean) << verified.output;
    EXPECT_NE(verified.output.find("dead damage, without effect: 1\n"), std::string::npos) << verified.output;
    EXPECT_NE(verified.output.find("recovery mode    kTolerateCorruptedTailRecords, the default"), std::string::npos)
        << verified.output;
    const Ended got = RunTool("get " + Path() + " " + KeyOf(1));
    EXPECT_EQ(got.exit_code, kClean) << got.output;
    const Ended put = RunTool("put " + Path() + " new value");
    EXPECT_EQ(put.exit_code, kClean) << put.output;
  }
}

TEST_F(ToolVerifyTest, WrongUsageExitsWithCannotCheck) {
  EXPECT_EQ(RunTool("").exit_code, kCannot);
  EXPECT_EQ(RunTool("verify").exit_code, kCannot);
  EXPECT_EQ(RunTool("polish " + Path()).exit_code, kCannot);
  EXPECT_EQ(RunTool("verify " + Path() + " --comparator=alphabetical").exit_code, kCannot);
  EXPECT_EQ(RunTool("verify --help").exit_code, kClean);
}

TEST_F(ToolVerifyTest, WrongUsageIsNamed) {
  constexpr const char* kHint = "; see --help\n";
  for (const std::string json : {"", "--json "}) {
    const auto said = [&](const std::string& what) {
      const std::string line = what + kHint;
      return "cambium: " + line + (json.empty() ? "" : nlohmann::json{{"error", line.substr(0, line.size() - 1)}}.dump() + "\n");
    };
    EXPECT_EQ(RunTool(json + "polish DIR").output, said("there is no command \"polish\""));
    EXPECT_EQ(RunTool("backup polish DIR " + json).output, said("there is no command \"polish\""));
    EXPECT_EQ(RunTool("verify " + json).output, said("DIR is required"));
    EXPECT_EQ(RunTool("verify DIR --polish " + json).output, said("The following argument was not expected: --polish"));
    EXPECT_EQ(RunTool(json).output, said("A subcommand is required"));
  }
  const Ended zero = RunTool("restore BACKUPS OUT --id 0");
  EXPECT_EQ(zero.exit_code, kCannot);
  EXPECT_LT(zero.output.size(), 120u) << zero.output;
}

}  // namespace
}  // namespace cambium::testing
