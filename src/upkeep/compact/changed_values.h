// ChangedValues: writes the values that a compaction filter has changed, if they are too large to be inline.
//
//   up to large_value_size   relocation segments, as log GC writes them (RelocationWriter), one after the other
//   larger                   a file of its own for each value
//
// A compaction does not write to the log. Like runs and pages, the files are written and synced before the MANIFEST
// record of the compaction, which is the first to name them. Until then they are orphans.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gc/relocation_writer.h"
#include "index/family_files.h"
#include "util/compression.h"
#include "util/result.h"
#include "vlog/value_address.h"

namespace cambium {

// One thread.
class ChangedValues {
 public:
  // Makes an empty file of this kind, kRelocation or kLargeValue, with a slot of its own.
  using MakeFile = std::function<Result<NewRelocationFile>(FileKind kind)>;

  struct Rules {
    std::uint32_t family = 0;
    SequenceNumber sequence = 0;   // of the records; no entry in the layers is newer
    std::uint32_t write_time = 0;
    Codec codec = Codec::kNone;
    std::uint64_t large_from = 0;     // larger values get files of their own
    std::uint64_t segment_bytes = 0;  // the most bytes of a relocation segment, unless it holds a single value
    BeforeWrite before_write = nullptr;  // called before each piece, in any file
  };
  ChangedValues(const Rules& rules, MakeFile make) : rules_(rules), make_(std::move(make)) {}

  // Writes one value, and returns its address.
  Result<ValueAddress> Append(Slice key, Slice value);

  // Writes what is still buffered. Syncs nothing.
  Status Finish();

  struct Made {
    SegmentInfo info;  // complete after Finish
    FileHeader header;
    std::unique_ptr<File> file;
  };
  // All files. Called after Finish, or after an error. After an error, infos may hold number and slot only.
  [[nodiscard]] std::vector<Made>& files();
  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_; }

 private:
  Result<ValueAddress> AppendLarge(const RecordHeader& record, Slice key, Slice stored);
  // Takes the memory for a file in files_, in addition to that for segment_: a file that was made is never forgotten.
  void ReserveFile();
  void Collect();

  const Rules rules_;
  const MakeFile make_;
  std::unique_ptr<RelocationWriter> segment_;  // the segment that is being filled
  std::uint64_t segment_bytes_ = 0;            // its size so far
  std::vector<Made> files_;
  std::string packed_;
  std::uint64_t bytes_written_ = 0;
};

}  // namespace cambium
