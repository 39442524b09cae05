// NewFileGuard: creates a file with a name that nothing else uses, and removes it unless Keep is called. So a call that
// fails, or throws because memory runs out, leaves no file.
//
// The caller must know that no file of this name is needed: the name has a number that no other file has had, or is
// that of a temporary file. If there is such a file nevertheless, Create fails and the file remains. But if memory runs
// out for the error, the guard removes the file, because it cannot tell this case from an Open that has created the
// file.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "cambium/file_system.h"

namespace cambium {

// One thread. Lives longer than the File, which is closed before the file is removed.
class NewFileGuard {
 public:
  // *fs outlives the guard.
  NewFileGuard(FileSystem* fs, std::string path) : fs_(*fs), path_(std::move(path)) {}
  // If Unlink throws, the file remains as an orphan.
  ~NewFileGuard() {
    if (!is_ours_) return;
    try {
      static_cast<void>(fs_.Unlink(path_));
    } catch (...) {
    }
  }
  NewFileGuard(const NewFileGuard&) = delete;
  NewFileGuard& operator=(const NewFileGuard&) = delete;

  // Called once.
  Status Create(std::unique_ptr<File>* file) {
    is_ours_ = true;  // memory may run out after the file was created
    Status created = fs_.Open(path_, OpenMode::kCreateNew, {}, file);
    is_ours_ = created.ok();
    return created;
  }
  // The file remains: a MANIFEST record may name it, another object removes it, or a failed sync was fatal.
  void Keep() noexcept { is_ours_ = false; }

 private:
  FileSystem& fs_;
  const std::string path_;
  bool is_ours_ = false;
};

}  // namespace cambium
