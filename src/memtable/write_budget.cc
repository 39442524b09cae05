#include "memtable/write_budget.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "util/fork_guard.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::size_t kChunkBytesMin = std::size_t{2} << 10;
constexpr std::size_t kChunkBytesMax = std::size_t{2} << 20;

// Returns what the memory of a memtable has cost so far: memory times age. A small memtable without writes is left
// alone until it has cost as much as a large one that fills up quickly.
double CostOf(const WriteBudget::Candidate& table, std::uint64_t now) {
  const auto bytes = static_cast<double>(table.bytes);
  if (MutantIs(Mutant::kIdleTablesStay)) return bytes;
  // A thread may see the memtable's first memory before it sees that the budget has counted it.
  return bytes * static_cast<double>(now > table.begin ? now - table.begin : 0);
}

}  // namespace

WriteBudget::WriteBudget(std::size_t limit, bool allow_stall)
    : fork_generation_(ForkGeneration()), limit_(limit), allow_stall_(allow_stall) {}

bool WriteBudget::IsOfThisProcess() const { return ForkGeneration() == fork_generation_; }

// ---- Figures ----

void WriteBudget::SetLimit(std::size_t limit) {
  if (!IsOfThisProcess()) return;
  limit_.store(limit, std::memory_order_relaxed);
  NoteChange();  // there may be room now, or none any more
  if (ShouldFlush()) is_flush_due_.store(true, std::memory_order_relaxed);
}

void WriteBudget::SetAllowStall(bool allow_stall) {
  if (!IsOfThisProcess()) return;
  allow_stall_.store(allow_stall, std::memory_order_relaxed);
  NoteChange();
}

std::size_t WriteBudget::TablesLimit() const {
  const std::size_t most = limit();
  const std::size_t of_filters = std::min(filters(), most);
  const std::size_t kept = std::max(of_filters, most / 16);
  return std::max(most - std::min(most, of_filters + kept), most / 8);
}

bool WriteBudget::ShouldFlush() const {
  const std::size_t most = limit();
  if (most == 0) return false;
  const std::size_t share = TablesLimit();
  const std::size_t taking_writes = active();
  return taking_writes > share - share / 8 || (tables() >= share && taking_writes >= share / 2);
}

std::size_t WriteBudget::ChunkBytesMax() const {
  const std::size_t most = limit();
  if (most == 0) return kChunkBytesMax;
  return std::clamp(std::bit_floor(most / 64), kChunkBytesMin, kChunkBytesMax);
}

std::size_t WriteBudget::SnapshotBytesMax() const {
  const std::size_t half = limit() / 2;
  const MutexLock lock(mutex_);
  const bool is_shared_out = tables() - unflushed() - stuck_.load(std::memory_order_relaxed) > half;
  const bool divides = is_shared_out && sharers_ > 1 && !MutantIs(Mutant::kEachDatabasePinsHalf);
  return divides ? half / sharers_ : half;
}

// ---- Shares and charges ----

// A database that cannot flush gets nothing beyond the limit, since nothing would end that. The eighth is for the others.
bool WriteBudget::HasRoom(const BudgetShare& share, std::size_t bytes, BudgetClaim claim) const {
  const std::size_t most = limit();
  if (most == 0 || claim == BudgetClaim::kExceeds || MutantIs(Mutant::kWritesPassBudget)) return true;
  if (claim == BudgetClaim::kUsual && !line_.empty() && !MutantIs(Mutant::kWritersOvertake)) return false;
  return tables() + bytes <= TablesLimit() || (share.CanFlush() && unflushed() + bytes <= most / 8);
}

void WriteBudget::Change(BudgetShare* share, std::ptrdiff_t bytes, std::ptrdiff_t active, std::ptrdiff_t unflushed) {
  const auto add = [](auto* to, std::ptrdiff_t by) { *to += static_cast<std::size_t>(by); };  // `by` may be below 0
  assert(bytes >= 0 || tables() >= static_cast<std::size_t>(-bytes));
  assert(active >= 0 || share->active_ >= static_cast<std::size_t>(-active));
  assert(unflushed >= 0 || share->unflushed_ >= static_cast<std::size_t>(-unflushed));
  add(&tables_, bytes);
  add(&share->active_, active);
  add(&share->unflushed_, unflushed);
  if (share->CanFlush()) {
    add(&active_, active);
    add(&unflushed_, unflushed);
  } else {
    add(&stuck_, unflushed);
  }
  if (bytes <= 0) return;
  taken_ += static_cast<std::uint64_t>(bytes);
  if (ShouldFlush()) is_flush_due_.store(true, std::memory_order_relaxed);
}

void WriteBudget::SetState(BudgetShare* share, bool is_member, bool is_failing) {
  const bool could = share->CanFlush();
  if (is_failing && !share->is_failing()) share->failing_since_.store(taken(), std::memory_order_relaxed);
  share->is_member_.store(is_member, std::memory_order_relaxed);
  share->is_failing_.store(is_failing, std::memory_order_relaxed);
  const bool can = share->CanFlush();
  if (can == could) return;
  if (can) {
    ++sharers_;
    active_ += share->active_;
    unflushed_ += share->unflushed_;
    stuck_ -= share->unflushed_;
    if (ShouldFlush()) is_flush_due_.store(true, std::memory_order_relaxed);
  } else {
    --sharers_;
    active_ -= share->active_;
    unflushed_ -= share->unflushed_;
    stuck_ += share->unflushed_;
  }
  NoteChangeLocked();
}

// ---- The line ----

bool WriteBudget::Place::IsFirst() {
  if (!is_first_) is_first_ = budget_->Join(this);
  return is_first_;
}

bool WriteBudget::Join(Place* place) {
  const MutexLock lock(mutex_);
  if (!place->is_in_line_) {
    line_.push_back(place);
    place->is_in_line_ = true;
  }
  return line_.front() == place || MutantIs(Mutant::kAllAreFirst);
}

void WriteBudget::Leave(Place* place) {
  const MutexLock lock(mutex_);
  [[maybe_unused]] const std::size_t left = std::erase(line_, place);
  assert(left == 1);
  place->is_in_line_ = false;
  if (!line_.empty()) NoteChangeLocked();
}

bool WriteBudget::HasLine() const {
  const MutexLock lock(mutex_);
  return !line_.empty();
}

// ---- Members ----

void WriteBudget::Register(Member* member) {
  const MutexLock members(members_mutex_);
  assert(std::find(members_.begin(), members_.end(), member) == members_.end());
  members_.push_back(member);
  const MutexLock lock(mutex_);
  SetState(&member->share(), true, member->share().is_failing());
}

void WriteBudget::Unregister(Member* member) {
  const MutexLock members(members_mutex_);
  if (std::erase(members_, member) == 0) return;
  const MutexLock lock(mutex_);
  SetState(&member->share(), false, member->share().is_failing());
  NoteChangeLocked();
}

// ---- Making room ----

std::vector<WriteBudget::Chosen> WriteBudget::Choose(std::span<Member* const> members) {
  std::vector<Chosen> all;
  std::vector<Candidate> tables;
  for (Member* const member : members) {
    if (!member->share().CanFlush()) continue;
    tables.clear();
    member->ListTables(&tables);
    for (const Candidate& table : tables) all.push_back({member, table});
  }
  const std::uint64_t now = taken();
  std::stable_sort(all.begin(), all.end(),
                   [now](const Chosen& a, const Chosen& b) { return CostOf(a.table, now) > CostOf(b.table, now); });
  const std::size_t wanted = TablesLimit() / 4;
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < all.size() && (count == 0 || bytes < wanted)) bytes += all[count++].table.bytes;
  all.resize(count);
  return all;
}

void WriteBudget::Freeze(const std::vector<Chosen>& chosen) {
  for (const Chosen& each : chosen) each.member->Freeze(each.table);
}

bool WriteBudget::IsAnyFlushing() {
  return std::any_of(members_.begin(), members_.end(), [](Member* member) { return member->IsFlushing(); });
}

// The writes of a database run its failed flushes again. If it has no writes, writes of other databases do so, each
// time memtables have taken as much memory as the limit. That happens so seldom that a flush which always fails costs
// little.
void WriteBudget::RetryFailed() {
  for (Member* const member : members_) {
    const BudgetShare& share = member->share();
    if (share.is_failing() && taken() - share.failing_since() >= limit()) member->RetryFailed();
  }
}

void WriteBudget::FlushIfDue() noexcept {
  if (!members_mutex_.TryLock()) return;
  FlushDue();
  members_mutex_.Unlock();
}

void WriteBudget::FlushDue() noexcept {
  is_flush_due_.store(false, std::memory_order_relaxed);
  try {
    if (ShouldFlush()) Freeze(Choose(members_));
  } catch (...) {  // an executor of the user may throw anything
  }
}

void WriteBudget::MakeRoom(Member* self) {
  const MutexLock lock(members_mutex_);
  is_flush_due_.store(false, std::memory_order_relaxed);
  RetryFailed();
  if (ShouldFlush() || !IsAnyFlushing()) return Freeze(Choose(members_));
  if (self->IsFlushing() || MutantIs(Mutant::kWaitsForOthersFlush)) return;
  const std::vector<Chosen> own = Choose({&self, 1});
  std::size_t bytes = 0;
  for (const Chosen& each : own) bytes += each.table.bytes;
  if (bytes >= TablesLimit() / 16) Freeze(own);
}

std::uint64_t WriteBudget::changes() const {
  const MutexLock lock(mutex_);
  return changes_;
}

bool WriteBudget::IsFlushing() {
  const MutexLock lock(members_mutex_);
  return IsAnyFlushing();
}

void WriteBudget::AwaitChange(std::uint64_t seen) {
  std::vector<std::shared_ptr<Executor>> executors;  // kept, so that they may run tasks without the lock
  {
    const MutexLock lock(members_mutex_);
    for (Member* const member : members_) {
      if (member->IsFlushing()) executors.push_back(member->executor());
    }
  }
  for (const auto& executor : executors) {
    if (changes() != seen || executor->RunOneInstead()) return;
  }
  const MutexLock lock(mutex_);
  while (changes_ == seen) changed_.Wait(mutex_);
}

void WriteBudget::NoteChange() {
  const MutexLock lock(mutex_);
  NoteChangeLocked();
}

void WriteBudget::NoteChangeLocked() {
  ++changes_;
  changed_.NotifyAll();
}

}  // namespace cambium
