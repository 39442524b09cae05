#include "btree/cost_law.h"

#include <algorithm>
#include <cmath>

#include "index/page_format.h"

namespace cambium {
namespace {

// Of the oldest file, the part that lives when it has to go, if each merge rewrites the part `q` of all pages.
double LivePartOfOldest(double q) {
  if (q <= 0 || q >= 1) return 0;
  // From the left, where the one fixed point below 1 attracts.
  double e = 0;
  for (int i = 0; i < 100; ++i) e = std::pow(1 - q, 2 * (1 - e) / q);
  return e;
}

// Pages of all levels that hold a leaf which so many updates touch.
double PagesOfAllLevels(double leaves, double updates, double children) {
  double pages = PagesTouched(leaves, updates);
  while (leaves > 1) {
    leaves = std::max(1.0, leaves / children);
    pages += std::max(1.0, PagesTouched(leaves, updates));
  }
  return pages;
}

}  // namespace

double ChildrenOf(double page_bytes, unsigned fill_percent) {
  constexpr double kSeparatorBytes = 8;
  const double room = page_bytes * fill_percent / 100 - kPageHeaderSize;
  return std::max(4.0, room / (static_cast<double>(kChildBytes + kHeadBytes) + kSeparatorBytes));
}

double MemtablesPerMerge(const TreeCost& cost) {
  if (cost.batch <= 0) return 1;
  const double by_keys = std::ceil(cost.keys / static_cast<double>(cost.policy.sweep_ratio) / cost.batch);
  return std::clamp(by_keys, 1.0, static_cast<double>(cost.policy.runs_max) + 1);
}

double BytesPerUpdate(const TreeCost& cost) {
  if (cost.batch <= 0) return 0;
  const double memtables = MemtablesPerMerge(cost);
  const double updates = memtables * cost.batch;
  const bool brings_merge = updates * static_cast<double>(cost.policy.sweep_ratio) >= cost.keys;
  const double runs = brings_merge ? memtables - 1 : memtables;

  const double leaves = std::max(1.0, cost.keys * cost.entry_bytes / cost.page_bytes);
  const double added_leaves = updates * cost.new_share * cost.entry_bytes / cost.page_bytes;
  const double rewritten = cost.keys <= 0 ? 0 : PagesOfAllLevels(leaves, updates, cost.children);
  const double copied = LivePartOfOldest(cost.keys <= 0 ? 1 : PagesTouched(leaves, updates) / leaves);
  // What is new makes leaves, and these branches, a geometric series.
  const double added = added_leaves * cost.children / (cost.children - 1);
  const double pages = (rewritten + added) / (1 - copied);
  return (cost.page_bytes * pages + cost.run_entry_bytes * runs * cost.batch) / updates;
}

}  // namespace cambium
