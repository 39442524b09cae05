#include "vlog/record_format.h"

#include "io/file_header.h"
#include "util/checksum.h"
#include "util/coding.h"
#include "util/mutant.h"
#include "vlog/entry.h"

namespace cambium {
namespace {

std::uint64_t HeaderChecksum(const char* header, std::uint64_t file_seed, std::uint64_t offset) {
  const std::uint64_t seed = MutantIs(Mutant::kSeedWithoutOffset) ? file_seed : SeedAt(file_seed, offset);
  return Checksum64({header + 8, kRecordHeaderSize - 8}, seed);
}

bool IsKnown(RecordOp op) {
  switch (op) {
    case RecordOp::kPut:
    case RecordOp::kDelete:
    case RecordOp::kDeleteRange:
    case RecordOp::kPutLarge:
    case RecordOp::kLink:
    case RecordOp::kMark:
      return true;
    default:
      return false;
  }
}

std::string EncodeThree(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::string out;
  PutFixed(&out, a);
  PutFixed(&out, b);
  PutFixed(&out, c);
  return out;
}
bool DecodeThree(Slice in, std::uint64_t* a, std::uint64_t* b, std::uint64_t* c) {
  return in.size() == 24 && GetFixed(&in, a) && GetFixed(&in, b) && GetFixed(&in, c);
}

}  // namespace

void EncodeRecordHeader(const RecordHeader& header, std::uint64_t file_seed, std::uint64_t offset, char* out) {
  EncodeFixed<std::uint64_t>(out + 8, header.body_checksum);
  EncodeFixed<std::uint64_t>(out + 16, header.sequence);
  EncodeFixed<std::uint64_t>(out + 24, header.value_size);
  EncodeFixed<std::uint32_t>(out + 32, header.write_time);
  EncodeFixed<std::uint32_t>(out + 36, header.durable_lag);
  EncodeFixed<std::uint32_t>(out + 40, header.family);
  EncodeFixed<std::uint32_t>(out + 44, header.key_size);
  EncodeFixed<std::uint32_t>(out + 48, header.batch_index);
  out[52] = static_cast<char>(header.op);
  out[53] = static_cast<char>(header.codec);
  out[54] = static_cast<char>(header.marks);
  out[55] = 0;
  EncodeFixed<std::uint64_t>(out, HeaderChecksum(out, file_seed, offset));
}

HeaderCheck DecodeRecordHeader(const char* in, std::uint64_t file_seed, std::uint64_t offset, RecordHeader* header) {
  const auto checksum = DecodeFixed<std::uint64_t>(in);
  const bool is_right = ChecksumMatches(checksum, HeaderChecksum(in, file_seed, offset));
  if (!is_right && !(checksum == 0 && MutantIs(Mutant::kAcceptZerosAsRecord))) return HeaderCheck::kBadChecksum;
  header->body_checksum = DecodeFixed<std::uint64_t>(in + 8);
  header->sequence = DecodeFixed<std::uint64_t>(in + 16);
  header->value_size = DecodeFixed<std::uint64_t>(in + 24);
  header->write_time = DecodeFixed<std::uint32_t>(in + 32);
  header->durable_lag = DecodeFixed<std::uint32_t>(in + 36);
  header->family = DecodeFixed<std::uint32_t>(in + 40);
  header->key_size = DecodeFixed<std::uint32_t>(in + 44);
  header->batch_index = DecodeFixed<std::uint32_t>(in + 48);
  header->op = static_cast<RecordOp>(in[52]);
  header->codec = static_cast<Codec>(in[53]);
  header->marks = static_cast<std::uint8_t>(in[54]);
  if (!IsKnown(header->op)) return HeaderCheck::kUnknownOperation;
  const bool sound = header->sequence <= kMaxSequenceNumber && header->key_size <= kMaxKeySize &&
                     header->value_size <= (std::uint64_t{1} << 40) && header->codec <= Codec::kZstd &&
                     (header->marks & ~kLastOfBatch) == 0 && in[55] == 0 &&
                     (header->op != RecordOp::kDeleteRange ||
                      (header->value_size <= kMaxKeySize && header->codec == Codec::kNone));
  return sound ? HeaderCheck::kValid : HeaderCheck::kBadField;
}

std::uint64_t BodyChecksum(Slice key, Slice stored_value) {
  if (stored_value.empty()) return Checksum64(key, 0);
  if (key.data() + key.size() == stored_value.data()) {
    return Checksum64({key.data(), key.size() + stored_value.size()}, 0);
  }
  Checksum64Stream stream(0);
  stream.Update(key);
  stream.Update(stored_value);
  return stream.Digest();
}

std::string EncodeSegmentLink(const SegmentLink& link) {
  return EncodeThree(link.number, link.length, link.last_sequence);
}
bool DecodeSegmentLink(Slice in, SegmentLink* link) {
  if (!DecodeThree(in, &link->number, &link->length, &link->last_sequence)) return false;
  return link->last_sequence <= kMaxSequenceNumber && (link->number == 0 || link->length >= kFileHeaderSize);
}

std::string EncodeLargeValueRef(const LargeValueRef& ref) {
  return EncodeThree(ref.number, ref.file_size, ref.body_checksum);
}
bool DecodeLargeValueRef(Slice in, LargeValueRef* ref) {
  return DecodeThree(in, &ref->number, &ref->file_size, &ref->body_checksum);
}

}  // namespace cambium
