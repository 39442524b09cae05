// FlushInput: a frozen memtable, as its flush reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "index/index.h"
#include "memtable/range_deletes.h"
#include "state/view.h"

namespace cambium {

// One thread.
class FlushInput {
 public:
  // `max_output_bytes`: as in MemtableShape.
  FlushInput(FrozenTable table, std::uint64_t max_output_bytes, HasVersions has)
      : table_(std::move(table)), ranges_(table_.table->RangesAt(kMaxSequenceNumber)) {
    StartOver(has);
    cursor_->SeekToLast();
    if (cursor_->Valid()) largest_ = cursor_->key().ToString();
    cursor_->SeekToFirst();
    if (cursor_->Valid()) smallest_ = cursor_->key().ToString();
    shape_.key_count = cursor_->Valid() ? table_.table->key_count() : 0;  // its range deletes may have left no key
    shape_.ranges = ranges_.get();
    shape_.smallest_key = smallest_;
    shape_.largest_key = largest_;
    shape_.max_output_bytes = max_output_bytes;
  }
  FlushInput(const FlushInput&) = delete;
  FlushInput& operator=(const FlushInput&) = delete;

  // Makes a new cursor, at the first key.
  void StartOver(HasVersions has) {
    has_ = has;
    cursor_ = table_.table->NewCursor(kMaxSequenceNumber, 0, has);
    cursor_->SeekToFirst();
  }

  [[nodiscard]] const FrozenTable& table() const { return table_; }
  // Whether the flush writes versions of inline values.
  [[nodiscard]] HasVersions has_versions() const { return has_; }
  // At the first key, until a caller moves it.
  [[nodiscard]] EntryCursor* cursor() { return cursor_.get(); }
  // Null: the memtable has no range deletes.
  [[nodiscard]] const std::shared_ptr<const RangeDeletes>& ranges() const { return ranges_; }
  // The index uses this shape to choose between a run and the tree. Valid as long as this object.
  [[nodiscard]] const MemtableShape& shape() const { return shape_; }

 private:
  const FrozenTable table_;
  HasVersions has_ = HasVersions::kNo;
  std::unique_ptr<EntryCursor> cursor_;
  const std::shared_ptr<const RangeDeletes> ranges_;
  std::string smallest_;
  std::string largest_;
  MemtableShape shape_;  // refers to the two keys
};

}  // namespace cambium
