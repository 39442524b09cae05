// ConvertIndex: makes a database with the same data under the other index. Values do not move: both databases share the
// log files.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cambium/column_family.h"
#include "cambium/copy_plan.h"
#include "cambium/options.h"
#include "cambium/status.h"

namespace cambium {

struct ConvertOptions {
  // Reads all entries and builds all pages, but writes nothing. Fills in the report; its plan says what would be linked
  // and written, and how much space is free where `out` would be. Returns the errors that can be foreseen, NoSpace
  // included.
  bool dry_run = false;
  // Called now and then with the number of index entries read so far, and an upper bound of their total.
  std::function<void(std::uint64_t done, std::uint64_t all)> progress;
};

struct ConvertReport {
  std::uint64_t families = 0;            // converted; the others have that index already
  std::uint64_t entries = 0;             // in the new indexes
  std::uint64_t index_bytes_before = 0;  // of the converted families: files of runs, trees and levels
  std::uint64_t index_bytes_after = 0;
  std::uint64_t log_bytes = 0;           // segments and large values: linked, except the end of the log
  CopyPlan plan;                         // set by a dry run only; copied_files includes the new index
};

// Makes a database `out` with the data of the one at `path`, which no process has open for writing. All column families
// of `out` have the index `to`. `out` must not exist, its parent must; it appears as a whole and durable, or not at
// all. `path` is only read.
//
// Final log files get a second name in `out`, as in a checkpoint (see checkpoint.h); on another file system they are
// copied. The call writes new index files, a MANIFEST, an OPTIONS file, and a copy of the unfinished end of the log.
// Operations in the log that are not flushed yet enter the new index at the first Open of `out`. `families` must name
// all families, with the options that `out` will be opened with: all except index_type, comparator and page_size may
// differ from those of `path`. They are written to the OPTIONS file of `out`.
//
// Locked if `path` is open for writing; InvalidArgument if `out` exists or lies in `path`, or options do not fit;
// Corruption if an index file is damaged. Any thread.
Status ConvertIndex(const DBOptions& options, const std::string& path,
                    const std::vector<ColumnFamilyDescriptor>& families, IndexKind to, const std::string& out,
                    const ConvertOptions& how, ConvertReport* report);

}  // namespace cambium
