// Capture: what a database consists of at one moment, so that it can be copied while it goes on.
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
  std::uint64_t length = 0;  // bytes of it that belong to the moment; there may be more in the file
  bool is_final = false;     // there never will be others, and they are durable: the file may get a second name
  std::vector<std::uint64_t> punched;  // of a segment, see SegmentInfo: values that may be holes in it, and no others
};

struct Capture {
  ManifestState state;                // of the copy
  FileHeader header;                  // of its MANIFEST
  std::uint64_t manifest_number = 0;  // above that of any file
  std::uint64_t options_number = 0;
  std::string options_text;           // of its OPTIONS file; empty: there is none
  std::vector<CapturedFile> files;
  std::shared_ptr<const void> pin;    // as long as it is held, none of the files goes or gets a hole that matters
};

// The files that the state names. `log_ends`: where the log ends in segments that are not sealed, by number.
//
// Runs, sealed segments and large values are final. A tree's segment is if there is a younger one of its family: only the
// youngest can be one that a merge appends to.
[[nodiscard]] std::vector<CapturedFile> CapturedFilesOf(const ManifestState& state,
                                                const std::map<std::uint64_t, std::uint64_t>& log_ends);

// Of a database that nobody has open for writing, and whose lock the caller holds. The log is what its files have.
//
// The files are all there, as long as they must be, and the log is read that an opening would replay: Corruption, with file
// and length or offset, where an opening would say so. `random` draws the id of the copy's MANIFEST.
Result<Capture> CaptureClosed(FileSystem& fs, const std::string& path, RandomSource& random);

}  // namespace cambium
