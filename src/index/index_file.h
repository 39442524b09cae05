// IndexFile: an open file of index pages, a run or an index segment. FileSet: the index files that a view reads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "index/page_format.h"
#include "index/page_table.h"
#include "io/file_header.h"
#include "util/result.h"
#include "vlog/segment_map.h"

namespace cambium {

class PagePool;

// Immutable, and shared by the views that read the file. When the last owner releases it, the file is closed and its
// frames return to the pool; pages still pinned stay readable. The pool must outlive it. Any thread.
class IndexFile {
 public:
  // `header` is as read from or just written to the file. If `pool` is null, pages can only be read directly. If the
  // pool maps files, the file is mapped at the first use of a page that the page cache has: all of it, and up to
  // `expected_size` if it still grows.
  IndexFile(std::shared_ptr<File> file, const FileHeader& header, PagePool* pool, std::uint64_t expected_size = 0);
  ~IndexFile();
  IndexFile(const IndexFile&) = delete;
  IndexFile& operator=(const IndexFile&) = delete;

  // Reads the header and checks it: kind (kRun or kIndex) and number must be the expected ones, and the page size
  // legal.
  static Result<std::shared_ptr<const IndexFile>> Open(std::shared_ptr<File> file, FileKind kind, std::uint64_t number,
                                                       PagePool* pool);

  // Reads the page, as stored, into `out`, which must have room for PageBytes(id), and verifies its checksum and id
  // (see VerifyPage). Corruption also if the page lies in the file header or beyond the end of the file.
  Status ReadPage(PageId id, char* out) const;
  // As ReadPage, and expands a compressed page, so that *out can be parsed.
  Status ReadAndExpandPage(PageId id, std::vector<char>* out) const;

  // Returns the mapping of the file, from its first byte, if it has the page and the page cache is believed to hold it.
  // Null: read the page.
  [[nodiscard]] const MappedRegion* MapOf(PageId id) const {
    return map_ == nullptr || UnitOffsetOf(id) == 0 ? nullptr : map_->Find(OffsetOf(id), PageBytes(id));
  }

  // Prefetches the first bytes of the page from the mapping, if the file is mapped. Never faults.
  void PrefetchMapped(PageId id) const {
    if (map_ != nullptr) map_->Prefetch(OffsetOf(id), kPrefetchedBytes);
  }

  // The stored size.
  [[nodiscard]] std::size_t PageBytes(PageId id) const { return std::size_t{UnitsOf(id)} * page_size_; }
  [[nodiscard]] std::uint64_t OffsetOf(PageId id) const { return UnitOffsetOf(id) * page_size_; }

  [[nodiscard]] std::uint64_t number() const { return header_.number; }
  [[nodiscard]] const FileHeader& header() const { return header_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] std::uint32_t page_size() const { return page_size_; }
  [[nodiscard]] const File& file() const { return *file_; }
  [[nodiscard]] const std::shared_ptr<File>& shared_file() const { return file_; }
  [[nodiscard]] const std::string& path() const { return file_->path(); }

 private:
  friend class PagePool;
  static constexpr std::size_t kPrefetchedBytes = 1024;  // after them the processor detects the copy

  const std::shared_ptr<File> file_;
  const FileHeader header_;
  const std::uint64_t seed_;
  const std::uint32_t page_size_;
  PagePool* const pool_;
  mutable PageTable table_;  // page -> frame; owned by the file, written by the pool
  // Null if files are not mapped. It ends with the last page that was read: a page that was read once is written, and
  // no page is written again. The pool extends it, under its mutex.
  const std::unique_ptr<SegmentMap> map_;
};

// Immutable and cheap to copy: a set with one file added or removed shares all others. Any thread.
class FileSet {
 public:
  FileSet() = default;
  explicit FileSet(std::shared_ptr<const IndexFile> only) { *this = With(std::move(only)); }

  // Null if the set has no file of this number.
  [[nodiscard]] const IndexFile* Find(std::uint64_t number) const;
  // The file that holds the page; Corruption if the set does not have it.
  Result<const IndexFile*> FileOf(PageId id) const;

  [[nodiscard]] FileSet With(std::shared_ptr<const IndexFile> file) const;  // replaces a file of the same number
  [[nodiscard]] FileSet Without(std::uint64_t number) const;
  [[nodiscard]] std::size_t size() const { return files_ == nullptr ? 0 : files_->size(); }
  // Ordered by number.
  [[nodiscard]] const std::vector<std::shared_ptr<const IndexFile>>& files() const;

 private:
  using Files = std::vector<std::shared_ptr<const IndexFile>>;
  std::shared_ptr<const Files> files_;
};

}  // namespace cambium
