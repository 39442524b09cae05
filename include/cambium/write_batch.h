// WriteBatch: several operations that are applied together or not at all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

class ColumnFamilyHandle;

// A later operation of a batch overrides an earlier one of the same key. One thread at a time. The batch copies keys
// and values, so it takes as much memory as they do.
//
// A batch that has refused an operation cannot be written: DB::Write returns status(). So a program may ignore what the
// operations return. The refusal is copied, moved and appended with the batch; Clear, and the rollback to a save point
// before it, remove it. The serialised form does not have it.
class WriteBatch {
 public:
  // `max_bytes`: an operation that would make the serialised batch larger returns Aborted and is left out; the rest of
  // the batch can be written. 0: no limit. Append ignores it.
  explicit WriteBatch(std::size_t reserved_bytes = 0, std::size_t max_bytes = 0);
  // Changes the limit for the operations that follow.
  void SetMaxBytes(std::size_t max_bytes) { max_bytes_ = max_bytes; }

  // InvalidArgument if the key is longer than 64 KiB or the value than 4 GiB - 1, or if the batch has families of
  // another database; the operation is then refused. (A checkpoint or a restored backup counts as the same database as
  // its origin.) Without a family, or with a null one, the operation is for the default family.
  Status Put(ColumnFamilyHandle* family, Slice key, Slice value);
  Status Put(Slice key, Slice value) { return Put(nullptr, key, value); }
  Status Delete(ColumnFamilyHandle* family, Slice key);
  Status Delete(Slice key) { return Delete(nullptr, key); }
  // Identical to Delete: it may be used on keys that were written more than once.
  Status SingleDelete(ColumnFamilyHandle* family, Slice key);
  Status SingleDelete(Slice key) { return SingleDelete(nullptr, key); }
  // Deletes the keys in [begin, end) as they are at this point of the batch; later operations of the batch are not
  // affected. Write returns InvalidArgument if begin is greater than end: only the family knows the order.
  Status DeleteRange(ColumnFamilyHandle* family, Slice begin, Slice end);
  Status DeleteRange(Slice begin, Slice end) { return DeleteRange(nullptr, begin, end); }
  // The same, of keys and values in parts, which are copied without being joined first.
  Status Put(ColumnFamilyHandle* family, const SliceParts& key, const SliceParts& value);
  Status Put(const SliceParts& key, const SliceParts& value) { return Put(nullptr, key, value); }
  Status Delete(ColumnFamilyHandle* family, const SliceParts& key);
  Status Delete(const SliceParts& key) { return Delete(nullptr, key); }
  Status SingleDelete(ColumnFamilyHandle* family, const SliceParts& key);
  Status SingleDelete(const SliceParts& key) { return SingleDelete(nullptr, key); }
  Status DeleteRange(ColumnFamilyHandle* family, const SliceParts& begin, const SliceParts& end);
  Status DeleteRange(const SliceParts& begin, const SliceParts& end) { return DeleteRange(nullptr, begin, end); }
  // Appends all operations of `other`, which may be this batch.
  void Append(const WriteBatch& other);
  // Returns NotSupported: the operation is refused.
  Status Merge(Slice key, Slice operand);

  // OK, or the error of the first operation that the batch has refused.
  [[nodiscard]] const Status& status() const { return status_; }
  // Marks the batch as if it had refused an operation with the error `why`. Returns `why`, which must not be OK.
  Status Refuse(Status why);

  void Clear();
  [[nodiscard]] std::uint32_t Count() const { return count_; }
  [[nodiscard]] std::size_t GetDataSize() const { return rep_.size(); }
  // The serialised form, from which FromData makes the batch again. The format is this library's, not RocksDB's.
  [[nodiscard]] const std::string& Data() const { return rep_; }
  // Corruption if `data` is not a batch; *batch is then unchanged.
  static Status FromData(Slice data, WriteBatch* batch);

  // Marks the current end of the batch; RollbackToSavePoint removes what was added since. NotFound without a save
  // point.
  void SetSavePoint();
  Status RollbackToSavePoint();
  Status PopSavePoint();

  // Receives each operation in order. Slices are valid until the batch changes.
  class Handler {
   public:
    virtual ~Handler() = default;
    // For operations of the default family.
    virtual Status Put(Slice key, Slice value) = 0;
    virtual Status Delete(Slice key) = 0;
    virtual Status SingleDelete(Slice key) { return Delete(key); }
    virtual Status DeleteRange(Slice begin, Slice end);
    // For operations of any family, by number. The defaults forward those of the default family to the functions above,
    // and return InvalidArgument for the others.
    virtual Status PutCF(std::uint32_t family, Slice key, Slice value);
    virtual Status DeleteCF(std::uint32_t family, Slice key);
    virtual Status SingleDeleteCF(std::uint32_t family, Slice key);
    virtual Status DeleteRangeCF(std::uint32_t family, Slice begin, Slice end);
    // If false, Iterate ends early, with OK.
    virtual bool Continue() { return true; }
  };
  Status Iterate(Handler* handler) const;

 private:
  friend class Writer;           // compares the database
  friend class TransactionBase;  // likewise

  using DatabaseId = std::array<unsigned char, 16>;
  struct SavePoint {
    std::size_t size;
    std::uint32_t count;
    bool is_refused;
    DatabaseId database;
  };
  // Adds an operation; `end` is the value of a put, or the end of a range delete. `checked`: whether its sizes are legal.
  Status Add(char tag, Status checked, const ColumnFamilyHandle* family, std::span<const Slice> key,
             const std::span<const Slice>* end);
  // False if the batch has families of another database.
  [[nodiscard]] bool IsFor(const DatabaseId& database) const;

  // Count, then each operation: tag, [varint family], varint key size, key, [varint value size, value].
  std::string rep_;
  std::uint32_t count_ = 0;
  std::size_t max_bytes_ = 0;  // 0: no limit
  Status status_;
  DatabaseId database_{};  // that of the families' handles; zero: no handle was given
  std::vector<SavePoint> save_points_;
};

}  // namespace cambium
