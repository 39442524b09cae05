// CopyPlan: what a checkpoint, a backup or a restore would do. It is computed without writing anything.
#pragma once

#include <cstdint>

namespace cambium {

// Bytes are file lengths; with holes, files may take less on disk. Copied files include MANIFEST and OPTIONS.
struct CopyPlan {
  std::uint64_t linked_files = 0;  // would get a second name, and take no space
  std::uint64_t linked_bytes = 0;
  std::uint64_t copied_files = 0;  // would be written
  std::uint64_t copied_bytes = 0;
  std::uint64_t shared_files = 0;  // backups only: stored already by an earlier one
  std::uint64_t shared_bytes = 0;
  std::uint64_t free_bytes = 0;    // free on the file system of the copy
};

}  // namespace cambium
