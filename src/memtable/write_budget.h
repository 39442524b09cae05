// WriteBudget: the memory of memtables and filters under one limit: the state of a WriteBufferManager.
//
//   limit:  filters | kept for new filters | active + frozen, not flushed | stuck | flushed, but a reader still has it
//                                            '-- unflushed: flushes free it --'
//                                            '-------------------------------- tables --------------------------------'
//
// A memtable takes its memory in chunks, and asks the budget before each: so a write that needs no new chunk costs
// nothing here. If there is no room, the chunk is refused; then the writer gets in line, makes databases flush
// (MakeRoom), waits (AwaitChange), and asks again. Filters are not refused. So room is kept for them: as much as the
// existing filters take, because a compaction writes new ones before it drops the old ones, and at least a 16th of the
// limit, for the filters of flushes.
//
// There is one exception: unflushed memtables may always take an eighth of the limit, even if filters, readers and
// stuck memtables have taken all of it. Otherwise each chunk would then cause a flush.
//
// Stuck memtables belong to a database that cannot flush: after an error, while it is opened, or because it is open for
// reading only. They take memory, but no flush is due because of them, and they do not count in the eighth. So the
// other databases go on with memtables of a useful size.
//
// Members, which are databases, do the flushes. Any thread that has found a flush due chooses memtables of all
// members.
//
// The line: writers that wait get memory in the order in which they came, so small writes do not overtake a large one
// for ever. Only the first one in line makes others flush, and only the first one may exceed the limit, when no flush
// can make room for it: then it keeps its place until its batch is in memtables, which can be flushed for the next one.
//
// Locks: `members_mutex_` is taken with no lock held; under it, the append locks of members. `mutex_` is a leaf.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "cambium/executor.h"
#include "cambium/write_buffer_manager.h"
#include "memtable/budget_charges.h"
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
    [[nodiscard]] virtual BudgetShare& share() = 0;
    // Appends the memtables that take writes and could be frozen now.
    virtual void ListTables(std::vector<Candidate>* tables) = 0;
    // Freezes the memtable, unless that has happened already, and schedules its flush.
    virtual void Freeze(const Candidate& table) = 0;
    // True if a flush is scheduled: AwaitChange will return.
    virtual bool IsFlushing() = 0;
    // Schedules the flushes that have failed.
    virtual void RetryFailed() = 0;
    virtual std::shared_ptr<Executor> executor() = 0;
  };
  // The place in line of a writer that waits for memory. Its destructor leaves the line.
  class Place {
   public:
    explicit Place(WriteBudget* budget) : budget_(budget) {}  // null: no limit
    ~Place() { Leave(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    // Joins the line, unless it has joined already. True if it is the first in line.
    [[nodiscard]] bool IsFirst();
    void Leave() {
      if (is_in_line_) budget_->Leave(this);
    }
    [[nodiscard]] bool is_in_line() const { return is_in_line_; }
    // The claim with which the writer may ask for a chunk now: kFirst if IsFirst has returned true.
    [[nodiscard]] BudgetClaim claim() const { return is_first_ ? BudgetClaim::kFirst : BudgetClaim::kUsual; }

    bool has_retried = false;       // for its writer: it has tried failed flushes again
    bool may_exceed = false;        // for its writer: no flush can make room, as of `changes`
    std::uint64_t changes = 0;

   private:
    friend class WriteBudget;
    WriteBudget* const budget_;
    bool is_in_line_ = false;
    bool is_first_ = false;  // once first, it remains so until it leaves
  };

  WriteBudget(std::size_t limit, bool allow_stall);
  WriteBudget(const WriteBudget&) = delete;
  WriteBudget& operator=(const WriteBudget&) = delete;
  // The budget of a database with these options: the manager's, or one of its own; null if there is no limit.
  [[nodiscard]] static std::shared_ptr<WriteBudget> Of(const std::shared_ptr<WriteBufferManager>& manager,
                                                       std::size_t db_write_buffer_size) {
    if (manager != nullptr) return manager->budget_;
    return db_write_buffer_size == 0 ? nullptr : std::make_shared<WriteBudget>(db_write_buffer_size, false);
  }
  // True if this process has made it. In a forked child, its mutexes may be locked by threads that are not there.
  [[nodiscard]] bool IsOfThisProcess() const;

  // ---- Figures; bytes; any thread ----

  [[nodiscard]] std::size_t limit() const { return limit_.load(std::memory_order_relaxed); }  // 0: none
  [[nodiscard]] std::size_t used() const { return tables() + filters(); }
  [[nodiscard]] std::size_t tables() const { return tables_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t filters() const { return filters_.load(std::memory_order_relaxed); }
  // Bytes of tables() that belong to databases that can flush.
  [[nodiscard]] std::size_t active() const { return active_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t unflushed() const { return unflushed_.load(std::memory_order_relaxed); }
  // The bytes that memtables have ever taken: the clock of their age.
  [[nodiscard]] std::uint64_t taken() const { return taken_.load(std::memory_order_relaxed); }
  void SetLimit(std::size_t limit);
  void SetAllowStall(bool allow_stall);
  // The bytes that memtables may take: the limit, less filters, less the room that is kept for new filters. Requires a
  // limit.
  [[nodiscard]] std::size_t TablesLimit() const;
  [[nodiscard]] bool ShouldFlush() const;
  [[nodiscard]] bool ShouldStall() const {
    return limit() > 0 && allow_stall_.load(std::memory_order_relaxed) && tables() >= TablesLimit();
  }
  // True if every write waits: ShouldStall, and a flush can free memory.
  [[nodiscard]] bool StallsAll() const { return ShouldStall() && unflushed() > limit() / 8; }
  // Set when ShouldFlush has become true, until the next flush. Costs a load.
  [[nodiscard]] bool IsFlushDue() const { return is_flush_due_.load(std::memory_order_relaxed); }
  // The largest chunk that a memtable should take, so that the budget can be used up: about a 64th of it, at most 2
  // MiB.
  [[nodiscard]] std::size_t ChunkBytesMax() const;
  // The most bytes that a database keeps in memtables which only snapshots hold. This is half of the limit. If the
  // databases together hold more than half, each one gets an equal share of this half. Requires a limit.
  [[nodiscard]] std::size_t SnapshotBytesMax() const CAMBIUM_EXCLUDES(mutex_);

  // ---- Members ----

  void Register(Member* member) CAMBIUM_EXCLUDES(members_mutex_);
  // Afterwards the member is not called any more. Does nothing if it is not registered.
  void Unregister(Member* member) CAMBIUM_EXCLUDES(members_mutex_);

  // ---- Making room; the caller holds no lock ----

  // If a flush is due, freezes memtables until they have a quarter of the memtables' limit. If another thread makes
  // room now, does nothing, and the flush stays due. If memory runs out, the next chunk makes it due again.
  void FlushIfDue() noexcept CAMBIUM_EXCLUDES(members_mutex_);
  // Freezes memtables for a write of `self`, if a flush is due or none is scheduled. If only other members have
  // scheduled one, the write need not wait for it: freezes memtables of `self`, if they have a 16th of the memtables'
  // limit.
  void MakeRoom(Member* self) CAMBIUM_EXCLUDES(members_mutex_);
  // True if a writer waits for memory.
  [[nodiscard]] bool HasLine() const CAMBIUM_EXCLUDES(mutex_);
  // The number of changes so far. To wait: read it, look whether there is room and whether IsFlushing, AwaitChange.
  [[nodiscard]] std::uint64_t changes() const CAMBIUM_EXCLUDES(mutex_);
  // True if a flush is scheduled in a member.
  [[nodiscard]] bool IsFlushing() CAMBIUM_EXCLUDES(members_mutex_);
  // Waits until memory is given back, a flush ends, a member leaves, or the line moves. If the executors have no
  // threads, runs a task of a member that IsFlushing.
  void AwaitChange(std::uint64_t seen) CAMBIUM_EXCLUDES(members_mutex_, mutex_);
  // Called when a flush has ended, whatever its result. The caller may hold locks.
  void NoteChange() CAMBIUM_EXCLUDES(mutex_);

 private:
  friend class BudgetShare;
  friend class TableCharge;
  friend class FilterCharge;
  struct Chosen {
    Member* member = nullptr;
    Candidate table;
  };

  // ---- For shares and charges ----

  [[nodiscard]] bool HasRoom(const BudgetShare& share, std::size_t bytes, BudgetClaim claim) const
      CAMBIUM_REQUIRES(mutex_);
  // Adds to the memtables of a share, or subtracts. `active` and `unflushed`: the parts of `bytes` that are active, and
  // that are unflushed.
  void Change(BudgetShare* share, std::ptrdiff_t bytes, std::ptrdiff_t active, std::ptrdiff_t unflushed)
      CAMBIUM_REQUIRES(mutex_);
  // Changes what counts as unflushed.
  void SetState(BudgetShare* share, bool is_member, bool is_failing) CAMBIUM_REQUIRES(mutex_);
  void NoteChangeLocked() CAMBIUM_REQUIRES(mutex_);

  bool Join(Place* place) CAMBIUM_EXCLUDES(mutex_);
  void Leave(Place* place) CAMBIUM_EXCLUDES(mutex_);

  void FlushDue() noexcept CAMBIUM_REQUIRES(members_mutex_);
  [[nodiscard]] std::vector<Chosen> Choose(std::span<Member* const> members) CAMBIUM_REQUIRES(members_mutex_);
  void Freeze(const std::vector<Chosen>& chosen) CAMBIUM_REQUIRES(members_mutex_);
  [[nodiscard]] bool IsAnyFlushing() CAMBIUM_REQUIRES(members_mutex_);
  void RetryFailed() CAMBIUM_REQUIRES(members_mutex_);

  const std::uint64_t fork_generation_;
  std::atomic<std::size_t> limit_;
  std::atomic<bool> allow_stall_;
  // Written under mutex_, so that no other thread takes memory between a check and the count; read by any thread.
  std::atomic<std::size_t> tables_{0};
  std::atomic<std::size_t> filters_{0};
  std::atomic<std::size_t> active_{0};
  std::atomic<std::size_t> unflushed_{0};
  std::atomic<std::size_t> stuck_{0};
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<bool> is_flush_due_{false};

  Mutex members_mutex_;
  std::vector<Member*> members_ CAMBIUM_GUARDED_BY(members_mutex_);
  mutable Mutex mutex_;
  CondVar changed_;
  std::uint64_t changes_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::deque<const Place*> line_ CAMBIUM_GUARDED_BY(mutex_);
  std::size_t sharers_ CAMBIUM_GUARDED_BY(mutex_) = 0;  // members that can flush
};

}  // namespace cambium
