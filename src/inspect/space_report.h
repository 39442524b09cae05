// A SpaceReport says what the bytes of a database are used for. The log is measured by its accounts, the index page by
// page, keys and values by the merged entries of the layers and the log's tail. No value is read.
//
//   file size of a segment = live + dead + pending + overhead + holes + unused
//
//   live      by the accounts: runs, trees and levels refer to these bytes. `hidden` is the part that only hidden
//             entries refer to; a compaction makes it garbage
//   pending   records that no layer has yet: no job frees their bytes. Nor does one free a file with a second name.
//             (The tool's command `stats` calls both pinned.)
//   overhead  header, link, footer
//   holes     punched values, and the part before a cut
//   unused    after the end of the log: preallocated space, or remains of a crash
//   dead      the rest
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inspect/database.h"
#include "io/file_header.h"

namespace cambium {

// Counts and bytes by size: bucket i has the sizes of i significant bits, 2^(i-1) to 2^i - 1, and bucket 0 has size 0.
struct SizeHistogram {
  static constexpr std::size_t kBuckets = 65;
  std::array<std::uint64_t, kBuckets> counts{};
  std::array<std::uint64_t, kBuckets> bytes{};
  void Add(std::uint64_t size) {
    const auto bucket = static_cast<std::size_t>(std::bit_width(size));
    ++counts[bucket];
    bytes[bucket] += size;
  }
  [[nodiscard]] std::uint64_t count() const;
  [[nodiscard]] std::uint64_t total() const;
};

struct SegmentSpace {
  SegmentInfo info;
  bool is_readable = false;  // false: damaged, and only its account is known
  std::uint64_t file_bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t link_count = 1;
  std::uint64_t references = 0;  // of its account
  std::uint64_t live_bytes = 0;
  std::map<std::uint32_t, std::uint64_t> live_by_family;
  std::uint64_t newest_bytes = 0;  // the part of live_bytes that newest entries refer to
  std::uint64_t pending_bytes = 0;
  std::uint64_t overhead_bytes = 0;
  std::uint64_t hole_bytes = 0;
  std::uint64_t unused_bytes = 0;
  std::uint64_t dead_bytes = 0;
  [[nodiscard]] std::uint64_t hidden_bytes() const { return live_bytes - std::min(live_bytes, newest_bytes); }
};

// A run, or the tree.
struct LayerSpace {
  std::uint64_t number = 0;  // of the run; 0: the tree
  RunKind kind{};
  std::uint32_t level = 0;  // 0: the stack of runs
  std::uint64_t tier = 0;
  std::uint32_t height = 0;
  std::uint64_t file_bytes = 0;  // of the tree: all its index segments
  std::uint64_t entries = 0;     // in all pages, hidden ones included; in a damaged layer, those that could be read
  std::uint64_t tombstones = 0;
  std::uint64_t range_deletes = 0;
  std::uint64_t leaves = 0;
  std::uint64_t branches = 0;
  std::uint64_t page_bytes = 0;  // of reachable pages, as stored
  std::uint64_t raw_bytes = 0;   // of the same pages, expanded
  std::uint64_t used_bytes = 0;  // the part of raw_bytes that is not free space
  std::uint64_t filter_bytes = 0;
  std::array<std::uint64_t, 10> leaves_by_fill{};  // number of leaves by used tenths
};

struct FamilySpace {
  std::uint32_t id = 0;
  std::string name;
  IndexType index_type{};
  std::uint64_t page_size = 0;
  std::optional<SequenceNumber> versions_since;  // as in FamilyState
  std::vector<LayerSpace> layers;  // newest first
  std::vector<IndexSegmentInfo> index_segments;

  // What reads return: the newest entries, without tombstones.
  bool is_whole = false;  // all of them could be read
  std::uint64_t keys = 0;
  std::uint64_t inline_values = 0;
  std::uint64_t inline_bytes = 0;
  std::uint64_t separated_values = 0;
  std::uint64_t separated_bytes = 0;  // of records
  std::uint64_t large_values = 0;
  std::uint64_t large_bytes = 0;
  std::uint64_t not_flushed = 0;  // keys whose newest entry is in the tail
  SizeHistogram key_sizes;
  SizeHistogram value_sizes;        // as stored; of separated values rounded up, as size codes are
  SizeHistogram separated_records;  // by size of the value; the bytes are those of the record without the value
  std::uint64_t account_bytes = 0;
};

struct SpaceReport {
  std::vector<SegmentSpace> segments;  // by number
  std::vector<FamilySpace> families;
  std::map<FileKind, std::uint64_t> bytes_by_kind;  // of all files of the database, orphans included
  std::uint64_t orphan_bytes = 0;
  std::uint64_t file_bytes = 0;  // of all files
  std::uint64_t allocated_bytes = 0;
};

// A separated value of the sample.
struct ValueSampleEntry {
  std::uint32_t family = 0;
  std::string key;
  ValueAddress address;
};
// The sample of a family: the values of the newest entries whose keys have the smallest hashes. It is repeatable, and
// as good as a random sample.
struct ValueSample {
  static constexpr std::size_t kValues = 256;
  static constexpr std::uint64_t kRecordBytesMax = 1u << 20;  // larger records are not sampled
  std::map<std::uint32_t, std::vector<ValueSampleEntry>> by_family;
  std::map<std::uint32_t, std::uint64_t> bytes_of;  // of all records that the sample was chosen from
};

// Makes the report and the sample. Calls `progress` with the bytes of index files read so far, and all. Notes damage as
// problems, and leaves damaged parts out.
Result<SpaceReport> ReportSpace(InspectedDatabase* database, ValueSample* sample,
                                const std::function<void(std::uint64_t done, std::uint64_t all)>& progress);

}  // namespace cambium
