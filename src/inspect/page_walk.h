// WalkPages: the pages of a run or of an index segment as they lie in the file, whether a tree reaches them or not, and
// on behind damage.
#pragma once

#include <cstdint>
#include <functional>

#include "index/index_file.h"
#include "inspect/segment_walk.h"
#include "util/result.h"

namespace cambium {

struct WalkedPage {
  std::uint64_t offset = 0;
  std::uint64_t stored_bytes = 0;
  bool is_compressed = false;
  const PageView* view = nullptr;  // expanded; lives for the call
};

struct PageWalkCallbacks {
  // An error of either ends the walk and is returned.
  std::function<Status(const WalkedPage&)> on_page;
  std::function<Status(const DamagedStretch&)> on_damage;
};

// Pages in [one unit, end) of the file. Memory: one page.
Status WalkPages(const IndexFile& file, std::uint64_t end, const PageWalkCallbacks& callbacks);

}  // namespace cambium
