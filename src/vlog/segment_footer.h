// The footer of a sealed segment: an index of its separated records, so that log GC and salvage need not read values.
// It follows the last record, at the segment's sealed length. Zeros may follow it.
//
//   part     bytes  content
//   entries      -  in order; together they cover the segment from its first record to its sealed length:
//                     varint 0, varint n                    8*n bytes that hold no separated record
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

// Collects the entries while a segment is written. Records must be added in order, without gaps.
class SegmentFooterBuilder {
 public:
  // Reserves memory for `records` more separated records with `key_bytes` of keys: adding them, and Finish, then
  // allocate nothing.
  void Reserve(std::size_t records, std::size_t key_bytes);
  void AddRecord(RecordOp op, std::uint32_t family, Slice key, std::uint64_t record_size, bool separated);
  // Returns the footer for a segment whose log ends at `offset`, and clears the builder.
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
  Slice key;  // borrows the footer's bytes
  std::uint64_t offset;
  std::uint64_t size;
};

// Reads and checks the footer of a segment whose log is [first, sealed_length) and whose file has file_size bytes, and
// calls `visit` for each separated record. Corruption if the entries do not cover the log exactly.
Status ReadSegmentFooter(const File& file, std::uint64_t file_seed, std::uint64_t first, std::uint64_t sealed_length,
                         std::uint64_t file_size, const std::function<Status(const FooterEntry&)>& visit);

// Returns where the records end in a file that has a whole footer, or 0. For callers that have no MANIFEST to say
// whether there is a footer. Zeros may follow it: the file may have been extended ahead of the log. The size in the
// footer is used before it is checked. So footers larger than kFooterFoundMax are not found, nor those larger than half
// of the file: no real one is, because an entry is smaller than its record.
inline constexpr std::uint64_t kFooterFoundMax = 64u << 20;
Result<std::uint64_t> FindFooter(const File& file, std::uint64_t file_seed, std::uint64_t file_size);

}  // namespace cambium
