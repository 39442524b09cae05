// Segments of the log: creating the next one, ahead of time if possible, and ending one after a failed write.
#include <cassert>
#include <functional>
#include <utility>

#include "io/file_header.h"
#include "state/write_head.h"
#include "util/mutant.h"

namespace cambium {

Status WriteHead::MakeSpare() {
  const CommitLock lock(commits_);
  return MakeSpareLocked();
}

Status WriteHead::MakeSpareLocked() {
  {
    const MutexLock lock(spare_mutex_);
    if (spare_ != nullptr) return Status::OK();
  }
  CAMBIUM_TRY(std::shared_ptr<Segment> made, MakeSegment());
  const MutexLock lock(spare_mutex_);
  assert(spare_ == nullptr && "the commit lock is held, so no other thread has made one");
  spare_ = std::move(made);
  return Status::OK();
}

std::shared_ptr<Segment> WriteHead::TakeSpare() {
  const MutexLock lock(spare_mutex_);
  return std::exchange(spare_, nullptr);
}

// Called by the log, under the append lock.
Result<std::shared_ptr<Segment>> WriteHead::NextSegment(const SegmentEnd* failed) {
  if (const std::uint64_t bytes = space_.segment_bytes.load(std::memory_order_relaxed); bytes != 0) {
    log_->set_segment_bytes(bytes);
  }
  if (failed != nullptr) {
    // The records before the failure will be sealed, and a seal promises durability.
    CAMBIUM_RETURN_IF_ERROR(log_->SyncRotated(failed->segment));
  } else if (std::shared_ptr<Segment> spare = TakeSpare(); spare != nullptr) {
    return spare;
  }
  const CommitLock lock(commits_);
  // A segment that was created ahead is always used first: the order of the log is the order of file numbers.
  CAMBIUM_RETURN_IF_ERROR(MakeSpareLocked());
  if (failed != nullptr) {
    Edit edit;
    edit.set_segments.push_back(SealedAt(*failed));
    CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&edit));
  }
  std::shared_ptr<Segment> next = TakeSpare();
  assert(next != nullptr && "the append lock is held, so no other thread has taken it");
  return next;
}

SegmentInfo WriteHead::SealedAt(const SegmentEnd& end) const {
  SegmentInfo cut = commits_.state().segments.at(end.segment->number());
  cut.sealed = true;
  cut.sealed_length = cut.file_size = end.length;
  cut.last_sequence = end.last_sequence;
  return cut;
}

// Creates a segment, makes it and its name durable, and names it in the MANIFEST. So no synced record can be in a file
// that recovery does not know of.
Result<std::shared_ptr<Segment>> WriteHead::MakeSegment() {
  const FileHeader header = db_.HeaderFor(FileKind::kLog, commits_.NewFileNumberLocked());
  CAMBIUM_TRY(const Slot slot, commits_.FreeSlot());
  NewFileGuard guard(db_.fs.get(), db_.PathOf(FileKind::kLog, header.number));
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(guard.Create(&file));
  BlobFileCreation creation = db_.BeginBlobFile(header, BlobFileCreationReason::kLog);
  Result<std::shared_ptr<Segment>> segment = NameSegment(header, slot, std::move(file), &guard);
  creation.Done(segment.status(), kFileHeaderSize);
  return segment;
}

Result<std::shared_ptr<Segment>> WriteHead::NameSegment(const FileHeader& header, Slot slot,
                                                        std::unique_ptr<File> file, NewFileGuard* guard) {
  const std::string path = file->path();
  db_.meter.Tick(FILE_BYTES_LOG, kFileHeaderSize);
  Status made = file->Write(0, EncodeFileHeader(header));
  if (made.ok()) {
    if (!MutantIs(Mutant::kSkipSegmentHeaderSync)) made = file->SyncData();
    made = DbContext::JudgeSync(std::move(made));
  }
  if (made.ok()) made = db_.SyncDirectory();
  if (made.severity() == Status::Severity::kFatal) guard->Keep();
  if (made.severity() == Status::Severity::kFatal) return made;
  if (!made.ok()) {
    // On a full disk every write gets here, so a failed one must not leave a file.
    file.reset();
    guard->Keep();
    static_cast<void>(db_.Unlink(FileKind::kLog, header.number));
    return made;
  }
  SegmentInfo info;
  info.number = header.number;
  info.slot = slot;
  info.kind = SegmentKind::kLog;
  info.file_id = header.file_id;
  info.epoch = header.epoch;
  // Made before the commit: a MANIFEST record must not name a segment that the view lacks.
  auto segment = std::make_shared<Segment>(header.number, slot, path, std::move(file), header, commits_.WhenReleased());
  if (db_.options.allow_mmap_reads) segment->AllowMap(db_.blob_file_size);
  Edit edit;
  if (!MutantIs(Mutant::kSegmentUnnamed)) edit.set_segments.push_back(info);
  const std::function<void(View*)> change = [&](View* view) { view->segments = view->segments.With(slot, segment); };
  guard->Keep();  // Commit removes the file if it fails
  CAMBIUM_RETURN_IF_ERROR(commits_.Commit(&edit, change));
  return segment;
}

}  // namespace cambium
