// cambium compact: what it says, what it ends with, and that it may be killed.
#include <map>
#include <string>

#include "tool.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

class ToolCompactTest : public ToolTest {
 protected:
  // Two thirds of it are garbage.
  void Make(int keys = 60, std::size_t value_size = 2000) {
    Options options = TheOptions();
    options.enable_blob_garbage_collection = false;
    options.max_space_amplification = 0;
    options.blob_file_size = 64u << 10;
    std::unique_ptr<DB> db;
    ASSERT_TRUE(DB::Open(options, Path(), &db).ok());
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < keys; ++i) {
        const std::string key = "key" + std::to_string(i);
        known_[key] = std::string(value_size, static_cast<char>('a' + round)) + std::to_string(i);
        ASSERT_TRUE(db->Put({}, key, known_[key]).ok());
      }
    }
    ASSERT_TRUE(db->Close().ok());
  }
  void ExpectWhole() const {
    const Ended verified = RunTool("verify " + Path() + " --deep");
    EXPECT_EQ(verified.exit_code, kClean) << verified.output;
    EXPECT_EQ(RunTool("scan " + Path() + " --count").output, std::to_string(known_.size()) + "\n");
    for (const auto& [key, value] : known_) ASSERT_EQ(RunTool("get " + Path() + " " + key).output, value + "\n");
  }
  std::map<std::string, std::string> known_;
};

TEST_F(ToolCompactTest, WhatItSaysIsWhatItDoes) {
  Make();
  const auto before = FilesIn(Path());
  const nlohmann::json dry = RunForJson("compact " + Path() + " --dry-run");
  EXPECT_EQ(FilesIn(Path()), before);
  EXPECT_FALSE(dry.contains("fact"));
  const nlohmann::json done = RunForJson("compact " + Path());
  EXPECT_EQ(done.at("forecast"), done.at("fact"));
  EXPECT_EQ(dry.at("forecast").at("bytes_written"), done.at("fact").at("bytes_written"));
  EXPECT_EQ(done.at("fact").at("values"), 60);
  EXPECT_TRUE(done.at("forecast_is_exact").get<bool>());
  EXPECT_LT(done.at("log_bytes_after").get<double>(), 1.05 * done.at("live_bytes").get<double>());
  const Ended again = RunTool("compact " + Path());
  EXPECT_EQ(again.exit_code, kClean);
  EXPECT_NE(again.output.find("forecast:  0 bytes read, 0 written, 0 freed; 0 values out of 0 segments\n"),
            std::string::npos) << again.output;
  EXPECT_NE(again.output.find("fact:      0 bytes read, 0 written"), std::string::npos) << again.output;
  ExpectWhole();
}

TEST_F(ToolCompactTest, ValuesTakeTheFormThatIsAskedFor) {
  Make(60, 800);
  const nlohmann::json packed = RunForJson("compact " + Path() + " --recompress zstd --cluster");
  EXPECT_FALSE(packed.at("forecast_is_exact").get<bool>());
  EXPECT_LT(packed.at("log_bytes_after").get<int>(), 60 * 200);
  EXPECT_NE(RunTool("options " + Path() + " --changed").output.find("blob_compression_type=kZSTD"), std::string::npos);
  RunForJson("compact " + Path() + " --min-blob-size 4k");
  ExpectWhole();
  EXPECT_EQ(RunForJson("verify " + Path()).at("live_references"), 0);
}

TEST_F(ToolCompactTest, KilledItLeavesAWholeDatabaseAndGoesOn) {
  int killed = 0;
  for (const std::uint64_t micros : {10'000, 20'000, 30'000, 50'000, 80'000}) {
    Make(100, 20'000);
    killed += RunAndKill("compact " + Path(), micros) == kWasKilled ? 1 : 0;
    EXPECT_EQ(RunTool("verify " + Path() + " --deep").exit_code, kClean);
  }
  EXPECT_GT(killed, 0) << "each was done before it was killed";
  const nlohmann::json done = RunForJson("compact " + Path());
  EXPECT_EQ(done.at("forecast"), done.at("fact"));
  ExpectWhole();
}

TEST_F(ToolCompactTest, WhatCannotBeMeantIsRefused) {
  Make(5);
  EXPECT_EQ(RunTool("compact " + Path() + " --target-space-amp 0.5").exit_code, kCannot);
  EXPECT_EQ(RunTool("compact " + Path() + " --recompress brotli").exit_code, kCannot);
  EXPECT_EQ(RunTool("compact " + Path() + " --min-blob-size many").exit_code, kCannot);
  EXPECT_NE(RunTool("compact --help").output.find("--target-space-amp"), std::string::npos);
}

TEST_F(ToolCompactTest, DamageIsLeftAlone) {
  Make();
  std::string victim;
  std::size_t at = std::string::npos;
  for (const auto& entry : std::filesystem::directory_iterator(Path())) {
    const std::string bytes = ReadFile(entry.path());
    const std::size_t found = bytes.find(std::string(2000, 'c'));
    if (found != std::string::npos) victim = entry.path(), at = found;
  }
  ASSERT_NE(at, std::string::npos);
  RunTool("compact " + Path() + " --target-space-amp 1000");  // all is flushed
  FlipByte(victim, at + 1000);
  const nlohmann::json done = RunForJson("compact " + Path(), kDamage);
  ASSERT_EQ(done.at("damaged").size(), 1u);
  EXPECT_NE(done.at("damaged")[0].get<std::string>().find(victim), std::string::npos);
  const Ended again = RunTool("compact " + Path());
  EXPECT_EQ(again.exit_code, kDamage);
  EXPECT_NE(again.output.find("damaged, and left alone: " + victim), std::string::npos) << again.output;
}

}  // namespace
}  // namespace cambium::testing
