// SimTampering: changes of a SimFileSystem that do not come from the program that uses it: bit rot, truncation, swapped
// blocks, foreign files. They need no handles, and no hook or fault sees them.
//
// A change is durable at once and visible in the cache; unsynced changes remain unsynced. The functions return
// PathNotFound, or InvalidArgument if the file does not have the range.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cambium/slice.h"
#include "cambium/status.h"
#include "io/sim/sim_op.h"

namespace cambium {

class SimContent;
class SimFileSystem;

// Any thread. The file system outlives it.
class SimTampering {
 public:
  explicit SimTampering(SimFileSystem* fs) : fs_(*fs) {}

  Status FlipBit(const std::string& path, std::uint64_t offset, int bit);
  Status Overwrite(const std::string& path, std::uint64_t offset, Slice bytes);
  Status Truncate(const std::string& path, std::uint64_t size);  // or grows with zeros
  Status Append(const std::string& path, Slice bytes);
  Status SwapBlocks(const std::string& path, std::uint64_t offset, std::uint64_t other, std::uint64_t length);
  Status WriteContents(const std::string& path, Slice bytes);  // creates the file and directories if needed
  Status Copy(const std::string& from, const std::string& to);
  Status Remove(const std::string& path);
  Status Rename(const std::string& from, const std::string& to);

 private:
  Status Change(const std::string& path, std::uint64_t offset, std::uint64_t length,
                const std::function<void(SimContent*)>& change);

  SimFileSystem& fs_;
};

}  // namespace cambium
