// RelocationWriter: writes the segment that receives the values that log GC moves. It has the format of a sealed log
// segment: header, records, footer. It is not part of the log, and nothing reads it before a MANIFEST record names it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cambium/file_system.h"
#include "index/family_files.h"
#include "io/file_header.h"
#include "manifest/state.h"
#include "util/result.h"
#include "vlog/record_format.h"
#include "vlog/segment_footer.h"

namespace cambium {

struct NewRelocationFile {
  std::unique_ptr<File> file;  // empty, open for writing
  FileHeader header;           // of kind kRelocation
  Slot slot{};                 // unused by any other segment
  SequenceNumber made_at = 0;  // the newest published sequence number when it was made
};

// One thread.
class RelocationWriter {
 public:
  // `make` is called for the first value, `before_write` before each write.
  RelocationWriter(std::function<Result<NewRelocationFile>()> make, std::uint32_t generation,
                   BeforeWrite before_write = nullptr)
      : make_(std::move(make)), generation_(generation), before_write_(std::move(before_write)) {}

  // Keeps sequence number, write time and codec of `header`. Its body checksum must match key and stored value. Returns
  // the new address.
  Result<ValueAddress> Append(const RecordHeader& header, Slice key, Slice stored);

  // Writes what is still buffered, and the footer. Does not sync.
  Status Finish();

  // True if nothing was appended. Stays false after TakeFile.
  [[nodiscard]] bool empty() const { return info_.number == 0; }
  // After Finish: the segment's entry for the MANIFEST.
  [[nodiscard]] const SegmentInfo& info() const { return info_; }
  [[nodiscard]] const FileHeader& header() const { return made_.header; }
  [[nodiscard]] File* file() const { return made_.file.get(); }
  [[nodiscard]] std::unique_ptr<File> TakeFile() { return std::move(made_.file); }

 private:
  Status Begin();
  Status WriteOut();

  const std::function<Result<NewRelocationFile>()> make_;
  const std::uint32_t generation_;
  const BeforeWrite before_write_;
  NewRelocationFile made_;
  std::uint64_t seed_ = 0;
  std::string buffer_;          // not written yet
  std::uint64_t written_ = 0;   // bytes of the file before buffer_
  SegmentFooterBuilder footer_;
  SegmentInfo info_;
};

}  // namespace cambium
