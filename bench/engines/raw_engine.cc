// The device as an Engine: the cost of a log that allocates no space ahead and keeps nothing else. Each thread appends
// the keys and values that it puts to a file of its own. A synced put or batch is one write and one fdatasync. Nothing
// can be read back.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engines/registry.h"

namespace cambium::bench {
namespace {

constexpr const char* kFileNamePrefix = "append-";

Status NothingToRead() { return Status::NotSupported("raw files are not read"); }

Status SystemError(const std::string& what) { return Status::IOError(what + ": " + std::strerror(errno)); }

class NoCursor : public Cursor {
 public:
  bool SeekToFirst() override { return false; }
  bool SeekToLast() override { return false; }
  bool Seek(Slice) override { return false; }
  bool Next() override { return false; }
  bool Prev() override { return false; }
  Slice key() override { return {}; }
  Slice value() override { return {}; }
  Status status() override { return NothingToRead(); }
};

class RawSession : public Session {
 public:
  // The first write creates `path`.
  RawSession(std::string path, bool sync) : path_(std::move(path)), sync_(sync) {}
  ~RawSession() override {
    if (fd_ >= 0) close(fd_);
  }

  Lookup Get(Slice, Slice*) override { return Lookup::kError; }
  void MultiGet(std::span<const Slice>, std::span<Slice>, std::span<Lookup> lookups) override {
    for (Lookup& lookup : lookups) lookup = Lookup::kError;
  }
  Status error() override { return NothingToRead(); }
  std::unique_ptr<Cursor> NewCursor(Fetch) override { return std::make_unique<NoCursor>(); }

  Status Put(Slice key, Slice value) override { return Append(key, value); }
  Status Delete(Slice) override { return Status::NotSupported("raw files only grow"); }
  Status BatchPut(Slice key, Slice value) override {
    batch_.append(key.data(), key.size()).append(value.data(), value.size());
    return {};
  }
  Status CommitBatch() override {
    Status status = Append(batch_, {});
    batch_.clear();
    return status;
  }
  Status SyncAll() override { return fd_ < 0 ? Status() : Sync(); }
  Status Finish() override { return fd_ < 0 || sync_ ? Status() : Sync(); }

 private:
  Status Append(Slice a, Slice b) {
    if (fd_ < 0) fd_ = open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    if (fd_ < 0) return SystemError("open " + path_);
    const std::array<iovec, 2> parts = {iovec{const_cast<char*>(a.data()), a.size()},
                                        iovec{const_cast<char*>(b.data()), b.size()}};
    const ssize_t written = writev(fd_, parts.data(), static_cast<int>(parts.size()));
    if (written < 0) return SystemError("write " + path_);
    if (static_cast<std::size_t>(written) != a.size() + b.size())
      return Status::IOError("incomplete write to " + path_);
    return sync_ ? Sync() : Status();
  }
  Status Sync() { return fdatasync(fd_) == 0 ? Status() : SystemError("fdatasync " + path_); }

  std::string path_;
  bool sync_;
  int fd_ = -1;
  std::string batch_;
};

class RawEngine : public Engine {
 public:
  explicit RawEngine(const EngineConfig& config) : path_(config.path) {}

  Status Open(bool create) override {
    if (create && mkdir(path_.c_str(), 0755) != 0 && errno != EEXIST) return SystemError("mkdir " + path_);
    return create || access(path_.c_str(), W_OK) == 0 ? Status() : SystemError(path_);
  }
  Status Close() override { return {}; }
  Status Destroy() override {
    std::error_code error;
    if (!std::filesystem::exists(path_, error)) return {};
    for (const auto& file : std::filesystem::directory_iterator(path_, error)) {
      const std::string name = file.path().filename().string();
      if (name.rfind(kFileNamePrefix, 0) == 0 && unlink(file.path().c_str()) != 0) return SystemError("unlink " + name);
    }
    return !error ? Status() : Status::IOError("list " + path_ + ": " + error.message());
  }

  Status BeginWrites(const WriteMode& mode) override {
    sync_ = mode.sync;
    return {};
  }
  std::unique_ptr<Session> NewSession() override {
    const std::string name = kFileNamePrefix + std::to_string(getpid()) + "-" + std::to_string(++sessions_);
    return std::make_unique<RawSession>(path_ + "/" + name, sync_);
  }

  Status Settle(double* idle_seconds) override {
    *idle_seconds = 0;
    return {};
  }
  Status Flush() override { return {}; }
  Status WaitForCompaction() override { return {}; }
  Status Compact() override { return Status::NotSupported("raw files have no order"); }
  Status Verify(std::string*) override { return NothingToRead(); }

  std::string Version() const override { return "the file system"; }
  std::string Settings() const override {
    return "a file per thread, which grows; unsynced writes have one fdatasync at the end";
  }

 private:
  std::string path_;
  bool sync_ = false;
  std::atomic<std::uint64_t> sessions_{0};
};

}  // namespace

std::unique_ptr<Engine> MakeRaw(const EngineConfig& config) { return std::make_unique<RawEngine>(config); }

}  // namespace cambium::bench
