// StillCursor: an EntryCursor that is always valid and never moves, as a base for test cursors.
#pragma once

#include "memtable/entry_cursor.h"

namespace cambium::testing {

class StillCursor : public EntryCursor {
 public:
  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(Slice) override {}
  void SeekForPrev(Slice) override {}
  void Next() override {}
  void Prev() override {}
  [[nodiscard]] bool Valid() const override { return true; }
  [[nodiscard]] Status status() const override { return Status::OK(); }
};

}  // namespace cambium::testing
