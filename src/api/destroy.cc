// DestroyDB: removes what is ours in a directory, and nothing else.
#include "options/options_check.h"
#include "cambium/db.h"
#include "manifest/file_names.h"

namespace cambium {

Status DestroyDB(const std::string& path, const Options& options) {
  const DBOptions filled = FillInDefaults(options);
  FileSystem& fs = *filled.file_system;
  FileInfo info;
  const Status found = fs.GetInfo(path, &info);
  if (found.IsPathNotFound()) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(found);
  std::unique_ptr<FileLock> lock;
  CAMBIUM_RETURN_IF_ERROR(fs.Lock(path, LockMode::kExclusive, options.lock_wait_micros, &lock));
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(fs, path));
  // The MANIFESTs go last: until then an interrupted removal is a damaged database, never an empty one.
  for (const bool manifests : {false, true}) {
    for (const NumberedFile& file : files) {
      if ((file.kind == FileKind::kManifest) != manifests) continue;
      const Status removed = fs.Unlink(FilePath(path, file.kind, file.number));
      if (!removed.ok() && !removed.IsPathNotFound()) return removed;
    }
    CAMBIUM_RETURN_IF_ERROR(fs.SyncDirectory(path));
  }
  for (const std::string& name : {std::string(kInfoLogFileName), std::string(kInfoLogFileName) + ".old",
                                 std::string(kLockFileName)}) {
    const Status removed = fs.Unlink(path + "/" + name);
    if (!removed.ok() && !removed.IsPathNotFound()) return removed;
  }
  // Somebody else's files may be in it; then it stays.
  static_cast<void>(fs.RemoveDirectory(path));
  return Status::OK();
}

}  // namespace cambium
