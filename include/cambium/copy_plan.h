// CopyPlan: what a checkpoint, a backup or a restore would do. Nothing is written to find out.
#pragma once

#include <cstdint>

namespace cambium {

// Bytes are lengths of files; holes of theirs may take less on disk. MANIFEST and OPTIONS are among what is copied.
struct CopyPlan {
  std::uint64_t linked_files = 0;  // would get a second name, and take no space
  std::uint64_t linked_bytes = 0;
  std::uint64_t copied_files = 0;  // would be written
  std::uint64_t copied_bytes = 0;
  std::uint64_t shared_files = 0;  // of a backup: that an earlier one has stored already
  std::uint64_t shared_bytes = 0;
  std::uint64_t free_bytes = 0;    // where they would be written
};

}  // namespace cambium
