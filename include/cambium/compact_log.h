// CompactLog: makes a database that nobody has open as small as it can be. Values that are alive leave the log segments
// that have garbage, these go, and the index is written anew.
//
//   cambium::CompactLogReport report;
//   cambium::Status s = cambium::CompactLog("/data/db", options, {}, &report);
//
// Works in steps of at most 48 MiB of values (or one value), each committed by one MANIFEST record: whenever it is ended,
// by a kill or a power cut too, the database is whole, keeps what was done, and the next call goes on from there. It needs
// free space for one step and, at its end, for the index once more; with `cluster` for all live values.
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

// What a compaction does to the log. Bytes; files of large values are not among them.
struct CompactLogFigures {
  std::uint64_t segments = 0;       // that go
  std::uint64_t values = 0;         // that are moved
  std::uint64_t bytes_read = 0;     // of these, and of what lies between them and is read along
  std::uint64_t bytes_written = 0;  // of new segments, all of their files
  std::uint64_t bytes_freed = 0;    // of segments that go and have no second name, less what is written
  std::uint64_t bytes_held = 0;     // of segments that go and have one, a checkpoint's: they stay on disk as long as it does
  friend bool operator==(const CompactLogFigures&, const CompactLogFigures&) = default;
};

struct CompactLogForecast {
  CompactLogFigures figures;
  // The fact will be the same. Otherwise values change their form, or come in the order of keys: then the figures are those
  // of values as they are, within 1 % where they only come in the order of keys.
  bool is_exact = true;
};

struct CompactLogOptions {
  // At least 1. Segments are emptied, those with the largest part of garbage first, until the log has at most so many
  // bytes per byte of live records. 1: every segment that has any garbage.
  double target_space_amp = 1;
  // All values up to 256 KiB come into the order of their keys, in every column family.
  bool cluster = false;
  // All values are compressed by this. The program that opens the database should have blob_compression_type say the same:
  // log GC writes what it moves as the options say. Unset: values stay as they are.
  std::optional<CompressionType> recompress;
  // Values of at least so many bytes are in the log afterwards, smaller ones in the index; as min_blob_size, which the
  // program should set to the same. Unset: values stay where they are.
  std::optional<std::uint64_t> min_blob_size;
  // Only the forecast; writes nothing, and needs no more than a shared lock.
  bool dry_run = false;

  // Called once, before anything is moved.
  std::function<void(const CompactLogForecast& forecast)> on_forecast;
  // Called after each step with bytes read and written so far, and in all. False: stop here, with Incomplete.
  std::function<bool(std::uint64_t done, std::uint64_t all)> on_progress;
};

struct CompactLogReport {
  CompactLogForecast forecast;
  CompactLogFigures fact;                  // nothing in a dry run
  std::uint64_t log_bytes_before = 0;      // of all segments but those of large values
  std::uint64_t log_bytes_after = 0;       // in a dry run: that the forecast leaves
  std::uint64_t live_bytes = 0;            // of records that are alive in them, when it began
  std::uint64_t index_bytes_before = 0;    // of runs and trees
  std::uint64_t index_bytes_after = 0;
  std::vector<std::string> damaged;        // what was left alone: file, offset, reason
};

// The database at `path`, which nobody else has open: Locked if somebody has. `families` are all that it has, with the
// options that it is to be opened with, as for DB::Open; compaction filters are not asked, and log GC and the ceiling do
// nothing of their own. These options, with what `how` changes, become its OPTIONS file.
//
// A segment in which something is damaged stays, the rest is done, and the answer is Corruption. InvalidArgument for
// options out of range; NoSpace if there is not enough. One thread calls; the callbacks run in it.
Status CompactLog(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                  const CompactLogOptions& how, CompactLogReport* report);
// The same where there is the default family only.
Status CompactLog(const std::string& path, const Options& options, const CompactLogOptions& how,
                  CompactLogReport* report);

}  // namespace cambium
