// cambium salvage: output, result and exit codes.
#include <sys/mount.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "tool.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace cambium::testing {
namespace {

class ToolSalvageTest : public ToolTest {
 protected:
  std::string Out() const { return directory_.File("out"); }
  std::string Line(const std::string& flags = "") const { return "salvage " + Path() + " " + Out() + " " + flags; }
  // Has separated values with the keys key0 to key9.
  void Make() const {
    const std::unique_ptr<DB> db = Open();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(db->Put({}, "key" + std::to_string(i), Value(i)).ok());
    ASSERT_TRUE(db->Flush({}).ok());
    ASSERT_TRUE(db->Close().ok());
  }
  static std::string Value(int i) { return std::string(1000, static_cast<char>('a' + i)); }
  // Flips a byte of value i in every log segment that contains it.
  void Damage(int i) const {
    for (const auto& [name, bytes] : FilesIn(Path())) {
      const std::size_t at = bytes.find(Value(i));
      if (name.ends_with(".log") && at != std::string::npos) FlipByte(Path() + "/" + name, at + 500);
    }
  }
  void ExpectOut(const std::vector<int>& missing) const {
    for (int i = 0; i < 10; ++i) {
      const Ended get = RunTool("get " + Out() + " key" + std::to_string(i));
      const bool is_missing = std::ranges::find(missing, i) != missing.end();
      EXPECT_EQ(get.exit_code, is_missing ? kDamage : kClean) << i;
      EXPECT_EQ(get.output == Value(i) + "\n", !is_missing) << i << get.output;
    }
    EXPECT_EQ(RunTool("verify " + Out() + " --deep").exit_code, kClean);
    EXPECT_FALSE(std::filesystem::exists(Out() + ".tmp"));
    EXPECT_FALSE(std::filesystem::exists(Out() + ".tmp.mark"));
  }
  static std::vector<nlohmann::json> Lines(const std::string& output) {
    std::vector<nlohmann::json> lines;
    std::istringstream stream(output);
    for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
};

TEST_F(ToolSalvageTest, HealthyDatabaseIsCopiedCompletely) {
  Make();
  const auto before = FilesIn(Path());
  const Ended ended = RunTool(Line());
  EXPECT_EQ(ended.exit_code, kClean) << ended.output;
  EXPECT_NE(ended.output.find("default: 10 entries"), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("lost: 0, unproven: 0"), std::string::npos) << ended.output;
  EXPECT_EQ(FilesIn(Path()), before);
  ExpectOut({});
}

TEST_F(ToolSalvageTest, LostKeysAreNamed) {
  Make();
  Damage(3);
  const auto before = FilesIn(Path());
  const Ended dry = RunTool(Line("--dry-run"));
  EXPECT_EQ(dry.exit_code, kDamage);
  EXPECT_NE(dry.output.find("would have: column family default: 9 entries"), std::string::npos) << dry.output;
  EXPECT_FALSE(std::filesystem::exists(Out()));
  const Ended ended = RunTool(Line());
  EXPECT_EQ(ended.exit_code, kDamage) << ended.output;
  EXPECT_NE(ended.output.find("lost: key key3: "), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find(".log:"), std::string::npos) << ended.output;
  EXPECT_EQ(FilesIn(Path()), before);
  ExpectOut({3});
  EXPECT_EQ(RunTool(Line()).exit_code, kCannot);  // it exists
}

TEST_F(ToolSalvageTest, JsonHasOneObjectPerLine) {
  Make();
  Damage(3);
  Damage(7);
  const Ended ended = RunTool(Line("--json"), "2>/dev/null");
  EXPECT_EQ(ended.exit_code, kDamage);
  const std::vector<nlohmann::json> lines = Lines(ended.output);
  ASSERT_EQ(lines.size(), 3u) << ended.output;
  EXPECT_EQ(lines[0].at("key"), "key3");
  EXPECT_EQ(lines[1].at("key"), "key7");
  EXPECT_EQ(lines[2].at("end"), true);
  EXPECT_EQ(lines[2].at("lost"), 2);
  EXPECT_EQ(lines[2].at("families").at(0).at("entries"), 8);
  std::filesystem::remove_all(Out());
  EXPECT_EQ(Lines(RunTool(Line("--json --quiet"), "2>/dev/null").output).size(), 1u);
}

// Without a MANIFEST an older value does not replace a damaged newer one, unless requested.
TEST_F(ToolSalvageTest, OlderValueIsUnprovenWithoutAManifest) {
  Make();
  {
    const std::unique_ptr<DB> db = Open();
    ASSERT_TRUE(db->Put({}, "key5", std::string(1000, 'Z')).ok());
    ASSERT_TRUE(db->Close().ok());
  }
  for (const auto& [name, bytes] : FilesIn(Path())) {
    const std::size_t at = bytes.find(std::string(1000, 'Z'));
    if (at != std::string::npos) FlipByte(Path() + "/" + name, at + 9);
    if (name.starts_with("MANIFEST")) std::filesystem::remove(Path() + "/" + name);
  }
  const Ended ended = RunTool(Line());
  EXPECT_EQ(ended.exit_code, kDamage) << ended.output;
  EXPECT_NE(ended.output.find("the MANIFEST is lost"), std::string::npos) << ended.output;
  EXPECT_NE(ended.output.find("unproven: key key5, 1000 bytes"), std::string::npos) << ended.output;
  EXPECT_EQ(RunTool("get " + Out() + " key5").exit_code, kDamage);
  std::filesystem::remove_all(Out());
  EXPECT_EQ(RunTool(Line("--include-unproven --quiet")).exit_code, kDamage);
  ExpectOut({});
}

// The index is lost. The values are still in the log, but a filter may have removed any of them.
TEST_F(ToolSalvageTest, FilteredValuesOfALostIndexAreUnproven) {
  Make();
  for (const std::string& path : FilesLike(IndexFileSuffix())) std::filesystem::remove(path);
  const Ended plain = RunTool(Line());
  EXPECT_EQ(plain.exit_code, kDamage) << plain.output;
  EXPECT_EQ(plain.output.find("unproven: key"), std::string::npos) << plain.output;
  ExpectOut({});
  std::filesystem::remove_all(Out());
  const Ended filtered = RunTool(Line("--filtered"));
  EXPECT_EQ(filtered.exit_code, kDamage) << filtered.output;
  EXPECT_NE(filtered.output.find("unproven: key key5"), std::string::npos) << filtered.output;
  ExpectOut({0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  std::filesystem::remove_all(Out());
  EXPECT_EQ(RunTool(Line("--filtered --include-unproven --quiet")).exit_code, kDamage);
  ExpectOut({});
}

TEST_F(ToolSalvageTest, UnusableDirectoriesAreReported) {
  const auto expect = [this](int code) {
    const Ended ended = RunTool(Line());
    EXPECT_EQ(ended.exit_code, code) << ended.output;
    EXPECT_NE(ended.output.find(Path()), std::string::npos) << ended.output;
    EXPECT_TRUE(RunForJson(Line(), code).at("error").is_string());
    EXPECT_FALSE(std::filesystem::exists(Out()));
    EXPECT_FALSE(std::filesystem::exists(Out() + ".tmp"));
  };
  expect(kCannot);  // missing
  WriteFile(Path(), "seeds");
  expect(kCannot);
  std::filesystem::remove(Path());
  std::filesystem::create_directory(Path());
  expect(kCannot);  // empty
  WriteFile(Path() + "/shopping list", "seeds");
  expect(kCannot);
  std::filesystem::remove_all(Path());
  Make();
  {
    const std::unique_ptr<DB> db = Open();
    expect(kLocked);
  }
  // OUT inside DIR, under several names.
  const std::string link = Path() + ".link";
  std::filesystem::create_directory_symlink(Path(), link);
  const std::string way_round = Path() + "/../" + std::filesystem::path(Path()).filename().string();
  for (const std::string& inside : {Path() + "/out", way_round + "/out", link + "/out"}) {
    const Ended ended = RunTool("salvage " + Path() + " " + inside);
    EXPECT_EQ(ended.exit_code, kCannot) << ended.output;
    EXPECT_NE(ended.output.find("must not be changed"), std::string::npos) << ended.output;
    EXPECT_FALSE(std::filesystem::exists(inside));
    EXPECT_FALSE(std::filesystem::exists(inside + ".tmp"));
  }
  std::filesystem::remove(link);
  for (const auto& [name, bytes] : FilesIn(Path())) {
    if (!name.starts_with("MANIFEST")) continue;
    std::string later = bytes;
    later[8] = 9;  // the version in the header of every file, and the header's checksum
    EncodeFixed<std::uint64_t>(later.data() + 120, Checksum64(Slice(later).substr(0, 120), 0));
    WriteFile(Path() + "/" + name, later);
  }
  expect(kCannot);
}

// DIR may be on a file system that is mounted read-only.
TEST_F(ToolSalvageTest, ReadsFromAReadOnlyFileSystem) {
  Make();
  Damage(3);
  if (::mount(Path().c_str(), Path().c_str(), nullptr, MS_BIND, nullptr) != 0) {
    GTEST_SKIP() << "SKIPPED: nothing can be mounted here";
  }
  const bool is_read_only = ::mount(nullptr, Path().c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
  const Ended ended = RunTool(Line());
  ::umount2(Path().c_str(), MNT_DETACH);
  if (!is_read_only) GTEST_SKIP() << "SKIPPED: nothing can be mounted read-only here";
  EXPECT_EQ(ended.exit_code, kDamage) << ended.output;
  ExpectOut({3});
}

TEST_F(ToolSalvageTest, ReadOnlyTargetIsReported) {
  Make();
  const std::string mount = directory_.File("mount");
  std::filesystem::create_directory(mount);
  if (::mount("tmpfs", mount.c_str(), "tmpfs", MS_RDONLY, "size=16k") != 0) {
    GTEST_SKIP() << "SKIPPED: nothing can be mounted here";
  }
  const Ended ended = RunTool("salvage " + Path() + " " + mount + "/out");
  EXPECT_TRUE(std::filesystem::is_empty(mount));
  ::umount2(mount.c_str(), MNT_DETACH);
  EXPECT_EQ(ended.exit_code, kCannot) << ended.output;
  EXPECT_NE(ended.output.find("Read-only"), std::string::npos) << ended.output;
}

TEST_F(ToolSalvageTest, FullTargetIsReported) {
  Make();
  const std::string mount = directory_.File("mount");
  std::filesystem::create_directory(mount);
  if (::mount("tmpfs", mount.c_str(), "tmpfs", 0, "size=16k") != 0) {
    GTEST_SKIP() << "SKIPPED: nothing can be mounted here";
  }
  const Ended ended = RunTool("salvage " + Path() + " " + mount + "/out");
  EXPECT_EQ(ended.exit_code, kCannot) << ended.output;
  EXPECT_NE(ended.output.find("o space"), std::string::npos) << ended.output;
  EXPECT_TRUE(std::filesystem::is_empty(mount));
  ::umount2(mount.c_str(), MNT_DETACH);
}

TEST_F(ToolSalvageTest, MissingParentIsReported) {
  Make();
  const Ended ended = RunTool("salvage " + Path() + " " + directory_.File("nowhere/out"));
  EXPECT_EQ(ended.exit_code, kCannot) << ended.output;
  EXPECT_EQ(RunTool("salvage " + Path() + " " + Path() + "/out").exit_code, kCannot);
}

}  // namespace
}  // namespace cambium::testing
