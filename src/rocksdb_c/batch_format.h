// RocksDB's serialised form of a batch, which replicators and bindings read and make:
//
//   offset  size  field        (little-endian, no padding)
//        0     8  sequence     0: it is not known before the batch is written
//        8     4  count        of the operations, without log data and no-ops
//       12     -  operations:  tag | [varint family] | varint key size | key | [varint size | value, or end of a range]
#pragma once

#include <string>

#include "cambium/write_batch.h"

namespace cambium::rocks {

// A batch that has refused an operation cannot be written: its form has a count that DecodeBatch does not accept.
[[nodiscard]] std::string EncodeBatch(const WriteBatch& batch);
// Log data and no-ops are skipped. Corruption if `data` is not such a form; NotSupported if it has an operation that
// this version does not have. *batch is then unchanged.
Status DecodeBatch(Slice data, WriteBatch* batch);

}  // namespace cambium::rocks
