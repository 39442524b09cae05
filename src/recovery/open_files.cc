#include "recovery/open_files.h"

#include <algorithm>

#include "cambium/column_family.h"
#include "manifest/file_names.h"
#include "util/mutant.h"
#include "vlog/segment_scanner.h"

namespace cambium {
namespace {

Result<std::unique_ptr<File>> OpenNamed(FileSystem& fs, const std::string& path, OpenMode mode) {
  std::unique_ptr<File> file;
  const Status opened = fs.Open(path, mode, {}, &file);
  if (opened.IsPathNotFound()) return Status::Corruption(path + ": is named in the MANIFEST and missing");
  if (!opened.ok()) return opened;
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(file->GetInfo(&info));
  if (!info.is_regular) return Status::Corruption(path + ": is not a regular file");
  return file;
}

Status AnotherFile(const std::string& path) {
  return Status::Corruption(path + ":0: this is not the file that the MANIFEST names: its ids differ");
}

Status CheckLength(const File& file, std::uint64_t length) {
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(file.GetInfo(&info));
  if (info.size >= length) return Status::OK();
  return Status::Corruption(file.path() + ":" + std::to_string(info.size) + ": the file is cut off; " +
                            std::to_string(length) + " bytes of it are committed");
}

}  // namespace

bool HasFile(const FamilyState& family, std::uint64_t number) {
  return family.index_segments.contains(number) || family.level_runs.contains(number) ||
         std::ranges::any_of(family.runs, [number](const RunInfo& run) { return run.number == number; });
}

Status CheckDefaultFamily(const std::string& directory, const ManifestState& state) {
  const auto found = state.families.find(0);
  if (found == state.families.end() || found->second.name != kDefaultColumnFamilyName) {
    return Status::Corruption(directory + ": the MANIFEST names no default column family");
  }
  return Status::OK();
}

Result<std::unique_ptr<File>> OpenLayerFile(FileSystem& fs, const std::string& directory, const ManifestState& state,
                                            FileKind kind, std::uint64_t number) {
  const std::string path = FilePath(directory, kind, number);
  CAMBIUM_TRY(std::unique_ptr<File> file, OpenNamed(fs, path, OpenMode::kReadOnly));
  CAMBIUM_TRY(const FileHeader header, ReadFileHeader(*file, kind, number));
  if (header.database_id != state.database_id) return AnotherFile(path);
  return file;
}

HeaderDamage HeaderRuleOf(WALRecoveryMode mode) {
  const bool may_lose = mode == WALRecoveryMode::kPointInTimeRecovery && !MutantIs(Mutant::kDamagedHeaderLosesAll);
  return may_lose ? HeaderDamage::kIgnoreInLog : HeaderDamage::kRefuse;
}

Result<FileHeader> ReadSegmentHeader(const File& file, const ManifestState& state, const SegmentInfo& info,
                                     HeaderDamage rule, std::string* damage) {
  const FileKind kind = FileKindOf(info.kind);
  char bytes[kFileHeaderSize];
  std::size_t read = 0;
  CAMBIUM_RETURN_IF_ERROR(file.Read(0, sizeof(bytes), bytes, &read));
  const Status whole = DecodeFileHeader({bytes, read}, file.path()).status();
  if (whole.IsCorruption() && rule == HeaderDamage::kIgnoreInLog && info.kind == SegmentKind::kLog) {
    *damage = whole.message();
    FileHeader header;
    header.kind = kind;
    header.database_id = state.database_id;
    header.file_id = info.file_id;
    header.number = info.number;
    header.epoch = info.epoch;
    return header;
  }
  CAMBIUM_TRY(const FileHeader header, ReadFileHeader(file, kind, info.number));
  if (header.file_id != info.file_id || header.database_id != state.database_id) return AnotherFile(file.path());
  return header;
}

Result<std::shared_ptr<Segment>> OpenSegment(FileSystem& fs, const std::string& directory, const ManifestState& state,
                                             const SegmentInfo& info, bool writable,
                                             std::function<void(std::list<std::string>)> on_release, HeaderDamage rule,
                                             std::string* damage) {
  const FileKind kind = FileKindOf(info.kind);
  const std::string path = FilePath(directory, kind, info.number);
  CAMBIUM_TRY(std::unique_ptr<File> file,
              OpenNamed(fs, path, writable && !info.sealed ? OpenMode::kReadWrite : OpenMode::kReadOnly));
  std::string ignored;
  CAMBIUM_TRY(const FileHeader header,
              ReadSegmentHeader(*file, state, info, rule, damage == nullptr ? &ignored : damage));
  if (info.sealed) CAMBIUM_RETURN_IF_ERROR(CheckLength(*file, info.sealed_length));
  auto segment =
      std::make_shared<Segment>(info.number, info.slot, path, std::move(file), header, std::move(on_release));
  segment->SetHoles(info.punched, info.cut);
  return segment;
}

bool IsMadeFromLog(FileKind kind) {
  return kind == FileKind::kRun || kind == FileKind::kIndex || kind == FileKind::kRelocation;
}

bool WasNeverWritten(const ManifestState& state) {
  return state.last_sequence == 0 && state.durable_sequence == 0 && state.segments.empty();
}

namespace {

// Returns whether the log segment begins with a whole record.
Result<bool> HasRecord(const File& file, const FileHeader& header) {
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(file.GetInfo(&info));
  SegmentScanner scanner(file, header.Seed(), kFileHeaderSize, info.size, nullptr);
  ScannedRecord record;
  CAMBIUM_TRY(const ScanResult first, scanner.Next(&record));
  return first == ScanResult::kRecord;
}

// Checks whether a crash can have left a file that the state does not name. Corruption if not.
Status CheckStray(FileSystem& fs, const std::string& path, const NumberedFile& found, const ManifestState& state) {
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(fs.Open(path, OpenMode::kReadOnly, {}, &file));
  const Result<FileHeader> header = ReadFileHeader(*file, found.kind, found.number);
  if (!header.ok()) return header.status().IsIOError() ? header.status() : Status::OK();
  if (header->epoch < state.epoch || header->database_id != state.database_id) return Status::OK();
  if (found.kind != FileKind::kLog) {
    return Status::Corruption(path +
                              ": a run, index segment or relocation segment of a database to which, by its MANIFEST, "
                              "nothing was ever written; the MANIFEST has lost its end");
  }
  CAMBIUM_TRY(const bool has_record, HasRecord(*file, *header));
  if (!has_record) return Status::OK();
  return Status::Corruption(path +
                            ": a log segment with records that the MANIFEST does not name; the MANIFEST has "
                            "lost its end");
}

}  // namespace

Status CheckStrayFiles(FileSystem& fs, const std::string& directory, const ManifestState& state) {
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(fs, directory));
  const bool was_never_written = WasNeverWritten(state) && !MutantIs(Mutant::kIgnoreStrayIndexFiles);
  for (const NumberedFile& found : files) {
    // A segment below the replay position was named once, and dropped since. Only its file was not removed.
    const bool is_log =
        found.kind == FileKind::kLog && !state.segments.contains(found.number) && found.number > state.replay.segment;
    const bool is_index = IsMadeFromLog(found.kind) && was_never_written;
    if (is_log || is_index) {
      CAMBIUM_RETURN_IF_ERROR(CheckStray(fs, FilePath(directory, found.kind, found.number), found, state));
    }
  }
  return Status::OK();
}

}  // namespace cambium
