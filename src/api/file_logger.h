// The default Logger: writes lines with a time to the file LOG in the database's directory, through the FileSystem.
#pragma once

#include <memory>
#include <string>

#include "cambium/clock.h"
#include "cambium/file_system.h"
#include "cambium/logger.h"
#include "cambium/statistics.h"

namespace cambium {

// Starts a new LOG, and renames the previous one to LOG.old. If that fails, returns a NullLogger, so that Open does not
// fail for want of a log file.
[[nodiscard]] std::shared_ptr<Logger> NewFileLogger(std::shared_ptr<FileSystem> fs, std::shared_ptr<Clock> clock,
                                                    const std::string& directory,
                                                    std::shared_ptr<Statistics> statistics = nullptr);

}  // namespace cambium
