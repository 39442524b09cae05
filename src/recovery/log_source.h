// LogSource: a segment of the log that replay may have to read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cambium/file_system.h"
#include "manifest/state.h"
#include "recovery/replay_request.h"
#include "util/result.h"
#include "vlog/record_format.h"

namespace cambium {

struct LogSource {
  SegmentInfo info;
  std::string path;
  std::unique_ptr<File> file;  // reads from the device
  std::uint64_t seed = 0;
  std::uint64_t size = 0;           // of the file; of the header alone if the file has only preallocated zeros
  std::optional<SegmentLink> link;  // the first record, if it is a link that validates
  SequenceNumber link_sequence = 0;
  SequenceNumber link_witness = 0;
  // Where the footer begins, if the segment is not sealed and has a whole one: the process ended between the footer and
  // the MANIFEST record of the seal. The log in the segment ends there, and was synced before the footer was written.
  std::optional<std::uint64_t> footer;
};

// Opens a segment that the MANIFEST names. Corruption, naming the file, if it is missing, or is another file than the
// one named. Only in a mutant: nullopt if it is missing.
Result<std::optional<LogSource>> OpenLogSource(const ReplayRequest& request, const SegmentInfo& info);

}  // namespace cambium
