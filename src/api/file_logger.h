// The default Logger: lines with a time in a file LOG of the database's directory, through the FileSystem.
#pragma once

#include <memory>
#include <string>

#include "cambium/clock.h"
#include "cambium/file_system.h"
#include "cambium/logger.h"
#include "cambium/statistics.h"

namespace cambium {

// Starts a new LOG; the one before becomes LOG.old. A NullLogger if that cannot be done: messages are no reason not to
// open a database.
[[nodiscard]] std::shared_ptr<Logger> NewFileLogger(std::shared_ptr<FileSystem> fs, std::shared_ptr<Clock> clock,
                                                    const std::string& directory,
                                                    std::shared_ptr<Statistics> statistics = nullptr);

}  // namespace cambium
