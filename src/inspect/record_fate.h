// What has become of a record: whether anybody still gets its value.
//
//   live      the newest entry of its key, in the layers or in the log's tail, points to it
//   pending   an opening would replay it: it lies behind the replay position, and its family has not flushed it.
//   Whether
//             it is the newest of its key, or another pending one is, is_newest tells
//   dead      neither: overwritten, deleted, moved by log GC, or in a batch that recovery does not apply. A value that
//   lies
//             in the index is dead in the log, and so is what said that a key is deleted, once that is flushed
//   control   of the log itself: a link, a mark
//   unknown   layers that would have to be asked are damaged
//
// What only the tail hides is dead here, and counts as live for accounts and log GC, which do not believe in it before
// it is flushed.
#pragma once

#include <cstdint>

#include "inspect/database.h"
#include "vlog/record_format.h"

namespace cambium {

enum class RecordMark : std::uint8_t { kLive, kDead, kPending, kControl, kUnknown };
[[nodiscard]] const char* NameOf(RecordMark mark);

struct RecordFate {
  RecordMark mark = RecordMark::kUnknown;
  bool is_newest = false;  // reads, of an opening now, get what it says
  const char* why = "";    // a few words; empty for a live one
  // Set if the layers have a newer address of its key.
  ValueAddress moved_to;
};

// Of a record at `offset` of a segment of the database. A damaged page is a problem of the database, and kUnknown;
// other errors are returned.
Result<RecordFate> FateOf(InspectedDatabase* database, const SegmentInfo& info, std::uint64_t offset,
                          const RecordHeader& header, Slice key);

}  // namespace cambium
