#include "transactions/key_locks.h"

#include <algorithm>
#include <utility>

#include "index/key_for_message.h"
#include "util/coding.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::size_t kFamilyBytes = 4;

// Ends a wait that was entered in the graph.
class WaitScope {
 public:
  WaitScope(WaitGraph* graph, TransactionID id) : graph_(*graph), id_(id) {}
  ~WaitScope() {
    if (is_waiting) graph_.End(id_);
  }
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;
  bool is_waiting = false;

 private:
  WaitGraph& graph_;
  const TransactionID id_;
};

}  // namespace

KeyLocks::KeyLocks(std::size_t stripes, std::int64_t locks_max, std::uint32_t deadlocks_max, Clock* clock,
                   Owners* owners)
    : stripe_count_(std::max<std::size_t>(stripes, 1)),
      stripes_(std::make_unique<Stripe[]>(stripe_count_)),
      locks_max_(locks_max),
      clock_(*clock),
      owners_(*owners),
      waits_(deadlocks_max) {}

KeyLocks::Name KeyLocks::NameOf(const std::string& stored) {
  return {DecodeFixed<std::uint32_t>(stored.data()), Slice(stored).substr(kFamilyBytes, stored.size() - kFamilyBytes)};
}

bool KeyLocks::CountNew(std::uint32_t family, bool always) {
  if (locks_max_ < 0) return true;
  const MutexLock lock(counts_mutex_);
  std::int64_t& count = counts_[family];
  if (count >= locks_max_ && !always) return false;
  ++count;
  return true;
}

void KeyLocks::CountGone(std::uint32_t family) {
  if (locks_max_ < 0) return;
  const MutexLock lock(counts_mutex_);
  --counts_.find(family)->second;
}

void KeyLocks::DropExpired(Held* held, std::uint64_t now) {
  const auto drops = [&](const Holder& holder) {
    return holder.expires_at != 0 && holder.expires_at <= now && owners_.StealFrom(holder.id);
  };
  if (held->others != nullptr) {
    std::erase_if(*held->others, drops);
  }
  if (drops(held->first)) {
    held->first = {};
    if (held->others != nullptr && !held->others->empty()) {
      held->first = held->others->back();
      held->others->pop_back();
    }
  }
  if (held->others != nullptr && held->others->empty()) held->others.reset();
}

KeyLocks::Try KeyLocks::TryLock(Stripe* stripe, const LockOwner& owner, const Name& name, bool exclusive,
                                std::vector<TransactionID>* holders, std::uint64_t* expires_at) {
  const auto found = stripe->locks.find(name);
  if (found == stripe->locks.end()) {
    std::string stored(kFamilyBytes, '\0');
    EncodeFixed<std::uint32_t>(stored.data(), name.family);
    stored += name.key.ToStringView();
    if (!CountNew(name.family, owner.ignores_limit)) return Try::kTooMany;
    auto made = stripe->locks.end();
    try {
      made = stripe->locks.try_emplace(std::move(stored)).first;
    } catch (...) {
      CountGone(name.family);
      throw;
    }
    made->second.first = {owner.id, owner.expires_at};
    made->second.exclusive = exclusive;
    return Try::kGot;
  }
  Held& held = found->second;
  const auto is_mine = [&](const Holder& holder) { return holder.id == owner.id; };
  const bool is_holder = is_mine(held.first) || (held.others != nullptr && std::ranges::any_of(*held.others, is_mine));
  const bool is_alone = is_mine(held.first) && held.others == nullptr;
  if (is_alone || (is_holder && !exclusive)) {
    held.exclusive = held.exclusive || exclusive;
    return Try::kGot;
  }
  if (!held.exclusive && !exclusive) {
    if (held.others == nullptr) held.others = std::make_unique<std::vector<Holder>>();
    held.others->push_back({owner.id, owner.expires_at});
    return Try::kGot;
  }
  DropExpired(&held, clock_.NowMicros());
  if (held.first.id == 0) {
    held.first = {owner.id, owner.expires_at};
    held.exclusive = exclusive;
    return Try::kGot;
  }
  if (is_mine(held.first) && held.others == nullptr) {
    held.exclusive = true;
    return Try::kGot;
  }
  holders->clear();
  *expires_at = 0;
  const auto add = [&](const Holder& holder) {
    if (holder.id == owner.id) return;
    holders->push_back(holder.id);
    if (holder.expires_at != 0 && (*expires_at == 0 || holder.expires_at < *expires_at)) {
      *expires_at = holder.expires_at;
    }
  };
  add(held.first);
  if (held.others != nullptr) std::ranges::for_each(*held.others, add);
  return Try::kTaken;
}

Status KeyLocks::Lock(const LockOwner& owner, std::uint32_t family, const std::string& key, bool exclusive,
                      std::int64_t timeout_millis) {
  const Name name{family, key};
  Stripe& stripe = StripeOf(name);
  const std::uint64_t began = clock_.NowMicros();
  WaitScope scope(&waits_, owner.id);
  const MutexLock lock(stripe.mutex);
  while (true) {
    std::vector<TransactionID> holders;
    std::uint64_t expires_at = 0;
    const Try tried = TryLock(&stripe, owner, name, exclusive, &holders, &expires_at);
    if (tried == Try::kGot) return Status::OK();
    if (tried == Try::kTooMany) {
      return Status::LockLimit("column family " + std::to_string(family) + " has max_num_locks locks, " +
                               std::to_string(locks_max_));
    }
    const std::uint64_t now = clock_.NowMicros();
    const std::uint64_t waited = now - began;
    constexpr std::int64_t kUnlimited = std::int64_t{1} << 50;
    const std::uint64_t limit = timeout_millis < 0 || timeout_millis > kUnlimited
                                    ? ~std::uint64_t{0}
                                    : static_cast<std::uint64_t>(timeout_millis) * 1000;
    if (waited >= limit) {
      return Status::LockTimeout("the lock of key " + KeyForMessage(key) + " of column family " +
                                 std::to_string(family) + " was not free for " + std::to_string(timeout_millis) +
                                 " ms; transaction " + std::to_string(holders.empty() ? 0 : holders.front()) +
                                 " has it");
    }
    if (!waits_.Begin(owner.id, {std::move(holders), family, key, exclusive}, owner.deadlock_depth,
                      static_cast<std::int64_t>(clock_.WallSeconds()))) {
      return Status::Deadlock("a wait for the lock of key " + KeyForMessage(key) + " would not end");
    }
    scope.is_waiting = true;
    std::uint64_t next = limit - waited;
    // A holder that has expired and cannot be robbed is committing or prepared. Its unlock ends the wait.
    constexpr std::uint64_t kAskAgainMicros = 20'000;
    if (expires_at != 0) next = std::min(next, expires_at > now ? expires_at - now : kAskAgainMicros);
    if (next > 3600u * 1000 * 1000) {
      stripe.changed.Wait(stripe.mutex);
    } else {
      stripe.changed.WaitFor(stripe.mutex, next);
    }
  }
}

void KeyLocks::Unlock(TransactionID owner, std::uint32_t family, const std::string& key) noexcept {
  const Name name{family, key};
  Stripe& stripe = StripeOf(name);
  {
    const MutexLock lock(stripe.mutex);
    const auto found = stripe.locks.find(name);
    if (found == stripe.locks.end()) return;
    Held& held = found->second;
    if (held.others != nullptr) {
      std::erase_if(*held.others, [&](const Holder& holder) { return holder.id == owner; });
      if (held.first.id == owner && !held.others->empty()) {
        held.first = held.others->back();
        held.others->pop_back();
      }
      if (held.others->empty()) held.others.reset();
    }
    if (held.first.id == owner) {
      stripe.locks.erase(found);
      CountGone(family);
    }
    if (!MutantIs(Mutant::kReleasedLocksStayAwaited)) waits_.NoteReleased(owner, family, key);
  }
  stripe.changed.NotifyAll();
}

std::unordered_multimap<std::uint32_t, KeyLockInfo> KeyLocks::List() const {
  std::unordered_multimap<std::uint32_t, KeyLockInfo> all;
  for (std::size_t i = 0; i < stripe_count_; ++i) {
    const Stripe& stripe = stripes_[i];
    const MutexLock lock(stripe.mutex);
    for (const auto& [name, held] : stripe.locks) {
      KeyLockInfo info{name.substr(kFamilyBytes), {held.first.id}, held.exclusive};
      if (held.others != nullptr) {
        for (const Holder& holder : *held.others) info.ids.push_back(holder.id);
      }
      all.emplace(DecodeFixed<std::uint32_t>(name.data()), std::move(info));
    }
  }
  return all;
}

}  // namespace cambium
