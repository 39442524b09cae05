// The footer of a sealed segment: an index of its separated records, so that log GC and salvage need not read values.
// It stands behind the last record, at the segment's sealed length, and ends with the file.
//
//   part     bytes  content
//   entries      -  one after the other, tiling the segment from its first record to its sealed length without a gap:
//                     varint 0, varint n                    n bytes (in units of 8) that hold no separated record
//                     varint operation, varint family, varint n, varint key size, key     a separated record of 8*n bytes
//   trailer     32  entries size (8) | entry count (8) | reserved 0 (8) | checksum (8) of entries and trailer before it,
//                   seeded with the file's seed and the footer's offset
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cambium/file_system.h"
#include "util/result.h"
#include "vlog/record_format.h"

namespace cambium {

inline constexpr std::size_t kFooterTrailerSize = 32;

// Collects the entries while a segment is written. Records come in order, without gaps.
class SegmentFooterBuilder {
 public:
  // Room for so many more separated records with so many bytes of keys: AddRecord of them, and Finish, need no memory then.
  void Reserve(std::size_t records, std::size_t key_bytes);
  void AddRecord(RecordOp op, std::uint32_t family, Slice key, std::uint64_t record_size, bool separated);
  // The footer for a segment whose log ends at `offset`.
  [[nodiscard]] std::string Finish(std::uint64_t file_seed, std::uint64_t offset);
  void Clear();

 private:
  void EndGap();
  std::string entries_;
  std::uint64_t count_ = 0;
  std::uint64_t gap_ = 0;  // bytes
};

struct FooterEntry {
  RecordOp op;
  std::uint32_t family;
  Slice key;  // borrows from the footer's bytes
  std::uint64_t offset;
  std::uint64_t size;
};

// Reads and checks the footer of a segment whose log is [first, sealed_length) and whose file has file_size bytes, and
// calls `visit` for each separated record. Corruption if it does not tile the segment.
Status ReadSegmentFooter(const File& file, std::uint64_t file_seed, std::uint64_t first, std::uint64_t sealed_length,
                         std::uint64_t file_size, const std::function<Status(const FooterEntry&)>& visit);

// Where the records of a file end that has a whole footer, or 0. For those who have no MANIFEST to ask. Its size stands in
// front of its checksum: one of more than kFooterFoundMax is not looked for, and an entry is smaller than its record.
inline constexpr std::uint64_t kFooterFoundMax = 64u << 20;
Result<std::uint64_t> FindFooter(const File& file, std::uint64_t file_seed, std::uint64_t file_size);

}  // namespace cambium
