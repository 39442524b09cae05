#include "gc/relocation_writer.h"

#include <algorithm>
#include <cassert>

#include "io/take_blocks.h"

namespace cambium {
namespace {

// Bytes per write call. Larger writes are no faster on any device, and cost memory.
constexpr std::size_t kWriteSize = 1u << 20;

}  // namespace

Status RelocationWriter::Begin() {
  assert(written_ == 0 && buffer_.empty());
  CAMBIUM_TRY(made_, make_());
  seed_ = made_.header.Seed();
  info_.number = made_.header.number;
  info_.slot = made_.slot;
  info_.kind = SegmentKind::kRelocation;
  info_.file_id = made_.header.file_id;
  info_.epoch = made_.header.epoch;
  info_.generation = generation_;
  info_.last_sequence = made_.made_at;
  buffer_ = EncodeFileHeader(made_.header);
  return Status::OK();
}

Result<ValueAddress> RelocationWriter::Append(const RecordHeader& header, Slice key, Slice stored) {
  assert(!info_.sealed && "nothing follows the footer");
  assert(header.key_size == key.size() && header.value_size == stored.size());
  if (empty()) CAMBIUM_RETURN_IF_ERROR(Begin());
  const std::uint64_t offset = written_ + buffer_.size();
  const std::uint64_t size = header.RecordSize();
  if (offset + size > kLogOffsetMax) return Status::Corruption("a relocation segment exceeds the largest log offset");
  RecordHeader moved = header;
  moved.durable_lag = kNothingDurable;  // outside of the log, it proves nothing about the log's durability
  moved.batch_index = 0;
  moved.marks = kLastOfBatch;
  buffer_.resize(buffer_.size() + kRecordHeaderSize);
  EncodeRecordHeader(moved, seed_, offset, buffer_.data() + buffer_.size() - kRecordHeaderSize);
  buffer_.append(key.data(), key.size());
  buffer_.append(stored.data(), stored.size());
  buffer_.append(size - kRecordHeaderSize - key.size() - stored.size(), '\0');
  footer_.AddRecord(RecordOp::kPut, header.family, key, size, true);
  info_.last_sequence = std::max(info_.last_sequence, header.sequence);
  if (buffer_.size() >= kWriteSize) CAMBIUM_RETURN_IF_ERROR(WriteOut());
  return ValueAddress::InLog(made_.slot, offset, size);
}

Status RelocationWriter::WriteOut() {
  if (before_write_) before_write_(buffer_.size());
  CAMBIUM_RETURN_IF_ERROR(TakeBlocks(made_.file.get(), written_, buffer_.size()));
  CAMBIUM_RETURN_IF_ERROR(made_.file->Write(written_, buffer_));
  made_.file->StartWriteback(written_, buffer_.size());  // overlaps with filling the next buffer
  written_ += buffer_.size();
  buffer_.clear();
  return Status::OK();
}

Status RelocationWriter::Finish() {
  assert(!empty() && !info_.sealed && "a segment ends once");
  info_.sealed = true;
  info_.has_footer = true;
  info_.sealed_length = written_ + buffer_.size();
  buffer_ += footer_.Finish(seed_, info_.sealed_length);
  CAMBIUM_RETURN_IF_ERROR(WriteOut());
  info_.file_size = written_;
  return Status::OK();
}

}  // namespace cambium
