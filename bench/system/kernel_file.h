// Files by which the kernel takes orders, as in /proc/sys and /sys/fs/cgroup.
#pragma once

#include <string>

#include "cambium/status.h"

namespace cambium::bench {

// One write to a file that is there; NotFound if it is not.
Status WriteKernelFile(const std::string& path, const std::string& text);

// Whether this process may drop what the system has cached of files.
Status CanDropPageCache();

// Writes back what is dirty, and drops what the system has cached of files. What is mapped stays: nobody may have the
// files open that shall become cold.
Status DropPageCache();

}  // namespace cambium::bench
