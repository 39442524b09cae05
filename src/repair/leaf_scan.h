// Functions that read index pages past damage: the pages of a tree that branches still reach, and all pages of a file.
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

// The key range below a page by its parents: [from, to).
struct KeySpan {
  std::optional<std::string> from;
  std::optional<std::string> to;
};

// Receives leaves, and pages that cannot be read. The leaf is valid during the call. An error ends the walk.
struct LeafVisitor {
  std::function<Status(const PageView& leaf)> on_leaf;
  // `level` is the level of the page, `ref` its parent's reference, and `why` says why it cannot be read.
  std::function<Status(const KeySpan& span, unsigned level, const ChildRef& ref, const Status& why)> on_lost;
};

// Walks a tree from its root in key order. Returns only errors of the visitor.
Status WalkTree(const TreeRoot& root, const FileSet& files, const LeafVisitor& visitor);

// Calls `on_leaf` with every leaf in the first `end` bytes of the file, in the order in which they were written. Calls
// `on_page` with every whole page, and `on_hole` with the offset of bytes between pages that are no page; both may be
// empty.
Status ScanLeaves(const IndexFile& file, std::uint64_t end, const std::function<Status(const PageView& leaf)>& on_leaf,
                  const std::function<void(std::uint64_t offset)>& on_hole,
                  const std::function<void(PageId page)>& on_page);

// Whether a whole page begins at `offset`.
[[nodiscard]] bool HasPageAt(const IndexFile& file, std::uint64_t offset);

// Opens a file of pages. If its header is damaged, tries `expected` (page size, file id) with the epoch of the damaged
// header, then with epochs from `epoch_max` down, until a page validates. If none does, returns null and sets *why.
std::shared_ptr<const IndexFile> OpenPages(const FoundFile& found, const FileHeader& expected, std::uint64_t epoch_max,
                                           Status* why);

}  // namespace cambium
