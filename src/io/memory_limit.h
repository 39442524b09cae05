// The limit of memory that control groups set for this process, versions 1 and 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace cambium {

struct MemoryLimit {
  std::uint64_t bytes = 0;
  std::string file;  // that sets it
};

// The lowest limit of the group of this process and of the groups above it, as far as they are mounted. Nothing if none
// sets a limit, or the files cannot be read. All paths begin with `root`, which is "" except in tests.
[[nodiscard]] std::optional<MemoryLimit> FindMemoryLimit(const std::string& root);

}  // namespace cambium
