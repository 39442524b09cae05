#include "upkeep/first_entries.h"

#include <algorithm>
#include <utility>

namespace cambium {

FirstEntries::FirstEntries(EntryCursor* cursor) {
  bool fits = true;
  std::size_t bytes = 0;
  std::size_t longest = 0;
  for (; fits && cursor->Valid(); cursor->Next()) {
    Copy copy{cursor->key().ToString(), cursor->entry(), {}};
    if (copy.entry.kind == EntryKind::kInline) copy.inline_value = copy.entry.inline_value.ToString();
    bytes += copy.key.size() + HeapBytesOf(copy.entry) + kSmallRunEntryBytes;
    longest = std::max(longest, copy.key.size());
    fits = bytes + kSmallRunWholeKeys * longest <= kSmallRunBytes &&
           copy.inline_value.size() <= MaxInlineSizeFor(kSmallPageSize);
    copies_.push_back(std::move(copy));
  }
  are_all_ = fits && cursor->status().ok();
}

}  // namespace cambium
