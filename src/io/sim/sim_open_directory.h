// SimOpenDirectory: the file system that SimFileSystem::OpenDirectory returns. Replaces the opened directory in each
// path by the path that the directory has now, and passes the call on. So hooks, faults and errors see the current
// path.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/sim/sim_file_system.h"

namespace cambium {

class SimOpenDirectory final : public FileSystem {
 public:
  // An opened directory, and the path by which it was opened.
  class Root {
   public:
    Root(SimFileSystem* file_system, SimInodeId id, std::string path)
        : file_system_(file_system), id_(id), path_(std::move(path)) {}
    ~Root() { file_system_->LeaveDirectory(id_); }
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::string PathNow() const { return file_system_->PathNow(id_, path_); }

   private:
    SimFileSystem* const file_system_;
    const SimInodeId id_;
    const std::string path_;
  };
  using Roots = std::vector<std::shared_ptr<const Root>>;

  // Opens the directory that `place` leads to now, under the path `directory`, in addition to `roots`.
  static Status Open(SimFileSystem* file_system, Roots roots, const std::string& directory, const std::string& place,
                     std::shared_ptr<FileSystem>* opened);
  SimOpenDirectory(SimFileSystem* file_system, Roots roots) : sim_(*file_system), roots_(std::move(roots)) {}

  Status Open(const std::string& path, OpenMode mode, const FileOptions& options,
              std::unique_ptr<File>* file) override {
    return sim_.Open(Now(path), mode, options, file);
  }
  Status GetInfo(const std::string& path, FileInfo* info) override { return sim_.GetInfo(Now(path), info); }
  Status List(const std::string& directory, std::vector<std::string>* names) override {
    return sim_.List(Now(directory), names);
  }
  Status CreateDirectory(const std::string& path) override { return sim_.CreateDirectory(NameNow(path)); }
  Status RemoveDirectory(const std::string& path) override { return sim_.RemoveDirectory(NameNow(path)); }
  Status Unlink(const std::string& path) override { return sim_.Unlink(NameNow(path)); }
  Status Rename(const std::string& from, const std::string& to) override {
    return sim_.Rename(NameNow(from), NameNow(to));
  }
  Status Link(const std::string& from, const std::string& to) override { return sim_.Link(Now(from), NameNow(to)); }
  Status SyncDirectory(const std::string& path) override { return sim_.SyncDirectory(Now(path)); }
  Status OpenDirectory(const std::string& directory, std::shared_ptr<FileSystem>* opened) override {
    return Open(&sim_, roots_, directory, Now(directory), opened);
  }
  Status Lock(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
              std::unique_ptr<FileLock>* lock) override {
    return sim_.Lock(Now(directory), mode, wait_micros, lock);
  }
  Status FreeSpace(const std::string& path, std::uint64_t* bytes) override { return sim_.FreeSpace(Now(path), bytes); }
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool use_io_uring) override {
    return sim_.NewReadQueue(depth, use_io_uring);
  }

 private:
  // Returns `path` with the opened directory at its beginning replaced by the path that the directory has now.
  [[nodiscard]] std::string Now(const std::string& path) const;
  // The same for a name to create, rename or remove. The last name of `path` is not replaced, even if an opened
  // directory has it.
  [[nodiscard]] std::string NameNow(const std::string& path) const;

  SimFileSystem& sim_;
  const Roots roots_;
};

}  // namespace cambium
