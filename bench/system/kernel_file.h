// Files through which the kernel is configured, as in /proc/sys and /sys/fs/cgroup.
#pragma once

#include <string>

#include "cambium/status.h"

namespace cambium::bench {

// Writes `text` into an existing file with one write. NotFound if the file does not exist.
Status WriteKernelFile(const std::string& path, const std::string& text);

// Returns whether this process may drop the page cache; the error says why not.
Status CanDropPageCache();

// Writes back dirty pages and drops the page cache. Mapped pages stay, so files that are to become cold must be closed.
Status DropPageCache();

}  // namespace cambium::bench
