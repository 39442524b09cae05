#include "index/lookup.h"

#include <algorithm>
#include <array>

#include "index/tree_cursor.h"

namespace cambium {
namespace {

// How many descents advance together: about the number of memory requests that a core can have in flight.
constexpr std::size_t kInStep = 16;

// One descent and the page it has reached; no page once it has ended.
struct Descent {
  Lookup* lookup = nullptr;
  PageRef page;
  std::uint32_t child = 0;  // the number of the child of `page` to visit next

  void Fail(Status status) {
    lookup->Finish(std::move(status));
    page.Release();
  }
};

void Step(const FileSet& files, PagePool* pool, const KeyOrder& order, std::span<Descent> descents) {
  for (Descent& d : descents) {
    if (!d.page) continue;
    if (order.equal_means_same_bytes && !d.page->filter().MayContain(d.lookup->hash)) {
      pool->meter().Tick(BLOOM_FILTER_USEFUL);
      d.page.Release();
    } else if (d.page->filter().count > 0) {
      d.page->PrefetchSearch();
    }
  }
  for (Descent& d : descents) {
    if (!d.page) continue;
    d.child = d.page->ChildFor(d.lookup->key, order);
    PagePool::PrefetchChildPlace(d.page, d.child);
  }
  for (const Descent& d : descents) {
    if (d.page) PagePool::PrefetchChild(files, d.page, d.child, d.lookup->hash);
  }
  for (Descent& d : descents) {
    if (!d.page) continue;
    Result<PageRef> child = pool->GetChild(files, d.page, d.child, d.lookup->hash);
    if (child.ok()) {
      d.page = std::move(child).value();
    } else {
      d.Fail(std::move(child).status());
    }
  }
}

void SearchLeaves(const KeyOrder& order, std::span<Descent> descents) {
  for (Descent& d : descents) {
    if (d.page) d.page->PrefetchSearch();
  }
  for (Descent& d : descents) {
    if (!d.page) continue;
    bool equal = false;
    const std::uint32_t i = d.page->LowerBound(d.lookup->key, order, &equal);
    if (!equal) continue;
    d.lookup->entry = d.page->entry(i);
    d.lookup->file = FileNumberOf(d.page->id());
    if (d.lookup->entry.kind == EntryKind::kInline) d.lookup->keep = std::move(d.page);
    d.lookup->Finish(true);
  }
}

}  // namespace

void TreeFindTogether(const TreeRoot& root, const FileSet& files, PagePool* pool, const KeyOrder& order,
                      std::span<Lookup* const> lookups) {
  while (!lookups.empty()) {
    std::array<Descent, kInStep> all;
    const std::span<Descent> descents(all.data(), std::min(lookups.size(), kInStep));
    for (std::size_t i = 0; i < descents.size(); ++i) {
      descents[i].lookup = lookups[i];
      Result<PageRef> page = GetTreeRoot(root, files, pool);
      if (page.ok()) {
        descents[i].page = std::move(page).value();
      } else {
        descents[i].Fail(std::move(page).status());
      }
    }
    const auto goes_on = [](const Descent& d) { return static_cast<bool>(d.page) && !d.page->is_leaf(); };
    while (std::ranges::any_of(descents, goes_on)) Step(files, pool, order, descents);
    SearchLeaves(order, descents);
    lookups = lookups.subspan(descents.size());
  }
}

}  // namespace cambium
