// PreparedRecord: a prepared transaction as it is on disk.
//
// It is an entry of the column family "cambium.prepared" (kPreparedFamilyName): the key is the transaction's name, the
// value has
//
//   byte    version, 1
//   varint  n, the number of locks
//   n times varint family, byte flags (1: exclusive), varint key size, key
//   the rest is the batch, in the form of WriteBatch::Data()
//
// Families are ids. All keys that the transaction has locked are there, those of the batch too, so that Open can lock
// them again without the batch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "cambium/write_batch.h"
#include "util/result.h"

namespace cambium {

struct PreparedRecord {
  struct KeyLock {
    std::uint32_t family = 0;
    bool exclusive = true;
    Slice key;
    friend bool operator==(const KeyLock&, const KeyLock&) = default;
  };
  std::vector<KeyLock> locks;  // slices of what was decoded, or of what is to be encoded
  WriteBatch batch;
  std::uint64_t bytes = 0;  // of the record
};

[[nodiscard]] std::string EncodePreparedRecord(const std::vector<PreparedRecord::KeyLock>& locks,
                                               const WriteBatch& batch);

// Decodes a record; any bytes are safe. Corruption if they are malformed, NotSupported if the version is not known;
// the message has the name. Allocates at most a small multiple of the size of `bytes`, which the locks refer to.
Result<PreparedRecord> DecodePreparedRecord(Slice name, Slice bytes);

}  // namespace cambium
