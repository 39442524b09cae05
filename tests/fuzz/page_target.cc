// An index page as stored: a leaf, a branch or a compressed leaf. The first byte chooses the page size.
#include <algorithm>
#include <vector>

#include "fuzz/target.h"
#include "index/compressed_page.h"
#include "index/filter.h"
#include "index/page_builder.h"
#include "index/page_format.h"
#include "io/file_header.h"
#include "util/coding.h"
#include "util/result.h"

namespace cambium::fuzz {
namespace {

constexpr const char* kPagePath = "/db/000007.run";

// Calls everything that a view has, and promises that a search finds what a page with ordered keys has.
void ReadPage(const PageView& page) {
  const KeyOrder order(BytewiseComparator());
  const Status checked = page.CheckKeys(order, kPagePath, 0);
  if (!checked.ok()) PromiseDamage(checked, kPagePath, "checking the keys of a page");
  std::string scratch;
  std::string last;
  for (std::uint32_t i = 0; i < page.key_count(); ++i) {
    const std::string key = page.key(i, &scratch).ToString();
    Promise(!checked.ok() || i == 0 || last < key, "the keys of a checked page do not ascend");
    last = key;
    if (page.has_fixed_stride()) {
      std::string copy = key;
      page.CopyMiddle(i, copy.data() + page.prefix_size());
      Promise(copy == key, "a middle that is copied makes another key");
    }
    if (page.is_leaf()) {
      bool equal = false;
      const std::uint32_t found = page.LowerBound(key, order, &equal);
      Promise(!checked.ok() || (found == i && equal), "a search in a checked leaf does not find a key of it");
    } else {
      const std::uint32_t found = page.ChildFor(key, order);
      Promise(found < page.count(), "a search in a branch leads outside");
      Promise(!checked.ok() || found == i + 1, "a search in a checked branch leads to another child");
      (void)page.filter().MayContain(FilterHash(key));
    }
  }
  (void)page.entry_count();
  (void)page.used_bytes();
}

// The entries of a checked leaf, built again, are the same entries.
void RebuildLeaf(const PageView& page, std::uint32_t page_size) {
  const KeyOrder order(BytewiseComparator());
  LeafBuilder builder(order, {.page_size = page_size});
  std::string scratch;
  for (std::uint32_t i = 0; i < page.count(); ++i) {
    const Entry entry = page.entry(i);
    if (entry.inline_value.size() > MaxInlineSizeFor(page_size)) return;
    // A forged page may name a long key once and use it often, so that its entries need more than one page.
    if (i > 0 && !builder.FitsIn(kPageUnitsMax * std::size_t{page_size}, page.key(i, &scratch), entry)) return;
    if (!builder.Add(page.key(i, &scratch), entry).ok()) return;
  }
  if (builder.empty()) return;
  std::string rebuilt;
  builder.FinishUnplaced(&rebuilt);
  const Result<PageView> again = PageView::Parse(rebuilt, kPagePath, 0);
  Promise(again.ok(), "a leaf that was built cannot be parsed: " + again.status().ToString());
  Promise(again->count() == page.count(), "a leaf that was built has another number of entries");
  std::string other;
  for (std::uint32_t i = 0; i < page.count(); ++i) {
    const Entry before = page.entry(i);
    const Entry after = again->entry(i);
    Promise(page.key(i, &scratch) == again->key(i, &other) && before.kind == after.kind &&
                before.address == after.address && before.inline_value == after.inline_value,
            "a leaf that was built has another entry");
  }
}

void FuzzPage(Slice input) {
  if (input.size() < 1 + kPageHeaderSize) return;
  const std::uint32_t page_size = kPageSizeMin << (static_cast<unsigned char>(input[0]) % 6);
  std::string page =
      input.substr(1, std::min<std::size_t>(input.size() - 1, std::size_t{kPageUnitsMax} * page_size)).ToString();
  page.resize(AlignUp(page.size(), std::uint64_t{page_size}));
  const PageId id = MakePageId(7, 3, static_cast<unsigned>(page.size() / page_size));
  EncodeFixed<std::uint64_t>(page.data() + 8, static_cast<std::uint64_t>(id));  // the place of a page is not its format
  const Status verified = VerifyPage(page, id, page_size, 1, kPagePath);
  Promise(verified.ok(), "a page in its place does not validate: " + verified.ToString());

  std::vector<char> expanded;
  Slice raw = page;
  if (CompressedPage::Is(page)) {
    const Result<CompressedPage> stored = CompressedPage::Parse(page, page_size, kPagePath, 0);
    if (!stored.ok()) return PromiseDamage(stored.status(), kPagePath, "parsing a compressed page");
    Promise(stored->raw_size() <= std::size_t{kPageUnitsMax} * page_size, "a compressed page expands beyond its bound");
    expanded.resize(stored->raw_size());
    const Status s = stored->Expand(expanded.data(), kPagePath, 0);
    if (!s.ok()) return PromiseDamage(s, kPagePath, "expanding a page");
    raw = {expanded.data(), expanded.size()};
  }
  const Result<PageView> view = PageView::Parse(raw, kPagePath, 0);
  if (!view.ok()) return PromiseDamage(view.status(), kPagePath, "parsing a page");
  ReadPage(*view);
  if (view->is_leaf() && view->CheckKeys(KeyOrder(BytewiseComparator()), kPagePath, 0).ok())
    RebuildLeaf(*view, page_size);
}

// The pages of a run or of an index segment, each as one seed.
void AddPageSeeds(const GoldenFiles& files, std::vector<std::string>* seeds) {
  for (const auto& [name, bytes] : files) {
    if (!name.ends_with(".run") && !name.ends_with(".idx")) continue;
    const std::uint64_t page_size = DecodeFixed<std::uint64_t>(bytes.data() + 80);
    if (!IsLegalPageSize(page_size)) continue;
    char selector = 0;
    while ((std::uint64_t{kPageSizeMin} << selector) < page_size) ++selector;
    for (std::uint64_t at = page_size; at + page_size <= bytes.size();) {
      const auto id = static_cast<PageId>(DecodeFixed<std::uint64_t>(bytes.data() + at + 8));
      if (UnitOffsetOf(id) * page_size != at) break;  // the pages end here
      seeds->push_back(selector + bytes.substr(at, UnitsOf(id) * page_size));
      at += UnitsOf(id) * page_size;
    }
  }
}

}  // namespace

const Target kPageTarget = {"page", false, FuzzPage, AddPageSeeds};

}  // namespace cambium::fuzz
