#include "cambium/rocksdb_names/rocksdb/env.h"

#include <algorithm>
#include <array>

#include "cambium/clock.h"
#include "cambium/file_system.h"
#include "io/test_directory.h"
#include "util/mutex.h"
#include "util/result.h"

namespace rocksdb::inline on_cambium {
namespace {

// The numbers of threads that a program has set. They are hints: such threads do not exist here.
struct ThreadHints {
  cambium::Mutex mutex;
  std::array<int, Env::TOTAL> threads CAMBIUM_GUARDED_BY(mutex) = {1, 1, 1, 1};
  std::vector<std::string> calls CAMBIUM_GUARDED_BY(mutex);

  void Add(const char* call) CAMBIUM_REQUIRES(mutex) {
    if (std::ranges::find(calls, call) == calls.end()) calls.emplace_back(call);
  }
};
ThreadHints& Threads() {
  static auto* const made = new ThreadHints;
  return *made;
}

cambium::FileSystem& Files() { return *cambium::FileSystem::Default(); }

}  // namespace

Env* Env::Default() {
  static auto* const made = new Env;
  return made;
}

void Env::SetBackgroundThreads(int number, Priority priority) {
  ThreadHints& hints = Threads();
  const cambium::MutexLock lock(hints.mutex);
  hints.Add("Env::SetBackgroundThreads");
  if (priority < TOTAL) hints.threads[priority] = number;
}

int Env::GetBackgroundThreads(Priority priority) const {
  ThreadHints& hints = Threads();
  const cambium::MutexLock lock(hints.mutex);
  return priority < TOTAL ? hints.threads[priority] : 0;
}

void Env::IncBackgroundThreadsIfNeeded(int number, Priority priority) {
  ThreadHints& hints = Threads();
  const cambium::MutexLock lock(hints.mutex);
  hints.Add("Env::IncBackgroundThreadsIfNeeded");
  if (priority < TOTAL) hints.threads[priority] = std::max(hints.threads[priority], number);
}

void Env::LowerThreadPoolIOPriority(Priority /*priority*/) {
  ThreadHints& hints = Threads();
  const cambium::MutexLock lock(hints.mutex);
  hints.Add("Env::LowerThreadPoolIOPriority");
}

void Env::LowerThreadPoolCPUPriority(Priority /*priority*/) {
  ThreadHints& hints = Threads();
  const cambium::MutexLock lock(hints.mutex);
  hints.Add("Env::LowerThreadPoolCPUPriority");
}

std::vector<std::string> Env::Hints() const {
  ThreadHints& hints = Threads();
  const cambium::MutexLock lock(hints.mutex);
  return hints.calls;
}

// The monotonic clock, set once to the whole seconds of the wall clock, so it is up to a second behind it. Later
// changes of the wall clock have no effect.
std::uint64_t Env::NowMicros() const {
  const std::shared_ptr<cambium::Clock> clock = cambium::Clock::Default();
  static const std::uint64_t start = clock->WallSeconds() * 1'000'000 - clock->NowMicros();
  return start + clock->NowMicros();
}

void Env::SleepForMicroseconds(int micros) const {
  cambium::Clock::Default()->SleepMicros(static_cast<std::uint64_t>(std::max(micros, 0)));
}

Status Env::GetCurrentTime(std::int64_t* unix_time) const {
  *unix_time = static_cast<std::int64_t>(cambium::Clock::Default()->WallSeconds());
  return Status::OK();
}

Status Env::FileExists(const std::string& path) const {
  cambium::FileInfo info;
  Status found = Files().GetInfo(path, &info);
  return found.IsPathNotFound() ? Status::NotFound(path) : found;
}

Status Env::GetChildren(const std::string& directory, std::vector<std::string>* names) const {
  names->clear();
  Status listed = Files().List(directory, names);
  return listed.IsPathNotFound() ? Status::NotFound(directory) : listed;
}

Status Env::GetFileSize(const std::string& path, std::uint64_t* size) const {
  cambium::FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(Files().GetInfo(path, &info));
  *size = info.size;
  return Status::OK();
}

Status Env::IsDirectory(const std::string& path, bool* is_directory) const {
  cambium::FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(Files().GetInfo(path, &info));
  *is_directory = info.is_directory;
  return Status::OK();
}

// Cambium's call accepts a directory that exists.
Status Env::CreateDir(const std::string& path) const {
  const Status found = FileExists(path);
  if (found.IsNotFound()) return Files().CreateDirectory(path);
  return found.ok() ? Status::IOError(path + " exists") : found;
}

Status Env::CreateDirIfMissing(const std::string& path) const {
  return Files().CreateDirectory(path);
}

Status Env::DeleteDir(const std::string& path) const { return Files().RemoveDirectory(path); }
Status Env::DeleteFile(const std::string& path) const { return Files().Unlink(path); }
Status Env::RenameFile(const std::string& from, const std::string& to) const { return Files().Rename(from, to); }
Status Env::LinkFile(const std::string& from, const std::string& to) const { return Files().Link(from, to); }
Status Env::GetFreeSpace(const std::string& path, std::uint64_t* bytes) const { return Files().FreeSpace(path, bytes); }

Status Env::GetTestDirectory(std::string* path) const {
  return cambium::MakeTestDirectory(Files(), path);
}

}  // namespace rocksdb::inline on_cambium
