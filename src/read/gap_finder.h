// GapFinder: collects, during one move of an iterator, the tombstones that follow each other (state/gaps.h). If the
// iterator comes to a known gap, Pass tells where the gap ends. At the end of the move, End adds a gap of all that the
// move has passed.
#pragma once

#include <cstddef>
#include <string>

#include "state/family.h"
#include "state/write_head.h"

namespace cambium {

class GapFinder {
 public:
  // For an iterator that reads at `sequence`. Both references outlive this.
  GapFinder(WriteHead& head, const Family& family, SequenceNumber sequence, bool forward)
      : head_(head), family_(family), sequence_(sequence), forward_(forward) {}

  // Called at each tombstone, before the iterator moves on. True: it may go on at *to instead, where a gap ends.
  bool Pass(Slice key, std::string* to);
  // Called at the end of the move. `stop`: the key of the entry at which it has ended; null: there is none.
  void End(const Slice* stop);

 private:
  WriteHead& head_;
  const Family& family_;
  const SequenceNumber sequence_;
  const bool forward_;
  std::size_t passed_ = 0;
  std::string first_;  // no entry was visible from this tombstone on, the fourth of the move
  std::string last_;   // nor up to this one; the watch had begun by then
  Gaps::Watch watch_;
  bool may_watch_ = true;
};

}  // namespace cambium
