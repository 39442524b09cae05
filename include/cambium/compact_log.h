// CompactLog: makes a database that no process has open as small as possible. It moves the live values out of log
// segments with garbage, removes these segments, and rewrites the index.
//
//   cambium::CompactLogReport report;
//   cambium::Status s = cambium::CompactLog("/data/db", options, {}, &report);
//
// It works in steps of at most 48 MiB of values (or one value), each committed by one MANIFEST record. It may be ended
// at any time, also by a kill or a power cut: the database is then consistent, keeps the finished steps, and the next
// call continues. It needs free space for one step, and at its end for a second copy of the index; with `cluster`, for
// all live values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cambium/column_family.h"
#include "cambium/options.h"
#include "cambium/status.h"

namespace cambium {

// What a compaction does to the log, in bytes. Files of large values do not count.
struct CompactLogFigures {
  std::uint64_t segments = 0;       // removed
  std::uint64_t values = 0;         // moved
  std::uint64_t bytes_read = 0;     // from the log: the moved values, and gaps between them
  std::uint64_t bytes_written = 0;  // new segments, with all that is in their files
  std::uint64_t bytes_freed = 0;    // removed segments with one name, less bytes_written
  std::uint64_t bytes_held = 0;     // removed segments that a checkpoint links: on disk as long as the checkpoint is
  friend bool operator==(const CompactLogFigures&, const CompactLogFigures&) = default;
};

struct CompactLogForecast {
  CompactLogFigures figures;
  // If true, the result will equal the forecast. If false, values change their form or are brought into key order, and
  // the figures are computed from the values as they are now; if only the order changes, they are within 1 %.
  bool is_exact = true;
};

struct CompactLogOptions {
  // At least 1. Segments are emptied, those with the largest fraction of garbage first, until the log has at most this
  // many bytes per byte of live records. 1: every segment with any garbage.
  double target_space_amp = 1;
  // Bring all values of up to 64 KiB into key order, in every column family.
  bool cluster = false;
  // Compress all values with this. The program that opens the database should set blob_compression_type to the same,
  // because log GC compresses the values that it moves as that option says. Unset: values stay as they are.
  std::optional<CompressionType> recompress;
  // Afterwards values of at least this many bytes are in the log, smaller ones in the index. The program that opens the
  // database should set min_blob_size to the same. Unset: values stay where they are.
  std::optional<std::uint64_t> min_blob_size;
  // Only make the forecast: writes nothing, and needs only a shared lock.
  bool dry_run = false;

  // Called once, before anything is moved.
  std::function<void(const CompactLogForecast& forecast)> on_forecast;
  // Called after each step with the bytes read and written so far, and their total. Return false to stop here, with
  // Incomplete.
  std::function<bool(std::uint64_t done, std::uint64_t all)> on_progress;
};

struct CompactLogReport {
  CompactLogForecast forecast;
  CompactLogFigures fact;                  // zeros in a dry run
  std::uint64_t log_bytes_before = 0;      // all segments, without those of large values
  std::uint64_t log_bytes_after = 0;       // in a dry run: by the forecast
  std::uint64_t live_bytes = 0;            // of live records in them, at the start
  std::uint64_t index_bytes_before = 0;    // runs and trees
  std::uint64_t index_bytes_after = 0;
  std::vector<std::string> damaged;        // what was skipped: file, offset, reason
};

// Compacts the database at `path`; Locked if it is open elsewhere. `families` must name all its families, with the
// options they will be opened with, as for DB::Open. Compaction filters are not asked; background log GC and the
// ceiling are off. These options, with what `how` changes, are written to the OPTIONS file.
//
// A damaged segment is kept, the rest is done, and the result is Corruption. InvalidArgument for options out of range;
// NoSpace if space runs out. Callbacks run in the calling thread.
Status CompactLog(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                  const CompactLogOptions& how, CompactLogReport* report);
// For a database with the default family only.
Status CompactLog(const std::string& path, const Options& options, const CompactLogOptions& how,
                  CompactLogReport* report);

}  // namespace cambium
