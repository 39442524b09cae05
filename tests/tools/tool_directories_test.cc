// If a command cannot work on a directory, it reports why, and leaves the directory unchanged. Tests all commands.
#include <sys/mount.h>

#include <functional>
#include <vector>

#include "tool.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace cambium::testing {
namespace {

struct Command {
  const char* name;
  std::string line;     // DIR, OUT and BACKUPS stand for directories
  bool writes = false;  // to DIR
};

std::vector<Command> Commands() {
  return {{"verify", "verify DIR"},
          {"get", "get DIR key"},
          {"put", "put DIR key value", true},
          {"delete", "delete DIR key", true},
          {"scan", "scan DIR"},
          {"options", "options DIR"},
          {"compact", "compact DIR", true},
          {"compact --dry-run", "compact DIR --dry-run"},
          {"export", "export DIR -"},
          {"import", "import DIR ENTRIES --add", true},
          {"import --dry-run", "import DIR ENTRIES --add --dry-run", true},
          {"checkpoint --dry-run", "checkpoint DIR OUT --dry-run"},
          {"backup --dry-run", "backup create DIR BACKUPS --dry-run"},
          {"checkpoint", "checkpoint DIR OUT"},
          {"convert --dry-run", "convert DIR COPY --dry-run --index " + std::string(TestsUseLsm() ? "btree" : "lsm")},
          {"convert", "convert DIR COPY --index " + std::string(TestsUseLsm() ? "btree" : "lsm")},
                    {"backup", "backup create DIR BACKUPS"},
          {"stats", "stats DIR"},
          {"dump", "dump DIR"},
          {"manifest", "manifest DIR"},
          {"gc", "gc DIR", true},
          {"gc --dry-run", "gc DIR --dry-run"}};
}

class ToolDirectoriesTest : public ToolTest {
 protected:
  static std::string Other() { return TestsUseLsm() ? "btree" : "lsm"; }
  ToolDirectoriesTest() {
    WriteFile(directory_.File("entries"), "{\"cambium_export\":1}\n{\"end\":true,\"entries\":0}\n");
  }
  std::string LineFor(const Command& command) const {
    std::string line = command.line;
    for (const auto& [word, path] : {std::pair{"DIR", Path()}, {"OUT", directory_.File("out")}, {"BACKUPS", directory_.File("backups")}, {"ENTRIES", directory_.File("entries")}, {"COPY", directory_.File("copy")}}) {
      const std::size_t at = line.find(word);
      if (at != std::string::npos) line.replace(at, std::string(word).size(), path);
    }
    return line;
  }
  void Make() const {
    const std::unique_ptr<DB> db = Open();
    ASSERT_TRUE(db->Put({}, "key", std::string(1000, 'v')).ok());
    ASSERT_TRUE(db->Flush({}).ok());
    ASSERT_TRUE(db->Close().ok());
  }
  // Expects the exit code, and an error that names the directory, as text and as JSON.
  void ExpectAll(const std::function<int(const Command&)>& expected) const {
    for (const Command& command : Commands()) {
      const std::string line = LineFor(command);
      const int code = expected(command);
      const Ended ended = RunTool(line);
      EXPECT_EQ(ended.exit_code, code) << line << "\n" << ended.output;
      if (code == kClean) continue;
      EXPECT_NE(ended.output.find(Path()), std::string::npos) << line << "\n" << ended.output;
      const nlohmann::json json = RunForJson(line, code);
      EXPECT_TRUE(std::string(command.name) == "verify" || json.at("error").is_string()) << line;
    }
    EXPECT_FALSE(std::filesystem::exists(directory_.File("out")));
    EXPECT_FALSE(std::filesystem::exists(directory_.File("copy")));
  }
};

TEST_F(ToolDirectoriesTest, MissingDirectoryIsReported) {
  ExpectAll([](const Command&) { return kCannot; });
  EXPECT_FALSE(std::filesystem::exists(Path()));
}

TEST_F(ToolDirectoriesTest, EmptyDirectoryIsReported) {
  std::filesystem::create_directory(Path());
  ExpectAll([](const Command&) { return kCannot; });
  EXPECT_TRUE(std::filesystem::is_empty(Path()));
}

TEST_F(ToolDirectoriesTest, ForeignDirectoryIsReported) {
  std::filesystem::create_directory(Path());
  WriteFile(Path() + "/shopping list", "seeds");
  ExpectAll([](const Command&) { return kCannot; });
  EXPECT_EQ(FilesIn(Path()).size(), 1u);
}

TEST_F(ToolDirectoriesTest, FileInsteadOfADirectoryIsReported) {
  WriteFile(Path(), "seeds");
  ExpectAll([](const Command&) { return kCannot; });
  EXPECT_EQ(ReadFile(Path()), "seeds");
}

TEST_F(ToolDirectoriesTest, DatabaseOpenForWritingIsLocked) {
  Make();
  const std::unique_ptr<DB> db = Open();
  ExpectAll([](const Command& command) { return std::string(command.name) == "options" ? kClean : kLocked; });
}

// While a reader has the database open, commands that read it work, and commands that write it fail.
TEST_F(ToolDirectoriesTest, DatabaseOpenForReadingAllowsReadingCommands) {
  Make();
  std::unique_ptr<DB> db;
  ASSERT_TRUE(DB::OpenForReadOnly(TheOptions(), Path(), &db).ok());
  for (const Command& command : Commands()) {
    const Ended ended = RunTool(LineFor(command));
    EXPECT_EQ(ended.exit_code, command.writes ? kLocked : kClean) << command.name << "\n" << ended.output;
  }
}

TEST_F(ToolDirectoriesTest, LaterVersionIsNotSupported) {
  Make();
  for (const auto& [name, bytes] : FilesIn(Path())) {
    if (!name.starts_with("MANIFEST")) continue;
    std::string later = bytes;
    later[8] = 9;  // the version in the header of every file, and the header's checksum
    EncodeFixed<std::uint64_t>(later.data() + 120, Checksum64(Slice(later).substr(0, 120), 0));
    WriteFile(Path() + "/" + name, later);
  }
  const auto before = FilesIn(Path());
  ExpectAll([](const Command& command) { return std::string(command.name) == "options" ? kClean : kCannot; });
  EXPECT_EQ(FilesIn(Path()), before);
}

TEST_F(ToolDirectoriesTest, DamagedDatabaseIsReported) {
  Make();
  FlipByte(FileLike("MANIFEST"), 128 + 40 + 8);
  const auto before = FilesIn(Path());
  ExpectAll([](const Command& command) { return std::string(command.name) == "options" ? kClean : kDamage; });
  EXPECT_EQ(FilesIn(Path()), before);
}

// On a file system mounted read-only, commands that only read work.
TEST_F(ToolDirectoriesTest, ReadOnlyFileSystemAllowsReadingCommands) {
  Make();
  if (::mount(Path().c_str(), Path().c_str(), nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "SKIPPED: nothing can be mounted here";
  }
  const bool is_read_only = ::mount(nullptr, Path().c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
  if (is_read_only) {
    for (const Command& command : Commands()) {
      const Ended ended = RunTool(LineFor(command));
      EXPECT_EQ(ended.exit_code, command.writes ? kCannot : kClean) << command.name << "\n" << ended.output;
    }
  }
  ::umount2(Path().c_str(), MNT_DETACH);
  if (!is_read_only) GTEST_SKIP() << "SKIPPED: nothing can be mounted read-only here";
}

// On a full file system the command reports it, and the database is unchanged.
TEST_F(ToolDirectoriesTest, FullFileSystemChangesNothing) {
  const std::string mount = directory_.File("mount");
  std::filesystem::create_directory(mount);
  if (::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=16m") != 0) GTEST_SKIP() << "SKIPPED: nothing can be mounted here";
  {
    std::unique_ptr<DB> db;
    EXPECT_TRUE(DB::Open(TheOptions(), mount + "/db", &db).ok());
    EXPECT_TRUE(db->Put({}, "key", std::string(1000, 'v')).ok());
    EXPECT_TRUE(db->Close().ok());
  }
  EXPECT_EQ(RunTool("backup create " + mount + "/db " + directory_.File("backups")).exit_code, kClean);
  {
    std::ofstream filler(mount + "/filler", std::ios::binary);
    const std::string block(4096, 'f');
    while (filler.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }
  WriteFile(directory_.File("value"), std::string(1 << 20, 'v'));
  WriteFile(directory_.File("one"), "{\"cambium_export\":1}\n{\"key\":\"a\",\"value\":\"" + std::string(9000, 'v') +
                                        "\"}\n{\"end\":true,\"entries\":1}\n");
  for (const std::string& line : {"put " + mount + "/db large --value-file " + directory_.File("value"),
                                 "checkpoint " + mount + "/db " + mount + "/copy",
                                 "checkpoint " + mount + "/db " + mount + "/copy --dry-run",
                                 "convert " + mount + "/db " + mount + "/copy --index " + Other(),
                                 "convert " + mount + "/db " + mount + "/copy --dry-run --index " + Other(),
                                 "backup create " + mount + "/db " + mount + "/backups --dry-run",
                                 "restore " + directory_.File("backups") + " " + mount + "/copy",
                                 "restore " + directory_.File("backups") + " " + mount + "/copy --dry-run",
                                 "import " + mount + "/copy " + directory_.File("entries"),
                                 "import " + mount + "/db " + directory_.File("one") + " --add",
                                 "delete " + mount + "/db key",
                                 "gc " + mount + "/db",
                                 "export " + mount + "/db " + mount + "/copy",
                                 "salvage " + mount + "/db " + mount + "/copy",
                                 "backup create " + mount + "/db " + mount + "/backups"}) {
    const Ended ended = RunTool(line);
    EXPECT_EQ(ended.exit_code, kCannot) << line << "\n" << ended.output;
    EXPECT_NE(ended.output.find("o space"), std::string::npos) << line << "\n" << ended.output;
  }
  EXPECT_FALSE(std::filesystem::exists(mount + "/copy"));
  std::filesystem::remove(mount + "/filler");
  EXPECT_EQ(RunTool("verify " + mount + "/db --deep").exit_code, kClean);
  EXPECT_EQ(RunTool("get " + mount + "/db key").output, std::string(1000, 'v') + "\n");
  ::umount2(mount.c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace cambium::testing
