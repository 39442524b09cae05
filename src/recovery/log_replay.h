// Replaying the log: from the replay position to the first thing that does not validate, whole batches only.
//
// Which end is it? Every record carries how far the log was known durable when it was written. Damage at or below the
// highest such witness, wherever it stands, has destroyed acknowledged data: Corruption. Above it, a torn tail, which
// any crash leaves. Applying never goes on behind damage, because what came back would be a state that never was.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "cambium/logger.h"
#include "cambium/options.h"
#include "manifest/state.h"
#include "util/result.h"
#include "vlog/entry.h"
#include "vlog/record_format.h"

namespace cambium {

// One operation of a replayed batch. Slices live until the callback returns.
struct ReplayedOp {
  SequenceNumber sequence = 0;
  std::uint32_t family = 0;
  Slice key;
  Entry entry;                // what a memory table takes
  std::uint64_t log_bytes = 0;
  LogPosition batch_begin;    // of the first record of its batch
  bool is_range = false;      // no entry, but a range delete of [key, range_end); whether it holds a key, is not checked
  Slice range_end;
};

struct ReplayedSegment {
  std::uint64_t number = 0;
  std::uint64_t length = 0;            // where its log ends
  SequenceNumber last_sequence = 0;    // of its last applied operation, or the one before it
};

struct ReplayResult {
  SequenceNumber last_sequence = 0;      // of the last applied batch
  SequenceNumber proven_durable = 0;     // the highest witness met
  LogPosition end;                       // behind the last applied batch
  // Segments to be sealed at these lengths, oldest first: unsealed ones that hold applied records, and one that is sealed
  // farther on if kPointInTimeRecovery goes on from damage in it.
  std::vector<ReplayedSegment> adopted;
  std::vector<std::uint64_t> rejected;   // segments that hold none of them: empty, or behind the end
  std::map<std::uint64_t, std::uint32_t> large_values;  // files that applied records refer to, and their families
  std::uint64_t bytes_read = 0;
  std::string torn;                      // why the log ended early: file, offset and reason; empty for a clean end
  bool lost_durable = false;             // behind that end there were durable operations; kPointInTimeRecovery allows it
};

struct ReplayRequest {
  FileSystem* fs = nullptr;
  std::string directory;
  const ManifestState* state = nullptr;
  WALRecoveryMode mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  Logger* logger = nullptr;
  // By family: values from here on stay in the log, and the callback gets their address; smaller ones are read. Of a
  // family that is not in it nobody wants the values.
  std::map<std::uint32_t, std::uint64_t> inline_below;
  bool use_io_uring = true;
};

// Calls `apply` with each whole batch, in order; operations that a family has flushed, and those
// of families that are no more, are in it too: the callback knows which to skip. Writes nothing. Corruption and NotSupported as above; IOError if a file could not be read, which
// says nothing of the log; what `apply` returns.
Result<ReplayResult> ReplayLog(const ReplayRequest& request,
                               const std::function<Status(const std::vector<ReplayedOp>&)>& apply);

}  // namespace cambium
