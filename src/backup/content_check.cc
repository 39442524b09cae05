#include "backup/content_check.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "backup/copy_file.h"
#include "index/index_file.h"
#include "index/page_format.h"
#include "index/run_footer.h"
#include "inspect/page_walk.h"
#include "inspect/segment_walk.h"
#include "io/file_header.h"
#include "util/checksum.h"
#include "util/mutant.h"
#include "vlog/record_format.h"
#include "vlog/segment_footer.h"
#include "vlog/value_reader.h"

namespace cambium {
namespace {

class Check {
 public:
  Check(const ManifestState& state, const FileToCheck& checked, const std::function<Status()>& go_on)
      : state_(state), checked_(checked), go_on_(go_on) {}

  Status Run(FileSystem& fs) {
    const auto segment = state_.segments.find(checked_.name.number);
    // A segment without a record may lack even its header after a crash.
    const bool is_segment = segment != state_.segments.end();
    if (is_segment && !segment->second.sealed && checked_.log_end <= kFileHeaderSize) return Status::OK();
    std::unique_ptr<File> opened;
    CAMBIUM_RETURN_IF_ERROR(fs.Open(checked_.path, OpenMode::kReadOnly, {}, &opened));
    file_ = std::move(opened);
    FileInfo info;
    CAMBIUM_RETURN_IF_ERROR(file_->GetInfo(&info));
    size_ = info.size;
    const Result<FileHeader> header = ReadFileHeader(*file_, checked_.name.kind, checked_.name.number);
    if (header.status().IsCorruption()) return Add(DamagedPart::kNeeded, 0, 0, "the file header is damaged");
    CAMBIUM_RETURN_IF_ERROR(header.status());
    header_ = *header;
    if (is_segment) return CheckSegment(segment->second);
    for (const auto& [id, family] : state_.families) {
      for (const RunInfo& run : family.runs) {
        if (run.number == checked_.name.number) return CheckRun(run);
      }
      if (const auto run = family.level_runs.find(checked_.name.number); run != family.level_runs.end()) {
        return CheckRun(run->second.info);
      }
      const auto pages = family.index_segments.find(checked_.name.number);
      if (pages == family.index_segments.end()) continue;
      if (IsAnother(pages->second.file_id)) return AddAnother();
      return CheckPages(pages->second.length);
    }
    return Status::OK();  // the state does not name it
  }

  [[nodiscard]] std::vector<FileDamage> Take() { return std::move(found_); }

 private:
  Status Add(DamagedPart part, std::uint64_t offset, std::uint64_t end, const std::string& what) {
    if (found_.size() > kDamageMax || MutantIs(Mutant::kBackupUnchecked)) return Status::OK();
    const bool is_last = found_.size() == kDamageMax;  // damage that is not listed may be in a needed part
    found_.push_back({checked_.name, is_last ? DamagedPart::kNeeded : part, offset, end,
                      checked_.shown + ":" + std::to_string(offset) + ": " + what});
    return Status::OK();
  }
  [[nodiscard]] bool IsAnother(const Id128& file_id) const {
    return header_.file_id != file_id || header_.database_id != state_.database_id;
  }
  Status AddAnother() { return Add(DamagedPart::kNeeded, 0, 0, "this is not the file that the MANIFEST names"); }

  Status CheckSegment(const SegmentInfo& info) {
    if (IsAnother(info.file_id)) return AddAnother();
    if (info.kind == SegmentKind::kLargeValue) return CheckLargeValue();
    const std::uint64_t end = info.sealed ? info.sealed_length : checked_.log_end;
    std::uint64_t seen_to = info.FirstRecord();  // the end of the records and of the damage met so far
    SegmentWalkCallbacks callbacks;
    callbacks.on_record = [&](const ScannedRecord& record) {
      seen_to = record.end();
      return go_on_();
    };
    callbacks.on_damage = [&](const DamagedStretch& damage) {
      seen_to = damage.end;
      return Add(DamagedPart::kRecords, damage.offset, damage.end, damage.reason);
    };
    std::uint64_t log_end = 0;
    CAMBIUM_RETURN_IF_ERROR(
        WalkSegment(*file_, header_.Seed(), info.FirstRecord(), end, info.punched, callbacks, &log_end));
    // The walk treats zeros up to the end as space that was never written. In this file all space was written.
    if (seen_to < end) CAMBIUM_RETURN_IF_ERROR(Add(DamagedPart::kRecords, seen_to, end, "zeros instead of records"));
    if (!info.has_footer) return Status::OK();
    const Status footer = ReadSegmentFooter(*file_, header_.Seed(), kFileHeaderSize, info.sealed_length, info.file_size,
                                            [](const FooterEntry&) { return Status::OK(); });
    if (!footer.IsCorruption()) return footer;
    return Add(DamagedPart::kFooter, info.sealed_length, info.file_size, "the footer is damaged");
  }

  // Reads the value in pieces, since it may have up to 4 GiB.
  Status CheckLargeValue() {
    const auto damaged = [this](const char* what) {
      return Add(DamagedPart::kNeeded, kLargeRecordOffset, size_, what);
    };
    char bytes[kRecordHeaderSize];
    std::size_t have = 0;
    CAMBIUM_RETURN_IF_ERROR(file_->Read(kLargeRecordOffset, sizeof(bytes), bytes, &have));
    RecordHeader record;
    if (have < sizeof(bytes) ||
        DecodeRecordHeader(bytes, header_.Seed(), kLargeRecordOffset, &record) != HeaderCheck::kValid) {
      return damaged("the record header is damaged");
    }
    if (kLargeRecordOffset + record.RecordSize() > size_) return damaged("the record is cut off");
    const std::uint64_t body = kLargeRecordOffset + kRecordHeaderSize;
    CAMBIUM_TRY(const std::uint64_t checksum, ChecksumOf(body, record.key_size + record.value_size, 0));
    return ChecksumMatches(record.body_checksum, checksum) ? Status::OK() : damaged("record checksum mismatch");
  }

  Status CheckRun(const RunInfo& run) {
    if (IsAnother(run.file_id)) return AddAnother();
    const Result<RunFooter> footer = ReadRunFooter(*file_, run.file_size, header_);
    if (footer.status().IsCorruption()) return Add(DamagedPart::kNeeded, run.file_size, 0, "the footer is damaged");
    CAMBIUM_RETURN_IF_ERROR(footer.status());
    if (footer->checksum != run.footer_checksum) return AddAnother();
    const std::uint64_t seed = header_.Seed();
    if (footer->filter_size > 0) {
      CAMBIUM_TRY(const std::uint64_t checksum,
                  ChecksumOf(footer->filter_offset, footer->filter_size, SeedAt(seed, footer->filter_offset)));
      if (!ChecksumMatches(footer->filter_checksum, checksum)) {
        CAMBIUM_RETURN_IF_ERROR(Add(DamagedPart::kNeeded, footer->filter_offset, 0, "the filter is damaged"));
      }
    }
    if (footer->ranges_size > 0) {
      const std::uint64_t at = footer->ranges_offset();
      CAMBIUM_TRY(const std::uint64_t checksum, ChecksumOf(at, footer->ranges_size, SeedAt(seed, at)));
      if (!ChecksumMatches(footer->ranges_checksum, checksum)) {
        CAMBIUM_RETURN_IF_ERROR(Add(DamagedPart::kNeeded, at, 0, "the range deletes are damaged"));
      }
    }
    return CheckPages(footer->filter_offset);
  }

  Status CheckPages(std::uint64_t end) {
    const Result<std::shared_ptr<const IndexFile>> pages =
        IndexFile::Open(file_, checked_.name.kind, checked_.name.number, nullptr);
    if (pages.status().IsCorruption()) return Add(DamagedPart::kNeeded, 0, 0, "the file header is damaged");
    CAMBIUM_RETURN_IF_ERROR(pages.status());
    PageWalkCallbacks callbacks;
    callbacks.on_page = [this](const WalkedPage&) { return go_on_(); };
    callbacks.on_damage = [this](const DamagedStretch& damage) {
      return Add(DamagedPart::kPages, damage.offset, damage.end, "an index page is damaged");
    };
    return WalkPages(**pages, end, callbacks);
  }

  Result<std::uint64_t> ChecksumOf(std::uint64_t offset, std::uint64_t size, std::uint64_t seed) const {
    Checksum64Stream checksum(seed);
    CAMBIUM_RETURN_IF_ERROR(ReadPieces(*file_, offset, size, [&](std::uint64_t, Slice piece) {
      checksum.Update(piece);
      return go_on_();
    }));
    return checksum.Digest();
  }

  const ManifestState& state_;
  const FileToCheck& checked_;
  const std::function<Status()>& go_on_;
  std::shared_ptr<File> file_;
  std::uint64_t size_ = 0;
  FileHeader header_;
  std::vector<FileDamage> found_;
};

}  // namespace

Result<std::vector<FileDamage>> CheckContents(FileSystem& fs, const ManifestState& state, const FileToCheck& file,
                                              const std::function<Status()>& go_on) {
  Check check(state, file, go_on);
  CAMBIUM_RETURN_IF_ERROR(check.Run(fs));
  return check.Take();
}

}  // namespace cambium
