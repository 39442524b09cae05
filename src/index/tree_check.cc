#include "index/tree_check.h"

#include <map>
#include <optional>
#include <vector>

#include "index/filter.h"
#include "index/page_format.h"

namespace cambium {
namespace {

// A page on the path from the root to the walk's position, with what its parent says about it.
struct Node {
  std::vector<char> bytes;
  PageView view;  // of `bytes`; moving the vector does not move its memory
  std::string path;
  std::uint64_t offset = 0;
  std::uint32_t next_child = 0;
  std::optional<std::string> lower;  // keys in and below this page are >= lower and < upper
  std::optional<std::string> upper;
};

class TreeWalk {
 public:
  TreeWalk(const FileSet& files, const Comparator* comparator, const TreeCheckCallbacks& callbacks,
           TreeCheckStats* stats)
      : files_(files), order_(comparator), callbacks_(callbacks), stats_(stats) {}

  Status Run(const TreeRoot& root) {
    *stats_ = {};
    if (root.height == 0) {
      if (root != TreeRoot{}) return Status::Corruption("tree without pages, but with contents");
      return Status::OK();
    }
    if (root.height > kMaxTreeHeight) {
      return Status::Corruption("tree of " + std::to_string(root.height) + " levels");
    }
    CAMBIUM_RETURN_IF_ERROR(PassOver(
        Enter({root.page, root.entry_count, root.value_bytes}, root.height - 1, std::nullopt, std::nullopt)));
    while (!path_.empty()) {
      if (path_.back().view.is_leaf()) {
        CAMBIUM_RETURN_IF_ERROR(PassOver(VisitEntries(path_.back())));
        path_.pop_back();
      } else if (path_.back().next_child == path_.back().view.count()) {
        path_.pop_back();
      } else {
        CAMBIUM_RETURN_IF_ERROR(PassOver(EnterNextChild(&path_.back())));
      }
    }
    return Status::OK();
  }

 private:
  // Reports damage to on_damage, if set. A damaged page is not on the path.
  Status PassOver(const Status& s) const {
    const bool is_damage = s.IsCorruption() || s.IsNotSupported() || s.IsIOError();
    return is_damage && callbacks_.on_damage ? callbacks_.on_damage(s) : s;
  }

  Status EnterNextChild(Node* node) {
    const std::uint32_t i = node->next_child++;
    std::string scratch;
    std::optional<std::string> lower = node->lower;
    std::optional<std::string> upper = node->upper;
    if (i > 0) lower = node->view.key(i - 1, &scratch).ToString();
    if (i < node->view.key_count()) upper = node->view.key(i, &scratch).ToString();
    return Enter(node->view.child(i), node->view.level() - 1, std::move(lower), std::move(upper));
  }

  // Reads a page, checks it, also against what its parent says, and pushes it onto the path.
  Status Enter(const ChildRef& ref, unsigned level, std::optional<std::string> lower,
               std::optional<std::string> upper) {
    CAMBIUM_TRY(const IndexFile* file, files_.FileOf(ref.page.id));
    Node node;
    node.path = file->path();
    node.offset = file->OffsetOf(ref.page.id);
    const auto corrupt = [&](const std::string& what) {
      return Status::Corruption(what).WithContext(PagePlaceName(node.path, node.offset));
    };
    if (!Claim(ref.page.id)) return corrupt("reached twice");
    CAMBIUM_RETURN_IF_ERROR(file->ReadAndExpandPage(ref.page.id, &node.bytes));
    CAMBIUM_TRY(node.view, PageView::Parse({node.bytes.data(), node.bytes.size()}, node.path, node.offset));
    const PageView& view = node.view;
    if (view.checksum() != ref.page.checksum) return corrupt("checksum is not the one that its parent expects");
    if (view.level() != level) {
      return corrupt("level is " + std::to_string(view.level()) + "; its parent expects " + std::to_string(level));
    }
    if (view.entry_count() != ref.entry_count || view.value_bytes() != ref.value_bytes) {
      return corrupt("holds " + std::to_string(view.entry_count()) + " entries with " +
                     std::to_string(view.value_bytes()) + " bytes of values; its parent says " +
                     std::to_string(ref.entry_count) + " with " + std::to_string(ref.value_bytes));
    }
    CAMBIUM_RETURN_IF_ERROR(view.CheckKeys(order_, node.path, node.offset));
    node.lower = std::move(lower);
    node.upper = std::move(upper);
    if (!KeysInBounds(node)) return corrupt("keys outside of the bounds that its parent's separators set");
    (view.is_leaf() ? stats_->leaves : stats_->branches) += 1;
    stats_->page_bytes += file->PageBytes(ref.page.id);
    stats_->raw_page_bytes += node.bytes.size();
    if (callbacks_.on_page) CAMBIUM_RETURN_IF_ERROR(callbacks_.on_page(view));
    path_.push_back(std::move(node));
    return Status::OK();
  }

  // A leaf's first key may equal the lower bound. A branch's first separator must be above the lower bound, because a
  // child lies to the left of that separator.
  [[nodiscard]] bool KeysInBounds(const Node& node) const {
    const std::uint32_t n = node.view.key_count();
    if (n == 0) return true;
    std::string scratch;
    if (node.lower) {
      const int c = order_.Compare(*node.lower, node.view.key(0, &scratch));
      if (c > 0 || (c == 0 && !node.view.is_leaf())) return false;
    }
    return !node.upper || order_.Compare(node.view.key(n - 1, &scratch), *node.upper) < 0;
  }

  Status VisitEntries(const Node& node) {
    std::string scratch;
    BranchFilter filter;
    if (path_.size() > 1 && order_.equal_means_same_bytes) filter = path_[path_.size() - 2].view.filter();
    for (std::uint32_t i = 0; i < node.view.count(); ++i) {
      if (filter.count > 0 && !filter.MayContain(FilterHash(node.view.key(i, &scratch)))) {
        return Status::Corruption("key that the filter above its page does not have")
            .WithContext(PagePlaceName(node.path, node.offset));
      }
      const Entry entry = node.view.entry(i);
      ++stats_->entries;
      if (entry.kind == EntryKind::kTombstone) ++stats_->tombstones;
      if (callbacks_.on_entry) CAMBIUM_RETURN_IF_ERROR(callbacks_.on_entry(node.view.key(i, &scratch), entry));
    }
    return Status::OK();
  }

  // Marks the page's units as used, with one bit per unit. Returns false if one of them belongs to a page met before.
  [[nodiscard]] bool Claim(PageId id) {
    std::vector<bool>& units = claimed_[FileNumberOf(id)];
    const std::size_t begin = UnitOffsetOf(id);
    const std::size_t end = begin + UnitsOf(id);
    if (units.size() < end) units.resize(end);
    for (std::size_t unit = begin; unit < end; ++unit) {
      if (units[unit]) return false;
      units[unit] = true;
    }
    return true;
  }

  const FileSet& files_;
  const KeyOrder order_;
  const TreeCheckCallbacks& callbacks_;
  TreeCheckStats* const stats_;
  std::vector<Node> path_;
  std::map<std::uint64_t, std::vector<bool>> claimed_;
};

}  // namespace

Status CheckTree(const TreeRoot& root, const FileSet& files, const Comparator* comparator,
                 const TreeCheckCallbacks& callbacks, TreeCheckStats* stats) {
  return TreeWalk(files, comparator, callbacks, stats).Run(root);
}

}  // namespace cambium
