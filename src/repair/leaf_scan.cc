#include "repair/leaf_scan.h"

#include <algorithm>
#include <set>
#include <vector>

#include "index/page_format.h"
#include "index/read_bytes.h"
#include "util/coding.h"

namespace cambium {
namespace {

// Returns the id of the page that begins at this unit, if the bytes there look like the id of a page of this file.
std::optional<PageId> PageAt(const IndexFile& file, std::uint64_t unit) {
  char bytes[16];
  std::size_t read = 0;
  if (!ReadBytes(file.file(), unit * file.page_size(), sizeof(bytes), bytes, &read).ok() || read < sizeof(bytes)) {
    return std::nullopt;
  }
  const auto id = static_cast<PageId>(DecodeFixed<std::uint64_t>(bytes + 8));
  if (FileNumberOf(id) != file.number() || UnitOffsetOf(id) != unit) return std::nullopt;
  return id;
}

// A whole page, parsed.
struct ReadPage {
  std::vector<char> bytes;
  PageView view;
};
Status Read(const IndexFile& file, PageId id, ReadPage* page) {
  CAMBIUM_RETURN_IF_ERROR(file.ReadAndExpandPage(id, &page->bytes));
  CAMBIUM_TRY(page->view, PageView::Parse({page->bytes.data(), page->bytes.size()}, file.path(), file.OffsetOf(id)));
  return Status::OK();
}

class TreeWalk {
 public:
  TreeWalk(const FileSet& files, const LeafVisitor& visitor) : files_(files), visitor_(visitor) {}

  Status Visit(const ChildRef& ref, unsigned level, const KeySpan& span) {
    ReadPage page;
    Status read = Get(ref.page, level, &page);
    if (!read.ok()) return visitor_.on_lost(span, level, ref, read);
    const PageView& view = page.view;
    if (view.is_leaf()) return visitor_.on_leaf(view);
    // In a hostile file, branches could share children, and the number of paths be exponential. Visit each branch once.
    if (!branches_.insert(ref.page.id).second) {
      return visitor_.on_lost(span, level, ref, Status::Corruption("a branch is reached twice"));
    }
    std::string scratch;
    for (std::uint32_t i = 0; i < view.count(); ++i) {
      KeySpan below = span;
      if (i > 0) below.from = view.key(i - 1, &scratch).ToString();
      if (i < view.key_count()) below.to = view.key(i, &scratch).ToString();
      CAMBIUM_RETURN_IF_ERROR(Visit(view.child(i), level - 1, below));
    }
    return Status::OK();
  }

 private:
  // Reads a page and checks its level. Levels decrease with each step, which bounds the descent in hostile files too.
  Status Get(PagePointer pointer, unsigned level, ReadPage* page) {
    CAMBIUM_TRY(const IndexFile* file, files_.FileOf(pointer.id));
    CAMBIUM_RETURN_IF_ERROR(Read(*file, pointer.id, page));
    if (page->view.checksum() == pointer.checksum && page->view.level() == level) return Status::OK();
    return Status::Corruption("is not the page that its parent points to")
        .WithContext(PagePlaceName(file->path(), file->OffsetOf(pointer.id)));
  }

  const FileSet& files_;
  const LeafVisitor& visitor_;
  std::set<PageId> branches_;
};

bool HasPage(const IndexFile& file, std::uint64_t size) {
  constexpr std::uint64_t kUnitsTried = 4096;  // assumes that damage which begins in a header reaches no farther
  const std::uint64_t units = std::min(kUnitsTried, size / file.page_size());
  ReadPage page;
  for (std::uint64_t unit = 1; unit < units; ++unit) {
    const std::optional<PageId> id = PageAt(file, unit);
    if (id.has_value() && Read(file, *id, &page).ok()) return true;
  }
  return false;
}

}  // namespace

Status WalkTree(const TreeRoot& root, const FileSet& files, const LeafVisitor& visitor) {
  if (root.height == 0 || root.height > kMaxTreeHeight) return Status::OK();
  return TreeWalk(files, visitor).Visit({root.page, root.entry_count, root.value_bytes}, root.height - 1, {});
}

Status ScanLeaves(const IndexFile& file, std::uint64_t end, const std::function<Status(const PageView& leaf)>& on_leaf,
                  const std::function<void(std::uint64_t offset)>& on_hole,
                  const std::function<void(PageId page)>& on_page) {
  FileInfo info;
  if (file.file().GetInfo(&info).ok()) end = std::min(end, info.size);  // the MANIFEST may name a longer file
  const std::uint64_t last = std::min(end / file.page_size(), kPageUnitOffsetMax);
  ReadPage page;
  bool is_in_hole = false;
  for (std::uint64_t unit = 1; unit < last;) {
    const std::optional<PageId> id = PageAt(file, unit);
    if (!id.has_value() || unit + UnitsOf(*id) > last || !Read(file, *id, &page).ok()) {
      if (!is_in_hole && on_hole) on_hole(unit * file.page_size());
      is_in_hole = true;
      ++unit;
      continue;
    }
    is_in_hole = false;
    unit += UnitsOf(*id);
    if (on_page) on_page(*id);
    if (page.view.is_leaf()) CAMBIUM_RETURN_IF_ERROR(on_leaf(page.view));
  }
  return Status::OK();
}

bool HasPageAt(const IndexFile& file, std::uint64_t offset) {
  ReadPage page;
  const std::optional<PageId> id = PageAt(file, offset / file.page_size());
  return id.has_value() && Read(file, *id, &page).ok();
}

std::shared_ptr<const IndexFile> OpenPages(const FoundFile& found, const FileHeader& expected, std::uint64_t epoch_max,
                                           Status* why) {
  *why = found.flaw;
  if (found.file == nullptr) return nullptr;
  if (found.flaw.ok()) {
    if (IsLegalPageSize(found.header.page_size)) {
      return std::make_shared<const IndexFile>(found.file, found.header, nullptr);
    }
    *why = Status::Corruption(found.path + ":0: page size of " + std::to_string(found.header.page_size) + " bytes");
    return nullptr;
  }
  if (!IsLegalPageSize(expected.page_size)) return nullptr;
  FileHeader header = expected;
  header.epoch = found.header.epoch;
  // Enough for one Open per second for more than a week.
  constexpr std::uint64_t kEpochsTried = 1u << 20;
  const std::uint64_t oldest = epoch_max > kEpochsTried ? epoch_max - kEpochsTried : 0;
  auto file = std::make_shared<const IndexFile>(found.file, header, nullptr);
  if (HasPage(*file, found.size)) return file;
  for (header.epoch = epoch_max; header.epoch > oldest; --header.epoch) {
    file = std::make_shared<const IndexFile>(found.file, header, nullptr);
    if (HasPage(*file, std::min<std::uint64_t>(found.size, 3 * std::uint64_t{file->page_size()}))) return file;
  }
  return nullptr;
}

}  // namespace cambium
