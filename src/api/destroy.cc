// DestroyDB: removes the files of a database from its directory, and no others.
#include "options/options_check.h"
#include "cambium/db.h"
#include "io/at_directory.h"
#include "manifest/file_names.h"

namespace cambium {

Status DestroyDB(const std::string& path, const Options& options) {
  const DBOptions filled = FillInDefaults(options);
  FileInfo info;
  const Status found = filled.file_system->GetInfo(path, &info);
  if (found.IsPathNotFound()) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(found);
  CAMBIUM_TRY(const std::shared_ptr<FileSystem> opened, AtDirectory(filled.file_system, path));
  FileSystem& fs = *opened;
  std::unique_ptr<FileLock> lock;
  CAMBIUM_RETURN_IF_ERROR(fs.Lock(path, LockMode::kExclusive, options.lock_wait_micros, &lock));
  CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(fs, path));
  // The MANIFESTs are removed last, so that an interrupted removal leaves a damaged database, never an empty one.
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
  // Fails if the directory has other files; then it is kept.
  static_cast<void>(fs.RemoveDirectory(path));
  return Status::OK();
}

}  // namespace cambium
