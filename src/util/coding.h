// Encodes integers as bytes: little-endian fixed widths, varints (7 bits per byte, low bits first), length-prefixed
// slices.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "cambium/slice.h"

namespace cambium {

static_assert(std::endian::native == std::endian::little, "fixed-width fields are copied from memory unchanged");

template <typename T>
inline void EncodeFixed(char* out, T value) {
  static_assert(std::is_unsigned_v<T>);
  std::memcpy(out, &value, sizeof(T));
}
template <typename T>
[[nodiscard]] inline T DecodeFixed(const char* in) {
  static_assert(std::is_unsigned_v<T>);
  T value;
  std::memcpy(&value, in, sizeof(T));
  return value;
}
template <typename T>
inline void PutFixed(std::string* out, T value) {
  char bytes[sizeof(T)];
  EncodeFixed<T>(bytes, value);
  out->append(bytes, sizeof(T));
}

inline constexpr std::size_t kMaxVarint64Size = 10;
void PutVarint64(std::string* out, std::uint64_t value);
void PutLengthPrefixed(std::string* out, Slice bytes);
// Maps signed numbers to unsigned ones such that numbers near zero, of either sign, have short varints.
[[nodiscard]] inline std::uint64_t ZigZag(std::int64_t v) {
  return (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
}
[[nodiscard]] inline std::int64_t UnZigZag(std::uint64_t v) {
  return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
}

// Each Get function decodes a value and removes its bytes from the front of *in. If the bytes are missing or malformed,
// it returns false and leaves *in unspecified. The input is not trusted: a length is never larger than the rest of *in.
[[nodiscard]] bool GetVarint64(Slice* in, std::uint64_t* value);
[[nodiscard]] bool GetVarint32(Slice* in, std::uint32_t* value);
[[nodiscard]] bool GetLengthPrefixed(Slice* in, Slice* bytes);
template <typename T>
[[nodiscard]] bool GetFixed(Slice* in, T* value) {
  if (in->size() < sizeof(T)) return false;
  *value = DecodeFixed<T>(in->data());
  in->remove_prefix(sizeof(T));
  return true;
}

// Returns the first 4 (8) bytes of `bytes` as a big-endian number, padded with zeros. Two such numbers compare as those
// bytes do.
[[nodiscard]] inline std::uint32_t BigEndianHead32(Slice bytes) {
  unsigned char head[4] = {0, 0, 0, 0};
  if (!bytes.empty()) std::memcpy(head, bytes.data(), bytes.size() < 4 ? bytes.size() : 4);
  return __builtin_bswap32(std::bit_cast<std::uint32_t>(head));
}
[[nodiscard]] inline std::uint64_t BigEndianHead64(Slice bytes) {
  unsigned char head[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  if (!bytes.empty()) std::memcpy(head, bytes.data(), bytes.size() < 8 ? bytes.size() : 8);
  return __builtin_bswap64(std::bit_cast<std::uint64_t>(head));
}

[[nodiscard]] constexpr std::uint64_t AlignUp(std::uint64_t n, std::uint64_t alignment) {
  return (n + alignment - 1) / alignment * alignment;
}

}  // namespace cambium
