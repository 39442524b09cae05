#include "inspect/savings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "options/options_check.h"
#include "index/page_format.h"
#include "util/compression.h"
#include "vlog/value_reader.h"

namespace cambium {
namespace {

// The fill of leaves that a sweep writes.
constexpr double kFillOfSweep = 0.95;
// A value is better placed in the index if header, key and padding take more than this part of its record.
constexpr double kAroundRecordMax = 0.25;
constexpr std::uint64_t kTinySegment = 512u << 10;

std::string Percent(double part) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", 100 * part);
  return text;
}

// Bytes of the sampled records, as they are stored now and with each codec.
struct SampledBytes {
  std::uint64_t values = 0;
  std::uint64_t stored = 0;
  std::uint64_t lz4 = 0;
  std::uint64_t zstd = 0;
};

class Finder {
 public:
  Finder(InspectedDatabase* database, const SpaceReport& report, const ValueSample& sample,
         const std::vector<ColumnFamilyOptions>& options, const GcPlan& plan, std::uint64_t least)
      : database_(database), report_(report), sample_(sample), options_(options), plan_(plan), least_(least) {}

  Result<std::vector<Saving>> Run() {
    AddGc();
    AddTinySegments();
    for (std::size_t i = 0; i < report_.families.size(); ++i) {
      const FamilySpace& family = report_.families[i];
      AddMerge(family);
      AddIndexFill(family);
      AddMinBlobSize(family, options_[i]);
      AddFilters(family, options_[i]);
      CAMBIUM_RETURN_IF_ERROR(AddCompression(family, options_[i]));
    }
    std::ranges::stable_sort(savings_, std::greater(), &Saving::bytes);
    return std::move(savings_);
  }

 private:
  void Add(const std::string& family, std::string what, double bytes, std::string how) {
    if (bytes < static_cast<double>(std::max<std::uint64_t>(least_, 1))) return;
    savings_.push_back({family, std::move(what), static_cast<std::uint64_t>(bytes), std::move(how)});
  }

  void AddGc() {
    Add("", "log GC (cambium gc)", static_cast<double>(plan_.moved.bytes_freed + plan_.punched.bytes_freed),
        "forecast of one round: " + std::to_string(plan_.moved.segments + plan_.punched.segments) + " segments, " +
            std::to_string(plan_.moved.bytes_written) + " bytes are moved");
    double young = 0;
    for (const GcPlanSegment& segment : plan_.segments) {
      if (segment.verdict == GcVerdict::kTooYoung) young += static_cast<double>(segment.use.garbage());
    }
    Add("", "blob_garbage_collection_age_cutoff=1 (cambium gc --age-cutoff 1)", young,
        "garbage of segments that are too young by the present cutoff; log GC would copy more values that die soon");
  }

  void AddTinySegments() {
    double overhead = 0;
    std::uint64_t count = 0;
    for (const SegmentSpace& segment : report_.segments) {
      if (segment.info.kind == SegmentKind::kLargeValue || !segment.info.sealed || segment.file_bytes >= kTinySegment)
        continue;
      overhead += static_cast<double>(segment.overhead_bytes);
      overhead += static_cast<double>(segment.allocated_bytes - std::min(segment.allocated_bytes, segment.file_bytes));
      ++count;
    }
    if (count < 2) return;
    Add("", "opening the database less often, or a larger blob_file_size", overhead,
        "headers, footers and unused ends of blocks of " + std::to_string(count) +
            " segments below 512 KiB; log GC joins them");
  }

  // Adds the hidden garbage.
  void AddMerge(const FamilySpace& family) {
    if (!family.is_whole) return;
    const std::uint64_t newest = family.separated_bytes + family.large_bytes;
    const double hidden = static_cast<double>(family.account_bytes - std::min(family.account_bytes, newest));
    Add(family.name, "CompactRange", hidden,
        "accounts minus newest entries: log that only hidden entries refer to, which log GC frees after a compaction");
  }

  void AddIndexFill(const FamilySpace& family) {
    double dead = 0;
    for (const IndexSegmentInfo& segment : family.index_segments) {
      dead +=
          static_cast<double>(segment.length - std::min(segment.length, (segment.live_units + 1) * family.page_size));
    }
    Add(family.name, "sweeps (CompactRange)", dead,
        "pages of index segments that the tree no longer reaches; sweeps free them when they evacuate the segments");
    for (const LayerSpace& layer : family.layers) {
      if (layer.number != 0 || layer.page_bytes == 0) continue;
      const double full = static_cast<double>(layer.used_bytes) / kFillOfSweep;
      Add(family.name, "fuller pages of the tree", static_cast<double>(layer.page_bytes) - full,
          "pages are " + Percent(static_cast<double>(layer.used_bytes) / static_cast<double>(layer.raw_bytes)) +
              " full, a sweep fills them to 95 %; write in key order, or export and import");
    }
  }

  // Adds the saving of a larger min_blob_size, for values that fit into a page and whose records have many bytes
  // in addition to the value.
  void AddMinBlobSize(const FamilySpace& family, const ColumnFamilyOptions& options) {
    const std::uint64_t now = SeparateFrom(options, family.page_size);
    double bytes = 0;
    std::uint64_t values = 0;
    std::uint64_t best = 0;
    for (std::size_t bits = 1; bits < 32; ++bits) {
      const std::uint64_t above = std::uint64_t{1} << bits;  // all values of the bucket are below it
      if (above > MaxInlineSizeFor(static_cast<std::uint32_t>(family.page_size))) break;
      const std::uint64_t count = family.separated_records.counts[bits];
      if (count == 0) continue;
      const auto around = static_cast<double>(family.separated_records.bytes[bits]);
      const double record = around + static_cast<double>(count) * 0.75 * static_cast<double>(above);
      if (around < kAroundRecordMax * record) break;
      bytes += around;
      values += count;
      best = above;
    }
    if (best <= now) return;
    Add(family.name, "min_blob_size=" + std::to_string(best), bytes,
        "headers, keys and padding of the records of " + std::to_string(values) +
            " smaller values that are separated now; every compaction of the index would write them again");
  }

  void AddFilters(const FamilySpace& family, const ColumnFamilyOptions& options) {
    double bytes = 0;
    for (const LayerSpace& layer : family.layers) bytes += static_cast<double>(layer.filter_bytes);
    if (options.filter_bits_per_key == 0) return;
    Add(family.name, "filter_bits_per_key=0", bytes,
        "filters of runs and branches, at " + std::to_string(options.filter_bits_per_key) +
            " bits a key now; without them a lookup of a missing key reads a leaf of every layer");
  }

  Status AddCompression(const FamilySpace& family, const ColumnFamilyOptions& options) {
    const auto drawn = sample_.by_family.find(family.id);
    if (drawn == sample_.by_family.end()) return Status::OK();
    SampledBytes sum;
    for (const ValueSampleEntry& entry : drawn->second) CAMBIUM_RETURN_IF_ERROR(AddSampled(entry, &sum));
    if (sum.stored == 0) return Status::OK();
    const auto all = static_cast<double>(sample_.bytes_of.at(family.id));
    const auto add = [&](const char* name, CompressionType type, std::uint64_t bytes) {
      if (options.blob_compression_type == type || bytes >= sum.stored) return;
      const double part = 1 - static_cast<double>(bytes) / static_cast<double>(sum.stored);
      Add(family.name, std::string("blob_compression_type=") + name, part * all,
          "the records of " + std::to_string(sum.values) +
              " values, those whose keys have the smallest hashes, shrink by " + Percent(part) +
              "; applies to values that are written or moved from then on");
    };
    add("kLZ4Compression", kLZ4Compression, sum.lz4);
    add("kZSTD", kZSTD, sum.zstd);
    return Status::OK();
  }

  Status AddSampled(const ValueSampleEntry& entry, SampledBytes* sum) {
    std::string buffer;
    Slice value;
    const Status s = ReadValue(database_->segments(), {entry.address, entry.family, entry.key}, &buffer, &value);
    if (!s.ok()) return database_->problems().Note(s);
    const std::uint64_t around = kRecordHeaderSize + entry.key.size();
    const auto size_with = [&](Codec codec) {
      std::string packed;
      constexpr std::uint64_t kRawSize = 8;  // a field before each compressed value
      const std::uint64_t stored = Compress(codec, value, &packed) ? kRawSize + packed.size() : value.size();
      return (around + stored + 7) / 8 * 8;
    };
    ++sum->values;
    sum->stored += entry.address.size();
    sum->lz4 += size_with(Codec::kLz4);
    sum->zstd += size_with(Codec::kZstd);
    return Status::OK();
  }

  InspectedDatabase* const database_;
  const SpaceReport& report_;
  const ValueSample& sample_;
  const std::vector<ColumnFamilyOptions>& options_;
  const GcPlan& plan_;
  const std::uint64_t least_;
  std::vector<Saving> savings_;
};

}  // namespace

Result<std::vector<Saving>> FindSavings(InspectedDatabase* database, const SpaceReport& report,
                                        const ValueSample& sample, const std::vector<ColumnFamilyOptions>& options,
                                        const GcPlan& plan, std::uint64_t least) {
  return Finder(database, report, sample, options, plan, least).Run();
}

}  // namespace cambium
