#include "manifest/fields.h"

#include <cstring>

#include "util/coding.h"

namespace cambium {

void FieldWriter::Bytes(std::uint64_t tag, Slice bytes) {
  PutVarint64(out_, tag);
  PutLengthPrefixed(out_, bytes);
}

void FieldWriter::Number(std::uint64_t tag, std::uint64_t value) {
  std::string bytes;
  PutVarint64(&bytes, value);
  Bytes(tag, bytes);
}

void FieldWriter::Numbers(std::uint64_t tag, const std::vector<std::uint64_t>& values) {
  std::string bytes;
  for (const std::uint64_t value : values) PutVarint64(&bytes, value);
  Bytes(tag, bytes);
}

void FieldWriter::Id(std::uint64_t tag, const Id128& id) {
  Bytes(tag, {reinterpret_cast<const char*>(id.data()), id.size()});
}

void FieldWriter::Checksum(std::uint64_t tag, std::uint64_t checksum) {
  char bytes[8];
  EncodeFixed<std::uint64_t>(bytes, checksum);
  Bytes(tag, {bytes, sizeof(bytes)});
}

void FieldReader::Advance() {
  has_next_ = false;
  if (!ok() || rest_.empty()) return;
  const std::uint64_t previous = next_tag_;
  if (!GetVarint64(&rest_, &next_tag_) || !GetLengthPrefixed(&rest_, &next_bytes_)) {
    return Fail(previous, "is followed by a malformed field");
  }
  if (next_tag_ < previous || next_tag_ == 0) return Fail(next_tag_, "is out of order");
  has_next_ = true;
}

bool FieldReader::Take(std::uint64_t tag, Slice* bytes) {
  if (!ok() || !has_next_ || next_tag_ != tag) return false;
  *bytes = next_bytes_;
  Advance();
  return true;
}

bool FieldReader::TakeNumber(std::uint64_t tag, std::uint64_t* value) {
  Slice bytes;
  if (!Take(tag, &bytes)) return false;
  if (GetVarint64(&bytes, value) && bytes.empty()) return true;
  Fail(tag, "is not one number");
  return false;
}

bool FieldReader::TakeNumbers(std::uint64_t tag, std::vector<std::uint64_t>* values) {
  Slice bytes;
  if (!Take(tag, &bytes)) return false;
  values->clear();
  while (!bytes.empty()) {
    std::uint64_t value;
    if (!GetVarint64(&bytes, &value)) {
      Fail(tag, "is not a list of numbers");
      return false;
    }
    values->push_back(value);
  }
  return true;
}

void FieldReader::Bytes(std::uint64_t tag, Slice* bytes) {
  if (!Take(tag, bytes)) Fail(tag, "is missing");
}

void FieldReader::Number(std::uint64_t tag, std::uint64_t* value) {
  if (!TakeNumber(tag, value)) Fail(tag, "is missing");
}

void FieldReader::NumberUpTo(std::uint64_t tag, std::uint64_t max, std::uint64_t* value) {
  Number(tag, value);
  if (ok() && *value > max) Fail(tag, "is out of range");
}

void FieldReader::Flag(std::uint64_t tag, bool* value) {
  std::uint64_t number = 0;
  NumberUpTo(tag, 1, &number);
  *value = number == 1;
}

void FieldReader::Numbers(std::uint64_t tag, std::vector<std::uint64_t>* values) {
  if (!TakeNumbers(tag, values)) Fail(tag, "is missing");
}

void FieldReader::Id(std::uint64_t tag, Id128* id) {
  Slice bytes;
  Bytes(tag, &bytes);
  if (!ok()) return;
  if (bytes.size() != id->size()) return Fail(tag, "is not an id");
  std::memcpy(id->data(), bytes.data(), id->size());
}

void FieldReader::Checksum(std::uint64_t tag, std::uint64_t* checksum) {
  Slice bytes;
  Bytes(tag, &bytes);
  if (!ok()) return;
  if (bytes.size() != sizeof(*checksum)) return Fail(tag, "is not a checksum");
  *checksum = DecodeFixed<std::uint64_t>(bytes.data());
}

void FieldReader::Fail(std::uint64_t tag, const char* problem) {
  if (!ok()) return;
  status_ = Status::Corruption(std::string(what_) + ": field " + std::to_string(tag) + " " + problem);
}

Status FieldReader::Finish(std::uint64_t last_tag) {
  if (ok() && has_next_ && next_tag_ > last_tag) {
    return Status::NotSupported(std::string(what_) + ": field " + std::to_string(next_tag_) +
                                " is of a later version of the format");
  }
  if (has_next_) Fail(next_tag_, "occurs twice");
  return status_;
}

}  // namespace cambium
