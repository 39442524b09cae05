// PageSink: takes new pages and writes them to a file: a run, or the index segments of a tree.
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
  // Reserves the next `units` of the file. The place must be known before the page is written, because it is part of
  // the page's checksum, and the parent stores place and checksum. Each Reserve is followed by its Append before the
  // next Reserve.
  virtual Result<Place> Reserve(unsigned units) = 0;
  // `bytes` is units * page size long. Borrowed for the call.
  virtual Status Append(PagePointer page, Slice bytes) = 0;
};

}  // namespace cambium
