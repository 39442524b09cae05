// EmptyIterator: an iterator without entries. Its status is the error that caused it, or OK.
#pragma once

#include <cstdint>
#include <utility>

#include "cambium/iterator.h"

namespace cambium {

class EmptyIterator final : public Iterator {
 public:
  explicit EmptyIterator(Status status) : status_(std::move(status)) {}
  [[nodiscard]] bool Valid() const override { return false; }
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(Slice) override {}
  void SeekForPrev(Slice) override {}
  void Next() override {}
  void Prev() override {}
  [[nodiscard]] Slice key() const override { return {}; }
  [[nodiscard]] Slice value() const override { return {}; }
  bool PrepareValue() override { return false; }
  [[nodiscard]] std::uint64_t ValueSize() const override { return 0; }
  [[nodiscard]] Status status() const override { return status_; }

 private:
  const Status status_;
};

}  // namespace cambium
