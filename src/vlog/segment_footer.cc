#include "vlog/segment_footer.h"

#include <algorithm>

#include "io/file_header.h"
#include "util/checksum.h"
#include "util/coding.h"
#include "vlog/entry.h"

namespace cambium {
namespace {

// More than the bytes of an entry without its key, and of the gap before it, which have six varints.
constexpr std::size_t kEntryOverheadMax = 7 * 10;

}  // namespace

void SegmentFooterBuilder::Reserve(std::size_t records, std::size_t key_bytes) {
  entries_.reserve(entries_.size() + (records + 1) * kEntryOverheadMax + key_bytes + kFooterTrailerSize);
}

void SegmentFooterBuilder::EndGap() {
  if (gap_ == 0) return;
  PutVarint64(&entries_, 0);
  PutVarint64(&entries_, gap_ / kRecordAlignment);
  gap_ = 0;
  ++count_;
}

void SegmentFooterBuilder::AddRecord(RecordOp op, std::uint32_t family, Slice key, std::uint64_t record_size,
                                     bool separated) {
  if (!separated) {
    gap_ += record_size;
    return;
  }
  EndGap();
  PutVarint64(&entries_, static_cast<std::uint64_t>(op));
  PutVarint64(&entries_, family);
  PutVarint64(&entries_, record_size / kRecordAlignment);
  PutLengthPrefixed(&entries_, key);
  ++count_;
}

std::string SegmentFooterBuilder::Finish(std::uint64_t file_seed, std::uint64_t offset) {
  EndGap();
  std::string out = std::move(entries_);
  const std::uint64_t size = out.size();
  PutFixed<std::uint64_t>(&out, size);
  PutFixed<std::uint64_t>(&out, count_);
  PutFixed<std::uint64_t>(&out, 0);
  PutFixed<std::uint64_t>(&out, Checksum64(out, SeedAt(file_seed, offset)));
  Clear();
  return out;
}

void SegmentFooterBuilder::Clear() {
  entries_.clear();
  count_ = 0;
  gap_ = 0;
}

Status ReadSegmentFooter(const File& file, std::uint64_t file_seed, std::uint64_t first, std::uint64_t sealed_length,
                         std::uint64_t file_size, const std::function<Status(const FooterEntry&)>& visit) {
  const auto corrupt = [&](const char* what) {
    return Status::Corruption(file.path() + ":" + std::to_string(sealed_length) + ": segment footer " + what);
  };
  if (file_size < sealed_length + kFooterTrailerSize) return corrupt("is cut off");
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(file.GetInfo(&info));
  if (info.size < file_size) return corrupt("is cut off");
  std::string bytes(file_size - sealed_length, '\0');
  std::size_t read = 0;
  CAMBIUM_RETURN_IF_ERROR(file.Read(sealed_length, bytes.size(), bytes.data(), &read));
  if (read != bytes.size()) return corrupt("is cut off");
  const Slice checked(bytes.data(), bytes.size() - 8);
  if (!ChecksumMatches(DecodeFixed<std::uint64_t>(checked.end()), Checksum64(checked, SeedAt(file_seed, sealed_length)))) {
    return corrupt("checksum mismatch");
  }
  const char* trailer = bytes.data() + bytes.size() - kFooterTrailerSize;
  Slice entries(bytes.data(), bytes.size() - kFooterTrailerSize);
  if (DecodeFixed<std::uint64_t>(trailer) != entries.size()) return corrupt("size does not match its trailer");
  std::uint64_t count = DecodeFixed<std::uint64_t>(trailer + 8);
  std::uint64_t at = first;
  for (; !entries.empty(); --count) {
    std::uint64_t op = 0;
    std::uint64_t units = 0;
    FooterEntry entry{};
    bool sound = count > 0 && GetVarint64(&entries, &op) && op < 256;
    if (sound && op == 0) {
      sound = GetVarint64(&entries, &units);
    } else if (sound) {
      sound = GetVarint32(&entries, &entry.family) && GetVarint64(&entries, &units) &&
              GetLengthPrefixed(&entries, &entry.key) && entry.key.size() <= kMaxKeySize;
    }
    if (!sound || units == 0 || units > (sealed_length - at) / kRecordAlignment) {
      return corrupt("has an entry that does not fit the segment");
    }
    if (op != 0) {
      entry.op = static_cast<RecordOp>(op);
      entry.offset = at;
      entry.size = units * kRecordAlignment;
      CAMBIUM_RETURN_IF_ERROR(visit(entry));
    }
    at += units * kRecordAlignment;
  }
  if (at != sealed_length || count != 0) return corrupt("does not cover the segment");
  return Status::OK();
}

namespace {

// Returns where the last byte that is not zero ends. Skips at most kZerosMax zeros. The log takes less space ahead than
// that, and a file of holes may be larger than the disk.
Result<std::uint64_t> EndWithoutZeros(const File& file, std::uint64_t file_size) {
  constexpr std::uint64_t kStep = 64u << 10;
  constexpr std::uint64_t kZerosMax = 4u << 20;
  const std::uint64_t first = std::max<std::uint64_t>(kFileHeaderSize, file_size - std::min(file_size, kZerosMax));
  std::string bytes;
  for (std::uint64_t end = file_size; end > first;) {
    const std::uint64_t start = std::max(first, (end - 1) / kStep * kStep);
    bytes.resize(end - start);
    std::size_t read = 0;
    CAMBIUM_RETURN_IF_ERROR(file.Read(start, bytes.size(), bytes.data(), &read));
    const std::size_t last = std::string_view(bytes.data(), read).find_last_not_of('\0');
    if (last != std::string_view::npos) return start + last + 1;
    end = start;
  }
  return first;
}

// As FindFooter, for a footer that ends exactly at `file_end`.
Result<std::uint64_t> FindFooterBefore(const File& file, std::uint64_t file_seed, std::uint64_t file_end) {
  if (file_end < kFileHeaderSize + kFooterTrailerSize) return std::uint64_t{0};
  std::string trailer(kFooterTrailerSize, '\0');
  std::size_t have = 0;
  CAMBIUM_RETURN_IF_ERROR(file.Read(file_end - trailer.size(), trailer.size(), trailer.data(), &have));
  const auto entries = DecodeFixed<std::uint64_t>(trailer.data());
  const std::uint64_t room = file_end - kFileHeaderSize - kFooterTrailerSize;
  const std::uint64_t entries_max = std::min(room / 2, kFooterFoundMax);
  if (have < trailer.size() || entries > entries_max) return std::uint64_t{0};
  const std::uint64_t end = file_end - kFooterTrailerSize - entries;
  const Status whole = ReadSegmentFooter(file, file_seed, kFileHeaderSize, end, file_end,
                                         [](const FooterEntry&) { return Status::OK(); });
  if (whole.IsCorruption()) return std::uint64_t{0};
  CAMBIUM_RETURN_IF_ERROR(whole);
  return end;
}

}  // namespace

Result<std::uint64_t> FindFooter(const File& file, std::uint64_t file_seed, std::uint64_t file_size) {
  CAMBIUM_TRY(const std::uint64_t from, EndWithoutZeros(file, file_size));
  // The checksum at the end of the footer may itself end with zeros.
  for (std::uint64_t end = from; end <= std::min(file_size, from + 8); ++end) {
    CAMBIUM_TRY(const std::uint64_t found, FindFooterBefore(file, file_seed, end));
    if (found != 0) return found;
  }
  return std::uint64_t{0};
}

}  // namespace cambium
