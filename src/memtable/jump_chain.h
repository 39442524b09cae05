// Jumps along a chain of links from the newest to the oldest, so that any link is O(log n) steps from the newest.
//
//   number   1 ◀─ 2 ◀─ 3 ◀─ 4 ◀─ 5 ◀─ 6 ◀─ 7 ◀─ 8       each link leads to the one before it, and jumps further back:
//   jump     -    1    -    3    4    3    -    7       two jumps of equal length in a row become one for the next link
//
// These are the skew-binary lists of Myers ("An applicative random-access stack", 1983). Each link has
// two pointers and never changes. If a jump would lead past the result, a search goes to the next link instead. It takes
// at most 3 log2(n) steps.
#pragma once

namespace cambium {

// Returns where the link after `newest` jumps to. `newest` is no link if the chain is empty; a link that jumps to no
// link jumps to the start of the chain. number_of counts from 1.
template <typename Link, typename NumberOf, typename JumpOf>
[[nodiscard]] Link JumpOfNext(Link newest, NumberOf number_of, JumpOf jump_of) {
  if (!newest) return newest;
  const Link landing = jump_of(newest);
  if (!landing) return newest;
  const Link beyond = jump_of(landing);
  const auto second = number_of(landing) - (beyond ? number_of(beyond) : 0);
  return number_of(newest) - number_of(landing) == second ? beyond : newest;
}

}  // namespace cambium
