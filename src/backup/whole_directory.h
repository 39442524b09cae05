// MakeWholeDirectory: a database in a directory that appears as a whole, or not at all.
#pragma once

#include <functional>
#include <string>

#include "cambium/file_system.h"
#include "cambium/status.h"

namespace cambium {

// `fill` writes the files of a database into the directory that it is given, `to`.tmp, and syncs them: their names and
// the MANIFEST last; or it opens a database there, writes it and closes it. Then, if `keep`, the directory is named `to`,
// which must not exist, and that is durable.
//
// As long as it is made it has a lock, that of a directory `to`.tmp.mark beside it. What a cut or a failure leaves before
// the name the next call removes, if the failing one could not. A failure after it, when the parent directory cannot be
// synced, leaves `to`. Locked if another call makes `to` at this time; InvalidArgument if `to` exists, or if what is called
// `to`.tmp is not empty and was not begun by such a call.
Status MakeWholeDirectory(FileSystem& fs, const std::string& to, bool keep,
                          const std::function<Status(const std::string& directory)>& fill);

// What MakeWholeDirectory would refuse, and a parent that does not exist. Writes nothing.
Status CheckWholeDirectory(FileSystem& fs, const std::string& to);

// A sync that failed in a copy is the end of the copy, not of the database: no longer Fatal.
[[nodiscard]] Status OfTheCopy(const Status& status);

}  // namespace cambium
