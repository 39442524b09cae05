#include "memtable/budget_charges.h"

#include <cassert>
#include <utility>

#include "memtable/write_budget.h"
#include "util/mutant.h"

namespace cambium {

BudgetShare::BudgetShare(std::shared_ptr<WriteBudget> budget) : budget_(std::move(budget)) {}

bool BudgetShare::CanFlush() const {
  return is_member_.load(std::memory_order_relaxed) && (!is_failing() || MutantIs(Mutant::kStuckTablesCount));
}

void BudgetShare::SetFailing(bool is_failing) {
  if (is_failing == this->is_failing()) return;
  const MutexLock lock(budget_->mutex_);
  budget_->SetState(this, is_member_.load(std::memory_order_relaxed), is_failing);
}

TableCharge::~TableCharge() {
  if (share_ == nullptr || bytes() == 0) return;
  WriteBudget& budget = *share_->budget();
  const MutexLock lock(budget.mutex_);
  const auto all = static_cast<std::ptrdiff_t>(bytes());
  budget.Change(share_.get(), -all, is_active_ ? -all : 0, is_unflushed_ ? -all : 0);
  budget.NoteChangeLocked();
}

bool TableCharge::Add(std::size_t bytes, BudgetClaim claim) {
  if (share_ == nullptr) return true;
  WriteBudget& budget = *share_->budget();
  const MutexLock lock(budget.mutex_);
  if (!budget.HasRoom(*share_, bytes, claim)) return false;
  if (this->bytes() == 0) begin_.store(budget.taken(), std::memory_order_relaxed);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  const auto more = static_cast<std::ptrdiff_t>(bytes);
  // A write to a dropped family takes memory before it finds that out.
  budget.Change(share_.get(), more, is_active_ ? more : 0, is_unflushed_ ? more : 0);
  return true;
}

void TableCharge::Remove(std::size_t bytes) {
  if (share_ == nullptr) return;
  WriteBudget& budget = *share_->budget();
  const MutexLock lock(budget.mutex_);
  assert(this->bytes() >= bytes);
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  const auto less = -static_cast<std::ptrdiff_t>(bytes);
  budget.Change(share_.get(), less, is_active_ ? less : 0, is_unflushed_ ? less : 0);
  budget.NoteChangeLocked();
}

void TableCharge::Freeze() {
  if (share_ == nullptr) return;
  WriteBudget& budget = *share_->budget();
  const MutexLock lock(budget.mutex_);
  if (std::exchange(is_active_, false)) budget.Change(share_.get(), 0, -static_cast<std::ptrdiff_t>(bytes()), 0);
}

void TableCharge::Flushed() {
  if (share_ == nullptr) return;
  WriteBudget& budget = *share_->budget();
  const MutexLock lock(budget.mutex_);
  const auto all = static_cast<std::ptrdiff_t>(bytes());
  const bool was_active = std::exchange(is_active_, false);
  if (!std::exchange(is_unflushed_, false)) return;
  budget.Change(share_.get(), 0, was_active ? -all : 0, -all);
  budget.NoteChangeLocked();
}

FilterCharge::FilterCharge(std::shared_ptr<WriteBudget> budget, std::size_t bytes)
    : budget_(MutantIs(Mutant::kFiltersUncounted) ? nullptr : std::move(budget)), bytes_(bytes) {
  if (budget_ == nullptr) return;
  const MutexLock lock(budget_->mutex_);
  budget_->filters_.fetch_add(bytes_, std::memory_order_relaxed);
}

FilterCharge::~FilterCharge() {
  if (budget_ == nullptr) return;
  const MutexLock lock(budget_->mutex_);
  assert(budget_->filters() >= bytes_);
  budget_->filters_.fetch_sub(bytes_, std::memory_order_relaxed);
  budget_->NoteChangeLocked();
}

}  // namespace cambium
