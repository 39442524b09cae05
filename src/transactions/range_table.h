// RangeTable: the ranges of keys that transactions have locked, of all families.
//
// The ranges of a family are in no order: each request is compared with each of them. Programs lock few ranges at a
// time, and a request of a family without ranges does not look here.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "cambium/transaction.h"
#include "transactions/key_range.h"

namespace cambium {

// Who asks for a lock.
struct LockOwner {
  TransactionID id = 0;
  std::uint64_t expires_at = 0;     // microseconds of the clock; 0: never. From then on others may take its locks
  std::int64_t deadlock_depth = 0;  // how many transactions a search for deadlocks visits; 0: no search
  bool ignores_limit = false;       // its locks count, but are never too many
};

// What a request has to wait for.
struct LockObstacle {
  std::vector<TransactionID> holders;  // the transactions that have the lock; empty: a claim, which ends soon
  std::uint64_t expires_at = 0;        // when the first of them expires; 0: none does

  void Add(TransactionID id, std::uint64_t its_expires_at) {
    holders.push_back(id);
    if (its_expires_at != 0 && (expires_at == 0 || its_expires_at < expires_at)) expires_at = its_expires_at;
  }
};

// A range that is locked, or claimed: a claim keeps others out while its owner looks for locks of keys in the range,
// and then becomes a lock or is withdrawn.
struct HeldRange {
  std::uint64_t number = 0;  // unique
  LockOwner owner;
  const Comparator* order = nullptr;
  KeyRange range;
  bool exclusive = false;
  bool is_claim = false;
};

// One thread at a time.
class RangeTable {
 public:
  void Add(std::uint32_t family, HeldRange held) { families_[family].push_back(std::move(held)); }
  // Null if it is not there.
  [[nodiscard]] HeldRange* Find(std::uint32_t family, std::uint64_t number) noexcept;
  // False if it was not there. Takes no memory.
  bool Remove(std::uint32_t family, std::uint64_t number) noexcept;
  // Removes the ranges of the family that `drops` selects. Returns how many.
  std::size_t RemoveIf(std::uint32_t family, const std::function<bool(const HeldRange&)>& drops);
  // True if ranges of others exclude a lock of the key, or of the range; sets *obstacle.
  [[nodiscard]] bool Excludes(TransactionID owner, std::uint32_t family, Slice key, bool exclusive,
                              LockObstacle* obstacle) const;
  [[nodiscard]] bool Excludes(TransactionID owner, std::uint32_t family, const KeyRange& range, bool exclusive,
                              LockObstacle* obstacle) const;
  void ForEach(const std::function<void(std::uint32_t family, const HeldRange&)>& visit) const;

 private:
  template <typename Touches>
  bool FindOthers(TransactionID owner, std::uint32_t family, bool exclusive, LockObstacle* obstacle,
                  Touches touches) const;
  std::unordered_map<std::uint32_t, std::vector<HeldRange>> families_;
};

}  // namespace cambium
