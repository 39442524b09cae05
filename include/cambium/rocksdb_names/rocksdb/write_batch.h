// WriteBatch: several operations that are applied together or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "cambium/rocksdb_names/rocksdb/slice.h"
#include "cambium/rocksdb_names/rocksdb/status.h"
#include "cambium/write_batch.h"

namespace rocksdb::inline on_cambium {

using cambium::ColumnFamilyHandle;

// A batch of Cambium, with RocksDB's further operations, which it refuses: a batch that has refused an operation cannot
// be written.
class WriteBatch : public cambium::WriteBatch {
 public:
  explicit WriteBatch(std::size_t reserved_bytes = 0, std::size_t max_bytes = 0)
      : cambium::WriteBatch(reserved_bytes, max_bytes) {}
  // Makes a batch from Data() of another one, which is in Cambium's form. If `rep` is malformed, the batch is refused.
  explicit WriteBatch(const std::string& rep);
  // Copies the batch.
  explicit WriteBatch(const cambium::WriteBatch& batch) : cambium::WriteBatch(batch) {}

  Status Merge(ColumnFamilyHandle* /*family*/, const Slice& key, const Slice& operand) { return Merge(key, operand); }
  Status Merge(const Slice& key, const Slice& operand) { return cambium::WriteBatch::Merge(key, operand); }
  // RocksDB keeps such data in its log, where replication reads it. The log cannot be read here, so it is refused.
  Status PutLogData(const Slice& blob);

  // Receives each operation in order, with RocksDB's signatures. Slices are valid until the batch changes.
  class Handler {
   public:
    virtual ~Handler() = default;
    virtual Status PutCF(std::uint32_t family, const Slice& key, const Slice& value);
    virtual void Put(const Slice& /*key*/, const Slice& /*value*/) {}
    virtual Status DeleteCF(std::uint32_t family, const Slice& key);
    virtual void Delete(const Slice& /*key*/) {}
    virtual Status SingleDeleteCF(std::uint32_t family, const Slice& key);
    virtual void SingleDelete(const Slice& /*key*/) {}
    virtual Status DeleteRangeCF(std::uint32_t family, const Slice& begin, const Slice& end);
    // Never called.
    virtual Status MergeCF(std::uint32_t family, const Slice& key, const Slice& operand);
    virtual void Merge(const Slice& /*key*/, const Slice& /*operand*/) {}
    virtual void LogData(const Slice& /*blob*/) {}
    virtual bool Continue() { return true; }
  };
  Status Iterate(Handler* handler) const;
};

}  // namespace rocksdb::inline on_cambium
