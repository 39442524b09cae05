// A Note has what a salvage knows about a key of the damaged database so far.
//
//   verdict (1) | sequence (8) | address (8) | record's sequence (8) | batch index (4) | operation (1) | address (8) |
//   damaged record's sequence (8) | address (8) | value
#pragma once

#include <cstdint>
#include <string>

#include "cambium/slice.h"
#include "cambium/types.h"
#include "util/coding.h"
#include "vlog/entry.h"
#include "vlog/record_format.h"

namespace cambium {

struct Note {
  // The state of the key in the newest layer that has an entry for it.
  enum class Verdict : std::uint8_t {
    kNone = 0,            // no layer has an entry
    kValue = 1,           // its value was written to the new database
    kDeleted = 2,         // the entry is a tombstone
    kLost = 3,            // its value cannot be read
    kInDoubt = 4,         // a value, but a lost page of a newer layer may have had another entry
    kDeletedInDoubt = 5,  // a tombstone, with the same doubt
    kOrphan = 6,          // in doubt, and from a page that no branch refers to: it may have been replaced
  };
  Verdict verdict = Verdict::kNone;

  // For kInDoubt and kOrphan: the address, or the value itself.
  SequenceNumber sequence = 0;  // 0: unknown
  ValueAddress address;         // word 0: inline
  std::string inline_value;

  // The newest record of the key found in the log; 0: none.
  SequenceNumber record_sequence = 0;
  std::uint32_t batch_index = 0;
  RecordOp op = RecordOp::kPut;
  ValueAddress record_address;

  // The newest damaged record after the tail that seems to be this key's: its header is whole, the rest is not. 0:
  // none.
  SequenceNumber damaged_sequence = 0;
  ValueAddress damaged_address;

  [[nodiscard]] std::string Encode() const {
    std::string out(1, static_cast<char>(verdict));
    PutFixed<std::uint64_t>(&out, sequence);
    PutFixed<std::uint64_t>(&out, address.word());
    PutFixed<std::uint64_t>(&out, record_sequence);
    PutFixed<std::uint32_t>(&out, batch_index);
    out.push_back(static_cast<char>(op));
    PutFixed<std::uint64_t>(&out, record_address.word());
    PutFixed<std::uint64_t>(&out, damaged_sequence);
    PutFixed<std::uint64_t>(&out, damaged_address.word());
    return out + inline_value;
  }
  // Decodes bytes that Encode returned.
  static Note Decode(Slice in) {
    Note note;
    std::uint64_t word = 0;
    note.verdict = static_cast<Verdict>(in[0]);
    in.remove_prefix(1);
    static_cast<void>(GetFixed(&in, &note.sequence));
    static_cast<void>(GetFixed(&in, &word));
    note.address = ValueAddress(word);
    static_cast<void>(GetFixed(&in, &note.record_sequence));
    static_cast<void>(GetFixed(&in, &note.batch_index));
    note.op = static_cast<RecordOp>(in[0]);
    in.remove_prefix(1);
    static_cast<void>(GetFixed(&in, &word));
    note.record_address = ValueAddress(word);
    static_cast<void>(GetFixed(&in, &note.damaged_sequence));
    static_cast<void>(GetFixed(&in, &word));
    note.damaged_address = ValueAddress(word);
    note.inline_value = in.ToString();
    return note;
  }
};

}  // namespace cambium
