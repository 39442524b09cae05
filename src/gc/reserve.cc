#include "gc/reserve.h"

#include <algorithm>

#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::uint64_t kKiB = 1u << 10;
constexpr std::uint64_t kMiB = 1u << 20;
// With fewer bytes, a run mostly fills its blocks only in part.
constexpr std::uint64_t kTableBytesLeast = 64 * kKiB;

}  // namespace

std::uint64_t ReserveForKeys(const ReserveInput& database) {
  constexpr double kSmallShare = 1.0 / 16;
  const bool is_small = database.on_disk < 16 * kMiB;
  // A step of log GC takes at most half of the free bytes, and may lose half of those.
  const double footers = is_small ? 4 : 8;
  const std::uint64_t most = database.on_disk / (is_small ? 16 : 10);
  const double share =
      static_cast<double>(database.footer_bytes) / static_cast<double>(std::max<std::uint64_t>(database.log_bytes, 1));
  if (share <= kSmallShare || MutantIs(Mutant::kReserveIgnoresKeys)) return 0;
  const double wanted = footers * (share - kSmallShare) * static_cast<double>(database.segment_bytes);
  return std::min({static_cast<std::uint64_t>(wanted), most, database.slack_bytes / 4});
}

std::uint64_t ReserveBytes(const ReserveInput& database) {
  const std::uint64_t on_disk = database.on_disk;
  if (on_disk < kMiB) return 0;
  const std::uint64_t share = std::clamp(on_disk / 25, kMiB, 64 * kMiB);
  const std::uint64_t most = std::min(on_disk / 16, std::max(512 * kKiB, on_disk / 20));
  return (std::min(share, most) + ReserveForKeys(database)) / (4 * kKiB) * (4 * kKiB);
}

std::uint64_t KeptForOpen(std::uint64_t reserve_bytes) {
  return std::min(reserve_bytes / 2, std::max(reserve_bytes / 16, 128 * kKiB));
}

bool IsWorthResizing(std::uint64_t has, std::uint64_t wanted) { return has < wanted - wanted / 4 || has > 2 * wanted; }

std::uint64_t FreeBytesToGoOn(std::uint64_t missing, std::uint64_t wanted, bool may_free_more) {
  return missing + (may_free_more ? wanted / 2 : 0) + 2 * kFreeBytesLeft;
}

std::uint64_t TableBytesMax(std::uint64_t free_bytes, std::uint64_t left) {
  return std::max(kTableBytesLeast, (free_bytes - std::min(free_bytes, left)) / 2);
}

std::uint64_t BytesUntilNextLook(std::uint64_t free_bytes) { return std::clamp(free_bytes / 8, 16 * kKiB, 64 * kMiB); }

}  // namespace cambium
