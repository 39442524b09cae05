#include "vlog/commit_log.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <new>
#include <utility>

#include "io/file_header.h"
#include "io/take_blocks.h"
#include "io/write_zeros.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {
namespace {

// The file grows ahead of the log by half of the log's size, within these bounds and at most by a quarter of a segment,
// so that a small database does not use much more space.
constexpr std::uint64_t kAheadMin = 64u << 10;
constexpr std::uint64_t kAheadMax = 1u << 20;
// The piece ends at a multiple of this, so that no page of it is written twice before records are written there.
constexpr std::uint64_t kAheadUnit = 4096;
// The file grows ahead only if there were at least this many syncs while the log grew by the previous piece. With fewer
// syncs, writing zeros costs more than it saves.
constexpr std::uint64_t kFrequentSyncs = 8;
// A batch of at least this size takes its space before its first byte is written.
constexpr std::uint64_t kLargeBatch = 1u << 20;

// True only under a mutant that switches off the rule that a failed sync is fatal.
bool MayContinueAfter(const Status& failed_sync) {
  return MutantIs(Mutant::kIgnoreFailedSync) || (failed_sync.IsNoSpace() && MutantIs(Mutant::kNoSpaceSyncIsNotFatal));
}

// Each of the functions below does something only under its mutant.

using Segments = std::vector<std::shared_ptr<Segment>>;

void ContinueOldSegment(const SegmentEnd& predecessor, std::shared_ptr<Segment>* current, std::uint64_t* tail) {
  if (!MutantIs(Mutant::kAppendToOldSegment) || predecessor.segment == nullptr) return;
  *current = predecessor.segment;
  *tail = predecessor.length;
}

void MarkCurrentClean(const Segments& synced, std::size_t* rotated) {
  if (MutantIs(Mutant::kEarlierSyncMarksSegmentClean)) *rotated = synced.size();
}

void SyncNewestFirst(Segments* files) {
  if (MutantIs(Mutant::kSyncNewestFirst)) std::reverse(files->begin(), files->end());
}

void ClaimLaterWrites(const std::atomic<SequenceNumber>& published, SequenceNumber* upto) {
  if (MutantIs(Mutant::kSyncClaimsLaterWrites)) *upto = published.load(std::memory_order_acquire);
}

void RetryFailedSync(Segment* segment, Status* synced) {
  if (MutantIs(Mutant::kRetryFailedSync) && !synced->ok()) *synced = segment->file().SyncData();
}

}  // namespace

CommitLog::CommitLog(SegmentSource* source, std::uint64_t segment_bytes, const SegmentEnd& predecessor,
                     SequenceNumber durable, const std::atomic<SequenceNumber>* published, const Meter& meter)
    : source_(source),
      segment_bytes_(segment_bytes),
      published_(published),
      meter_(meter),
      last_sequence_(predecessor.last_sequence),
      predecessor_{predecessor.segment == nullptr ? 0 : predecessor.segment->number(), predecessor.length,
                   predecessor.last_sequence},
      durable_(durable) {
  assert(source_ != nullptr && published_ != nullptr);
  ContinueOldSegment(predecessor, &current_, &tail_);
}

Status CommitLog::Append(PreparedBatch* batch, SequenceNumber first, Position* position) {
  assert(!batch->empty() && first == last_sequence_ + 1);
  if (failed_.load(std::memory_order_acquire)) return failure();
  if (batch->ops().size() > kMaxSequenceNumber - last_sequence_) {
    return Status::NotSupported("all sequence numbers are in use");  // only a forged file can lead here
  }
  // A batch never spans two segments, so half a batch can only be the torn end of the log.
  if (batch->size() > kBatchBytesMax) {
    return Status::InvalidArgument("a batch of " + std::to_string(batch->size()) +
                                   " bytes of log is larger than a segment can address (1 GiB)");
  }
  if (current_ == nullptr || broken_ || tail_ >= segment_bytes_ || batch->size() > kLogOffsetMax - tail_) {
    CAMBIUM_RETURN_IF_ERROR(Rotate());
    if (current_ == nullptr) CAMBIUM_RETURN_IF_ERROR(Open(nullptr));
  }
  assert(current_ != nullptr && !broken_ && tail_ >= kFileHeaderSize);

  const SequenceNumber durable = durable_sequence();
  const std::string link = tail_ == kFileHeaderSize ? LinkRecord(durable) : std::string();
  const std::uint64_t start = tail_ + link.size();
  batch->Bind(first, durable, current_->seed(), current_->slot(), start);

  if (start + batch->size() > next_growth_check_) GrowFileAhead(start + batch->size());
  // All memory is allocated before the write. After the write nothing may fail, or the next record would overwrite this
  // one.
  ReserveInFooter(*batch);
  const bool is_one_piece = link.empty() && batch->pieces().size() == 1;
  std::vector<Slice> pieces;
  if (!is_one_piece) {
    pieces.reserve(batch->pieces().size() + 1);
    if (!link.empty()) pieces.emplace_back(link);
    pieces.insert(pieces.end(), batch->pieces().begin(), batch->pieces().end());
  }
  CAMBIUM_RETURN_IF_ERROR(TakeSpace(start + batch->size()));
  // Set until the write is known to be whole: if the write lacks memory to report an error, it throws.
  broken_ = !MutantIs(Mutant::kAppendAfterHalfRecord);
  meter_.Tick(FILE_BYTES_LOG, link.size() + batch->size());
  const Status written = is_one_piece ? current_->file().Write(start, batch->pieces()[0])
                                      : current_->file().WriteVectored(tail_, pieces);
  if (!written.ok()) {
    if (!broken_) {
      FileInfo info;
      if (current_->file().GetInfo(&info).ok()) tail_ = (std::max(tail_, info.size) + 7) / 8 * 8;
    }
    // The bytes that were written are not part of the log, and may have taken all the space of the disk. Nothing is
    // appended to this file any more, so a crash may bring these bytes back.
    if (!MutantIs(Mutant::kKeepFailedBatch)) CutOff(current_.get(), tail_);
    return written;
  }
  broken_ = false;
  if (!link.empty()) footer_.AddRecord(RecordOp::kLink, 0, {}, link.size(), false);
  for (const PreparedBatch::Op& op : batch->ops()) {
    footer_.AddRecord(op.header.op, op.header.family, op.key, op.header.RecordSize(),
                      op.separated && op.header.op == RecordOp::kPut);
  }
  tail_ = start + batch->size();
  assert(tail_ <= kLogOffsetMax && tail_ % kRecordAlignment == 0);
  if (SegmentMap* const map = current_->map(); map != nullptr) map->Grow(tail_);
  last_sequence_ = first + batch->ops().size() - 1;
  *position = {current_->number(), start};
  return Status::OK();
}

// The first record of a segment: the link to its predecessor.
std::string CommitLog::LinkRecord(SequenceNumber durable) const {
  const std::string value = EncodeSegmentLink(predecessor_);
  RecordHeader header;
  header.op = RecordOp::kLink;
  header.sequence = last_sequence_;
  header.value_size = value.size();
  header.body_checksum = BodyChecksum({}, value);
  const std::uint64_t lag = last_sequence_ - durable;
  if (durable != 0 && lag < kNothingDurable) header.durable_lag = static_cast<std::uint32_t>(lag);
  std::string record(header.RecordSize(), '\0');
  EncodeRecordHeader(header, current_->seed(), tail_, record.data());
  return record.replace(kRecordHeaderSize, value.size(), value);
}

void CommitLog::ReserveInFooter(const PreparedBatch& batch) {
  std::size_t separated = 0;
  std::size_t key_bytes = 0;
  for (const PreparedBatch::Op& op : batch.ops()) {
    if (!op.separated) continue;
    ++separated;
    key_bytes += op.key.size();
  }
  footer_.Reserve(separated, key_bytes);
}

// If a file has grown since its last sync, its next sync also writes metadata: the size, and the places of new blocks.
// So where syncs are frequent, the file grows once for many of them. Zeros are written, because a block that is only
// allocated becomes a written one later, and that is metadata too. No record begins with zeros. Where syncs are rare,
// the file system allocates better if it learns the size late.
void CommitLog::GrowFileAhead(std::uint64_t end) {
  const std::uint64_t syncs = sync_count();
  const bool are_frequent = syncs - syncs_at_growth_check_ >= kFrequentSyncs;
  syncs_at_growth_check_ = syncs;
  next_growth_check_ = end + std::min(std::clamp(end / 2, kAheadMin, kAheadMax), segment_bytes_ / 4);
  if (!are_frequent || !current_->file().CanGrowAhead()) return;
  const std::uint64_t until = std::min(next_growth_check_, segment_bytes_) / kAheadUnit * kAheadUnit;
  // A large batch is not written twice, and takes its space in another way.
  if (until <= end || end - tail_ >= kLargeBatch) return;
  meter_.Tick(FILE_BYTES_LOG, until - tail_);
  if (WriteZeros(&current_->file(), tail_, until - tail_).ok()) {
    next_growth_check_ = until;
    return;
  }
  // There may still be space for this record, in particular once space taken for later records is given back.
  Trim(current_.get(), tail_);
}

// Takes the space of a large batch, which ends at `end`. If the disk has not enough, nothing of the batch is written.
Status CommitLog::TakeSpace(std::uint64_t end) {
  if (end - tail_ < kLargeBatch) return Status::OK();
  const Status taken = TakeBlocks(&current_->file(), tail_, end - tail_);
  // A file system may have taken a part of the space.
  if (!taken.ok()) static_cast<void>(current_->file().Truncate(tail_));
  return taken;
}

void CommitLog::TrimTail() {
  if (current_ != nullptr && !broken_) Trim(current_.get(), tail_);
}

// A failure is ignored: bytes left after the end only cost space.
void CommitLog::Trim(Segment* segment, std::uint64_t end) {
  FileInfo info;
  if (segment->file().GetInfo(&info).ok() && info.size > end) static_cast<void>(segment->file().Truncate(end));
}

// Like Trim, and gives back the space beyond the end of the file.
void CommitLog::CutOff(Segment* segment, std::uint64_t end) {
  FileInfo info;
  if (segment->file().GetInfo(&info).ok() && info.size >= end) static_cast<void>(segment->file().Truncate(end));
}

Status CommitLog::Rotate() {
  if (current_ == nullptr) return Status::OK();
  if (tail_ == kFileHeaderSize && !broken_) return Status::OK();  // it is empty: keep using it
  const SegmentEnd end{current_, tail_, last_sequence_};
  return Open(broken_ ? &end : nullptr);
}

Status CommitLog::Open(const SegmentEnd* failed) {
  assert((failed != nullptr) == broken_ && "a segment whose write failed is sealed before the next one is used");
  {
    // Allocates all memory first: once the MANIFEST names the new segment, the switch to it must not fail.
    const MutexLock lock(mutex_);
    dirty_.reserve(dirty_.size() + 1);
    rotated_.reserve(rotated_.size() + 1);
  }
  CAMBIUM_TRY(std::shared_ptr<Segment> next, source_->NextSegment(failed));
  assert(next != nullptr && (current_ == nullptr || current_->number() < next->number()));
  const MutexLock lock(mutex_);
  if (current_ != nullptr) {
    const SegmentEnd end{current_, tail_, last_sequence_};
    current_->SetLogEnd(tail_);
    if (!MutantIs(Mutant::kForgetRotatedSegment)) dirty_.push_back(current_);
    if (failed == nullptr) {
      rotated_.push_back({end, footer_.Finish(current_->seed(), tail_)});
    }
    // If the first write to a segment failed, its log is empty, and the chain of links skips it.
    if (tail_ > kFileHeaderSize) predecessor_ = {current_->number(), tail_, last_sequence_};
  }
  footer_.Clear();
  current_ = std::move(next);
  tail_ = kFileHeaderSize;
  next_growth_check_ = 0;
  broken_ = false;
  return Status::OK();
}

CommitLog::Position CommitLog::tail() const {
  return current_ == nullptr ? Position{} : Position{current_->number(), tail_};
}

Status CommitLog::Sync() { return SyncUpTo(published_->load(std::memory_order_acquire)); }

Status CommitLog::SyncUpTo(SequenceNumber sequence) {
  MutexLock lock(mutex_);
  while (true) {
    if (!failure_.ok()) return failure_;
    if (durable_.load(std::memory_order_relaxed) >= sequence) return Status::OK();
    if (!syncing_) break;
    CAMBIUM_FAULT_POINT("CommitLog:wait");
    synced_.Wait(mutex_);
  }
  // Promises only what was published before the sync began. All of that is in dirty_ and current_: the two change
  // together, under mutex_, before anything in the new segment is published.
  SequenceNumber upto = published_->load(std::memory_order_acquire);
  std::vector<std::shared_ptr<Segment>> files;
  files.reserve(dirty_.size() + 1);
  files = dirty_;
  std::size_t rotated = files.size();
  if (current_ != nullptr) files.push_back(current_);
  MarkCurrentClean(files, &rotated);
  SyncNewestFirst(&files);
  syncing_ = true;  // other threads wait until it is false, so nothing may throw until then
  lock.Unlock();

  Status synced;
  bool is_known = true;
  for (const auto& segment : files) {
    is_known = SyncFile(segment, &synced);
    if (!is_known || !synced.ok()) break;
  }
  ClaimLaterWrites(*published_, &upto);

  lock.Lock();
  syncing_ = false;
  if (!is_known) {
    SetFailure(nullptr);
  } else if (synced.ok()) {
    // The segment that was current when the sync began stays dirty, even if it has been rotated since.
    std::erase_if(dirty_, [&](const auto& segment) {
      return std::find(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(rotated), segment) !=
             files.begin() + static_cast<std::ptrdiff_t>(rotated);
    });
    if (upto > durable_.load(std::memory_order_relaxed)) durable_.store(upto, std::memory_order_release);
  } else if (MayContinueAfter(synced)) {
    synced_.NotifyAll();
    return synced;
  } else {
    SetFailure(&synced);
  }
  synced_.NotifyAll();
  return failure_;
}

// The kernel reports a failed write-back only once. If memory runs out for the message, that report is lost.
bool CommitLog::SyncFile(const std::shared_ptr<Segment>& segment, Status* synced) {
  sync_count_.fetch_add(1, std::memory_order_relaxed);
  meter_.Tick(WAL_FILE_SYNCED);
  const Stopwatch watch(&meter_, WAL_FILE_SYNC_MICROS);
  try {
    *synced = segment->file().SyncData();
    RetryFailedSync(segment.get(), synced);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::vector<RotatedSegment> CommitLog::TakeRotated() {
  const MutexLock lock(mutex_);
  std::vector<RotatedSegment> taken;
  taken.reserve(rotated_.size());
  std::move(rotated_.begin(), rotated_.end(), std::back_inserter(taken));
  rotated_.clear();  // keeps its capacity: CommitLog::Open may already have reserved room
  return taken;
}

Status CommitLog::SyncRotated(const std::shared_ptr<Segment>& segment) {
  MutexLock lock(mutex_);
  // The kernel reports a failed write-back once per descriptor. If two fdatasyncs of a file overlapped, only one would
  // get the error, and the other would acknowledge lost data.
  const bool alone = !MutantIs(Mutant::kSyncsOverlap);
  while (syncing_ && alone) synced_.Wait(mutex_);
  if (!failure_.ok()) return failure_;
  syncing_ = alone;
  lock.Unlock();
  Status synced;
  const bool is_known = SyncFile(segment, &synced);
  lock.Lock();
  syncing_ = false;
  if (!is_known) {
    SetFailure(nullptr);
  } else if (synced.ok()) {
    std::erase(dirty_, segment);
  } else if (MayContinueAfter(synced)) {
    synced_.NotifyAll();
    return synced;
  } else {
    SetFailure(&synced);
  }
  synced_.NotifyAll();
  return failure_;
}

void CommitLog::SetFailure(const Status* why) {
  assert(why == nullptr || !why->ok());
  if (failure_.ok() && why != nullptr) {
    try {
      failure_ = why->Fatal();
    } catch (const std::bad_alloc&) {
    }
  }
  if (failure_.ok()) failure_ = std::move(failure_without_memory_);
  failed_.store(true, std::memory_order_release);
}

void CommitLog::Fail(const Status& status) {
  const MutexLock lock(mutex_);
  SetFailure(&status);
  synced_.NotifyAll();
}

Status CommitLog::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

}  // namespace cambium
