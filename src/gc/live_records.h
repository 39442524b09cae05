// Which values of a segment are alive: those that the durable layers of their family point to, and no others.
//
//   footer of the segment ─▶ key, offset, size of each separated record ─▶ looked up ─▶ alive: this address is the newest
//
// Layers are those that the MANIFEST names. What stands in a memory table only is neither asked nor covered: a newer value
// there may be lost with the power, and then the one here is the newest again.
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
  // What its options say of values today: smaller ones go into the index, and the others are packed by this codec. 0, and
  // unset: all stay as they are.
  std::uint64_t separate_from = 0;
  std::optional<Codec> codec;
};

// A segment to be emptied. It is sealed, and what the log holds of it is in the layers.
struct GcSource {
  std::shared_ptr<Segment> segment;
  SegmentInfo info;
};

struct GcRecord {
  std::uint32_t family = 0;
  std::uint32_t source = 0;  // index of its GcSource
  Slice key;                 // in an arena
  std::uint64_t offset = 0;
  std::uint64_t size = 0;    // of the whole record, exactly
};

// A key's bytes in the arena.
Result<Slice> CopyKey(Slice key, Arena* keys);

// The separated records of a segment, in the order of their places, appended to *records; keys go to *keys. By its
// footer, or, where it has none that is whole, record by record. Corruption if that fails too.
Status ListRecords(const GcSource& source, std::uint32_t index, Arena* keys, std::vector<GcRecord>* records);

// Leaves those that are alive, ordered by family and key. `families` by id; records of others are dead. A look-up that
// fails is an error, never "dead".
Status KeepLive(std::span<const GcFamily> families, std::span<const GcSource> sources, std::vector<GcRecord>* records);

}  // namespace cambium
