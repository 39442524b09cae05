#include "util/sealed_text.h"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "util/checksum.h"

namespace cambium {
namespace {

constexpr std::string_view kName = "checksum=";
constexpr std::size_t kDigits = 16;
constexpr std::size_t kLineSize = kName.size() + kDigits + 1;

std::string ChecksumLine(Slice bytes) { return std::string(kName) + HexOf(Checksum64(bytes, 0)) + "\n"; }

}  // namespace

std::string HexOf(std::uint64_t number) {
  std::string digits(kDigits, '0');
  for (std::size_t i = 0; i < kDigits; ++i) digits[i] = "0123456789abcdef"[(number >> (4 * (kDigits - 1 - i))) & 15];
  return digits;
}

bool ParseHex(Slice digits, std::uint64_t* number) {
  if (digits.size() != kDigits) return false;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), *number, 16);
  return error == std::errc() && end == digits.end() && digits == Slice(HexOf(*number));
}

std::string SealText(std::string text) {
  const std::string line = ChecksumLine(text);
  return std::move(text) + line;
}

std::optional<Slice> UnsealText(Slice bytes) {
  if (bytes.size() < kLineSize) return std::nullopt;
  const Slice body = bytes.substr(0, bytes.size() - kLineSize);
  const Slice line = bytes.substr(body.size(), kLineSize);
  std::uint64_t checksum = 0;
  if (!line.starts_with(kName) || !line.ends_with("\n") || !ParseHex(line.substr(kName.size(), kDigits), &checksum) ||
      !ChecksumMatches(checksum, Checksum64(body, 0))) {
    return std::nullopt;
  }
  return body;
}

}  // namespace cambium
