#include "trace/trace_format.h"

#include "cambium/db.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace cambium {
namespace {

constexpr char kMagic[] = "CAMTRACE";
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kValuesFlag = 1;
constexpr std::uint32_t kOrderFlag = 2;
constexpr std::size_t kChecksumAt = kTraceHeaderSize - 8;

bool GetFamily(Slice* in, std::uint32_t* family) { return GetVarint32(in, family); }

bool GetByte(Slice* in, unsigned char* byte) {
  if (in->empty()) return false;
  *byte = static_cast<unsigned char>((*in)[0]);
  in->remove_prefix(1);
  return true;
}

bool GetKey(Slice* in, Slice* key) { return GetLengthPrefixed(in, key) && key->size() <= kMaxKeyBytes; }

void EncodeWrite(const TraceRecord& record, bool include_values, std::string* body) {
  *body += record.sync ? '\1' : '\0';
  PutVarint64(body, record.ops.size());
  for (const TraceOp& op : record.ops) {
    *body += static_cast<char>(op.type);
    PutVarint64(body, op.family);
    PutLengthPrefixed(body, op.key);
    if (op.type == TraceOpType::kDeleteRange) PutLengthPrefixed(body, op.end_key);
    if (op.type != TraceOpType::kPut) continue;
    if (include_values) {
      PutLengthPrefixed(body, op.value);
    } else {
      PutVarint64(body, op.value_size);
    }
  }
}

bool DecodeWriteOp(Slice* in, bool include_values, TraceOp* op) {
  unsigned char type = 0;
  if (!GetByte(in, &type) || type < 1 || type > static_cast<unsigned char>(TraceOpType::kDeleteRange)) return false;
  op->type = static_cast<TraceOpType>(type);
  if (!GetFamily(in, &op->family) || !GetKey(in, &op->key)) return false;
  if (op->type == TraceOpType::kDeleteRange) return GetKey(in, &op->end_key);
  if (op->type != TraceOpType::kPut) return true;
  if (!include_values) return GetVarint64(in, &op->value_size) && op->value_size <= kMaxValueBytes;
  if (!GetLengthPrefixed(in, &op->value) || op->value.size() > kMaxValueBytes) return false;
  op->value_size = op->value.size();
  return true;
}

bool DecodeLookup(Slice* in, TraceOp* op) {
  std::uint64_t size = 0;
  op->type = TraceOpType::kLookup;
  if (!GetFamily(in, &op->family) || !GetKey(in, &op->key) || !GetVarint64(in, &size)) return false;
  op->found = size != 0;
  op->value_size = op->found ? size - 1 : 0;
  return op->value_size <= kMaxValueBytes;
}

// `count` comes from the file and may be wrong, so it reserves no memory.
template <typename DecodeOne>
bool DecodeOps(Slice* in, TraceRecord* record, DecodeOne decode) {
  std::uint64_t count = 0;
  if (!GetVarint64(in, &count)) return false;
  for (; count > 0; --count) {
    TraceOp op;
    if (!decode(in, &op)) return false;
    record->ops.push_back(op);
  }
  return true;
}

bool GetScan(Slice* in, std::uint64_t* scan) { return GetVarint64(in, scan) && *scan != 0; }

bool DecodeSeek(Slice* in, bool has_key, TraceRecord* record) {
  TraceOp op;
  op.type = TraceOpType::kSeek;
  if (!GetScan(in, &record->scan) || !GetFamily(in, &op.family) || (has_key && !GetKey(in, &op.key))) return false;
  record->ops.push_back(op);
  return true;
}

}  // namespace

std::string EncodeTraceHeader(const TraceHeader& header, std::uint64_t id) {
  std::string bytes(kMagic, 8);
  PutFixed<std::uint32_t>(&bytes, kVersion);
  PutFixed<std::uint32_t>(&bytes, (header.include_values ? kValuesFlag : 0) |
                                      (header.preserve_write_order ? kOrderFlag : 0));
  PutFixed<std::uint64_t>(&bytes, id);
  PutFixed<std::uint64_t>(&bytes, header.wall_seconds);
  PutFixed<std::uint64_t>(&bytes, header.sampling_frequency);
  PutFixed<std::uint64_t>(&bytes, header.filter);
  PutFixed<std::uint64_t>(&bytes, Checksum64(bytes, 0));
  return bytes;
}

Status DecodeTraceHeader(Slice bytes, const std::string& where, TraceHeader* header, std::uint64_t* seed) {
  if (bytes.size() < kTraceHeaderSize || Slice(bytes.data(), 8) != Slice(kMagic, 8)) {
    return Status::Corruption(where + ":0: is not a trace");
  }
  const std::uint32_t version = DecodeFixed<std::uint32_t>(bytes.data() + 8);
  *seed = DecodeFixed<std::uint64_t>(bytes.data() + kChecksumAt);
  // A later version may check its header in another way.
  if (version > kVersion) {
    return Status::NotSupported(where + ":8: a trace of version " + std::to_string(version) +
                                "; this library reads version " + std::to_string(kVersion));
  }
  if (version != kVersion || !ChecksumMatches(*seed, Checksum64({bytes.data(), kChecksumAt}, 0))) {
    return Status::Corruption(where + ":0: the header of the trace does not validate");
  }
  const std::uint32_t flags = DecodeFixed<std::uint32_t>(bytes.data() + 12);
  if ((flags & ~(kValuesFlag | kOrderFlag)) != 0) {
    return Status::NotSupported(where + ":12: a trace with flags that this library does not know: " +
                                std::to_string(flags));
  }
  header->include_values = (flags & kValuesFlag) != 0;
  header->preserve_write_order = (flags & kOrderFlag) != 0;
  header->wall_seconds = DecodeFixed<std::uint64_t>(bytes.data() + 24);
  header->sampling_frequency = DecodeFixed<std::uint64_t>(bytes.data() + 32);
  header->filter = DecodeFixed<std::uint64_t>(bytes.data() + 40);
  return Status::OK();
}

std::string EncodeTraceBody(const TraceRecord& record, bool include_values) {
  std::string body;
  PutVarint64(&body, record.time_micros);
  switch (record.type) {
    case kTraceWrite: EncodeWrite(record, include_values, &body); break;
    case kTraceGet:
    case kTraceMultiGet:
      PutVarint64(&body, record.ops.size());
      for (const TraceOp& op : record.ops) {
        PutVarint64(&body, op.family);
        PutLengthPrefixed(&body, op.key);
        PutVarint64(&body, op.found ? op.value_size + 1 : 0);
      }
      break;
    case kTraceIteratorSeek:
    case kTraceIteratorSeekForPrev:
    case kTraceIteratorSeekToFirst:
    case kTraceIteratorSeekToLast:
      PutVarint64(&body, record.scan);
      PutVarint64(&body, record.ops.front().family);
      if (record.type == kTraceIteratorSeek || record.type == kTraceIteratorSeekForPrev) {
        PutLengthPrefixed(&body, record.ops.front().key);
      }
      break;
    case kTraceIteratorDone:
      PutVarint64(&body, record.scan);
      PutVarint64(&body, record.moves);
      break;
    case kTraceEnd:
      PutVarint64(&body, record.records);
      PutVarint64(&body, record.left_out);
      body += record.is_full ? '\1' : '\0';
      break;
  }
  return body;
}

bool DecodeTraceBody(Slice body, TraceType type, bool include_values, TraceRecord* record) {
  std::vector<TraceOp> ops = std::move(record->ops);
  ops.clear();
  *record = TraceRecord();
  record->ops = std::move(ops);
  record->type = type;
  if (!GetVarint64(&body, &record->time_micros)) return false;
  bool is_sound = false;
  switch (type) {
    case kTraceWrite: {
      unsigned char sync = 0;
      is_sound = GetByte(&body, &sync) && sync <= 1 && DecodeOps(&body, record, [&](Slice* in, TraceOp* op) {
                   return DecodeWriteOp(in, include_values, op);
                 });
      record->sync = sync != 0;
      break;
    }
    case kTraceGet:
    case kTraceMultiGet:
      is_sound = DecodeOps(&body, record, DecodeLookup) && (type == kTraceMultiGet || record->ops.size() == 1);
      break;
    case kTraceIteratorSeek:
    case kTraceIteratorSeekForPrev: is_sound = DecodeSeek(&body, true, record); break;
    case kTraceIteratorSeekToFirst:
    case kTraceIteratorSeekToLast: is_sound = DecodeSeek(&body, false, record); break;
    case kTraceIteratorDone: is_sound = GetScan(&body, &record->scan) && GetVarint64(&body, &record->moves); break;
    case kTraceEnd: {
      unsigned char is_full = 0;
      is_sound = GetVarint64(&body, &record->records) && GetVarint64(&body, &record->left_out) &&
                 GetByte(&body, &is_full) && is_full <= 1;
      record->is_full = is_full != 0;
      break;
    }
  }
  return is_sound && body.empty();
}

void AppendTraceRecord(std::string* out, std::uint64_t seed, std::uint64_t offset, TraceType type, Slice body) {
  const std::size_t at = out->size();
  out->append(8, '\0');
  PutFixed<std::uint32_t>(out, static_cast<std::uint32_t>(body.size()));
  *out += static_cast<char>(type);
  out->append(body.data(), body.size());
  const Slice covered(out->data() + at + 8, out->size() - at - 8);
  EncodeFixed<std::uint64_t>(out->data() + at, Checksum64(covered, SeedAt(seed, offset)));
}

}  // namespace cambium
