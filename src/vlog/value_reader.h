// Reads separated values. Each record is compared with the index entry that led to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
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

// A value to read, as its index entry describes it, and how to check it. A record of another key or family, or one that
// does not validate, is Corruption naming file and offset: a wrong address never yields a wrong value.
struct ValueQuery {
  ValueAddress address;
  std::uint32_t family = 0;
  Slice key;
  bool verify_checksums = true;  // of the body; header, family and key are always checked
  // Set if keys with different bytes may be equal, as under an order that folds case; then `order` compares the
  // record's key with `key`.
  const Comparator* order = nullptr;
  const Meter* meter = nullptr;  // counts the read, unless null
};

// Where a record is, and how much of its file to read. Borrows the segment.
struct ValuePlace {
  const Segment* segment = nullptr;
  std::uint64_t offset = 0;
  std::size_t size = 0;  // of the record, or a little more
};
Result<ValuePlace> LocateValue(const SegmentTable& segments, const ValueQuery& query);

// Checks `record`, the bytes read at `place` (fewer than place.size only at the end of the file). Sets *header, and
// *stored to the value as stored, perhaps compressed; it is a part of `record`.
Status ParseRecord(const ValuePlace& place, const ValueQuery& query, Slice record, RecordHeader* header, Slice* stored);

// As ParseRecord, and sets *value to the uncompressed value: a part of `record`, or of *buffer if it was compressed.
// *sequence, unless null, is set as by ReadSequence.
Status ParseValue(const ValuePlace& place, const ValueQuery& query, Slice record, std::string* buffer, Slice* value,
                  SequenceNumber* sequence = nullptr);

// Reads the value into *buffer. *value is a part of *buffer, and empty after an error. *sequence as for ParseValue.
Status ReadValue(const SegmentTable& segments, const ValueQuery& query, std::string* buffer, Slice* value,
                 SequenceNumber* sequence = nullptr);

// Checks what ReadValue checks, whatever verify_checksums says, and returns the bytes that it has read. A value that is
// not compressed is checked piece by piece; *buffer then has a piece of 1 MiB. A compressed one is read as a whole.
Result<std::uint64_t> CheckWholeValue(const SegmentTable& segments, const ValueQuery& query, std::string* buffer);

// As ReadValue, but never waits for a device: returns false if it would have to, and then says nothing about the value.
Result<bool> ReadCachedValue(const SegmentTable& segments, const ValueQuery& query, std::string* buffer, Slice* value);

// As ReadCachedValue, but also returns false if the value would have to be read with a system call.
Result<bool> ReadMappedValue(const SegmentTable& segments, const ValueQuery& query, std::string* buffer, Slice* value);

// As ReadCachedValue, but copies the value to `out` if it has at most out.size() bytes. Sets *size to the size of the
// value, or to 0 after an error. If the value is larger than `out`, perhaps only header and key are checked. Allocates
// nothing, unless the key is long. Also returns false if the value is compressed, or long and not mapped, or if keys
// with other bytes may be equal.
Result<bool> CopyCachedValue(const SegmentTable& segments, const ValueQuery& query, std::span<char> out,
                             std::size_t* size);

// The size of a value that is stored without compression, from the header of its record; header and key are checked.
// nullopt: the value is compressed.
Result<std::optional<std::size_t>> ReadValueSize(const SegmentTable& segments, const ValueQuery& query);

// The sequence number in the header of the record; header and key are checked. The number of the write; of a value that a
// compaction filter has changed, a number between that of the write and that of the newest write at the change; 0 for a
// large value, whose own record has none.
Result<SequenceNumber> ReadSequence(const SegmentTable& segments, const ValueQuery& query);

// Sets *value to the bytes of the value in the mapping of its segment, without a copy, and *keep, unless null, to a
// reference to the segment. The bytes are valid as long as the segment: as *keep, or as the view that has `segments`.
// Returns false if the value is small, compressed, not mapped, or (unless query.verify_checksums is false) not verified
// yet. An access to the bytes may fault: see MappedRegion.
Result<bool> BorrowValue(const SegmentTable& segments, const ValueQuery& query, Slice* value,
                         std::shared_ptr<Segment>* keep);
// Called after a read of the value that succeeded. If it compared the checksum, BorrowValue may return the value later.
void NoteVerified(const SegmentTable& segments, const ValueQuery& query) noexcept;

// Reads the bytes at `place` from its beginning, as far as they are in memory, and returns their number. Never waits
// for a device. The place may have several records.
Result<std::size_t> ReadCachedBytes(const ValuePlace& place, char* out);

// How many values to prefetch ahead of the one that is copied: about as many as a core can have in flight.
inline constexpr std::size_t kValuesPrefetched = 4;

// Prefetches a record into the processor's caches, if it is mapped and believed to be in the page cache.
void PrefetchMappedValue(const SegmentTable& segments, ValueAddress address);

// Reads header and key only: OK if the address leads to the record of this key.
Status CheckRecord(const SegmentTable& segments, const ValueQuery& query);

// Counts a read of `bytes` for the query.
inline void CountRead(const ValueQuery& query, Tickers ticker, std::uint64_t bytes) {
  if (query.meter == nullptr) return;
  query.meter->Tick(ticker);
  query.meter->Tick(BLOB_DB_BLOB_FILE_BYTES_READ, bytes);
}

// The offset of the record in a file of kind kLargeValue.
inline constexpr std::uint64_t kLargeRecordOffset = 128;

}  // namespace cambium
