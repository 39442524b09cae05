// ReplayLog applies the log from the replay position up to the first record that does not validate, in whole batches.
//
// Is that record a torn tail or damage? Each record carries a witness: the sequence number up to which the log was
// known durable when the record was written. If any record, also one after the damage, has a witness at or above the
// first missing operation, acknowledged data is lost: Corruption. Otherwise the record is the torn tail that any crash
// leaves. Replay never applies records after damage, because the result would be a state that never existed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "manifest/state.h"
#include "recovery/replay_request.h"
#include "util/result.h"
#include "vlog/entry.h"
#include "vlog/record_format.h"

namespace cambium {

// One operation of a replayed batch. Slices are valid until the callback returns.
struct ReplayedOp {
  SequenceNumber sequence = 0;
  std::uint32_t family = 0;
  Slice key;
  Entry entry;                // for the memtable
  std::uint64_t log_bytes = 0;
  LogPosition batch_begin;    // position of the first record of its batch
  bool is_range = false;      // a range delete of [key, range_end), in place of an entry; may be empty or reversed
  Slice range_end;
};

struct ReplayedSegment {
  std::uint64_t number = 0;
  std::uint64_t length = 0;            // the end of the log in it
  SequenceNumber last_sequence = 0;    // of the last operation applied up to that end
};

struct ReplayResult {
  SequenceNumber last_sequence = 0;      // of the last applied batch
  SequenceNumber proven_durable = 0;     // the highest witness read
  LogPosition end;                       // the end of the last applied batch
  // Segments to be sealed at these lengths, oldest first: unsealed ones with applied records. If kPointInTimeRecovery
  // ends the log inside a sealed segment, also that one, with its new and shorter length.
  std::vector<ReplayedSegment> adopted;
  std::vector<std::uint64_t> rejected;   // segments without applied records: empty ones, and those after the end
  std::map<std::uint64_t, std::uint32_t> large_values;  // files that applied records refer to, and their families
  std::uint64_t bytes_read = 0;
  std::string torn;                      // why the log ended early: file, offset and reason; empty for a clean end
  bool lost_durable = false;             // durable operations after that end were lost, as kPointInTimeRecovery allows
};

// Calls `apply` with each whole batch, in order. A batch may have operations that their family has flushed, and
// operations of dropped families; the callback must skip both. Writes nothing. Returns Corruption as above,
// NotSupported for a record of a later version, IOError if a file cannot be read (the log may still be whole), and any
// error of `apply`.
Result<ReplayResult> ReplayLog(const ReplayRequest& request,
                               const std::function<Status(const std::vector<ReplayedOp>&)>& apply);

}  // namespace cambium
