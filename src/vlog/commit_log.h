// CommitLog: the end of the log. It appends batches and makes them durable.
//
// The caller's append lock serialises appends. Syncs do not need that lock, and they are grouped: the first thread that
// waits syncs the published prefix for all threads that wait with it. Appends are not grouped: a plain lock, under
// which each thread writes its own batch, is faster than handing batches to a leader, and its tail latency is far
// better.
//
// A failed write leaves an unknown number of bytes in the file. They are cut off, so that they take no space, but a
// crash may bring them back. So nothing is appended after them: the next append uses a new segment, after a MANIFEST
// record has sealed the segment of the failed write where its valid records end. A large batch takes its space before
// its first byte, so on a full disk it leaves nothing, and the segment can take later batches.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "cambium/types.h"
#include "util/meter.h"
#include "util/mutex.h"
#include "util/result.h"
#include "vlog/prepared_batch.h"
#include "vlog/segment.h"
#include "vlog/segment_footer.h"

namespace cambium {

// Where a segment's log ends.
struct SegmentEnd {
  std::shared_ptr<Segment> segment;  // null: no segment
  std::uint64_t length = 0;
  SequenceNumber last_sequence = 0;
};

// Supplies new segments. Called under the append lock.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  // Returns a new, empty segment. Its file and file name are durable, and the MANIFEST names it. If `failed` is not
  // null, a write to that segment failed: then a MANIFEST record has also sealed that segment at `failed->length`.
  virtual Result<std::shared_ptr<Segment>> NextSegment(const SegmentEnd* failed) = 0;
};

// A segment that takes no more appends and waits for its footer and its seal.
struct RotatedSegment {
  SegmentEnd end;
  std::string footer;
};

class CommitLog {
 public:
  // Continues the log after `predecessor`, the end that recovery found. The first append asks `source` for a segment.
  // *published is the sequence number up to which operations are visible. `published` and the objects of `meter` must
  // outlive the log.
  CommitLog(SegmentSource* source, std::uint64_t segment_bytes, const SegmentEnd& predecessor,
            SequenceNumber durable, const std::atomic<SequenceNumber>* published, const Meter& meter = Meter());

  // ---- Under the append lock ----

  // Writes the batch with sequence numbers from `first`, and sets its addresses and *position, its place. After an
  // error no part of the batch is in the log, and further appends are possible unless the error is Fatal.
  struct Position {
    std::uint64_t segment = 0;
    std::uint64_t offset = 0;
  };
  Status Append(PreparedBatch* batch, SequenceNumber first, Position* position);

  // Frees the space that was allocated ahead of the log in the current segment's file. No append may follow.
  void TrimTail();
  // Cuts the file of `segment` at `end`, the end of its log or of its footer.
  static void Trim(Segment* segment, std::uint64_t end);
  static void CutOff(Segment* segment, std::uint64_t end);

  // If the current segment holds a record, or a write to it failed, ends it, so that it can be sealed, and continues in
  // a new one.
  Status Rotate();
  // The place of the next record; {0, 0} if its segment does not exist yet.
  [[nodiscard]] Position tail() const;
  // If the last write to the current segment failed, returns the segment and where its valid records end: the bytes
  // after them are not log, and the MANIFEST does not say so yet. Otherwise returns no segment.
  [[nodiscard]] SegmentEnd failed_end() const {
    return broken_ ? SegmentEnd{current_, tail_, last_sequence_} : SegmentEnd{};
  }
  // Sets the size at which a segment rotates. Call it before the first append, or within NextSegment for the segment
  // that NextSegment returns.
  void set_segment_bytes(std::uint64_t bytes) { segment_bytes_ = bytes; }
  [[nodiscard]] std::uint64_t segment_bytes() const { return segment_bytes_; }

  // ---- Any thread ----

  // Returns when everything published before the call is durable. Fatal if this sync or any earlier one failed.
  Status Sync();
  // Returns when `sequence`, which must be published, is durable. Errors as Sync.
  Status SyncUpTo(SequenceNumber sequence);
  [[nodiscard]] SequenceNumber durable_sequence() const { return durable_.load(std::memory_order_acquire); }

  // Returns the segments that wait for their seal, oldest first, each only once. The caller must sync each
  // (SyncRotated) before it writes its footer.
  [[nodiscard]] std::vector<RotatedSegment> TakeRotated();
  // Syncs a segment that takes no more appends. Waits for a sync in progress: no two overlap. Errors as Sync.
  Status SyncRotated(const std::shared_ptr<Segment>& segment);
  // Makes every later append and sync fail with `status`, the database's first fatal error.
  void Fail(const Status& status);
  [[nodiscard]] Status failure() const;

  // fdatasyncs issued so far.
  [[nodiscard]] std::uint64_t sync_count() const { return sync_count_.load(std::memory_order_relaxed); }

 private:
  // Ends the current segment, if there is one, and continues in a new one. `failed` as for NextSegment.
  Status Open(const SegmentEnd* failed);
  [[nodiscard]] std::string LinkRecord(SequenceNumber durable) const;
  // Reserves memory in the footer, so that adding the batch's records later allocates nothing.
  void ReserveInFooter(const PreparedBatch& batch);
  void GrowFileAhead(std::uint64_t end);
  Status TakeSpace(std::uint64_t end);
  // Sets *synced to the outcome. False: the outcome is unknown, because memory ran out. Throws nothing.
  bool SyncFile(const std::shared_ptr<Segment>& segment, Status* synced);
  // Keeps the first failure. Null: out of memory for the message. Throws nothing.
  void SetFailure(const Status* why) CAMBIUM_REQUIRES(mutex_);

  SegmentSource* const source_;
  std::uint64_t segment_bytes_;
  const std::atomic<SequenceNumber>* const published_;
  const Meter meter_;

  // Under the append lock.
  std::shared_ptr<Segment> current_;  // written under both locks, so either is enough to read it
  std::uint64_t tail_ = 0;
  SequenceNumber last_sequence_ = 0;  // of the last operation in the log
  SegmentLink predecessor_;           // of current_. Only the link: the segment itself may already be dropped
  bool broken_ = false;               // a write to current_ failed: its log ends at tail_
  SegmentFooterBuilder footer_;
  // The log's offset at which GrowFileAhead decides again, and the number of syncs at its last decision.
  std::uint64_t next_growth_check_ = 0;
  std::uint64_t syncs_at_growth_check_ = 0;

  mutable Mutex mutex_;  // taken after the append lock
  CondVar synced_;
  std::vector<std::shared_ptr<Segment>> dirty_ CAMBIUM_GUARDED_BY(mutex_);  // rotated, not synced since; oldest first
  std::vector<RotatedSegment> rotated_ CAMBIUM_GUARDED_BY(mutex_);          // wait for their seal
  bool syncing_ CAMBIUM_GUARDED_BY(mutex_) = false;
  Status failure_ CAMBIUM_GUARDED_BY(mutex_);
  // Becomes failure_ if there is no memory to copy the real one.
  Status failure_without_memory_ CAMBIUM_GUARDED_BY(mutex_) =
      Status::Aborted("a sync or a commit failed; out of memory for the message").Fatal();
  std::atomic<bool> failed_{false};
  std::atomic<SequenceNumber> durable_;
  std::atomic<std::uint64_t> sync_count_{0};
};

}  // namespace cambium
