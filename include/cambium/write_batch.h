// WriteBatch: several operations that are committed together or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cambium/slice.h"
#include "cambium/status.h"

namespace cambium {

class ColumnFamilyHandle;

// Later operations of a batch win over earlier ones of the same key. One thread at a time. Keys and values are copied,
// so a batch takes as much memory as they do.
class WriteBatch {
 public:
  explicit WriteBatch(std::size_t reserved_bytes = 0);

  // InvalidArgument if the key is longer than 64 KiB or the value than 4 GiB - 1; the batch is unchanged then. Without a
  // family, or with a null one, of the default family.
  Status Put(ColumnFamilyHandle* family, Slice key, Slice value);
  Status Put(Slice key, Slice value) { return Put(nullptr, key, value); }
  Status Delete(ColumnFamilyHandle* family, Slice key);
  Status Delete(Slice key) { return Delete(nullptr, key); }
  // The same as Delete here: it may be used on keys that were written more than once.
  Status SingleDelete(ColumnFamilyHandle* family, Slice key);
  Status SingleDelete(Slice key) { return SingleDelete(nullptr, key); }
  // Deletes the keys in [begin, end) as they are at this place of the batch: what comes later in it stays. That begin is
  // not behind end is looked at when the batch is written, because only the family knows the order.
  Status DeleteRange(ColumnFamilyHandle* family, Slice begin, Slice end);
  Status DeleteRange(Slice begin, Slice end) { return DeleteRange(nullptr, begin, end); }
  // All operations of `other`, which may be this one, behind its own.
  void Append(const WriteBatch& other);
  // Not in this version: NotSupported, the batch is unchanged.
  Status Merge(Slice key, Slice operand);

  void Clear();
  [[nodiscard]] std::uint32_t Count() const { return count_; }
  [[nodiscard]] std::size_t GetDataSize() const { return rep_.size(); }
  // The serialised form; a batch can be made from it again. A format of this library, not RocksDB's.
  [[nodiscard]] const std::string& Data() const { return rep_; }
  // Corruption if `data` is no batch; then *batch is unchanged.
  static Status FromData(Slice data, WriteBatch* batch);

  // Marks the batch as it is now; RollbackToSavePoint takes off what came since. NotFound without a save point.
  void SetSavePoint();
  Status RollbackToSavePoint();
  Status PopSavePoint();

  // Told each operation in order. Slices live until the next change of the batch.
  class Handler {
   public:
    virtual ~Handler() = default;
    // Of the default family.
    virtual Status Put(Slice key, Slice value) = 0;
    virtual Status Delete(Slice key) = 0;
    virtual Status SingleDelete(Slice key) { return Delete(key); }
    virtual Status DeleteRange(Slice begin, Slice end);
    // Of any family, by number. Unless overridden these hand on what is of the default family to the ones above, and
    // answer InvalidArgument for the others.
    virtual Status PutCF(std::uint32_t family, Slice key, Slice value);
    virtual Status DeleteCF(std::uint32_t family, Slice key);
    virtual Status SingleDeleteCF(std::uint32_t family, Slice key);
    virtual Status DeleteRangeCF(std::uint32_t family, Slice begin, Slice end);
    // False: Iterate ends early, with OK.
    virtual bool Continue() { return true; }
  };
  Status Iterate(Handler* handler) const;

 private:
  struct SavePoint {
    std::size_t size;
    std::uint32_t count;
  };
  void AddOperation(char tag, const ColumnFamilyHandle* family, Slice key, const Slice* value);

  // Count, then each operation: tag, [varint family], varint key size, key, [varint value size, value].
  std::string rep_;
  std::uint32_t count_ = 0;
  std::vector<SavePoint> save_points_;
};

}  // namespace cambium
