#include "inspect/page_walk.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "index/compressed_page.h"
#include "util/coding.h"

namespace cambium {
namespace {

struct Found {
  WalkedPage page;
  PageView view;
  std::vector<char> bytes;  // `view` points into it
};

// Reads the page that begins at this unit. The page's id says how many units it has.
Status ReadAt(const IndexFile& file, std::uint64_t unit, std::uint64_t end, Found* found) {
  const std::uint64_t offset = unit * file.page_size();
  const std::string place = PagePlaceName(file.path(), offset);
  char header[kPageHeaderSize];
  std::size_t have = 0;
  CAMBIUM_RETURN_IF_ERROR(file.file().Read(offset, sizeof(header), header, &have));
  if (have < sizeof(header)) return Status::Corruption("cut off").WithContext(place);
  const auto id = static_cast<PageId>(DecodeFixed<std::uint64_t>(header + 8));
  if (FileNumberOf(id) != file.number() || UnitOffsetOf(id) != unit || offset + file.PageBytes(id) > end) {
    return Status::Corruption("not a page: its id is that of another place").WithContext(place);
  }
  CAMBIUM_RETURN_IF_ERROR(file.ReadAndExpandPage(id, &found->bytes));
  CAMBIUM_TRY(found->view, PageView::Parse({found->bytes.data(), found->bytes.size()}, file.path(), offset));
  const auto type = static_cast<PageType>(static_cast<unsigned char>(header[16]));
  found->page = {offset, file.PageBytes(id), type == PageType::kCompressedLeaf, &found->view};
  return Status::OK();
}

}  // namespace

Status WalkPages(const IndexFile& file, std::uint64_t end, const PageWalkCallbacks& callbacks) {
  std::optional<DamagedStretch> damage;
  const auto end_damage = [&](std::uint64_t at) {
    if (!damage.has_value()) return Status::OK();
    damage->end = at;
    const DamagedStretch told = *std::exchange(damage, std::nullopt);
    return callbacks.on_damage(told);
  };
  for (std::uint64_t offset = file.page_size(); offset < end;) {
    Found found;
    const Status s = ReadAt(file, offset / file.page_size(), end, &found);
    if (s.IsCorruption()) {
      if (!damage.has_value()) damage = DamagedStretch{offset, 0, std::string(s.message())};
      offset += file.page_size();
      continue;
    }
    CAMBIUM_RETURN_IF_ERROR(s);
    CAMBIUM_RETURN_IF_ERROR(end_damage(offset));
    CAMBIUM_RETURN_IF_ERROR(callbacks.on_page(found.page));
    offset += found.page.stored_bytes;
  }
  return end_damage(end);
}

}  // namespace cambium
