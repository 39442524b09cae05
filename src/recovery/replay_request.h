// ReplayRequest: which log a replay reads, and how.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cambium/file_system.h"
#include "cambium/logger.h"
#include "cambium/options.h"
#include "manifest/state.h"

namespace cambium {

struct ReplayRequest {
  FileSystem* fs = nullptr;
  std::string directory;
  const ManifestState* state = nullptr;
  WALRecoveryMode mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  Logger* logger = nullptr;
  // By family: values of this size and more remain in the log, and the callback receives their addresses; smaller ones
  // are read and passed inline. For a family that is not listed no value is read.
  std::map<std::uint32_t, std::uint64_t> inline_below;
  bool use_io_uring = true;
};

}  // namespace cambium
