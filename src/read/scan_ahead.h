// ScanAhead: the entries ahead of an iterator, whose values are being read.
//
//   user ──▶ [current] [ready] [ready] [pending] [pending]  ◀── the cursor, after the last of them
//
// Values that are inline or cached are copied. The others are read together, so that a scan waits for the device once,
// not once per value. For an iterator that asks for no values, nothing is read ahead.
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

// The part of a value query that all values of an iterator share.
struct ScanSource {
  const SegmentTable* segments = nullptr;
  std::uint32_t family = 0;
  bool verify_checksums = true;
  const Comparator* order = nullptr;  // see ValueQuery
  ReadQueues* queues = nullptr;
  bool use_io_uring = true;
  const Meter* meter = nullptr;  // see ValueQuery
};

// One thread at a time.
class ScanAhead {
 public:
  // The most entries, and the most bytes of values, that are held.
  static constexpr std::size_t kEntriesMax = 32;
  static constexpr std::size_t kBytesMax = 4u << 20;

  explicit ScanAhead(const ScanSource& source) : source_(source), reads_(source.queues, source.use_io_uring) {}

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t size() const { return count_; }
  // True if none of the last kEntriesMax values had to be read from the device: reading ahead would cost a copy of each
  // key, and gain nothing.
  [[nodiscard]] bool IsWarm() const { return warm_ >= kEntriesMax; }

  // Return the first entry, which is valid until it is popped. Require !empty().
  [[nodiscard]] Slice key() const { return front().key; }
  [[nodiscard]] Entry entry() const;
  [[nodiscard]] EntryKind kind() const { return front().entry.kind; }
  // Returns the value of the first entry. May wait for the device.
  Status FetchValue(Slice* value);

  // Copies the cursor's entry, which is visible; then the cursor may move. False if there is no room. If memory runs
  // out, nothing is taken. `is_missing`: its value was just looked up in the caches and not found.
  bool Push(const EntryCursor& cursor, bool is_missing = false);
  // Submits the reads of the pushed entries. If memory runs out, FetchValue submits them.
  void Submit() {
    is_last_new_ = false;
    reads_.Submit();
  }
  // See ValueReads::TakeJumpCount.
  [[nodiscard]] std::uint64_t TakeJumpCount() { return reads_.TakeJumpCount(); }
  void Pop();
  // Forgets all entries. Waits for reads that are under way.
  void Clear();

 private:
  enum class State : unsigned char {
    kInline,    // in `inline_value`
    kPending,   // being read, or to be submitted
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
  [[nodiscard]] bool IsReadWithTheLast(const Entry& entry) const;
  void Begin(Slot* slot, bool is_missing);

  const ScanSource source_;
  std::vector<std::unique_ptr<Slot>> slots_;  // a ring
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
  bool is_last_new_ = false;  // the last entry was pushed after the last Submit
  std::size_t warm_ = 0;      // entries pushed since one that was not in memory
  ValueReads reads_;          // refers to the slots, so it is destroyed before them
};

}  // namespace cambium
