// SegmentMap: a segment of the log in the process's memory, for values that the page cache holds anyway.
//
// A value that is in the page cache is copied out of the mapping, without a system call. One that is not is left to a
// read of exactly its size: a fault on a mapping reads whole pages, one after the other, and nobody can do anything else
// meanwhile. So a mapping is only as good as what is known of the page cache:
//
//   chunk of 1 MiB  ── not resident ──▶ values are read; every 8th read of a thread asks the system about its chunk
//                   ── resident ──────▶ values are copied; every 512th copy of a thread asks again, and more rarely, up
//                                       to every 8192nd, as long as the answer is the same
//
// A segment that still grows is mapped at once for all that it may become, and used as far as it is written: nothing
// below that changes any more.
//
// What is known may be wrong by now. Then a copy waits for the disk, as a read would have; it is never wrong.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "cambium/file_system.h"

namespace cambium {

// Any thread.
class SegmentMap {
 public:
  // `file` outlives this. It may grow to about `expected_size`; what it grows beyond that is not mapped.
  SegmentMap(const File& file, std::uint64_t expected_size) : file_(file), expected_size_(expected_size) {}
  ~SegmentMap() { delete region_.load(std::memory_order_acquire); }
  SegmentMap(const SegmentMap&) = delete;
  SegmentMap& operator=(const SegmentMap&) = delete;

  // The file from its first byte on, if [offset, offset + size), size > 0, lies in it and is believed to be in the page
  // cache. Null: read the file.
  [[nodiscard]] const MappedRegion* Find(std::uint64_t offset, std::size_t size);

  // Everything below `end` is written and stays as it is. One thread at a time; told rarely enough for readers to have the
  // line in their caches.
  void Grow(std::uint64_t end) {
    if (end / kStep > end_.load(std::memory_order_relaxed) / kStep) end_.store(end, std::memory_order_release);
  }
  // Nothing is written any more, and values end there. What reaches behind that is read: a mapping cannot say where the
  // file ends.
  void Complete(std::uint64_t end) { end_.store(end, std::memory_order_release); }

  // When a thread asks the system next depends on what it has read before, in any database. Tests that count calls begin
  // anew.
  static void BeginTurnsAnew();

 private:
  static constexpr std::uint64_t kStep = 64u << 10;
  static constexpr std::uint64_t kChunk = 1u << 20;
  static constexpr std::size_t kChunks = (std::uint64_t{1} << 30) / kChunk;  // of the largest segment
  static constexpr std::size_t kBits = 64;

  [[nodiscard]] bool IsResident(std::size_t chunk) const {
    return (resident_[chunk / kBits].load(std::memory_order_relaxed) >> chunk % kBits & 1) != 0;
  }
  // Asks the system.
  bool Look(std::size_t chunk);
  const MappedRegion* MapIfNeeded();

  const File& file_;
  const std::uint64_t expected_size_;
  std::atomic<std::uint64_t> end_{0};  // what lies behind it is read
  std::atomic<const MappedRegion*> region_{nullptr};
  std::atomic<bool> cannot_map_{false};  // not here, or not now: it is not tried again
  std::atomic<std::uint64_t> resident_[kChunks / kBits] = {};
};

}  // namespace cambium
