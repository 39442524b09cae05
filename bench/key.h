// Key: the bytes of key number `id`, as db_bench writes them.
//
//   offset  size           field
//        0     8           id, big-endian, so that byte order is the order of numbers
//        8     size - 8    the character '0'
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "cambium/slice.h"

namespace cambium::bench {

inline constexpr std::size_t kKeySizeMin = 8;

// One thread at a time.
class KeyBuffer {
 public:
  explicit KeyBuffer(std::size_t key_size) : bytes_(key_size, '0') {}

  // Lives until the next call.
  Slice Make(std::uint64_t id) {
    for (int i = 0; i < 8; ++i) bytes_[static_cast<std::size_t>(i)] = static_cast<char>(id >> (56 - 8 * i));
    return bytes_;
  }

 private:
  std::string bytes_;
};

// The id in a key that a database gave back; nothing if these are not the bytes of any key of that size.
inline std::optional<std::uint64_t> ParseKey(Slice key, std::size_t key_size) {
  if (key.size() != key_size) return std::nullopt;
  for (std::size_t i = 8; i < key_size; ++i) {
    if (key.data()[i] != '0') return std::nullopt;
  }
  std::uint64_t id = 0;
  for (std::size_t i = 0; i < 8; ++i) id = (id << 8) | static_cast<unsigned char>(key.data()[i]);
  return id;
}

}  // namespace cambium::bench
