// ScanAhead: the entries in front of an iterator, with their values on the way.
//
//   user ──▶ [current] [ready] [ready] [pending] [pending]  ◀── the cursor, behind the last of them
//
// A value that is in memory is copied, or asked for from the caches; the others are read together, so that a scan waits
// for the device once and not once per value. Nothing is fetched ahead for whoever asks for no values.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "memtable/entry_cursor.h"
#include "vlog/segment.h"
#include "vlog/value_reads.h"

namespace cambium {

// What is the same for all values of an iterator.
struct ScanSource {
  const SegmentTable* segments = nullptr;
  std::uint32_t family = 0;
  bool verify_checksums = true;
  const Comparator* order = nullptr;  // ValueQuery's
  ReadQueues* queues = nullptr;
  bool use_io_uring = true;
  const Meter* meter = nullptr;  // ValueQuery's
};

// One thread at a time.
class ScanAhead {
 public:
  // As many entries, and so many bytes of values, at most.
  static constexpr std::size_t kEntriesMax = 32;
  static constexpr std::size_t kBytesMax = 4u << 20;

  explicit ScanAhead(const ScanSource& source) : source_(source), reads_(source.queues, source.use_io_uring) {}

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  // Of the last kEntriesMax values none had to be waited for: to go on ahead costs a copy of each key, and brings nothing.
  [[nodiscard]] bool IsWarm() const { return warm_ >= kEntriesMax; }

  // The first entry. Requires !empty(); borrowed until it is popped.
  [[nodiscard]] Slice key() const { return front().key; }
  [[nodiscard]] Entry entry() const;
  // Its value, which waits for the device if it must.
  Status FetchValue(Slice* value);

  // Takes the cursor's entry, which is visible; the cursor may move then. False if there is no room. If memory runs out
  // nothing was taken. `is_missing`: its value was just looked for in memory, in vain.
  bool Push(const EntryCursor& cursor, bool is_missing = false);
  // Hands in the reads of what was pushed. If memory runs out, FetchValue does.
  void Submit() {
    is_last_new_ = false;
    reads_.Submit();
  }
  // ValueReads'.
  [[nodiscard]] std::uint64_t TakeJumps() { return reads_.TakeJumps(); }
  void Pop();
  // Forgets all entries. Waits for reads that are under way.
  void Clear();

 private:
  enum class State : unsigned char {
    kInline,    // in `inline_value`
    kPending,   // under way, or about to be
    kFetched,
  };
  struct Slot {
    std::string key;
    Entry entry;
    std::string inline_value;
    ValueReads::Item item;
    State state = State::kInline;
    std::size_t bytes = 0;
  };

  [[nodiscard]] const Slot& front() const { return *slots_[first_ % slots_.size()]; }
  [[nodiscard]] Slot& front() { return *slots_[first_ % slots_.size()]; }
  [[nodiscard]] bool ComesWithTheLast(const Entry& entry) const;
  void Begin(Slot* slot, bool is_missing);

  const ScanSource source_;
  std::vector<std::unique_ptr<Slot>> slots_;  // a ring
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  bool is_last_new_ = false;  // it was pushed after the last Submit
  std::size_t warm_ = 0;  // entries pushed since one that was not in memory
  ValueReads reads_;  // refers to slots, so it goes first
};

}  // namespace cambium
