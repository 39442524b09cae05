// The serialised form of a WriteBatch: the number of operations (4 bytes, little-endian), then each operation:
//
//   tag | [varint family] | varint key size | key | [varint size | value of a put, or end of a range delete]
#pragma once

#include <cstddef>

namespace cambium {

inline constexpr char kPutTag = 1;
inline constexpr char kDeleteTag = 2;
inline constexpr char kSingleDeleteTag = 3;
inline constexpr char kDeleteRangeTag = 4;
inline constexpr char kFamilyBit = 0x40;  // a family id follows; without this bit: the default family
inline constexpr std::size_t kCountSize = 4;

}  // namespace cambium
