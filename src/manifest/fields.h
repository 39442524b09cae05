// Fields: the encoding of an Edit and its parts, as tag, length, bytes.
//
//   field    varint tag | varint length | length bytes
//   message  fields with ascending tags; only a repeated field has its tag more than once
//
// Each message has exactly one encoding, so equal edits have equal bytes. Nothing read is trusted: a length must not
// exceed the rest of the message, and no count is stored, so memory is bounded by the size of the bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "io/file_header.h"
#include "util/result.h"

namespace cambium {

// Appends fields to *out, in the order of the calls: tags must ascend.
class FieldWriter {
 public:
  explicit FieldWriter(std::string* out) : out_(out) {}
  void Bytes(std::uint64_t tag, Slice bytes);
  void Number(std::uint64_t tag, std::uint64_t value);                        // a varint
  void Numbers(std::uint64_t tag, const std::vector<std::uint64_t>& values);  // a sequence of varints
  void Id(std::uint64_t tag, const Id128& id);
  void Checksum(std::uint64_t tag, std::uint64_t checksum);  // 8 bytes, since it is seldom a small number

 private:
  std::string* const out_;
};

// Reads the fields of a message in the order of their tags. After the first problem later calls do nothing, and Finish
// returns it. Borrows the message, and `what`, a literal that names it in errors.
class FieldReader {
 public:
  FieldReader(Slice message, const char* what) : rest_(message), what_(what) { Advance(); }

  // Takes the next field if it has this tag. False if it has another tag, no field is left, or there was a problem.
  [[nodiscard]] bool Take(std::uint64_t tag, Slice* bytes);
  [[nodiscard]] bool TakeNumber(std::uint64_t tag, std::uint64_t* value);
  [[nodiscard]] bool TakeNumbers(std::uint64_t tag, std::vector<std::uint64_t>* values);

  // As Take, for required fields: Corruption if one is missing.
  void Bytes(std::uint64_t tag, Slice* bytes);
  void Number(std::uint64_t tag, std::uint64_t* value);
  void NumberUpTo(std::uint64_t tag, std::uint64_t max, std::uint64_t* value);
  void Flag(std::uint64_t tag, bool* value);
  void Numbers(std::uint64_t tag, std::vector<std::uint64_t>* values);
  void Id(std::uint64_t tag, Id128* id);
  void Checksum(std::uint64_t tag, std::uint64_t* checksum);

  void Fail(std::uint64_t tag, const char* problem);
  [[nodiscard]] bool ok() const { return status_.ok(); }

  // Returns the first problem. If there was none: NotSupported if a field with a tag above `last_tag` is left, which a
  // later version wrote; Corruption if another field is left, whose tag occurs twice.
  Status Finish(std::uint64_t last_tag);

 private:
  void Advance();

  Slice rest_;  // after the next field
  const char* const what_;
  bool has_next_ = false;
  std::uint64_t next_tag_ = 0;
  Slice next_bytes_;
  Status status_;
};

}  // namespace cambium
