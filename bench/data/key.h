// Key: the bytes of key number `id`, in the form that db_bench, Badger's benchmark or YCSB gives them.
//
//   db_bench    offset  size           field
//                    0  P              prefix, if keys_per_prefix > 0: id mod (num / keys_per_prefix), big-endian.
//                                      Longer than 8 bytes: padded with '0'. Shorter: the number's last bytes
//                    P  8              id, big-endian, so that byte order is the order of numbers
//                P + 8  size - P - 8   the character '0'
//   Badger      "vsz=%05d-k=%010d", the value size and id: 22 bytes
//   YCSB        "user" and the FNV-1 hash of id as YCSB computes it, in at least `zeropadding` decimal digits. So keys
//               are not in the order of ids, and a key does not contain its id
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "cambium/slice.h"

namespace cambium::bench {

inline constexpr std::size_t kKeySizeMin = 8;

enum class KeyStyle : unsigned char { kDbBench, kBadger, kYcsb };

struct KeyShape {
  KeyStyle style = KeyStyle::kDbBench;
  std::size_t size = 16;            // bytes of a db_bench key
  std::size_t prefix_size = 0;      // bytes of a db_bench key's prefix
  std::uint64_t prefix_count = 0;   // 0: no prefix
  std::size_t value_size = 0;       // named in Badger's keys
  unsigned digits = 1;              // the least number of digits in a YCSB key

  KeyShape() = default;
  explicit KeyShape(std::size_t key_size) : size(key_size) {}

  // The size of a key; of most keys, where sizes differ.
  [[nodiscard]] std::size_t TypicalSize() const {
    switch (style) {
      case KeyStyle::kDbBench: return size;
      case KeyStyle::kBadger: return 22;
      case KeyStyle::kYcsb: break;
    }
    return 4 + std::max<std::size_t>(19, digits);
  }
  // Whether keys sort in the order of their ids.
  [[nodiscard]] bool InOrder() const {
    return style == KeyStyle::kBadger || (style == KeyStyle::kDbBench && prefix_count == 0);
  }
  // Whether ParseKey() can tell the id of a key.
  [[nodiscard]] bool HasIds() const { return style != KeyStyle::kYcsb; }
};

// Returns the same hash as Utils.fnvhash64 of YCSB (Java package site.ycsb): FNV over the eight bytes of a number,
// lowest first, made positive.
constexpr std::uint64_t YcsbHash(std::uint64_t value) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (int i = 0; i < 8; ++i) {
    hash = (hash ^ (value & 0xff)) * 1099511628211u;
    value >>= 8;
  }
  const auto number = static_cast<std::int64_t>(hash);
  return static_cast<std::uint64_t>(number < 0 ? -number : number);
}

// A KeyBuffer makes keys of one shape. One thread at a time.
class KeyBuffer {
 public:
  explicit KeyBuffer(const KeyShape& shape) : shape_(shape), bytes_(shape.size, '0') {}
  explicit KeyBuffer(std::size_t key_size) : KeyBuffer(KeyShape(key_size)) {}

  // Returns key number `id`. The bytes live until the next call.
  Slice Make(std::uint64_t id) {
    if (shape_.style != KeyStyle::kDbBench) return MakeText(id);
    std::size_t at = 0;
    if (shape_.prefix_count > 0) {
      const std::size_t digits = std::min<std::size_t>(shape_.prefix_size, 8);
      for (std::size_t i = 0; i < digits; ++i) {
        bytes_[i] = static_cast<char>((id % shape_.prefix_count) >> (8 * (digits - 1 - i)));
      }
      at = shape_.prefix_size;
    }
    for (std::size_t i = 0; i < 8; ++i) bytes_[at + i] = static_cast<char>(id >> (56 - 8 * i));
    return bytes_;
  }

 private:
  Slice MakeText(std::uint64_t id) {
    char text[128];  // YCSB's keys have at most a hundred digits
    const int n = shape_.style == KeyStyle::kBadger
                      ? std::snprintf(text, sizeof(text), "vsz=%05zu-k=%010llu", shape_.value_size,
                                      static_cast<unsigned long long>(id))
                      : std::snprintf(text, sizeof(text), "user%0*llu", static_cast<int>(shape_.digits),
                                      static_cast<unsigned long long>(YcsbHash(id)));
    bytes_.assign(text, static_cast<std::size_t>(n));
    return bytes_;
  }

  KeyShape shape_;
  std::string bytes_;
};

// Returns the id of a key that a database gave back, or nothing if `key` does not have that shape, or if keys of that
// shape do not contain their ids.
inline std::optional<std::uint64_t> ParseKey(Slice key, const KeyShape& shape) {
  std::uint64_t id = 0;
  if (shape.style == KeyStyle::kBadger) {
    for (std::size_t i = key.size() - std::min<std::size_t>(key.size(), 10); i < key.size(); ++i) {
      id = id * 10 + static_cast<unsigned char>(key.data()[i] - '0') % 10;
    }
  } else if (shape.style == KeyStyle::kDbBench && key.size() == shape.size) {
    const std::size_t at = shape.prefix_count > 0 ? shape.prefix_size : 0;
    for (std::size_t i = 0; i < 8; ++i) id = (id << 8) | static_cast<unsigned char>(key.data()[at + i]);
  } else {
    return std::nullopt;
  }
  if (KeyBuffer(shape).Make(id) != key) return std::nullopt;
  return id;
}
inline std::optional<std::uint64_t> ParseKey(Slice key, std::size_t key_size) {
  return ParseKey(key, KeyShape(key_size));
}

}  // namespace cambium::bench
