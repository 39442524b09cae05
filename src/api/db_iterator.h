// DbIterator: the user's cursor. Merges memory tables and layers of one view, hides tombstones and what lies outside the
// bounds, and fetches a value only when somebody asks for it.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>

#include "api/view.h"
#include "cambium/iterator.h"
#include "cambium/options.h"

namespace cambium {

class DbImpl;

class DbIterator final : public Iterator {
 public:
  // `db` must outlive the iterator. The bounds are copied.
  // The view has the family.
  DbIterator(const DbImpl* db, std::shared_ptr<const Family> family, const ReadOptions& options,
             std::shared_ptr<const View> view, SequenceNumber sequence);
  ~DbIterator() override;
  // As DbImpl's: in a forked child it stays.
  static void operator delete(DbIterator* it, std::destroying_delete_t);

  [[nodiscard]] bool Valid() const override { return valid_ && status_.ok(); }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(Slice target) override;
  void SeekForPrev(Slice target) override;
  void Next() override;
  void Prev() override;
  [[nodiscard]] Slice key() const override;
  [[nodiscard]] Slice value() const override;
  bool PrepareValue() override;
  [[nodiscard]] std::uint64_t ValueSize() const override;
  [[nodiscard]] Status status() const override { return status_; }

 private:
  enum class Direction : bool { kForward, kBackward };
  // Moves from where the cursor is to the nearest entry that is visible, in the direction.
  void Settle(Direction direction);
  void Reset();
  bool FetchValue() const;
  [[nodiscard]] bool IsBelowLower(Slice key) const;
  [[nodiscard]] bool IsAtOrAboveUpper(Slice key) const;

  const DbImpl* const db_;
  const std::shared_ptr<const Family> family_;
  const ReadOptions options_;
  const std::shared_ptr<const View> view_;
  std::optional<std::string> lower_;
  std::optional<std::string> upper_;
  std::unique_ptr<EntryCursor> cursor_;
  bool valid_ = false;
  // Fetching is part of looking, so value() may do it; one thread at a time uses an iterator.
  mutable Status status_;
  mutable bool fetched_ = false;
  mutable std::string value_;
};

}  // namespace cambium
