// FateOf says whether the value of a log record is still used.
//
//   live      the newest entry of its key, in the layers or in the log's tail, refers to it
//   pending   recovery would replay it: it is after the replay position, and its family has not flushed it.
//             is_newest says whether it is the newest record of its key
//   dead      otherwise: overwritten, deleted, relocated by log GC, or in a batch that recovery does not apply. Flushed
//             tombstones and values that a flush put into the index are dead in the log too
//   control   a record of the log itself: a link, a mark
//   unknown   layers needed for the answer are damaged
//
// A value that only the tail hides is dead here. Accounts and log GC count it as live until the tail is flushed.
#pragma once

#include <cstdint>

#include "inspect/database.h"
#include "vlog/record_format.h"

namespace cambium {

enum class RecordMark : std::uint8_t { kLive, kDead, kPending, kControl, kUnknown };
[[nodiscard]] const char* NameOf(RecordMark mark);

struct RecordFate {
  RecordMark mark = RecordMark::kUnknown;
  bool is_newest = false;  // after Open, a read of the key would return this record
  const char* why = "";    // a few words; empty for a live record
  // Set if the layers have another address for its key.
  ValueAddress moved_to;
};

// Returns the fate of the record at `offset` of a segment. If a page is damaged, notes a problem and returns kUnknown.
// Returns other errors.
Result<RecordFate> FateOf(InspectedDatabase* database, const SegmentInfo& info, std::uint64_t offset,
                          const RecordHeader& header, Slice key);

}  // namespace cambium
