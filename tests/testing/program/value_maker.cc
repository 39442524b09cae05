#include "testing/program/value_maker.h"

#include <algorithm>

#include "util/coding.h"

namespace cambium::testing {
namespace {

// Bytes: writer 8, index 4, size 4, compressible 1. A shorter value holds a prefix of these.
constexpr std::size_t kSpecSize = 17;
constexpr std::size_t kWord = 8;

std::uint64_t Mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

std::string MakeValue(const ValueSpec& spec) {
  std::string value(std::max<std::size_t>(spec.size, kSpecSize) + kWord, '\0');
  EncodeFixed<std::uint64_t>(value.data(), spec.writer);
  EncodeFixed<std::uint32_t>(value.data() + 8, spec.index);
  EncodeFixed<std::uint32_t>(value.data() + 12, spec.size);
  value[16] = spec.compressible ? 1 : 0;
  const std::uint64_t seed = Mix(spec.writer * 1'000'003 + spec.index);
  for (std::size_t at = kSpecSize, i = 0; at < spec.size; at += kWord, ++i) {
    EncodeFixed<std::uint64_t>(value.data() + at, spec.compressible ? seed : Mix(seed + i));
  }
  value.resize(spec.size);
  return value;
}

std::string DescribeValue(Slice value) {
  const std::string bytes = std::to_string(value.size()) + " bytes";
  if (value.size() < kSpecSize) {
    if (value.size() < kWord) return bytes + " (" + value.ToString(true) + ")";
    return bytes + " written by operation " + std::to_string(DecodeFixed<std::uint64_t>(value.data()));
  }
  ValueSpec spec;
  spec.writer = DecodeFixed<std::uint64_t>(value.data());
  spec.index = DecodeFixed<std::uint32_t>(value.data() + 8);
  spec.size = DecodeFixed<std::uint32_t>(value.data() + 12);
  spec.compressible = value[16] != 0;
  const std::string who = " written by operation " + std::to_string(spec.writer) + "[" + std::to_string(spec.index) + "]";
  if (spec.size > (64u << 20)) return bytes + " that no operation wrote";
  const std::string right = MakeValue(spec);
  if (value == Slice(right)) return bytes + who;
  const std::size_t shared = std::min(right.size(), value.size());
  const auto differs = std::mismatch(value.begin(), value.begin() + shared, right.begin());
  return bytes + who + ", damaged from byte " + std::to_string(differs.first - value.begin()) + " of " +
         std::to_string(right.size());
}

}  // namespace cambium::testing
