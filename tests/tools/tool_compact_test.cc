// cambium compact: output, exit codes, and kills.
#include <sys/mount.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "tool.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

class ToolCompactTest : public ToolTest {
 protected:
  // Two thirds of its log are garbage.
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

TEST_F(ToolCompactTest, ForecastIsExact) {
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

// Bytes are also shown in KiB; counts of values and segments are not.
TEST_F(ToolCompactTest, CountsAreNotShownAsBytes) {
  Make(1100, 600);
  const Ended dry = RunTool("compact " + Path() + " --dry-run");
  EXPECT_EQ(dry.exit_code, kClean);
  EXPECT_NE(dry.output.find("; 1100 values out of "), std::string::npos) << dry.output;
}

TEST_F(ToolCompactTest, RecompressAndMinBlobSizeRewriteValues) {
  Make(60, 800);
  const nlohmann::json packed = RunForJson("compact " + Path() + " --recompress zstd --cluster");
  EXPECT_FALSE(packed.at("forecast_is_exact").get<bool>());
  EXPECT_LT(packed.at("log_bytes_after").get<int>(), 60 * 200);
  EXPECT_NE(RunTool("options " + Path() + " --changed").output.find("blob_compression_type=kZSTD"), std::string::npos);
  RunForJson("compact " + Path() + " --min-blob-size 4k");
  ExpectWhole();
  EXPECT_EQ(RunForJson("verify " + Path()).at("live_references"), 0);
}

TEST_F(ToolCompactTest, ContinuesAfterAKill) {
  for (const std::string how : {"", " --cluster", " --recompress zstd"}) {
    SCOPED_TRACE(how);
    int killed = 0;
    for (const std::uint64_t micros : {10'000, 20'000, 30'000, 50'000, 80'000}) {
      Make(100, 20'000);
      killed += RunAndKill("compact " + Path() + how, micros) == kWasKilled ? 1 : 0;
      EXPECT_EQ(RunTool("verify " + Path() + " --deep").exit_code, kClean);
    }
    EXPECT_GT(killed, 0) << "each was done before it was killed";
    const nlohmann::json done = RunForJson("compact " + Path() + how);
    if (how.empty()) {
      EXPECT_EQ(done.at("forecast"), done.at("fact"));
    }
    EXPECT_EQ(RunForJson("compact " + Path() + how).at("fact").at("values"), 0) << "nothing is left to do";
    ExpectWhole();
  }
}

// A small file system in memory, mounted while this object exists.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path) : path_(std::move(path)) {
    std::filesystem::create_directory(path_);
    is_there_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=32m") == 0;
  }
  ~SmallDisk() {
    if (is_there_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  [[nodiscard]] bool is_there() const { return is_there_; }
  // Fills the file system up to this many free bytes.
  void Fill(std::uint64_t left) const {
    const std::uint64_t free = std::filesystem::space(path_).available;
    WriteFile(path_ + "/filler", std::string(free - std::min(free, left), 'x'));
  }

 private:
  const std::string path_;
  bool is_there_ = false;
};

// Damage and a full disk are both reported, and the full disk decides the exit code.
TEST_F(ToolCompactTest, DamageDoesNotHideAFullDisk) {
  const SmallDisk disk(directory_.File("disk"));
  if (!disk.is_there()) {
    GTEST_SKIP() << "SKIPPED: only root may mount the small file system that is filled here";
  }
  Make(100, 20'000);
  RunTool("compact " + Path() + " --target-space-amp 1000");  // flushes everything
  std::string victim;
  for (const auto& entry : std::filesystem::directory_iterator(Path())) {
    const bool is_first = victim.empty() || entry.path().string() < victim;
    if (entry.path().extension() == ".log" && entry.file_size() > 30'000 && is_first) victim = entry.path();
  }
  ASSERT_FALSE(victim.empty());
  std::string bytes = ReadFile(victim);
  for (std::size_t at = 4096; at < bytes.size(); at += 64) bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
  WriteFile(victim, bytes);
  const std::string small = directory_.File("disk") + "/db";
  std::filesystem::copy(Path(), small);
  disk.Fill(256u << 10);
  const std::string damaged = small + "/" + std::filesystem::path(victim).filename().string();
  const Ended ended = RunTool("compact " + small + " --cluster --json", "2>/dev/null");
  EXPECT_EQ(ended.exit_code, kCannot) << ended.output;
  const nlohmann::json json = nlohmann::json::parse(ended.output, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << ended.output;
  ASSERT_EQ(json.at("damaged").size(), 1u);
  EXPECT_NE(json.at("damaged")[0].get<std::string>().find(damaged), std::string::npos);
  EXPECT_NE(json.at("error").get<std::string>().find("are free"), std::string::npos) << ended.output;
  const Ended text = RunTool("compact " + small + " --cluster");
  EXPECT_EQ(text.exit_code, kCannot) << text.output;
  EXPECT_NE(text.output.find("damaged, and skipped: " + damaged), std::string::npos) << text.output;
  EXPECT_NE(text.output.find("are free"), std::string::npos) << text.output;
}

// Steps for which there is no space are not done; finished steps are kept.
TEST_F(ToolCompactTest, FullDiskLosesNothing) {
  const SmallDisk disk(directory_.File("disk"));
  if (!disk.is_there()) {
    GTEST_SKIP() << "SKIPPED: only root may mount the small file system that is filled here";
  }
  Make(100, 20'000);
  const std::string small = directory_.File("disk") + "/db";
  for (const std::string how : {"", " --cluster", " --recompress zstd"}) {
    SCOPED_TRACE(how);
    std::filesystem::copy(Path(), small);
    disk.Fill(64u << 10);
    const Ended ended = RunTool("compact " + small + how);
    EXPECT_TRUE(ended.exit_code == kClean || ended.exit_code == kCannot) << ended.output;
    EXPECT_EQ(RunTool("verify " + small + " --deep").exit_code, kClean);
    std::filesystem::remove(directory_.File("disk") + "/filler");
    EXPECT_EQ(RunTool("compact " + small + how).exit_code, kClean);
    EXPECT_EQ(RunTool("verify " + small + " --deep").exit_code, kClean);
    EXPECT_EQ(RunTool("scan " + small + " --count").output, std::to_string(known_.size()) + "\n");
    for (const auto& [key, value] : known_) ASSERT_EQ(RunTool("get " + small + " " + key).output, value + "\n");
    std::filesystem::remove_all(small);
  }
}

TEST_F(ToolCompactTest, IllegalFlagsAreRejected) {
  Make(5);
  EXPECT_EQ(RunTool("compact " + Path() + " --target-space-amp 0.5").exit_code, kCannot);
  EXPECT_EQ(RunTool("compact " + Path() + " --recompress brotli").exit_code, kCannot);
  EXPECT_EQ(RunTool("compact " + Path() + " --min-blob-size many").exit_code, kCannot);
  EXPECT_NE(RunTool("compact --help").output.find("--target-space-amp"), std::string::npos);
}

TEST_F(ToolCompactTest, DamagedSegmentIsSkipped) {
  Make();
  std::string victim;
  std::size_t at = std::string::npos;
  for (const auto& entry : std::filesystem::directory_iterator(Path())) {
    const std::string bytes = ReadFile(entry.path());
    const std::size_t found = bytes.find(std::string(2000, 'c'));
    if (found != std::string::npos) victim = entry.path(), at = found;
  }
  ASSERT_NE(at, std::string::npos);
  RunTool("compact " + Path() + " --target-space-amp 1000");  // flushes everything
  FlipByte(victim, at + 1000);
  const nlohmann::json done = RunForJson("compact " + Path(), kDamage);
  ASSERT_EQ(done.at("damaged").size(), 1u);
  EXPECT_NE(done.at("damaged")[0].get<std::string>().find(victim), std::string::npos);
  const Ended again = RunTool("compact " + Path());
  EXPECT_EQ(again.exit_code, kDamage);
  EXPECT_NE(again.output.find("damaged, and skipped: " + victim), std::string::npos) << again.output;
}

}  // namespace
}  // namespace cambium::testing
