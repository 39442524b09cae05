// Tests that every golden database of every format opens, verifies, reads as expected, and takes writes.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cambium/conditional_write.h"
#include "cambium/transaction_db.h"
#include "golden/golden_case.h"

namespace cambium::testing {
namespace {

std::string Slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::stringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

std::string ArchiveOf(const GoldenCase& c) {
  return Slurp(std::string(CAMBIUM_GOLDEN_DIRECTORY) + "/v1/" + c.name + ".golden");
}

// Returns the contents in the form of the .expected files: in byte order, even if the database has another order.
std::string Contents(TestStore* store) {
  std::map<std::string, std::string> pairs;
  const std::unique_ptr<Iterator> it(store->db->NewIterator({}));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::string key = it->key().ToString();
    pairs[key] = it->value().ToString();
    EXPECT_EQ(store->Get(key), pairs[key]);
  }
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  return ExpectedText(pairs);
}

void Restore(const GoldenFiles& files, TestStore* store) {
  for (const auto& [name, bytes] : files) {
    ASSERT_TRUE(store->fs->tampering().WriteContents(kStorePath + ("/" + name), bytes).ok());
  }
}

TEST(GoldenTest, EveryDatabaseOpensVerifiesAndReadsAsExpected) {
  for (const GoldenCase& c : GoldenCases()) {
    SCOPED_TRACE(c.name);
    const GoldenFiles files = UnpackGolden(ArchiveOf(c));
    ASSERT_FALSE(files.empty());
    const std::string expected = Slurp(std::string(CAMBIUM_GOLDEN_DIRECTORY) + "/v1/" + c.name + ".expected");
    const auto store = GoldenStore(c);
    Restore(files, store.get());
    ASSERT_EQ(store->Verify(), "");
    const auto before = store->Files();
    ASSERT_TRUE(DB::OpenForReadOnly(store->options, kStorePath, &store->db).ok());
    EXPECT_EQ(Contents(store.get()), expected);
    store->db.reset();
    EXPECT_EQ(store->Files(), before);
    store->MustOpen();
    EXPECT_EQ(Contents(store.get()), expected);
    store->Put("added", "by this version", true);
    store->Compact();
    store->Reopen();
    EXPECT_EQ(store->Get("added"), "by this version");
    ASSERT_TRUE(store->db->Delete({}, "added").ok());
    EXPECT_EQ(Contents(store.get()), expected);
    store->MustClose();
    EXPECT_EQ(store->Verify(), "");
  }
}

TEST(GoldenTest, PreparedTransactionsOfTheDatabaseAreCommitted) {
  const auto found = std::ranges::find(GoldenCases(), std::string("prepared"), &GoldenCase::name);
  ASSERT_NE(found, GoldenCases().end());
  const auto store = GoldenStore(*found);
  Restore(UnpackGolden(ArchiveOf(*found)), store.get());
  TransactionDB* db = nullptr;
  ASSERT_TRUE(TransactionDB::Open(store->options, TransactionDBOptions(), kStorePath, &db).ok());
  store->db.reset(db);
  std::vector<std::unique_ptr<Transaction>> recovered = db->TakeRecoveredTransactions();
  ASSERT_EQ(recovered.size(), 2u);
  EXPECT_EQ(recovered[0]->GetName() + ", " + recovered[1]->GetName(), "flushed, in the log");
  EXPECT_EQ(db->GetRangeLockStatusData().size(), 4u);
  for (const auto& transaction : recovered) {
    EXPECT_EQ(transaction->GetNumKeys(), 3u);
    EXPECT_TRUE(transaction->Commit().ok());
  }
  recovered.clear();
  EXPECT_EQ(store->Get("flushed").size(), 200u);
  EXPECT_EQ(store->Get("in the log"), store->Get("flushed"));
  store->MustClose();
}

TEST(GoldenTest, VersionsOfTheDatabaseAreThoseThatWereWritten) {
  for (const char* const name : {"versions", "versions_levels"}) {
    const auto found = std::ranges::find(GoldenCases(), std::string(name), &GoldenCase::name);
    ASSERT_NE(found, GoldenCases().end());
    const auto store = GoldenStore(*found);
    Restore(UnpackGolden(ArchiveOf(*found)), store.get());
    store->MustOpen();
    // Not written since versions are kept; written since then, in the lowest layers; above them; only in the log.
    const std::pair<const char*, SequenceNumber> versions[] = {
        {"key0000", 40}, {"key0019", 40}, {"key0020", 41}, {"key0089", 110}, {"key0001", 111}, {"key0085", 112},
        {"tail", 114}};
    for (const auto& [key, expected] : versions) {
      std::string value;
      SequenceNumber version = 0;
      const Status s = GetWithVersion(store->db.get(), {}, nullptr, key, &value, &version);
      EXPECT_TRUE(s.ok()) << s.ToString();
      EXPECT_EQ(version, expected) << name << ", " << key;
    }
    store->MustClose();
  }
}

TEST(GoldenTest, ArchivesAreSmall) {
  for (const GoldenCase& c : GoldenCases()) EXPECT_LE(ArchiveOf(c).size(), 64u << 10) << c.name;
}

TEST(GoldenTest, SameStepsWriteSameBytes) {
  for (const GoldenCase& c : GoldenCases()) {
    std::map<std::string, std::string> expected;
    EXPECT_TRUE(WriteGolden(c, &expected) == WriteGolden(c, &expected)) << c.name;
  }
}

// This version writes format 1. If a change of policy, not of format, changes the bytes of a case, is_reproducible
// becomes false for it. A change of the format needs a directory v2.
TEST(GoldenTest, ThisVersionWritesTheBytesOfItsFormat) {
  for (const GoldenCase& c : GoldenCases()) {
    if (!c.is_reproducible) continue;
    std::map<std::string, std::string> expected;
    const GoldenFiles written = WriteGolden(c, &expected);
    const GoldenFiles golden = UnpackGolden(ArchiveOf(c));
    ASSERT_EQ(written.size(), golden.size()) << c.name;
    for (const auto& [name, bytes] : golden) {
      if (name.starts_with("OPTIONS-")) continue;  // text that changes with new options
      const auto found = written.find(name);
      ASSERT_NE(found, written.end()) << c.name << "/" << name;
      const std::size_t same = static_cast<std::size_t>(
          std::mismatch(bytes.begin(), bytes.end(), found->second.begin(), found->second.end()).first - bytes.begin());
      EXPECT_TRUE(bytes == found->second) << c.name << "/" << name << " differs at offset " << same;
    }
  }
}

}  // namespace
}  // namespace cambium::testing
