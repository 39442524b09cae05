#include "vlog/prepared_batch.h"

#include <cassert>

#include "util/coding.h"

namespace cambium {

void PreparedBatch::Put(std::uint32_t family, Slice key, Slice value) {
  RecordHeader header;
  header.op = RecordOp::kPut;
  header.family = family;
  const bool separated = !value.empty() && value.size() >= rules_.separate_from;
  if (separated && rules_.codec != Codec::kNone) {
    compressed_.clear();
    PutFixed<std::uint64_t>(&compressed_, value.size());
    const bool is_smaller = [&] {
      const Stopwatch watch(rules_.meter, BLOB_DB_COMPRESSION_MICROS, kAll);
      return Compress(rules_.codec, value, &compressed_);
    }();
    if (is_smaller) {
      header.codec = rules_.codec;
      Append(header, key, value, compressed_, false, separated);
      return;
    }
  }
  Append(header, key, value, value, true, separated);
}

void PreparedBatch::Delete(std::uint32_t family, Slice key) {
  RecordHeader header;
  header.op = RecordOp::kDelete;
  header.family = family;
  Append(header, key, {}, {}, false, false);
}

void PreparedBatch::DeleteRange(std::uint32_t family, Slice begin, Slice end) {
  RecordHeader header;
  header.op = RecordOp::kDeleteRange;
  header.family = family;
  Append(header, begin, end, end, true, false);
  ++range_count_;
}

void PreparedBatch::PutLarge(std::uint32_t family, Slice key, const LargeValueRef& ref, ValueAddress address) {
  RecordHeader header;
  header.op = RecordOp::kPutLarge;
  header.family = family;
  Append(header, key, {}, EncodeLargeValueRef(ref), false, true);
  ops_.back().address = address;
  large_bytes_ += ref.file_size;
}

void PreparedBatch::Append(RecordHeader header, Slice key, Slice value, Slice stored, bool stored_is_callers,
                           bool separated) {
  header.key_size = static_cast<std::uint32_t>(key.size());
  header.value_size = stored.size();
  header.write_time = rules_.write_time;
  header.batch_index = static_cast<std::uint32_t>(ops_.size());

  const std::size_t start = buffer_.size();
  header_at_.push_back(start);
  buffer_.resize(start + kRecordHeaderSize);
  buffer_.append(key.data(), key.size());
  const bool borrow = stored_is_callers && stored.size() >= kBorrowFrom;
  if (!borrow) {
    buffer_.append(stored.data(), stored.size());
    // Key and value are contiguous now: the checksum is faster that way.
    header.body_checksum = BodyChecksum({buffer_.data() + start + kRecordHeaderSize, key.size()},
                                        {buffer_.data() + start + kRecordHeaderSize + key.size(), stored.size()});
  } else {
    header.body_checksum = BodyChecksum(key, stored);
  }
  const std::uint64_t record_size = header.RecordSize();
  const std::size_t padding = record_size - kRecordHeaderSize - key.size() - stored.size();

  if (layout_.empty() || layout_.back().borrowed != nullptr) layout_.push_back({nullptr, start, 0});
  if (borrow) {
    layout_.back().size += buffer_.size() - start;
    layout_.push_back({stored.data(), 0, stored.size()});
    layout_.push_back({nullptr, buffer_.size(), 0});
  }
  buffer_.append(padding, '\0');
  layout_.back().size = buffer_.size() - layout_.back().start;

  memtable_bytes_ += key.size() + (separated ? 0 : value.size());
  ops_.push_back({header, key, value, size_, separated, {}});
  size_ += record_size;
  assert(size_ % kRecordAlignment == 0);
}

void PreparedBatch::Bind(SequenceNumber first, SequenceNumber durable, std::uint64_t file_seed, Slot slot,
                         std::uint64_t offset) {
  assert(!ops_.empty() && header_at_.size() == ops_.size() && offset % kRecordAlignment == 0);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    Op& op = ops_[i];
    op.header.sequence = first + i;
    const std::uint64_t lag = op.header.sequence - durable;
    op.header.durable_lag = durable == 0 || lag >= kNothingDurable ? kNothingDurable : static_cast<std::uint32_t>(lag);
    op.header.marks = i + 1 == ops_.size() ? kLastOfBatch : 0;
    const std::uint64_t at = offset + op.offset;
    EncodeRecordHeader(op.header, file_seed, at, buffer_.data() + header_at_[i]);
    if (op.separated && op.header.op == RecordOp::kPut) {
      op.address = ValueAddress::InLog(slot, at, op.header.RecordSize());
    }
  }
  pieces_.clear();
  for (const Piece& piece : layout_) {
    if (piece.size == 0) continue;
    pieces_.emplace_back(piece.borrowed != nullptr ? piece.borrowed : buffer_.data() + piece.start, piece.size);
  }
}

}  // namespace cambium
