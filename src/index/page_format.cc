#include "index/page_format.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "index/filter.h"
#include "util/checksum.h"
#include "util/coding.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::size_t kChecksumOffset = 0;
constexpr std::size_t kIdOffset = 8;
constexpr std::size_t kFlagsOffset = 18;
constexpr std::size_t kFilterProbesOffset = 19;
constexpr std::size_t kCountOffset = 20;
constexpr std::size_t kPrefixOffset = 24;
constexpr std::size_t kSuffixOffset = 28;
constexpr std::size_t kStrideOffset = 32;
constexpr std::size_t kHeapOffset = 36;
constexpr std::size_t kValueBytesOffset = 40;

constexpr std::uint64_t kInlineLengthMask = (std::uint64_t{1} << 27) - 1;

EntryKind KindOf(std::uint64_t word) { return static_cast<EntryKind>(word >> 60); }
bool HasVersion(std::uint64_t word) { return (word & kWordHasVersion) != 0; }
std::uint32_t InlineOffsetOf(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
std::uint32_t InlineLengthOf(std::uint64_t word) {
  return static_cast<std::uint32_t>((word >> 32) & kInlineLengthMask);
}
SequenceNumber VersionBefore(const char* value) { return DecodeFixed<std::uint64_t>(value - kVersionBytes); }

// Returns how many of heads[0, n) are < target. The loop has no data-dependent branch: it costs log2(n) loads and
// avoids about log2(n) / 2 mispredictions.
std::uint32_t HeadsBelow(const char* heads, std::uint32_t n, std::uint32_t target) {
  const char* base = heads;
  while (n > 1) {
    const std::uint32_t half = n / 2;
    const bool below = DecodeFixed<std::uint32_t>(base + std::size_t{half - 1} * 4) < target;
    base += below ? std::size_t{half} * 4 : 0;
    n -= half;
  }
  std::uint32_t before = static_cast<std::uint32_t>((base - heads) / 4);
  if (n == 1) before += DecodeFixed<std::uint32_t>(base) < target ? 1u : 0u;
  return before;
}

// Like memcmp. Most prefixes are a few bytes, for which calling memcmp would cost more than comparing.
int ComparePrefix(const char* a, const char* b, std::size_t size) {
  if (size > 8) return std::memcmp(a, b, size);
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]) ? -1 : 1;
  }
  return 0;
}

// Memory for one key: on the stack unless the key is long.
class KeyScratch {
 public:
  char* Take(std::size_t size) {
    if (size <= sizeof(small_)) return small_;
    large_.resize(size);
    return large_.data();
  }

 private:
  char small_[256];
  std::string large_;
};

// The head of a key with this middle, which may be shorter than a head.
std::uint32_t HeadOf(Slice middle, Slice suffix) {
  if (middle.size() >= kHeadBytes) return __builtin_bswap32(DecodeFixed<std::uint32_t>(middle.data()));
  char bytes[kHeadBytes] = {};
  if (!middle.empty()) std::memcpy(bytes, middle.data(), middle.size());
  const std::size_t rest = std::min<std::size_t>(kHeadBytes - middle.size(), suffix.size());
  if (rest > 0) std::memcpy(bytes + middle.size(), suffix.data(), rest);
  return BigEndianHead32({bytes, kHeadBytes});
}

}  // namespace

std::string PagePlaceName(const std::string& path, std::uint64_t offset) {
  return "index page at " + path + ":" + std::to_string(offset);
}

std::uint64_t PageChecksum(Slice page, PageId id, std::uint32_t page_size, std::uint64_t file_seed) {
  const std::uint64_t seed = MutantIs(Mutant::kPageSeedWithoutOffset)
                                 ? file_seed
                                 : SeedAt(file_seed, UnitOffsetOf(id) * page_size);
  return Checksum64(page.substr(kIdOffset, page.size() - kIdOffset), seed);
}

std::uint64_t PlacePage(std::string* page, PageId id, std::uint32_t page_size, std::uint64_t file_seed) {
  EncodeFixed<std::uint64_t>(page->data() + kIdOffset, static_cast<std::uint64_t>(id));
  const std::uint64_t checksum = PageChecksum(*page, id, page_size, file_seed);
  EncodeFixed<std::uint64_t>(page->data() + kChecksumOffset, checksum);
  return checksum;
}

Status VerifyPage(Slice page, PageId id, std::uint32_t page_size, std::uint64_t file_seed, const std::string& path) {
  const auto corrupt = [&](const std::string& what) {
    return Status::Corruption(what).WithContext(PagePlaceName(path, UnitOffsetOf(id) * page_size));
  };
  const std::size_t expected_size = std::size_t{UnitsOf(id)} * page_size;
  if (page.size() != expected_size) {
    return corrupt("cut off at " + std::to_string(page.size()) + " of " + std::to_string(expected_size) + " bytes");
  }
  if (!ChecksumMatches(DecodeFixed<std::uint64_t>(page.data() + kChecksumOffset),
                       PageChecksum(page, id, page_size, file_seed)) &&
      !(MutantIs(Mutant::kSkipStoredChecksum) &&
        page[kPageTypeOffset] == static_cast<char>(PageType::kCompressedLeaf))) {
    return corrupt("checksum mismatch");
  }
  const auto own_id = DecodeFixed<std::uint64_t>(page.data() + kIdOffset);
  if (own_id != static_cast<std::uint64_t>(id) && !MutantIs(Mutant::kPageSeedWithoutOffset)) {
    return corrupt("page id says that it belongs elsewhere");
  }
  return Status::OK();
}

Result<PageView> PageView::Parse(Slice page, const std::string& path, std::uint64_t offset) {
  PageView view;
  Status status = view.ParseHeader(page);
  if (status.ok()) status = view.ParseKeys();
  if (status.ok()) status = view.is_leaf() ? view.ParseEntries() : view.ParseChildren();
  if (status.ok() && view.filter_.probes != 0) status = view.ParseFilter();
  if (!status.ok()) return status.WithContext(PagePlaceName(path, offset));
  return view;
}

Status PageView::ParseHeader(Slice page) {
  if (page.size() < kPageSizeMin || page.size() > std::size_t{kPageSizeMax} * kPageUnitsMax) {
    return Status::Corruption("impossible size");
  }
  const char* in = page.data();
  const auto type = static_cast<unsigned char>(in[kPageTypeOffset]);
  level_ = static_cast<std::uint8_t>(in[kPageLevelOffset]);
  flags_ = static_cast<std::uint8_t>(in[kFlagsOffset]);
  if (type != static_cast<unsigned char>(PageType::kLeaf) && type != static_cast<unsigned char>(PageType::kBranch)) {
    return Status::Corruption("unknown type");
  }
  if ((type == static_cast<unsigned char>(PageType::kLeaf)) != (level_ == 0)) {
    return Status::Corruption("type and level contradict each other");
  }
  if (level_ >= kMaxTreeHeight) return Status::Corruption("impossible level");
  if ((flags_ & ~(kPageHeadsAscend | kPageWideSlots)) != 0) return Status::Corruption("unknown flags");
  const auto probes = static_cast<unsigned char>(in[kFilterProbesOffset]);
  if (probes > kFilterProbesMax || (probes != 0 && level_ != 1)) {
    return Status::Corruption("filter of " + std::to_string(probes) + " probes at level " + std::to_string(level_));
  }
  filter_.probes = probes;

  data_ = in;
  size_ = static_cast<std::uint32_t>(page.size());
  count_ = DecodeFixed<std::uint32_t>(in + kCountOffset);
  prefix_size_ = DecodeFixed<std::uint32_t>(in + kPrefixOffset);
  suffix_size_ = DecodeFixed<std::uint32_t>(in + kSuffixOffset);
  stride_ = DecodeFixed<std::uint32_t>(in + kStrideOffset);
  heap_offset_ = DecodeFixed<std::uint32_t>(in + kHeapOffset);
  value_bytes_ = DecodeFixed<std::uint64_t>(in + kValueBytesOffset);
  if (count_ == 0) return Status::Corruption("no entries");
  key_count_ = is_leaf() ? count_ : count_ - 1;
  return Status::OK();
}

// Locates the columns and checks that each ends inside the page. The sums cannot overflow: each term is a number below
// 2^32, multiplied by at most 32.
Status PageView::ParseKeys() {
  const auto outside = [] { return Status::Corruption("keys run out of the page"); };
  if (prefix_size_ > size_ || suffix_size_ > size_ || heap_offset_ > size_) return outside();
  if (key_count_ == 0 && (prefix_size_ != 0 || suffix_size_ != 0)) return Status::Corruption("prefix of no keys");

  const std::uint64_t columns = AlignUp(kPageHeaderSize + std::uint64_t{prefix_size_} + suffix_size_, 8);
  const std::uint64_t heads = columns + std::uint64_t{count_} * (is_leaf() ? kWordBytes : kChildBytes);
  const std::uint64_t slots = heads + std::uint64_t{key_count_} * kHeadBytes;
  if (slots > heap_offset_) return outside();
  columns_ = data_ + columns;
  heads_ = data_ + heads;
  // A cursor treats ascending heads as proof that the keys ascend. So each head must match its key.
  const auto wrong_head = [] { return Status::Corruption("head is not that of its key"); };
  const Slice suffix(data_ + kPageHeaderSize + prefix_size_, suffix_size_);

  if (stride_ != kVariableStride) {
    if (stride_ > kMaxKeySize || std::uint64_t{prefix_size_} + stride_ + suffix_size_ > kMaxKeySize) {
      return Status::Corruption("key that is too long");
    }
    if ((flags_ & kPageWideSlots) != 0) return Status::Corruption("wide slots without slots");
    const std::uint64_t rest = stride_ > kHeadBytes ? stride_ - kHeadBytes : 0;
    if (slots + key_count_ * rest != heap_offset_) return outside();
    slots_ = nullptr;
    keys_ = data_ + slots;
    if (stride_ >= kHeadBytes) return Status::OK();  // the heads are part of the keys
    for (std::uint32_t i = 0; i < key_count_; ++i) {
      const std::uint32_t bytes = __builtin_bswap32(head(i));  // they begin with the middle, which is shorter
      if (HeadOf({reinterpret_cast<const char*>(&bytes), stride_}, suffix) != head(i)) return wrong_head();
    }
    return Status::OK();
  }

  const std::uint64_t keys = slots + (std::uint64_t{key_count_} + 1) * slot_bytes();
  if (keys > heap_offset_) return outside();
  slots_ = data_ + slots;
  keys_ = data_ + keys;
  std::uint32_t begin = slot(0);
  if (begin != 0) return Status::Corruption("keys do not begin where they should");
  for (std::uint32_t i = 0; i < key_count_; ++i) {
    const std::uint32_t end = slot(i + 1);
    if (end < begin) return Status::Corruption("keys overlap");
    if (std::uint64_t{prefix_size_} + (end - begin) + suffix_size_ > kMaxKeySize) {
      return Status::Corruption("key that is too long");
    }
    if (keys + end > heap_offset_) return outside();
    if (HeadOf({keys_ + begin, end - begin}, suffix) != head(i)) return wrong_head();
    begin = end;
  }
  if (keys + begin != heap_offset_) return outside();
  return Status::OK();
}

Status PageView::ParseEntries() const {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const std::uint64_t word = column(0, i);
    switch (KindOf(word)) {
      case EntryKind::kValue:
      case EntryKind::kLargeValue:
        sum += ValueAddress(word).size();
        break;
      case EntryKind::kInline: {
        const std::size_t before = HasVersion(word) ? kVersionBytes : 0;
        const std::uint64_t end = std::uint64_t{InlineOffsetOf(word)} + InlineLengthOf(word);
        if (InlineOffsetOf(word) < heap_offset_ + before || end > size_) {
          return Status::Corruption("value outside of the heap");
        }
        if (before != 0) {
          const SequenceNumber version = VersionBefore(data_ + InlineOffsetOf(word));
          if (version == 0 || version > kMaxSequenceNumber) return Status::Corruption("version out of range");
        }
        sum += InlineLengthOf(word);
        break;
      }
      case EntryKind::kTombstone:
        if (word != static_cast<std::uint64_t>(EntryKind::kTombstone) << 60) {
          return Status::Corruption("tombstone with an address");
        }
        break;
      case EntryKind::kMergeOperands:
      case EntryKind::kRangeTombstone:
        return Status::NotSupported("entry of kind " + std::to_string(word >> 60) + ", which is of a later version");
      default:
        return Status::Corruption("entry of unknown kind " + std::to_string(word >> 60));
    }
  }
  if (sum != value_bytes_) return Status::Corruption("sum of value sizes is wrong");
  return Status::OK();
}

Status PageView::ParseChildren() const {
  std::uint64_t sum = 0;
  std::uint64_t entries = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const ChildRef ref = child(i);
    if (UnitOffsetOf(ref.page.id) == 0) return Status::Corruption("child that lies in a file header");
    if (__builtin_add_overflow(sum, ref.value_bytes, &sum) ||
        __builtin_add_overflow(entries, ref.entry_count, &entries)) {
      return Status::Corruption("totals of the children overflow");
    }
  }
  if (sum != value_bytes_) return Status::Corruption("sum of value sizes is wrong");
  return Status::OK();
}

// The blocks are at the end of the page. Its bytes start at a cache line, so the blocks are aligned to lines too.
Status PageView::ParseFilter() {
  const std::uint64_t facts_end = std::uint64_t{heap_offset_} + kFilterFactsBytes;
  if (facts_end > size_) return Status::Corruption("filter runs out of the page");
  const auto blocks = DecodeFixed<std::uint32_t>(data_ + heap_offset_);
  if (!std::has_single_bit(blocks) || facts_end + std::uint64_t{blocks} * kFilterBlockSize > size_) {
    return Status::Corruption("filter of " + std::to_string(blocks) + " blocks");
  }
  filter_.blocks = data_ + size_ - std::size_t{blocks} * kFilterBlockSize;
  filter_.count = blocks;
  filter_.keys = DecodeFixed<std::uint32_t>(data_ + heap_offset_ + 4);
  return Status::OK();
}

std::uint64_t PageView::checksum() const { return DecodeFixed<std::uint64_t>(data_ + kChecksumOffset); }
PageId PageView::id() const { return static_cast<PageId>(DecodeFixed<std::uint64_t>(data_ + kIdOffset)); }

std::uint32_t PageView::slot(std::uint32_t i) const {
  return (flags_ & kPageWideSlots) != 0 ? DecodeFixed<std::uint32_t>(slots_ + std::size_t{i} * 4)
                                        : DecodeFixed<std::uint16_t>(slots_ + std::size_t{i} * 2);
}

PageView::Middle PageView::middle(std::uint32_t i) const {
  if (slots_ == nullptr) {
    const std::size_t rest = stride_ > kHeadBytes ? stride_ - kHeadBytes : 0;
    return {keys_ + i * rest, stride_};
  }
  const std::uint32_t begin = slot(i);
  const std::uint32_t length = slot(i + 1) - begin;
  return {keys_ + begin + std::min<std::uint32_t>(length, kHeadBytes), length};
}

std::size_t PageView::key_size(std::uint32_t i) const {
  return std::size_t{prefix_size_} + middle(i).length + suffix_size_;
}

void PageView::CopyKey(std::uint32_t i, char* out) const {
  const char* prefix = data_ + kPageHeaderSize;
  std::memcpy(out, prefix, prefix_size_);
  out += prefix_size_;
  const Middle m = middle(i);
  const std::uint32_t in_head = std::min<std::uint32_t>(m.length, kHeadBytes);
  if (slots_ == nullptr) {
    const std::uint32_t bytes = __builtin_bswap32(head(i));
    std::memcpy(out, &bytes, in_head);
  } else {
    std::memcpy(out, m.rest - in_head, in_head);
  }
  std::memcpy(out + in_head, m.rest, m.length - in_head);
  std::memcpy(out + m.length, prefix + prefix_size_, suffix_size_);
}

Slice PageView::key(std::uint32_t i, std::string* scratch) const {
  assert(i < key_count_);
  if (slots_ != nullptr && prefix_size_ == 0 && suffix_size_ == 0) {
    const std::uint32_t begin = slot(i);
    return {keys_ + begin, slot(i + 1) - begin};
  }
  scratch->resize(key_size(i));
  CopyKey(i, scratch->data());
  return *scratch;
}

// Compares key i with target, both without the prefix; requires that their zero-padded heads are equal. If one key has
// at most kHeadBytes bytes, the shorter key is then a prefix of the longer one, and so it is smaller.
int PageView::CompareBehindHead(std::uint32_t i, Slice target) const {
  const Middle m = middle(i);
  const std::size_t size = std::size_t{m.length} + suffix_size_;
  if (size <= kHeadBytes || target.size() <= kHeadBytes) {
    return size < target.size() ? -1 : size > target.size() ? 1 : 0;
  }
  target.remove_prefix(kHeadBytes);
  // The rest of the key after its head: the rest of the middle, then the rest of the suffix.
  const std::size_t rest = m.length > kHeadBytes ? m.length - kHeadBytes : 0;
  const std::size_t suffix_in_head = m.length < kHeadBytes ? kHeadBytes - m.length : 0;
  const std::size_t n = std::min(rest, target.size());
  if (const int c = std::memcmp(m.rest, target.data(), n); c != 0) return c;
  if (target.size() < rest) return 1;
  target.remove_prefix(rest);
  const Slice suffix(data_ + kPageHeaderSize + prefix_size_ + suffix_in_head, suffix_size_ - suffix_in_head);
  return suffix.compare(target);
}

std::uint32_t PageView::CountBelowByHeads(Slice target, bool or_equal, bool* equal) const {
  *equal = false;
  const std::size_t shared = std::min<std::size_t>(prefix_size_, target.size());
  const int c = ComparePrefix(data_ + kPageHeaderSize, target.data(), shared);
  if (c != 0) return c < 0 ? key_count_ : 0;
  if (target.size() < prefix_size_) return 0;
  target.remove_prefix(prefix_size_);

  const std::uint32_t h = BigEndianHead32(target);
  std::uint32_t low = HeadsBelow(heads_, key_count_, h);
  if (low == key_count_ || head(low) != h) return low;
  std::uint32_t high = low + 1;
  if (high < key_count_ && head(high) == h) {
    high = h == ~std::uint32_t{0} ? key_count_ : low + HeadsBelow(heads_ + std::size_t{low} * kHeadBytes,
                                                                 key_count_ - low, h + 1);
  }
  while (low < high) {
    const std::uint32_t middle_index = low + (high - low) / 2;
    const int order = CompareBehindHead(middle_index, target);
    if (order == 0) {
      *equal = true;
      return or_equal ? middle_index + 1 : middle_index;
    }
    if (order < 0) {
      low = middle_index + 1;
    } else {
      high = middle_index;
    }
  }
  return low;
}

std::uint32_t PageView::CountBelow(Slice target, const KeyOrder& order, bool or_equal, bool* equal) const {
  if (order.bytewise && (flags_ & kPageHeadsAscend) != 0) return CountBelowByHeads(target, or_equal, equal);
  *equal = false;
  KeyScratch scratch;
  std::uint32_t low = 0;
  std::uint32_t high = key_count_;
  while (low < high) {
    const std::uint32_t i = low + (high - low) / 2;
    const std::size_t size = key_size(i);
    char* bytes = scratch.Take(size);
    CopyKey(i, bytes);
    const int c = order.Compare({bytes, size}, target);
    if (c == 0) {
      *equal = true;
      return or_equal ? i + 1 : i;
    }
    if (c < 0) {
      low = i + 1;
    } else {
      high = i;
    }
  }
  return low;
}

void PageView::PrefetchSearch() const {
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kBytesMax = 16 * kLine;
  const std::size_t heads = std::size_t{key_count_} * kHeadBytes;
  for (std::size_t i = 0; i < std::min(heads, kBytesMax); i += kLine) __builtin_prefetch(heads_ + i);
  if (prefix_size_ > 0) __builtin_prefetch(data_ + kPageHeaderSize);
}

std::uint32_t PageView::LowerBound(Slice target, const KeyOrder& order, bool* equal) const {
  assert(is_leaf());
  return CountBelow(target, order, false, equal);
}

std::uint32_t PageView::ChildFor(Slice target, const KeyOrder& order) const {
  assert(!is_leaf());
  bool equal;
  return CountBelow(target, order, true, &equal);
}

Entry PageView::entry(std::uint32_t i) const {
  assert(is_leaf() && i < count_);
  const std::uint64_t word = column(0, i);
  switch (KindOf(word)) {
    case EntryKind::kTombstone:
      return Entry::Tombstone();
    case EntryKind::kInline: {
      const char* const value = data_ + InlineOffsetOf(word);
      if (HasVersion(word)) [[unlikely]] return Entry::Inline({value, InlineLengthOf(word)}, VersionBefore(value));
      return Entry::Inline({value, InlineLengthOf(word)});
    }
    default:
      return Entry::At(ValueAddress(word));
  }
}

std::uint64_t PageView::entry_count() const {
  if (is_leaf()) return count_;
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < count_; ++i) sum += column(2, i);
  return sum;
}

std::size_t PageView::used_bytes() const {
  if (filter_.count > 0) return heap_offset_ + kFilterFactsBytes + std::size_t{filter_.count} * kFilterBlockSize;
  std::size_t used = heap_offset_;
  for (std::uint32_t i = 0; is_leaf() && i < count_; ++i) {
    const std::uint64_t word = column(0, i);
    if (KindOf(word) != EntryKind::kInline) continue;
    used += InlineLengthOf(word) + (HasVersion(word) ? kVersionBytes : 0);
  }
  return used;
}

Status PageView::CheckKeys(const KeyOrder& order, const std::string& path, std::uint64_t offset) const {
  const auto corrupt = [&](const char* what) {
    return Status::Corruption(what).WithContext(PagePlaceName(path, offset));
  };
  if (((flags_ & kPageHeadsAscend) != 0) != order.bytewise) return corrupt("made for another order of keys");
  std::string previous_scratch;
  std::string scratch;
  Slice previous;
  for (std::uint32_t i = 0; i < key_count_; ++i) {
    const Slice current = key(i, &scratch);
    if (BigEndianHead32(current.substr(prefix_size_, current.size() - prefix_size_)) != head(i)) {
      return corrupt("head is not that of its key");
    }
    if (i > 0 && order.Compare(previous, current) >= 0) return corrupt("keys out of order");
    previous = current;
    if (current.data() == scratch.data()) {
      std::swap(scratch, previous_scratch);
      previous = previous_scratch;
    }
  }
  return Status::OK();
}

}  // namespace cambium
