// BaseDeltaIterator: an iterator of a database with the operations of an indexed batch applied.
//
//   base     a     c     e       the keys of the database
//   delta       b     d- e'      the newest operation of each key of the batch; d is deleted
//   covers   [a --- c)           a range delete of the batch, older than its put of b
//   shown       b  c     e'
//
// Going forward, base and delta are both at their first key that is not before the current one; going back, at their
// last key that is not after it. So the current key is that of base, or of delta, or of both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cambium/iterator.h"
#include "cambium/options.h"
#include "transactions/batch_cursor.h"

namespace cambium {

class BaseDeltaIterator final : public Iterator {
 public:
  // The bounds are those of `options`; null: none.
  BaseDeltaIterator(BatchIndex* index, const BatchIndex::Part* part, std::unique_ptr<Iterator> base,
                    const ReadOptions* options);

  [[nodiscard]] bool Valid() const override { return at_ != At::kEnd; }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(Slice target) override;
  void SeekForPrev(Slice target) override;
  void Next() override;
  void Prev() override;
  [[nodiscard]] Slice key() const override { return at_ == At::kBase ? base_->key() : Slice(delta_.key()); }
  [[nodiscard]] Slice value() const override { return at_ == At::kBase ? base_->value() : delta_.op().value; }
  bool PrepareValue() override;
  [[nodiscard]] std::uint64_t ValueSize() const override {
    return at_ == At::kBase ? base_->ValueSize() : delta_.op().value.size();
  }
  [[nodiscard]] Status status() const override { return base_->status(); }

 private:
  // Which of the two the current entry comes from. kDelta: also if both are at the key.
  enum class At : unsigned char { kEnd, kBase, kDelta };

  [[nodiscard]] int Compare(Slice a, Slice b) const { return part_.order->Compare(a, b); }
  // False if delta is at its end or beyond the bounds.
  [[nodiscard]] bool HasDelta() const;
  // True if delta's key has a value: its newest operation is a put that no later range delete covers. Moves delta to
  // that operation.
  [[nodiscard]] bool DeltaIsValue();
  // Positions: moves base and delta on until one of them is at an entry to show.
  void FindForward();
  void FindBackward();
  // Moves base past the adjacent keys that range deletes cover. False if its key is not covered.
  bool SkipCoveredForward();
  bool SkipCoveredBackward();
  // Moves both to the first key after `key`, or the last one before it.
  void MoveAfter(const std::string& key);
  void MoveBefore(const std::string& key);

  const BatchIndex::Part& part_;
  const std::unique_ptr<Iterator> base_;
  BatchCursor delta_;
  const std::optional<std::string> lower_;
  const std::optional<std::string> upper_;
  bool is_forward_ = true;
  At at_ = At::kEnd;
};

}  // namespace cambium
