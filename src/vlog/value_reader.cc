#include "vlog/value_reader.h"

#include <algorithm>

#include "util/coding.h"
#include "util/mutant.h"
#include "util/result.h"
#include "vlog/entry.h"
#include "vlog/record_format.h"

namespace cambium {
namespace {

Status CorruptRecord(const Segment& segment, std::uint64_t offset, const std::string& what) {
  return Status::Corruption(segment.path() + ":" + std::to_string(offset) + ": " + what);
}

// No stored bytes of these codecs can hold more than so many raw ones: lz4 says 255 with its longest length byte, zstd
// a block of 128 KiB with 4 bytes.
std::uint64_t RawSizeMax(Codec codec, std::uint64_t stored_size) {
  return stored_size * (codec == Codec::kLz4 ? 255 : 32768);
}

// The value behind a checked header, from stored to raw. `stored` may be the tail of *value.
Status Unpack(const Segment& segment, std::uint64_t offset, const RecordHeader& header, Slice stored,
              std::string* value) {
  std::uint64_t raw_size = 0;
  if (!GetFixed(&stored, &raw_size)) return CorruptRecord(segment, offset, "compressed value has no size");
  const std::uint64_t legal = segment.kind() == FileKind::kLargeValue ? 0xffffffffu : kLoggedValueSizeMax;
  if (raw_size > std::min(legal, RawSizeMax(header.codec, stored.size()))) {
    return CorruptRecord(segment, offset, "compressed value claims " + std::to_string(raw_size) + " bytes");
  }
  std::string raw(raw_size, '\0');
  const Status s = Decompress(header.codec, stored, raw.data(), raw.size());
  if (!s.ok()) return CorruptRecord(segment, offset, std::string(s.message()));
  *value = std::move(raw);
  return Status::OK();
}

// Where a record is, and how much of its file may be read.
struct Place {
  const Segment* segment = nullptr;
  std::uint64_t offset = 0;
  std::size_t size = 0;  // of the record, or a little more
};

// Up to here a read asks for what the address says, without a look at the size of the file.
constexpr std::size_t kTrustedReadSize = 1u << 20;

Result<Place> Locate(const SegmentTable& segments, ValueAddress address) {
  const std::shared_ptr<Segment>& found = segments.Find(address.slot());
  if (found == nullptr) {
    return Status::Corruption("an index entry points to slot " +
                              std::to_string(static_cast<std::uint32_t>(address.slot())) + ", which holds no segment");
  }
  const bool own_file = address.kind() == EntryKind::kLargeValue;
  if (own_file != (found->kind() == FileKind::kLargeValue)) {
    return CorruptRecord(*found, 0, "an index entry takes this file for one of another kind");
  }
  Place place{found.get(), own_file ? kLargeRecordOffset : address.offset(), address.size()};
  if (own_file || place.size > kTrustedReadSize) {
    // An index says what it likes, and a file of its own is rounded up to a page: memory is taken for what is there only.
    FileInfo info;
    CAMBIUM_RETURN_IF_ERROR(found->file().GetInfo(&info));
    const std::uint64_t rest = info.size <= place.offset ? 0 : info.size - place.offset;
    place.size = static_cast<std::size_t>(std::min<std::uint64_t>(place.size, rest));
  }
  return place;
}

// The header of the record that starts with `bytes`; Corruption if it is not that of a put of `key`, whose record has
// at most `size` bytes. The key is compared as far as `bytes` go, which the caller makes far enough.
Result<RecordHeader> CheckHeader(const Place& place, Slice bytes, std::uint32_t family, Slice key,
                                 const Comparator* order) {
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
    same_key = order == nullptr ? stored_key == key : order->Compare(stored_key, key) == 0;
  }
  if ((header.family != family || !same_key) && !MutantIs(Mutant::kSkipFamilyKeyCheck)) {
    return CorruptRecord(segment, place.offset, "record belongs to another key");
  }
  return header;
}

// ReadValue, but what *value holds after an error is unspecified: the record as it was read, say.
Status ReadRecord(const SegmentTable& segments, ValueAddress address, std::uint32_t family, Slice key,
                  bool verify_checksums, std::string* value, const Comparator* order) {
  CAMBIUM_TRY(const Place place, Locate(segments, address));
  const Segment& segment = *place.segment;
  std::string& record = *value;
  record.resize(place.size);
  std::size_t have = 0;
  CAMBIUM_RETURN_IF_ERROR(segment.file().Read(place.offset, place.size, record.data(), &have));
  CAMBIUM_TRY(const RecordHeader header, CheckHeader(place, {record.data(), have}, family, key, order));
  if (header.RecordSize() > have) return CorruptRecord(segment, place.offset, "record is cut off");
  const Slice stored_key(record.data() + kRecordHeaderSize, header.key_size);
  const Slice stored(stored_key.end(), header.value_size);
  if (verify_checksums && BodyChecksum(stored_key, stored) != header.body_checksum) {
    return CorruptRecord(segment, place.offset, "record checksum mismatch");
  }
  if (header.codec != Codec::kNone) return Unpack(segment, place.offset, header, stored, value);
  record.resize(kRecordHeaderSize + header.key_size + header.value_size);
  record.erase(0, kRecordHeaderSize + header.key_size);
  return Status::OK();
}

}  // namespace

Status ReadValue(const SegmentTable& segments, ValueAddress address, std::uint32_t family, Slice key,
                 bool verify_checksums, std::string* value, const Comparator* order) {
  Status read = ReadRecord(segments, address, family, key, verify_checksums, value, order);
  if (!read.ok()) value->clear();  // nobody shall take damaged bytes for a value
  return read;
}

Status CheckRecord(const SegmentTable& segments, ValueAddress address, std::uint32_t family, Slice key,
                   const Comparator* order) {
  CAMBIUM_TRY(const Place place, Locate(segments, address));
  // A key that is equal without being the same may be longer.
  const std::size_t key_room = order == nullptr ? key.size() : kMaxKeySize;
  std::string front(std::min(place.size, kRecordHeaderSize + key_room), '\0');
  std::size_t have = 0;
  CAMBIUM_RETURN_IF_ERROR(place.segment->file().Read(place.offset, front.size(), front.data(), &have));
  CAMBIUM_TRY(const RecordHeader header, CheckHeader(place, {front.data(), have}, family, key, order));
  static_cast<void>(header);
  return Status::OK();
}

}  // namespace cambium
