#include "vlog/segment_map.h"

#include <algorithm>
#include <new>

namespace cambium {
namespace {

constexpr unsigned kReadsBetweenProbesMin = 8;
constexpr unsigned kReadsBetweenProbesMax = 64;
// A probe is a system call that walks 256 pages; at every 512th copy it was 4 % of a warm scan.
constexpr unsigned kCopiesBetweenProbesMin = 512;
constexpr unsigned kCopiesBetweenProbesMax = 8192;

// Decides when a thread asks the kernel again. The counts are over all maps that the thread reads.
struct ProbeCounters {
  unsigned reads = 0;
  unsigned reads_between = kReadsBetweenProbesMin;
  unsigned copies = 0;
  unsigned copies_between = kCopiesBetweenProbesMin;

  // These count a read or a copy, and return true if a probe is due.
  bool CountRead() {
    if (++reads < reads_between) return false;
    reads = 0;
    return true;
  }
  bool CountCopy() {
    if (++copies < copies_between) return false;
    copies = 0;
    return true;
  }
  // `was_right`: a chunk believed to be resident still is.
  void LearnFromCopy(bool was_right) {
    copies_between = was_right ? std::min(2 * copies_between, kCopiesBetweenProbesMax) : kCopiesBetweenProbesMin;
  }
  // The same for a chunk believed not to be resident.
  void LearnFromRead(bool was_right) {
    reads_between = was_right ? std::min(2 * reads_between, kReadsBetweenProbesMax) : kReadsBetweenProbesMin;
  }
};

thread_local constinit ProbeCounters counters;

}  // namespace

void SegmentMap::ResetThreadCounters() { counters = ProbeCounters(); }

const MappedRegion* SegmentMap::Find(std::uint64_t offset, std::size_t size) {
  const std::uint64_t end = offset + size;
  if (end > kChunks * kChunk || end > end_.load(std::memory_order_acquire)) return nullptr;
  if (cannot_map_.load(std::memory_order_relaxed)) return nullptr;
  for (std::size_t chunk = offset / kChunk; chunk * kChunk < end; ++chunk) {
    const bool is_resident = IsResident(chunk);
    if (is_resident) {
      if (!counters.CountCopy()) continue;
      const bool is_still_resident = Probe(chunk);
      counters.LearnFromCopy(is_still_resident);
      if (!is_still_resident) return nullptr;
    } else {
      if (!counters.CountRead()) return nullptr;
      const bool has_become_resident = Probe(chunk);
      counters.LearnFromRead(!has_become_resident);
      if (!has_become_resident) return nullptr;
    }
  }
  const MappedRegion* const region = MapIfNeeded();
  return region != nullptr && end <= region->size() ? region : nullptr;
}

void SegmentMap::NoteVerified(std::uint64_t offset) noexcept {
  const std::uint64_t granule = offset / kVerifiedMin;
  if (granule / kBits >= verified_words_ || region_.load(std::memory_order_acquire) == nullptr) return;
  std::atomic<std::uint64_t>* words = verified_.load(std::memory_order_acquire);
  if (words == nullptr) {
    auto* const made = new (std::nothrow) std::atomic<std::uint64_t>[verified_words_]();
    if (made == nullptr) return;
    if (verified_.compare_exchange_strong(words, made, std::memory_order_acq_rel)) {
      words = made;
    } else {
      delete[] made;
    }
  }
  words[granule / kBits].fetch_or(std::uint64_t{1} << granule % kBits, std::memory_order_relaxed);
}

bool SegmentMap::Probe(std::size_t chunk) {
  FileInfo info;
  if (!file_.GetInfo(&info).ok()) return false;
  // Only written records are read, so whether the zeros after the end of the log are in the page cache does not matter.
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
    const bool is_new = (word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0;
    const MappedRegion* const region = is_new ? MapIfNeeded() : nullptr;
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
  const MappedRegion* other = nullptr;
  if (!region_.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel)) return other;
  return made.release();
}

}  // namespace cambium
