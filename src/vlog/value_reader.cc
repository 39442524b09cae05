#include "vlog/value_reader.h"

#include <algorithm>

#include "util/checksum.h"
#include "util/coding.h"
#include "util/compressed_size.h"
#include "util/mutant.h"
#include "util/result.h"
#include "vlog/entry.h"
#include "vlog/record_format.h"

namespace cambium {
namespace {

Status CorruptRecord(const Segment& segment, std::uint64_t offset, const std::string& what) {
  return Status::Corruption(segment.path() + ":" + std::to_string(offset) + ": " + what);
}

// Decompresses the value of a checked record.
Status Unpack(const Segment& segment, std::uint64_t offset, const RecordHeader& header, Slice stored,
              const Meter* meter, std::string* buffer, Slice* value) {
  const Stopwatch watch(meter, BLOB_DB_DECOMPRESSION_MICROS, kAll);
  std::uint64_t raw_size = 0;
  if (!GetFixed(&stored, &raw_size)) return CorruptRecord(segment, offset, "compressed value has no size");
  const std::uint64_t legal = segment.kind() == FileKind::kLargeValue ? 0xffffffffu : kLoggedValueSizeMax;
  if (raw_size > legal) {
    return CorruptRecord(segment, offset, "compressed value claims " + std::to_string(raw_size) + " bytes");
  }
  const Status possible = CheckRawSize(header.codec, stored, raw_size);
  if (!possible.ok()) return CorruptRecord(segment, offset, std::string(possible.message()));
  std::string raw(raw_size, '\0');  // `stored` may be in *buffer
  const Status s = Decompress(header.codec, stored, raw.data(), raw.size());
  if (!s.ok()) return CorruptRecord(segment, offset, std::string(s.message()));
  *buffer = std::move(raw);
  *value = *buffer;
  return Status::OK();
}

// If the size in an address is at most this, it is trusted without asking for the file's size.
constexpr std::size_t kTrustedReadSize = 1u << 20;

// Returns the mapping of the file if the record at `place` is believed to be in the page cache; else null.
const MappedRegion* RegionOf(const ValuePlace& place) {
  SegmentMap* const map = place.segment->map();
  return map == nullptr || place.size == 0 ? nullptr : map->Find(place.offset, place.size);
}

// Reads the record. *read < place.size only at the end of the file.
Status ReadBytes(const ValuePlace& place, char* out, std::size_t* read) {
  if (const MappedRegion* const region = RegionOf(place); region != nullptr) {
    *read = place.size;
    return region->CopyOut(place.offset, place.size, out);
  }
  return place.segment->file().Read(place.offset, place.size, out, read);
}

// Returns the header of the record that starts with `bytes`. Returns Corruption unless the record is a put of the
// query's family and key, and has at most place.size bytes. `bytes` must include the whole key.
Result<RecordHeader> CheckHeader(const ValuePlace& place, const ValueQuery& query, Slice bytes) {
  const Segment& segment = *place.segment;
  if (bytes.size() < kRecordHeaderSize) {
    return CorruptRecord(segment, place.offset, "the file ends where a record should be");
  }
  RecordHeader header;
  if (DecodeRecordHeader(bytes.data(), segment.seed(), place.offset, &header) != HeaderCheck::kValid) {
    return CorruptRecord(segment, place.offset, "record header does not validate");
  }
  if (header.op != RecordOp::kPut || header.RecordSize() > place.size) {
    return CorruptRecord(segment, place.offset, "record is not the one the index points to");
  }
  bool same_key = bytes.size() >= kRecordHeaderSize + header.key_size;
  if (same_key) {
    const Slice stored_key(bytes.data() + kRecordHeaderSize, header.key_size);
    same_key = query.order == nullptr ? stored_key == query.key : query.order->Compare(stored_key, query.key) == 0;
  }
  if ((header.family != query.family || !same_key) && !MutantIs(Mutant::kSkipFamilyKeyCheck)) {
    return CorruptRecord(segment, place.offset, "record belongs to another key");
  }
  return header;
}

// CheckHeader of a record that is mapped, as far as `size` bytes. Header and key are copied, so that a page that cannot be
// read is an error here, and not a signal.
Result<RecordHeader> CheckMappedHeader(const MappedRegion& region, const ValuePlace& place, const ValueQuery& query,
                                       std::size_t size) {
  char bytes[256];
  std::string longer;
  const auto copy = [&](std::size_t n) -> Result<Slice> {
    n = std::min(n, size);
    if (n > sizeof(bytes)) longer.resize(n);
    char* const out = n > sizeof(bytes) ? longer.data() : bytes;
    CAMBIUM_RETURN_IF_ERROR(region.CopyOut(place.offset, n, out));
    return Slice(out, n);
  };
  CAMBIUM_TRY(Slice front, copy(kRecordHeaderSize + query.key.size()));
  RecordHeader header;
  const bool is_valid = front.size() >= kRecordHeaderSize &&
                        DecodeRecordHeader(front.data(), place.segment->seed(), place.offset, &header) == HeaderCheck::kValid;
  // Under `order`, an equal key with different bytes may be longer.
  if (is_valid && header.key_size > query.key.size()) {
    CAMBIUM_TRY(front, copy(kRecordHeaderSize + header.key_size));
  }
  return CheckHeader(place, query, front);
}

// A record of at most this many bytes is copied to the stack as a whole, and its value from there: a second copy of so
// few bytes costs less than a checksum in two pieces.
constexpr std::size_t kShortRecord = 4096 + 512;

// A check of a value without compression holds at most this much of it.
constexpr std::size_t kPieceBytes = 1u << 20;

// Reads [from, from + bytes) of the record at `place`. Corruption if the file ends before.
Status ReadPiece(const ValuePlace& place, std::uint64_t from, std::size_t bytes, char* out) {
  std::size_t have = 0;
  CAMBIUM_RETURN_IF_ERROR(place.segment->file().Read(place.offset + from, bytes, out, &have));
  return have == bytes ? Status::OK() : CorruptRecord(*place.segment, place.offset, "record is cut off");
}

// Makes *buffer at least place.size bytes long.
void MakeRoom(const ValuePlace& place, std::string* buffer) {
  if (buffer->size() < place.size) buffer->resize(place.size);
}

}  // namespace

Result<ValuePlace> LocateValue(const SegmentTable& segments, const ValueQuery& query) {
  const ValueAddress address = query.address;
  const std::shared_ptr<Segment>& found = segments.Find(address.slot());
  if (found == nullptr) {
    return Status::Corruption("an index entry points to slot " +
                              std::to_string(static_cast<std::uint32_t>(address.slot())) + ", which holds no segment");
  }
  const bool own_file = address.kind() == EntryKind::kLargeValue;
  if (own_file != (found->kind() == FileKind::kLargeValue)) {
    return CorruptRecord(*found, 0, "an index entry expects a file of another kind");
  }
  ValuePlace place{found.get(), own_file ? kLargeRecordOffset : address.offset(), address.size()};
  if (own_file || place.size > kTrustedReadSize) {
    // A forged index could claim any size, and the size of a file of its own is rounded up to a page. So memory is
    // allocated only for bytes that the file has.
    FileInfo info;
    CAMBIUM_RETURN_IF_ERROR(found->file().GetInfo(&info));
    const std::uint64_t rest = info.size <= place.offset ? 0 : info.size - place.offset;
    place.size = static_cast<std::size_t>(std::min<std::uint64_t>(place.size, rest));
  }
  return place;
}

Status ParseRecord(const ValuePlace& place, const ValueQuery& query, Slice record, RecordHeader* header, Slice* stored) {
  const Segment& segment = *place.segment;
  CAMBIUM_TRY(*header, CheckHeader(place, query, record));
  if (header->RecordSize() > record.size()) return CorruptRecord(segment, place.offset, "record is cut off");
  const Slice stored_key(record.data() + kRecordHeaderSize, header->key_size);
  *stored = Slice(stored_key.end(), header->value_size);
  if (query.verify_checksums && !ChecksumMatches(header->body_checksum, BodyChecksum(stored_key, *stored))) {
    return CorruptRecord(segment, place.offset, "record checksum mismatch");
  }
  return Status::OK();
}

Status ParseValue(const ValuePlace& place, const ValueQuery& query, Slice record, std::string* buffer, Slice* value,
                  SequenceNumber* sequence) {
  *value = Slice();
  RecordHeader header;
  Slice stored;
  CAMBIUM_RETURN_IF_ERROR(ParseRecord(place, query, record, &header, &stored));
  if (sequence != nullptr) *sequence = header.sequence;
  if (header.codec != Codec::kNone) {
    return Unpack(*place.segment, place.offset, header, stored, query.meter, buffer, value);
  }
  *value = stored;
  return Status::OK();
}

Status ReadValue(const SegmentTable& segments, const ValueQuery& query, std::string* buffer, Slice* value,
                 SequenceNumber* sequence) {
  *value = Slice();
  CAMBIUM_TRY(const ValuePlace place, LocateValue(segments, query));
  MakeRoom(place, buffer);
  std::size_t have = 0;
  {
    const Stopwatch watch(query.meter, BLOB_DB_BLOB_FILE_READ_MICROS);
    CAMBIUM_RETURN_IF_ERROR(ReadBytes(place, buffer->data(), &have));
  }
  CountRead(query, VALUE_READ_FROM_DEVICE, have);
  return ParseValue(place, query, {buffer->data(), have}, buffer, value, sequence);
}

Result<std::uint64_t> CheckWholeValue(const SegmentTable& segments, const ValueQuery& query, std::string* buffer) {
  CAMBIUM_TRY(const ValuePlace place, LocateValue(segments, query));
  const auto read_whole = [&]() -> Result<std::uint64_t> {
    ValueQuery checked = query;
    checked.verify_checksums = true;
    Slice value;
    CAMBIUM_RETURN_IF_ERROR(ReadValue(segments, checked, buffer, &value));
    return place.size;
  };
  if (place.size <= kPieceBytes || MutantIs(Mutant::kCheckHoldsValue)) return read_whole();
  if (buffer->size() < kPieceBytes) buffer->resize(kPieceBytes);
  CAMBIUM_RETURN_IF_ERROR(ReadPiece(place, 0, kPieceBytes, buffer->data()));
  CAMBIUM_TRY(const RecordHeader header, CheckHeader(place, query, {buffer->data(), kPieceBytes}));
  const std::uint64_t end = kRecordHeaderSize + header.key_size + header.value_size;
  if (header.codec != Codec::kNone || end <= kPieceBytes) return read_whole();
  Checksum64Stream checksum(0);
  checksum.Update({buffer->data() + kRecordHeaderSize, kPieceBytes - kRecordHeaderSize});
  for (std::uint64_t at = kPieceBytes; at < end; at += kPieceBytes) {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, end - at));
    CAMBIUM_RETURN_IF_ERROR(ReadPiece(place, at, bytes, buffer->data()));
    checksum.Update({buffer->data(), bytes});
  }
  if (!ChecksumMatches(header.body_checksum, checksum.Digest())) {
    return CorruptRecord(*place.segment, place.offset, "record checksum mismatch");
  }
  return end;
}

Result<std::size_t> ReadCachedBytes(const ValuePlace& place, char* out) {
  if (const MappedRegion* const region = RegionOf(place); region != nullptr) {
    CAMBIUM_RETURN_IF_ERROR(region->CopyOut(place.offset, place.size, out));
    return place.size;
  }
  std::size_t have = 0;
  const Status read = place.segment->file().ReadCached(place.offset, place.size, out, &have);
  if (!read.ok() && !read.IsNotSupported()) return read;
  return have;
}

Result<bool> ReadCachedValue(const SegmentTable& segments, const ValueQuery& query, std::string* buffer,
                             Slice* value) {
  *value = Slice();
  CAMBIUM_TRY(const ValuePlace place, LocateValue(segments, query));
  MakeRoom(place, buffer);
  CAMBIUM_TRY(const std::size_t have, ReadCachedBytes(place, buffer->data()));
  if (have < place.size) return false;
  CountRead(query, VALUE_READ_CACHED, place.size);
  CAMBIUM_RETURN_IF_ERROR(ParseValue(place, query, {buffer->data(), place.size}, buffer, value));
  return true;
}

Result<bool> ReadMappedValue(const SegmentTable& segments, const ValueQuery& query, std::string* buffer,
                             Slice* value) {
  *value = Slice();
  CAMBIUM_TRY(const ValuePlace place, LocateValue(segments, query));
  const MappedRegion* const region = RegionOf(place);
  if (region == nullptr) return false;
  MakeRoom(place, buffer);
  CAMBIUM_RETURN_IF_ERROR(region->CopyOut(place.offset, place.size, buffer->data()));
  CountRead(query, VALUE_READ_CACHED, place.size);
  CAMBIUM_RETURN_IF_ERROR(ParseValue(place, query, {buffer->data(), place.size}, buffer, value));
  return true;
}

Result<bool> CopyCachedValue(const SegmentTable& segments, const ValueQuery& query, std::span<char> out,
                             std::size_t* size) {
  *size = 0;
  if (query.order != nullptr) return false;
  CAMBIUM_TRY(const ValuePlace place, LocateValue(segments, query));
  char record[kShortRecord];
  if (place.size <= sizeof record) {
    CAMBIUM_TRY(const std::size_t have, ReadCachedBytes(place, record));
    if (have < place.size) return false;
    RecordHeader header;
    Slice stored;
    CAMBIUM_RETURN_IF_ERROR(ParseRecord(place, query, {record, place.size}, &header, &stored));
    if (header.codec != Codec::kNone) return false;
    CountRead(query, VALUE_READ_CACHED, place.size);
    if (stored.size() <= out.size()) std::ranges::copy(stored, out.begin());
    *size = stored.size();
    return true;
  }
  const MappedRegion* const region = RegionOf(place);
  if (region == nullptr) return false;
  CAMBIUM_TRY(const RecordHeader header, CheckMappedHeader(*region, place, query, place.size));
  if (header.codec != Codec::kNone) return false;
  if (header.value_size <= out.size()) {
    const Slice value(out.data(), header.value_size);
    const std::uint64_t offset = place.offset + kRecordHeaderSize + header.key_size;
    CAMBIUM_RETURN_IF_ERROR(region->CopyOut(offset, header.value_size, out.data()));
    if (query.verify_checksums && !ChecksumMatches(header.body_checksum, BodyChecksum(query.key, value))) {
      return CorruptRecord(*place.segment, place.offset, "record checksum mismatch");
    }
  }
  CountRead(query, VALUE_READ_CACHED, place.size);
  *size = header.value_size;
  return true;
}

Result<bool> BorrowValue(const SegmentTable& segments, const ValueQuery& query, Slice* value,
                         std::shared_ptr<Segment>* keep) {
  *value = Slice();
  if (query.address.size() < SegmentMap::kVerifiedMin) return false;
  CAMBIUM_TRY(const ValuePlace place, LocateValue(segments, query));
  SegmentMap* const map = place.segment->map();
  if (map == nullptr || place.offset >= map->end()) return false;
  // The size in an address is rounded up, so the last record of a segment seems to reach beyond its end.
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(place.size, map->end() - place.offset));
  if (size < kRecordHeaderSize + query.key.size()) return false;
  const bool is_verified = map->IsVerified(place.offset) || MutantIs(Mutant::kPinUnverifiedValues);
  if (query.verify_checksums && !is_verified) return false;
  const MappedRegion* const region = map->Find(place.offset, size);
  if (region == nullptr) return false;
  CAMBIUM_TRY(const RecordHeader header, CheckMappedHeader(*region, place, query, size));
  if (header.codec != Codec::kNone || header.RecordSize() > size) return false;
  // A smaller record could share its bit with another one. Only a forged index leads to one.
  if (header.RecordSize() < SegmentMap::kVerifiedMin) return false;
  CountRead(query, VALUE_READ_CACHED, place.size);
  *value = Slice(region->data() + place.offset + kRecordHeaderSize + header.key_size, header.value_size);
  if (keep != nullptr && !MutantIs(Mutant::kPinnedValueKeepsNothing)) *keep = segments.Find(query.address.slot());
  return true;
}

void NoteVerified(const SegmentTable& segments, const ValueQuery& query) noexcept {
  const bool compared = query.verify_checksums || MutantIs(Mutant::kNoteUnverifiedReads);
  if (!compared || query.address.size() < SegmentMap::kVerifiedMin) return;
  const Segment* const segment = segments.Find(query.address.slot()).get();
  if (segment == nullptr || segment->map() == nullptr || query.address.kind() != EntryKind::kValue) return;
  segment->map()->NoteVerified(query.address.offset());
}

void PrefetchMappedValue(const SegmentTable& segments, ValueAddress address) {
  constexpr std::size_t kLine = 64;
  // A value of 1 KiB with its header and key. A longer one is a stream, which the processor prefetches by itself.
  constexpr std::size_t kBytesMax = 1152;
  const std::shared_ptr<Segment>& segment = segments.Find(address.slot());
  if (segment == nullptr) return;
  const MappedRegion* const region = RegionOf({segment.get(), address.offset(), address.size()});
  if (region == nullptr) return;
  const char* const bytes = region->data() + address.offset();
  for (std::size_t i = 0; i < std::min<std::size_t>(address.size(), kBytesMax); i += kLine) __builtin_prefetch(bytes + i);
}

namespace {

// Reads header and key of the record.
Result<RecordHeader> ReadHeader(const SegmentTable& segments, const ValueQuery& query) {
  CAMBIUM_TRY(const ValuePlace place, LocateValue(segments, query));
  // Under `order`, an equal key with different bytes may be longer.
  const std::size_t key_room = query.order == nullptr ? query.key.size() : kMaxKeySize;
  std::string front(std::min(place.size, kRecordHeaderSize + key_room), '\0');
  std::size_t have = 0;
  CAMBIUM_RETURN_IF_ERROR(place.segment->file().Read(place.offset, front.size(), front.data(), &have));
  return CheckHeader(place, query, {front.data(), have});
}

}  // namespace

Status CheckRecord(const SegmentTable& segments, const ValueQuery& query) {
  return ReadHeader(segments, query).status();
}

Result<std::optional<std::size_t>> ReadValueSize(const SegmentTable& segments, const ValueQuery& query) {
  CAMBIUM_TRY(const RecordHeader header, ReadHeader(segments, query));
  return header.codec == Codec::kNone ? std::optional<std::size_t>(header.value_size) : std::nullopt;
}

Result<SequenceNumber> ReadSequence(const SegmentTable& segments, const ValueQuery& query) {
  CAMBIUM_TRY(const RecordHeader header, ReadHeader(segments, query));
  return header.sequence;
}

}  // namespace cambium
