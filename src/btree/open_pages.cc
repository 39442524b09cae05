#include "btree/open_pages.h"

#include <algorithm>
#include <cassert>
#include <type_traits>
#include <utility>

namespace cambium {
namespace {

// Large separators make branches of several units with few children. Such a page is full enough with this many.
constexpr std::uint32_t kChildrenMin = kBranchChildrenMin / 2;

// True if the page has more units than usual, because of a large item.
template <typename Builder>
bool IsLarge(const Builder& page) {
  return page.units() > page.usual_units();
}

bool Fits(const LeafBuilder& page, const LeafItem& item) { return page.Fits(item.key, item.entry); }
bool Fits(const BranchBuilder& page, const BranchItem& item) { return page.Fits(item.key, item.child); }
Status Put(LeafBuilder* page, const LeafItem& item) { return page->Add(item.key, item.entry); }
Status Put(BranchBuilder* page, const BranchItem& item) { return page->Add(item.key, item.child, item.keys); }

// The approximate size of an item. Good enough to divide items evenly, because neighbours are compressed alike.
std::size_t WeightOf(const LeafItem& item) { return kWordBytes + item.key.size() + HeapBytesOf(item.entry); }
std::size_t WeightOf(const BranchItem& item) { return kChildBytes + item.key.size(); }

// The approximate number of bytes that an item adds to the filter.
std::size_t FilterWeightOf(const LeafItem&, unsigned) { return 0; }
std::size_t FilterWeightOf(const BranchItem& item, unsigned bits_per_key) {
  return static_cast<std::size_t>(item.child.entry_count * bits_per_key / 8);
}

// The items of a held page, to be redistributed.
struct LeafSource {
  std::string lower;
  std::string encoded;

  LeafSource(std::string its_lower, LeafBuilder page) : lower(std::move(its_lower)) {
    page.Finish(MakePageId(1, 1, page.units()), 0, &encoded);
  }
  template <typename Visitor>
  Status ForEachItem(Visitor visit) const {
    CAMBIUM_TRY(const PageView view, PageView::Parse(encoded, "page in memory", 0));
    std::string scratch;
    for (std::uint32_t i = 0; i < view.count(); ++i) {
      CAMBIUM_RETURN_IF_ERROR(visit(LeafItem{view.key(i, &scratch), view.entry(i)}));
    }
    return Status::OK();
  }
};
struct BranchSource {
  std::string lower;
  BranchBuilder page;

  BranchSource(std::string its_lower, BranchBuilder its_page) : lower(std::move(its_lower)), page(std::move(its_page)) {}
  template <typename Visitor>
  Status ForEachItem(Visitor visit) const {
    for (std::uint32_t i = 0; i < page.count(); ++i) {
      const Slice key = i == 0 ? Slice(lower) : page.separator(i);
      CAMBIUM_RETURN_IF_ERROR(visit(BranchItem{key, page.child(i), page.keys_of(i)}));
    }
    return Status::OK();
  }
};

}  // namespace

template <typename Builder, typename Item>
Builder OpenPages<Builder, Item>::NewBuilder(unsigned fill_percent) const {
  PageBuilderOptions options = options_;
  options.fill_percent = fill_percent;
  if constexpr (std::is_same_v<Builder, LeafBuilder>) {
    return LeafBuilder(order_, options);
  } else {
    return BranchBuilder(order_, options, level_);
  }
}

template <typename Builder, typename Item>
Status OpenPages<Builder, Item>::Add(const Item& item, Slice lower, const Writer& write) {
  if (pages_.empty() || !Fits(pages_.back().builder, item)) {
    if (pages_.size() == kPagesHeld) {
      CAMBIUM_RETURN_IF_ERROR(write(pages_.front().lower, &pages_.front().builder));
      pages_.erase(pages_.begin());
    }
    pages_.push_back({lower.ToString(), NewBuilder(options_.fill_percent)});
  }
  return Put(&pages_.back().builder, item);
}

template <typename Builder, typename Item>
bool OpenPages<Builder, Item>::IsFullEnough(const Builder& page) const {
  if constexpr (std::is_same_v<Builder, BranchBuilder>) {
    if (IsLarge(page)) return page.count() >= kChildrenMin;
    return page.count() > 1 && page.fill_percent() >= kFillMin;
  } else {
    return IsLarge(page) || page.fill_percent() >= kFillMin;
  }
}

// The least number of pages that hold the items, and how full these pages would be with an even distribution.
template <typename Builder, typename Item>
std::size_t OpenPages<Builder, Item>::PagesNeeded(unsigned* average_fill) const {
  std::size_t bytes = 0;
  std::size_t items = 0;
  unsigned percent = 0;
  bool has_large = false;
  for (const Page& page : pages_) {
    bytes += page.builder.used_bytes() - kPageHeaderSize;
    items += page.builder.count();
    percent += page.builder.fill_percent();
    has_large = has_large || IsLarge(page.builder);
  }
  assert(!pages_.empty());
  const bool is_one_unit = pages_[0].builder.usual_units() == 1;
  const std::size_t room = options_.page_size - kPageHeaderSize;
  const std::size_t whole = is_one_unit ? (bytes + room - 1) / room : (percent + 99) / 100;
  std::size_t needed = std::max<std::size_t>(1, whole);
  if (has_large && std::is_same_v<Builder, BranchBuilder>) {
    needed = (items + kBranchChildrenMin - 1) / kBranchChildrenMin;
    *average_fill = items >= needed * kChildrenMin ? 100 : 0;
  } else if (has_large) {
    needed = pages_.size();
    *average_fill = 0;
  } else {
    *average_fill = static_cast<unsigned>(is_one_unit ? bytes * 100 / (needed * room) : percent / needed);
    if (items < 2 * needed && std::is_same_v<Builder, BranchBuilder>) *average_fill = 0;
  }
  return needed;
}

template <typename Builder, typename Item>
Result<bool> OpenPages<Builder, Item>::Cut(const Writer& write) {
  if (pages_.empty()) return true;
  if (!IsFullEnough(pages_.back().builder)) {
    CAMBIUM_RETURN_IF_ERROR(WriteUpToLargeLeaf(write));
    unsigned average_fill = 0;
    const std::size_t needed = PagesNeeded(&average_fill);
    if (average_fill < kFillMin) return false;
    CAMBIUM_RETURN_IF_ERROR(Redistribute(needed));
    // The items may take more pages than their bytes suggest, because the keys of two pages share fewer bytes than
    // those of one page.
    if (pages_.size() > needed && average_fill * needed < kFillMin * pages_.size()) return false;
  }
  CAMBIUM_RETURN_IF_ERROR(WriteAll(write));
  return true;
}

template <typename Builder, typename Item>
Status OpenPages<Builder, Item>::End(const Writer& write) {
  if (pages_.size() > 1) {
    unsigned average_fill = 0;
    const std::size_t needed = PagesNeeded(&average_fill);
    const bool has_lone_child = std::is_same_v<Builder, BranchBuilder> && pages_.back().builder.count() == 1;
    if (needed < pages_.size() || has_lone_child) CAMBIUM_RETURN_IF_ERROR(Redistribute(needed));
  }
  return WriteAll(write);
}

// A leaf of several units holds one large entry. It stays as it is, and the items after it are redistributed without
// it.
template <typename Builder, typename Item>
Status OpenPages<Builder, Item>::WriteUpToLargeLeaf(const Writer& write) {
  if (!std::is_same_v<Builder, LeafBuilder>) return Status::OK();
  std::size_t count = pages_.size();
  while (count > 0 && !IsLarge(pages_[count - 1].builder)) --count;
  for (std::size_t i = 0; i < count; ++i) {
    CAMBIUM_RETURN_IF_ERROR(write(pages_[i].lower, &pages_[i].builder));
  }
  pages_.erase(pages_.begin(), pages_.begin() + static_cast<std::ptrdiff_t>(count));
  return Status::OK();
}

template <typename Builder, typename Item>
Status OpenPages<Builder, Item>::WriteAll(const Writer& write) {
  for (Page& page : pages_) CAMBIUM_RETURN_IF_ERROR(write(page.lower, &page.builder));
  pages_.clear();
  return Status::OK();
}

// A LeafBuilder cannot return its items, so it is encoded and parsed. The encoded page gets no real place, and its
// checksum is never verified.
template <typename Builder, typename Item>
Status OpenPages<Builder, Item>::Redistribute(std::size_t page_count) {
  using Source = std::conditional_t<std::is_same_v<Item, LeafItem>, LeafSource, BranchSource>;
  std::vector<Source> sources;
  for (Page& page : pages_) sources.emplace_back(std::move(page.lower), std::move(page.builder));
  CAMBIUM_TRY(std::vector<Page> pages, RedistributeOnce(sources, page_count));
  // Large items may not pack as tightly as their sum suggests. Then they are spread evenly over the pages they needed.
  if (pages.size() > page_count) {
    CAMBIUM_TRY(pages, RedistributeOnce(sources, pages.size()));
  }
  pages_ = std::move(pages);
  return Status::OK();
}

template <typename Builder, typename Item>
template <typename Source>
Result<std::vector<typename OpenPages<Builder, Item>::Page>> OpenPages<Builder, Item>::RedistributeOnce(
    const std::vector<Source>& sources, std::size_t page_count) const {
  assert(!sources.empty() && page_count > 0);
  const unsigned filter_bits = level_ == 1 ? options_.filter_bits_per_key : 0;
  std::size_t total = 0;
  for (const Source& source : sources) {
    CAMBIUM_RETURN_IF_ERROR(source.ForEachItem([&](const Item& item) {
      total += WeightOf(item) + FilterWeightOf(item, filter_bits);
      return Status::OK();
    }));
  }
  std::vector<Page> pages;
  std::size_t placed = 0;
  std::size_t closed = 0;  // pages that have got their share
  std::string last_key;
  for (const Source& source : sources) {
    CAMBIUM_RETURN_IF_ERROR(source.ForEachItem([&](const Item& item) {
      const std::size_t weight = WeightOf(item) + FilterWeightOf(item, filter_bits);
      // A page ends before the item whose middle is beyond the page's share.
      const bool share_is_full = closed + 1 < page_count && (placed + weight / 2) * page_count >= total * (closed + 1);
      if (pages.empty() || share_is_full || !Fits(pages.back().builder, item)) {
        Slice lower = item.key;
        if (pages.empty()) {
          lower = sources[0].lower;
        } else if constexpr (std::is_same_v<Item, LeafItem>) {
          lower = ShortestSeparator(last_key, item.key, order_);
        }
        if (!pages.empty()) ++closed;
        pages.push_back({lower.ToString(), NewBuilder(100)});
      }
      placed += weight;
      last_key.assign(item.key.data(), item.key.size());
      return Put(&pages.back().builder, item);
    }));
  }
  return pages;
}

template class OpenPages<LeafBuilder, LeafItem>;
template class OpenPages<BranchBuilder, BranchItem>;

}  // namespace cambium
