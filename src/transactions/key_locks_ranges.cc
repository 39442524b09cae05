// The part of KeyLocks that locks ranges.
#include <algorithm>
#include <utility>

#include "transactions/key_locks.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {

class KeyLocks::Claim {
 public:
  // `number`: of MakeClaim.
  Claim(KeyLocks* locks, std::uint32_t family, std::uint64_t number)
      : locks_(*locks), family_(family), number_(number) {}
  ~Claim() {
    if (number_ == 0) return;
    {
      const MutexLock lock(locks_.ranges_mutex_);
      locks_.DropRange(family_, number_);
    }
    locks_.ranges_changed_.NotifyAll();
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  // The claim becomes a lock. Returns its number.
  std::uint64_t Keep() {
    {
      const MutexLock lock(locks_.ranges_mutex_);
      locks_.ranges_.Find(family_, number_)->is_claim = false;
    }
    locks_.ranges_changed_.NotifyAll();  // those that wait for the end of the claim wait for the lock now
    return std::exchange(number_, 0);
  }

 private:
  KeyLocks& locks_;
  const std::uint32_t family_;
  std::uint64_t number_;  // 0: there is no claim
};

std::uint64_t KeyLocks::MakeClaim(const Request& request, const Comparator* order) {
  if (!CountNew(request.family, request.owner.ignores_limit)) return 0;
  try {
    ranges_.Add(request.family, {next_number_, request.owner, order, *request.range, request.exclusive,
                                 /*is_claim=*/!MutantIs(Mutant::kClaimsCountAsLocks)});
  } catch (...) {
    CountGone(request.family);
    throw;
  }
  range_counts_[request.family % kRangeCounts].fetch_add(1, std::memory_order_seq_cst);
  return next_number_++;
}

void KeyLocks::DropRange(std::uint32_t family, std::uint64_t number) noexcept {
  if (!ranges_.Remove(family, number)) return;
  range_counts_[family % kRangeCounts].fetch_sub(1, std::memory_order_seq_cst);
  CountGone(family);
}

bool KeyLocks::Excludes(const Request& request, LockObstacle* obstacle) const {
  const TransactionID owner = request.owner.id;
  return request.key != nullptr
             ? ranges_.Excludes(owner, request.family, *request.key, request.exclusive, obstacle)
             : ranges_.Excludes(owner, request.family, *request.range, request.exclusive, obstacle);
}

bool KeyLocks::FindRanges(const Request& request, LockObstacle* obstacle) {
  if (!Excludes(request, obstacle)) return false;
  const std::uint64_t now = clock_.NowMicros();
  if (obstacle->expires_at == 0 || obstacle->expires_at > now) return true;
  const std::size_t dropped = ranges_.RemoveIf(request.family, [&](const HeldRange& each) {
    const bool is_expired = each.owner.expires_at != 0 && each.owner.expires_at <= now;
    return !each.is_claim && is_expired && each.owner.id != request.owner.id && owners_.StealFrom(each.owner.id);
  });
  range_counts_[request.family % kRangeCounts].fetch_sub(static_cast<std::uint32_t>(dropped),
                                                         std::memory_order_seq_cst);
  for (std::size_t i = 0; i < dropped; ++i) CountGone(request.family);
  return Excludes(request, obstacle);
}

bool KeyLocks::IsInRangeOfOthers(const Request& request) {
  LockObstacle obstacle;
  const MutexLock lock(ranges_mutex_);
  return FindRanges(request, &obstacle);
}

Status KeyLocks::AwaitRanges(const Request& request, WaitScope* scope) {
  const std::string& wanted = request.key != nullptr ? *request.key : request.range->from.key;
  LockObstacle obstacle;
  while (FindRanges(request, &obstacle)) {
    std::uint64_t micros = 0;
    CAMBIUM_RETURN_IF_ERROR(BeginWait(request, std::move(obstacle), wanted, /*for_range=*/true, scope, &micros));
    WaitFor(&ranges_changed_, ranges_mutex_, micros);
  }
  return Status::OK();
}

bool KeyLocks::FindHolders(Stripe* stripe, const Request& request, const Name& name, LockObstacle* obstacle) {
  const auto found = stripe->locks.find(name);
  if (found == stripe->locks.end()) return false;
  Held& held = found->second;
  if (!request.exclusive && !held.exclusive) return false;
  const auto is_of_others = [&](const Holder& holder) { return holder.id != request.owner.id; };
  const auto has_others = [&] {
    return is_of_others(held.first) || (held.others != nullptr && std::ranges::any_of(*held.others, is_of_others));
  };
  if (!has_others()) return false;
  DropExpired(&held, clock_.NowMicros());
  if (held.first.id == 0) {
    stripe->locks.erase(found);
    CountGone(request.family);
    return false;
  }
  *obstacle = {};
  const auto add = [&](const Holder& holder) {
    if (is_of_others(holder)) obstacle->Add(holder.id, holder.expires_at);
  };
  add(held.first);
  if (held.others != nullptr) std::ranges::for_each(*held.others, add);
  return !obstacle->holders.empty();
}

KeyLocks::Stripe* KeyLocks::FindKeyInRange(const Request& request, const Comparator& order, std::string* key) {
  for (std::size_t i = 0; i < stripe_count_; ++i) {
    Stripe& stripe = stripes_[i];
    const MutexLock lock(stripe.mutex);
    for (auto at = stripe.locks.begin(); at != stripe.locks.end();) {
      const Name name = NameOf(at->first);
      ++at;  // first: FindHolders may erase the lock
      if (name.family != request.family || !request.range->Has(order, name.key)) continue;
      LockObstacle obstacle;
      std::string copy = name.key.ToString();
      if (!FindHolders(&stripe, request, name, &obstacle)) continue;
      *key = std::move(copy);
      return &stripe;
    }
  }
  return nullptr;
}

Status KeyLocks::LockRange(const LockOwner& owner, std::uint32_t family, const Comparator* order,
                           const KeyRange& range, bool exclusive, std::int64_t timeout_millis,
                           std::uint64_t* number) {
  const Request request{owner, family, exclusive, timeout_millis, clock_.NowMicros(), nullptr, &range};
  WaitScope scope(&waits_, owner.id);
  while (true) {
    std::string key;
    Stripe* stripe = nullptr;
    const bool looks_first = MutantIs(Mutant::kRangeLooksBeforeItsClaim);
    if (looks_first) stripe = FindKeyInRange(request, *order, &key);
    if (looks_first) CAMBIUM_FAULT_POINT("KeyLocks:looked");
    {
      std::uint64_t claimed = 0;
      {
        const MutexLock lock(ranges_mutex_);
        CAMBIUM_RETURN_IF_ERROR(AwaitRanges(request, &scope));
        claimed = MakeClaim(request, order);
      }
      if (claimed == 0) return LimitReached(family);
      Claim claim(this, family, claimed);
      scope.End();
      CAMBIUM_FAULT_POINT("KeyLocks:claimed");
      if (!looks_first && !MutantIs(Mutant::kRangesIgnoreLockedKeys)) stripe = FindKeyInRange(request, *order, &key);
      if (stripe == nullptr) {
        *number = claim.Keep();
        return Status::OK();
      }
    }
    // The claim is withdrawn, so that the holder of the key can lock others in the range.
    const MutexLock lock(stripe->mutex);
    LockObstacle obstacle;
    if (!FindHolders(stripe, request, {family, key}, &obstacle)) continue;
    std::uint64_t micros = 0;
    CAMBIUM_RETURN_IF_ERROR(BeginWait(request, std::move(obstacle), key, /*for_range=*/false, &scope, &micros));
    WaitFor(&stripe->changed, stripe->mutex, micros);
  }
}

void KeyLocks::UnlockRange(TransactionID owner, std::uint32_t family, std::uint64_t number) noexcept {
  {
    const MutexLock lock(ranges_mutex_);
    DropRange(family, number);
    if (!MutantIs(Mutant::kReleasedRangesStayAwaited)) waits_.NoteRangeReleased(owner, family);
  }
  ranges_changed_.NotifyAll();
}

std::unordered_multimap<std::uint32_t, RangeLockInfo> KeyLocks::ListRanges() const {
  std::unordered_multimap<std::uint32_t, RangeLockInfo> all;
  const MutexLock lock(ranges_mutex_);
  ranges_.ForEach([&](std::uint32_t family, const HeldRange& held) {
    if (held.is_claim) return;
    RangeLockInfo info;
    if (held.range.from.has_key()) info.begin = held.range.from.key;
    if (held.range.to.has_key()) info.end = held.range.to.key;
    info.has_end = held.range.to.at == KeyBound::At::kAfter;
    info.ids = {held.owner.id};
    info.exclusive = held.exclusive;
    all.emplace(family, std::move(info));
  });
  return all;
}

}  // namespace cambium
