// MakeWholeDirectory makes a directory with a database that appears as a whole or not at all.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "cambium/status.h"

namespace cambium {

// Calls `fill` with the path of the new directory, `to`.tmp, and a file system in which the parent of `to` is opened
// (AtDirectory): even if that parent is renamed meanwhile, all files are made in the same directory. `fill` writes and
// syncs the files of a database there, syncs the directory, and writes the MANIFEST last; or it opens a database there,
// writes to it and closes it. If `keep`, the directory is then renamed to `to`, durably; otherwise it is removed.
//
// Meanwhile a lock is held in the directory `to`.tmp.mark. After a failure or a crash before the rename, this call or
// else the next one removes the remains. If the rename succeeds and the sync of the parent directory fails, `to`
// remains. Returns Locked if another call is making `to`; InvalidArgument if `to` exists or is "", or if `to`.tmp is
// not empty and was not made by MakeWholeDirectory.
using FillDirectory = std::function<Status(const std::shared_ptr<FileSystem>& fs, const std::string& directory)>;
Status MakeWholeDirectory(const std::shared_ptr<FileSystem>& fs, const std::string& to, bool keep,
                          const FillDirectory& fill);

// Whether `path`, which need not exist, is `directory` or inside it. Compares inodes, not names, so symbolic links hide
// nothing.
[[nodiscard]] bool IsInside(FileSystem& fs, const std::string& path, const std::string& directory);
// InvalidArgument if IsInside. A copy must not lie inside its original: it would add foreign files to the original.
// `directory` may be in another file system object than `path`.
Status CheckIsOutside(FileSystem& fs, const std::string& path, const std::string& directory);
Status CheckIsOutside(FileSystem& fs, const std::string& path, FileSystem& fs_of_directory,
                      const std::string& directory);

// Returns the error that MakeWholeDirectory would begin with, or one if the parent does not exist. Writes nothing.
Status CheckWholeDirectory(FileSystem& fs, const std::string& to);

}  // namespace cambium
