// Versions of values: manifest, stats and dump show them, copies have them, and an import does not.
#include <memory>
#include <string>

#include "cambium/conditional_write.h"
#include "tool.h"

namespace cambium::testing::tool_versions_test {
namespace {

class ToolVersionsTest : public ToolTest {
 protected:
  // Makes a database whose family keeps versions since operation 2: "a" is from before, "b" from after that.
  ToolVersionsTest() {
    std::unique_ptr<DB> db;
    const Status opened = DB::Open(TheOptions(), Path(), &db);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    EXPECT_TRUE(db->Put({}, "a", "1").ok());
    EXPECT_TRUE(db->Put({}, "x", "1").ok());
    EXPECT_TRUE(db->Flush({}).ok());
    EXPECT_EQ(VersionOf(db.get(), "a"), 2u);
    EXPECT_TRUE(db->Put({}, "x", "2").ok());
    EXPECT_TRUE(db->Put({}, "b", "2").ok());
    EXPECT_TRUE(db->Flush({}).ok());
  }

  static SequenceNumber VersionOf(DB* db, Slice key) {
    std::string value;
    SequenceNumber version = 0;
    const Status s = GetWithVersion(db, {}, nullptr, key, &value, &version);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return version;
  }
  SequenceNumber VersionIn(const std::string& path, IndexKind index, Slice key) const {
    Options options = TheOptions();
    options.create_if_missing = false;
    options.index_type = index;
    std::unique_ptr<DB> db;
    const Status opened = DB::Open(options, path, &db);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    return opened.ok() ? VersionOf(db.get(), key) : 0;
  }
};

TEST_F(ToolVersionsTest, ManifestAndStatsShowThatTheFamilyKeepsThem) {
  nlohmann::json json = RunForJson("manifest " + Path());
  EXPECT_EQ(json["features"], nlohmann::json::array({"versions"}));
  EXPECT_EQ(json["state"]["families"][0]["versions_since"], 2) << json.dump(1);
  json = RunForJson("stats " + Path());
  EXPECT_EQ(json["families"][0]["versions_since"], 2) << json.dump(1);
  EXPECT_NE(RunTool("stats " + Path()).output.find("keeps versions of inline values since operation 2"),
            std::string::npos);
}

TEST_F(ToolVersionsTest, DumpShowsThem) {
  const std::string text = RunTool("dump " + Path() + " --what " + (TestsUseLsm() ? "runs" : "pages")).output;
  EXPECT_NE(text.find("b  inline, 1 bytes, version 4"), std::string::npos) << text;
  EXPECT_NE(text.find("a  inline, 1 bytes\n"), std::string::npos) << text;
}

TEST_F(ToolVersionsTest, ACheckpointAndAConversionHaveThem) {
  const std::string checkpoint = Path() + ".checkpoint";
  ASSERT_EQ(RunTool("checkpoint " + Path() + " " + checkpoint).exit_code, kClean);
  EXPECT_EQ(VersionIn(checkpoint, TheOptions().index_type, "b"), 4u);
  const std::string converted = Path() + ".converted";
  ASSERT_EQ(RunTool("convert " + Path() + " " + converted + " --index " + (TestsUseLsm() ? "btree" : "lsm")).exit_code,
            kClean);
  const IndexKind to = TestsUseLsm() ? IndexKind::kBTree : IndexKind::kLsm;
  EXPECT_EQ(VersionIn(converted, to, "b"), 4u);
  EXPECT_EQ(VersionIn(converted, to, "a"), 2u);
  EXPECT_EQ(RunTool("verify " + converted).exit_code, kClean);
}

TEST_F(ToolVersionsTest, AnImportedDatabaseKeepsNone) {
  const std::string imported = Path() + ".imported";
  const Ended ended = RunCommand(Tool() + " export " + Path() + " - | " + Tool() + " import " + imported + " -");
  ASSERT_EQ(ended.exit_code, kClean) << ended.output;
  EXPECT_EQ(RunForJson("manifest " + imported)["features"], nlohmann::json::array());
}

}  // namespace
}  // namespace cambium::testing::tool_versions_test
