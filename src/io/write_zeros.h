// WriteZeros: writes zeros into a range of a file.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "cambium/file_system.h"
#include "util/result.h"

namespace cambium {

// Any size. After an error some of the zeros may be written. Allocates no memory.
[[nodiscard]] inline Status WriteZeros(File* file, std::uint64_t offset, std::uint64_t length) {
  static constexpr std::array<char, 64u << 10> kZeros{};
  std::array<Slice, 16> pieces;
  while (length > 0) {
    std::size_t count = 0;
    std::uint64_t size = 0;
    for (; count < pieces.size() && size < length; ++count) {
      const std::uint64_t n = std::min<std::uint64_t>(kZeros.size(), length - size);
      pieces[count] = Slice(kZeros.data(), n);
      size += n;
    }
    CAMBIUM_RETURN_IF_ERROR(file->WriteVectored(offset, std::span(pieces).first(count)));
    offset += size;
    length -= size;
  }
  return Status::OK();
}

}  // namespace cambium
