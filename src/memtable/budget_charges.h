// BudgetShare, TableCharge, FilterCharge: the shares of a database, a memtable and a filter in a WriteBudget.
//
// They change the figures of the budget under its mutex, a leaf. Without a budget they do nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace cambium {

class WriteBudget;

// How a memtable asks for a chunk.
enum class BudgetClaim : std::uint8_t {
  kUsual,    // refused if there is no room, or if a writer waits for room
  kFirst,    // by the first writer in line: refused if there is no room
  kExceeds,  // never refused
};

// The share of one database: all its memtables. They count as memory that flushes can free while the database is a
// member of the budget and its flushes do not fail. Any thread.
class BudgetShare {
 public:
  explicit BudgetShare(std::shared_ptr<WriteBudget> budget);
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;

  [[nodiscard]] const std::shared_ptr<WriteBudget>& budget() const { return budget_; }
  // True: the database cannot flush, after a fatal error or until a failed flush is tried again. False: it can again.
  void SetFailing(bool is_failing);
  [[nodiscard]] bool is_failing() const { return is_failing_.load(std::memory_order_relaxed); }
  // WriteBudget::taken() when is_failing() became true.
  [[nodiscard]] std::uint64_t failing_since() const { return failing_since_.load(std::memory_order_relaxed); }
  // True if flushes can free its memtables.
  [[nodiscard]] bool CanFlush() const;

 private:
  friend class WriteBudget;
  const std::shared_ptr<WriteBudget> budget_;
  // Written under the mutex of the budget, as what follows.
  std::atomic<bool> is_member_{false};
  std::atomic<bool> is_failing_{false};
  std::atomic<std::uint64_t> failing_since_{0};
  std::size_t active_ = 0;  // bytes
  std::size_t unflushed_ = 0;
};

// The share of one memtable. The writer calls Add, Remove and Freeze. The thread that has flushed the memtable, or
// knows that no flush will, calls Flushed. The destructor runs after all of these.
class TableCharge {
 public:
  explicit TableCharge(std::shared_ptr<BudgetShare> share) : share_(std::move(share)) {}
  ~TableCharge();
  TableCharge(const TableCharge&) = delete;
  TableCharge& operator=(const TableCharge&) = delete;

  // False, and takes nothing, if the budget refuses it.
  [[nodiscard]] bool Add(std::size_t bytes, BudgetClaim claim);
  void Remove(std::size_t bytes);
  // Call it when the memtable takes no more writes.
  void Freeze();
  // Call it when only readers still have the memtable, or when it can never be flushed.
  void Flushed();

  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t begin() const { return begin_.load(std::memory_order_relaxed); }
  [[nodiscard]] const WriteBudget* budget() const { return share_ == nullptr ? nullptr : share_->budget().get(); }

 private:
  const std::shared_ptr<BudgetShare> share_;
  // Written under the mutex of the budget, as what follows.
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::uint64_t> begin_{0};  // WriteBudget::taken() when it took its first memory
  bool is_active_ = true;
  bool is_unflushed_ = true;
};

// The share of the filter of one run. A filter is counted, and never refused.
class FilterCharge {
 public:
  FilterCharge(std::shared_ptr<WriteBudget> budget, std::size_t bytes);
  ~FilterCharge();
  FilterCharge(const FilterCharge&) = delete;
  FilterCharge& operator=(const FilterCharge&) = delete;

 private:
  const std::shared_ptr<WriteBudget> budget_;
  const std::size_t bytes_;
};

}  // namespace cambium
