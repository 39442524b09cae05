#include "repair/found_files.h"

#include <algorithm>

namespace cambium {
namespace {

bool HasHeader(FileKind kind) {
  return kind == FileKind::kLog || kind == FileKind::kLargeValue || kind == FileKind::kRun ||
         kind == FileKind::kIndex || kind == FileKind::kRelocation;
}

// Reads the header of a file. Returns an error only for a later version, whose bytes may mean anything, and if the
// system denies this process the file.
Status Look(FileSystem& fs, FoundFile* found) {
  std::unique_ptr<File> file;
  const auto ends = [](const Status& s) { return s.IsDenied() ? s : Status::OK(); };
  found->flaw = fs.Open(found->path, OpenMode::kReadOnly, {}, &file);
  if (!found->flaw.ok()) return ends(found->flaw);
  FileInfo info;
  found->flaw = file->GetInfo(&info);
  if (found->flaw.ok() && !info.is_regular) found->flaw = Status::Corruption(found->path + ": is not a regular file");
  if (!found->flaw.ok()) return ends(found->flaw);
  found->size = info.size;
  std::string bytes(kFileHeaderSize, '\0');
  std::size_t read = 0;
  found->flaw = file->Read(0, bytes.size(), bytes.data(), &read);
  if (!found->flaw.ok()) return ends(found->flaw);
  bytes.resize(read);
  found->file = std::move(file);
  Result<FileHeader> header = ReadFileHeader(*found->file, found->name.kind, found->name.number);
  if (header.ok()) {
    found->header = *header;
    return Status::OK();
  }
  if (header.status().IsNotSupported() || header.status().IsDenied()) return header.status();
  found->flaw = header.status();
  found->is_guessed = !DecodeFileHeader(bytes, found->path).ok() && GuessFileHeader(bytes, &found->header);
  found->header.kind = found->name.kind;
  found->header.number = found->name.number;
  return Status::OK();
}

}  // namespace

Result<std::vector<FoundFile>> FindFiles(FileSystem& fs, const std::string& directory) {
  CAMBIUM_TRY(const std::vector<NumberedFile> names, ListNumberedFiles(fs, directory));
  std::vector<FoundFile> files;
  for (const NumberedFile& name : names) {
    if (!HasHeader(name.kind)) continue;
    files.push_back({name, FilePath(directory, name.kind, name.number), 0, nullptr, Status::OK(), {}, false});
    CAMBIUM_RETURN_IF_ERROR(Look(fs, &files.back()));
  }
  return files;
}

FoundFile* FindFile(std::vector<FoundFile>* files, FileKind kind, std::uint64_t number) {
  const auto found = std::ranges::lower_bound(*files, NumberedFile{kind, number}, {}, &FoundFile::name);
  return found != files->end() && found->name == NumberedFile{kind, number} ? &*found : nullptr;
}

}  // namespace cambium
