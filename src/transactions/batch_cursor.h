// BatchCursor: walks the operations of one family of an indexed batch, in the order of the index. After a change of the
// batch it continues at its key.
#pragma once

#include <string>

#include "transactions/batch_index.h"

namespace cambium {

// One thread at a time, the batch included. The index outlives the cursor.
class BatchCursor {
 public:
  BatchCursor(BatchIndex* index, const BatchIndex::Part* part) : index_(*index), part_(*part) {}

  [[nodiscard]] bool Valid() const { return is_valid_; }
  void SeekToFirst() { Set(Ops().begin()); }
  void SeekToLast() { SetBefore(Ops().end()); }
  // The first operation of the first key >= target, and the last operation of the last key <= target.
  void Seek(Slice target) { Set(Current().LowerBound({target, 0})); }
  void SeekForPrev(Slice target) { SetBefore(Current().LowerBound({target, kAfterAll})); }
  // Require Valid().
  void Next();
  void Prev();
  // To the next, or the previous, key.
  void NextKey() { Set(Current().LowerBound({key_, kAfterAll})); }
  void PrevKey() { SetBefore(Current().LowerBound({key_, 0})); }

  // Requires Valid(). Until the cursor moves.
  [[nodiscard]] const std::string& key() const { return key_; }
  // Requires Valid(), and that the batch has not changed since the last move.
  [[nodiscard]] BatchOp op() const { return OpAt(index_.batch(), place_); }
  // Its offset in the batch. Requires Valid().
  [[nodiscard]] std::size_t place() const { return place_; }
  // True if the batch has changed since the last move.
  [[nodiscard]] bool HasChanged() const { return version_ != index_.version(); }

 private:
  static constexpr std::size_t kAfterAll = ~std::size_t{0};

  // The part, after the index has been brought up to date.
  const BatchIndex::Part& Current() {
    index_.BringUpToDate();
    return part_;
  }
  const BatchIndex::Ops& Ops() { return Current().ops; }
  void Set(BatchIndex::Ops::const_iterator at);
  void SetBefore(BatchIndex::Ops::const_iterator at);

  BatchIndex& index_;
  const BatchIndex::Part& part_;
  BatchIndex::Ops::const_iterator at_;
  std::uint64_t version_ = 0;  // the version of the index when at_ was set
  std::size_t place_ = 0;      // the offset of the operation in the batch
  std::string key_;
  bool is_valid_ = false;
};

}  // namespace cambium
