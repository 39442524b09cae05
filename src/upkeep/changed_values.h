// ChangedValues: where a merge puts the values that its compaction filter has changed, if they are too large to travel
// with their keys.
//
//   up to large_value_size   relocation segments, as log GC writes them (RelocationWriter), one after the other
//   above that               a file of its own for each
//
// A merge is no write, so nothing of this goes through the log: the files are written and synced before the MANIFEST
// record of the merge, which is the first to name them, as it is for runs and pages. Before that they are garbage.
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
  // Makes an empty file of this kind, kRelocation or kLargeValue, with a slot that is nobody else's.
  using MakeFile = std::function<Result<NewRelocationFile>(FileKind kind)>;

  struct Rules {
    std::uint32_t family = 0;
    SequenceNumber sequence = 0;   // of the records: what is in the layers is at most as new
    std::uint32_t write_time = 0;
    Codec codec = Codec::kNone;
    std::uint64_t large_from = 0;     // bytes: larger ones get files of their own
    std::uint64_t segment_bytes = 0;  // of a relocation segment: no more, unless one value has more
    BeforeWrite before_write = nullptr;  // of each piece, whatever it goes to
  };
  ChangedValues(const Rules& rules, MakeFile make) : rules_(rules), make_(std::move(make)) {}

  Result<ValueAddress> Append(Slice key, Slice value);

  // All bytes are written; nothing is synced.
  Status Finish();

  struct Made {
    SegmentInfo info;  // from Finish on
    FileHeader header;
    std::unique_ptr<File> file;
  };
  // Every file there is, behind Finish, or behind an error: then their infos hold number and slot alone.
  [[nodiscard]] std::vector<Made>& files();
  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_; }

 private:
  Result<ValueAddress> AppendLarge(const RecordHeader& record, Slice key, Slice stored);
  void Collect();

  const Rules rules_;
  const MakeFile make_;
  std::unique_ptr<RelocationWriter> segment_;  // the one that is being filled
  std::uint64_t segment_bytes_ = 0;            // of it
  std::vector<Made> files_;
  std::string packed_;
  std::uint64_t bytes_written_ = 0;
};

}  // namespace cambium
