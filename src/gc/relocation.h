// Relocation: copies live values out of segments that are to be dropped, in the order of their keys.
//
//   records, by key ─▶ read by place, many reads in flight ─▶ each verified on arrival ─▶ written by key
//
// A record that does not validate is never copied under a fresh checksum: its segment is reported as damaged, and none
// of its values is moved.
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

// A value that has moved. Borrows from the arena of the GcRecords and from the Relocation.
struct MovedValue {
  Slice key;
  ValueAddress from;
  Entry to;  // the new address, or the value itself, with its version, if it is now small enough to be inline
  bool was_filtered = false;  // see index/filtered_part.h
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
  std::vector<char> inline_values;  // the bytes of values that are now inline
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;  // of records
};

// Copies `records`, which are alive and ordered by family and key, as KeepLive leaves them. Takes a buffer for the sum of
// their sizes, and for some reads with gaps. Returns errors of reading and writing files; a damaged record is not an
// error, but is in `damaged`.
Result<Relocation> Relocate(std::span<const GcFamily> families, std::span<const GcSource> sources,
                            std::span<const GcRecord> records, ReadQueues* queues, CopyBuffers* buffers,
                            RelocationWriter* writer);

}  // namespace cambium
