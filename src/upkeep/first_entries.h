// FirstEntries: looks ahead of a cursor, to tell whether a run will be so small that it gets small pages.
//
// A run of a few keys with pages of 4096 bytes takes three blocks of the disk: its header, a leaf, and the filter with
// the footer. With pages of 512 bytes it takes one. Log GC writes such a run for each family that it moves values of,
// so with 1,000 families the size of a run decides how much space a step takes, and how much it frees.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "index/page_format.h"
#include "memtable/entry_cursor.h"

namespace cambium {

inline constexpr std::uint32_t kSmallPageSize = kPageSizeMin;
// A small run has at most kSmallRunBytes of keys and inline values, counted with kSmallRunEntryBytes for each entry and
// with the longest key kSmallRunWholeKeys times, because the branch and the footer store whole keys. Such a run nearly
// always fits into one block. Range deletes, or a comparator that cannot shorten separators, may make it longer.
inline constexpr std::size_t kSmallRunBytes = 1536;
inline constexpr std::size_t kSmallRunEntryBytes = 16;
inline constexpr std::size_t kSmallRunWholeKeys = 4;

class FirstEntries {
 public:
  // Copies entries of the cursor, and moves it on, until they are too many for a small run. Reports no error of the
  // cursor: it is invalid then.
  explicit FirstEntries(EntryCursor* cursor);

  // True if the copied entries are all that the cursor had, and each fits into a small page.
  [[nodiscard]] bool AreAll() const { return are_all_; }
  // Passes each copied entry to visit(key, entry), which returns a Status.
  template <typename Visit>
  [[nodiscard]] Status ForEach(const Visit& visit) const {
    for (const Copy& each : copies_) {
      Entry entry = each.entry;
      if (entry.kind == EntryKind::kInline) entry.inline_value = each.inline_value;
      CAMBIUM_RETURN_IF_ERROR(visit(Slice(each.key), entry));
    }
    return Status::OK();
  }

 private:
  struct Copy {
    std::string key;
    Entry entry;
    std::string inline_value;
  };

  std::vector<Copy> copies_;
  bool are_all_ = false;
};

}  // namespace cambium
