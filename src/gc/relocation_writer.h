// RelocationWriter: writes the segment that takes what log GC moves. It has the form of a log segment that was sealed:
// header, records, an index of them behind. It is no part of the log, and nothing reads it before a MANIFEST record
// names it.
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
  Slot slot{};                 // nobody else's
  SequenceNumber made_at = 0;  // the newest that was visible then
};

// One thread.
class RelocationWriter {
 public:
  // `make` is called with the first value, `before_write` before each piece that is written.
  RelocationWriter(std::function<Result<NewRelocationFile>()> make, std::uint32_t generation,
                   BeforeWrite before_write = nullptr)
      : make_(std::move(make)), generation_(generation), before_write_(std::move(before_write)) {}

  // Sequence number, write time and codec of `header` stay; key and stored value are what its body checksum says. Where
  // it lies now.
  Result<ValueAddress> Append(const RecordHeader& header, Slice key, Slice stored);

  // The rest, and the index behind it, is written; nothing is synced.
  Status Finish();

  // Nothing was appended; also once its file was taken.
  [[nodiscard]] bool empty() const { return info_.number == 0; }
  // Behind Finish: what the MANIFEST says of it.
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
  std::uint64_t written_ = 0;   // bytes of the file in front of it
  SegmentFooterBuilder footer_;
  SegmentInfo info_;
};

}  // namespace cambium
