// LogFiles: a commit log without a database around it, on disk or in memory.
#pragma once

#include <atomic>
#include <memory>

#include "cambium/file_system.h"
#include "testing/temp_directory.h"
#include "vlog/commit_log.h"

namespace cambium::bench {

enum class LogPlace : unsigned char {
  kDisk,    // a temporary directory of the real file system
  kMemory,  // a HeapFile
};

// One segment at a time. One thread.
class LogFiles final : public SegmentSource {
 public:
  // Values of less than `separate_from` bytes are inline, as in PreparedBatch::Rules.
  LogFiles(LogPlace place, std::uint64_t segment_bytes, std::uint64_t separate_from);
  ~LogFiles() override;

  // Prepares, appends and publishes a batch of one put, as the database does.
  Status Put(Slice key, Slice value, ValueAddress* address);

  // Returns whether the segment has no room for a record of `bytes` bytes, key and header included.
  [[nodiscard]] bool IsFull(std::uint64_t bytes) const { return log_->tail().offset + bytes > segment_bytes_; }
  // Starts a new log in a new file, with one record, and deletes the old file, dirty pages included.
  void StartOver();

  Status Sync() { return log_->Sync(); }
  // Allows reads from a mapping. No more puts after this.
  void AllowMap();
  // The table of the one segment, which is being written.
  [[nodiscard]] const SegmentTable& segments() const { return segments_; }

  Result<std::shared_ptr<Segment>> NextSegment(const SegmentEnd* failed) override;

 private:
  Result<std::unique_ptr<File>> NewFile(const std::string& path);

  const LogPlace place_;
  const std::uint64_t segment_bytes_;
  const PreparedBatch::Rules rules_;
  const testing::TempDirectory directory_;
  std::uint64_t next_number_ = 1;
  std::atomic<SequenceNumber> published_{0};
  SegmentTable segments_;
  std::unique_ptr<CommitLog> log_;
};

}  // namespace cambium::bench
