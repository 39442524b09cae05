// VerifyChecksum finds damage in each family of an open database, in values and in pages of the index.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "testing/test_store.h"

namespace cambium::testing::verify_checksum_test {
namespace {

const std::string kValue = std::string(3000, 'v') + "the middle" + std::string(3000, 'v');

// A database with a second family, whose entries are flushed, opened again so that no page is in the cache.
class TwoFamilies {
 public:
  TwoFamilies() {
    // Under a ceiling, an Open reads small indexes, and leaves some of their pages in the cache.
    store.options.max_space_amplification = 0;
    store.MustOpen();
    EXPECT_TRUE(store.db->CreateColumnFamily(store.options, "second", &second).ok());
    store.Put("key", ValueOf(1));
    EXPECT_TRUE(store.db->Put({}, second, "large", kValue).ok());
    EXPECT_TRUE(store.db->Put({}, second, "the key in the index", "small").ok());
    EXPECT_TRUE(store.db->Flush({}, second).ok());
    store.RunUntilIdle();
    EXPECT_TRUE(store.db->DestroyColumnFamilyHandle(second).ok());
    store.MustClose();
    std::vector<ColumnFamilyHandle*> handles;
    EXPECT_TRUE(DB::Open(store.options, kStorePath,
                         {{kDefaultColumnFamilyName, store.options}, {"second", store.options}}, &handles, &store.db)
                    .ok());
    EXPECT_TRUE(store.db->DestroyColumnFamilyHandle(handles[0]).ok());
    second = handles[1];
  }
  ~TwoFamilies() { EXPECT_TRUE(store.db->DestroyColumnFamilyHandle(second).ok()); }

  TestStore store;
  ColumnFamilyHandle* second = nullptr;
};

ReadOptions WithoutCache() {
  ReadOptions read;
  read.fill_cache = false;
  return read;
}

TEST(VerifyChecksumTest, IntactFamiliesPass) {
  TwoFamilies two;
  EXPECT_TRUE(two.store.db->VerifyChecksum(WithoutCache()).ok());
}

TEST(VerifyChecksumTest, ADamagedValueOfAnotherFamilyIsCorruption) {
  TwoFamilies two;
  int damages = 0;
  for (const std::string& path : two.store.FilesOf(".log")) {
    std::string bytes;
    ASSERT_TRUE(two.store.fs->probe().ReadContents(path, &bytes).ok());
    const std::size_t at = bytes.find("the middle");
    if (at == std::string::npos) continue;
    ASSERT_TRUE(two.store.fs->tampering().FlipBit(path, at, 2).ok());
    ++damages;
  }
  ASSERT_EQ(damages, 1);
  ReadOptions careless = WithoutCache();
  careless.verify_checksums = false;
  careless.allow_unprepared_value = true;
  const Slice bound("a");
  careless.iterate_upper_bound = &bound;
  const Status found = two.store.db->VerifyChecksum(careless);
  EXPECT_TRUE(found.IsCorruption()) << found.ToString();
  EXPECT_NE(found.ToString().find(".log"), std::string::npos) << found.ToString();
}

TEST(VerifyChecksumTest, ADamagedPageOfAnotherFamilyIsCorruption) {
  TwoFamilies two;
  ASSERT_GE(two.store.DamageInIndex("the key in the index"), 1);
  EXPECT_TRUE(two.store.db->VerifyChecksum(WithoutCache()).IsCorruption());
}

TEST(VerifyChecksumTest, SnapshotIsVerifiedWithItsOwnValues) {
  TwoFamilies two;
  const Snapshot* const before = two.store.db->GetSnapshot();
  EXPECT_TRUE(two.store.db->Delete({}, two.second, "large").ok());
  ReadOptions read = WithoutCache();
  for (const std::string& path : two.store.FilesOf(".log")) {
    std::string bytes;
    ASSERT_TRUE(two.store.fs->probe().ReadContents(path, &bytes).ok());
    const std::size_t at = bytes.find("the middle");
    if (at == std::string::npos) continue;
    ASSERT_TRUE(two.store.fs->tampering().FlipBit(path, at, 2).ok());
  }
  EXPECT_TRUE(two.store.db->VerifyChecksum(read).ok()) << "no read returns the value any more";
  read.snapshot = before;
  EXPECT_TRUE(two.store.db->VerifyChecksum(read).IsCorruption());
  two.store.db->ReleaseSnapshot(before);
}

}  // namespace
}  // namespace cambium::testing::verify_checksum_test
