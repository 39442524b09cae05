// BatchIndex: finds the operations of a WriteBatch by key.
//
// Each family of the batch has a part of its own:
//
//   ops      a set of operations on single keys, ordered by key, then by their place in the batch
//   covers   what the range deletes of the batch cover: a map from boundaries to the place of the newest range delete
//            that covers the keys from this boundary up to the next; 0: none does
//
// A key of the batch is deleted if a range delete that covers it comes after its newest operation. The index has no
// copies of keys of operations: it refers to the bytes of the batch by their offsets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "api/batch_op.h"
#include "cambium/column_family.h"
#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "cambium/write_batch.h"

namespace cambium {

// The operation of a batch at this offset; an empty one at the end of the batch or beyond it.
[[nodiscard]] BatchOp OpAt(const WriteBatch& batch, std::size_t at);

// One thread at a time.
class BatchIndex {
 public:
  // An operation on a single key. `at` is its offset in the batch.
  struct Op {
    std::size_t at;
    std::size_t key_at;
    std::size_t key_size;
  };
  // For a search: before all operations of the key at this offset and later ones.
  struct Place {
    Slice key;
    std::size_t at;
  };
  class OpLess {
   public:
    using is_transparent = void;
    OpLess(const WriteBatch* batch, const Comparator* order) : batch_(batch), order_(order) {}
    bool operator()(const Op& a, const Op& b) const { return Less({KeyOf(a), a.at}, {KeyOf(b), b.at}); }
    bool operator()(const Op& a, const Place& b) const { return Less({KeyOf(a), a.at}, b); }
    bool operator()(const Place& a, const Op& b) const { return Less(a, {KeyOf(b), b.at}); }
    [[nodiscard]] Slice KeyOf(const Op& op) const { return {batch_->Data().data() + op.key_at, op.key_size}; }

   private:
    [[nodiscard]] bool Less(const Place& a, const Place& b) const {
      const int order = order_->Compare(a.key, b.key);
      return order != 0 ? order < 0 : a.at < b.at;
    }
    const WriteBatch* batch_;
    const Comparator* order_;
  };
  struct KeyLess {
    using is_transparent = void;
    const Comparator* order;
    bool operator()(Slice a, Slice b) const { return order->Compare(a, b) < 0; }
  };
  using Ops = std::set<Op, OpLess>;
  using Covers = std::map<std::string, std::size_t, KeyLess>;

  // The operations of one family.
  struct Part {
    Part(const WriteBatch* batch, const Comparator* its_order)
        : order(its_order), ops(OpLess(batch, its_order)), covers(KeyLess{its_order}) {}
    const Comparator* order;
    Ops ops;
    Covers covers;

    [[nodiscard]] Slice KeyOf(const Op& op) const { return ops.key_comp().KeyOf(op); }
    // The operation that comes first at or after the place.
    [[nodiscard]] Ops::const_iterator LowerBound(const Place& place) const { return ops.lower_bound(place); }
    // The newest operation of the key; ops.end() if there is none.
    [[nodiscard]] Ops::const_iterator NewestOf(Slice key) const;
    // The place of the newest range delete that covers the key; 0: none does.
    [[nodiscard]] std::size_t CoverOf(Slice key) const;
    // Around a key that a range delete covers: where its neighbours stop being covered. `from` is covered, `to` is not.
    struct Stretch {
      Slice from;
      Slice to;
    };
    [[nodiscard]] Stretch StretchOf(Slice key) const;
  };

  // The batch outlives the index. `order` is that of families without a handle.
  BatchIndex(const WriteBatch* batch, const Comparator* order, bool only_newest)
      : batch_(*batch), order_(order), only_newest_(only_newest) {}

  // The part of the family, which is made if necessary. A null handle stands for the default family.
  Part& PartOf(const ColumnFamilyHandle* family);
  // The same; null if the batch has nothing for the family.
  [[nodiscard]] const Part* Find(const ColumnFamilyHandle* family) const;
  // Adds the last operation of the batch, which begins at this offset.
  void Add(std::size_t at);
  // Operations at the end of the batch were removed. Takes no memory: the index is made again, from the whole batch, by
  // the next call that needs it.
  void Invalidate() {
    is_stale_ = true;
    ++version_;
  }
  // The batch is empty.
  void Clear();
  void BringUpToDate() {
    if (is_stale_) Rebuild();
  }

  // What the batch says about a key.
  enum class Says : unsigned char { kNothing, kValue, kDeleted };
  // Sets *value if the result is kValue. It is valid until the batch changes.
  [[nodiscard]] Says Find(const ColumnFamilyHandle* family, Slice key, Slice* value);

  // Counts the changes of the index, so that an iterator notices them.
  [[nodiscard]] std::uint64_t version() const { return version_; }
  [[nodiscard]] bool only_newest() const { return only_newest_; }
  [[nodiscard]] const WriteBatch& batch() const { return batch_; }

 private:
  void Rebuild();
  void AddToParts(std::size_t at);
  void AddOp(Part* part, std::size_t at, Slice key);
  static void AddRange(Part* part, std::size_t at, Slice begin, Slice end);

  const WriteBatch& batch_;
  const Comparator* const order_;
  const bool only_newest_;
  std::unordered_map<std::uint32_t, Part> parts_;  // by the family's id
  std::uint64_t version_ = 0;
  bool is_stale_ = false;
};

}  // namespace cambium
