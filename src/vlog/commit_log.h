// CommitLog: the end of the log, where batches are appended, and the promise of durability.
//
// Appending is serialised by the caller's append lock; durability is not. Only durability is grouped: the first that
// waits syncs the published prefix for all who wait with it. A plain lock with one's own write is faster than handing
// batches to a leader, and its tail latency is far better.
//
// A write that fails leaves bytes of which nobody knows how many there are. They are never written over and nothing is
// appended behind them: the next append goes to a new segment, whose naming in the MANIFEST also says where the log of
// the failed one ends.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cambium/types.h"
#include "util/meter.h"
#include "util/result.h"
#include "vlog/prepared_batch.h"
#include "vlog/segment.h"
#include "vlog/segment_footer.h"

namespace cambium {

// Where a segment's log ends.
struct SegmentEnd {
  std::shared_ptr<Segment> segment;  // null: there was none
  std::uint64_t length = 0;
  SequenceNumber last_sequence = 0;
};

// Where new segments come from: created, durable with their name, and named in the MANIFEST. Called under the append
// lock.
class SegmentSource {
 public:
  virtual ~SegmentSource() = default;
  // If `failed` is set, a write to it failed: the record that names the new segment also seals it at that end.
  virtual Result<std::shared_ptr<Segment>> NextSegment(const SegmentEnd* failed) = 0;
};

// A segment that takes no more records; it waits for its footer and its seal.
struct RotatedSegment {
  SegmentEnd end;
  std::string footer;
};

class CommitLog {
 public:
  // Goes on behind `predecessor` (what recovery found), in a segment that the first append asks the source for.
  // *published is the sequence number up to which operations are visible; it must outlive the log, and so must what
  // `meter` refers to.
  CommitLog(SegmentSource* source, std::uint64_t segment_bytes, const SegmentEnd& predecessor,
            SequenceNumber durable, const std::atomic<SequenceNumber>* published, const Meter& meter = Meter());

  // ---- Under the append lock ----

  // Writes the batch with sequence numbers from `first`; its addresses are then set. After an error nothing of it is
  // in the log, and the log can be appended to again, unless the error is Fatal. *position is the batch's place.
  struct Position {
    std::uint64_t segment = 0;
    std::uint64_t offset = 0;
  };
  Status Append(PreparedBatch* batch, SequenceNumber first, Position* position);

  // Gives back what the current segment's file was made larger ahead of the log. Nothing is appended any more.
  void TrimTail();
  // The same of a segment that ends at `end`, footer included.
  static void Trim(Segment* segment, std::uint64_t end);

  // Ends the current segment, if it holds anything, so that it can be sealed.
  Status Rotate();
  // Where the next record will go; {0, 0} if that is a segment that does not exist yet.
  [[nodiscard]] Position tail() const;
  // Where the log ends, if a write to the current segment failed and nothing was appended since: what stands behind it
  // is not log, and nobody has been told yet. Else no segment.
  [[nodiscard]] SegmentEnd failed_end() const {
    return broken_ ? SegmentEnd{current_, tail_, last_sequence_} : SegmentEnd{};
  }
  // From the next segment on, or from within NextSegment.
  void set_segment_bytes(std::uint64_t bytes) { segment_bytes_ = bytes; }
  [[nodiscard]] std::uint64_t segment_bytes() const { return segment_bytes_; }

  // ---- Any thread ----

  // Returns when everything published before the call is durable. Fatal if a sync fails, now or ever before.
  Status Sync();
  // Returns when `sequence`, which is published, is durable.
  Status SyncUpTo(SequenceNumber sequence);
  [[nodiscard]] SequenceNumber durable_sequence() const { return durable_.load(std::memory_order_acquire); }

  // Segments that wait for their seal, oldest first; given out once. The caller syncs each (SyncRotated) before it
  // writes a footer.
  [[nodiscard]] std::vector<RotatedSegment> TakeRotated();
  // Of a segment that nothing is appended to any more. Waits for a sync that is under way: no two overlap.
  Status SyncRotated(const std::shared_ptr<Segment>& segment);
  // Nothing is appended or synced any more: the first fatal error of the database.
  void Fail(const Status& status);
  [[nodiscard]] Status failure() const;

  // fdatasyncs issued so far.
  [[nodiscard]] std::uint64_t sync_count() const { return sync_count_.load(std::memory_order_relaxed); }

 private:
  Status Open(const SegmentEnd* failed);
  void GrowFileAhead(std::uint64_t end);
  // False: there was no memory to say how it went. Throws nothing.
  bool SyncFile(const std::shared_ptr<Segment>& segment, Status* synced);
  // The first failure stays. Null: nobody has words for it. Needs mutex_; throws nothing.
  void SetFailure(const Status* why);

  SegmentSource* const source_;
  std::uint64_t segment_bytes_;
  const std::atomic<SequenceNumber>* const published_;
  const Meter meter_;

  // Under the append lock.
  std::shared_ptr<Segment> current_;  // written under both locks, so either is enough to read it
  std::uint64_t tail_ = 0;
  SequenceNumber last_sequence_ = 0;  // of what is in the log
  SegmentLink predecessor_;           // of current_; not the segment itself, which may have been dropped by then
  bool broken_ = false;               // a write to current_ failed: it ends at tail_
  SegmentFooterBuilder footer_;
  // Up to here it is settled whether the file is made larger ahead of the log; how many syncs there had been by then.
  std::uint64_t settled_ahead_ = 0;
  std::uint64_t syncs_when_settled_ = 0;

  mutable std::mutex mutex_;  // below the append lock
  std::condition_variable synced_;
  std::vector<std::shared_ptr<Segment>> dirty_;  // rotated, not yet synced since; oldest first. Guarded by mutex_
  std::vector<RotatedSegment> rotated_;          // wait for their seal. Guarded by mutex_
  bool syncing_ = false;                         // guarded by mutex_
  Status failure_;                               // guarded by mutex_
  // Becomes failure_ when there is no memory for another. Guarded by mutex_
  Status unspoken_ = Status::Aborted("a sync or a commit failed, and there was no memory to say why").Fatal();
  std::atomic<bool> failed_{false};
  std::atomic<SequenceNumber> durable_;
  std::atomic<std::uint64_t> sync_count_{0};
};

}  // namespace cambium
