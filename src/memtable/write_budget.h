// WriteBudget: the memory of memtables and filters under one limit: the state of a WriteBufferManager.
//
//   limit:  filters | kept for new filters | active + frozen, not flushed + flushed, but a reader still has it
//                                            '-- unflushed: flushes free it --'
//                                            '---------------------------- tables ----------------------------'
//
// A memtable takes its memory in chunks, and asks the budget before each: so a write that needs no new chunk costs
// nothing here. If there is no room, the chunk is refused; then the writer makes others flush (FlushSome), waits
// (AwaitChange), and asks again. Filters are not refused. So room is kept for them: as much as there are, because a
// compaction writes new ones before it drops the old ones, and at least a 16th of the limit, for those of flushes.
//
// There is one exception: an eighth of the limit is always there for unflushed memtables, however much filters and
// readers have. Without it, each chunk would cause a flush once these have it all.
//
// Who flushes: members, which are databases. Any thread that has found a flush due chooses memtables of all members.
//
// Locks: `members_mutex_` is taken with no lock held; under it, the append locks of members. `change_mutex_` is a leaf.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cambium/executor.h"
#include "cambium/write_buffer_manager.h"
#include "util/mutex.h"

namespace cambium {

class WriteBudget {
 public:
  // A memtable that a flush could free.
  struct Candidate {
    std::uint32_t family = 0;
    const void* table = nullptr;  // its identity
    std::size_t bytes = 0;
    std::uint64_t begin = 0;  // taken() when it took its first memory
  };
  // A database. The budget calls it with `members_mutex_` held.
  class Member {
   public:
    virtual ~Member() = default;
    // Appends the memtables that take writes and could be frozen now.
    virtual void ListTables(std::vector<Candidate>* tables) = 0;
    // Freezes the memtable, unless that has happened already, and schedules its flush.
    virtual void Freeze(const Candidate& table) = 0;
    // True if a flush is scheduled: AwaitChange will return.
    virtual bool IsFlushing() = 0;
    virtual std::shared_ptr<Executor> executor() = 0;
  };

  WriteBudget(std::size_t limit, bool allow_stall) : limit_(limit), allow_stall_(allow_stall) {}
  WriteBudget(const WriteBudget&) = delete;
  WriteBudget& operator=(const WriteBudget&) = delete;
  // The budget of a database with these options: the manager's, or one of its own; null if there is no limit.
  [[nodiscard]] static std::shared_ptr<WriteBudget> Of(const std::shared_ptr<WriteBufferManager>& manager,
                                                       std::size_t db_write_buffer_size) {
    if (manager != nullptr) return manager->budget_;
    return db_write_buffer_size == 0 ? nullptr : std::make_shared<WriteBudget>(db_write_buffer_size, false);
  }

  // ---- Figures; bytes; any thread ----

  [[nodiscard]] std::size_t limit() const { return limit_.load(std::memory_order_relaxed); }  // 0: none
  [[nodiscard]] std::size_t used() const { return tables() + filters(); }
  [[nodiscard]] std::size_t tables() const { return tables_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t filters() const { return filters_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t active() const { return active_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t unflushed() const { return unflushed_.load(std::memory_order_relaxed); }
  // All that memtables have ever taken: the clock of their age.
  [[nodiscard]] std::uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  void SetLimit(std::size_t limit);
  void SetAllowStall(bool allow_stall);
  // What memtables may take: the limit less filters and what is kept for them. Requires a limit.
  [[nodiscard]] std::size_t TablesLimit() const;
  [[nodiscard]] bool ShouldFlush() const;
  [[nodiscard]] bool ShouldStall() const {
    return limit() > 0 && allow_stall_.load(std::memory_order_relaxed) && tables() >= TablesLimit();
  }
  // True if every write waits: ShouldStall, and a flush can free memory.
  [[nodiscard]] bool StallsAll() const { return ShouldStall() && unflushed() > limit() / 8; }
  // Set when ShouldFlush has become true, until the next FlushSome. Costs a load.
  [[nodiscard]] bool IsFlushDue() const { return is_flush_due_.load(std::memory_order_relaxed); }
  // The largest chunk that a memtable should take, so that the budget can be used up: a 64th of it.
  [[nodiscard]] std::size_t ChunkBytesMax() const;

  // ---- Members ----

  void Register(Member* member) CAMBIUM_EXCLUDES(members_mutex_);
  // Afterwards the member is not called any more. Does nothing if it is not registered.
  void Unregister(Member* member) CAMBIUM_EXCLUDES(members_mutex_);

  // ---- Making room; the caller holds no lock ----

  // If a flush is due, or `must` is set and no flush is scheduled, freezes memtables until they have a quarter of the
  // limit.
  void FlushSome(bool must) CAMBIUM_EXCLUDES(members_mutex_);
  // The number of changes so far. To wait: read it, look whether there is room and whether IsFlushing, AwaitChange.
  [[nodiscard]] std::uint64_t changes() const CAMBIUM_EXCLUDES(change_mutex_);
  // True if a flush is scheduled in a member.
  [[nodiscard]] bool IsFlushing() CAMBIUM_EXCLUDES(members_mutex_);
  // Waits until memory is given back, a flush ends or a member leaves. If the executors have no threads, runs a task
  // of a member that IsFlushing.
  void AwaitChange(std::uint64_t seen) CAMBIUM_EXCLUDES(members_mutex_, change_mutex_);
  // Called when a flush has ended, whatever its result. The caller may hold locks.
  void NoteChange() CAMBIUM_EXCLUDES(change_mutex_);

 private:
  friend class TableCharge;
  friend class FilterCharge;
  struct Chosen {
    Member* member = nullptr;
    Candidate table;
  };

  // False, and takes nothing, if there is no room.
  [[nodiscard]] bool Take(std::size_t bytes, bool may_exceed);
  [[nodiscard]] std::vector<Chosen> Choose() CAMBIUM_REQUIRES(members_mutex_);
  [[nodiscard]] bool IsAnyFlushing() CAMBIUM_REQUIRES(members_mutex_);

  std::atomic<std::size_t> limit_;
  std::atomic<bool> allow_stall_;
  std::atomic<std::size_t> tables_{0};
  std::atomic<std::size_t> filters_{0};
  std::atomic<std::size_t> active_{0};
  std::atomic<std::size_t> unflushed_{0};
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<bool> is_flush_due_{false};

  Mutex members_mutex_;
  std::vector<Member*> members_ CAMBIUM_GUARDED_BY(members_mutex_);
  mutable Mutex change_mutex_;
  CondVar changed_;
  std::uint64_t changes_ CAMBIUM_GUARDED_BY(change_mutex_) = 0;
};

// The part of a budget that a memtable has taken. Add, Remove and Freeze: the writer; Flushed: the thread that has
// flushed the memtable, or knows that nothing will; the destructor: after all of these. Without a budget it does
// nothing.
class TableCharge {
 public:
  explicit TableCharge(std::shared_ptr<WriteBudget> budget) : budget_(std::move(budget)) {}
  ~TableCharge();
  TableCharge(const TableCharge&) = delete;
  TableCharge& operator=(const TableCharge&) = delete;

  // False, and takes nothing, if the budget has no room.
  [[nodiscard]] bool Add(std::size_t bytes, bool may_exceed);
  void Remove(std::size_t bytes);
  // The memtable takes no more writes.
  void Freeze();
  // Only readers still have the memtable, or it can never be flushed.
  void Flushed();

  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t begin() const { return begin_.load(std::memory_order_relaxed); }
  [[nodiscard]] const WriteBudget* budget() const { return budget_.get(); }

 private:
  const std::shared_ptr<WriteBudget> budget_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::uint64_t> begin_{0};
  bool is_active_ = true;
  bool is_unflushed_ = true;
};

// The part of a budget that the filter of a run has: it is counted, never refused.
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
