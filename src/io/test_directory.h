// MakeTestDirectory: where programs that only try something put their databases.
#pragma once

#include <string>

#include "cambium/file_system.h"
#include "cambium/status.h"

namespace cambium {

// The directory that the environment variable TEST_TMPDIR names, or /tmp/cambiumtest- and the user's number. Made if it
// does not exist.
Status MakeTestDirectory(FileSystem& fs, std::string* directory);

}  // namespace cambium
