// Reading a separated value: the record is read, then everything it says is compared with what the index said.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "cambium/status.h"
#include "util/meter.h"
#include "util/result.h"
#include "vlog/record_format.h"
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
  const Meter* meter = nullptr;  // what is read for a user is counted; null: nobody wants to know
};

// Where a record is, and how much of its file may be read. Borrows the segment.
struct ValuePlace {
  const Segment* segment = nullptr;
  std::uint64_t offset = 0;
  std::size_t size = 0;  // of the record, or a little more
};
Result<ValuePlace> LocateValue(const SegmentTable& segments, const ValueQuery& query);

// The header of `record`, the bytes at `place` as far as the file goes, and the value as it is stored: compressed, if it
// was. *stored is a part of `record`.
Status ParseRecord(const ValuePlace& place, const ValueQuery& query, Slice record, RecordHeader* header, Slice* stored);

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

// A record of so many bytes was read for the query, from memory or (FROM_DEVICE) not.
inline void CountRead(const ValueQuery& query, Tickers ticker, std::uint64_t bytes) {
  if (query.meter == nullptr) return;
  query.meter->Tick(ticker);
  query.meter->Tick(BLOB_DB_BLOB_FILE_BYTES_READ, bytes);
}

// The first record of a file of kind kLargeValue starts here: values are then aligned for direct I/O as far as a header
// and a key allow.
inline constexpr std::uint64_t kLargeRecordOffset = 128;

}  // namespace cambium
