// Commands that copy are killed at moments that are drawn, and run again: the source is whole, and so is what they
// make.
#include <chrono>
#include <functional>

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

  // `forget` takes away what an earlier round has made; `expect` looks at what the last run has made.
  void KillAndRepeat(const std::string& line, const std::string& out, const std::function<void()>& forget,
                     const std::function<void()>& expect) {
    const auto begun = std::chrono::steady_clock::now();
    ASSERT_EQ(RunTool(line).exit_code, kClean);
    const auto micros = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begun).count());
    expect();
    int killed = 0;
    for (std::uint64_t round = 0; round < ScaledCount(8); ++round) {
      forget();
      bool is_done = false;
      // Until one ends by itself, so that what a second kill meets is what a first has left.
      for (int tries = 0; !is_done && tries < 3; ++tries) {
        const std::uint64_t moment = prng_.Uniform(micros + micros / 4);
        const int exit_code = RunAndKill(line, moment);
        is_done = exit_code == kClean;
        if (is_done) continue;
        ++killed;
        // The one before may have been killed when all was done.
        const bool is_there = exit_code == kCannot && std::filesystem::exists(out);
        EXPECT_TRUE(exit_code == kWasKilled || is_there) << exit_code;
      }
      if (std::filesystem::exists(out) && !is_done) is_done = RunTool("verify --deep " + out).exit_code == kClean;
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
    for (const std::string rest : {".tmp", ".importing"}) EXPECT_FALSE(std::filesystem::exists(directory + rest));
  }

  Prng prng_{SeedFromEnvironment(0x6b11)};
  std::string contents_;
};

TEST_F(ToolKilledTest, ACheckpoint) {
  const std::string out = directory_.File("out");
  KillAndRepeat(
      "checkpoint " + Path() + " " + out, out, [&] { std::filesystem::remove_all(out); }, [&] { ExpectCopy(out); });
}

TEST_F(ToolKilledTest, ARestore) {
  const std::string backups = directory_.File("backups");
  const std::string out = directory_.File("out");
  ASSERT_EQ(RunTool("backup create " + Path() + " " + backups).exit_code, kClean);
  KillAndRepeat(
      "restore " + backups + " " + out, out, [&] { std::filesystem::remove_all(out); }, [&] { ExpectCopy(out); });
  EXPECT_EQ(RunTool("backup verify " + backups + " --deep").exit_code, kClean);
}

// Every backup that is listed is whole, whether its command was killed or not.
TEST_F(ToolKilledTest, ABackup) {
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

TEST_F(ToolKilledTest, AnImport) {
  const std::string file = directory_.File("entries");
  const std::string out = directory_.File("out");
  ASSERT_EQ(RunTool("export " + Path() + " " + file).exit_code, kClean);
  KillAndRepeat(
      "import " + out + " " + file, out, [&] { std::filesystem::remove_all(out); }, [&] { ExpectCopy(out); });
}

}  // namespace
}  // namespace cambium::testing
