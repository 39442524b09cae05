// IndexSegmentWriter: appends tree pages to index segments, files named NNNNNN.idx.
//
//   header   FileHeader (kIndex), zeros up to one page unit
//   pages    one after the other, as they were completed: no gaps, no free list, and no page is ever overwritten
//
// A segment is valid up to its length in the MANIFEST, which also counts its live units. It is deleted as a whole, once
// the tree uses none of its pages.
//
// A later sweep continues a segment only if three things hold: it was created since this Open, every byte of it is
// committed, and it has one name. Bytes after the committed length are garbage of a failed sweep; a second link belongs
// to a checkpoint. So small sweeps share a file, and files from before this Open are only read. An OpenIndexSegment is
// the permission for the next sweep to continue a segment; destroying it ends the appends to the segment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "index/family_files.h"
#include "index/file_syncs.h"
#include "index/index_file.h"
#include "index/page_pool.h"
#include "index/tree_builder.h"
#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

struct IndexSegmentOptions {
  std::uint32_t page_size = 4096;
  std::uint64_t segment_bytes_max = 64u << 20;  // a larger page gets a segment of its own
  std::size_t write_bytes = 256u << 10;         // gathered in memory before each write
  BeforeWrite before_write = nullptr;           // called before each write
};

// A segment that a later sweep may continue: all `length` bytes of it are committed.
struct OpenIndexSegment {
  std::shared_ptr<const IndexFile> file;
  std::uint64_t length = 0;
};

// Writes the pages of one sweep. One thread. After an error, every further call returns it.
class IndexSegmentWriter final : public PageSink {
 public:
  struct Segment {
    std::shared_ptr<const IndexFile> file;
    std::uint64_t length = 0;        // valid bytes, once the file is synced
    std::uint64_t units_added = 0;   // by this writer; all pages count
    [[nodiscard]] IndexSegmentInfo info(std::uint64_t live_units) const {
      return {file->number(), file->header().file_id, length, live_units};
    }
  };

  // `pool` may be null. If `first` has a file, the writer continues it; but if the file is longer than first.length, or
  // has a second link, it starts a new one.
  IndexSegmentWriter(const IndexSegmentOptions& options, CreateIndexFile create, PagePool* pool,
                     OpenIndexSegment first = {});

  Result<Place> Reserve(unsigned units) override;
  Status Append(PagePointer page, Slice bytes) override;

  // Writes the pages gathered so far. Adds to *syncs every file to which this writer added pages; these must be synced
  // before the commit. Call once.
  Status Finish(FileSyncs* syncs);
  // Finish, and the syncs. A failed sync is Fatal, unless a new file finds no space.
  Status Sync();

  [[nodiscard]] std::uint64_t bytes_appended() const { return bytes_appended_; }
  // In the order of writing, without those that got no page.
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
  OpenIndexSegment first_;          // until the writer has tried to continue it
  std::uint64_t continued_number_ = 0;  // number of the continued segment; 0: none
  std::vector<Segment> segments_;   // the last one is being written
  std::string gathered_;            // bytes to write at written_ in the last segment
  std::uint64_t written_ = 0;
  std::uint64_t bytes_appended_ = 0;
  Status status_;
};

}  // namespace cambium
