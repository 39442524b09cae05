// Commands are killed at random moments, and run again. Their input must be unharmed, and so must be the files that
// they make or change, both after the kill and at the end.
#include <algorithm>
#include <chrono>
#include <functional>
#include <sstream>
#include <vector>

#include "testing/scale.h"
#include "testing/seed.h"
#include "tool.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

class ToolKilledTest : public ToolTest {
 protected:
  void SetUp() override {
    Options options = TheOptions();
    options.write_buffer_size = 1u << 20;
    options.blob_file_size = 1u << 20;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, Path(), &db).ok());
    for (int i = 0; i < 300; ++i) {
      ASSERT_TRUE(db->Put({}, "key" + std::to_string(i), std::string(30'000, static_cast<char>('a' + i % 26))).ok());
    }
    ASSERT_TRUE(db->Close().ok());
    contents_ = Contents(Path());
  }
  static std::string Contents(const std::string& directory) { return RunTool("scan " + directory).output; }

  // `forget` removes the result of an earlier round; `expect` checks the result of the last run.
  void KillAndRepeat(const std::string& line, const std::string& out, const std::function<void()>& forget,
                     const std::function<void()>& expect) {
    const auto begun = std::chrono::steady_clock::now();
    ASSERT_EQ(RunTool(line).exit_code, kClean);
    const auto micros = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun).count());
    expect();
    int killed = 0;
    for (std::uint64_t round = 0; round < ScaledCount(4); ++round) {
      forget();
      bool is_done = false;
      // Repeat until a run ends by itself, so that later runs start with the files that killed runs left.
      for (int tries = 0; !is_done && tries < 3; ++tries) {
        const std::uint64_t moment = prng_.Uniform(micros + micros / 4);
        const int exit_code = RunAndKill(line, moment);
        is_done = exit_code == kClean;
        if (is_done) continue;
        ++killed;
        // The previous run may have been killed after all its work was done.
        const bool is_there = exit_code == kCannot && std::filesystem::exists(out);
        EXPECT_TRUE(exit_code == kWasKilled || is_there) << exit_code;
      }
      if (std::filesystem::exists(out) && !is_done) {
        is_done = RunTool("verify --deep " + out).exit_code == kClean;
        // If the command was killed after the rename, a mark may be left, which the next call removes.
        EXPECT_FALSE(std::filesystem::exists(out + ".tmp"));
        EXPECT_EQ(RunTool(line).exit_code, kCannot);
      }
      if (!is_done) {
        const Ended again = RunTool(line);
        EXPECT_EQ(again.exit_code, kClean) << again.output;
      }
      expect();
      EXPECT_TRUE(Contents(Path()) == contents_);
    }
    EXPECT_GT(killed, 0);
    EXPECT_EQ(RunTool("verify --deep " + Path()).exit_code, kClean);
  }
  void ExpectCopy(const std::string& directory) const {
    EXPECT_TRUE(Contents(directory) == contents_) << directory;
    EXPECT_EQ(RunTool("verify --deep " + directory).exit_code, kClean);
    for (const std::string rest : {".tmp", ".tmp.mark"}) EXPECT_FALSE(std::filesystem::exists(directory + rest));
  }

  // As above, for a command that changes existing files, which `reset` restores. `expect_half` checks the files after a
  // kill, `expect` those after an undisturbed run.
  void KillAndRepeatThere(const std::string& line, const std::function<void()>& reset,
                          const std::function<void()>& expect_half, const std::function<void()>& expect) {
    reset();
    const auto begun = std::chrono::steady_clock::now();
    ASSERT_EQ(RunTool(line).exit_code, kClean);
    const auto micros = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun).count());
    expect();
    int killed = 0;
    for (std::uint64_t round = 0; round < ScaledCount(4); ++round) {
      reset();
      for (int tries = 0; tries < 2; ++tries) {
        const int exit_code = RunAndKill(line, prng_.Uniform(micros + micros / 4));
        EXPECT_TRUE(exit_code == kWasKilled || exit_code == kClean) << exit_code;
        killed += exit_code == kWasKilled ? 1 : 0;
        expect_half();
      }
      const Ended again = RunTool(line);
      EXPECT_EQ(again.exit_code, kClean) << again.output;
      expect();
      EXPECT_EQ(RunTool("verify --deep " + Path()).exit_code, kClean);
    }
    EXPECT_GT(killed, 0);
  }
  // Keeps a copy of the database. Returns a function that restores it.
  std::function<void()> ResetDatabase() const {
    const std::string kept = directory_.File("kept");
    std::filesystem::copy(Path(), kept);
    return [this, kept] {
      std::filesystem::remove_all(Path());
      std::filesystem::copy(kept, Path());
    };
  }

  Prng prng_{SeedFromEnvironment(0x6b11)};
  std::string contents_;
};

TEST_F(ToolKilledTest, Checkpoint) {
  const std::string out = directory_.File("out");
  KillAndRepeat(
      "checkpoint " + Path() + " " + out, out, [&] { std::filesystem::remove_all(out); }, [&] { ExpectCopy(out); });
}

TEST_F(ToolKilledTest, Restore) {
  const std::string backups = directory_.File("backups");
  const std::string out = directory_.File("out");
  ASSERT_EQ(RunTool("backup create " + Path() + " " + backups).exit_code, kClean);
  KillAndRepeat(
      "restore " + backups + " " + out, out, [&] { std::filesystem::remove_all(out); }, [&] { ExpectCopy(out); });
  EXPECT_EQ(RunTool("backup verify " + backups + " --deep").exit_code, kClean);
}

// Every listed backup is complete, whether its command was killed or not.
TEST_F(ToolKilledTest, Backup) {
  const std::string backups = directory_.File("backups");
  const std::string out = directory_.File("out");
  KillAndRepeat(
      "backup create " + Path() + " " + backups, directory_.File("none"), [&] { std::filesystem::remove_all(backups); },
      [&] {
        std::filesystem::remove_all(out);
        EXPECT_EQ(RunTool("backup verify " + backups + " --deep").exit_code, kClean);
        EXPECT_EQ(RunTool("restore " + backups + " " + out).exit_code, kClean);
        ExpectCopy(out);
      });
}

TEST_F(ToolKilledTest, Salvage) {
  const std::string out = directory_.File("out");
  KillAndRepeat(
      "salvage " + Path() + " " + out, out, [&] { std::filesystem::remove_all(out); }, [&] { ExpectCopy(out); });
}

TEST_F(ToolKilledTest, LogGc) {
  {
    Options options = TheOptions();
    options.blob_file_size = 1u << 20;
    options.enable_blob_garbage_collection = false;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, Path(), &db).ok());
    for (int i = 0; i < 300; i += 2) ASSERT_TRUE(db->Put({}, "key" + std::to_string(i), std::string(30'000, 'z')).ok());
    ASSERT_TRUE(db->Flush({}).ok());
    ASSERT_TRUE(db->Close().ok());
  }
  contents_ = Contents(Path());
  const auto expect = [&] { EXPECT_TRUE(Contents(Path()) == contents_); };
  const std::string line = "gc " + Path() + " --force --age-cutoff 1 --compact";
  const auto reset = ResetDatabase();
  EXPECT_GT(RunForJson(line).at("segments_emptied"), 3);
  KillAndRepeatThere(line, reset, expect, expect);
}

// The key has the old value or the new one, never a part.
TEST_F(ToolKilledTest, Put) {
  for (const std::size_t size : {std::size_t{20'000}, std::size_t{12} << 20}) {
    const std::string file = directory_.File("value");
    WriteFile(file, std::string(size, 'n'));
    const std::string got = directory_.File("got");
    const auto get = [&] {
      EXPECT_EQ(RunTool("get " + Path() + " key7 --output " + got).exit_code, kClean);
      return ReadFile(got);
    };
    const auto reset = ResetDatabase();
    KillAndRepeatThere(
        "put " + Path() + " key7 --value-file " + file, reset,
        [&] {
          const std::string value = get();
          EXPECT_TRUE(value == std::string(30'000, 'h') || value == std::string(size, 'n')) << value.size();
        },
        [&] { EXPECT_TRUE(get() == std::string(size, 'n')); });
    reset();
    std::filesystem::remove_all(directory_.File("kept"));
  }
}

// Either all keys of the range are deleted or none; deleting them again succeeds.
TEST_F(ToolKilledTest, DeleteRange) {
  const auto count = [&] { return RunTool("scan " + Path() + " --count").output; };
  KillAndRepeatThere(
      "delete " + Path() + " key1 --end key2", ResetDatabase(),
      [&] {
        const std::string left = count();
        EXPECT_TRUE(left == "300\n" || left == "189\n") << left;
      },
      [&] { EXPECT_EQ(count(), "189\n"); });
}

TEST_F(ToolKilledTest, Export) {
  const std::string folder = directory_.File("folder");
  const std::string file = folder + "/entries";
  const std::string whole = RunTool("export " + Path() + " -", "2>/dev/null").output;
  const auto expect_beside = [&](const std::vector<std::string>& contents) {
    const auto files = FilesIn(folder);
    EXPECT_TRUE(std::ranges::find(contents, files.at("entries")) != contents.end()) << files.at("entries").size();
    EXPECT_LE(files.size(), 2u) << "one that was killed between two names";
  };
  KillAndRepeatThere(
      "export " + Path() + " " + file,
      [&] {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directory(folder);
        WriteFile(file, "old");
      },
      [&] { expect_beside({"old", whole}); }, [&] { expect_beside({whole}); });
}

// Each key has its old value or the new one.
TEST_F(ToolKilledTest, ImportIntoAnExistingDatabase) {
  const std::string file = directory_.File("entries");
  std::string text = "{\"cambium_export\":1}\n";
  for (int i = 0; i < 400; ++i) {
    text += "{\"key\":\"key" + std::to_string(i) + "\",\"value\":\"" + std::string(30'000, 'N') + "\"}\n";
  }
  WriteFile(file, text + "{\"end\":true,\"entries\":400}\n");
  const auto expect = [&](bool is_done) {
    std::map<std::string, std::string> now;
    std::istringstream lines(Contents(Path()));
    for (std::string key, value; std::getline(lines, key, '\t') && std::getline(lines, value);) now[key] = value;
    for (int i = 0; i < 400; ++i) {
      const auto found = now.find("key" + std::to_string(i));
      const bool is_new = found != now.end() && found->second == std::string(30'000, 'N');
      const bool is_old = i < 300 ? found != now.end() && found->second == std::string(30'000, static_cast<char>('a' + i % 26))
                                  : found == now.end();
      EXPECT_TRUE(is_new || (is_old && !is_done)) << i;
    }
  };
  KillAndRepeatThere("import " + Path() + " " + file + " --add", ResetDatabase(), [&] { expect(false); },
                     [&] { expect(true); });
}

TEST_F(ToolKilledTest, Conversion) {
  const std::string out = directory_.File("out");
  KillAndRepeat(
      "convert " + Path() + " " + out + " --index lsm", out, [&] { std::filesystem::remove_all(out); },
      [&] { ExpectCopy(out); });
}

// Every backup that is still listed can be restored, and at the end every remaining file belongs to a backup.
class ToolKilledDeletionTest : public ToolKilledTest {
 protected:
  std::string Backups() const { return directory_.File("backups"); }
  std::string Kept() const { return directory_.File("kept"); }
  void SetUp() override {
    ToolKilledTest::SetUp();
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(RunTool("put " + Path() + " more" + std::to_string(i) + " " + std::string(3000, 'm')).exit_code, kClean);
      ASSERT_EQ(RunTool("backup create " + Path() + " " + Backups()).exit_code, kClean);
    }
    contents_ = Contents(Path());
    std::filesystem::copy(Backups(), Kept(), std::filesystem::copy_options::recursive);
  }
  void Forget() const {
    std::filesystem::remove_all(Backups());
    std::filesystem::copy(Kept(), Backups(), std::filesystem::copy_options::recursive);
  }
  void ExpectOne() const {
    const nlohmann::json list = RunForJson("backup list " + Backups());
    ASSERT_EQ(list.at("backups").size(), 1u);
    EXPECT_EQ(RunTool("backup verify " + Backups() + " --deep").exit_code, kClean);
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(Backups() + "/files")) ++files;
    EXPECT_EQ(files, list.at("backups").at(0).at("files"));
    EXPECT_FALSE(std::filesystem::exists(Backups() + "/staging"));
    const std::string out = directory_.File("restored");
    std::filesystem::remove_all(out);
    EXPECT_EQ(RunTool("restore " + Backups() + " " + out).exit_code, kClean);
    ExpectCopy(out);
  }
};

TEST_F(ToolKilledDeletionTest, DeletionOfBackups) {
  KillAndRepeat(
      "backup delete " + Backups() + " --keep 1", directory_.File("none"), [&] { Forget(); }, [&] { ExpectOne(); });
}

TEST_F(ToolKilledDeletionTest, BackupThatDeletesOlderOnes) {
  KillAndRepeat(
      "backup create " + Path() + " " + Backups() + " --keep 1", directory_.File("none"), [&] { Forget(); },
      [&] { ExpectOne(); });
}

TEST_F(ToolKilledTest, Import) {
  const std::string file = directory_.File("entries");
  const std::string out = directory_.File("out");
  ASSERT_EQ(RunTool("export " + Path() + " " + file).exit_code, kClean);
  KillAndRepeat(
      "import " + out + " " + file, out, [&] { std::filesystem::remove_all(out); }, [&] { ExpectCopy(out); });
}

}  // namespace
}  // namespace cambium::testing
