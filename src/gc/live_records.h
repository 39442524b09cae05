// Which values of a segment are alive: those that the durable layers of their family refer to, and no others.
//
//   footer of the segment ─▶ key, offset, size of each separated record ─▶ lookup ─▶ alive if the newest entry has
//                                                                                    this address
//
// The layers are those in the MANIFEST. Memtables are not asked: a newer value that only a memtable has may be lost in
// a power cut, and then the value in the segment is the newest again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cambium/comparator.h"
#include "index/index.h"
#include "manifest/state.h"
#include "memtable/arena.h"
#include "util/compression.h"
#include "util/result.h"
#include "vlog/segment.h"

namespace cambium {

// A family as log GC sees it.
struct GcFamily {
  std::uint32_t id = 0;
  const Comparator* comparator = nullptr;
  const Comparator* equal_by = nullptr;  // see ValueQuery::order
  std::shared_ptr<const Layers> layers;
  // The family's current options for values: values below `separate_from` go into the index, the others are compressed
  // with `codec`. If separate_from is 0, no value goes into the index; if codec is unset, each value keeps its codec.
  std::uint64_t separate_from = 0;
  std::optional<Codec> codec;
};

// A segment to be emptied. It is sealed, and the layers know all of its records.
struct GcSource {
  std::shared_ptr<Segment> segment;
  SegmentInfo info;
};

struct GcRecord {
  std::uint32_t family = 0;
  std::uint32_t source = 0;  // index of its GcSource
  Slice key;                 // its bytes are in an arena
  std::uint64_t offset = 0;
  std::uint64_t size = 0;    // exact size of the whole record
};

// Copies a key into the arena.
Result<Slice> CopyKey(Slice key, Arena* keys);

// Appends the separated records of a segment, from its cut on, to *records, in file order, with their keys in *keys.
// Reads the footer, or, if it is missing or damaged, scans the records. Corruption if that fails too.
Status ListRecords(const GcSource& source, std::uint32_t index, Arena* keys, std::vector<GcRecord>* records);

// Keeps only the live records, ordered by family and key. `families` are matched by id; records of other families are
// dead. If a lookup fails, returns its error; the record is not taken for dead.
Status KeepLive(std::span<const GcFamily> families, std::span<const GcSource> sources, std::vector<GcRecord>* records);

}  // namespace cambium
