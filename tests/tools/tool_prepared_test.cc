// Prepared transactions: stats and verify show and check them, and all copies have them.
#include <memory>
#include <string>
#include <vector>

#include "cambium/transaction_db.h"
#include "testing/mutant_scope.h"
#include "tool.h"

namespace cambium::testing::tool_prepared_test {
namespace {

class ToolPreparedTest : public ToolTest {
 protected:
  // Makes a database with the families "one" and "two", and a gap in the ids before them. The transaction "t", which
  // writes to all families, is prepared.
  ToolPreparedTest() {
    std::unique_ptr<TransactionDB> db;
    const Status opened = TransactionDB::Open(TheOptions(), {}, Path(), &db);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    std::vector<ColumnFamilyHandle*> families;
    for (const char* const name : {"gone", "one", "two"}) {
      families.push_back(nullptr);
      EXPECT_TRUE(db->CreateColumnFamily(TheOptions(), name, &families.back()).ok());
    }
    EXPECT_TRUE(db->DropColumnFamily(families[0]).ok());
    const std::unique_ptr<Transaction> transaction(db->BeginTransaction({}));
    EXPECT_TRUE(transaction->SetName("t").ok());
    EXPECT_TRUE(transaction->Put("a", "in default").ok());
    EXPECT_TRUE(transaction->Put(families[1], "a", "in one").ok());
    EXPECT_TRUE(transaction->Put(families[2], "a", "in two").ok());
    EXPECT_TRUE(transaction->Prepare().ok());
    for (ColumnFamilyHandle* const family : families) delete family;
  }

  // Opens the database at `path`, commits "t", and returns what the families have then; or what failed.
  std::string Commit(const std::string& path, IndexKind index) const {
    Options options = TheOptions();
    options.create_if_missing = false;
    options.index_type = index;
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<TransactionDB> db;
    const Status opened = TransactionDB::Open(
        options, {}, path, {{kDefaultColumnFamilyName, options}, {"one", options}, {"two", options}}, &handles, &db);
    if (!opened.ok()) return opened.ToString();
    const std::unique_ptr<Transaction> found(db->GetTransactionByName("t"));
    std::string text = found == nullptr ? "no transaction" : found->Commit().ToString();
    for (ColumnFamilyHandle* const handle : handles) {
      std::string value;
      const Status got = db->Get({}, handle, "a", &value);
      text += ", " + (got.ok() ? value : got.ToString());
      delete handle;
    }
    return text;
  }
  std::string Commit(const std::string& path) const { return Commit(path, TheOptions().index_type); }

  const std::string kAll = "OK, in default, in one, in two";
};

TEST_F(ToolPreparedTest, StatsListsThem) {
  const nlohmann::json json = RunForJson("stats " + Path());
  ASSERT_EQ(json["prepared_transactions"].size(), 1u);
  EXPECT_EQ(json["prepared_transactions"][0]["name"], "t");
  EXPECT_EQ(json["prepared_transactions"][0]["operations"], 3);
  EXPECT_EQ(json["prepared_transactions"][0]["locks"], 3);
  EXPECT_GT(json["prepared_transactions"][0]["bytes"], 30);
  EXPECT_NE(RunTool("stats " + Path()).output.find("prepared transaction"), std::string::npos);
}

TEST_F(ToolPreparedTest, VerifyCountsThem) {
  const Ended ended = RunTool("verify --deep " + Path());
  EXPECT_EQ(ended.exit_code, kClean) << ended.output;
  EXPECT_NE(ended.output.find("prepared         1 transaction"), std::string::npos) << ended.output;
  EXPECT_EQ(RunForJson("verify " + Path())["prepared_transactions"], 1);
}

TEST_F(ToolPreparedTest, VerifyFindsAMalformedOne) {
  ASSERT_EQ(RunTool("put " + Path() + " t nonsense --column-family cambium.prepared").exit_code, kClean);
  const Ended ended = RunTool("verify " + Path());
  EXPECT_EQ(ended.exit_code, kDamage) << ended.output;
  EXPECT_NE(ended.output.find("prepared transaction"), std::string::npos) << ended.output;
  EXPECT_EQ(RunTool("stats " + Path()).exit_code, kDamage);
}

TEST_F(ToolPreparedTest, TheyCommitAfterTheLogIsCompacted) {
  ASSERT_EQ(RunTool("compact " + Path()).exit_code, kClean);
  EXPECT_EQ(Commit(Path()), kAll);
}

TEST_F(ToolPreparedTest, ACheckpointHasThem) {
  const std::string copy = directory_.File("copy");
  ASSERT_EQ(RunTool("checkpoint " + Path() + " " + copy).exit_code, kClean);
  EXPECT_EQ(Commit(copy), kAll);
}

TEST_F(ToolPreparedTest, AConvertedDatabaseHasThem) {
  const std::string copy = directory_.File("copy");
  const bool to_lsm = !TestsUseLsm();
  const Ended ended = RunTool("convert " + Path() + " " + copy + " --index " + (to_lsm ? "lsm" : "btree"));
  ASSERT_EQ(ended.exit_code, kClean) << ended.output;
  EXPECT_EQ(Commit(copy, to_lsm ? kLsm : kBTree), kAll);
}

// Its families have other ids.
TEST_F(ToolPreparedTest, AnImportedDatabaseHasThem) {
  const std::string copy = directory_.File("copy");
  const std::string index = TestsUseLsm() ? "kLsm" : "kBTree";
  const Ended ended = RunCommand(Tool() + " export " + Path() + " - | " + Tool() + " import " + copy +
                                 " - --options index_type=" + index);
  ASSERT_EQ(ended.exit_code, kClean) << ended.output;
  EXPECT_EQ(Commit(copy), kAll);
}

TEST_F(ToolPreparedTest, MutantPreparedFamiliesByNumberIsNoticed) {
  const std::string copy = directory_.File("copy");
  ASSERT_EQ(RunCommand(Tool() + " export " + Path() + " - | " + Tool() + " import " + copy +
                       " - --options index_type=" + (TestsUseLsm() ? "kLsm" : "kBTree"))
                .exit_code,
            kClean);
  const MutantScope mutant(Mutant::kPreparedFamiliesByNumber);
  EXPECT_NE(Commit(copy), kAll);
}

TEST_F(ToolPreparedTest, ASalvagedDatabaseHasThem) {
  const std::string copy = directory_.File("copy");
  const Ended ended = RunTool("salvage " + Path() + " " + copy);
  ASSERT_EQ(ended.exit_code, kClean) << ended.output;
  EXPECT_EQ(Commit(copy), kAll);
}

}  // namespace
}  // namespace cambium::testing::tool_prepared_test
