// WalkPages visits the pages of a run or an index segment in the order of the file, also pages that no tree reaches,
// and continues after damage.
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
  const PageView* view = nullptr;  // expanded; valid during the call
};

struct PageWalkCallbacks {
  // An error of a callback ends the walk and is returned.
  std::function<Status(const WalkedPage&)> on_page;
  std::function<Status(const DamagedStretch&)> on_damage;
};

// Walks the pages from the second page unit to `end`; the first unit is the header. Memory: one page.
Status WalkPages(const IndexFile& file, std::uint64_t end, const PageWalkCallbacks& callbacks);

}  // namespace cambium
