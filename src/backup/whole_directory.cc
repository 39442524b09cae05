#include "backup/whole_directory.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "io/at_directory.h"
#include "io/lock_file_name.h"
#include "io/parent_path.h"
#include "util/fault_point.h"
#include "util/mutant.h"
#include "util/result.h"
#include "util/without_fatal.h"

namespace cambium {
namespace {

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

Result<bool> Exists(FileSystem& fs, const std::string& path, FileInfo* info) {
  const Status found = fs.GetInfo(path, info);
  if (found.IsPathNotFound()) return false;
  CAMBIUM_RETURN_IF_ERROR(found);
  return true;
}

// Removes the directory and its files as far as possible; the next call tries again.
void RemoveAll(FileSystem& fs, const std::string& directory) {
  std::vector<std::string> names;
  static_cast<void>(fs.List(directory, &names));
  for (const std::string& name : names) static_cast<void>(fs.Unlink(directory + "/" + name));
  static_cast<void>(fs.RemoveDirectory(directory));
}

Status CheckIsNew(FileSystem& fs, const std::string& target) {
  FileInfo info;
  CAMBIUM_TRY(const bool exists, Exists(fs, target, &info));
  return exists ? Status::InvalidArgument(target + ": exists") : Status::OK();
}

// A Workshop is the place where a database is made before it gets its name:
//
//   TARGET.tmp             the database
//   TARGET.tmp.mark/LOCK   locked while the database is made
//   TARGET.tmp.mark/<n>    a note: a Workshop made TARGET.tmp, the directory with inode n
//
// TARGET.tmp is removed only if it is empty or has such a note.
class Workshop {
 public:
  Workshop(FileSystem& fs, const std::string& to)
      : fs_(fs), target_(WithoutSlash(to)), partial_(target_ + ".tmp"), mark_(partial_ + ".mark") {}
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  // Removes a directory that was not renamed. If memory runs out, directory and note remain, and the next call
  // removes them.
  ~Workshop() {
    try {
      if (lock_ != nullptr) CleanUp();
    } catch (const std::bad_alloc&) {
    }
  }

  // Takes the lock, removes what an earlier try left, and creates the directory. Locked if another call has the lock.
  Status Enter() {
    assert(lock_ == nullptr && !is_made_);
    CAMBIUM_RETURN_IF_ERROR(LockIt());
    CAMBIUM_RETURN_IF_ERROR(CheckIsNew(fs_, target_));  // another call may just have finished
    CAMBIUM_RETURN_IF_ERROR(RemoveRemains());
    CAMBIUM_RETURN_IF_ERROR(fs_.CreateDirectory(partial_));
    is_made_ = true;
    std::vector<std::string> names;
    CAMBIUM_RETURN_IF_ERROR(fs_.List(partial_, &names));
    if (!names.empty()) return NotOurs(names.front());
    is_ours_ = true;
    FileInfo info;
    CAMBIUM_RETURN_IF_ERROR(fs_.GetInfo(partial_, &info));
    std::unique_ptr<File> note;
    note_ = NoteOf(info);
    CAMBIUM_RETURN_IF_ERROR(fs_.Open(note_, OpenMode::kCreateNew, {}, &note));
    return MutantIs(Mutant::kCloneSkipsDirectorySync) ? Status::OK() : WithoutFatal(fs_.SyncDirectory(mark_));
  }

  // Renames the directory to the target, durably. After an error, the target may or may not exist.
  Status Name() {
    assert(lock_ != nullptr && is_made_ && is_ours_ && "only what this call has made gets the name");
    CAMBIUM_RETURN_IF_ERROR(fs_.RenameToNew(partial_, target_));
    is_ours_ = is_made_ = false;
    return WithoutFatal(fs_.SyncDirectory(ParentOf(target_)));
  }

  // Returns the error that Enter would begin with.
  Status Check() {
    CAMBIUM_RETURN_IF_ERROR(CheckIsNew(fs_, target_));
    FileInfo info;
    CAMBIUM_TRY(const bool is_marked, Exists(fs_, mark_, &info));
    if (is_marked && info.is_directory) {
      std::unique_ptr<FileLock> lock;
      const Status locked = fs_.Lock(mark_, LockMode::kShared, 0, &lock);
      if (!locked.ok() && !locked.IsPathNotFound()) return locked;
    }
    return CheckRemains();
  }

  // If the target exists, removes the mark that may be left from when it was made.
  void RemoveStaleMark() {
    FileInfo info;
    if (!fs_.GetInfo(target_, &info).ok() || !fs_.GetInfo(mark_, &info).ok()) return;
    if (!fs_.GetInfo(partial_, &info).IsPathNotFound()) return;
    static_cast<void>(LockIt());  // the destructor then removes the mark
  }

  [[nodiscard]] const std::string& partial() const { return partial_; }

 private:
  [[nodiscard]] std::string NoteOf(const FileInfo& info) const { return mark_ + "/" + std::to_string(info.inode); }
  [[nodiscard]] Status NotOurs(const std::string& name) const {
    return Status::InvalidArgument(partial_ + ": the copy has to be made here, but the directory holds " + name +
                                   ", which no copy made");
  }

  Status CheckRemains() const {
    FileInfo info;
    CAMBIUM_TRY(const bool exists, Exists(fs_, partial_, &info));
    if (!exists) return Status::OK();
    std::vector<std::string> names;
    CAMBIUM_RETURN_IF_ERROR(fs_.List(partial_, &names));
    FileInfo note;
    CAMBIUM_TRY(const bool is_noted, Exists(fs_, NoteOf(info), &note));
    return names.empty() || is_noted ? Status::OK() : NotOurs(names.front());
  }

  // Removes the notes after the directory is gone: if a crash interrupts this, the note still identifies the remains.
  Status RemoveRemains() {
    CAMBIUM_RETURN_IF_ERROR(CheckRemains());
    RemoveAll(fs_, partial_);
    FileInfo info;
    CAMBIUM_TRY(const bool is_left, Exists(fs_, partial_, &info));
    if (is_left) return Status::IOError(partial_ + ": cannot be removed");
    std::vector<std::string> names;
    CAMBIUM_RETURN_IF_ERROR(fs_.List(mark_, &names));
    if (std::ranges::any_of(names, IsNote)) CAMBIUM_RETURN_IF_ERROR(WithoutFatal(fs_.SyncDirectory(ParentOf(target_))));
    for (const std::string& name : names) {
      if (IsNote(name)) CAMBIUM_RETURN_IF_ERROR(fs_.Unlink(mark_ + "/" + name));
    }
    return Status::OK();
  }

  static bool IsNote(const std::string& name) { return name.find_first_not_of("0123456789") == std::string::npos; }

  void CleanUp() {
    if (is_ours_) RemoveAll(fs_, partial_);
    if (is_made_ && !is_ours_) static_cast<void>(fs_.RemoveDirectory(partial_));  // fails unless it is empty
    FileInfo info;
    const Status left = fs_.GetInfo(partial_, &info);
    FileInfo note;
    const bool is_foreign = left.ok() && fs_.GetInfo(NoteOf(info), &note).IsPathNotFound();
    if (left.IsPathNotFound() || is_foreign) RemoveMark();
  }

  // Locks the mark, which it creates if necessary. The mark's name is durable on return.
  Status LockIt() {
    constexpr int kTriesMax = 20;  // a try fails if another call has just removed the mark
    for (int tries = 0;; ++tries) {
      CAMBIUM_RETURN_IF_ERROR(MakeMark());
      const Status locked = fs_.Lock(mark_, LockMode::kExclusive, 0, &lock_);
      if (locked.ok()) break;
      if (locked.IsPathNotFound() && tries < kTriesMax) continue;
      // If the lock could not even be created, the mark is empty. A mark that is in use is not empty, and stays.
      if (!MutantIs(Mutant::kLeaveEmptyMark)) static_cast<void>(fs_.RemoveDirectory(mark_));
      return locked;
    }
    return WithoutFatal(fs_.SyncDirectory(ParentOf(target_)));
  }

  // Creates the mark. Replaces an empty file, which earlier versions used as a mark.
  Status MakeMark() {
    FileInfo info;
    CAMBIUM_TRY(const bool exists, Exists(fs_, mark_, &info));
    if (exists && !info.is_directory && info.size > 0) {
      return Status::InvalidArgument(mark_ + ": a file is in the place of a directory that marks the copy");
    }
    if (exists && !info.is_directory) CAMBIUM_RETURN_IF_ERROR(fs_.Unlink(mark_));
    return fs_.CreateDirectory(mark_);
  }

  // Removes the mark, unless it contains other files. Without a free descriptor the mark cannot be listed; so the files
  // that this call has made are removed by name.
  void RemoveMark() {
    std::vector<std::string> names;
    const bool is_listed = fs_.List(mark_, &names).ok();
    for (const std::string& name : names) {
      if (name == kLockFileName || IsNote(name)) static_cast<void>(fs_.Unlink(mark_ + "/" + name));
    }
    if (!is_listed && !MutantIs(Mutant::kLeaveEmptyMark)) {
      if (!note_.empty()) static_cast<void>(fs_.Unlink(note_));
      static_cast<void>(fs_.Unlink(mark_ + "/" + kLockFileName));
    }
    static_cast<void>(fs_.RemoveDirectory(mark_));
    static_cast<void>(fs_.SyncDirectory(ParentOf(target_)));  // if this fails, the mark may return after a crash
  }

  FileSystem& fs_;
  const std::string target_;
  const std::string partial_;
  const std::string mark_;
  std::unique_ptr<FileLock> lock_;  // of the mark
  std::string note_;                // its path, once it is made
  bool is_made_ = false;            // partial_ was created or found, and not renamed yet
  bool is_ours_ = false;            // partial_ was empty at that time
};

}  // namespace

Status CheckWholeDirectory(FileSystem& fs, const std::string& to) {
  if (to.empty()) return Status::InvalidArgument("the name of the new directory is empty");
  CAMBIUM_RETURN_IF_ERROR(Workshop(fs, to).Check());
  FileInfo parent;
  return fs.GetInfo(ParentOf(to), &parent);
}

namespace {

// Whether `path` is the directory `wanted` or inside it.
bool IsInside(FileSystem& fs, const std::string& path, const FileInfo& wanted) {
  if (wanted.inode == 0) return false;  // a file system without inodes
  FileInfo here;
  std::string place = WithoutSlash(path);
  for (; !fs.GetInfo(place, &here).ok(); place = ParentOf(place)) {
    if (place == ParentOf(place)) return false;
  }
  const auto is_same = [](const FileInfo& a, const FileInfo& b) { return a.inode == b.inode && a.device == b.device; };
  while (!is_same(here, wanted)) {
    FileInfo above;
    place += "/..";
    if (!fs.GetInfo(place, &above).ok() || is_same(above, here)) return false;  // the root is above itself
    here = above;
  }
  return true;
}

}  // namespace

bool IsInside(FileSystem& fs, const std::string& path, const std::string& directory) {
  FileInfo wanted;
  return fs.GetInfo(directory, &wanted).ok() && IsInside(fs, path, wanted);
}

Status CheckIsOutside(FileSystem& fs, const std::string& path, const std::string& directory) {
  return CheckIsOutside(fs, path, fs, directory);
}

Status CheckIsOutside(FileSystem& fs, const std::string& path, FileSystem& fs_of_directory,
                      const std::string& directory) {
  FileInfo wanted;
  if (!fs_of_directory.GetInfo(directory, &wanted).ok() || !IsInside(fs, path, wanted)) return Status::OK();
  return Status::InvalidArgument(path + ": is inside " + directory);
}

Status MakeWholeDirectory(const std::shared_ptr<FileSystem>& fs, const std::string& to, bool keep,
                          const FillDirectory& fill) {
  if (to.empty()) return CheckWholeDirectory(*fs, to);
  CAMBIUM_TRY(const std::shared_ptr<FileSystem> there, AtDirectory(fs, ParentOf(to)));
  Workshop(*there, to).RemoveStaleMark();
  Workshop workshop(*there, to);
  CAMBIUM_RETURN_IF_ERROR(CheckWholeDirectory(*there, to));  // first, so that a rejected call creates nothing
  CAMBIUM_RETURN_IF_ERROR(workshop.Enter());
  CAMBIUM_FAULT_POINT("WholeDirectory:begun");
  CAMBIUM_RETURN_IF_ERROR(WithoutFatal(fill(there, workshop.partial())));
  return keep ? workshop.Name() : Status::OK();
}

}  // namespace cambium
