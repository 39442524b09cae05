// The format of an index page. Runs and the copy-on-write tree consist of the same pages.
//
// A page is 1 to 64 units of the file's page size, and never changes once written. All numbers are little-endian.
//
//   offset  size  field
//        0     8  checksum       XXH3 of everything after it, seed = SeedAt(file seed, byte offset of the page)
//        8     8  page id        its own: a page read from a wrong place is detected
//       16     1  type           PageType; a compressed leaf (3) differs after the header: see compressed_page.h
//       17     1  level          0 = leaf; a branch has one more than its children
//       18     1  flags          1 heads ascend (keys are in byte order), 2 slots are 4 bytes wide
//       19     1  filter probes  bits that a key sets in the page's filter; 0: no filter. Only level 1 may have one
//       20     4  count          leaf: entries; branch: children
//       24     4  prefix length  bytes that all keys of the page start with
//       28     4  suffix length  bytes that all keys of the page end with, not overlapping the prefix
//       32     4  key stride     length of every middle (key without prefix and suffix); 0xffffffff if they differ
//       36     4  heap offset    where the keys end and the inline values begin
//       40     8  value bytes    leaf: sizes of all values; branch: the sum over its children
//
//   48          prefix | suffix | zeros up to a multiple of 8
//               leaf    words  u64[count]      one word per key, see below
//               branch  ids u64[count] | checksums u64[count] | entry counts u64[count] | value bytes u64[count]
//               heads  u32[keys]               the first 4 bytes after the prefix, read as a big-endian number and
//                                              padded with zeros: heads compare as the keys do
//               stride:  rest bytes[keys]      each middle, without the bytes that its head holds
//               or:      slots u16|u32[keys+1] offsets of the middles from the end of the slots | whole middles
//   heap offset leaf: inline values | zeros up to the end of the page
//               branch, with a filter:
//               filter blocks u32      n, a power of two
//               filter keys u32        how many were added to it, including keys no longer below the page
//               zeros | blocks[n], 64 bytes each, up to the end of the page
//
//   leaf:   count keys.    keys[i] -> words[i]
//   branch: count-1 keys.  children[0] | keys[0] | children[1] | keys[1] | ...
//           children[i] holds every key k with keys[i-1] <= k < keys[i]
//
// Random keys of 16 bytes take 21 bytes each; ascending 8-byte numbers with a constant tail take 12. A search reads the
// header's cache line, a few lines of heads, one of rests and one of words. Middles of unequal length repeat the bytes
// of their heads: that costs up to 4 bytes a key and keeps every middle contiguous.
//
// A word: its kind in bits 63..60 (EntryKind), and the rest by kind:
//   kValue, kLargeValue   the rest of the ValueAddress
//   kInline               bits 58..32 length, bits 31..0 offset of the value in the page, at or after the heap offset.
//                         Bit 59: the value has a version. Then the 8 bytes before the value, which are at or after the
//                         heap offset too, are the sequence number of its write, at least 1. Only in families that keep
//                         versions
//   kTombstone            zeros
//
// Filters: see branch_filter.h. Only the copy-on-write tree has them; a run has one filter for all of its keys. A
// branch with a filter has up to kFilteredBranchUnits, half of them for the filter, so that it still has many children.
//
// Order: under byte order, searches compare heads, and separators of branches are shortened. Under any other
// comparator, also under reverse byte order, flag 1 is off, searches compare whole keys, and separators are whole keys;
// prefix and suffix must then be computed over all keys, not only over the first and the last.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>

#include "cambium/comparator.h"
#include "cambium/slice.h"
#include "index/branch_filter.h"
#include "manifest/page_id.h"
#include "util/coding.h"
#include "util/result.h"
#include "vlog/entry.h"

namespace cambium {

inline constexpr std::size_t kPageTypeOffset = 16;
inline constexpr std::size_t kPageLevelOffset = 17;
inline constexpr std::size_t kPageHeaderSize = 48;
inline constexpr std::uint32_t kPageSizeMin = 512;
inline constexpr std::uint32_t kPageSizeMax = 16 * 1024;
inline constexpr std::size_t kWordBytes = 8;    // columns of a leaf, per entry
inline constexpr std::size_t kChildBytes = 32;  // columns of a branch, per child
inline constexpr std::size_t kHeadBytes = 4;
inline constexpr std::size_t kVersionBytes = 8;  // before an inline value with a version
inline constexpr std::uint64_t kWordHasVersion = std::uint64_t{1} << 59;  // in the word of an inline value
inline constexpr std::size_t kFilterFactsBytes = 8;
inline constexpr std::uint32_t kVariableStride = 0xffffffffu;
inline constexpr std::uint32_t kMaxTreeHeight = 16;

// The longest key that a file of this page size takes: every branch has room for four such keys, so a tree never needs
// more than kMaxTreeHeight levels.
[[nodiscard]] constexpr std::size_t MaxKeySizeFor(std::uint32_t page_size) {
  const std::size_t limit = std::size_t{16} * page_size;
  return limit < kMaxKeySize ? limit : kMaxKeySize;
}
// The longest value that may be stored inline.
[[nodiscard]] constexpr std::size_t MaxInlineSizeFor(std::uint32_t page_size) { return page_size / 4; }
[[nodiscard]] constexpr bool IsLegalPageSize(std::uint64_t page_size) {
  return page_size >= kPageSizeMin && page_size <= kPageSizeMax && (page_size & (page_size - 1)) == 0;
}

enum class PageType : std::uint8_t { kLeaf = 1, kBranch = 2, kCompressedLeaf = 3 };
inline constexpr std::uint8_t kPageHeadsAscend = 1;
inline constexpr std::uint8_t kPageWideSlots = 2;
inline constexpr unsigned kFilteredBranchUnits = 4;
inline constexpr unsigned kFilterUnits = 2;  // at most this many of them for the filter

// A comparator with two facts about it, asked once instead of at every page: is it byte order, and may filters be used?
struct KeyOrder {
  KeyOrder(const Comparator* c)  // NOLINT: implicit
      : comparator(c), bytewise(c == BytewiseComparator()), equal_means_same_bytes(c->EqualMeansSameBytes()) {}
  [[nodiscard]] int Compare(Slice a, Slice b) const {
    if (!bytewise) return comparator->Compare(a, b);
    // Most keys differ in their first bytes; this saves the call of memcmp.
    if (a.size() >= sizeof(std::uint64_t) && b.size() >= sizeof(std::uint64_t)) {
      const std::uint64_t x = __builtin_bswap64(DecodeFixed<std::uint64_t>(a.data()));
      const std::uint64_t y = __builtin_bswap64(DecodeFixed<std::uint64_t>(b.data()));
      if (x != y) return x < y ? -1 : 1;
    }
    return a.compare(b);
  }
  const Comparator* comparator;
  bool bytewise;
  bool equal_means_same_bytes;
};

// A branch's reference to a child: its place, its checksum, and the totals of all pages below it.
struct ChildRef {
  PagePointer page;
  std::uint64_t entry_count = 0;
  std::uint64_t value_bytes = 0;
  friend bool operator==(const ChildRef&, const ChildRef&) = default;
};

// Returns the bytes that an entry adds to the value bytes of its page: the size in its address, or its inline size.
[[nodiscard]] inline std::uint64_t ValueBytesOf(const Entry& entry) {
  return entry.HasAddress() ? entry.address.size() : entry.inline_value.size();
}

// Returns the bytes that an entry adds to the heap of its page.
[[nodiscard]] inline std::size_t HeapBytesOf(const Entry& entry) {
  return entry.inline_value.size() + (entry.version() != 0 ? kVersionBytes : 0);
}

// Returns "index page at 000012.run:4096", the context of every message about a page.
[[nodiscard]] std::string PagePlaceName(const std::string& path, std::uint64_t offset);

// The checksum that the page's first 8 bytes must hold if the page lies at `id` in the file with this seed.
[[nodiscard]] std::uint64_t PageChecksum(Slice page, PageId id, std::uint32_t page_size, std::uint64_t file_seed);

// Sets the id and the checksum of an otherwise complete page, and returns the checksum.
std::uint64_t PlacePage(std::string* page, PageId id, std::uint32_t page_size, std::uint64_t file_seed);

// Verifies a page read from disk: its length, its checksum for this place, and its own id. If one is wrong, returns
// Corruption with `path` and offset in the message. The contents are not checked: PageView::Parse does that, or
// CompressedPage::Parse for a compressed leaf.
Status VerifyPage(Slice page, PageId id, std::uint32_t page_size, std::uint64_t file_seed, const std::string& path);

// A page as keys with entries or children. Borrows the page's bytes. Parse checks each offset, length and count once,
// in O(count); afterwards no call reads outside the page, whatever the bytes are. It does not check that keys ascend: a
// search in a page with unordered keys terminates, but may give a wrong answer. CheckKeys and MergeCursor detect such
// pages. Any thread.
class PageView {
 public:
  PageView() = default;

  // Parses a leaf or a branch; a compressed leaf must have been expanded. Corruption, or NotSupported for an entry kind
  // of a later version; `path` and `offset` are for the message.
  static Result<PageView> Parse(Slice page, const std::string& path, std::uint64_t offset);

  [[nodiscard]] std::uint64_t checksum() const;
  [[nodiscard]] PageId id() const;
  [[nodiscard]] PagePointer pointer() const { return {id(), checksum()}; }
  [[nodiscard]] bool is_leaf() const { return level_ == 0; }
  [[nodiscard]] unsigned level() const { return level_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }          // entries or children
  [[nodiscard]] std::uint32_t key_count() const { return key_count_; }  // of a branch: count() - 1
  [[nodiscard]] std::uint64_t value_bytes() const { return value_bytes_; }
  [[nodiscard]] std::uint64_t entry_count() const;  // in and below this page: O(1) for a leaf, O(count) for a branch
  [[nodiscard]] Slice bytes() const { return {data_, size_}; }
  // Bytes without padding. O(count) for a leaf with inline values.
  [[nodiscard]] std::size_t used_bytes() const;

  // Key i, in *scratch or in the page itself: valid until *scratch changes or the page is released.
  [[nodiscard]] Slice key(std::uint32_t i, std::string* scratch) const;

  // If all keys have the same length, only their middles differ. A caller that has key(i) then gets another key by
  // overwriting the bytes after the prefix with CopyMiddle.
  [[nodiscard]] bool has_fixed_stride() const { return slots_ == nullptr; }
  [[nodiscard]] std::size_t prefix_size() const { return prefix_size_; }
  void CopyMiddle(std::uint32_t i, char* out) const {
    assert(has_fixed_stride() && i < key_count_);
    const std::uint32_t bytes = __builtin_bswap32(head(i));
    if (stride_ <= kHeadBytes) {
      std::memcpy(out, &bytes, stride_);
      return;
    }
    const std::size_t rest = stride_ - kHeadBytes;
    std::memcpy(out, &bytes, kHeadBytes);
    std::memcpy(out + kHeadBytes, keys_ + i * rest, rest);
  }

  // True if the heads alone prove that key(i - 1) < key(i).
  [[nodiscard]] bool HeadsAscendTo(std::uint32_t i) const {
    return (flags_ & kPageHeadsAscend) != 0 && head(i - 1) < head(i);
  }

  // Prefetches the cache lines that a search may need all at once; otherwise it would wait for three or four in turn.
  void PrefetchSearch() const;
  // Where a search reads first, for callers that prefetch before they have pinned the page.
  [[nodiscard]] const char* search_begin() const { return heads_; }
  // Leaf: the first i with key(i) >= target, or count(). Sets *equal to whether key(i) == target.
  [[nodiscard]] std::uint32_t LowerBound(Slice target, const KeyOrder& order, bool* equal) const;
  // Branch: the index of the child that covers target.
  [[nodiscard]] std::uint32_t ChildFor(Slice target, const KeyOrder& order) const;

  [[nodiscard]] EntryKind kind(std::uint32_t i) const {  // leaf
    assert(is_leaf() && i < count_);
    return static_cast<EntryKind>(column(0, i) >> 60);
  }
  [[nodiscard]] Entry entry(std::uint32_t i) const;     // leaf; an inline value borrows from the page
  [[nodiscard]] ChildRef child(std::uint32_t i) const {  // branch
    assert(!is_leaf() && i < count_);
    return {{static_cast<PageId>(column(0, i)), column(1, i)}, column(2, i), column(3, i)};
  }
  [[nodiscard]] PagePointer child_pointer(std::uint32_t i) const {
    assert(!is_leaf() && i < count_);
    return {static_cast<PageId>(column(0, i)), column(1, i)};
  }
  void PrefetchChildPointer(std::uint32_t i) const {
    __builtin_prefetch(columns_ + std::size_t{i} * 8);
    __builtin_prefetch(columns_ + (std::size_t{count_} + i) * 8);
  }
  // The filter over all keys below the page; borrows from it. Only some branches of level 1 have one.
  [[nodiscard]] const BranchFilter& filter() const { return filter_; }

  // The full check of the keys: they strictly ascend, and each head is that of its key.
  Status CheckKeys(const KeyOrder& order, const std::string& path, std::uint64_t offset) const;

 private:
  struct Middle {
    const char* rest;  // the middle from its fifth byte on
    std::uint32_t length;
  };
  Status ParseHeader(Slice page);
  Status ParseKeys();
  [[nodiscard]] Status ParseEntries() const;
  [[nodiscard]] Status ParseChildren() const;
  Status ParseFilter();
  [[nodiscard]] std::uint64_t column(unsigned which, std::uint32_t i) const {
    return DecodeFixed<std::uint64_t>(columns_ + (std::size_t{which} * count_ + i) * 8);
  }
  [[nodiscard]] std::size_t slot_bytes() const { return (flags_ & kPageWideSlots) != 0 ? 4 : 2; }
  [[nodiscard]] std::uint32_t slot(std::uint32_t i) const;
  [[nodiscard]] std::uint32_t head(std::uint32_t i) const {
    return DecodeFixed<std::uint32_t>(heads_ + std::size_t{i} * kHeadBytes);
  }
  [[nodiscard]] Middle middle(std::uint32_t i) const;
  [[nodiscard]] std::size_t key_size(std::uint32_t i) const;
  void CopyKey(std::uint32_t i, char* out) const;
  [[nodiscard]] int CompareBehindHead(std::uint32_t i, Slice target) const;
  // The number of keys < target, or <= target if `or_equal`.
  [[nodiscard]] std::uint32_t CountBelow(Slice target, const KeyOrder& order, bool or_equal, bool* equal) const;
  [[nodiscard]] std::uint32_t CountBelowByHeads(Slice target, bool or_equal, bool* equal) const;

  const char* data_ = nullptr;
  BranchFilter filter_;  // near the front: a lookup that ends here then reads one line of a PageFrame, others two
  const char* columns_ = nullptr;  // words or children
  const char* heads_ = nullptr;
  const char* slots_ = nullptr;    // null with a fixed stride
  const char* keys_ = nullptr;     // rests or middles
  std::uint32_t size_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t key_count_ = 0;
  std::uint32_t prefix_size_ = 0;
  std::uint32_t suffix_size_ = 0;
  std::uint32_t stride_ = 0;
  std::uint32_t heap_offset_ = 0;
  std::uint8_t level_ = 0;
  std::uint8_t flags_ = 0;
  std::uint64_t value_bytes_ = 0;  // last, because lookups do not read it; see PageFrame
};

}  // namespace cambium
