#include "upkeep/compact/changed_values.h"

#include <algorithm>
#include <cassert>

#include "util/coding.h"
#include "vlog/large_value_file.h"
#include "vlog/value_reader.h"

namespace cambium {

Result<ValueAddress> ChangedValues::Append(Slice key, Slice value) {
  RecordHeader record;
  record.op = RecordOp::kPut;
  record.family = rules_.family;
  record.sequence = rules_.sequence;
  record.write_time = rules_.write_time;
  record.key_size = static_cast<std::uint32_t>(key.size());
  record.marks = kLastOfBatch;
  Slice stored = value;
  packed_.clear();
  PutFixed<std::uint64_t>(&packed_, value.size());
  if (rules_.codec != Codec::kNone && Compress(rules_.codec, value, &packed_)) {
    record.codec = rules_.codec;
    stored = packed_;
  }
  record.value_size = stored.size();
  record.body_checksum = BodyChecksum(key, stored);
  bytes_written_ += record.RecordSize();
  if (value.size() > rules_.large_from) return AppendLarge(record, key, stored);
  const std::uint64_t most = std::min<std::uint64_t>(rules_.segment_bytes, kLogOffsetMax);
  if (segment_ != nullptr && segment_bytes_ + record.RecordSize() > most) {
    CAMBIUM_RETURN_IF_ERROR(segment_->Finish());
    Collect();
  }
  if (segment_ == nullptr) {
    ReserveFile();
    // Generation 1, as after one relocation by log GC: its values were written for the second time.
    segment_ = std::make_unique<RelocationWriter>([this] { return make_(FileKind::kRelocation); }, 1,
                                                  rules_.before_write);
    segment_bytes_ = kFileHeaderSize;
  }
  segment_bytes_ += record.RecordSize();
  return segment_->Append(record, key, stored);
}

Result<ValueAddress> ChangedValues::AppendLarge(const RecordHeader& record, Slice key, Slice stored) {
  ReserveFile();
  CAMBIUM_TRY(NewRelocationFile made, make_(FileKind::kLargeValue));
  SegmentInfo info;
  info.number = made.header.number;
  info.slot = made.slot;
  info.kind = SegmentKind::kLargeValue;
  info.file_id = made.header.file_id;
  info.epoch = made.header.epoch;
  info.sealed = true;
  info.sealed_length = info.file_size = kLargeRecordOffset + record.RecordSize();
  files_.push_back({info, made.header, std::move(made.file)});
  if (rules_.before_write) rules_.before_write(info.file_size);
  CAMBIUM_RETURN_IF_ERROR(WriteLargeValueFile(files_.back().file.get(), made.header, record, key, stored));
  return ValueAddress::OwnFile(info.slot, record.RecordSize());
}

Status ChangedValues::Finish() {
  if (segment_ == nullptr) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(segment_->Finish());
  Collect();
  return Status::OK();
}

void ChangedValues::ReserveFile() {
  const std::size_t needed = files_.size() + (segment_ == nullptr ? 1 : 2);
  if (needed > files_.capacity()) files_.reserve(2 * needed);
}

void ChangedValues::Collect() {
  assert(segment_ != nullptr);
  if (!segment_->empty()) files_.push_back({segment_->info(), segment_->header(), segment_->TakeFile()});
  segment_.reset();
}

std::vector<ChangedValues::Made>& ChangedValues::files() {
  if (segment_ != nullptr) Collect();
  return files_;
}

}  // namespace cambium
