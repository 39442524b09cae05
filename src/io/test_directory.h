// MakeTestDirectory: the directory in which tests, examples and the bench create databases by default.
#pragma once

#include <string>

#include "cambium/file_system.h"
#include "cambium/status.h"

namespace cambium {

// Sets *directory to the environment variable TEST_TMPDIR, or to /tmp/cambiumtest-<uid> if it is not set. Creates the
// directory if it does not exist.
Status MakeTestDirectory(FileSystem& fs, std::string* directory);

}  // namespace cambium
