// RunInfo: what the MANIFEST knows of a run, a file of sorted entries. See index/run.h for the file.
#pragma once

#include <cstdint>
#include <string>

#include "io/file_header.h"
#include "manifest/page_id.h"

namespace cambium {

// What made a run. On disk.
enum class RunKind : std::uint8_t {
  kFlush = 1,       // a memtable
  kCompaction = 2,       // several runs
  kRelocation = 3,  // reserved for log GC: new addresses of values that moved
};

struct RunInfo {
  std::uint64_t number = 0;  // of the file; never reused, and never a sign of age: the MANIFEST orders layers
  RunKind kind = RunKind::kFlush;
  Id128 file_id{};
  TreeRoot root;                      // entry_count and value_bytes are in it
  std::uint64_t tombstone_count = 0;
  std::uint64_t file_size = 0;        // bytes, the footer included
  std::uint64_t footer_checksum = 0;  // a file with another footer is another file
  std::uint64_t range_delete_count = 0;
  // What the run has something to say about: its keys and its range deletes.
  std::string smallest_key;
  std::string largest_key;
  bool largest_is_open = false;  // largest_key is where a range delete ends: no more of the run than what is below it
  friend bool operator==(const RunInfo&, const RunInfo&) = default;
};

}  // namespace cambium
