// AtDirectory: a FileSystem for the files of one directory, even if the directory is renamed.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "cambium/file_system.h"
#include "util/mutant.h"
#include "util/result.h"

namespace cambium {

// Returns the file system that FileSystem::OpenDirectory opens, which keeps `fs` alive. Returns `fs` itself if it does
// not support the call. Call it before the first use of the directory, and let every call about its files use the
// result, so that they all concern the same directory.
[[nodiscard]] inline Result<std::shared_ptr<FileSystem>> AtDirectory(const std::shared_ptr<FileSystem>& fs,
                                                                     const std::string& directory) {
  if (MutantIs(Mutant::kFindFilesByPath)) return fs;
  struct Both {
    std::shared_ptr<FileSystem> base;
    std::shared_ptr<FileSystem> opened;  // destroyed first
  };
  const auto both = std::make_shared<Both>();
  both->base = fs;
  const Status s = fs->OpenDirectory(directory, &both->opened);
  if (s.IsNotSupported()) return fs;
  CAMBIUM_RETURN_IF_ERROR(s);
  return std::shared_ptr<FileSystem>(both, both->opened.get());
}

}  // namespace cambium
