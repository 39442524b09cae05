#include "gc/reserve.h"

#include <algorithm>

namespace cambium {
namespace {

constexpr std::uint64_t kKiB = 1u << 10;
constexpr std::uint64_t kMiB = 1u << 20;

}  // namespace

std::uint64_t ReserveBytes(std::uint64_t on_disk) {
  if (on_disk < kMiB) return 0;
  const std::uint64_t share = std::clamp(on_disk / 50, 256 * kKiB, 64 * kMiB);
  return std::min(share, on_disk / 16) / (4 * kKiB) * (4 * kKiB);
}

std::uint64_t KeptForOpen(std::uint64_t reserve_bytes) {
  return std::min({reserve_bytes, std::max(reserve_bytes / 4, 16 * kKiB), kMiB});
}

bool IsWorthResizing(std::uint64_t has, std::uint64_t wanted) { return has < wanted - wanted / 4 || has > 2 * wanted; }

std::uint64_t FreeBytesToGoOn(std::uint64_t missing, std::uint64_t wanted) {
  return missing + wanted / 2 + 2 * kFreeBytesLeft;
}

std::uint64_t TableBytesMax(std::uint64_t free_bytes, std::uint64_t releasable) { return (free_bytes + releasable) / 2; }

std::uint64_t BytesUntilNextLook(std::uint64_t free_bytes) { return std::clamp(free_bytes / 8, 16 * kKiB, 64 * kMiB); }

}  // namespace cambium
