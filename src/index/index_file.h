// IndexFile: an open file of index pages, a run or an index segment. FileSet: those that a view can see.
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

namespace cambium {

class PagePool;

// Immutable, shared by the views that see the file; the last one to let go closes it and returns its frames to the
// pool. Pages that are still pinned then stay readable. The pool must outlive it. Any thread.
class IndexFile {
 public:
  // `header` as read from the file, or as just written to it. `pool` may be null: then pages are only read directly.
  IndexFile(std::shared_ptr<File> file, const FileHeader& header, PagePool* pool);
  ~IndexFile();
  IndexFile(const IndexFile&) = delete;
  IndexFile& operator=(const IndexFile&) = delete;

  // Reads the header, and compares kind (kRun or kIndex) and number with what the caller expects, and the page size
  // with what is legal.
  static Result<std::shared_ptr<const IndexFile>> Open(std::shared_ptr<File> file, FileKind kind, std::uint64_t number,
                                                       PagePool* pool);

  // Reads the page as it is stored into `out`, which has room for PageBytes(id), and verifies checksum and id; see
  // VerifyPage. Corruption also if the page lies beyond the end of the file or in its header.
  Status ReadPage(PageId id, char* out) const;
  // The same, and expands it if it is compressed: what is in *out can be parsed.
  Status ReadAndExpandPage(PageId id, std::vector<char>* out) const;

  // As stored.
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

  const std::shared_ptr<File> file_;
  const FileHeader header_;
  const std::uint64_t seed_;
  const std::uint32_t page_size_;
  PagePool* const pool_;
  mutable PageTable table_;  // page -> frame; the pool's
};

// Immutable, cheap to copy: a copy with one file more or less shares all others. Any thread.
class FileSet {
 public:
  FileSet() = default;
  explicit FileSet(std::shared_ptr<const IndexFile> only) { *this = With(std::move(only)); }

  // Null if there is none of this number.
  [[nodiscard]] const IndexFile* Find(std::uint64_t number) const;
  // The file a page lies in; Corruption if the page points to a file that this set does not have.
  Result<const IndexFile*> FileOf(PageId id) const;

  [[nodiscard]] FileSet With(std::shared_ptr<const IndexFile> file) const;  // replaces one of the same number
  [[nodiscard]] FileSet Without(std::uint64_t number) const;
  [[nodiscard]] std::size_t size() const { return files_ == nullptr ? 0 : files_->size(); }
  // In ascending order of numbers.
  [[nodiscard]] const std::vector<std::shared_ptr<const IndexFile>>& files() const;

 private:
  using Files = std::vector<std::shared_ptr<const IndexFile>>;
  std::shared_ptr<const Files> files_;
};

}  // namespace cambium
