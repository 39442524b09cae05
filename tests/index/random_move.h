// Random moves of a merging cursor, for tests that know which keys it shows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "index/merge_cursor.h"
#include "testing/key_less.h"
#include "util/prng.h"

namespace cambium::testing {

// Makes one move, or a seek of `target`. `position` is where the cursor stands in `keys`, the sorted list of what it
// shows; it is -1 or their number if the cursor is not valid. Sets it to the place where the cursor must be now.
inline void MoveAtRandom(MergeCursor* merge, const std::vector<std::string>& keys, const Comparator* order,
                         const std::string& target, Prng* prng, std::ptrdiff_t* position) {
  const bool valid = *position >= 0 && *position < std::ssize(keys);
  const auto lower = std::lower_bound(keys.begin(), keys.end(), target, KeyLess{order});
  const bool has_target = lower != keys.end() && order->Compare(*lower, target) == 0;
  switch (prng->Uniform(valid ? 16 : 4)) {
    case 0:
      merge->SeekToFirst();
      *position = 0;
      break;
    case 1:
      merge->SeekToLast();
      *position = std::ssize(keys) - 1;
      break;
    case 2:
      merge->Seek(target);
      *position = lower - keys.begin();
      break;
    case 3:
      merge->SeekForPrev(target);
      *position = lower - keys.begin() - (has_target ? 0 : 1);
      break;
    case 4:  // seeks the merge's own key, whose bytes belong to a child that moves
      prng->OneIn(2) ? merge->Seek(merge->key()) : merge->SeekForPrev(merge->key());
      break;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
      merge->Prev();
      --*position;
      break;
    default:
      merge->Next();
      ++*position;
  }
}

}  // namespace cambium::testing
