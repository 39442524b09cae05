#include "log_files.h"

#include <functional>
#include <list>
#include <string>
#include <utility>

#include "heap_file.h"
#include "require.h"

namespace cambium::bench {
namespace {

constexpr auto kSlot = static_cast<Slot>(1);

}  // namespace

LogFiles::LogFiles(LogPlace place, std::uint64_t segment_bytes, std::uint64_t separate_from)
    : place_(place), segment_bytes_(segment_bytes), rules_{.separate_from = separate_from} {
  StartOver();
}
LogFiles::~LogFiles() = default;

void LogFiles::StartOver() {
  if (const auto& old = segments_.Find(kSlot); old != nullptr) old->MakeObsolete();
  segments_ = SegmentTable();
  log_.reset();
  published_.store(0);
  log_ = std::make_unique<CommitLog>(this, segment_bytes_, SegmentEnd{}, 0, &published_);
  ValueAddress address;
  Require(Put("first", "", &address));  // the log requests its segment now, not while it is measured
}

Status LogFiles::Put(Slice key, Slice value, ValueAddress* address) {
  PreparedBatch batch(rules_);
  batch.Put(0, key, value);
  CommitLog::Position position;
  const SequenceNumber sequence = published_.load(std::memory_order_relaxed) + 1;
  CAMBIUM_RETURN_IF_ERROR(log_->Append(&batch, sequence, &position));
  *address = batch.ops().front().address;
  published_.store(sequence, std::memory_order_seq_cst);
  return Status::OK();
}

void LogFiles::AllowMap() {
  Segment& segment = *segments_.Find(kSlot);
  segment.AllowMap(log_->tail().offset);
  segment.map()->Complete(log_->tail().offset);
}

Result<std::unique_ptr<File>> LogFiles::NewFile(const std::string& path) {
  std::unique_ptr<File> file;
  if (place_ == LogPlace::kMemory) {
    file = std::make_unique<HeapFile>(path, segment_bytes_);
  } else {
    CAMBIUM_RETURN_IF_ERROR(FileSystem::Default()->Open(path, OpenMode::kCreateNew, {}, &file));
  }
  return file;
}

Result<std::shared_ptr<Segment>> LogFiles::NextSegment(const SegmentEnd*) {
  if (segments_.Find(kSlot) != nullptr) return Status::NoSpace("the segment of a kernel is full");
  FileHeader header;
  header.kind = FileKind::kLog;
  header.number = next_number_++;
  const std::string path = directory_.File(std::to_string(header.number) + ".log");
  CAMBIUM_TRY(std::unique_ptr<File> file, NewFile(path));
  CAMBIUM_RETURN_IF_ERROR(file->Write(0, EncodeFileHeader(header)));
  std::function<void(std::list<std::string>)> remove;
  if (place_ == LogPlace::kDisk) {
    // A file that cannot be removed is deleted with the directory.
    remove = [](const std::list<std::string>& paths) {
      for (const std::string& old : paths) static_cast<void>(FileSystem::Default()->Unlink(old));
    };
  }
  auto segment = std::make_shared<Segment>(header.number, kSlot, path, std::move(file), header, std::move(remove));
  segments_ = segments_.With(kSlot, segment);
  return segment;
}

}  // namespace cambium::bench
