// The reserve: space that a database holds back, in a file of its own, for the moment when the disk is full. Pure
// functions of numbers; DiskKeeper (upkeep/reserve.cc) creates the file and releases it.
//
//   what deletes need before they free anything   a log segment for them, a run or the pages of one flush, a step of a
//                                                 sweep or level compaction, a step of log GC, and a MANIFEST record
//                                                 each
//
// All of these grow with the database, and so does the reserve: 2 % of it, at most 64 MiB, the default size of a
// memtable. In a small database each new file takes a block, however little is in it, and 2 % would be less than one
// block: hence at least 256 KiB, but never more than a sixteenth of the database. These 256 KiB are less than the
// amount by which gc/space.h lets any database exceed its ceiling: two segments and a step of log GC, each of at least
// one MiB unless blob_file_size is less. A database below one MiB keeps no reserve.
//
// A quarter of the reserve, but at least 16 KiB and at most one MiB, is held longer: for the next Open, which must
// write a MANIFEST before it can free anything.
#pragma once

#include <cstdint>

namespace cambium {

// The reserve of a database that takes `on_disk` bytes, not counting the reserve.
[[nodiscard]] std::uint64_t ReserveBytes(std::uint64_t on_disk);
// The part of the reserve that is held for the next Open.
[[nodiscard]] std::uint64_t KeptForOpen(std::uint64_t reserve_bytes);
// Whether a reserve of `has` bytes should be resized to `wanted`: not for each small difference.
[[nodiscard]] bool IsWorthResizing(std::uint64_t has, std::uint64_t wanted);

// If at least this many bytes are free, the disk no longer counts as full: `missing` bytes to refill the reserve, and
// some for writers, because otherwise the disk would be full again at once.
[[nodiscard]] std::uint64_t FreeBytesToGoOn(std::uint64_t missing, std::uint64_t wanted);
// Free bytes that writers must leave. Some file systems report a lack of space only in a sync. These bytes prevent a
// sync of the log from failing for that reason.
inline constexpr std::uint64_t kFreeBytesLeft = 64u << 10;
// The bytes of memtables that can still be flushed, given the free bytes and what the reserve would release.
[[nodiscard]] std::uint64_t TableBytesMax(std::uint64_t free_bytes, std::uint64_t releasable);
// How many bytes may be logged before the free space is checked again.
[[nodiscard]] std::uint64_t BytesUntilNextLook(std::uint64_t free_bytes);

}  // namespace cambium
