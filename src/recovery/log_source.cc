#include "recovery/log_source.h"

#include <utility>

#include "manifest/file_names.h"
#include "recovery/open_files.h"
#include "util/mutant.h"
#include "vlog/segment_footer.h"
#include "vlog/segment_scanner.h"

namespace cambium {
namespace {

Status ReadLink(LogSource* source) {
  SegmentScanner scanner(*source->file, source->seed, kFileHeaderSize, source->size, nullptr);
  ScannedRecord record;
  CAMBIUM_TRY(const ScanResult found, scanner.Next(&record));
  SegmentLink link;
  if (found == ScanResult::kInvalid && !source->info.sealed) {
    CAMBIUM_TRY(const bool is_unused, scanner.OnlyZerosAhead());
    if (is_unused) source->size = kFileHeaderSize;
  }
  if (found != ScanResult::kRecord || record.header.op != RecordOp::kLink ||
      !DecodeSegmentLink(record.stored_value, &link)) {
    return Status::OK();
  }
  source->link = link;
  source->link_sequence = record.header.sequence;
  source->link_witness = record.header.DurableSequence();
  return Status::OK();
}

}  // namespace

Result<std::optional<LogSource>> OpenLogSource(const ReplayRequest& request, const SegmentInfo& info) {
  LogSource source;
  source.info = info;
  source.path = FilePath(request.directory, FileKind::kLog, info.number);
  FileOptions options;
  // After a failed sync the page cache may show data that the device has lost, so read from the device.
  options.direct = !MutantIs(Mutant::kRecoverFromCache);
  const Status opened = request.fs->Open(source.path, OpenMode::kReadOnly, options, &source.file);
  if (opened.IsPathNotFound() && MutantIs(Mutant::kIgnoreMissingSegment)) return std::optional<LogSource>();
  if (opened.IsPathNotFound()) {
    return Status::Corruption(source.path + ": log segment is named in the MANIFEST and missing");
  }
  CAMBIUM_RETURN_IF_ERROR(opened);
  FileInfo file_info;
  CAMBIUM_RETURN_IF_ERROR(source.file->GetInfo(&file_info));
  source.size = file_info.size;
  // Read header and footer through a second handle, since direct reads need aligned memory. A footer in the page cache
  // is believed even if the device lost it, because it was right when it was written.
  std::unique_ptr<File> buffered;
  CAMBIUM_RETURN_IF_ERROR(request.fs->Open(source.path, OpenMode::kReadOnly, {}, &buffered));
  std::string damage;
  CAMBIUM_TRY(const FileHeader header,
              ReadSegmentHeader(*buffered, *request.state, info, HeaderRuleOf(request.mode), &damage));
  source.seed = header.Seed();
  CAMBIUM_RETURN_IF_ERROR(ReadLink(&source));
  if (!info.sealed && source.link.has_value() && !MutantIs(Mutant::kIgnoreUnsealedFooter)) {
    CAMBIUM_TRY(const std::uint64_t footer, FindFooter(*buffered, source.seed, source.size));
    if (footer != 0) source.footer = footer;
  }
  return std::optional<LogSource>(std::move(source));
}

}  // namespace cambium
