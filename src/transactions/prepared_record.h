// PreparedRecord: a prepared transaction as it is on disk.
//
// It is an entry of the column family "cambium.prepared" (kPreparedFamilyName): the key is the transaction's name, the
// value has
//
//   byte      version, 1
//   16 bytes  id of the database
//   varint    n, the number of families that the transaction uses
//   n times   varint id, varint name size, name
//   varint    m, the number of locks
//   m times   varint family, byte flags (1: exclusive), varint key size, key
//   the rest  the batch, in the form of WriteBatch::Data()
//
// The locks are all keys that the transaction has locked, so that Open can lock them again without the batch. In the
// same database, families are found by their ids: one that was dropped, and made again under its name, is another one.
// In a database that was made by an import, say, ids are others, and families are found by their names.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "cambium/write_batch.h"
#include "io/file_header.h"
#include "transactions/key_range.h"
#include "util/result.h"

namespace cambium {

struct PreparedRecord {
  struct FamilyName {
    std::uint32_t id = 0;
    std::string name;
    friend bool operator==(const FamilyName&, const FamilyName&) = default;
  };
  struct KeyLock {
    std::uint32_t family = 0;
    bool exclusive = true;
    Slice key;
    friend bool operator==(const KeyLock&, const KeyLock&) = default;
  };
  struct RangeLock {
    std::uint32_t family = 0;
    bool exclusive = true;
    KeyRange range;
    friend bool operator==(const RangeLock&, const RangeLock&) = default;
  };
  struct Locks {
    std::vector<KeyLock> keys;  // slices of what was decoded, or of what is to be encoded
    std::vector<RangeLock> ranges;
    friend bool operator==(const Locks&, const Locks&) = default;
  };
  Id128 database_id{};
  std::vector<FamilyName> families;  // in the order of their ids
  Locks locks;
  WriteBatch batch;
  std::uint64_t bytes = 0;  // the size of the encoded record
};

[[nodiscard]] std::string EncodePreparedRecord(const Id128& database_id,
                                               const std::vector<PreparedRecord::FamilyName>& families,
                                               const PreparedRecord::Locks& locks, const WriteBatch& batch);

// The ids of the families of the locks and of the batch's operations.
Result<std::set<std::uint32_t>> FamiliesUsed(const PreparedRecord::Locks& locks, const WriteBatch& batch);

// Decodes a record; any bytes are safe. Corruption if they are malformed or use a family that is not in `families`,
// NotSupported if the version is not known; the message has the name. Allocates at most a small multiple of the size of
// `bytes`, which the locks refer to.
Result<PreparedRecord> DecodePreparedRecord(Slice name, Slice bytes);

}  // namespace cambium
