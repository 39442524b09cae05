// MakeRun: a run in memory, of the keys that a kernel wants in it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heap_file.h"
#include "index/run.h"

namespace cambium::bench {

// What every key here has: a separated value of 1 KiB.
[[nodiscard]] Entry EntryOf(std::uint64_t id);

// Bytes that are enough for the pages of so many keys.
[[nodiscard]] constexpr std::size_t RoomFor(std::uint64_t keys) { return (std::size_t{1} << 20) + 40 * keys; }

// `ids` ascend.
[[nodiscard]] std::shared_ptr<const Run> MakeRun(HeapFiles* files, PagePool* pool, std::span<const std::uint64_t> ids);

// The present ids [0, n), dealt at random into `parts` ascending lists of about the same length.
[[nodiscard]] std::vector<std::vector<std::uint64_t>> DealIds(std::uint64_t n, std::size_t parts);

}  // namespace cambium::bench
