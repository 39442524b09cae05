// Reading index pages past damage: those of a tree as far as its branches lead, and those of a file one after the
// other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "index/index_file.h"
#include "index/page_format.h"
#include "manifest/page_id.h"
#include "repair/found_files.h"
#include "util/result.h"

namespace cambium {

// Keys below a page, as far as its parents say: [from, to).
struct KeySpan {
  std::optional<std::string> from;
  std::optional<std::string> to;
};

// For pages that were found, and pages that were not. What the first gets lives for the call; an error ends the
// reading.
struct LeafVisitor {
  std::function<Status(const PageView& leaf)> on_leaf;
  // `level` of the page, what its parent says of it, and why it cannot be read.
  std::function<Status(const KeySpan& span, unsigned level, const ChildRef& ref, const Status& why)> on_lost;
};

// From the root, in the order of keys. Only on_lost's errors and on_leaf's are returned.
Status WalkTree(const TreeRoot& root, const FileSet& files, const LeafVisitor& visitor);

// Every leaf whose page lies below `end` bytes of the file, in the order in which they were written. `on_page`
// is called with every page that is whole; `on_hole` between, with the offset of bytes that are no page; both may be empty.
Status ScanLeaves(const IndexFile& file, std::uint64_t end, const std::function<Status(const PageView& leaf)>& on_leaf,
                  const std::function<void(std::uint64_t offset)>& on_hole,
                  const std::function<void(PageId page)>& on_page);

// The file's pages. If its header is damaged, with the one that `expected` says (page size, file id), and the epoch
// with which a page validates, of those up to `epoch_max`. Null, and *why, if there is no such header.
std::shared_ptr<const IndexFile> OpenPages(const FoundFile& found, const FileHeader& expected, std::uint64_t epoch_max,
                                           Status* why);

}  // namespace cambium
