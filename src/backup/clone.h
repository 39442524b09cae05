// Clone: a captured database in a directory of its own.
#pragma once

#include <string>

#include "api/capture.h"
#include "cambium/file_system.h"
#include "util/result.h"

namespace cambium {

// `from` is the captured one's directory. `to` must not exist, and appears as a whole and durable; it is made under the
// name `to`.tmp. Final files get a second name, others are copied, and so is everything where that is not possible.
//
// An order that a cut can take at any place: files and their names, the MANIFEST, the directory's name. What a cut leaves
// before that the next call removes. A failure after it, when the parent directory cannot be synced, leaves `to`.
Status WriteClone(FileSystem& fs, const std::string& from, const Capture& capture, const std::string& to);

}  // namespace cambium
