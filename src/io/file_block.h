// kFileBlock: the unit in which file systems give space to files.
#pragma once

#include <cstdint>

#include "util/coding.h"

namespace cambium {

// The default of ext4 and XFS.
inline constexpr std::uint64_t kFileBlock = 4096;

// Returns the space that a file of `size` bytes without holes takes on the disk.
[[nodiscard]] constexpr std::uint64_t InBlocks(std::uint64_t size) { return AlignUp(size, kFileBlock); }

}  // namespace cambium
