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

// The value behind a checked header, from stored to raw. `stored` may be the tail of *value.
Status Unpack(const Segment& segment, std::uint64_t offset, const RecordHeader& header, Slice stored,
              std::string* value) {
  if (stored.size() < 8) return CorruptRecord(segment, offset, "compressed value has no size");
  const auto raw_size = DecodeFixed<std::uint64_t>(stored.data());
  // What is stored compressed saved space when it was written, and no codec shrinks more than lz4's 255 or zstd's few
  // thousand to one for long: but the bound that matters is the largest legal value.
  if (raw_size > 0xffffffffu) return CorruptRecord(segment, offset, "compressed value says it is too large");
  std::string raw;
  raw.resize(raw_size);
  stored.remove_prefix(8);
  const Status s = Decompress(header.codec, stored, raw.data(), raw.size());
  if (!s.ok()) return CorruptRecord(segment, offset, std::string(s.message()));
  *value = std::move(raw);
  return Status::OK();
}

}  // namespace

Status ReadValue(const SegmentTable& segments, ValueAddress address, std::uint32_t family, Slice key,
                 bool verify_checksums, std::string* value) {
  const std::shared_ptr<Segment>& found = segments.Find(address.slot());
  if (found == nullptr) {
    return Status::Corruption("an index entry points to slot " +
                              std::to_string(static_cast<std::uint32_t>(address.slot())) + ", which holds no segment");
  }
  const Segment& segment = *found;
  const bool own_file = address.kind() == EntryKind::kLargeValue;
  if (own_file != (segment.kind() == FileKind::kLargeValue)) {
    return CorruptRecord(segment, 0, "an index entry takes this file for one of another kind");
  }
  const std::uint64_t offset = own_file ? kLargeRecordOffset : address.offset();

  // The address says how much to read: at least the record, for one of its own file rounded up to a page.
  std::size_t want = address.size();
  if (own_file) {
    FileInfo info;
    CAMBIUM_RETURN_IF_ERROR(segment.file().GetInfo(&info));
    want = info.size <= offset ? 0 : static_cast<std::size_t>(std::min<std::uint64_t>(want, info.size - offset));
  }
  std::string& record = *value;
  record.resize(want);
  std::size_t have = 0;
  CAMBIUM_RETURN_IF_ERROR(segment.file().Read(offset, want, record.data(), &have));
  if (have < kRecordHeaderSize) return CorruptRecord(segment, offset, "the file ends where a record should be");
  RecordHeader header;
  if (DecodeRecordHeader(record.data(), segment.seed(), offset, &header) != HeaderCheck::kValid) {
    return CorruptRecord(segment, offset, "record header does not validate");
  }
  if (header.op != RecordOp::kPut || header.RecordSize() > have) {
    return CorruptRecord(segment, offset, "record is not the one the index points to");
  }
  const Slice stored_key(record.data() + kRecordHeaderSize, header.key_size);
  const Slice stored(stored_key.end(), header.value_size);
  if ((header.family != family || stored_key != key) && !MutantIs(Mutant::kSkipFamilyKeyCheck)) {
    return CorruptRecord(segment, offset, "record belongs to another key");
  }
  if (verify_checksums && BodyChecksum(stored_key, stored) != header.body_checksum) {
    return CorruptRecord(segment, offset, "record checksum mismatch");
  }
  if (header.codec != Codec::kNone) return Unpack(segment, offset, header, stored, value);
  record.resize(kRecordHeaderSize + header.key_size + header.value_size);
  record.erase(0, kRecordHeaderSize + header.key_size);
  return Status::OK();
}

}  // namespace cambium
