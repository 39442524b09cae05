// Fields: how an Edit and its parts are laid out, as tag, length, bytes.
//
//   field    varint tag | varint length | length bytes
//   message  fields with ascending tags; only a repeated field has its tag more than once
//
// Each message has exactly one encoding, so equal edits have equal bytes. Nothing read is trusted: a length never
// exceeds what is left, and no count is stored that could ask for memory which the bytes do not pay for.
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
  void Numbers(std::uint64_t tag, const std::vector<std::uint64_t>& values);  // varints, one behind the other
  void Id(std::uint64_t tag, const Id128& id);
  void Checksum(std::uint64_t tag, std::uint64_t checksum);  // 8 bytes: no number that is small

 private:
  std::string* const out_;
};

// Takes a message apart in the order of its tags. The first problem stays: later calls do nothing, Finish returns it.
// Borrows the message, and `what`, a literal that names it in errors.
class FieldReader {
 public:
  FieldReader(Slice message, const char* what) : rest_(message), what_(what) { Advance(); }

  // Takes the next field if it has this tag: false if it has another, or there is none, or something was wrong.
  [[nodiscard]] bool Take(std::uint64_t tag, Slice* bytes);
  [[nodiscard]] bool TakeNumber(std::uint64_t tag, std::uint64_t* value);
  [[nodiscard]] bool TakeNumbers(std::uint64_t tag, std::vector<std::uint64_t>* values);

  // The same for fields that must be there: Corruption if they are not.
  void Bytes(std::uint64_t tag, Slice* bytes);
  void Number(std::uint64_t tag, std::uint64_t* value);
  void NumberUpTo(std::uint64_t tag, std::uint64_t max, std::uint64_t* value);
  void Flag(std::uint64_t tag, bool* value);
  void Numbers(std::uint64_t tag, std::vector<std::uint64_t>* values);
  void Id(std::uint64_t tag, Id128* id);
  void Checksum(std::uint64_t tag, std::uint64_t* checksum);

  void Fail(std::uint64_t tag, const char* problem);
  [[nodiscard]] bool ok() const { return status_.ok(); }

  // NotSupported if a field with a tag above `last_tag` is left (a later version wrote it), Corruption if another one
  // is (its tag is out of order or there twice), or if anything was wrong before.
  Status Finish(std::uint64_t last_tag);

 private:
  void Advance();

  Slice rest_;  // behind the next field
  const char* const what_;
  bool has_next_ = false;
  std::uint64_t next_tag_ = 0;
  Slice next_bytes_;
  Status status_;
};

}  // namespace cambium
