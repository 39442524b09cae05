// KeySet: which ids exist in the database, one bit each, so that every answer "not found" can be checked. It also
// counts the bytes of the values. For each id it keeps four bytes, to recognise the version of the value that was
// written last.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "data/mix.h"

namespace cambium::bench {

// Any thread may call any function except Reset and those that say otherwise. Threads that change the same id at the
// same time must do the same to it: the workloads of a run either all put or all delete. If values differ in size and
// two threads put the same id at the same time, either size may be the one that is counted.
//
// The bits lie in memory that is shared with processes forked later: each process sees what the others insert.
class KeySet {
  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free, "shared by processes");
  using Size = std::atomic<std::uint32_t>;

 public:
  // Room for ids [0, n). `sized`: values differ in size.
  explicit KeySet(std::uint64_t n, bool sized = false) : words_((n + 63) / 64), sizes_count_(sized ? words_ * 64 : 0) {
    void* memory = mmap(nullptr, MappedBytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    head_ = new (memory) Head;
    bits_ = new (head_ + 1) Word[words_]();
    sizes_ = new (bits_ + words_) Size[sizes_count_]();
    marks_ = reinterpret_cast<std::uint32_t*>(sizes_ + sizes_count_);  // zeros, untouched so far
  }
  // Returns the bytes that a KeySet of `n` ids maps. Most of them are touched only when ids are inserted.
  static std::uint64_t BytesFor(std::uint64_t n, bool sized) {
    const double words = static_cast<double>(n) / 64 + 1;
    const double bytes = words * (sizeof(Word) + 64 * ((sized ? sizeof(Size) : 0) + sizeof(std::uint32_t)));
    return bytes < 1.8e19 ? static_cast<std::uint64_t>(bytes) : ~std::uint64_t{0};
  }
  // A copy has the ids that `other` has now, without sizes and versions.
  KeySet(const KeySet& other) : KeySet(other.words_ * 64) {
    head_->known.store(other.known());
    for (std::size_t i = 0; i < words_; ++i) bits_[i].store(other.bits_[i].load(std::memory_order_relaxed));
    head_->count.store(other.count());
  }
  KeySet& operator=(const KeySet&) = delete;
  ~KeySet() { munmap(head_, MappedBytes()); }

  // SetLast(), ForgetLast() and ForgetAllLast() are for one thread, while no other writes. SetLast() notes which
  // version of the value of `id` was written last.
  void SetLast(std::uint64_t id, std::uint64_t version) {
    marks_[id] = MarkOf(version);
    head_->marks_end = std::max(head_->marks_end, id + 1);
  }
  // The last version of `id`, or of all ids, is unknown.
  void ForgetLast(std::uint64_t id) { marks_[id] = 0; }
  void ForgetAllLast() {
    std::fill(marks_, marks_ + head_->marks_end, 0);
    head_->marks_end = 0;
  }
  // Returns false if another version is known to have been written later. Any thread, while SetLast() is not called.
  [[nodiscard]] bool MayBeLast(std::uint64_t id, std::uint64_t version) const {
    return marks_[id] == 0 || marks_[id] == MarkOf(version);
  }

  // Removes all ids. If not `known`, an existing database was opened, and nothing is known about its keys.
  void Reset(bool known) {
    head_->known.store(known, std::memory_order_relaxed);
    for (std::size_t i = 0; i < words_; ++i) bits_[i].store(0, std::memory_order_relaxed);
    for (std::size_t i = 0; i < sizes_count_; ++i) sizes_[i].store(0, std::memory_order_relaxed);
    head_->count.store(0, std::memory_order_relaxed);
    head_->value_bytes.store(0, std::memory_order_relaxed);
    ForgetAllLast();
  }

  // Requires id < n, as all functions do, and a value of less than 4 GiB.
  void Insert(std::uint64_t id, std::size_t value_size = 0) {
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    Word& word = bits_[id / 64];
    if (sizes_count_ > 0) SetSize(id, value_size);
    if ((word.load(std::memory_order_relaxed) & bit) != 0) return;
    if ((word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0) Count(1);
  }
  void Erase(std::uint64_t id) {
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    Word& word = bits_[id / 64];
    if (sizes_count_ > 0) SetSize(id, 0);
    if ((word.load(std::memory_order_relaxed) & bit) == 0) return;
    if ((word.fetch_and(~bit, std::memory_order_relaxed) & bit) != 0) Count(-1);
  }

  // New ids, which no key had before, begin at `id`. TakeNew() returns the next of them.
  void StartNewAt(std::uint64_t id) { head_->next.store(id, std::memory_order_relaxed); }
  std::uint64_t TakeNew() { return head_->next.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t next() const { return head_->next.load(std::memory_order_relaxed); }

  [[nodiscard]] bool known() const { return head_->known.load(std::memory_order_relaxed); }
  [[nodiscard]] bool Contains(std::uint64_t id) const {
    return (bits_[id / 64].load(std::memory_order_relaxed) >> (id % 64) & 1) != 0;
  }
  // Returns whether an id of [from, end) exists. Looks at the first kLookAhead words of bits only.
  [[nodiscard]] bool HasAnyIn(std::uint64_t from, std::uint64_t end) const {
    if (from >= end) return false;
    const std::uint64_t last = std::min((end - 1) / 64, from / 64 + kLookAhead - 1);
    for (std::uint64_t i = from / 64; i <= last; ++i) {
      std::uint64_t word = bits_[i].load(std::memory_order_relaxed);
      if (i == from / 64) word &= ~std::uint64_t{0} << (from % 64);
      if (i == (end - 1) / 64) word &= ~std::uint64_t{0} >> (63 - (end - 1) % 64);
      if (word != 0) return true;
    }
    return false;
  }
  [[nodiscard]] std::uint64_t count() const { return head_->count.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t capacity() const { return words_ * 64; }
  // The bytes of all values if they differ in size, else 0.
  [[nodiscard]] std::uint64_t value_bytes() const { return head_->value_bytes.load(std::memory_order_relaxed); }

 private:
  struct Head {
    std::atomic<std::uint64_t> count{0};
    std::atomic<std::uint64_t> value_bytes{0};
    std::atomic<std::uint64_t> next{0};
    std::atomic<bool> known{true};
    std::uint64_t marks_end = 0;  // all marks from here on are 0
  };
  static constexpr std::uint64_t kLookAhead = 64;  // bounds the cost of a walk over a large gap

  // Never 0, which means that the last version is unknown.
  static std::uint32_t MarkOf(std::uint64_t version) { return static_cast<std::uint32_t>(Mix(version)) | 1; }

  void Count(int more) { head_->count.fetch_add(static_cast<std::uint64_t>(more), std::memory_order_relaxed); }
  void SetSize(std::uint64_t id, std::size_t size) {
    const std::uint32_t old = sizes_[id].exchange(static_cast<std::uint32_t>(size), std::memory_order_relaxed);
    head_->value_bytes.fetch_add(size - old, std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t MappedBytes() const {
    return sizeof(Head) + words_ * sizeof(Word) + sizes_count_ * sizeof(Size) + words_ * 64 * sizeof(*marks_);
  }

  std::size_t words_;
  std::size_t sizes_count_;
  Head* head_;
  Word* bits_;            // after the head
  Size* sizes_;           // after the bits
  std::uint32_t* marks_;  // after the sizes
};

}  // namespace cambium::bench
