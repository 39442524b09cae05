// Encodes and decodes the footer of a run. See run.h for the format.
#pragma once

#include <cstdint>
#include <string>

#include "cambium/file_system.h"
#include "index/page_format.h"
#include "io/file_header.h"
#include "manifest/run_info.h"
#include "memtable/range_deletes.h"
#include "util/result.h"

namespace cambium {

inline constexpr std::size_t kRunFooterSize = 112;  // without the keys

struct RunFooter {
  [[nodiscard]] std::uint64_t ranges_offset() const { return filter_offset + filter_size; }

  TreeRoot root;
  std::uint64_t tombstone_count = 0;
  std::uint64_t filter_offset = 0;
  std::uint64_t filter_size = 0;
  std::uint64_t filter_checksum = 0;
  std::uint32_t ranges_size = 0;  // the ranges begin where the filter ends
  std::uint32_t range_count = 0;
  std::uint64_t ranges_checksum = 0;
  std::string smallest_key;
  std::string largest_key;
  bool largest_is_open = false;
  std::uint64_t offset = 0;    // of the footer in the file
  std::uint64_t checksum = 0;  // set by EncodeRunFooter and ReadRunFooter
};

// Returns the facts about a run, from its footer and its file.
[[nodiscard]] RunInfo InfoOf(const RunFooter& footer, const FileHeader& header, std::uint64_t file_size);
// Extends the footer's bounds from those of the keys, if the run has keys, to those of keys and ranges.
void SpanRanges(const KeyOrder& order, const RangeDeletes& ranges, bool has_keys, RunFooter* footer);

// Encodes the footer, and sets footer->checksum. footer->offset must be set.
[[nodiscard]] std::string EncodeRunFooter(RunFooter* footer, std::uint64_t file_seed);

// Reads the footer from the end of a file of `file_size` bytes. Corruption if it is not a valid footer for a file with
// this header: offsets that overlap or leave the file, keys that are too long, a wrong checksum. NotSupported if it has
// a flag that this version does not know.
Result<RunFooter> ReadRunFooter(const File& file, std::uint64_t file_size, const FileHeader& header);

}  // namespace cambium
