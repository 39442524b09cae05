// Verifies that each file that the MANIFEST names exists and is the right one, and finds files that it does not name.
#include <algorithm>
#include <optional>

#include "recovery/open_files.h"
#include "options/options_file.h"
#include "verify/verifier.h"

namespace cambium {

Status Verifier::OpenSegments() {
  for (const auto& [number, info] : state_.segments) {
    Result<std::shared_ptr<Segment>> segment = OpenSegment(fs_, path_, state_, info, false, nullptr);
    ++report_->files;
    if (!segment.ok()) {
      if (segment.status().IsIOError()) unread_slots_.insert(info.slot);
      CAMBIUM_RETURN_IF_ERROR(Found(segment.status()));
      continue;
    }
    segments_ = segments_.With(info.slot, *segment);
  }
  return Status::OK();
}

Result<std::shared_ptr<const IndexFile>> Verifier::OpenPages(FileKind kind, std::uint64_t number, const Id128& file_id,
                                                             std::uint64_t length, bool* unread) {
  ++report_->files;
  const auto open = [&]() -> Result<std::shared_ptr<const IndexFile>> {
    CAMBIUM_TRY(std::shared_ptr<File> file, OpenLayerFile(fs_, path_, state_, kind, number));
    CAMBIUM_TRY(std::shared_ptr<const IndexFile> pages, IndexFile::Open(std::move(file), kind, number, nullptr));
    FileInfo info;
    CAMBIUM_RETURN_IF_ERROR(pages->file().GetInfo(&info));
    if (pages->header().file_id != file_id) return Status::Corruption(pages->path() + ":0: is another file");
    if (info.size < length) return Status::Corruption(pages->path() + ":" + std::to_string(info.size) + ": is cut off");
    return pages;
  };
  Result<std::shared_ptr<const IndexFile>> opened = open();
  if (opened.ok()) return opened;
  *unread = *unread || opened.status().IsIOError();
  CAMBIUM_RETURN_IF_ERROR(Found(opened.status()));
  return std::shared_ptr<const IndexFile>();
}

bool Verifier::IsNamed(const NumberedFile& file) const {
  const auto of_family = [&](const auto& each) {
    const bool is_index = each.second.index_segments.contains(file.number);
    return file.kind == FileKind::kIndex ? is_index : !is_index && HasFile(each.second, file.number);
  };
  switch (file.kind) {
    case FileKind::kManifest:
      return file.number == manifest_number_;
    case FileKind::kOptions:
    case FileKind::kReserve:  // it has no data, and Open checks its header
      return true;
    case FileKind::kTemporary:
      return false;
    case FileKind::kRun:
    case FileKind::kIndex:
      return std::ranges::any_of(state_.families, of_family);
    default: {
      const auto segment = state_.segments.find(file.number);
      return segment != state_.segments.end() && FileKindOf(segment->second.kind) == file.kind;
    }
  }
}

// Checks the files that are neither layers nor segments.
Status Verifier::CheckOtherFiles() {
  std::vector<std::string> names;
  CAMBIUM_RETURN_IF_ERROR(fs_.List(path_, &names));
  std::sort(names.begin(), names.end());
  bool are_options_readable = true;
  bool are_options_whole = true;
  for (const std::string& name : names) {
    if (name == kLockFileName || name == kInfoLogFileName || name == std::string(kInfoLogFileName) + ".old") continue;
    const std::optional<NumberedFile> file = ParseFileName(name);
    if (!file.has_value()) {
      Note(path_ + "/" + name + ": is not a file of the database");
      continue;
    }
    if (file->kind == FileKind::kOptions) {
      ++report_->files;
      // Open only compares it with its options, and writes a new file if it cannot read this one. So a file that the
      // device cannot read is dead damage too. One that is denied to this process may be whole.
      const Result<OptionsFileText> text = ReadOptionsFile(fs_, path_ + "/" + name);
      are_options_readable &= text.ok();
      if (text.ok()) {
        are_options_whole &= text->adds_to == 0;
      } else if (text.status().IsDenied()) {
        CAMBIUM_RETURN_IF_ERROR(Found(text.status()));
      } else {
        DeadDamage(std::string(text.status().message()));
      }
    }
    if (file->kind == FileKind::kReserve) ++report_->files;
    if (!IsNamed(*file)) Note(path_ + "/" + name + ": orphan, which the next Open for writing removes");
  }
  if (!are_options_readable || are_options_whole) return Status::OK();
  // The newest one may be an addition to a file that is missing.
  const Status newest = ReadNewestOptions(fs_, path_).status();
  if (newest.IsCorruption()) DeadDamage(std::string(newest.message()));
  return Status::OK();
}

}  // namespace cambium
