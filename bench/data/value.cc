#include "data/value.h"

#include <algorithm>
#include <cstring>

#include "data/mix.h"
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

ValuePool::ValuePool(std::uint64_t seed, const ValueSizes& sizes, double compression_ratio, std::size_t room)
    : seed_(Mix(seed)),
      sizes_(sizes),
      size_max_(std::max(room, sizes.max)),
      size_typical_(static_cast<std::size_t>(sizes.Mean())),
      bytes_(MakePool(seed_, kOffsets, kOffsets + size_max_, compression_ratio)) {}

ValuePool::ValuePool(std::uint64_t seed, const std::vector<std::string>& files) : seed_(Mix(seed)) {
  std::size_t total = 0;
  sizes_ = {SizeDistribution::kUniform, files.front().size(), files.front().size()};
  for (const std::string& file : files) {
    total += file.size();
    file_ends_.push_back(total);
    sizes_.min = std::min(sizes_.min, file.size());
    sizes_.max = std::max(sizes_.max, file.size());
  }
  sizes_.min += kValueHeaderSize;
  sizes_.max += kValueHeaderSize;
  size_max_ = sizes_.max;
  size_typical_ = kValueHeaderSize + total / files.size();
  bytes_.reserve(total);
  for (const std::string& file : files) bytes_ += file;
}

std::size_t ValuePool::FileOf(std::uint64_t id, std::uint64_t version) const {
  return Mix(seed_, id, version) % file_ends_.size();
}

std::size_t ValuePool::SizeOf(std::uint64_t id, std::uint64_t version) const {
  if (OfFiles()) {
    const std::size_t file = FileOf(id, version);
    return kValueHeaderSize + file_ends_[file] - FileBegin(file);
  }
  return sizes_.fixed() ? sizes_.max : sizes_.Of(Mix(seed_, version, id));
}

std::size_t ValuePool::OffsetOf(std::uint64_t id, std::uint64_t version, std::size_t size) const {
  return OfFiles() ? FileBegin(FileOf(id, version)) : Mix(seed_, id, version, size) % kOffsets;
}

std::array<char, kValueHeaderSize> ValuePool::ShortValue(std::uint64_t id, std::size_t size) const {
  std::array<char, kValueHeaderSize> bytes;
  StoreWord(bytes.data(), Mix(seed_, id, size));
  StoreWord(bytes.data() + 8, Mix(seed_, id, size, 1));
  return bytes;
}

bool ValuePool::SizeMayBe(std::uint64_t id, std::uint64_t version, std::size_t size) const {
  if (OfFiles()) return size == SizeOf(id, version);
  return fixed() ? size == size_max_ : size <= size_max_;
}

bool ValuePool::Matches(std::uint64_t id, Slice value, CheckDepth depth) const {
  if (value.size() < kValueHeaderSize) {
    return !OfFiles() && SizeMayBe(id, 0, value.size()) &&
           std::memcmp(value.data(), ShortValue(id, value.size()).data(), value.size()) == 0;
  }
  if (LoadWord(value.data()) != id) return false;
  const std::uint64_t version = LoadWord(value.data() + 8);
  if (!SizeMayBe(id, version, value.size())) return false;
  const char* body = value.data() + kValueHeaderSize;
  const char* expected = bytes_.data() + OffsetOf(id, version, value.size());
  const std::size_t size = value.size() - kValueHeaderSize;
  if (depth == CheckDepth::kFull || size <= 16) return std::memcmp(body, expected, size) == 0;
  return LoadWord(body) == LoadWord(expected) && LoadWord(body + size - 8) == LoadWord(expected + size - 8);
}

std::string ValuePool::Explain(std::uint64_t id, Slice value) const {
  const std::string key = "the value of key " + std::to_string(id);
  const std::uint64_t version = value.size() < kValueHeaderSize ? 0 : LoadWord(value.data() + 8);
  if (!SizeMayBe(id, version, value.size())) {
    return key + " has " + std::to_string(value.size()) + " bytes instead of " +
           (OfFiles() || fixed() ? std::to_string(SizeOf(id, version)) : "at most " + std::to_string(size_max_));
  }
  if (value.size() >= kValueHeaderSize) {
    if (LoadWord(value.data()) != id) return key + " says it belongs to key " + std::to_string(LoadWord(value.data()));
    const char* expected = bytes_.data() + OffsetOf(id, version, value.size());
    for (std::size_t i = kValueHeaderSize; i < value.size(); ++i) {
      if (value.data()[i] == expected[i - kValueHeaderSize]) continue;
      return key + ", version " + std::to_string(version) + ", differs at byte " + std::to_string(i) +
             " (or was written with another --seed, or another size)";
    }
  }
  return key + " is not what was written (or was written with another --seed)";
}

std::uint64_t IdInValue(Slice value) { return value.size() < kValueHeaderSize ? 0 : LoadWord(value.data()); }

std::optional<std::uint64_t> VersionInValue(Slice value) {
  return value.size() < kValueHeaderSize ? std::nullopt : std::optional(LoadWord(value.data() + 8));
}

ValueMaker::ValueMaker(const ValuePool& pool)
    : pool_(pool),
      copies_(pool.OfFiles()),
      bytes_(copies_ ? std::string() : std::string(kValueHeaderSize, '\0') + pool.bytes()) {}

Slice ValueMaker::Make(std::uint64_t id, std::uint64_t version, std::size_t size) {
  if (copies_) {
    bytes_.assign(kValueHeaderSize, '\0');
    bytes_.append(pool_.bytes(), pool_.OffsetOf(id, version, size), size - kValueHeaderSize);
    header_at_ = 0;
  } else {
    // Restores the pool's bytes under the previous header. The room in front of the pool is never read.
    const std::size_t mend = std::max(header_at_, kValueHeaderSize);
    std::memcpy(bytes_.data() + mend, pool_.bytes().data() + mend - kValueHeaderSize,
                header_at_ + kValueHeaderSize - mend);
    if (size < kValueHeaderSize) {
      header_at_ = 0;
      std::memcpy(bytes_.data(), pool_.ShortValue(id, size).data(), kValueHeaderSize);
      return {bytes_.data(), size};
    }
    header_at_ = pool_.OffsetOf(id, version, size);  // the body follows the header, at this offset of the pool
  }
  StoreWord(bytes_.data() + header_at_, id);
  StoreWord(bytes_.data() + header_at_ + 8, version);
  return {bytes_.data() + header_at_, size};
}

}  // namespace cambium::bench
