// KeyLocks: the locks that transactions have on keys and on ranges of keys.
//
//   stripe = hash of family and key ─▶ mutex, condition, table: (family, key) ─▶ who has the lock
//   ranges                          ─▶ mutex, condition, RangeTable
//
// A lock is exclusive, for one transaction, or shared, for any number. A transaction that has a shared lock of a key
// alone gets the exclusive one at once. A request that finds the lock taken waits on the condition of the stripe, or of
// the ranges. There is no queue: of those that wait, the first to wake up gets the lock.
//
// A key and a range that contains it exclude each other, unless both locks are shared or of one transaction:
//
//   key      mutex of its stripe: does a range contain it? ▶ enter it in the stripe
//   range    claim it in the table ▶ visit each stripe, under its mutex: does it have a key in the range? ▶ the claim
//            becomes a lock, or is withdrawn and the request waits for the key
//
// So if the range does not find the key in its stripe, the key is entered later, and finds the claim.
//
// The code for keys is in key_locks.cc, that for ranges in key_locks_ranges.cc.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cambium/clock.h"
#include "cambium/transaction_db.h"
#include "transactions/range_table.h"
#include "transactions/wait_graph.h"
#include "util/mutex.h"

namespace cambium {

// Any thread.
class KeyLocks {
 public:
  // Asked before a lock is taken from a transaction that has expired: false if it is committing.
  class Owners {
   public:
    virtual ~Owners() = default;
    virtual bool StealFrom(TransactionID id) = 0;
  };

  // The arguments outlive the locks. `locks_max` per family; negative: no limit.
  KeyLocks(std::size_t stripes, std::int64_t locks_max, std::uint32_t deadlocks_max, Clock* clock, Owners* owners);

  // Locks the key, or changes a shared lock of the owner into an exclusive one. Waits for at most `timeout_millis`
  // (negative: without limit). LockTimeout, Deadlock or LockLimit; the owner then has what it had before.
  Status Lock(const LockOwner& owner, std::uint32_t family, const std::string& key, bool exclusive,
              std::int64_t timeout_millis);
  // Does nothing if the owner does not have the lock, because it was taken from it.
  void Unlock(TransactionID owner, std::uint32_t family, const std::string& key) noexcept;

  // The same for a range, which is not empty; a range counts as one lock. The comparator is that of the family, and
  // outlives the lock. *number names the lock. A transaction may lock ranges that overlap; each is a lock of its own.
  Status LockRange(const LockOwner& owner, std::uint32_t family, const Comparator* order, const KeyRange& range,
                   bool exclusive, std::int64_t timeout_millis, std::uint64_t* number);
  void UnlockRange(TransactionID owner, std::uint32_t family, std::uint64_t number) noexcept;

  [[nodiscard]] std::unordered_multimap<std::uint32_t, KeyLockInfo> List() const;
  [[nodiscard]] std::unordered_multimap<std::uint32_t, RangeLockInfo> ListRanges() const;
  [[nodiscard]] WaitGraph& waits() { return waits_; }
  [[nodiscard]] const WaitGraph& waits() const { return waits_; }

 private:
  struct Holder {
    TransactionID id;
    std::uint64_t expires_at;
  };
  // Most locks have one holder, which needs no memory of its own.
  struct Held {
    Holder first{};
    std::unique_ptr<std::vector<Holder>> others;
    bool exclusive = false;
  };
  // The name of a lock: its family (4 bytes) and key. A lookup needs no memory, so that an unlock cannot fail.
  struct Name {
    std::uint32_t family;
    Slice key;
  };
  static Name NameOf(const std::string& stored);
  struct HashOfName {
    using is_transparent = void;
    std::size_t operator()(const Name& name) const {
      return std::hash<std::string_view>()(name.key.ToStringView()) + name.family * 0x9e3779b97f4a7c15u;
    }
    std::size_t operator()(const std::string& stored) const { return (*this)(NameOf(stored)); }
  };
  struct EqualNames {
    using is_transparent = void;
    bool operator()(const Name& a, const Name& b) const { return a.family == b.family && a.key == b.key; }
    bool operator()(const std::string& a, const Name& b) const { return (*this)(NameOf(a), b); }
    bool operator()(const Name& a, const std::string& b) const { return (*this)(a, NameOf(b)); }
    bool operator()(const std::string& a, const std::string& b) const { return a == b; }
  };
  struct Stripe {
    mutable Mutex mutex;
    CondVar changed;
    std::unordered_map<std::string, Held, HashOfName, EqualNames> locks CAMBIUM_GUARDED_BY(mutex);
  };
  enum class Try : unsigned char { kGot, kTaken, kTooMany };

  [[nodiscard]] Stripe& StripeOf(const Name& name) const { return stripes_[HashOfName()(name) % stripe_count_]; }
  // A call of Lock or LockRange.
  struct Request {
    const LockOwner& owner;
    const std::uint32_t family;
    const bool exclusive;
    const std::int64_t timeout_millis;
    const std::uint64_t began;  // microseconds of the clock
    const std::string* key;     // null: a range
    const KeyRange* range;      // null: a key
    [[nodiscard]] std::string ForMessage() const;
  };
  // A range that is claimed: withdrawn at the end of the scope, unless it was kept.
  class Claim;

  // If the lock is taken, sets *obstacle.
  Try TryLock(Stripe* stripe, const LockOwner& owner, const Name& name, bool exclusive, LockObstacle* obstacle)
      CAMBIUM_REQUIRES(stripe->mutex);
  // The request waits for the obstacle: enters that in the graph of waits. Sets *micros to how long it may wait before
  // it tries again; 0: without limit. LockTimeout or Deadlock if it must not wait. `key`: as WaitGraph::Wait.
  Status BeginWait(const Request& request, LockObstacle obstacle, const std::string& key, bool for_range,
                   WaitScope* scope, std::uint64_t* micros);
  static void WaitFor(CondVar* changed, Mutex& mutex, std::uint64_t micros) CAMBIUM_REQUIRES(mutex);
  [[nodiscard]] Status LimitReached(std::uint32_t family) const;

  // Costs one load if the family has no ranges.
  [[nodiscard]] bool MayHaveRanges(std::uint32_t family) const {
    return range_counts_[family % kRangeCounts].load(std::memory_order_seq_cst) != 0;
  }
  // True if a range excludes the key of the request.
  [[nodiscard]] bool IsInRangeOfOthers(const Request& request) CAMBIUM_EXCLUDES(ranges_mutex_);
  // Claims the range of the request. Returns its number; 0 if the family has too many locks.
  std::uint64_t MakeClaim(const Request& request, const Comparator* order) CAMBIUM_REQUIRES(ranges_mutex_);
  // True if ranges of others that have not expired exclude the request; sets *obstacle.
  [[nodiscard]] bool FindRanges(const Request& request, LockObstacle* obstacle) CAMBIUM_REQUIRES(ranges_mutex_);
  // The same, whether they have expired or not.
  [[nodiscard]] bool Excludes(const Request& request, LockObstacle* obstacle) const CAMBIUM_REQUIRES(ranges_mutex_);
  // Waits until no range excludes the request, or the request must not wait any more.
  Status AwaitRanges(const Request& request, WaitScope* scope) CAMBIUM_REQUIRES(ranges_mutex_);
  // The stripe of a key in the range of the request that others have locked; null if there is none. Sets *key.
  Stripe* FindKeyInRange(const Request& request, const Comparator& order, std::string* key);
  // True if others exclude the request from the key; sets *obstacle.
  bool FindHolders(Stripe* stripe, const Request& request, const Name& name, LockObstacle* obstacle)
      CAMBIUM_REQUIRES(stripe->mutex);
  void DropRange(std::uint32_t family, std::uint64_t number) noexcept CAMBIUM_REQUIRES(ranges_mutex_);
  // Removes the holders that have expired, as far as the owners allow.
  void DropExpired(Held* held, std::uint64_t now);
  // False if the family has as many locks as it may have, unless `always`.
  bool CountNew(std::uint32_t family, bool always);
  void CountGone(std::uint32_t family);

  const std::size_t stripe_count_;
  const std::unique_ptr<Stripe[]> stripes_;
  const std::int64_t locks_max_;
  Clock& clock_;
  Owners& owners_;
  WaitGraph waits_;
  Mutex counts_mutex_;
  std::map<std::uint32_t, std::int64_t> counts_ CAMBIUM_GUARDED_BY(counts_mutex_);  // by family, if there is a limit

  // Taken with or without the mutex of a stripe, which is never taken under it.
  mutable Mutex ranges_mutex_;
  CondVar ranges_changed_;
  RangeTable ranges_ CAMBIUM_GUARDED_BY(ranges_mutex_);
  std::uint64_t next_number_ CAMBIUM_GUARDED_BY(ranges_mutex_) = 1;
  // How many ranges are in the table, by id of family modulo kRangeCounts. Written under ranges_mutex_.
  static constexpr std::size_t kRangeCounts = 64;
  std::array<std::atomic<std::uint32_t>, kRangeCounts> range_counts_{};
};

}  // namespace cambium
