// SegmentMap: a memory mapping of a segment, for values that are in the page cache.
//
// If a value is in the page cache, it is copied out of the mapping, without a system call. If it is not, it is read
// with exactly its size: page faults on a mapping would read whole pages, one by one, and block the thread for each. So
// the map keeps track of which parts are in the page cache:
//
//   chunk of 1 MiB  ── not resident ──▶ values are read; every 8th read of a thread asks the kernel about its chunk
//                   ── resident ──────▶ values are copied; every 512th copy of a thread asks again
//
// While an answer stays the same, a thread asks less often, down to every 64th read and every 8192nd copy.
//
// A segment that still grows is mapped once at its expected final size. Only the part that is written is used: its
// bytes never change.
//
// An index file is mapped in the same way, for leaves that do not fit the pool (index/index_file.h).
//
// If the page cache has changed since the kernel was asked, a copy waits for the disk, as a read would; its result is
// never wrong.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cambium/file_system.h"

namespace cambium {

// Any thread may call.
class SegmentMap {
 public:
  // `file` must outlive this object. Only the part of the file below its current size or `expected_size`, whichever is
  // larger, is mapped.
  SegmentMap(const File& file, std::uint64_t expected_size)
      : file_(file),
        expected_size_(expected_size),
        verified_words_(static_cast<std::size_t>(std::min(expected_size, kChunks * kChunk) / kVerifiedMin / kBits + 1)) {}
  ~SegmentMap() {
    delete region_.load(std::memory_order_acquire);
    delete[] verified_.load(std::memory_order_acquire);
  }
  SegmentMap(const SegmentMap&) = delete;
  SegmentMap& operator=(const SegmentMap&) = delete;

  // Returns the mapping of the file, from its first byte, if [offset, offset + size) lies in it and is believed to be
  // in the page cache; size > 0. Null: read the file instead.
  [[nodiscard]] const MappedRegion* Find(std::uint64_t offset, std::size_t size);

  // Prefetches bytes from the mapping, if there is one. A page that is not there is not read, and does not fault.
  void Prefetch(std::uint64_t offset, std::size_t n) const {
    constexpr std::size_t kLine = 64;
    const MappedRegion* const region = region_.load(std::memory_order_acquire);
    if (region == nullptr || offset + n > region->size()) return;
    const char* const bytes = region->data() + offset;
    for (std::size_t i = 0; i < n; i += kLine) __builtin_prefetch(bytes + i);
  }

  // The size of the smallest record that is noted as verified. Two such records cannot begin in one granule.
  static constexpr std::size_t kVerifiedMin = 1024;
  // Notes that the checksum of the record at `offset`, of at least kVerifiedMin bytes, was compared. Does nothing if
  // there is no mapping, or no memory for the note.
  void NoteVerified(std::uint64_t offset) noexcept;
  // True if that was noted for a record that begins in the same granule of kVerifiedMin bytes as `offset`. If a valid
  // record of at least this size begins at `offset`, it is that record.
  [[nodiscard]] bool IsVerified(std::uint64_t offset) const {
    const auto* const words = verified_.load(std::memory_order_acquire);
    const std::uint64_t granule = offset / kVerifiedMin;
    if (words == nullptr || granule / kBits >= verified_words_) return false;
    return (words[granule / kBits].load(std::memory_order_relaxed) >> granule % kBits & 1) != 0;
  }

  // Says that everything below `end` is written and will not change. One thread at a time. Stored only every kStep
  // bytes, so that readers keep the cache line.
  void Grow(std::uint64_t end) {
    if (end / kStep > end_.load(std::memory_order_relaxed) / kStep) end_.store(end, std::memory_order_release);
  }
  // Says that the segment takes no more appends and its values end at `end`. A range that reaches beyond `end` is read
  // from the file, because a mapping cannot report the end of the file.
  void Complete(std::uint64_t end) { end_.store(end, std::memory_order_release); }
  // Everything below this offset may be copied.
  [[nodiscard]] std::uint64_t end() const { return end_.load(std::memory_order_acquire); }

  // Resets this thread's counters. They count its reads in all databases and decide when it asks the kernel next; tests
  // that count calls reset them.
  static void ResetThreadCounters();

 private:
  static constexpr std::uint64_t kStep = 64u << 10;
  static constexpr std::uint64_t kChunk = 1u << 20;
  static constexpr std::size_t kChunks = (std::uint64_t{1} << 30) / kChunk;  // of the largest segment
  static constexpr std::size_t kBits = 64;

  [[nodiscard]] bool IsResident(std::size_t chunk) const {
    return (resident_[chunk / kBits].load(std::memory_order_relaxed) >> chunk % kBits & 1) != 0;
  }
  // Asks the kernel whether the chunk is resident, and notes the answer.
  bool Probe(std::size_t chunk);
  const MappedRegion* MapIfNeeded();

  const File& file_;
  const std::uint64_t expected_size_;
  std::atomic<std::uint64_t> end_{0};  // ranges that reach beyond it are read
  std::atomic<const MappedRegion*> region_{nullptr};
  std::atomic<bool> cannot_map_{false};  // mapping or asking failed: not tried again
  std::atomic<std::uint64_t> resident_[kChunks / kBits] = {};
  // A bit for each granule of kVerifiedMin bytes. Null until the first note.
  const std::size_t verified_words_;
  std::atomic<std::atomic<std::uint64_t>*> verified_{nullptr};
};

}  // namespace cambium
