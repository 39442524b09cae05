// How commands end when the user interrupts them, when their output cannot be written, and when a number is odd: with a
// message, and without remains.
#include <sys/stat.h>

#include <functional>
#include <vector>

#include "testing/scale.h"
#include "testing/seed.h"
#include "tool.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

class ToolEndingsTest : public ToolTest {
 protected:
  void Fill(int keys = 40) const {
    Options options = TheOptions();
    options.write_buffer_size = 1u << 20;
    options.blob_file_size = 1u << 20;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, Path(), &db).ok());
    for (int i = 0; i < keys; ++i) {
      ASSERT_TRUE(db->Put({}, "key" + std::to_string(i), std::string(30'000, static_cast<char>('a' + i % 26))).ok());
    }
    ASSERT_TRUE(db->Close().ok());
  }
  std::string Out() const { return directory_.File("out"); }
  std::string Backups() const { return directory_.File("backups"); }
  std::string Log() const { return directory_.File("said"); }
  // Starts the tool with its output in Log(), and `input` as stdin.
  pid_t Start(const std::string& arguments, const std::string& input = "/dev/null") const {
    const std::string command = "exec " + Tool() + " " + arguments + " <" + input + " >" + Log() + " 2>&1";
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    return child;
  }
  static int End(pid_t child) {
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }
  void ExpectNothingIsLeft(const std::string& out) const {
    for (const std::string rest : {"", ".tmp", ".tmp.mark"}) EXPECT_FALSE(std::filesystem::exists(out + rest)) << rest;
  }
};

// ---- Interrupts ----

// Regression: Ctrl-C left OUT.tmp and OUT.tmp.mark, and said nothing.
TEST_F(ToolEndingsTest, InterruptedImportRemovesItsFiles) {
  const std::string pipe = directory_.File("pipe");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const pid_t child = Start("import " + Out() + " -", pipe);
    ASSERT_GT(child, 0);
    std::FILE* const entries = std::fopen(pipe.c_str(), "wb");
    ASSERT_NE(entries, nullptr);
    std::fputs("{\"cambium_export\":1}\n{\"key\":\"a\",\"value\":\"1\"}\n", entries);
    std::fflush(entries);
    while (!std::filesystem::exists(Out() + ".tmp")) ::usleep(1000);  // from then on it waits for the next entry
    ::kill(child, signal);
    const int status = End(child);
    std::fclose(entries);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    EXPECT_NE(ReadFile(Log()).find("interrupted: " + Out() + " was not created"), std::string::npos) << ReadFile(Log());
    ExpectNothingIsLeft(Out());
    std::filesystem::remove(pipe);
  }
}

// Whenever the signal comes, a command leaves its whole result or nothing.
TEST_F(ToolEndingsTest, InterruptedCommandLeavesAWholeResultOrNothing) {
  Fill(200);
  const std::string entries = directory_.File("entries");
  ASSERT_EQ(RunTool("export " + Path() + " " + entries).exit_code, kClean);
  ASSERT_EQ(RunTool("backup create " + Path() + " " + Backups()).exit_code, kClean);
  Prng prng(SeedFromEnvironment(0x1b7));
  int cut = 0;
  for (const std::string& line :
       {"import " + Out() + " " + entries, "checkpoint " + Path() + " " + Out(), "restore " + Backups() + " " + Out(),
        "convert " + Path() + " " + Out() + " --index lsm", "salvage " + Path() + " " + Out()}) {
    for (std::uint64_t round = 0; round < ScaledCount(4); ++round) {
      SCOPED_TRACE(line);
      const pid_t child = Start(line);
      ASSERT_GT(child, 0);
      ::usleep(static_cast<useconds_t>(prng.Uniform(60'000)));
      ::kill(child, SIGINT);
      const int status = End(child);
      cut += WIFSIGNALED(status) ? 1 : 0;
      EXPECT_FALSE(std::filesystem::exists(Out() + ".tmp"));
      EXPECT_FALSE(std::filesystem::exists(Out() + ".tmp.mark"));
      if (std::filesystem::exists(Out())) {
        EXPECT_EQ(RunTool("verify --deep " + Out()).exit_code, kClean);
        std::filesystem::remove_all(Out());
      }
    }
  }
  EXPECT_GT(cut, 0);
  for (std::uint64_t round = 0; round < ScaledCount(4); ++round) {
    const std::string other = directory_.File("other");
    const pid_t child = Start("backup create " + Path() + " " + other);
    ::usleep(static_cast<useconds_t>(prng.Uniform(60'000)));
    ::kill(child, SIGINT);
    static_cast<void>(End(child));
    if (std::filesystem::exists(other + "/000001.backup")) {
      EXPECT_EQ(RunTool("backup verify --deep " + other).exit_code, kClean);
    } else if (std::filesystem::exists(other + "/files")) {
      EXPECT_TRUE(std::filesystem::is_empty(other + "/files"));
      EXPECT_FALSE(std::filesystem::exists(other + "/staging"));
    }
    std::filesystem::remove_all(other);
  }
}

// ---- Output ----

// Regression: the exit code was 2, without a word.
TEST_F(ToolEndingsTest, OutputThatCannotBeWrittenIsReported) {
  Fill();
  ASSERT_EQ(RunTool("backup create " + Path() + " " + Backups()).exit_code, kClean);
  for (const std::string& line : {"get " + Path() + " key1",
                                  "get " + Path() + " key1 --output -",
                                  "scan " + Path(),
                                  "scan " + Path() + " --count",
                                  "verify " + Path(),
                                  "verify " + Path() + " --json",
                                  "stats " + Path(),
                                  "dump " + Path(),
                                  "manifest " + Path(),
                                  "options " + Path(),
                                  "gc " + Path() + " --dry-run",
                                  "compact " + Path() + " --dry-run",
                                  "export " + Path() + " -",
                                  "backup list " + Backups(),
                                  "backup verify " + Backups(),
                                  "put " + Path() + " k v",
                                  "delete " + Path() + " k",
                                  "salvage " + Path() + " " + Out(),
                                  "checkpoint " + Path() + " " + directory_.File("copy"),
                                  std::string("--help"),
                                  std::string("scan --help"),
                                  std::string("--version")}) {
    const Ended ended = RunTool(line + " 2>&1 >/dev/full", "");
    EXPECT_EQ(ended.exit_code, kCannot) << line;
    EXPECT_NE(ended.output.find("No space left on device"), std::string::npos) << line << ": " << ended.output;
  }
}

// Regression: the closed pipe killed the salvage, and OUT.tmp was left.
TEST_F(ToolEndingsTest, ClosedPipeDoesNotEndASalvage) {
  Fill();
  for (const std::string& file : FilesLike(".log")) {
    const std::string bytes = ReadFile(file);
    for (std::size_t at = 200; at + 1 < bytes.size(); at += 30'000) FlipByte(file, at);
  }
  static_cast<void>(RunCommand("(" + Tool() + " salvage " + Path() + " " + Out() + "; echo $? >" + Log() + ") | true"));
  while (ReadFile(Log()).empty()) ::usleep(1000);
  EXPECT_EQ(ReadFile(Log()), std::to_string(kDamage) + "\n");
  EXPECT_TRUE(std::filesystem::exists(Out()));
  EXPECT_FALSE(std::filesystem::exists(Out() + ".tmp"));
}

// ---- Numbers ----

// Regression: -1 was the largest number, and nan was in every range.
TEST_F(ToolEndingsTest, MalformedNumbersAreRejected) {
  Fill();
  ASSERT_EQ(RunTool("backup create " + Path() + " " + Backups()).exit_code, kClean);
  const auto before = FilesIn(Path());
  for (const std::string& line :
       {"scan " + Path() + " --limit -1", "scan " + Path() + " --limit=-1",
        "scan " + Path() + " --limit 99999999999999999999", "dump " + Path() + " --file -1",
        "backup delete " + Backups() + " --keep -18446744073709551615",
        "backup create " + Path() + " " + Backups() + " --keep -1", "compact " + Path() + " --min-blob-size -1",
        "compact " + Path() + " --target-space-amp nan", "gc " + Path() + " --age-cutoff nan",
        "stats " + Path() + " --least nan", "restore " + Backups() + " " + Out() + " --id -1"}) {
    const Ended ended = RunTool(line);
    EXPECT_EQ(ended.exit_code, kCannot) << line << ": " << ended.output;
    EXPECT_NE(ended.output.find("cambium: "), std::string::npos) << line;
  }
  EXPECT_EQ(FilesIn(Path()), before);
  EXPECT_EQ(RunForJson("backup list " + Backups()).at("backups").size(), 1u);
  EXPECT_EQ(RunTool("scan " + Path() + " --limit 2 --keys-only").output, "key0\nkey1\n");
  EXPECT_EQ(RunTool("scan " + Path() + " --limit 0").exit_code, kClean);
}

// ---- What the system denies ----

// With too few descriptors, or without permission, nothing is known about the database: no loss is reported, and no
// output is left.
class ToolDeniedTest : public ToolEndingsTest {
 protected:
  void ExpectDenied(const std::string& before, const std::string& arguments) const {
    const Ended ended = RunCommand(before + Tool() + " " + arguments);
    EXPECT_EQ(ended.exit_code, kCannot) << arguments << ": " << ended.output;
    EXPECT_EQ(ended.output.find("lost:"), std::string::npos) << ended.output;
    EXPECT_EQ(ended.output.find("Corruption"), std::string::npos) << ended.output;
    ExpectNothingIsLeft(Out());
  }
  std::vector<std::string> Lines() const {
    return {"salvage " + Path() + " " + Out(), "salvage " + Path() + " " + Out() + " --dry-run",
            "checkpoint " + Path() + " " + Out(), "convert " + Path() + " " + Out() + " --index lsm",
            "verify --deep " + Path()};
  }
};

TEST_F(ToolDeniedTest, WithoutDescriptorsNothingIsLost) {
  Fill(200);  // more segments than descriptors
  for (const std::string& line : Lines()) {
    if (line.starts_with("checkpoint")) continue;  // it needs only a few
    ExpectDenied("ulimit -n 8; ", line);
  }
}

TEST_F(ToolDeniedTest, WithoutPermissionNothingIsLost) {
  Fill();
  const std::string as_nobody = ::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  if (RunCommand(as_nobody + "true").exit_code != 0) GTEST_SKIP() << "SKIPPED: setpriv cannot change the user here";
  ASSERT_EQ(::chmod(directory_.File("").c_str(), 0777), 0);
  ASSERT_EQ(::chmod(Path().c_str(), 0777), 0);
  for (const auto& [name, bytes] : FilesIn(Path())) ASSERT_EQ(::chmod((Path() + "/" + name).c_str(), 0666), 0);
  if (RunCommand(as_nobody + Tool() + " options " + Path()).exit_code != kClean) {
    GTEST_SKIP() << "SKIPPED: another user cannot run the tool here";
  }
  for (const std::string part : {"MANIFEST", "OPTIONS", ".log"}) {
    const std::string denied = FilesLike(part).front();
    ASSERT_EQ(::chmod(denied.c_str(), 0), 0);
    for (const std::string& line : Lines()) {
      SCOPED_TRACE(denied);
      const bool may_link = part == ".log" && line.starts_with("checkpoint");  // a link may need no permission
      if (!may_link) ExpectDenied(as_nobody, line);
    }
    ASSERT_EQ(::chmod(denied.c_str(), 0666), 0);
  }
}

}  // namespace
}  // namespace cambium::testing
