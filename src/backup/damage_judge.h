// JudgeDamage decides whether damage in the files of a database counts.
//
//   counts   a restored database would fail to open, or fail a read, a scan, a compaction or log GC
//   dead     the rest: records that no entry of any layer refers to and that recovery does not read, pages that the
//            trees no longer reach, the footer of a segment whose records are whole
//
// A record counts even if a newer entry hides the entry that refers to it. VerifyDB, which knows the order of keys, is
// more exact: it calls such a record dead.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backup/content_check.h"
#include "cambium/file_system.h"
#include "manifest/state.h"

namespace cambium {

// Returns the path of a file that has the bytes of this file of the state.
using PathOf = std::function<std::string(const NumberedFile&)>;

// Corruption for the first damage that counts; else OK, after `on_dead`, unless null, was called for each damage. Reads
// all index pages if that is needed to decide. Asks `go_on` between them, and returns its errors and those of reading.
Status JudgeDamage(FileSystem& fs, const ManifestState& state, const PathOf& path_of,
                   const std::vector<FileDamage>& damage, const std::function<void(const std::string&)>& on_dead,
                   const std::function<Status()>& go_on);

}  // namespace cambium
