#include "vlog/segment_map.h"

#include <algorithm>

namespace cambium {
namespace {

constexpr unsigned kReadsBetweenLooks = 8;
// To look is a system call that walks 256 pages; at every 512th copy it was 4 % of a warm scan.
constexpr unsigned kCopiesBetweenLooksMin = 512;
constexpr unsigned kCopiesBetweenLooksMax = 8192;

// When a thread asks again, whatever it reads.
struct Turns {
  unsigned reads = 0;
  unsigned copies = 0;
  unsigned copies_between = kCopiesBetweenLooksMin;

  bool IsLookOfRead() { return ++reads % kReadsBetweenLooks == 0; }
  bool IsLookOfCopy() {
    if (++copies < copies_between) return false;
    copies = 0;
    return true;
  }
  // What was believed to be resident is or is not.
  void Learn(bool was_right) {
    copies_between = was_right ? std::min(2 * copies_between, kCopiesBetweenLooksMax) : kCopiesBetweenLooksMin;
  }
};

thread_local constinit Turns turns;

}  // namespace

void SegmentMap::BeginTurnsAnew() { turns = Turns(); }

const MappedRegion* SegmentMap::Find(std::uint64_t offset, std::size_t size) {
  const std::uint64_t end = offset + size;
  if (end > kChunks * kChunk || end > end_.load(std::memory_order_acquire)) return nullptr;
  if (cannot_map_.load(std::memory_order_relaxed)) return nullptr;
  for (std::size_t chunk = offset / kChunk; chunk * kChunk < end; ++chunk) {
    const bool is_resident = IsResident(chunk);
    if (is_resident) {
      if (!turns.IsLookOfCopy()) continue;
      const bool is_there = Look(chunk);
      turns.Learn(is_there);
      if (!is_there) return nullptr;
    } else if (!turns.IsLookOfRead() || !Look(chunk)) {
      return nullptr;
    }
  }
  const MappedRegion* const region = MapIfNeeded();
  return region != nullptr && end <= region->size() ? region : nullptr;
}

bool SegmentMap::Look(std::size_t chunk) {
  FileInfo info;
  if (!file_.GetInfo(&info).ok()) return false;
  // What the file was given ahead of the log is in nobody's cache.
  const std::uint64_t end = std::min(info.size, end_.load(std::memory_order_acquire));
  if (chunk * kChunk >= end) return false;
  const std::uint64_t length = std::min<std::uint64_t>(kChunk, end - chunk * kChunk);
  std::uint64_t resident = 0;
  const Status asked = file_.Residency(chunk * kChunk, length, &resident);
  if (asked.IsNotSupported()) cannot_map_.store(true, std::memory_order_relaxed);
  const bool is_resident = asked.ok() && resident == length;
  const std::uint64_t bit = std::uint64_t{1} << chunk % kBits;
  auto& word = resident_[chunk / kBits];
  if (is_resident) {
    const bool is_news = (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
    const MappedRegion* const region = is_news ? MapIfNeeded() : nullptr;
    if (region != nullptr) region->Populate(chunk * kChunk, length);
  } else {
    word.fetch_and(~bit, std::memory_order_relaxed);
  }
  return is_resident;
}

const MappedRegion* SegmentMap::MapIfNeeded() {
  if (const MappedRegion* region = region_.load(std::memory_order_acquire); region != nullptr) return region;
  FileInfo info;
  std::unique_ptr<MappedRegion> made;
  if (!file_.GetInfo(&info).ok() || !file_.Map(0, std::max(info.size, expected_size_), &made).ok()) {
    cannot_map_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  const MappedRegion* there = nullptr;
  if (!region_.compare_exchange_strong(there, made.get(), std::memory_order_acq_rel)) return there;
  return made.release();
}

}  // namespace cambium
