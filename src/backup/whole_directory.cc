#include "backup/whole_directory.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "io/parent_path.h"
#include "manifest/file_names.h"

namespace cambium {
namespace {

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// In a copy that is being made, before its MANIFEST, until it has its name. An opening removes it like any orphan.
const NumberedFile kMark{FileKind::kTemporary, 1};

Status WriteMark(FileSystem& fs, const std::string& directory) {
  std::unique_ptr<File> file;
  return fs.Open(FilePath(directory, kMark.kind, kMark.number), OpenMode::kCreateNew, {}, &file);
}

// What an earlier try has left. Anything else is not ours: a database without the mark is somebody's.
Status CheckRemains(const std::string& directory, const std::vector<std::string>& names) {
  const bool is_marked = std::ranges::find(names, FileName(kMark.kind, kMark.number)) != names.end();
  for (const std::string& name : names) {
    const std::optional<NumberedFile> file = ParseFileName(name);
    if (!file.has_value() || (file->kind == FileKind::kManifest && !is_marked)) {
      return Status::InvalidArgument(directory + ": is where the copy is to be made, and holds " + name +
                                     (file.has_value() ? ", a whole database" : ", which is no file of a database"));
    }
  }
  return Status::OK();
}

// PathNotFound if there are none.
Status ListRemains(FileSystem& fs, const std::string& directory, std::vector<std::string>* names) {
  CAMBIUM_RETURN_IF_ERROR(fs.List(directory, names));
  return CheckRemains(directory, *names);
}

// The mark last: if this is interrupted, what is left is still known for what it is.
Status RemoveMarked(FileSystem& fs, const std::string& directory, const std::vector<std::string>& names) {
  const std::string mark = FileName(kMark.kind, kMark.number);
  for (const std::string& name : names) {
    if (name != mark) CAMBIUM_RETURN_IF_ERROR(fs.Unlink(directory + "/" + name));
  }
  CAMBIUM_RETURN_IF_ERROR(fs.SyncDirectory(directory));
  if (std::ranges::find(names, mark) != names.end()) CAMBIUM_RETURN_IF_ERROR(fs.Unlink(directory + "/" + mark));
  return fs.RemoveDirectory(directory);
}

Status RemoveRemains(FileSystem& fs, const std::string& directory) {
  std::vector<std::string> names;
  const Status listed = ListRemains(fs, directory, &names);
  if (listed.IsPathNotFound()) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(listed);
  return OfTheCopy(RemoveMarked(fs, directory, names));
}

Status CheckIsNew(FileSystem& fs, const std::string& target) {
  FileInfo info;
  const Status found = fs.GetInfo(target, &info);
  if (found.ok()) return Status::InvalidArgument(target + ": exists");
  return found.IsPathNotFound() ? Status::OK() : found;
}

}  // namespace

Status OfTheCopy(const Status& status) {
  if (status.severity() != Status::Severity::kFatal) return status;
  return status.IsNoSpace() ? Status::NoSpace(status.message()) : Status::IOError(status.message());
}

Status CheckWholeDirectory(FileSystem& fs, const std::string& to) {
  const std::string target = WithoutSlash(to);
  CAMBIUM_RETURN_IF_ERROR(CheckIsNew(fs, target));
  std::vector<std::string> names;
  const Status remains = ListRemains(fs, target + ".tmp", &names);
  if (!remains.ok() && !remains.IsPathNotFound()) return remains;
  FileInfo parent;
  return fs.GetInfo(ParentOf(target), &parent);
}

Status MakeWholeDirectory(FileSystem& fs, const std::string& to,
                          const std::function<Status(const std::string& directory)>& fill) {
  const std::string target = WithoutSlash(to);
  const std::string partial = target + ".tmp";
  CAMBIUM_RETURN_IF_ERROR(CheckIsNew(fs, target));
  CAMBIUM_RETURN_IF_ERROR(RemoveRemains(fs, partial));
  CAMBIUM_RETURN_IF_ERROR(fs.CreateDirectory(partial));
  Status done = WriteMark(fs, partial);
  if (done.ok()) done = OfTheCopy(fill(partial));
  if (done.ok()) done = fs.Rename(partial, target);
  if (!done.ok()) {
    std::vector<std::string> names;
    if (fs.List(partial, &names).ok()) static_cast<void>(RemoveMarked(fs, partial, names));  // else the next call does
    return done;
  }
  CAMBIUM_RETURN_IF_ERROR(OfTheCopy(fs.SyncDirectory(ParentOf(target))));
  static_cast<void>(fs.Unlink(FilePath(target, kMark.kind, kMark.number)));  // else the next opening does
  return Status::OK();
}

}  // namespace cambium
