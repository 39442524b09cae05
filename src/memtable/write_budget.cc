#include "memtable/write_budget.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::size_t kChunkBytesMin = std::size_t{2} << 10;
constexpr std::size_t kChunkBytesMax = std::size_t{2} << 20;

// What the memory of a memtable has cost so far: memory times age. A small memtable that nobody writes to is left alone
// until it has cost as much as a large one that fills up quickly.
double CostOf(const WriteBudget::Candidate& table, std::uint64_t now) {
  const auto bytes = static_cast<double>(table.bytes);
  return MutantIs(Mutant::kIdleTablesStay) ? bytes : bytes * static_cast<double>(now - table.begin);
}

}  // namespace

// ---- Figures ----

void WriteBudget::SetLimit(std::size_t limit) {
  limit_.store(limit, std::memory_order_relaxed);
  NoteChange();  // there may be room now, or none any more
  if (ShouldFlush()) is_flush_due_.store(true, std::memory_order_relaxed);
}

void WriteBudget::SetAllowStall(bool allow_stall) {
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

// ---- Charges ----

bool WriteBudget::Take(std::size_t bytes, bool may_exceed) {
  const std::size_t most = limit();
  may_exceed = may_exceed || most == 0 || MutantIs(Mutant::kWritesPassBudget);
  std::size_t before = tables();
  do {
    if (!may_exceed && before + bytes > TablesLimit() && unflushed() + bytes > most / 8) return false;
  } while (!tables_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  active_.fetch_add(bytes, std::memory_order_relaxed);
  unflushed_.fetch_add(bytes, std::memory_order_relaxed);
  taken_.fetch_add(bytes, std::memory_order_relaxed);
  if (ShouldFlush()) is_flush_due_.store(true, std::memory_order_relaxed);
  return true;
}

TableCharge::~TableCharge() {
  if (budget_ == nullptr) return;
  Flushed();
  if (bytes() == 0) return;
  budget_->tables_.fetch_sub(bytes(), std::memory_order_relaxed);
  budget_->NoteChange();
}

bool TableCharge::Add(std::size_t bytes, bool may_exceed) {
  if (budget_ == nullptr) return true;
  const std::uint64_t now = budget_->taken();
  if (!budget_->Take(bytes, may_exceed)) return false;
  // A write to a dropped family takes memory before it finds that out.
  if (!is_active_) budget_->active_.fetch_sub(bytes, std::memory_order_relaxed);
  if (!is_unflushed_) budget_->unflushed_.fetch_sub(bytes, std::memory_order_relaxed);
  if (this->bytes() == 0) begin_.store(now, std::memory_order_relaxed);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

void TableCharge::Remove(std::size_t bytes) {
  if (budget_ == nullptr) return;
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  if (is_active_) budget_->active_.fetch_sub(bytes, std::memory_order_relaxed);
  if (is_unflushed_) budget_->unflushed_.fetch_sub(bytes, std::memory_order_relaxed);
  budget_->tables_.fetch_sub(bytes, std::memory_order_relaxed);
  budget_->NoteChange();
}

void TableCharge::Freeze() {
  if (budget_ == nullptr || !is_active_) return;
  is_active_ = false;
  budget_->active_.fetch_sub(bytes(), std::memory_order_relaxed);
}

void TableCharge::Flushed() {
  if (budget_ == nullptr || !is_unflushed_) return;
  Freeze();
  is_unflushed_ = false;
  budget_->unflushed_.fetch_sub(bytes(), std::memory_order_relaxed);
  budget_->NoteChange();
}

FilterCharge::FilterCharge(std::shared_ptr<WriteBudget> budget, std::size_t bytes)
    : budget_(MutantIs(Mutant::kFiltersUncounted) ? nullptr : std::move(budget)), bytes_(bytes) {
  if (budget_ != nullptr) budget_->filters_.fetch_add(bytes_, std::memory_order_relaxed);
}

FilterCharge::~FilterCharge() {
  if (budget_ == nullptr) return;
  budget_->filters_.fetch_sub(bytes_, std::memory_order_relaxed);
  budget_->NoteChange();
}

// ---- Members ----

void WriteBudget::Register(Member* member) {
  const MutexLock lock(members_mutex_);
  members_.push_back(member);
}

void WriteBudget::Unregister(Member* member) {
  {
    const MutexLock lock(members_mutex_);
    std::erase(members_, member);
  }
  NoteChange();
}

// ---- Making room ----

std::vector<WriteBudget::Chosen> WriteBudget::Choose() {
  std::vector<Chosen> all;
  std::vector<Candidate> tables;
  for (Member* const member : members_) {
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

bool WriteBudget::IsAnyFlushing() {
  return std::any_of(members_.begin(), members_.end(), [](Member* member) { return member->IsFlushing(); });
}

void WriteBudget::FlushSome(bool must) {
  const MutexLock lock(members_mutex_);
  is_flush_due_.store(false, std::memory_order_relaxed);
  if (!ShouldFlush() && (!must || IsAnyFlushing())) return;
  for (const Chosen& chosen : Choose()) chosen.member->Freeze(chosen.table);
}

std::uint64_t WriteBudget::changes() const {
  const MutexLock lock(change_mutex_);
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
  const MutexLock lock(change_mutex_);
  while (changes_ == seen) changed_.Wait(change_mutex_);
}

void WriteBudget::NoteChange() {
  const MutexLock lock(change_mutex_);
  ++changes_;
  changed_.NotifyAll();
}

}  // namespace cambium
