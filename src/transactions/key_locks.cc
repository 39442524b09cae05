#include "transactions/key_locks.h"

#include <algorithm>
#include <utility>

#include "index/key_for_message.h"
#include "util/coding.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::size_t kFamilyBytes = 4;

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
                                LockObstacle* obstacle) {
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
  *obstacle = {};
  const auto add = [&](const Holder& holder) {
    if (holder.id != owner.id) obstacle->Add(holder.id, holder.expires_at);
  };
  add(held.first);
  if (held.others != nullptr) std::ranges::for_each(*held.others, add);
  return Try::kTaken;
}

std::string KeyLocks::Request::ForMessage() const {
  return (key != nullptr ? "key " + KeyForMessage(*key) : "range " + range->ForMessage()) + " of column family " +
         std::to_string(family);
}

Status KeyLocks::LimitReached(std::uint32_t family) const {
  return Status::LockLimit("column family " + std::to_string(family) + " has max_num_locks locks, " +
                           std::to_string(locks_max_));
}

Status KeyLocks::BeginWait(const Request& request, LockObstacle obstacle, const std::string& key, bool for_range,
                           WaitScope* scope, std::uint64_t* micros) {
  *micros = 0;
  if (obstacle.holders.empty()) return scope->End(), Status::OK();  // a claim never waits
  const std::uint64_t now = clock_.NowMicros();
  const std::uint64_t waited = now - request.began;
  constexpr std::int64_t kUnlimited = std::int64_t{1} << 50;
  const std::uint64_t limit = request.timeout_millis < 0 || request.timeout_millis > kUnlimited
                                  ? ~std::uint64_t{0}
                                  : static_cast<std::uint64_t>(request.timeout_millis) * 1000;
  if (waited >= limit) {
    return Status::LockTimeout("the lock of " + request.ForMessage() + " was not free for " +
                               std::to_string(request.timeout_millis) + " ms; transaction " +
                               std::to_string(obstacle.holders.front()) + " has it");
  }
  if (!waits_.Begin(request.owner.id, {std::move(obstacle.holders), request.family, key, request.exclusive, for_range},
                    request.owner.deadlock_depth, static_cast<std::int64_t>(clock_.WallSeconds()))) {
    return Status::Deadlock("a wait for the lock of " + request.ForMessage() + " would not end");
  }
  scope->is_waiting = true;
  std::uint64_t next = limit - waited;
  // A holder that has expired and cannot be robbed is committing or prepared. Its unlock ends the wait.
  constexpr std::uint64_t kAskAgainMicros = 20'000;
  const std::uint64_t expires_at = obstacle.expires_at;
  if (expires_at != 0) next = std::min(next, expires_at > now ? expires_at - now : kAskAgainMicros);
  *micros = next > 3600u * 1000 * 1000 ? 0 : next;
  return Status::OK();
}

void KeyLocks::WaitFor(CondVar* changed, Mutex& mutex, std::uint64_t micros) {
  if (micros == 0) {
    changed->Wait(mutex);
  } else {
    changed->WaitFor(mutex, micros);
  }
}

Status KeyLocks::Lock(const LockOwner& owner, std::uint32_t family, const std::string& key, bool exclusive,
                      std::int64_t timeout_millis) {
  const Name name{family, key};
  Stripe& stripe = StripeOf(name);
  const Request request{owner, family, exclusive, timeout_millis, clock_.NowMicros(), &key, nullptr};
  WaitScope scope(&waits_, owner.id);
  MutexLock lock(stripe.mutex);
  while (true) {
    // With the mutex of the stripe: see the top of the header.
    if (MayHaveRanges(family) && IsInRangeOfOthers(request) && !MutantIs(Mutant::kKeysIgnoreRanges)) {
      lock.Unlock();
      {
        const MutexLock ranges(ranges_mutex_);
        CAMBIUM_RETURN_IF_ERROR(AwaitRanges(request, &scope));
      }
      lock.Lock();
      continue;
    }
    LockObstacle obstacle;
    const Try tried = TryLock(&stripe, owner, name, exclusive, &obstacle);
    if (tried == Try::kGot) return Status::OK();
    if (tried == Try::kTooMany) return LimitReached(family);
    std::uint64_t micros = 0;
    CAMBIUM_RETURN_IF_ERROR(BeginWait(request, std::move(obstacle), key, /*for_range=*/false, &scope, &micros));
    WaitFor(&stripe.changed, stripe.mutex, micros);
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
