#include "index/page_builder.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "index/filter.h"
#include "util/coding.h"
#include "util/common_prefix.h"

namespace cambium {
namespace {

std::size_t CommonSuffix(Slice a, Slice b, std::size_t limit) {
  limit = std::min({limit, a.size(), b.size()});
  std::size_t n = 0;
  while (n < limit && a[a.size() - 1 - n] == b[b.size() - 1 - n]) ++n;
  return n;
}

unsigned UnitsFor(std::size_t bytes, std::uint32_t page_size) {
  return static_cast<unsigned>(std::max<std::size_t>(1, (bytes + page_size - 1) / page_size));
}

std::size_t FillLimit(unsigned units, const PageBuilderOptions& options) {
  return std::size_t{units} * options.page_size * options.fill_percent / 100;
}

unsigned FillPercent(std::size_t used, unsigned units, const PageBuilderOptions& options) {
  return static_cast<unsigned>(used * 100 / (std::size_t{units} * options.page_size));
}

Status TooBig(const char* what, std::size_t size, std::size_t limit) {
  return Status::InvalidArgument(std::string(what) + " of " + std::to_string(size) + " bytes; an index page takes " +
                                 std::to_string(limit));
}

// `heap_size`: the bytes of the heap before those of the entry.
std::uint64_t WordOf(const Entry& entry, std::size_t heap_size) {
  if (entry.HasAddress()) return entry.address.word();
  const std::uint64_t kind = static_cast<std::uint64_t>(entry.kind) << 60;
  if (entry.kind != EntryKind::kInline) return kind;
  const std::uint64_t word = kind | std::uint64_t{entry.inline_value.size()} << 32;
  return entry.version() == 0 ? word | heap_size : word | kWordHasVersion | (heap_size + kVersionBytes);
}

}  // namespace

void KeyColumn::Clear() {
  bytes_.clear();
  ends_.clear();
  shape_ = Shape();
}

Slice KeyColumn::key(std::uint32_t i) const {
  assert(i < ends_.size());
  const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
  return {bytes_.data() + begin, ends_[i] - begin};
}

KeyColumn::Shape KeyColumn::With(Slice new_key) const {
  const std::size_t size = new_key.size();
  if (shape_.count == 0) return {1, size, size, size, size, size};
  const Slice first = key(0);
  return {shape_.count + 1,
          shape_.bytes + size,
          CommonPrefix(first.substr(0, shape_.prefix), new_key),
          CommonSuffix(first, new_key, shape_.suffix),
          std::min(shape_.shortest, size),
          std::max(shape_.longest, size)};
}

std::size_t KeyColumn::Shape::encoded_size() const {
  if (count == 0) return 0;
  const std::size_t ends = prefix + stored_suffix();
  const std::size_t size = AlignUp(kPageHeaderSize + ends, 8) - kPageHeaderSize + count * kHeadBytes;
  if (has_stride()) {
    const std::size_t stride = longest - ends;
    return size + count * (stride > kHeadBytes ? stride - kHeadBytes : 0);
  }
  return size + (count + 1) * (wide_slots() ? 4 : 2) + middle_bytes();
}

void KeyColumn::Add(Slice new_key, const Shape& with_key) {
  shape_ = with_key;
  bytes_.append(new_key.data(), new_key.size());
  ends_.push_back(bytes_.size());
}

namespace {

// The parts of a page, and how they are put together; see the drawing in page_format.h.
struct PageAssembly {
  PageType type = PageType::kLeaf;
  unsigned level = 0;
  std::uint32_t count = 0;
  std::uint64_t value_bytes = 0;
  unsigned filter_probes = 0;
  bool heads_ascend = false;
  const KeyColumn* keys = nullptr;
  Slice columns;
  Slice heap;
  Slice tail;  // at the end of the page

  // Writes `size` bytes, without checksum and page id.
  void WriteTo(std::string* page, std::size_t size) const;

 private:
  void AppendKeys(std::string* page) const;
};

void PageAssembly::AppendKeys(std::string* page) const {
  const KeyColumn::Shape& shape = keys->shape();
  const std::size_t ends = shape.prefix + shape.stored_suffix();
  for (std::uint32_t i = 0; i < keys->count(); ++i) {
    const Slice key = keys->key(i);
    PutFixed<std::uint32_t>(page, BigEndianHead32(key.substr(shape.prefix, key.size() - shape.prefix)));
  }
  if (keys->count() == 0) return;
  const auto middle = [&](std::uint32_t i) {
    const Slice key = keys->key(i);
    return key.substr(shape.prefix, key.size() - ends);
  };
  if (shape.has_stride()) {
    for (std::uint32_t i = 0; i < keys->count(); ++i) {
      const Slice m = middle(i);
      if (m.size() > kHeadBytes) page->append(m.data() + kHeadBytes, m.size() - kHeadBytes);
    }
    return;
  }
  std::size_t offset = 0;
  for (std::uint32_t i = 0; i <= keys->count(); ++i) {
    if (shape.wide_slots()) {
      PutFixed<std::uint32_t>(page, static_cast<std::uint32_t>(offset));
    } else {
      PutFixed<std::uint16_t>(page, static_cast<std::uint16_t>(offset));
    }
    if (i < keys->count()) offset += middle(i).size();
  }
  for (std::uint32_t i = 0; i < keys->count(); ++i) page->append(middle(i).data(), middle(i).size());
}

void PageAssembly::WriteTo(std::string* page, std::size_t size) const {
  const KeyColumn::Shape& shape = keys->shape();
  const bool has_keys = shape.count > 0;
  const std::size_t suffix = has_keys ? shape.stored_suffix() : 0;
  const bool has_stride = !has_keys || shape.has_stride();
  const std::size_t heap_offset = kPageHeaderSize + shape.encoded_size() + columns.size();
  assert(heap_offset + heap.size() + tail.size() <= size);

  page->clear();
  page->reserve(size);
  page->resize(16);  // checksum and id, which PlacePage sets
  page->push_back(static_cast<char>(type));
  page->push_back(static_cast<char>(level));
  page->push_back(static_cast<char>((heads_ascend ? kPageHeadsAscend : 0) |
                                    (has_keys && shape.wide_slots() ? kPageWideSlots : 0)));
  page->push_back(static_cast<char>(filter_probes));
  PutFixed<std::uint32_t>(page, count);
  PutFixed<std::uint32_t>(page, static_cast<std::uint32_t>(shape.prefix));
  PutFixed<std::uint32_t>(page, static_cast<std::uint32_t>(suffix));
  PutFixed<std::uint32_t>(
      page, has_stride ? static_cast<std::uint32_t>(shape.longest - shape.prefix - suffix) : kVariableStride);
  PutFixed<std::uint32_t>(page, static_cast<std::uint32_t>(heap_offset));
  PutFixed<std::uint64_t>(page, value_bytes);
  assert(page->size() == kPageHeaderSize);

  if (has_keys) {
    const Slice any = keys->key(0);
    page->append(any.data(), shape.prefix);
    page->append(any.data() + any.size() - suffix, suffix);
  }
  page->resize(AlignUp(page->size(), 8));
  page->append(columns.data(), columns.size());
  AppendKeys(page);
  assert(page->size() == heap_offset);
  page->append(heap.data(), heap.size());
  page->resize(size - tail.size());
  page->append(tail.data(), tail.size());
}

}  // namespace

std::size_t LeafBuilder::used_bytes() const {
  return empty() ? 0 : kPageHeaderSize + keys_.shape().encoded_size() + words_.size() * kWordBytes + heap_.size();
}

unsigned LeafBuilder::fill_percent() const { return FillPercent(used_bytes(), units_, options_); }

std::size_t LeafBuilder::SizeWith(const KeyColumn::Shape& keys, const Entry& entry) const {
  return kPageHeaderSize + keys.encoded_size() + (words_.size() + 1) * kWordBytes + heap_.size() +
         HeapBytesOf(entry);
}

bool LeafBuilder::Fits(Slice key, const Entry& entry) const {
  return empty() || SizeWith(keys_.With(key), entry) <= FillLimit(units_, options_);
}

Status LeafBuilder::Add(Slice key, const Entry& entry) {
  if (key.size() > MaxKeySizeFor(options_.page_size)) {
    return TooBig("key", key.size(), MaxKeySizeFor(options_.page_size));
  }
  if (entry.kind == EntryKind::kInline && entry.inline_value.size() > MaxInlineSizeFor(options_.page_size)) {
    return TooBig("inline value", entry.inline_value.size(), MaxInlineSizeFor(options_.page_size));
  }
  if (!entry.HasAddress() && entry.kind != EntryKind::kInline && entry.kind != EntryKind::kTombstone) {
    return Status::NotSupported("entry of kind " + std::to_string(static_cast<unsigned>(entry.kind)) +
                                " in an index page");
  }
  const KeyColumn::Shape keys = keys_.With(key);
  const std::size_t size = SizeWith(keys, entry);
  const std::size_t limit = std::size_t{kPageUnitsMax} * options_.page_size;
  if (size > limit) return TooBig("page", size, limit);
  units_ = std::max(units_, UnitsFor(size, options_.page_size));
  words_.push_back(WordOf(entry, heap_.size()));
  if (entry.version() != 0) PutFixed<std::uint64_t>(&heap_, entry.version());
  heap_.append(entry.inline_value.data(), entry.inline_value.size());
  keys_.Add(key, keys);
  value_bytes_ += ValueBytesOf(entry);
  return Status::OK();
}

bool LeafBuilder::FitsIn(std::size_t size_max, Slice key, const Entry& entry) const {
  return empty() || SizeWith(keys_.With(key), entry) <= size_max;
}

std::shared_ptr<const LeafKeys> LeafBuilder::HashKeys() const {
  auto keys = std::make_shared<LeafKeys>();
  keys->hashes.reserve(count());
  for (std::uint32_t i = 0; i < count(); ++i) keys->hashes.push_back(FilterHash(keys_.key(i)));
  return keys;
}

ChildRef LeafBuilder::Finish(PageId id, std::uint64_t file_seed, std::string* page) {
  assert(UnitsOf(id) == units_);
  ChildRef ref = FinishUnplaced(page);
  ref.page = {id, PlacePage(page, id, options_.page_size, file_seed)};
  return ref;
}

ChildRef LeafBuilder::FinishUnplaced(std::string* page) {
  assert(!empty());
  const std::size_t heap_offset = kPageHeaderSize + keys_.shape().encoded_size() + words_.size() * kWordBytes;
  std::string columns;
  columns.reserve(words_.size() * kWordBytes);
  for (const std::uint64_t word : words_) {
    const bool is_inline = static_cast<EntryKind>(word >> 60) == EntryKind::kInline;
    PutFixed<std::uint64_t>(&columns, is_inline ? word + heap_offset : word);
  }
  PageAssembly assembly;
  assembly.count = count();
  assembly.value_bytes = value_bytes_;
  assembly.heads_ascend = order_.bytewise;
  assembly.keys = &keys_;
  assembly.columns = columns;
  assembly.heap = heap_;
  assembly.WriteTo(page, std::size_t{units_} * options_.page_size);
  const ChildRef ref{{}, count(), value_bytes_};
  keys_.Clear();
  words_.clear();
  heap_.clear();
  value_bytes_ = 0;
  units_ = 1;
  return ref;
}

std::uint64_t BranchBuilder::FilterKeysMax() const {
  return std::uint64_t{kFilterUnits} * options_.page_size * 8 / options_.filter_bits_per_key;
}

std::uint32_t BranchBuilder::BlocksFor(std::uint64_t keys) const {
  const std::uint64_t blocks_max = std::uint64_t{kFilterUnits} * options_.page_size / kFilterBlockSize;
  if (keys >= FilterKeysMax()) return static_cast<std::uint32_t>(blocks_max);
  const std::uint64_t blocks = (keys * options_.filter_bits_per_key + kFilterBlockBits - 1) / kFilterBlockBits;
  return static_cast<std::uint32_t>(std::min(std::bit_ceil(std::max<std::uint64_t>(blocks, 1)), blocks_max));
}

std::size_t BranchBuilder::ColumnBytes(const KeyColumn::Shape& keys, std::size_t children) const {
  return kPageHeaderSize + keys.encoded_size() + children * kChildBytes + (has_filter() ? kFilterFactsBytes : 0);
}

std::size_t BranchBuilder::ColumnBytesMax() const {
  return FillLimit(has_filter() ? kFilteredBranchUnits - kFilterUnits : 1, options_);
}

std::size_t BranchBuilder::used_bytes() const {
  if (empty()) return 0;
  return ColumnBytes(keys_.shape(), children_.size()) + std::size_t{filter_blocks()} * kFilterBlockSize;
}

unsigned BranchBuilder::fill_percent() const {
  if (!has_filter() || units_ > usual_units()) return FillPercent(used_bytes(), units_, options_);
  const std::size_t columns = ColumnBytes(keys_.shape(), children_.size());
  const unsigned by_keys = static_cast<unsigned>(std::min<std::uint64_t>(100, entry_count_ * 100 / FilterKeysMax()));
  return std::max(by_keys, FillPercent(columns, kFilteredBranchUnits - kFilterUnits, options_));
}

bool BranchBuilder::Fits(Slice separator, const ChildRef& child) const {
  const std::size_t columns = ColumnBytes(ShapeWith(separator), children_.size() + 1);
  if (count() < kBranchChildrenMin) {
    const std::size_t filter = std::size_t{has_filter() ? kFilterUnits : 0} * options_.page_size;
    return columns + filter <= std::size_t{kPageUnitsMax} * options_.page_size;
  }
  if (has_filter() && entry_count_ + child.entry_count > FilterKeysMax()) return false;
  if (columns <= ColumnBytesMax()) return true;
  if (units_ <= usual_units()) return false;
  const std::size_t filter = has_filter() ? std::size_t{BlocksFor(entry_count_ + child.entry_count)} * kFilterBlockSize : 0;
  return columns + filter <= FillLimit(units_, options_);
}

Status BranchBuilder::Add(Slice separator, const ChildRef& child, std::shared_ptr<const LeafKeys> keys_below) {
  if (separator.size() > MaxKeySizeFor(options_.page_size)) {
    return TooBig("separator", separator.size(), MaxKeySizeFor(options_.page_size));
  }
  // The children's totals come from files, so they may be corrupt. Every page above adds them up.
  std::uint64_t entry_count = 0;
  std::uint64_t value_bytes = 0;
  if (__builtin_add_overflow(entry_count_, child.entry_count, &entry_count) ||
      __builtin_add_overflow(value_bytes_, child.value_bytes, &value_bytes)) {
    return Status::Corruption("totals of the children of an index page overflow");
  }
  const KeyColumn::Shape keys = ShapeWith(separator);
  std::size_t size = ColumnBytes(keys, children_.size() + 1);
  if (has_filter()) size += std::size_t{BlocksFor(entry_count)} * kFilterBlockSize;
  const std::size_t limit = std::size_t{kPageUnitsMax} * options_.page_size;
  if (size > limit) return TooBig("page", size, limit);
  entry_count_ = entry_count;
  value_bytes_ = value_bytes;
  units_ = std::max(units_, UnitsFor(size, options_.page_size));
  if (empty()) {
    lower_ = separator.ToString();
  } else {
    keys_.Add(separator, keys);
  }
  children_.push_back(child);
  leaf_keys_.push_back(std::move(keys_below));
  return Status::OK();
}

ChildRef BranchBuilder::Finish(PageId id, std::uint64_t file_seed, const BranchFilterBuilder* filter,
                               std::string* page) {
  assert(!empty() && UnitsOf(id) == units_);
  ChildRef ref{{}, entry_count_, value_bytes_};
  std::string columns;
  columns.reserve(children_.size() * kChildBytes);
  for (const ChildRef& child : children_) PutFixed<std::uint64_t>(&columns, static_cast<std::uint64_t>(child.page.id));
  for (const ChildRef& child : children_) PutFixed<std::uint64_t>(&columns, child.page.checksum);
  for (const ChildRef& child : children_) PutFixed<std::uint64_t>(&columns, child.entry_count);
  for (const ChildRef& child : children_) PutFixed<std::uint64_t>(&columns, child.value_bytes);
  PageAssembly assembly;
  assembly.type = PageType::kBranch;
  assembly.level = level_;
  assembly.count = count();
  assembly.value_bytes = ref.value_bytes;
  assembly.heads_ascend = order_.bytewise;
  assembly.keys = &keys_;
  assembly.columns = columns;
  std::string facts;
  if (filter != nullptr) {
    assert(filter->blocks().size() == std::size_t{filter_blocks()} * kFilterBlockSize);
    assembly.filter_probes = FilterProbesFor(options_.filter_bits_per_key);
    PutFixed<std::uint32_t>(&facts, filter_blocks());
    PutFixed<std::uint32_t>(&facts, filter->keys());
    assembly.heap = facts;
    assembly.tail = filter->blocks();
  }
  assembly.WriteTo(page, std::size_t{units_} * options_.page_size);
  ref.page = {id, PlacePage(page, id, options_.page_size, file_seed)};
  lower_.clear();
  keys_.Clear();
  children_.clear();
  leaf_keys_.clear();
  entry_count_ = 0;
  value_bytes_ = 0;
  units_ = 1;
  return ref;
}

Slice ShortestSeparator(Slice left, Slice right, const KeyOrder& order) {
  if (!order.bytewise) return right;
  const std::size_t shared = CommonPrefix(left, right);
  return right.substr(0, std::min(shared + 1, right.size()));
}

}  // namespace cambium
