#include "btree/cost_law.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "index/page_format.h"

namespace cambium {
namespace {

// The live part of the oldest file when it has to be emptied, if each sweep rewrites the part `q` of all pages.
double LivePartOfOldest(double q) {
  if (q <= 0 || q >= 1) return 0;
  // Starting at 0, the iteration converges to the only fixed point below 1.
  double e = 0;
  for (int i = 0; i < 100; ++i) e = std::pow(1 - q, 2 * (1 - e) / q);
  return e;
}

constexpr double kSeparatorBytes = 8;
constexpr auto kBytesOfChild = static_cast<double>(kChildBytes + kHeadBytes) + kSeparatorBytes;

// The branches directly above the leaves, if a leaf has `keys_per_leaf` keys.
struct LowestBranches {
  double children = 0;  // at most
  double page_bytes = 0;
  double filter_bytes_per_child = 0;

  static LowestBranches Of(const TreeCost& cost, double keys_per_leaf) {
    if (cost.filter_bytes <= 0) return {cost.children, cost.page_bytes, 0};
    const double per_child = keys_per_leaf * cost.filter_bytes;
    const double by_filter = kFilterUnits * cost.page_bytes / per_child;
    const double by_columns = cost.children * (kFilteredBranchUnits - kFilterUnits);
    return {std::max(4.0, std::min(by_filter, by_columns)), cost.page_bytes, per_child};
  }
  // Bytes of a branch with `count` children, in whole pages.
  [[nodiscard]] double BytesOf(double count) const {
    const double here = std::min(count, children);
    double bytes = static_cast<double>(kPageHeaderSize) + here * kBytesOfChild;
    if (filter_bytes_per_child > 0) {
      const double blocks = std::ceil(here * filter_bytes_per_child / kFilterBlockSize);
      bytes += static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(blocks)) * kFilterBlockSize);
    }
    return std::ceil(std::min(bytes, kFilteredBranchUnits * page_bytes) / page_bytes) * page_bytes;
  }
  [[nodiscard]] double BytesPerChild() const { return BytesOf(children) / children; }
};

// Bytes of the pages of all levels above and including the leaves that `updates` touch.
double BytesOfAllLevels(double leaves, double updates, const TreeCost& cost) {
  double bytes = PagesTouched(leaves, updates) * cost.page_bytes;
  if (leaves <= 1) return bytes;
  const LowestBranches lowest = LowestBranches::Of(cost, cost.keys / leaves);
  double pages = std::max(1.0, leaves / lowest.children);
  bytes += std::max(1.0, PagesTouched(pages, updates)) * lowest.BytesOf(leaves / pages);
  while (pages > 1) {
    pages = std::max(1.0, pages / cost.children);
    bytes += std::max(1.0, PagesTouched(pages, updates)) * cost.page_bytes;
  }
  return bytes;
}

}  // namespace

double ChildrenOf(double page_bytes, unsigned fill_percent) {
  const double room = page_bytes * fill_percent / 100 - kPageHeaderSize;
  return std::max(4.0, room / kBytesOfChild);
}

double LeafPartOf(double bytes_per_key, const TreeCost& cost) {
  if (bytes_per_key <= 0) return bytes_per_key;
  double leaf_part = bytes_per_key;
  for (int i = 0; i < 8; ++i) {  // the size of the branches depends on the result, a little
    const double keys_per_leaf = cost.page_bytes / leaf_part;
    const double above = LowestBranches::Of(cost, keys_per_leaf).BytesPerChild() * cost.children / (cost.children - 1);
    leaf_part = std::max(1.0, bytes_per_key - above / keys_per_leaf);
  }
  return leaf_part;
}

double MemtablesPerSweep(const TreeCost& cost) {
  if (cost.batch <= 0) return 1;
  const double by_keys = std::ceil(cost.keys / static_cast<double>(cost.policy.sweep_ratio) / cost.batch);
  const double by_bytes = std::ceil(static_cast<double>(cost.policy.run_bytes_max) /
                                    std::max(1.0, cost.batch * cost.run_entry_bytes));
  return std::clamp(std::min(by_keys, by_bytes), 1.0, static_cast<double>(cost.policy.runs_max) + 1);
}

double BytesPerUpdate(const TreeCost& cost) {
  if (cost.batch <= 0) return 0;
  const double memtables = MemtablesPerSweep(cost);
  const double updates = memtables * cost.batch;
  const double leaves = std::max(1.0, cost.keys * cost.entry_bytes / cost.page_bytes);
  const double extra_pages =
      PagesBeyondMemtable(leaves, cost.page_bytes / cost.entry_bytes, cost.batch, updates - cost.batch);
  const bool last_goes_into_tree = updates * static_cast<double>(cost.policy.sweep_ratio) >= cost.keys &&
                                   extra_pages <= static_cast<double>(cost.policy.flush_pages_max);
  const double runs = last_goes_into_tree ? memtables - 1 : memtables;

  const double added_leaves = updates * cost.new_share * cost.entry_bytes / cost.page_bytes;
  const double rewritten = cost.keys <= 0 ? 0 : BytesOfAllLevels(leaves, updates, cost);
  const double copied = LivePartOfOldest(cost.keys <= 0 ? 1 : PagesTouched(leaves, updates) / leaves);
  // New keys make leaves, and these make branches: a geometric series.
  double added = 0;
  if (added_leaves > 0) {
    const double above = LowestBranches::Of(cost, cost.page_bytes / cost.entry_bytes).BytesPerChild();
    added = added_leaves * (cost.page_bytes + above * cost.children / (cost.children - 1));
  }
  return ((rewritten + added) / (1 - copied) + cost.run_entry_bytes * runs * cost.batch) / updates;
}

}  // namespace cambium
