#include "btree/index_segment.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "io/take_blocks.h"
#include "util/mutant.h"

namespace cambium {

IndexSegmentWriter::IndexSegmentWriter(const IndexSegmentOptions& options, CreateIndexFile create, PagePool* pool,
                                       OpenIndexSegment first)
    : options_(options), create_(std::move(create)), pool_(pool), first_(std::move(first)) {
  assert(IsLegalPageSize(options.page_size));
}

Status IndexSegmentWriter::Fail(Status status) {
  if (status_.ok()) status_ = status;
  return status;
}

Result<PageSink::Place> IndexSegmentWriter::Reserve(unsigned units) {
  CAMBIUM_RETURN_IF_ERROR(status_);
  if (Status s = EnsureRoom(units); !s.ok()) return Fail(std::move(s));
  const Segment& segment = segments_.back();
  const std::uint64_t unit_offset = segment.length / options_.page_size;
  return Place{MakePageId(segment.file->number(), unit_offset, units), segment.file->seed()};
}

Status IndexSegmentWriter::Append(PagePointer page, Slice bytes) {
  CAMBIUM_RETURN_IF_ERROR(status_);
  assert(!segments_.empty() && "a page is reserved before it is appended");
  Segment& segment = segments_.back();
  assert(FileNumberOf(page.id) == segment.file->number() && segment.file->OffsetOf(page.id) == segment.length);
  assert(bytes.size() == segment.file->PageBytes(page.id));
  gathered_.append(bytes.data(), bytes.size());
  segment.length += bytes.size();
  segment.units_added += UnitsOf(page.id);
  bytes_appended_ += bytes.size();
  if (pool_ != nullptr) pool_->Insert(*segment.file, page, bytes);
  if (gathered_.size() < options_.write_bytes) return Status::OK();
  return Fail(WriteGathered());
}

// Makes sure that the last segment has room for `units` more.
Status IndexSegmentWriter::EnsureRoom(unsigned units) {
  if (segments_.empty() && first_.file != nullptr) CAMBIUM_RETURN_IF_ERROR(Continue(std::exchange(first_, {})));
  if (!segments_.empty()) {
    const std::uint64_t end = segments_.back().length + std::uint64_t{units} * options_.page_size;
    const bool is_empty = segments_.back().units_added == 0 && segments_.back().length == options_.page_size;
    if (end / options_.page_size <= kPageUnitOffsetMax && (end <= options_.segment_bytes_max || is_empty)) {
      return Status::OK();
    }
    CAMBIUM_RETURN_IF_ERROR(WriteGathered());
    if (segments_.back().units_added == 0) segments_.pop_back();  // the continued segment had no room
  }
  return StartSegment();
}

Status IndexSegmentWriter::Continue(const OpenIndexSegment& first) {
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(first.file->file().GetInfo(&info));
  if (info.size != first.length || info.link_count != 1) return Status::OK();
  continued_number_ = first.file->number();
  written_ = first.length - (MutantIs(Mutant::kRewritePages) ? options_.page_size : 0);
  segments_.push_back({first.file, written_, 0});
  return Status::OK();
}

Status IndexSegmentWriter::StartSegment() {
  CAMBIUM_TRY(NewIndexFile created, create_());
  if (created.header.number == 0 || created.header.number > kPageFileNumberMax) {
    return Status::InvalidArgument("file number " + std::to_string(created.header.number) + " does not fit page ids");
  }
  created.header.kind = FileKind::kIndex;
  created.header.page_size = options_.page_size;
  gathered_ = EncodeFileHeader(created.header);
  gathered_.resize(options_.page_size);
  written_ = 0;
  segments_.push_back({std::make_shared<const IndexFile>(std::move(created.file), created.header, pool_,
                                                         options_.segment_bytes_max),
                       options_.page_size, 0});
  return Status::OK();
}

Status IndexSegmentWriter::WriteGathered() {
  if (gathered_.empty()) return Status::OK();
  assert(!segments_.empty() && written_ + gathered_.size() == segments_.back().length);
  File& file = *segments_.back().file->shared_file();
  CAMBIUM_RETURN_IF_ERROR(TakeBlocks(&file, written_, gathered_.size()));
  if (options_.before_write) options_.before_write(gathered_.size());
  CAMBIUM_RETURN_IF_ERROR(file.Write(written_, gathered_));
  written_ += gathered_.size();
  gathered_.clear();
  return Status::OK();
}

Status IndexSegmentWriter::Finish(FileSyncs* syncs) {
  CAMBIUM_RETURN_IF_ERROR(status_);
  if (Status s = WriteGathered(); !s.ok()) return Fail(std::move(s));
  std::erase_if(segments_, [](const Segment& segment) { return segment.units_added == 0; });
  if (MutantIs(Mutant::kCommitBeforePageSync)) return Status::OK();
  for (const Segment& segment : segments_) {
    syncs->Add(segment.file->shared_file(), segment.file->number() != continued_number_);
  }
  return Status::OK();
}

Status IndexSegmentWriter::Sync() {
  FileSyncs syncs;
  CAMBIUM_RETURN_IF_ERROR(Finish(&syncs));
  Status synced = syncs.SyncInTurn();
  return synced.ok() ? synced : Fail(std::move(synced));
}

}  // namespace cambium
