// MakeRun: makes a run in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "heap_file.h"
#include "index/run.h"

namespace cambium::bench {

// Returns the entry of every key here: a separated value of 1 KiB, in the segment of the slot.
[[nodiscard]] Entry EntryOf(std::uint64_t id, Slot slot = Slot{1});

// Returns a number of bytes that is enough for the pages of `keys` keys.
[[nodiscard]] constexpr std::size_t RoomFor(std::uint64_t keys) { return (std::size_t{1} << 20) + 40 * keys; }

// Makes a run of `ids`, which must ascend. Its values are in a segment of its own: no two layers refer to one value.
[[nodiscard]] std::shared_ptr<const Run> MakeRun(HeapFiles* files, PagePool* pool, std::span<const std::uint64_t> ids);

// Returns the first n present ids, dealt at random into `parts` ascending lists of about the same length.
[[nodiscard]] std::vector<std::vector<std::uint64_t>> DealIds(std::uint64_t n, std::size_t parts);

}  // namespace cambium::bench
