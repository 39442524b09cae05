#include "util/coding.h"

namespace cambium {

void PutVarint64(std::string* out, std::uint64_t value) {
  char bytes[kMaxVarint64Size];
  std::size_t n = 0;
  while (value >= 0x80) {
    bytes[n++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes[n++] = static_cast<char>(value);
  out->append(bytes, n);
}

void PutLengthPrefixed(std::string* out, Slice bytes) {
  PutVarint64(out, bytes.size());
  out->append(bytes.data(), bytes.size());
}

bool GetVarint64(Slice* in, std::uint64_t* value) {
  std::uint64_t result = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (in->empty()) return false;
    const auto byte = static_cast<unsigned char>((*in)[0]);
    in->remove_prefix(1);
    if (shift == 63 && byte > 1) return false;  // more than 64 bits
    result |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}

bool GetVarint32(Slice* in, std::uint32_t* value) {
  std::uint64_t wide;
  if (!GetVarint64(in, &wide) || wide > 0xffffffffu) return false;
  *value = static_cast<std::uint32_t>(wide);
  return true;
}

bool GetLengthPrefixed(Slice* in, Slice* bytes) {
  std::uint64_t size;
  if (!GetVarint64(in, &size) || size > in->size()) return false;
  *bytes = in->substr(0, size);
  in->remove_prefix(size);
  return true;
}

}  // namespace cambium
