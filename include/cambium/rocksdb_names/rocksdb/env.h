// Env: files, time and names of the operating system. There is one Env, the default one. A file system of the program's
// own is an option of Cambium's: DBOptions::file_system.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cambium/rocksdb_names/rocksdb/logger.h"
#include "cambium/rocksdb_names/rocksdb/rate_limiter.h"
#include "cambium/rocksdb_names/rocksdb/status.h"

namespace rocksdb::inline on_cambium {

// Any thread may call any function.
class Env final {
 public:
  enum Priority { BOTTOM, LOW, HIGH, USER, TOTAL };
  enum IOPriority { IO_LOW = 0, IO_MID = 1, IO_HIGH = 2, IO_USER = 3, IO_TOTAL = 4 };

  Env(const Env&) = delete;
  Env& operator=(const Env&) = delete;

  // Never destroyed.
  [[nodiscard]] static Env* Default();

  // ---- Threads: hints. Each database has threads of its own, see DBOptions::max_background_jobs ----
  void SetBackgroundThreads(int number, Priority priority = LOW);
  [[nodiscard]] int GetBackgroundThreads(Priority priority = LOW) const;
  void IncBackgroundThreadsIfNeeded(int number, Priority priority);
  void LowerThreadPoolIOPriority(Priority priority = LOW);
  void LowerThreadPoolCPUPriority(Priority priority = LOW);
  // The hints that the process has given so far: LOG of each database that is opened afterwards has them.
  [[nodiscard]] std::vector<std::string> Hints() const;

  // ---- Time ----
  [[nodiscard]] std::uint64_t NowMicros() const;
  [[nodiscard]] std::uint64_t NowNanos() const { return NowMicros() * 1000; }
  void SleepForMicroseconds(int micros) const;
  Status GetCurrentTime(std::int64_t* unix_time) const;

  // ---- Files ----
  Status FileExists(const std::string& path) const;  // NotFound if there is none
  Status GetChildren(const std::string& directory, std::vector<std::string>* names) const;  // without "." and ".."
  Status GetFileSize(const std::string& path, std::uint64_t* size) const;
  Status IsDirectory(const std::string& path, bool* is_directory) const;
  Status CreateDir(const std::string& path) const;
  Status CreateDirIfMissing(const std::string& path) const;
  Status DeleteDir(const std::string& path) const;
  Status DeleteFile(const std::string& path) const;
  Status RenameFile(const std::string& from, const std::string& to) const;
  Status LinkFile(const std::string& from, const std::string& to) const;
  Status GetFreeSpace(const std::string& path, std::uint64_t* bytes) const;
  // A directory for tests, which is created: $TEST_TMPDIR, or /tmp/cambiumtest-<uid>.
  Status GetTestDirectory(std::string* path) const;

 private:
  Env() = default;
};

}  // namespace rocksdb::inline on_cambium
