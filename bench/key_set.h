// KeySet: which ids exist in the database, one bit each, so that every answer "not found" can be checked.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace cambium::bench {

// Any thread may call any function except Reset. Threads that change the same id at the same time must not do
// different things; the workloads of a run either all put or all delete.
//
// The bits are in memory that is shared with processes forked later: what one of them inserts the others see.
class KeySet {
 public:
  explicit KeySet(std::uint64_t n) : words_((n + 63) / 64) {
    void* memory = mmap(nullptr, MappedBytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    head_ = new (memory) Head;
    bits_ = new (head_ + 1) Word[words_]();
  }
  // What was in `other` when it was copied.
  KeySet(const KeySet& other) : KeySet(other.words_ * 64) {
    head_->known.store(other.known());
    for (std::size_t i = 0; i < words_; ++i) bits_[i].store(other.bits_[i].load(std::memory_order_relaxed));
    head_->count.store(other.count());
  }
  KeySet& operator=(const KeySet&) = delete;
  ~KeySet() { munmap(head_, MappedBytes()); }

  // Nothing exists; or, if not `known`, nothing is known about what does: an existing database was opened.
  void Reset(bool known) {
    head_->known.store(known, std::memory_order_relaxed);
    for (std::size_t i = 0; i < words_; ++i) bits_[i].store(0, std::memory_order_relaxed);
    head_->count.store(0, std::memory_order_relaxed);
  }

  void Insert(std::uint64_t id) {
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    Word& word = bits_[id / 64];
    if ((word.load(std::memory_order_relaxed) & bit) != 0) return;
    if ((word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0) Count(1);
  }
  void Erase(std::uint64_t id) {
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    Word& word = bits_[id / 64];
    if ((word.load(std::memory_order_relaxed) & bit) == 0) return;
    if ((word.fetch_and(~bit, std::memory_order_relaxed) & bit) != 0) Count(-1);
  }

  [[nodiscard]] bool known() const { return head_->known.load(std::memory_order_relaxed); }
  [[nodiscard]] bool Contains(std::uint64_t id) const {
    return (bits_[id / 64].load(std::memory_order_relaxed) >> (id % 64) & 1) != 0;
  }
  [[nodiscard]] std::uint64_t count() const { return head_->count.load(std::memory_order_relaxed); }

 private:
  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free, "shared by processes");
  struct Head {
    std::atomic<std::uint64_t> count{0};
    std::atomic<bool> known{true};
  };

  void Count(int more) { head_->count.fetch_add(static_cast<std::uint64_t>(more), std::memory_order_relaxed); }
  [[nodiscard]] std::size_t MappedBytes() const { return sizeof(Head) + words_ * sizeof(Word); }

  std::size_t words_;
  Head* head_;
  Word* bits_;  // behind the head
};

}  // namespace cambium::bench
