// ConvertIndex: the same data under the other index. Values stay where they are, in files that both databases share.
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
  // Reads all entries and makes all pages, and writes nothing: the report is what it would be, and its plan says what would
  // be linked, what written, and where there is room for it. Its error, if it can be foreseen, NoSpace too.
  bool dry_run = false;
  // Called now and then with index entries read so far, and how many there are at most.
  std::function<void(std::uint64_t done, std::uint64_t all)> progress;
};

struct ConvertReport {
  std::uint64_t families = 0;            // that were converted; the others have the index that was asked for
  std::uint64_t entries = 0;             // of the new indexes
  std::uint64_t index_bytes_before = 0;  // of the converted families: files of runs, trees and levels
  std::uint64_t index_bytes_after = 0;
  std::uint64_t log_bytes = 0;           // of segments and large values: linked, but for the end of the log
  CopyPlan plan;                         // of a dry run, the new index among what is copied
};

// Makes the database `out` of the one at `path`, which nobody has open for writing: all of its column families have the
// index `to`. `out` must not exist, its parent must; it appears as a whole and durable, or not at all. `path` is only read.
//
// Files of the log get a second name in `out` as those of a checkpoint do (see checkpoint.h), so that this costs index
// files only; on another file system they are copied. What is in the log and not flushed yet goes into the new index when
// `out` is opened first. `families` are all that there are, with the options that `out` is to be opened with: other than
// index_type, comparator and page_size they may differ from what was. They become its OPTIONS file.
//
// Locked if somebody has `path` open for writing; InvalidArgument if `out` exists, or options do not fit; Corruption if an
// index file is damaged. Any thread.
Status ConvertIndex(const DBOptions& options, const std::string& path,
                    const std::vector<ColumnFamilyDescriptor>& families, IndexKind to, const std::string& out,
                    const ConvertOptions& how, ConvertReport* report);

}  // namespace cambium
