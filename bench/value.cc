#include "value.h"

#include <algorithm>
#include <cstring>

#include "mix.h"
#include "util/prng.h"

namespace cambium::bench {
namespace {

constexpr std::size_t kPieceSize = 128;

std::uint64_t LoadWord(const char* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

void StoreWord(char* to, std::uint64_t word) { std::memcpy(to, &word, sizeof(word)); }

std::string MakePool(std::uint64_t seed, std::size_t period, std::size_t size, double compression_ratio) {
  Prng random(seed);
  const auto random_part = static_cast<std::size_t>(static_cast<double>(kPieceSize) * compression_ratio);
  const std::size_t fresh = std::clamp<std::size_t>(random_part, 1, kPieceSize);
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < std::min(period, size); at += kPieceSize) {
    const std::string piece = random.Bytes(fresh);
    for (std::size_t i = 0; i < kPieceSize && at + i < size; ++i) bytes[at + i] = piece[i % fresh];
  }
  for (std::size_t at = period; at < size; ++at) bytes[at] = bytes[at - period];
  return bytes;
}

}  // namespace

ValuePool::ValuePool(std::uint64_t seed, std::size_t value_size, double compression_ratio)
    : seed_(Mix(seed)),
      value_size_(value_size),
      bytes_(MakePool(seed_, kOffsets, kOffsets + value_size, compression_ratio)) {}

std::size_t ValuePool::OffsetOf(std::uint64_t id, std::uint64_t version) const {
  return Mix(seed_, id, version) % kOffsets;
}

std::array<char, kValueHeaderSize> ValuePool::ShortValue(std::uint64_t id) const {
  std::array<char, kValueHeaderSize> bytes;
  StoreWord(bytes.data(), Mix(seed_, id));
  StoreWord(bytes.data() + 8, Mix(seed_, id, 1));
  return bytes;
}

bool ValuePool::Matches(std::uint64_t id, Slice value, CheckDepth depth) const {
  if (value.size() != value_size_) return false;
  if (value_size_ == 0) return true;
  if (value_size_ < kValueHeaderSize) return std::memcmp(value.data(), ShortValue(id).data(), value_size_) == 0;
  if (LoadWord(value.data()) != id) return false;
  const char* body = value.data() + kValueHeaderSize;
  const char* expected = bytes_.data() + OffsetOf(id, LoadWord(value.data() + 8));
  const std::size_t size = value_size_ - kValueHeaderSize;
  if (depth == CheckDepth::kFull || size <= 16) return std::memcmp(body, expected, size) == 0;
  return LoadWord(body) == LoadWord(expected) && LoadWord(body + size - 8) == LoadWord(expected + size - 8);
}

std::string ValuePool::Explain(std::uint64_t id, Slice value) const {
  const std::string key = "the value of key " + std::to_string(id);
  if (value.size() != value_size_) {
    return key + " has " + std::to_string(value.size()) + " bytes instead of " + std::to_string(value_size_);
  }
  if (value_size_ >= kValueHeaderSize) {
    if (LoadWord(value.data()) != id) return key + " says it belongs to key " + std::to_string(LoadWord(value.data()));
    const std::uint64_t version = LoadWord(value.data() + 8);
    const char* expected = bytes_.data() + OffsetOf(id, version);
    for (std::size_t i = kValueHeaderSize; i < value.size(); ++i) {
      if (value.data()[i] == expected[i - kValueHeaderSize]) continue;
      return key + ", version " + std::to_string(version) + ", differs at byte " + std::to_string(i) +
             " (or was written with another --seed)";
    }
  }
  return key + " is not what was written (or was written with another --seed)";
}

ValueMaker::ValueMaker(const ValuePool& pool)
    : pool_(pool), bytes_(std::string(kValueHeaderSize, '\0') + pool.bytes()) {}

Slice ValueMaker::Make(std::uint64_t id, std::uint64_t version) {
  // What the previous header covered: the pool's bytes, except in the room in front of it, which is never read.
  const std::size_t mend = std::max(header_at_, kValueHeaderSize);
  std::memcpy(bytes_.data() + mend, pool_.bytes().data() + mend - kValueHeaderSize,
              header_at_ + kValueHeaderSize - mend);
  if (pool_.value_size() < kValueHeaderSize) {
    header_at_ = 0;
    std::memcpy(bytes_.data(), pool_.ShortValue(id).data(), kValueHeaderSize);
  } else {
    header_at_ = pool_.OffsetOf(id, version);  // so the body begins one header later in bytes_, at that pool offset
    StoreWord(bytes_.data() + header_at_, id);
    StoreWord(bytes_.data() + header_at_ + 8, version);
  }
  return {bytes_.data() + header_at_, pool_.value_size()};
}

}  // namespace cambium::bench
