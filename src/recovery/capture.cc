#include "recovery/capture.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "recovery/log_replay.h"
#include "recovery/open_files.h"
#include "options/options_file.h"
#include "io/whole_file.h"
#include "manifest/features.h"
#include "manifest/manifest_reader.h"

namespace cambium {

std::vector<CapturedFile> CapturedFilesOf(const ManifestState& state, const std::map<std::uint64_t, std::uint64_t>& log_ends) {
  std::vector<CapturedFile> files;
  for (const auto& [number, info] : state.segments) {
    const NumberedFile name{FileKindOf(info.kind), number};
    if (info.sealed) {
      files.push_back({name, info.file_id, info.file_size, true, info.punched, info.cut, 0});
    } else {
      assert(log_ends.contains(number) && "the caller knows the end of each segment that is not sealed");
      files.push_back({name, info.file_id, log_ends.at(number), false, {}, 0, log_ends.at(number)});
    }
  }
  const auto add_run = [&files](const RunInfo& run) {
    files.push_back({{FileKind::kRun, run.number}, run.file_id, run.file_size, true, {}, 0, 0});
  };
  for (const auto& [id, family] : state.families) {
    for (const RunInfo& run : family.runs) add_run(run);
    for (const auto& [number, run] : family.level_runs) add_run(run.info);
    for (const auto& [number, info] : family.index_segments) {
      const bool is_youngest = number == family.index_segments.back().first;
      files.push_back({{FileKind::kIndex, number}, info.file_id, info.length, !is_youngest, {}, 0, 0});
    }
  }
  return files;
}

namespace {

Result<std::uint64_t> LengthOf(FileSystem& fs, const std::string& path) {
  FileInfo info;
  const Status found = fs.GetInfo(path, &info);
  if (found.IsPathNotFound()) return Status::Corruption(path + ": is named in the MANIFEST and missing");
  CAMBIUM_RETURN_IF_ERROR(found);
  if (!info.is_regular) return Status::Corruption(path + ": is not a regular file");
  return info.size;
}

Status CheckFiles(FileSystem& fs, const std::string& directory, const std::vector<CapturedFile>& files) {
  for (const CapturedFile& file : files) {
    const std::string path = FilePath(directory, file.name.kind, file.name.number);
    CAMBIUM_TRY(const std::uint64_t length, LengthOf(fs, path));
    if (length < file.length) {
      return Status::Corruption(path + ":" + std::to_string(length) + ": the file is cut off; " +
                                std::to_string(file.length) + " bytes of it are committed");
    }
  }
  return Status::OK();
}

// Replays the log, so that a loss is reported now. Otherwise it would be found only when the copy is opened, and the
// origin may be gone by then. Sets the ends of the log in unsealed segments.
Status CheckLog(FileSystem& fs, const std::string& directory, Capture* capture) {
  ReplayRequest request;
  request.fs = &fs;
  request.directory = directory;
  request.state = &capture->state;
  CAMBIUM_TRY(const ReplayResult replayed,
              ReplayLog(request, [](const std::vector<ReplayedOp>&) { return Status::OK(); }));
  const LogPosition& replay = capture->state.replay;
  for (CapturedFile& file : capture->files) {
    if (file.log_end == 0) continue;
    file.log_end = kFileHeaderSize;
    if (file.name.number == replay.segment) file.log_end = std::max(file.log_end, replay.offset);
    for (const ReplayedSegment& adopted : replayed.adopted) {
      if (adopted.number == file.name.number) file.log_end = adopted.length;
    }
    assert(file.log_end >= kFileHeaderSize);
  }
  return Status::OK();
}

// The contents of a whole OPTIONS file for the copy: those of file `number`, the newest, joined with the files to which
// it adds.
Result<std::string> OptionsTextOf(FileSystem& fs, const std::string& path, std::uint64_t number) {
  const std::string name = FilePath(path, FileKind::kOptions, number);
  CAMBIUM_TRY(std::string bytes, ReadWholeFile(fs, name, kOptionsFileSizeMax));
  const Result<OptionsFileText> text = DecodeOptionsFile(bytes, name);
  if (!text.ok() || text->adds_to == 0) return bytes;
  const Result<NewestOptions> newest = ReadNewestOptions(fs, path);
  if (newest.ok()) return EncodeOptionsText(newest->text);
  if (!newest.status().IsCorruption()) return newest.status();
  bytes.pop_back();  // the file cannot be used without the one that it adds to: the caller finds it damaged
  return bytes;
}

}  // namespace

Result<Capture> CaptureClosed(FileSystem& fs, const std::string& path, RandomSource& random) {
  Result<ManifestRead> read = ReadManifest(fs, path);
  if (!read.ok()) {
    if (read.status().IsNotFound()) return Status::InvalidArgument(path + ": holds no database");
    return std::move(read).status();
  }
  CAMBIUM_RETURN_IF_ERROR(CheckWritable(read->header, path));
  CAMBIUM_TRY(const std::vector<NumberedFile> there, ListNumberedFiles(fs, path));
  Capture capture;
  capture.state = std::move(read->state);
  CAMBIUM_RETURN_IF_ERROR(capture.state.Check());
  capture.header = read->header;
  // A new MANIFEST gets the bits that its state needs; no other file has any.
  capture.header.required_features = capture.header.optional_features = 0;
  std::map<std::uint64_t, std::uint64_t> ends;
  for (const auto& [number, info] : capture.state.segments) {
    if (info.sealed) continue;
    CAMBIUM_TRY(ends[number], LengthOf(fs, FilePath(path, FileKindOf(info.kind), number)));
  }
  capture.files = CapturedFilesOf(capture.state, ends);
  CAMBIUM_RETURN_IF_ERROR(CheckFiles(fs, path, capture.files));
  CAMBIUM_RETURN_IF_ERROR(CheckStrayFiles(fs, path, capture.state));
  CAMBIUM_RETURN_IF_ERROR(CheckLog(fs, path, &capture));
  for (const NumberedFile& file : there) {
    if (file.kind == FileKind::kOptions) capture.options_number = file.number;  // files are in the order of numbers
  }
  if (capture.options_number != 0) {
    CAMBIUM_TRY(capture.options_text, OptionsTextOf(fs, path, capture.options_number));
  }
  capture.manifest_number = std::max(capture.state.next_file_number, LargestNumber(there) + 1);
  capture.header.number = capture.manifest_number;
  random.Fill(reinterpret_cast<char*>(capture.header.file_id.data()), capture.header.file_id.size());
  return capture;
}

}  // namespace cambium
