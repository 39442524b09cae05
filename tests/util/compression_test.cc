#include "util/compression.h"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

class CompressionTest : public ::testing::TestWithParam<Codec> {};
INSTANTIATE_TEST_SUITE_P(Codecs, CompressionTest, ::testing::Values(Codec::kLz4, Codec::kZstd),
                         [](const auto& codec) { return codec.param == Codec::kLz4 ? "Lz4" : "Zstd"; });

std::string Text(Prng* prng, std::size_t size) {
  static const std::vector<std::string> kWords = {"leaf ", "branch ", "root ", "cambium ", "ring ", "bark "};
  std::string text;
  while (text.size() < size) text += kWords[prng->Uniform(kWords.size())];
  text.resize(size);
  return text;
}

TEST_P(CompressionTest, CompressibleValuesRoundTrip) {
  Prng prng(testing::SeedFromEnvironment(4));
  for (const std::size_t size : {200u, 1000u, 4096u, 100'000u, 3'000'000u}) {
    const std::string raw = Text(&prng, size);
    std::string stored = "before";
    ASSERT_TRUE(Compress(GetParam(), raw, &stored)) << size;
    ASSERT_EQ(stored.substr(0, 6), "before");
    EXPECT_LE(stored.size() - 6, size - size / 8);
    std::string back(size, '?');
    ASSERT_TRUE(Decompress(GetParam(), Slice(stored).substr(6, stored.size() - 6), back.data(), size).ok());
    EXPECT_EQ(back, raw);
  }
}

TEST_P(CompressionTest, IncompressibleValuesStayRaw) {
  Prng prng(testing::SeedFromEnvironment(5));
  for (const std::size_t size : {0u, 1u, 5u, 1000u, 100'000u}) {
    std::string stored = "before";
    EXPECT_FALSE(Compress(GetParam(), prng.Bytes(size), &stored)) << size;
    EXPECT_EQ(stored, "before");
  }
}

TEST_P(CompressionTest, WrongRecordedSizeIsCorruption) {
  Prng prng(testing::SeedFromEnvironment(6));
  const std::string raw = Text(&prng, 5000);
  std::string stored;
  ASSERT_TRUE(Compress(GetParam(), raw, &stored));
  for (const std::size_t size : {0u, 1u, 4999u, 5001u, 20'000u}) {
    std::string out(size, '?');
    EXPECT_TRUE(Decompress(GetParam(), stored, out.data(), size).IsCorruption()) << size;
  }
}

// Flipped bits, truncation and noise give an error or some bytes, but no access outside the buffer (sanitizers check
// it).
TEST_P(CompressionTest, HostileBytesAreRejectedOrHarmless) {
  Prng prng(testing::SeedFromEnvironment(7));
  const std::string raw = Text(&prng, 3000);
  std::string good;
  ASSERT_TRUE(Compress(GetParam(), raw, &good));
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = good;
    switch (prng.Uniform(3)) {
      case 0: bytes.resize(prng.Uniform(bytes.size())); break;
      case 1: bytes = prng.Bytes(prng.Uniform(200)); break;
      default:
        for (std::uint64_t n = 1 + prng.Uniform(4); n > 0; --n) bytes[prng.Uniform(bytes.size())] ^= 1 << prng.Uniform(8);
    }
    std::vector<char> out(raw.size());
    const Status status = Decompress(GetParam(), bytes, out.data(), out.size());
    refused += status.IsCorruption() ? 1 : 0;
    EXPECT_TRUE(status.ok() || status.IsCorruption());
  }
  EXPECT_GT(refused, 1000);
}

TEST(CompressionTest, NoneNeverCompresses) {
  std::string stored;
  EXPECT_FALSE(Compress(Codec::kNone, std::string(1000, 'a'), &stored));
  EXPECT_TRUE(stored.empty());
}

TEST(CompressionTest, UnknownCodecIsCorruption) {
  char out[4];
  EXPECT_TRUE(Decompress(static_cast<Codec>(77), "abcd", out, sizeof(out)).IsCorruption());
}

TEST(CompressionTest, OptionsWithoutCodecAreRejected) {
  Codec codec = Codec::kNone;
  EXPECT_TRUE(CodecOf(CompressionType::kNoCompression, &codec));
  EXPECT_EQ(codec, Codec::kNone);
  EXPECT_TRUE(CodecOf(CompressionType::kLZ4Compression, &codec));
  EXPECT_EQ(codec, Codec::kLz4);
  EXPECT_TRUE(CodecOf(CompressionType::kZSTD, &codec));
  EXPECT_EQ(codec, Codec::kZstd);
  EXPECT_FALSE(CodecOf(CompressionType::kSnappyCompression, &codec));
}

}  // namespace
}  // namespace cambium
