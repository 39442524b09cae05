// A clone is a captured database in a directory of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "recovery/capture.h"
#include "cambium/copy_plan.h"
#include "cambium/file_system.h"
#include "util/result.h"

namespace cambium {

// Reports the bytes linked or copied so far, and all bytes.
using CloneProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;
// Makes a clone of the database in `from` as the new directory `to`, as a whole or not at all: see MakeWholeDirectory.
// Final files are hard-linked if the file system allows it; all others are copied. `progress` may be null.
Status WriteClone(const std::shared_ptr<FileSystem>& fs, const std::string& from, const Capture& capture, const std::string& to,
                  const CloneProgress& progress = nullptr);
// Computes what WriteClone would link and copy, or returns why it would fail, without writing. Does not find out
// whether the file system has hard links or whether the directory is writable.
Status PlanClone(FileSystem& fs, const std::string& from, const Capture& capture, const std::string& to, CopyPlan* plan);

// Writes a clone into an existing directory that the caller names later: files, OPTIONS, sync of the directory,
// MANIFEST.
Status FillClone(FileSystem& fs, const std::string& from, const Capture& capture, const std::string& to,
                 const CloneProgress& progress = nullptr);

}  // namespace cambium
