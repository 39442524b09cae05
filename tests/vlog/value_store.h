// ValueStore: a segment to which tests add records, and a table with that segment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "util/coding.h"
#include "util/compression.h"
#include "vlog/value_reader.h"
#include "vlog/vlog_test_util.h"

namespace cambium::testing {

inline constexpr Slot kStoreSlot{3};
inline constexpr std::uint32_t kStoreFamily = 0;

struct ValueStore {
  explicit ValueStore(FileKind kind = FileKind::kLog, SimOptions options = {})
      : fs(options), segment(MakeSegment(&fs, 1, kStoreSlot, kind)) {
    if (kind == FileKind::kLargeValue) end = kLargeRecordOffset;
    table = table.With(kStoreSlot, segment);
  }
  // Appends a record with the given header, completed with its sizes and right checksums.
  ValueAddress Forge(RecordHeader header, const std::string& key, const std::string& stored) {
    header.sequence = 1;
    header.key_size = static_cast<std::uint32_t>(key.size());
    header.value_size = stored.size();
    header.body_checksum = BodyChecksum(key, stored);
    std::string record(kRecordHeaderSize, '\0');
    EncodeRecordHeader(header, segment->seed(), end, record.data());
    record += key + stored;
    record.resize(header.RecordSize());
    EXPECT_TRUE(segment->file().Write(end, record).ok());
    const ValueAddress address = segment->kind() == FileKind::kLargeValue
                                     ? ValueAddress::OwnFile(kStoreSlot, record.size())
                                     : ValueAddress::InLog(kStoreSlot, end, record.size());
    end += record.size();
    return address;
  }
  ValueAddress Put(const std::string& key, const std::string& value, Codec codec = Codec::kNone,
                   std::uint32_t family = kStoreFamily) {
    RecordHeader header;
    header.family = family;
    std::string stored;
    PutFixed<std::uint64_t>(&stored, value.size());
    if (Compress(codec, value, &stored)) {
      header.codec = codec;
      return Forge(header, key, stored);
    }
    return Forge(header, key, value);
  }
  Status Read(ValueAddress address, Slice key, std::string* value, bool verify = true) {
    Slice found;
    std::string buffer;
    const Status read = ReadValue(table, {address, kStoreFamily, key, verify, nullptr}, &buffer, &found);
    *value = found.ToString();
    return read;
  }
  Status Check(ValueAddress address, Slice key) { return CheckRecord(table, {address, kStoreFamily, key, true, nullptr}); }

  SimFileSystem fs;
  std::shared_ptr<Segment> segment;
  SegmentTable table;
  std::uint64_t end = kFileHeaderSize;
};

}  // namespace cambium::testing
