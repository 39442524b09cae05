#include "repair/patient_file_system.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "util/result.h"

namespace cambium {
namespace {

constexpr std::uint64_t kBlock = kDirectAlignment;
constexpr char kPattern = '\xee';

class PatientFile final : public File {
 public:
  PatientFile(std::unique_ptr<File> base, PatientFileSystem* owner) : base_(std::move(base)), owner_(*owner) {}

  Status Read(std::uint64_t offset, std::size_t n, char* out, std::size_t* read) const override {
    const Status s = base_->Read(offset, n, out, read);
    if (!s.IsIOError() || s.IsDenied()) return owner_.Seen(s);
    FileInfo info;
    CAMBIUM_RETURN_IF_ERROR(GetInfo(&info));
    *read = static_cast<std::size_t>(std::min<std::uint64_t>(n, info.size - std::min(offset, info.size)));
    // A direct read asks for the whole last block, even if the file ends inside it.
    for (std::size_t done = 0; done < *read;) {
      const std::uint64_t at = offset + done;
      const std::size_t want = std::min<std::size_t>(n - done, static_cast<std::size_t>(kBlock - at % kBlock));
      std::size_t have = 0;
      const Status block = base_->Read(at, want, out + done, &have);
      if (!block.IsIOError() || block.IsDenied()) CAMBIUM_RETURN_IF_ERROR(owner_.Seen(block));
      if (!block.ok()) {
        std::memset(out + done, kPattern, want);
        owner_.ReportUnreadable(path(), at, block);
      }
      done += want;
    }
    return Status::OK();
  }
  Status ReadVectored(std::uint64_t offset, std::span<const std::span<char>> out, std::size_t* read) const override {
    *read = 0;
    for (const std::span<char>& piece : out) {
      std::size_t have = 0;
      CAMBIUM_RETURN_IF_ERROR(Read(offset + *read, piece.size(), piece.data(), &have));
      *read += have;
      if (have < piece.size()) break;
    }
    return Status::OK();
  }
  Status Write(std::uint64_t, Slice) override { return No(); }
  Status WriteVectored(std::uint64_t, std::span<const Slice>) override { return No(); }
  Status SyncData() override { return No(); }
  Status Sync() override { return No(); }
  Status Truncate(std::uint64_t) override { return No(); }
  Status Allocate(std::uint64_t, std::uint64_t, bool) override { return No(); }
  Status PunchHole(std::uint64_t, std::uint64_t) override { return No(); }
  Status GetInfo(FileInfo* info) const override { return owner_.Seen(base_->GetInfo(info)); }
  Status Map(std::uint64_t, std::size_t, std::unique_ptr<MappedRegion>*) const override { return No(); }
  Status Residency(std::uint64_t offset, std::uint64_t length, std::uint64_t* resident) const override {
    return base_->Residency(offset, length, resident);
  }
  Status Advise(std::uint64_t offset, std::uint64_t length, AccessHint hint) const override {
    return base_->Advise(offset, length, hint);
  }
  [[nodiscard]] bool IsDirect() const override { return base_->IsDirect(); }
  [[nodiscard]] const std::string& path() const override { return base_->path(); }

 private:
  [[nodiscard]] Status No() const { return Status::NotSupported(path() + ": is open for reading only"); }

  const std::unique_ptr<File> base_;
  PatientFileSystem& owner_;
};

class QueueInOrder final : public ReadQueue {
 public:
  explicit QueueInOrder(std::size_t depth) : depth_(depth) {}
  Status Submit(std::span<ReadRequest* const> requests) override {
    waiting_.insert(waiting_.end(), requests.begin(), requests.end());
    return Status::OK();
  }
  Status Wait(std::vector<ReadRequest*>* done) override {
    for (ReadRequest* const request : waiting_) {
      request->status = request->file->Read(request->offset, request->size, request->out, &request->read);
    }
    done->insert(done->end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
    return Status::OK();
  }
  [[nodiscard]] std::size_t in_flight() const override { return waiting_.size(); }
  [[nodiscard]] std::size_t depth() const override { return depth_; }

 private:
  const std::size_t depth_;
  std::vector<ReadRequest*> waiting_;
};

}  // namespace

Status PatientFileSystem::Open(const std::string& path, OpenMode mode, const FileOptions& options,
                               std::unique_ptr<File>* file) {
  if (mode != OpenMode::kReadOnly) return No(path);
  std::unique_ptr<File> base;
  CAMBIUM_RETURN_IF_ERROR(Seen(base_.Open(path, mode, options, &base)));
  *file = std::make_unique<PatientFile>(std::move(base), this);
  return Status::OK();
}

std::unique_ptr<ReadQueue> PatientFileSystem::NewReadQueue(std::size_t depth, bool) {
  return std::make_unique<QueueInOrder>(depth);
}

void PatientFileSystem::ReportUnreadable(const std::string& path, std::uint64_t offset, const Status& why) {
  const std::uint64_t block = offset / kBlock;
  std::set<std::uint64_t>& blocks = blocks_[path];
  const bool is_reported = blocks.contains(block) || (block > 0 && blocks.contains(block - 1));
  blocks.insert(block);
  if (!is_reported && on_unreadable_) on_unreadable_(path, block * kBlock, why);
}

}  // namespace cambium
