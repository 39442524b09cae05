#include "api/capture.h"

#include <algorithm>
#include <utility>

#include "api/options_file.h"
#include "io/whole_file.h"
#include "manifest/manifest_reader.h"

namespace cambium {

std::vector<CapturedFile> CapturedFilesOf(const ManifestState& state, const std::map<std::uint64_t, std::uint64_t>& log_ends) {
  std::vector<CapturedFile> files;
  for (const auto& [number, info] : state.segments) {
    const NumberedFile name{FileKindOf(info.kind), number};
    if (info.sealed) {
      files.push_back({name, info.file_id, info.file_size, true, info.punched});
    } else {
      files.push_back({name, info.file_id, log_ends.at(number), false, {}});
    }
  }
  const auto add_run = [&files](const RunInfo& run) {
    files.push_back({{FileKind::kRun, run.number}, run.file_id, run.file_size, true, {}});
  };
  for (const auto& [id, family] : state.families) {
    for (const RunInfo& run : family.runs) add_run(run);
    for (const auto& [number, run] : family.level_runs) add_run(run.info);
    for (const auto& [number, info] : family.index_segments) {
      const bool is_youngest = number == family.index_segments.rbegin()->first;
      files.push_back({{FileKind::kIndex, number}, info.file_id, info.length, !is_youngest, {}});
    }
  }
  return files;
}

Result<Capture> CaptureClosed(FileSystem& fs, const std::string& path) {
  Result<ManifestRead> read = ReadManifest(fs, path);
  if (!read.ok()) {
    if (read.status().IsNotFound()) return Status::InvalidArgument(path + ": holds no database");
    return std::move(read).status();
  }
  CAMBIUM_TRY(const std::vector<NumberedFile> there, ListNumberedFiles(fs, path));
  Capture capture;
  capture.state = std::move(read->state);
  CAMBIUM_RETURN_IF_ERROR(capture.state.Check());
  capture.header = read->header;
  std::map<std::uint64_t, std::uint64_t> ends;
  for (const auto& [number, info] : capture.state.segments) {
    if (info.sealed) continue;
    FileInfo file;
    CAMBIUM_RETURN_IF_ERROR(fs.GetInfo(FilePath(path, FileKindOf(info.kind), number), &file));
    ends[number] = file.size;
  }
  capture.files = CapturedFilesOf(capture.state, ends);
  for (const NumberedFile& file : there) {
    if (file.kind == FileKind::kOptions) capture.options_number = file.number;  // in the order of numbers
  }
  if (capture.options_number != 0) {
    const std::string name = FilePath(path, FileKind::kOptions, capture.options_number);
    CAMBIUM_TRY(capture.options_text, ReadWholeFile(fs, name, kOptionsFileSizeMax));
  }
  capture.manifest_number = std::max(capture.state.next_file_number, LargestNumber(there) + 1);
  return capture;
}

}  // namespace cambium
