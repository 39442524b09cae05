#include "index/run_footer.h"

#include <cassert>

#include "index/page_format.h"
#include "index/read_bytes.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace cambium {
namespace {

constexpr std::size_t kFooterChecksumOffset = 104;
constexpr std::uint32_t kLargestIsOpen = 1;

Status ReadExactly(const File& file, std::uint64_t offset, std::size_t n, std::string* out) {
  out->resize(n);
  std::size_t read = 0;
  CAMBIUM_RETURN_IF_ERROR(ReadBytes(file, offset, n, out->data(), &read));
  if (read == n) return Status::OK();
  return Status::Corruption(file.path() + ":" + std::to_string(offset) + ": run footer is cut off");
}

}  // namespace

RunInfo InfoOf(const RunFooter& footer, const FileHeader& header, std::uint64_t file_size) {
  RunInfo info;
  info.number = header.number;
  info.file_id = header.file_id;
  info.root = footer.root;
  info.tombstone_count = footer.tombstone_count;
  info.file_size = file_size;
  info.footer_checksum = footer.checksum;
  info.range_delete_count = footer.range_count;
  info.smallest_key = footer.smallest_key;
  info.largest_key = footer.largest_key;
  info.largest_is_open = footer.largest_is_open;
  return info;
}

void SpanRanges(const KeyOrder& order, const RangeDeletes& ranges, bool has_keys, RunFooter* footer) {
  if (ranges.empty()) return;
  const std::string& first = ranges.begin(0);
  const std::string& end = ranges.end(ranges.count() - 1);
  if (!has_keys || order.Compare(first, footer->smallest_key) < 0) footer->smallest_key = first;
  footer->largest_is_open = !has_keys || order.Compare(end, footer->largest_key) > 0;
  if (footer->largest_is_open) footer->largest_key = end;
}

std::string EncodeRunFooter(RunFooter* footer, std::uint64_t file_seed) {
  std::string out = footer->smallest_key + footer->largest_key;
  [[maybe_unused]] const std::size_t keys = out.size();
  PutFixed<std::uint64_t>(&out, static_cast<std::uint64_t>(footer->root.page.id));
  PutFixed<std::uint64_t>(&out, footer->root.page.checksum);
  PutFixed<std::uint32_t>(&out, footer->root.height);
  PutFixed<std::uint32_t>(&out, footer->largest_is_open ? kLargestIsOpen : 0);
  PutFixed<std::uint64_t>(&out, footer->root.entry_count);
  PutFixed<std::uint64_t>(&out, footer->tombstone_count);
  PutFixed<std::uint64_t>(&out, footer->root.value_bytes);
  PutFixed<std::uint64_t>(&out, footer->filter_offset);
  PutFixed<std::uint64_t>(&out, footer->filter_size);
  PutFixed<std::uint64_t>(&out, footer->filter_checksum);
  PutFixed<std::uint32_t>(&out, static_cast<std::uint32_t>(footer->smallest_key.size()));
  PutFixed<std::uint32_t>(&out, static_cast<std::uint32_t>(footer->largest_key.size()));
  PutFixed<std::uint64_t>(&out, footer->offset);
  PutFixed<std::uint32_t>(&out, footer->ranges_size);
  PutFixed<std::uint32_t>(&out, footer->range_count);
  PutFixed<std::uint64_t>(&out, footer->ranges_checksum);
  assert(out.size() == keys + kFooterChecksumOffset);
  footer->checksum = Checksum64(out, SeedAt(file_seed, footer->offset));
  PutFixed<std::uint64_t>(&out, footer->checksum);
  assert(out.size() == keys + kRunFooterSize);
  return out;
}

Result<RunFooter> ReadRunFooter(const File& file, std::uint64_t file_size, const FileHeader& header) {
  const auto corrupt = [&](const char* what) {
    return Status::Corruption(file.path() + ":" + std::to_string(file_size) + ": run footer " + what);
  };
  if (file_size < header.page_size + kRunFooterSize) return corrupt("is cut off");
  std::string bytes;
  CAMBIUM_RETURN_IF_ERROR(ReadExactly(file, file_size - kRunFooterSize, kRunFooterSize, &bytes));

  // The place where the keys start is used before the checksum is verified. So it is bounded first: at most two keys
  // before the footer's fixed part.
  RunFooter footer;
  const char* in = bytes.data();
  const auto smallest_size = DecodeFixed<std::uint32_t>(in + 72);
  const auto largest_size = DecodeFixed<std::uint32_t>(in + 76);
  footer.offset = DecodeFixed<std::uint64_t>(in + 80);
  if (smallest_size > kMaxKeySize || largest_size > kMaxKeySize) return corrupt("has a key that is too long");
  const std::uint64_t keys_size = std::uint64_t{smallest_size} + largest_size;
  if (file_size < header.page_size + kRunFooterSize + keys_size ||
      footer.offset != file_size - kRunFooterSize - keys_size) {
    return corrupt("does not end where the file ends");
  }
  std::string keys;
  CAMBIUM_RETURN_IF_ERROR(ReadExactly(file, footer.offset, keys_size, &keys));
  footer.checksum = DecodeFixed<std::uint64_t>(in + kFooterChecksumOffset);
  if (!ChecksumMatches(footer.checksum, Checksum64(keys + bytes.substr(0, kFooterChecksumOffset),
                                                   SeedAt(header.Seed(), footer.offset)))) {
    return corrupt("checksum mismatch");
  }

  footer.smallest_key = keys.substr(0, smallest_size);
  footer.largest_key = keys.substr(smallest_size);
  footer.root.page.id = static_cast<PageId>(DecodeFixed<std::uint64_t>(in));
  footer.root.page.checksum = DecodeFixed<std::uint64_t>(in + 8);
  footer.root.height = DecodeFixed<std::uint32_t>(in + 16);
  footer.root.entry_count = DecodeFixed<std::uint64_t>(in + 24);
  footer.tombstone_count = DecodeFixed<std::uint64_t>(in + 32);
  footer.root.value_bytes = DecodeFixed<std::uint64_t>(in + 40);
  footer.filter_offset = DecodeFixed<std::uint64_t>(in + 48);
  footer.filter_size = DecodeFixed<std::uint64_t>(in + 56);
  footer.filter_checksum = DecodeFixed<std::uint64_t>(in + 64);
  footer.ranges_size = DecodeFixed<std::uint32_t>(in + 88);
  footer.range_count = DecodeFixed<std::uint32_t>(in + 92);
  footer.ranges_checksum = DecodeFixed<std::uint64_t>(in + 96);
  const auto flags = DecodeFixed<std::uint32_t>(in + 20);
  if ((flags & ~kLargestIsOpen) != 0) {
    return Status::NotSupported(file.path() + ": run footer has flags of a later version");
  }
  footer.largest_is_open = (flags & kLargestIsOpen) != 0;
  if (footer.root.height > kMaxTreeHeight || (footer.root.height == 0) != (footer.root.entry_count == 0) ||
      (footer.root.height == 0 && footer.root != TreeRoot{}) ||
      footer.tombstone_count > footer.root.entry_count || (footer.range_count == 0) != (footer.ranges_size == 0) ||
      (footer.largest_is_open && footer.range_count == 0)) {
    return corrupt("has counts that contradict each other");
  }
  if (footer.filter_offset > footer.offset || footer.filter_offset < header.page_size ||
      footer.ranges_size > footer.offset - footer.filter_offset ||
      footer.filter_size != footer.offset - footer.filter_offset - footer.ranges_size) {
    return corrupt("has a filter or range deletes that do not end where it begins");
  }
  return footer;
}

}  // namespace cambium
