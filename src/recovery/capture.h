// A Capture lists what a database consists of at one moment, so that a copy can be made while the database runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cambium/file_system.h"
#include "cambium/random.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "manifest/state.h"
#include "util/result.h"

namespace cambium {

struct CapturedFile {
  NumberedFile name;
  Id128 file_id{};
  std::uint64_t length = 0;  // bytes that belong to the capture; the file may be longer
  bool is_final = false;     // the file never grows and is durable: a hard link may replace a copy
  // For a segment, as in SegmentInfo: only these values, and the bytes below the cut, may be holes in it.
  std::vector<std::uint64_t> punched;
  std::uint64_t cut = 0;
  std::uint64_t log_end = 0;  // of a segment that is not sealed: where its records end; space or a torn tail may follow

  [[nodiscard]] bool MayHaveHoles() const { return cut != 0 || !punched.empty(); }
};

struct Capture {
  ManifestState state;                // of the copy
  FileHeader header;                  // of the copy's MANIFEST
  std::uint64_t manifest_number = 0;  // above the number of any file
  std::uint64_t options_number = 0;
  std::string options_text;           // contents of the OPTIONS file; empty: there is none
  std::vector<CapturedFile> files;
  std::shared_ptr<const void> pin;    // while held, no file is removed and no value of the capture is punched
};

// Returns the files that the state names. `log_ends` has the end of the log in each unsealed segment, by number.
//
// Runs, sealed segments and large values are final. An index segment is final if its family has a newer one, since a
// sweep appends only to the newest.
[[nodiscard]] std::vector<CapturedFile> CapturedFilesOf(const ManifestState& state,
                                                const std::map<std::uint64_t, std::uint64_t>& log_ends);

// Captures a database that is not open for writing; the caller holds its lock. Unsealed segments are captured with the
// lengths of their files.
//
// Checks that all files exist with their committed lengths, looks for files that show that the MANIFEST has lost its
// end, and replays the log as Open would. Returns Corruption, with file and length or offset, where Open would. `random`
// draws the id of the copy's MANIFEST.
Result<Capture> CaptureClosed(FileSystem& fs, const std::string& path, RandomSource& random);

}  // namespace cambium
