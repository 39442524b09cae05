// IndexSegmentWriter: appends tree pages to index segments, files named NNNNNN.idx.
//
//   header   FileHeader (kIndex), zeros up to one page unit
//   pages    as they were closed, one behind the other: no gaps, no free list, nothing is ever written twice
//
// A segment is valid up to the length that the MANIFEST names, and its live units are counted there. It goes as a whole
// when no page of it is reached any more.
//
// A segment is continued by a later merge only if this opening of the database made it, every byte of it is committed,
// and it has one name: bytes behind a committed length are garbage of a merge that failed, and a second link is a
// checkpoint's. So small merges share a file, and what an earlier opening wrote is only read. OpenIndexSegment carries
// that permission from one merge to the next; whoever drops it seals the segment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/family_files.h"
#include "index/index_file.h"
#include "index/page_pool.h"
#include "index/tree_builder.h"
#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

struct IndexSegmentOptions {
  std::uint32_t page_size = 4096;
  std::uint64_t segment_bytes_max = 64u << 20;  // a page that alone is larger still gets a segment
  std::size_t write_bytes = 256u << 10;         // gathered in memory before they are written
  BeforeWrite before_write = nullptr;           // of each such piece
};

// A segment that may be continued: all `length` bytes of it are committed.
struct OpenIndexSegment {
  std::shared_ptr<const IndexFile> file;
  std::uint64_t length = 0;
};

// One merge's output. One thread. After an error every further call returns it.
class IndexSegmentWriter final : public PageSink {
 public:
  struct Segment {
    std::shared_ptr<const IndexFile> file;
    std::uint64_t length = 0;        // valid bytes, once Sync has succeeded
    std::uint64_t units_added = 0;   // by this writer, all pages
    [[nodiscard]] IndexSegmentInfo info(std::uint64_t live_units) const {
      return {file->number(), file->header().file_id, length, live_units};
    }
  };

  // `pool` may be null. `first`, if it has a file, is continued; if its file turns out to be longer than its length, or
  // to have a second name, a new one is made.
  IndexSegmentWriter(const IndexSegmentOptions& options, CreateIndexFile create, PagePool* pool,
                     OpenIndexSegment first = {});

  Result<Place> Reserve(unsigned units) override;
  Status Append(PagePointer page, Slice bytes) override;

  // Writes what is gathered, then syncs every file that was written to. To be called once, before the commit. A failed
  // sync is Fatal, unless a new file finds no space.
  Status Sync();

  [[nodiscard]] std::uint64_t bytes_appended() const { return bytes_appended_; }
  // In order of writing; those that got no page are not among them.
  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }

 private:
  Status EnsureRoom(unsigned units);
  Status Continue(const OpenIndexSegment& first);
  Status StartSegment();
  Status WriteGathered();
  Status Fail(Status status);

  const IndexSegmentOptions options_;
  const CreateIndexFile create_;
  PagePool* const pool_;
  OpenIndexSegment first_;          // until it has been tried
  std::uint64_t continued_number_ = 0;  // of the segment that an earlier merge began; 0: none
  std::vector<Segment> segments_;   // the last one is written to
  std::string gathered_;            // bytes that belong right behind written_ of the last segment
  std::uint64_t written_ = 0;
  std::uint64_t bytes_appended_ = 0;
  Status status_;
};

}  // namespace cambium
