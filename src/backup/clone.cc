#include "backup/clone.h"

#include "options/options_file.h"
#include "backup/copy_file.h"
#include "backup/plan.h"
#include "backup/whole_directory.h"
#include "io/parent_path.h"
#include "manifest/manifest.h"
#include "util/fault_point.h"
#include "util/mutant.h"

namespace cambium {
namespace {

Status PlaceFile(FileSystem& fs, const std::string& from, const std::string& to, const CapturedFile& file,
                 bool* can_link, const std::function<Status(Slice)>& see) {
  const std::string name = FileName(file.name.kind, file.name.number);
  const bool may_link = file.is_final || MutantIs(Mutant::kLinkUnfinishedFiles);
  if (may_link && *can_link) {
    const Status linked = fs.Link(from + "/" + name, to + "/" + name);
    if (!linked.IsNotSupported()) return linked;
    *can_link = false;  // another file system, or one without hard links
  }
  return CopyFile(fs, {from + "/" + name, to + "/" + name, file.length, file.MayHaveHoles()}, see);
}

}  // namespace

Status FillClone(FileSystem& fs, const std::string& from, const Capture& capture, const std::string& to,
                 const CloneProgress& progress) {
  std::uint64_t all = 0;
  for (const CapturedFile& file : capture.files) all += file.length;
  std::uint64_t placed = 0;  // bytes of finished files
  std::uint64_t copied = 0;  // bytes of the file being copied
  const auto see = [&](Slice piece) {
    copied += piece.size();
    if (progress) progress(placed + copied, all);
    return Status::OK();
  };
  bool can_link = true;
  for (const CapturedFile& file : capture.files) {
    CAMBIUM_RETURN_IF_ERROR(PlaceFile(fs, from, to, file, &can_link, see));
    placed += file.length;
    copied = 0;
    if (progress) progress(placed, all);
    CAMBIUM_FAULT_POINT("Clone:file");
  }
  if (!capture.options_text.empty()) {
    CAMBIUM_RETURN_IF_ERROR(WriteOptionsFile(fs, to, capture.options_number, capture.options_text));
  }
  CAMBIUM_RETURN_IF_ERROR(fs.SyncDirectory(to));
  return Manifest::Create(fs, to, capture.header, capture.manifest_number, capture.state).status();
}

Status PlanClone(FileSystem& fs, const std::string& from, const Capture& capture, const std::string& to,
                 CopyPlan* plan) {
  *plan = {};
  CAMBIUM_RETURN_IF_ERROR(CheckIsOutside(fs, to, from));
  CAMBIUM_RETURN_IF_ERROR(CheckWholeDirectory(fs, to));
  FileInfo here;
  FileInfo there;
  CAMBIUM_RETURN_IF_ERROR(fs.GetInfo(from, &here));
  CAMBIUM_RETURN_IF_ERROR(fs.GetInfo(ParentOf(to), &there));
  for (const CapturedFile& file : capture.files) {
    if (file.is_final && here.device == there.device) {
      ++plan->linked_files;
      plan->linked_bytes += file.length;
    } else {
      PlanCopy(file.length, plan);
    }
  }
  if (!capture.options_text.empty()) PlanCopy(capture.options_text.size(), plan);
  PlanCopy(Manifest::SizeOfNew(capture.state, capture.manifest_number), plan);
  return CheckPlanFits(fs, ParentOf(to), plan);
}

Status WriteClone(const std::shared_ptr<FileSystem>& fs, const std::string& from, const Capture& capture,
                  const std::string& to, const CloneProgress& progress) {
  CAMBIUM_RETURN_IF_ERROR(CheckIsOutside(*fs, to, from));
  return MakeWholeDirectory(fs, to, true, [&](const std::shared_ptr<FileSystem>& there, const std::string& directory) {
    return FillClone(*there, from, capture, directory, progress);
  });
}

}  // namespace cambium
