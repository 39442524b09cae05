// RunInfo: the MANIFEST's description of a run, a file of sorted entries. For the file see index/run.h.
#pragma once

#include <cstdint>
#include <string>

#include "io/file_block.h"
#include "io/file_header.h"
#include "manifest/page_id.h"
#include "util/mutant.h"

namespace cambium {

// How a run was made. On disk.
enum class RunKind : std::uint8_t {
  kFlush = 1,       // from a memtable
  kCompaction = 2,  // from several runs
  kRelocation = 3,  // from log GC: new addresses of relocated values
};

struct RunInfo {
  std::uint64_t number = 0;  // the file's number; never reused. It does not show age: the MANIFEST orders the layers
  RunKind kind = RunKind::kFlush;
  Id128 file_id{};
  TreeRoot root;                      // has entry_count and value_bytes
  std::uint64_t tombstone_count = 0;
  std::uint64_t file_size = 0;        // in bytes, with the footer
  std::uint64_t page_size = 0;        // 0: the file has the page size of the family; else a smaller one
  std::uint64_t footer_checksum = 0;  // identifies the file's contents
  std::uint64_t range_delete_count = 0;
  // The key range of the run's entries and range deletes.
  std::string smallest_key;
  std::string largest_key;
  bool largest_is_open = false;  // largest_key is the end of a range delete, and the run covers only keys below it

  // The space that the file takes on the disk.
  [[nodiscard]] std::uint64_t disk_bytes() const {
    return MutantIs(Mutant::kRunsCountTheirBytes) ? file_size : InBlocks(file_size);
  }
  friend bool operator==(const RunInfo&, const RunInfo&) = default;
};

}  // namespace cambium
