// KeySet: which ids exist in the database, one bit each, so that every answer "not found" can be checked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace cambium::bench {

// Any thread may call any function except Reset. Threads that change the same id at the same time must not do
// different things; the workloads of a run either all put or all delete.
class KeySet {
 public:
  explicit KeySet(std::uint64_t n) : words_((n + 63) / 64), bits_(std::make_unique<Word[]>(words_)) { Reset(true); }
  // What was in `other` when it was copied.
  KeySet(const KeySet& other) : KeySet(other.words_ * 64) {
    known_ = other.known_;
    for (std::size_t i = 0; i < words_; ++i) bits_[i].store(other.bits_[i].load(std::memory_order_relaxed));
    count_.store(other.count());
  }
  KeySet& operator=(const KeySet&) = delete;

  // Nothing exists; or, if not `known`, nothing is known about what does: an existing database was opened.
  void Reset(bool known) {
    known_ = known;
    for (std::size_t i = 0; i < words_; ++i) bits_[i].store(0, std::memory_order_relaxed);
    count_.store(0, std::memory_order_relaxed);
  }

  void Insert(std::uint64_t id) {
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    Word& word = bits_[id / 64];
    if ((word.load(std::memory_order_relaxed) & bit) != 0) return;
    if ((word.fetch_or(bit, std::memory_order_relaxed) & bit) == 0) count_.fetch_add(1, std::memory_order_relaxed);
  }
  void Erase(std::uint64_t id) {
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    Word& word = bits_[id / 64];
    if ((word.load(std::memory_order_relaxed) & bit) == 0) return;
    if ((word.fetch_and(~bit, std::memory_order_relaxed) & bit) != 0) count_.fetch_sub(1, std::memory_order_relaxed);
  }

  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] bool Contains(std::uint64_t id) const {
    return (bits_[id / 64].load(std::memory_order_relaxed) >> (id % 64) & 1) != 0;
  }
  [[nodiscard]] std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  using Word = std::atomic<std::uint64_t>;

  std::size_t words_;
  std::unique_ptr<Word[]> bits_;
  std::atomic<std::uint64_t> count_{0};
  bool known_ = true;
};

}  // namespace cambium::bench
