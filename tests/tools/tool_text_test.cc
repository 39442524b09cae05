// Keys as text, and progress lines.
#include <gtest/gtest.h>

#include "key_text.h"
#include "progress.h"

namespace cambium::tool {
namespace {

TEST(ToolTextTest, EveryByteRoundTrips) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  std::string back;
  ASSERT_TRUE(Unescape(Escape(all), &back));
  EXPECT_EQ(back, all);
  ASSERT_TRUE(FromHex(Format(all, true), &back));
  EXPECT_EQ(back, all);
  EXPECT_EQ(Escape("a\\b\n\x7f\xc3\xa4"), "a\\\\b\\x0a\\x7f\\xc3\\xa4");
  ASSERT_TRUE(Unescape("\xc3\xa4\\xC3", &back));
  EXPECT_EQ(back, "\xc3\xa4\xc3");
}

TEST(ToolTextTest, MalformedTextIsRejected) {
  std::string back;
  for (const char* const text : {"\\", "a\\", "\\x", "\\x1", "\\xg0", "\\x0g", "\\n"}) EXPECT_FALSE(Unescape(text, &back)) << text;
  for (const char* const text : {"1", "0g", "g0", "0x00"}) EXPECT_FALSE(FromHex(text, &back)) << text;
}

TEST(ToolTextTest, LongKeysAreAbbreviated) {
  EXPECT_EQ(Abbreviate("abc", false, 3), "abc");
  EXPECT_EQ(Abbreviate("abcd", false, 3), "abc... (4 bytes)");
  EXPECT_EQ(Abbreviate("a\n\n", false, 6), "a\\x0a... (3 bytes)") << "no byte is cut in two";
}

TEST(ToolTextTest, BytesAreShownWithUnits) {
  EXPECT_EQ(Bytes(1023), "1023");
  EXPECT_EQ(Bytes(1536), "1536 (1.5 KiB)");
  EXPECT_EQ(ShortBytes(0), "0 B");
  EXPECT_EQ(ShortBytes(5.0 * (1u << 30)), "5.0 GiB");
}

TEST(ToolTextProgressLineTest, ShowsAmountRateAndTimeLeft) {
  EXPECT_EQ(ProgressLine(512, 1024, 2), "[==========>         ]  50 %  512 B of 1.0 KiB  256 B/s  0:02 left");
  EXPECT_EQ(ProgressLine(1024, 1024, 2), "[====================] 100 %  1.0 KiB of 1.0 KiB  512 B/s");
  EXPECT_EQ(ProgressLine(0, 1024, 0), "[>                   ]   0 %  0 B of 1.0 KiB  0 B/s");
  EXPECT_EQ(ProgressLine(2048, 0, 1), "2.0 KiB  2.0 KiB/s");
  EXPECT_EQ(ProgressLine(2048, 4096, 2, ProgressUnit::kEntries),
            "[==========>         ]  50 %  2048 of 4096 entries  1024/s  0:02 left");
  EXPECT_EQ(ProgressLine(1, 7201, 1), "[>                   ]   0 %  1 B of 7.0 KiB  1 B/s  2:00:00 left");
}

}  // namespace
}  // namespace cambium::tool
