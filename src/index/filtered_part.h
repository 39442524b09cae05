// FilteredPart: the entries about which the compaction filter of a family was asked since a call of CompactRange began.
//
// CompactRange asks about each version of a key once, even if the version passes through several compactions: from
// level to level, or as the neighbour of a key that is merged into the same leaf. So each compaction notes here the
// entries about which it has asked, and does not ask about noted ones. Background compactions that run during the call
// do so too.
//
//   files    a file is noted if the filter was asked about every value in it. Files are written once; for an index
//            segment, all pages that were written since the call began count, and older pages are in other segments
//   walked   a walk through a tree does not rewrite a leaf if the filter keeps all of its values. So these values
//            are noted by key: those of the tree from `Walked::from` to `Walked::to`; the value of `Walked::to`
//            itself only with `includes_to`
//
// Values of a run on top of the layers, from a flush, are never noted. Relocated values are: log GC puts those that
// were asked about into runs of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "util/mutant.h"

namespace cambium {

// The values are shared between threads as immutable copies.
class FilteredPart {
 public:
  // The part of a tree that a walk has shown to the filter.
  struct Walked {
    std::optional<std::string> from;  // unset: from the first key
    std::optional<std::string> to;    // unset: to the last
    bool includes_to = false;
    bool is_complete = false;  // the walk has ended
  };

  explicit FilteredPart(const Comparator* comparator) : comparator_(comparator) {}

  void AddFile(std::uint64_t number) { files_.insert(number); }
  void SetWalked(Walked walked) { walked_ = std::move(walked); }
  // Forgets the files that are not in `current`.
  void KeepFiles(const std::set<std::uint64_t>& current) {
    std::erase_if(files_, [&current](std::uint64_t number) { return !current.contains(number); });
  }

  // Whether the filter was asked about all values of this file.
  [[nodiscard]] bool HasFile(std::uint64_t number) const {
    return files_.contains(number) && !MutantIs(Mutant::kFilterIsAskedAgain);
  }
  // Whether the filter was asked about the value of this key in a leaf of the tree. `number` is the leaf's file.
  [[nodiscard]] bool HasInTree(std::uint64_t number, Slice key) const { return HasFile(number) || IsWalked(key); }
  // Whether a walk has come to its end.
  [[nodiscard]] bool is_walk_complete() const { return walked_.has_value() && walked_->is_complete; }

 private:
  [[nodiscard]] bool IsWalked(Slice key) const {
    if (!walked_.has_value() || MutantIs(Mutant::kFilterIsAskedAgain)) return false;
    if (walked_->from.has_value() && comparator_->Compare(key, *walked_->from) < 0) return false;
    if (!walked_->to.has_value()) return true;
    const int order = comparator_->Compare(key, *walked_->to);
    return order < 0 || (order == 0 && walked_->includes_to);
  }

  const Comparator* comparator_;
  std::set<std::uint64_t> files_;
  std::optional<Walked> walked_;
};

}  // namespace cambium
