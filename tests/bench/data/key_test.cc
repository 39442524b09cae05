#include "data/key.h"

#include <gtest/gtest.h>

#include <string>

namespace cambium::bench {
namespace {

TEST(KeyTest, MatchesDbBench) {
  KeyBuffer key(12);
  EXPECT_EQ(key.Make(0x0102030405060708u).ToString(), std::string("\1\2\3\4\5\6\7\10" "0000", 12));
  EXPECT_EQ(KeyBuffer(8).Make(65).ToString(), std::string("\0\0\0\0\0\0\0A", 8));
}

TEST(KeyTest, ByteOrderIsTheOrderOfIds) {
  KeyBuffer key(16);
  std::string last = key.Make(0).ToString();
  for (std::uint64_t id : {1ull, 127ull, 128ull, 255ull, 256ull, 65535ull, 65536ull, 1ull << 32, ~0ull}) {
    const std::string next = key.Make(id).ToString();
    EXPECT_LT(last, next) << id;
    last = next;
  }
}

TEST(KeyTest, ParsesOnlyItsOwnKeys) {
  KeyBuffer key(16);
  EXPECT_EQ(ParseKey(key.Make(123456789), 16), 123456789u);
  EXPECT_EQ(ParseKey(key.Make(123456789), 17), std::nullopt) << "another size";
  std::string padding = key.Make(1).ToString();
  padding[15] = '1';
  EXPECT_EQ(ParseKey(padding, 16), std::nullopt) << "a wrong byte after the id";
}

TEST(KeyTest, PrefixesMatchDbBench) {
  KeyShape shape(16);
  shape.prefix_size = 4;
  shape.prefix_count = 300;
  EXPECT_EQ(KeyBuffer(shape).Make(0x0203).ToString(), std::string("\0\0\0\xd7\0\0\0\0\0\0\2\3" "0000", 16)) << "515 % 300";
  EXPECT_EQ(ParseKey(KeyBuffer(shape).Make(515), shape), 515u);
  EXPECT_EQ(ParseKey(KeyBuffer(16).Make(515), shape), std::nullopt) << "a key without a prefix";
  EXPECT_FALSE(shape.InOrder());
}

TEST(KeyTest, KeysMatchBadgerAndYcsb) {
  KeyShape badger;
  badger.style = KeyStyle::kBadger;
  badger.value_size = 1024;
  EXPECT_EQ(KeyBuffer(badger).Make(42).ToString(), "vsz=01024-k=0000000042");
  EXPECT_EQ(ParseKey("vsz=01024-k=0000000042", badger), 42u);
  EXPECT_EQ(ParseKey("vsz=00128-k=0000000042", badger), std::nullopt);
  EXPECT_EQ(ParseKey("vsz=01024-k=00000000x2", badger), std::nullopt);
  EXPECT_EQ(ParseKey("", badger), std::nullopt);
  KeyShape ycsb;
  ycsb.style = KeyStyle::kYcsb;
  // The key of record 0 in every database that YCSB has ever loaded.
  EXPECT_EQ(KeyBuffer(ycsb).Make(0).ToString(), "user6284781860667377211");
  EXPECT_EQ(KeyBuffer(ycsb).Make(1).ToString(), "user8517097267634966620");
  ycsb.digits = 24;
  EXPECT_EQ(KeyBuffer(ycsb).Make(0).ToString(), "user000006284781860667377211") << "zeropadding=24";
  EXPECT_EQ(ycsb.TypicalSize(), 28u);
  ycsb.digits = 100;
  EXPECT_EQ(KeyBuffer(ycsb).Make(0).size(), 104u);
  ycsb.digits = 1;
  EXPECT_EQ(ycsb.TypicalSize(), 23u);
  EXPECT_EQ(ParseKey("user6284781860667377211", ycsb), std::nullopt) << "hashes do not go back";
}

}  // namespace
}  // namespace cambium::bench
