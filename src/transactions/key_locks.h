// KeyLocks: the locks that transactions have on keys.
//
//   stripe = hash of family and key ─▶ mutex, condition, table: (family, key) ─▶ who has the lock
//
// A lock is exclusive, for one transaction, or shared, for any number. A transaction that has a shared lock alone gets
// the exclusive one at once. A request that finds the lock taken waits on the condition of the stripe. There is no
// queue: of those that wait, the first to wake up gets the lock.
#pragma once

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
#include "transactions/wait_graph.h"
#include "util/mutex.h"

namespace cambium {

// Who asks for a lock.
struct LockOwner {
  TransactionID id = 0;
  std::uint64_t expires_at = 0;     // microseconds of the clock; 0: never. From then on others may take its locks
  std::int64_t deadlock_depth = 0;  // how many transactions a search for deadlocks visits; 0: no search
  bool ignores_limit = false;       // its locks count, but are never too many
};

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

  [[nodiscard]] std::unordered_multimap<std::uint32_t, KeyLockInfo> List() const;
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
  // If the lock is taken, sets *holders, and *expires_at to when it may be stolen (0: never).
  Try TryLock(Stripe* stripe, const LockOwner& owner, const Name& name, bool exclusive,
              std::vector<TransactionID>* holders, std::uint64_t* expires_at) CAMBIUM_REQUIRES(stripe->mutex);
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
};

}  // namespace cambium
