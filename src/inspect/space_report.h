// SpaceReport: where the bytes of a database are. Of the log by its accounts, of the index page by page, of keys and
// values by what the layers and the tail of the log say together; no value is read.
//
//   file size of a segment = live + dead + pending + overhead + holes + unused
//
//   live      what its account says: runs, trees and levels refer to it. Of these, `hidden` bytes are referred to by
//   older
//             entries only, which newer ones hide until a merge finds them
//   pending   records that are in no layer yet. Together with files that have a second name they are what is pinned:
//             nothing that is done here frees them
//   overhead  header, link, footer
//   holes     of punched values
//   unused    behind the end of the log: space taken ahead of it, or what a crash left
//   dead      the rest
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "inspect/database.h"
#include "io/file_header.h"

namespace cambium {

// Counts and bytes by size: bucket i has sizes of i significant bits, 2^(i-1) to 2^i - 1, and bucket 0 those of
// nothing.
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
  bool is_readable = false;  // false: damaged, and nothing but its account is known
  std::uint64_t file_bytes = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t link_count = 1;
  std::uint64_t references = 0;  // of its account
  std::uint64_t live_bytes = 0;
  std::map<std::uint32_t, std::uint64_t> live_by_family;
  std::uint64_t newest_bytes = 0;  // of live_bytes, what the newest entry of a key refers to
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
  std::uint64_t file_bytes = 0;  // of a tree: of all its index segments
  std::uint64_t entries = 0;     // by its pages, masked ones too; of a damaged layer as far as they could be read
  std::uint64_t tombstones = 0;
  std::uint64_t range_deletes = 0;
  std::uint64_t leaves = 0;
  std::uint64_t branches = 0;
  std::uint64_t page_bytes = 0;  // as stored, of pages that are reached
  std::uint64_t raw_bytes = 0;   // the same, expanded
  std::uint64_t used_bytes = 0;  // of raw_bytes, what is no filler
  std::uint64_t filter_bytes = 0;
  std::array<std::uint64_t, 10> leaves_by_fill{};  // by tenths of a leaf that are used
};

struct FamilySpace {
  std::uint32_t id = 0;
  std::string name;
  IndexType index_type{};
  std::uint64_t page_size = 0;
  std::vector<LayerSpace> layers;  // newest first
  std::vector<IndexSegmentInfo> index_segments;

  // Of what reads see: newest entries, tombstones left out.
  bool is_whole = false;  // all of them could be walked
  std::uint64_t keys = 0;
  std::uint64_t inline_values = 0;
  std::uint64_t inline_bytes = 0;
  std::uint64_t separated_values = 0;
  std::uint64_t separated_bytes = 0;  // of records
  std::uint64_t large_values = 0;
  std::uint64_t large_bytes = 0;
  std::uint64_t not_flushed = 0;  // of the keys, in the tail
  SizeHistogram key_sizes;
  SizeHistogram value_sizes;        // as stored; of separated ones up to 7 bytes too many, as size codes are
  SizeHistogram separated_records;  // by size of the value, bytes of the record without it
  std::uint64_t account_bytes = 0;
};

struct SpaceReport {
  std::vector<SegmentSpace> segments;  // by number
  std::vector<FamilySpace> families;
  std::map<FileKind, std::uint64_t> bytes_by_kind;  // of every file of the database, orphans too
  std::uint64_t orphan_bytes = 0;                   // of these
  std::uint64_t file_bytes = 0;                     // of all
  std::uint64_t allocated_bytes = 0;
};

// A value that is in a record, to be sampled.
struct ValueSampleEntry {
  std::uint32_t family = 0;
  std::string key;
  ValueAddress address;
};
// The values of a family's newest entries whose keys have the smallest hashes: the same ones every time, whatever else
// there is, and as good as drawn.
struct ValueSample {
  static constexpr std::size_t kValues = 256;
  static constexpr std::uint64_t kRecordBytesMax = 1u << 20;  // of larger ones nothing is known
  std::map<std::uint32_t, std::vector<ValueSampleEntry>> by_family;
  std::map<std::uint32_t, std::uint64_t> bytes_of;  // of all records that might have been drawn
};

// `progress` is told bytes of index files, done and in all. Damage is a problem of the database, and left out.
Result<SpaceReport> ReportSpace(InspectedDatabase* database, ValueSample* sample,
                                const std::function<void(std::uint64_t done, std::uint64_t all)>& progress);

}  // namespace cambium
