// FileWatch: a listener that keeps a list of files from the events it gets, and detects impossible events.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "cambium/listener.h"

namespace cambium::testing {

// Returns true for table and blob files, by their names. Other files have no events.
[[nodiscard]] inline bool IsWatchedFile(const std::string& path) {
  for (const char* const kind : {".run", ".idx", ".log", ".val", ".gc"}) {
    if (path.ends_with(kind)) return true;
  }
  return false;
}

// Any thread.
class FileWatch final : public EventListener {
 public:
  // `there` are the paths of the files that exist just before the database is opened.
  explicit FileWatch(const std::vector<std::string>& there) {
    for (const std::string& path : there) {
      if (IsWatchedFile(path)) files_[path] = State::kComplete;
    }
  }

  // Returns the first impossible event, or "".
  [[nodiscard]] std::string wrong() const {
    const std::lock_guard lock(mutex_);
    return wrong_;
  }
  // Compares the files that exist with those that were created and not deleted, according to the events.
  [[nodiscard]] std::string Compare(const std::vector<std::string>& there) const {
    const std::lock_guard lock(mutex_);
    if (!wrong_.empty()) return wrong_;
    std::set<std::string> left;
    for (const auto& [path, state] : files_) left.insert(path);
    for (const std::string& path : there) {
      if (IsWatchedFile(path) && left.erase(path) == 0) return path + " exists, and no event reported it";
    }
    return left.empty() ? "" : *left.begin() + " does not exist, and no event reported its deletion";
  }
  // As Compare, when no job runs: every job must have ended, and every file must be complete.
  [[nodiscard]] std::string CompareAtRest(const std::vector<std::string>& there) const {
    if (std::string unlike = Compare(there); !unlike.empty()) return unlike;
    const std::lock_guard lock(mutex_);
    if (!jobs_.empty()) return "job " + std::to_string(*jobs_.begin()) + " began and did not end";
    for (const auto& [path, state] : files_) {
      if (state == State::kBegun) return path + " was begun and never completed";
    }
    return "";
  }

  void OnTableFileCreationStarted(const TableFileCreationBriefInfo& file) override { Begin(file.file_path); }
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& file) override { Begin(file.file_path); }
  void OnTableFileCreated(const TableFileCreationInfo& file) override { Complete(file.file_path); }
  void OnBlobFileCreated(const BlobFileCreationInfo& file) override { Complete(file.file_path); }
  void OnTableFileDeleted(const TableFileDeletionInfo& file) override { Delete(file.file_path); }
  void OnBlobFileDeleted(const BlobFileDeletionInfo& file) override { Delete(file.file_path); }
  void OnFlushBegin(DB* db, const FlushJobInfo& job) override { BeginJob(db, job.job_id); }
  void OnFlushCompleted(DB* db, const FlushJobInfo& job) override { EndJob(db, job.job_id); }
  void OnCompactionBegin(DB* db, const CompactionJobInfo& job) override { BeginJob(db, job.job_id); }
  void OnCompactionCompleted(DB* db, const CompactionJobInfo& job) override { EndJob(db, job.job_id); }

 private:
  enum class State : unsigned char { kBegun, kComplete };

  void Begin(const std::string& path) {
    const std::lock_guard lock(mutex_);
    if (!files_.emplace(path, State::kBegun).second) Wrong(path + " was started twice");
  }
  void Complete(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(path);
    if (found == files_.end() || found->second != State::kBegun) return Wrong(path + " was completed but not started");
    found->second = State::kComplete;
  }
  void Delete(const std::string& path) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(path);
    if (found == files_.end() || found->second != State::kComplete) {
      return Wrong(path + " was deleted but not completed");
    }
    files_.erase(found);
  }
  // A listener may call the database from an event, so these do.
  void BeginJob(DB* db, int job) {
    std::uint64_t number = 0;
    static_cast<void>(db->GetIntProperty("cambium.num-runs", &number));
    const std::lock_guard lock(mutex_);
    if (!jobs_.insert(job).second) Wrong("job " + std::to_string(job) + " began twice");
  }
  void EndJob(DB* db, int job) {
    std::string figures;
    static_cast<void>(db->GetProperty("cambium.space", &figures));  // takes the commit lock
    const std::lock_guard lock(mutex_);
    if (jobs_.erase(job) == 0) Wrong("job " + std::to_string(job) + " ended without a beginning");
  }
  void Wrong(const std::string& what) {  // mutex_ held
    if (wrong_.empty()) wrong_ = "listener: " + what;
  }

  mutable std::mutex mutex_;
  std::map<std::string, State> files_;  // mutex_
  std::set<int> jobs_;                  // mutex_; jobs that have begun and not ended
  std::string wrong_;                   // mutex_
};

}  // namespace cambium::testing
