// The reserve: space that a database keeps for the moment when the disk is full, in a file of its own. Pure functions of
// numbers; api/db_full_disk.cc makes the file and gives it back.
//
//   what deletes need to give anything back    a segment of the log for them, a run or the pages of one flush, a step of a
//                                              sweep or a compaction, a step of log GC, and a MANIFEST record for each
//
// All of these grow with the database, so the reserve does: 2 % of it, at most 64 MiB, which is a memory table of the
// default size. In a small one a new file takes a block however little is in it, and 2 % of it are no blocks at all: hence
// at least 256 KiB, but never more than a sixteenth. That is within the two segments and the step of GC, a MiB each at
// least, by which gc/space.h lets any database exceed its ceiling. Below a MiB a database keeps nothing.
//
// A quarter of it is kept longer: it is for the next opening, which has to write a MANIFEST before it can free anything.
#pragma once

#include <cstdint>

namespace cambium {

// Of a database that takes so many bytes, the reserve left out.
[[nodiscard]] std::uint64_t ReserveBytes(std::uint64_t on_disk);
// Of a reserve of so many bytes.
[[nodiscard]] std::uint64_t KeptForOpening(std::uint64_t reserve_bytes);
// Whether one of `has` bytes is to become one of `wanted`: not with every flush.
[[nodiscard]] bool IsWorthResizing(std::uint64_t has, std::uint64_t wanted);

// Free bytes from which on the full disk is no longer one, `missing` of the reserve being to be taken from them: there has
// to be something left for writers too, or it would be full again at once.
[[nodiscard]] std::uint64_t FreeBytesToGoOn(std::uint64_t missing, std::uint64_t wanted);
// Free bytes that writers leave. Where the file system says only in a sync that there was no space, this is what keeps that
// sync from being one of the log.
inline constexpr std::uint64_t kFreeBytesLeft = 64u << 10;
// Memory tables that are flushed as long as there is room for it: of `free` bytes and what of the reserve would be given
// back.
[[nodiscard]] std::uint64_t TableBytesMax(std::uint64_t free_bytes, std::uint64_t releasable);
// How many more bytes may be logged before somebody asks again how many are free.
[[nodiscard]] std::uint64_t BytesUntilNextLook(std::uint64_t free_bytes);

}  // namespace cambium
