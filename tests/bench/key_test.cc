#include "key.h"

#include <gtest/gtest.h>

#include <string>

namespace cambium::bench {
namespace {

TEST(KeyTest, IsDbBenchsKey) {
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
  EXPECT_EQ(ParseKey(padding, 16), std::nullopt) << "a wrong byte behind the id";
}

}  // namespace
}  // namespace cambium::bench
