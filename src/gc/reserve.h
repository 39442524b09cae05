// The reserve: space that a database holds back, in a file of its own, for the moment when the disk is full. Pure
// functions of numbers; DiskKeeper (upkeep/space/reserve.cc) creates the file and releases it.
//
// Deletes need space before they free any: for a log segment, for a run or the pages of one flush, for a step of a
// sweep or level compaction, for a step of log GC, and for a MANIFEST record of each. All of these grow with the
// database, and so does the reserve: 4 % of the database, at most 64 MiB, the default size of a memtable. With values
// of 1,000 bytes and more the index takes less than 4 %, so a compaction fits. In a small database each new file takes
// a block, however little is in it, so below 25 MiB the reserve has 1 MiB, but no more than a twentieth of the
// database, and below 10 MiB it has 512 KiB, but no more than a sixteenth. The ceiling leaves room for it: gc/space.h
// lets any database exceed S * L by two segments and a step of log GC, each of at least 1 MiB unless blob_file_size is
// less. A database below 1 MiB keeps no reserve.
//
// When log GC moves a value, the disk holds its key three more times until the old segment is empty and the run is
// merged: in the new record, in the new segment's footer, and in a run. If keys are long, or values short, these bytes
// are not small. So the reserve also has eight times the part of a segment's footer that exceeds a 16th of the segment,
// but at most a tenth of the database, and a quarter of the space that the ceiling leaves. In a database below 16 MiB
// it has four times this part, but at most a sixteenth of the database.
//
// When the reserve is released, a part of it is kept for the next Open, which must write a MANIFEST before it can free
// anything. This part is a sixteenth of the reserve, but at least 128 KiB, and at most half of the reserve.
#pragma once

#include <cstdint>

namespace cambium {

struct ReserveInput {
  std::uint64_t on_disk = 0;        // not counting the reserve
  std::uint64_t log_bytes = 0;      // the part of on_disk that is in the log
  std::uint64_t footer_bytes = 0;   // the part of log_bytes that headers and footers of segments take for live records
  std::uint64_t segment_bytes = 0;  // the size at which a segment ends
  std::uint64_t slack_bytes = 0;    // the bytes that the ceiling leaves above the live ones
};
// The size of the reserve.
[[nodiscard]] std::uint64_t ReserveBytes(const ReserveInput& database);
// The part of the reserve that is for keys. Deletes leave it to log GC.
[[nodiscard]] std::uint64_t ReserveForKeys(const ReserveInput& database);
// The part of the reserve that is kept for the next Open.
[[nodiscard]] std::uint64_t KeptForOpen(std::uint64_t reserve_bytes);
// Whether a reserve of `has` bytes should be resized to `wanted`: not for each small difference.
[[nodiscard]] bool IsWorthResizing(std::uint64_t has, std::uint64_t wanted);

// If at least this many bytes are free, the disk no longer counts as full: `missing` bytes to refill the reserve, and
// some for writers, because otherwise the disk would be full again at once. As long as jobs may free more, writers get
// half of the reserve: with less, they would only interrupt the jobs.
[[nodiscard]] std::uint64_t FreeBytesToGoOn(std::uint64_t missing, std::uint64_t wanted, bool may_free_more);
// Free bytes that writers must leave. Some file systems report a lack of space only in a sync. These bytes prevent a
// sync of the log from failing for that reason.
inline constexpr std::uint64_t kFreeBytesLeft = 64u << 10;
// Writers also leave the space that the flush of all memtables takes. Returns the size at which a memtable is frozen,
// so that this space stays small: half of the free bytes beyond `left`.
[[nodiscard]] std::uint64_t TableBytesMax(std::uint64_t free_bytes, std::uint64_t left);
// How many bytes may be logged before the free space is checked again, if this many are free for writers.
[[nodiscard]] std::uint64_t BytesUntilNextLook(std::uint64_t free_bytes);

}  // namespace cambium
