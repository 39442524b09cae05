// Relocation: copies values that are alive out of segments that are to go, in the order of their keys.
//
//   records, by key ─▶ read, by place, many reads under way ─▶ each checked as it comes ─▶ written, by key
//
// A value whose record does not validate is never copied under a fresh checksum: its segment is reported, and nothing of
// it is moved.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gc/copy_buffers.h"
#include "gc/live_records.h"
#include "gc/relocation_writer.h"
#include "util/result.h"
#include "vlog/entry.h"
#include "vlog/read_queues.h"

namespace cambium {

// A value that is in another place now. Borrows from the GcRecords' arena and from Relocation.
struct MovedValue {
  Slice key;
  ValueAddress from;
  Entry to;  // an address, or the value itself where it is small enough today
};

struct FamilyMoves {
  std::uint32_t family = 0;
  std::vector<MovedValue> values;  // by key
};

struct DamagedSource {
  std::uint32_t source = 0;
  Status why;
};

struct Relocation {
  std::vector<FamilyMoves> families;
  std::vector<DamagedSource> damaged;
  std::vector<char> inline_values;  // of entries that are inline now
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;  // of records
};

// `records`: alive, by family and key, as KeepLive leaves them; their sizes add up to what memory is taken for.
// Errors are those of reading and writing files; a damaged record is none.
Result<Relocation> Relocate(std::span<const GcFamily> families, std::span<const GcSource> sources,
                            std::span<const GcRecord> records, ReadQueues* queues, CopyBuffers* buffers,
                            RelocationWriter* writer);

}  // namespace cambium
