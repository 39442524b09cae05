// Writes and reads traces in files.
#include <algorithm>

#include "trace/trace_format.h"
#include "io/parent_path.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace cambium {
namespace {

constexpr std::size_t kReadBytes = 256u << 10;

class FileTraceWriter final : public TraceWriter {
 public:
  FileTraceWriter(std::shared_ptr<FileSystem> file_system, std::unique_ptr<File> file)
      : file_system_(std::move(file_system)), file_(std::move(file)) {}

  Status Write(Slice data) override {
    if (file_ == nullptr) return Status::InvalidArgument("the trace's writer is closed");
    CAMBIUM_RETURN_IF_ERROR(first_error_);
    first_error_ = file_->Write(size_, data);
    if (first_error_.ok()) size_ += data.size();
    return first_error_;
  }
  Status Close() override {
    if (file_ == nullptr) return Status::OK();
    const std::string path = file_->path();
    if (first_error_.ok()) first_error_ = file_->SyncData();
    file_.reset();
    if (first_error_.ok()) first_error_ = file_system_->SyncDirectory(ParentOf(path));
    return first_error_;
  }
  std::uint64_t GetFileSize() override { return size_; }

 private:
  const std::shared_ptr<FileSystem> file_system_;
  std::unique_ptr<File> file_;  // null: closed
  std::uint64_t size_ = 0;
  Status first_error_;
};

class FileTraceReader final : public TraceReader {
 public:
  FileTraceReader(std::shared_ptr<FileSystem> file_system, std::unique_ptr<File> file)
      : file_system_(std::move(file_system)), file_(std::move(file)) {}

  Status Begin() {
    FileInfo info;
    CAMBIUM_RETURN_IF_ERROR(file_->GetInfo(&info));
    if (!info.is_regular) return Status::Corruption(file_->path() + ":0: is not a regular file");
    CAMBIUM_TRY(const bool is_long_enough, Fetch(0, kTraceHeaderSize));
    CAMBIUM_RETURN_IF_ERROR(DecodeTraceHeader({buffer_.data(), is_long_enough ? kTraceHeaderSize : 0}, file_->path(),
                                              &header_, &seed_));
    return Reset();
  }

  [[nodiscard]] const TraceHeader& header() const override { return header_; }
  [[nodiscard]] bool IsWhole() const override { return is_whole_; }
  [[nodiscard]] std::uint64_t Offset() const override { return offset_; }

  Status Read(TraceRecord* record) override {
    if (file_ == nullptr) return Status::InvalidArgument("the trace's reader is closed");
    if (is_at_end_) return End();
    CAMBIUM_TRY(const bool has_head, Fetch(offset_, kTraceRecordHeaderSize));
    if (!has_head) return End();
    const std::size_t body_size = DecodeFixed<std::uint32_t>(At(offset_) + 8);
    const std::size_t size = kTraceRecordHeaderSize + body_size;
    if (body_size > kTraceBodyMax) return End();
    CAMBIUM_TRY(const bool has_body, Fetch(offset_, size));
    if (!has_body) return End();
    const char* const at = At(offset_);
    const std::uint64_t checksum = Checksum64({at + 8, size - 8}, SeedAt(seed_, offset_));
    if (!ChecksumMatches(DecodeFixed<std::uint64_t>(at), checksum)) return End();
    const auto type = static_cast<TraceType>(static_cast<unsigned char>(at[12]));
    if (!DecodeTraceBody({at + kTraceRecordHeaderSize, body_size}, type, header_.include_values, record)) return End();
    offset_ += size;
    if (type == kTraceEnd) is_whole_ = is_at_end_ = true;
    return Status::OK();
  }

  Status Reset() override {
    offset_ = kTraceHeaderSize;
    is_at_end_ = false;
    is_whole_ = false;
    return Status::OK();
  }
  Status Close() override {
    file_.reset();
    return Status::OK();
  }

 private:
  Status End() {
    is_at_end_ = true;
    return Status::Incomplete(is_whole_ ? "the trace has no more records"
                                        : "the trace ends without an end record at offset " + std::to_string(offset_));
  }

  // Reads [offset, offset + size) into the buffer, unless it is there. Returns false if the file ends before that.
  Result<bool> Fetch(std::uint64_t offset, std::size_t size) {
    const bool is_there = offset >= buffer_offset_ && offset + size <= buffer_offset_ + buffer_.size();
    if (is_there) return true;
    FileInfo info;
    CAMBIUM_RETURN_IF_ERROR(file_->GetInfo(&info));
    // This also bounds the memory that a damaged length can ask for.
    if (offset > info.size || info.size - offset < size) return false;
    buffer_.resize(std::min<std::uint64_t>(std::max(size, kReadBytes), info.size - offset));
    buffer_offset_ = offset;
    std::size_t read = 0;
    const Status s = file_->Read(offset, buffer_.size(), buffer_.data(), &read);
    buffer_.resize(s.ok() ? read : 0);
    CAMBIUM_RETURN_IF_ERROR(s);
    return read >= size;
  }
  [[nodiscard]] const char* At(std::uint64_t offset) const { return buffer_.data() + (offset - buffer_offset_); }

  const std::shared_ptr<FileSystem> file_system_;
  std::unique_ptr<File> file_;  // null: closed
  TraceHeader header_;
  std::uint64_t seed_ = 0;
  std::uint64_t offset_ = 0;
  bool is_at_end_ = false;
  bool is_whole_ = false;
  std::string buffer_;
  std::uint64_t buffer_offset_ = 0;
};

}  // namespace

Status NewFileTraceWriter(std::shared_ptr<FileSystem> file_system, const std::string& path,
                          std::unique_ptr<TraceWriter>* writer) {
  if (file_system == nullptr) file_system = FileSystem::Default();
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(file_system->Open(path, OpenMode::kCreateNew, {}, &file));
  *writer = std::make_unique<FileTraceWriter>(std::move(file_system), std::move(file));
  return Status::OK();
}

Status NewFileTraceReader(std::shared_ptr<FileSystem> file_system, const std::string& path,
                          std::unique_ptr<TraceReader>* reader) {
  if (file_system == nullptr) file_system = FileSystem::Default();
  std::unique_ptr<File> file;
  CAMBIUM_RETURN_IF_ERROR(file_system->Open(path, OpenMode::kReadOnly, {}, &file));
  auto made = std::make_unique<FileTraceReader>(std::move(file_system), std::move(file));
  CAMBIUM_RETURN_IF_ERROR(made->Begin());
  *reader = std::move(made);
  return Status::OK();
}

}  // namespace cambium
