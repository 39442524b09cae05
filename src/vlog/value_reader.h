// Reading a separated value: the record is read, then everything it says is compared with what the index said.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "cambium/status.h"
#include "util/result.h"
#include "vlog/segment.h"
#include "vlog/value_address.h"

namespace cambium {

// What the index says, and how far to trust it. A record of another key or family, or one that does not validate, is
// Corruption naming file and offset: a wrong address never becomes a wrong value.
struct ValueQuery {
  ValueAddress address;
  std::uint32_t family = 0;
  Slice key;
  bool verify_checksums = true;  // of the body; header, family and key are always compared
  // Set if keys with other bytes may be equal, as under an order that folds case; then it says whether the record's key
  // is the one asked for.
  const Comparator* order = nullptr;
};

// Where a record is, and how much of its file may be read. Borrows the segment.
struct ValuePlace {
  const Segment* segment = nullptr;
  std::uint64_t offset = 0;
  std::size_t size = 0;  // of the record, or a little more
};
Result<ValuePlace> LocateValue(const SegmentTable& segments, const ValueQuery& query);

// The value in `record`, the bytes at `place` as far as the file goes. *value is a part of `record`, or of *buffer if it
// was compressed.
Status ParseValue(const ValuePlace& place, const ValueQuery& query, Slice record, std::string* buffer, Slice* value);

// Reads into *buffer; *value is a part of it, and empty after an error.
Status ReadValue(const SegmentTable& segments, const ValueQuery& query, std::string* buffer, Slice* value);

// The same without waiting for a device: false if that were needed, and then nothing is known of the value.
Result<bool> ReadCachedValue(const SegmentTable& segments, const ValueQuery& query, std::string* buffer, Slice* value);

// So many values in front of the one that is copied are asked for: about what a core can have under way.
inline constexpr std::size_t kValuesPrefetched = 4;

// Asks the processor's caches for a record, if it is in memory as far as anybody knows.
void PrefetchMappedValue(const SegmentTable& segments, ValueAddress address);

// Is the record of this key at this address, as far as its header and key tell?
Status CheckRecord(const SegmentTable& segments, const ValueQuery& query);

// The first record of a file of kind kLargeValue starts here: values are then aligned for direct I/O as far as a header
// and a key allow.
inline constexpr std::uint64_t kLargeRecordOffset = 128;

}  // namespace cambium
