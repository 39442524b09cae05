// WriteHistory: memtables that flushes have removed from the view, and that open transactions still need to find out
// whether a key was written after they had read it. The index below the memtables has no sequence numbers.
//
//   operations    ....1 ----------- 40 41 ----------- 90 91 ----------- 130 131 ...
//   memtables      flushed            flushed, kept      in the view         active
//   marks                              ^ 55                 ^ 97
//
// A mark says that its owner will ask for operations after a given one. A memtable is kept if a mark is older than its
// last operation. If the kept memtables exceed their limit, the oldest ones are dropped; the floor of their family then
// says up to which operation the history is incomplete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cambium/types.h"
#include "state/log_table.h"
#include "util/mutex.h"

namespace cambium {

// Any thread.
class WriteHistory {
 public:
  WriteHistory() = default;
  WriteHistory(const WriteHistory&) = delete;
  WriteHistory& operator=(const WriteHistory&) = delete;

  // Keeps memtables while it exists. One thread at a time; the history must outlive it.
  class Mark {
   public:
    // At first, every memtable is kept. Read WriteHead::published() after this, and pass it to StartAt: a flush in
    // between then drops nothing that is needed.
    explicit Mark(WriteHistory* history);
    ~Mark();
    Mark(const Mark&) = delete;
    Mark& operator=(const Mark&) = delete;
    // From now on, only operations after `since` are needed. Called once.
    void StartAt(SequenceNumber since);

   private:
    WriteHistory& history_;
    std::multiset<SequenceNumber>::iterator at_;
  };

  // A memtable leaves the view; `end` is the last operation before newer memtables. Keeps it if a mark needs it and
  // `bytes_max` allows it, which limits the memtables of all families together. If memory runs out, none is kept.
  void Leave(std::uint32_t family, const std::shared_ptr<const LogTable>& table, SequenceNumber end,
             std::size_t bytes_max) noexcept;

  // The kept memtables of the family that have operations after `since`, newest first. `floor`: operations up to this
  // one may be missing.
  struct Part {
    std::vector<std::shared_ptr<const LogTable>> tables;
    SequenceNumber floor = 0;
  };
  [[nodiscard]] Part PartOf(std::uint32_t family, SequenceNumber since) const;

  [[nodiscard]] std::size_t mark_count() const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Kept {
    std::shared_ptr<const LogTable> table;
    SequenceNumber end = 0;
    std::size_t bytes = 0;
  };
  struct OfFamily {
    std::list<Kept> kept;  // newest first
    SequenceNumber floor = 0;
  };
  // Removes the kept memtable with the smallest `end`, and raises the floor of its family. This and Trim move memtables
  // to *dropped, to be freed without the lock. They take no memory.
  void DropOldest(std::list<Kept>* dropped) CAMBIUM_REQUIRES(mutex_);
  // Removes the memtables that no mark needs.
  void Trim(std::list<Kept>* dropped) CAMBIUM_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::multiset<SequenceNumber> marks_ CAMBIUM_GUARDED_BY(mutex_);
  std::unordered_map<std::uint32_t, OfFamily> families_ CAMBIUM_GUARDED_BY(mutex_);
  SequenceNumber lost_ CAMBIUM_GUARDED_BY(mutex_) = 0;  // the floor of all families: memory ran out
  std::size_t bytes_ CAMBIUM_GUARDED_BY(mutex_) = 0;
};

}  // namespace cambium
