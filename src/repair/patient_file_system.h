// A PatientFileSystem reads files even if the device cannot read some of their sectors.
//
//   read of [0, 1 MiB)   ok ok ok EIO ok ...   retry in blocks of 4 KiB; those that still fail are filled with a pattern
//
// The pattern is not zero, so that it is not taken for space that was never written. Every checksum over it fails, so
// an unreadable block is damage like any other, and the data after it is found.
//
// If the system denies this process permission, descriptors or memory (Status::IsDenied), that is no damage: the bytes
// may be whole. Such a call fails, and denied() keeps its error, so that no caller can take it for a loss.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "util/mutant.h"

namespace cambium {

// Read-only: every change is NotSupported. One thread. `base` must outlive it.
class PatientFileSystem final : public FileSystem {
 public:
  // Called once for each stretch of unreadable bytes, with its first offset.
  using OnUnreadable = std::function<void(const std::string& path, std::uint64_t offset, const Status& why)>;

  explicit PatientFileSystem(FileSystem& base) : base_(base) {}
  void SetListener(OnUnreadable on_unreadable) { on_unreadable_ = std::move(on_unreadable); }

  Status Open(const std::string& path, OpenMode mode, const FileOptions& options, std::unique_ptr<File>* file) override;
  Status GetInfo(const std::string& path, FileInfo* info) override { return Seen(base_.GetInfo(path, info)); }
  Status List(const std::string& directory, std::vector<std::string>* names) override {
    return Seen(base_.List(directory, names));
  }
  Status CreateDirectory(const std::string& path) override { return No(path); }
  Status RemoveDirectory(const std::string& path) override { return No(path); }
  Status Unlink(const std::string& path) override { return No(path); }
  Status Rename(const std::string& from, const std::string&) override { return No(from); }
  Status Link(const std::string& from, const std::string&) override { return No(from); }
  Status SyncDirectory(const std::string& path) override { return No(path); }
  Status Lock(const std::string& directory, LockMode, std::uint64_t, std::unique_ptr<FileLock>*) override {
    return No(directory);
  }
  Status FreeSpace(const std::string& path, std::uint64_t* bytes) override { return base_.FreeSpace(path, bytes); }
  // Returns a queue that does its reads in Wait, one after another.
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool use_io_uring) override;

  // Returns the first Denied of any call, OK if there was none.
  [[nodiscard]] const Status& denied() const { return denied_; }

  // Called by its files.
  void ReportUnreadable(const std::string& path, std::uint64_t offset, const Status& why);
  // Keeps a Denied, and returns `s`.
  Status Seen(const Status& s) {
    if (s.IsDenied() && MutantIs(Mutant::kDeniedIsLoss)) return Status::IOError(s.message());
    if (s.IsDenied() && denied_.ok()) denied_ = s;
    return s;
  }

 private:
  static Status No(const std::string& path) { return Status::NotSupported(path + ": is open for reading only"); }

  FileSystem& base_;
  OnUnreadable on_unreadable_;
  Status denied_;
  std::map<std::string, std::set<std::uint64_t>> blocks_;  // unreadable blocks, by path
};

}  // namespace cambium
