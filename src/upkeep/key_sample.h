// KeySample: keeps an even sample of the keys that a cursor passes. Looking them up in older layers shows how much a
// flush hides there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "index/index.h"
#include "memtable/entry_cursor.h"

namespace cambium {

// Passes every call on to `cursor`, which must outlive it. Samples only going forward.
class KeySample final : public EntryCursor {
 public:
  // `key_count`: the number of keys of the cursor. About kKeys of them are kept.
  KeySample(EntryCursor* cursor, std::uint64_t key_count)
      : cursor_(cursor), every_(std::max<std::uint64_t>(1, key_count / kKeys)) {
    Look();
  }
  void SeekToFirst() override { cursor_->SeekToFirst(); }
  void SeekToLast() override { cursor_->SeekToLast(); }
  void Seek(Slice target) override { cursor_->Seek(target); }
  void SeekForPrev(Slice target) override { cursor_->SeekForPrev(target); }
  void Next() override {
    cursor_->Next();
    Look();
  }
  void Prev() override { cursor_->Prev(); }
  [[nodiscard]] bool Valid() const override { return cursor_->Valid(); }
  [[nodiscard]] Slice key() const override { return cursor_->key(); }
  [[nodiscard]] Entry entry() const override { return cursor_->entry(); }
  [[nodiscard]] Status status() const override { return cursor_->status(); }

  // Estimates, from the sample, for how many of the passed keys the layers have an entry that is no tombstone.
  struct Replaced {
    double share = 0;         // of the passed keys
    std::uint64_t keys = 0;
    std::uint64_t bytes = 0;  // of their records in the log
  };
  [[nodiscard]] Replaced ReplacedIn(const Layers& layers) const;
  [[nodiscard]] std::uint64_t passed() const { return passed_; }

 private:
  static constexpr std::uint64_t kKeys = 256;

  void Look() {
    if (!cursor_->Valid()) return;
    if (passed_++ % every_ == 0) keys_.push_back(cursor_->key().ToString());
  }

  EntryCursor* const cursor_;
  const std::uint64_t every_;
  std::uint64_t passed_ = 0;
  std::vector<std::string> keys_;  // in order
};

}  // namespace cambium
