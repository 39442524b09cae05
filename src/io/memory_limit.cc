#include "io/memory_limit.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

#include "io/control_group.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// Version 1 writes a number near 2^63 for "no limit".
constexpr std::uint64_t kNoLimitFrom = std::uint64_t{1} << 62;
// mountinfo has a line for each mount; more is not read.
constexpr std::size_t kTextMax = std::size_t{1} << 20;

// The text of a file of the kernel, whose size is not known before it is read; "" if it cannot be read.
std::string ReadKernelFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string text;
  char piece[4096];
  while (text.size() < kTextMax) {
    const ssize_t n = ::read(fd, piece, sizeof(piece));
    if (n <= 0) break;
    text.append(piece, static_cast<std::size_t>(n));
  }
  ::close(fd);
  return text;
}

// "max", or a text that is no number, means no limit.
std::optional<std::uint64_t> ParseLimit(std::string_view text) {
  std::uint64_t bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (error != std::errc() || end == text.data() || bytes >= kNoLimitFrom) return std::nullopt;
  return bytes;
}

}  // namespace

std::optional<MemoryLimit> FindMemoryLimit(const std::string& root) {
  using enum ControlGroupVersion;
  const std::string mountinfo = ReadKernelFile(root + "/proc/self/mountinfo");
  const std::string cgroup = ReadKernelFile(root + "/proc/self/cgroup");
  std::optional<MemoryLimit> lowest;
  for (const ControlGroupVersion version : {kV1, kV2}) {
    ControlGroup group;
    ControlGroupLack lack{};
    if (!FindOwnMemoryGroup(mountinfo, cgroup, version, &group, &lack)) continue;
    do {
      const std::string file =
          root + group.mount_point + group.below + (version == kV1 ? "/memory.limit_in_bytes" : "/memory.max");
      const std::optional<std::uint64_t> bytes = ParseLimit(ReadKernelFile(file));
      if (bytes.has_value() && (!lowest.has_value() || *bytes < lowest->bytes)) lowest = MemoryLimit{*bytes, file};
      if (MutantIs(Mutant::kGroupsAboveIgnored)) break;
    } while (GoToParentGroup(&group.below));
  }
  return lowest;
}

}  // namespace cambium
