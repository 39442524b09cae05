#include "inspect/database.h"

#include <gtest/gtest.h>

#include "inspect/inspected_store.h"
#include "testing/test_comparators.h"

namespace cambium::testing {
namespace {

TEST(InspectDatabaseTest, DirectoryWithoutADatabaseIsInvalidArgument) {
  InspectedStore store;
  ASSERT_TRUE(store.fs->CreateDirectory(kStorePath).ok());
  EXPECT_TRUE(InspectedDatabase::Open(store.fs, kStorePath).status().IsInvalidArgument());
}

TEST(InspectDatabaseTest, HoldsASharedLockAndWritesNothing) {
  InspectedStore store;
  store.MustOpen();
  store.Put("key", std::string(100, 'v'));
  EXPECT_TRUE(InspectedDatabase::Open(store.fs, kStorePath).status().IsLocked());
  store.MustClose();
  const auto before = store.Files();
  {
    const std::unique_ptr<InspectedDatabase> database = store.Inspect();
    ASSERT_NE(database, nullptr);
    const std::unique_ptr<InspectedDatabase> second = store.Inspect();
    EXPECT_NE(second, nullptr);
    EXPECT_TRUE(store.Open().IsLocked());
  }
  EXPECT_EQ(store.Files(), before);
  store.MustOpen();
}

TEST(InspectDatabaseTest, ForeignComparatorIsInvalidArgument) {
  InspectedStore store;
  store.options.comparator = CaseFoldingComparator();
  store.MustOpen();
  store.Put("key", "value");
  store.MustClose();
  Result<std::unique_ptr<InspectedDatabase>> opened = InspectedDatabase::Open(store.fs, kStorePath);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  const Status files = (*opened)->OpenFiles();
  EXPECT_TRUE(files.IsInvalidArgument()) << files.ToString();
  EXPECT_NE(files.ToString().find(CaseFoldingComparator()->Name()), std::string::npos) << files.ToString();
}

TEST(InspectDatabaseTest, TailHasTheOperationsThatRecoveryWouldReplay) {
  InspectedStore store;
  store.MustOpen();
  store.Put("flushed", std::string(100, 'f'));
  store.Flush();
  store.Put("a", std::string(100, 'a'));
  store.Put("small", "s");
  ASSERT_TRUE(store.db->DeleteRange({}, "x", "z").ok());
  store.MustClose();
  const std::unique_ptr<InspectedDatabase> database = store.Inspect();
  ASSERT_NE(database, nullptr);
  ASSERT_TRUE(database->has_tail());
  EXPECT_TRUE(database->problems().empty());
  std::uint64_t operations = 0;
  for (const auto& [number, pending] : database->pending()) operations += pending.operations;
  EXPECT_EQ(operations, 3u);
  const InspectedDatabase::Family& family = *database->FindFamily(0);
  Entry entry;
  EXPECT_FALSE(family.tail->Find("flushed", kMaxSequenceNumber, &entry));
  ASSERT_TRUE(family.tail->Find("small", kMaxSequenceNumber, &entry));
  EXPECT_TRUE(entry.HasAddress()) << "all values of the tail have addresses";
  EXPECT_EQ(database->FindFamily(1), nullptr);
  for (const auto& [number, info] : database->state().segments) {
    const std::uint64_t end = database->LogEndOf(info);
    if (info.sealed) {
      EXPECT_EQ(end, info.sealed_length);
    } else if (number == database->replayed().end.segment) {
      EXPECT_EQ(end, database->replayed().end.offset);
    }
  }
}

TEST(InspectDatabaseTest, DamageIsAProblemAndTheRestIsRead) {
  InspectedStore store;
  store.MustOpen();
  store.Put("key", std::string(100, 'v'));
  store.Put("large", std::string(10'000, 'l'));
  store.Flush();
  store.MustClose();
  const std::string lost = store.FilesOf(".val").front();
  ASSERT_TRUE(store.fs->tampering().Remove(lost).ok());
  const std::unique_ptr<InspectedDatabase> database = store.Inspect();
  ASSERT_NE(database, nullptr);
  ASSERT_EQ(database->problems().count(), 1u);
  EXPECT_NE(database->problems().lines().front().find(lost), std::string::npos);
  EXPECT_NE(database->FindFamily(0)->layers, nullptr);
  EXPECT_TRUE(database->has_tail());
}

}  // namespace
}  // namespace cambium::testing
