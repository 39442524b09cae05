// Clone: a captured database in a directory of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "recovery/capture.h"
#include "cambium/copy_plan.h"
#include "cambium/file_system.h"
#include "util/result.h"

namespace cambium {

// `from` is the captured one's directory. `to` appears as a whole, see MakeWholeDirectory. Final files get a second name,
// others are copied, and so is everything where that is not possible. `progress` may be null: bytes that are there, of how
// many.
using CloneProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;
Status WriteClone(FileSystem& fs, const std::string& from, const Capture& capture, const std::string& to,
                  const CloneProgress& progress = nullptr);
// What that would do, or why it would be refused, as far as can be told without writing: whether the file system has
// second names, and who may write where, is not tried.
Status PlanClone(FileSystem& fs, const std::string& from, const Capture& capture, const std::string& to, CopyPlan* plan);

// The same into a directory that is there and will get its name later: files, OPTIONS, the directory's sync, the MANIFEST.
Status FillClone(FileSystem& fs, const std::string& from, const Capture& capture, const std::string& to,
                 const CloneProgress& progress = nullptr);

}  // namespace cambium
