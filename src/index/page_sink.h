// PageSink: where new pages go, in a run or in the segments of a tree.
#pragma once

#include "index/page_format.h"
#include "util/result.h"

namespace cambium {

class PageSink {
 public:
  struct Place {
    PageId id = PageId::kNone;
    std::uint64_t file_seed = 0;
  };
  virtual ~PageSink() = default;
  // The next `units` of the file. The place comes first, because it enters the page's checksum, and its parent needs
  // both. Every Reserve is followed by its Append before the next Reserve.
  virtual Result<Place> Reserve(unsigned units) = 0;
  // `bytes` are units * page size, and borrowed for the call.
  virtual Status Append(PagePointer page, Slice bytes) = 0;
};

}  // namespace cambium
