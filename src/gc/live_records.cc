#include "gc/live_records.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "index/filter.h"
#include "index/lookup.h"
#include "util/mutant.h"
#include "vlog/segment_footer.h"
#include "vlog/segment_scanner.h"

namespace cambium {
namespace {

// Lookups per batch: each may pin a page.
constexpr std::size_t kLookupsTogether = 256;

Status KeepRecord(std::uint32_t source, std::uint32_t family, Slice key, std::uint64_t offset, std::uint64_t size,
                  Arena* keys, std::vector<GcRecord>* records) {
  CAMBIUM_TRY(const Slice copy, CopyKey(key, keys));
  records->push_back({family, source, copy, offset, size});
  return Status::OK();
}

Status WalkRecords(const GcSource& source, std::uint32_t index, Arena* keys, std::vector<GcRecord>* records) {
  const Segment& segment = *source.segment;
  SegmentScanner scanner(segment.file(), segment.seed(), source.info.FirstRecord(), source.info.sealed_length, nullptr);
  scanner.SetHoles(source.info.punched);
  while (true) {
    ScannedRecord record;
    CAMBIUM_TRY(const ScanResult found, scanner.Next(&record));
    if (found == ScanResult::kEnd && scanner.offset() == source.info.sealed_length) return Status::OK();
    if (found != ScanResult::kRecord) {
      return Status::Corruption(segment.path() + ":" + std::to_string(scanner.offset()) + ": " +
                                (found == ScanResult::kEnd ? "the segment ends early" : scanner.reason()));
    }
    if (record.header.op != RecordOp::kPut) continue;
    CAMBIUM_RETURN_IF_ERROR(KeepRecord(index, record.header.family, record.key, record.offset,
                                       record.header.RecordSize(), keys, records));
  }
}

// `records` are of one family, in key order. Moves the live ones to the front and returns their number.
Result<std::size_t> KeepLiveOf(const GcFamily& family, std::span<const GcSource> sources, std::span<GcRecord> records) {
  std::size_t live = 0;
  for (std::size_t from = 0; from < records.size(); from += kLookupsTogether) {
    const std::span<GcRecord> together = records.subspan(from, std::min(kLookupsTogether, records.size() - from));
    std::vector<Lookup> lookups;
    lookups.reserve(together.size());
    for (const GcRecord& record : together) lookups.emplace_back(record.key, FilterHash(record.key));
    family.layers->FindTogether(lookups);
    for (std::size_t i = 0; i < together.size(); ++i) {
      CAMBIUM_RETURN_IF_ERROR(lookups[i].status);
      if (!lookups[i].is_found || !lookups[i].entry.HasAddress()) continue;
      const GcRecord& record = together[i];
      assert(record.source < sources.size());
      const Slot slot = sources[record.source].info.slot;
      if (lookups[i].entry.address != ValueAddress::InLog(slot, record.offset, record.size)) continue;
      records[live++] = record;
    }
  }
  return live;
}

}  // namespace

Result<Slice> CopyKey(Slice key, Arena* keys) {
  if (key.empty()) return Slice();
  CAMBIUM_RETURN_IF_ERROR(keys->Reserve(key.size()));
  char* const copy = keys->TakeBytes(key.size());
  std::memcpy(copy, key.data(), key.size());
  return Slice(copy, key.size());
}

Status ListRecords(const GcSource& source, std::uint32_t index, Arena* keys, std::vector<GcRecord>* records) {
  const std::size_t before = records->size();
  if (source.info.has_footer) {
    const Status listed = ReadSegmentFooter(
        source.segment->file(), source.segment->seed(), kFileHeaderSize, source.info.sealed_length,
        source.info.file_size, [&](const FooterEntry& entry) {
          if (entry.op != RecordOp::kPut) return Status::OK();  // a large value has a file of its own
          if (entry.offset < source.info.cut) return Status::OK();
          return KeepRecord(index, entry.family, entry.key, entry.offset, entry.size, keys, records);
        });
    if (!listed.IsCorruption()) return listed;
    records->resize(before);
  }
  return WalkRecords(source, index, keys, records);
}

Status KeepLive(std::span<const GcFamily> families, std::span<const GcSource> sources, std::vector<GcRecord>* records) {
  std::ranges::stable_sort(*records, {}, &GcRecord::family);
  std::size_t live = 0;
  for (std::size_t from = 0; from < records->size();) {
    const std::uint32_t id = (*records)[from].family;
    std::size_t to = from;
    while (to < records->size() && (*records)[to].family == id) ++to;
    const auto family = std::ranges::find(families, id, &GcFamily::id);
    if (family != families.end()) {
      const std::span<GcRecord> its(records->data() + from, to - from);
      std::ranges::sort(its, [&](const GcRecord& a, const GcRecord& b) {
        return family->comparator->Compare(a.key, b.key) < 0;
      });
      CAMBIUM_TRY(const std::size_t kept, KeepLiveOf(*family, sources, its));
      assert(kept <= its.size() && live <= from);
      std::copy_n(its.begin(), kept, records->begin() + static_cast<std::ptrdiff_t>(live));
      live += kept;
    }
    from = to;
  }
  records->resize(live);
  return Status::OK();
}

}  // namespace cambium
