// RunSink: writes the pages of a run one after the other into its file, through a large buffer.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "cambium/file_system.h"
#include "index/family_files.h"
#include "index/page_sink.h"
#include "io/file_header.h"
#include "io/take_blocks.h"

namespace cambium {

inline constexpr std::size_t kRunWriteSize = 256 * 1024;

class RunSink final : public PageSink {
 public:
  RunSink(File* file, const FileHeader& header, BeforeWrite before_write)
      : file_(file), header_(header), seed_(header.Seed()), before_write_(std::move(before_write)) {
    buffer_ = EncodeFileHeader(header);
    buffer_.resize(header.page_size);
  }

  Result<Place> Reserve(unsigned units) override {
    if (next_unit_ + units > kPageUnitOffsetMax) {
      return Status::InvalidArgument(file_->path() + ": a run has at most " + std::to_string(kPageUnitOffsetMax) +
                                     " page units");
    }
    return Place{MakePageId(header_.number, next_unit_, units), seed_};
  }

  Status Append(PagePointer page, Slice bytes) override {
    assert(UnitOffsetOf(page.id) == next_unit_ && bytes.size() == UnitsOf(page.id) * header_.page_size);
    next_unit_ += UnitsOf(page.id);
    return AppendBytes(bytes);
  }

  Status AppendBytes(Slice bytes) {
    buffer_.append(bytes.data(), bytes.size());
    return buffer_.size() < kRunWriteSize ? Status::OK() : Flush();
  }

  Status Flush() {
    if (before_write_) before_write_(buffer_.size());
    CAMBIUM_RETURN_IF_ERROR(TakeBlocks(file_, written_, buffer_.size()));
    CAMBIUM_RETURN_IF_ERROR(file_->Write(written_, buffer_));
    written_ += buffer_.size();
    buffer_.clear();
    return Status::OK();
  }

  [[nodiscard]] std::uint64_t size() const { return written_ + buffer_.size(); }
  // True if the pages are close to the most that a PageId can address.
  [[nodiscard]] bool IsFull() const { return next_unit_ + kOpenUnitsMax >= kPageUnitOffsetMax; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] const FileHeader& header() const { return header_; }

 private:
  // Room for the pages that are still open when a run is full: one per level.
  static constexpr std::uint64_t kOpenUnitsMax = std::uint64_t{kMaxTreeHeight + 1} * kPageUnitsMax;

  File* const file_;
  const FileHeader header_;
  const std::uint64_t seed_;
  const BeforeWrite before_write_;
  std::string buffer_;
  std::uint64_t written_ = 0;
  std::uint64_t next_unit_ = 1;  // the header takes the first
};

}  // namespace cambium
