// RepairDB: the order of a repair, and the repair in place as in LevelDB.
#include <algorithm>
#include <memory>

#include "options/options_check.h"
#include "verify/verifier.h"
#include "backup/whole_directory.h"
#include "cambium/db.h"
#include "cambium/repair.h"
#include "io/at_directory.h"
#include "io/pooled_file_system.h"
#include "io/parent_path.h"
#include "manifest/manifest_reader.h"
#include "manifest/state_check.h"
#include "repair/known_state.h"
#include "repair/patient_file_system.h"
#include "repair/salvage.h"
#include "repair/salvage_layers.h"
#include "repair/salvage_log.h"
#include "repair/salvage_pages.h"
#include "repair/salvage_tail.h"

namespace cambium {
namespace {

std::string WithoutSlash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Returns the options of a family that the caller does not name. A null comparator: its order is not the library's own.
ColumnFamilyOptions WithOptionsOfState(const FamilyState& state, ColumnFamilyOptions options) {
  options.comparator = BuiltInComparator(state.comparator);
  options.index_type = static_cast<IndexKind>(state.index_type);
  options.page_size = state.page_size;
  return options;
}

class Repair {
 public:
  Repair(const std::string& path, const DBOptions& options, const std::vector<ColumnFamilyDescriptor>& families,
         const RepairOptions& repair, RepairReport* report)
      : options_(options), patient_(*options.file_system), salvage_(patient_, path, repair, report) {
    salvage_.wanted = families;
    patient_.SetListener([this](const std::string& file, std::uint64_t offset, const Status& why) {
      const std::string place = file + ":" + std::to_string(offset);
      salvage_.ReportLost({"", {}, {}, {}, 0, place + ": cannot be read: " + why.ToString()});
    });
  }

  // Reads the state and the families. Writes nothing.
  Status Look() {
    CAMBIUM_RETURN_IF_ERROR(ReadKnownState(&salvage_));
    CAMBIUM_RETURN_IF_ERROR(patient_.denied());
    return FindFamilies();
  }

  Status Fill(const std::shared_ptr<FileSystem>& fs, const std::string& directory) {
    const ColumnFamilyOptions& first = family_options_.at(0);
    DBOptions there = options_;
    there.file_system = fs;
    CAMBIUM_TRY(const std::unique_ptr<NewDatabase> out,
                NewDatabase::Create(there, directory, first, !salvage_.how.dry_run));
    salvage_.out = out.get();
    for (const auto& [id, family] : family_options_) {
      if (id != 0) CAMBIUM_RETURN_IF_ERROR(out->AddFamily(id, salvage_.families.at(id).name, family));
    }
    OpenSegments(&salvage_);
    CAMBIUM_RETURN_IF_ERROR(patient_.denied());
    if (salvage_.has_manifest) {
      CAMBIUM_RETURN_IF_ERROR(SalvageTail(&salvage_));
      CAMBIUM_RETURN_IF_ERROR(SalvageLayers(&salvage_));
    }
    if (IsLogNeeded()) {
      LogSalvage log(&salvage_);
      CAMBIUM_RETURN_IF_ERROR(log.Read());
      if (!salvage_.has_manifest) CAMBIUM_RETURN_IF_ERROR(SalvagePages(&salvage_));
      CAMBIUM_RETURN_IF_ERROR(log.Decide());
    }
    CAMBIUM_RETURN_IF_ERROR(patient_.denied());
    CAMBIUM_TRY(const std::vector<NewDatabase::Figures> figures, out->Finish());
    for (const NewDatabase::Figures& each : figures) {
      salvage_.report->families.push_back({each.name, each.entries, each.value_bytes});
    }
    return Status::OK();
  }

 private:
  Status FindFamilies() {
    for (const auto& [id, state] : salvage_.state.families) {
      ColumnFamilyOptions options = salvage_.OptionsOf(state.name);
      if (!salvage_.IsNamed(state.name)) {
        options = WithOptionsOfState(state, options);
        if (!CheckCeiling(options_.max_space_amplification, options).ok()) options.min_blob_size = 0;
      }
      if (options.comparator == nullptr || state.comparator != options.comparator->Name()) {
        return Status::InvalidArgument(salvage_.path + ": keys of column family \"" + state.name +
                                       "\" are ordered by comparator \"" + state.comparator +
                                       "\", which is needed to salvage them");
      }
      salvage_.families.emplace(id, SalvagedFamily(state.name, options.comparator));
      salvage_.families.at(id).flushed_sequence = state.flushed_sequence;
      salvage_.families.at(id).is_filtered = salvage_.IsFiltered(options);
      family_options_[id] = options;
    }
    if (family_options_.contains(0)) return Status::OK();
    family_options_[0] = salvage_.OptionsOf(kDefaultColumnFamilyName);
    salvage_.families.emplace(0, SalvagedFamily(kDefaultColumnFamilyName, family_options_[0].comparator));
    salvage_.families.at(0).is_filtered = salvage_.IsFiltered(family_options_[0]);
    salvage_.families.at(0).is_order_guessed = !salvage_.IsNamed(kDefaultColumnFamilyName);
    return Status::OK();
  }

  // The whole log is read only if it may have entries that are lost elsewhere.
  [[nodiscard]] bool IsLogNeeded() const {
    return !salvage_.has_manifest || salvage_.is_tail_damaged ||
           std::ranges::any_of(salvage_.families, [](const auto& each) {
             return each.second.has_lost_values || !each.second.gaps.empty();
           });
  }

  const DBOptions options_;
  PatientFileSystem patient_;
  Salvage salvage_;
  std::map<std::uint32_t, ColumnFamilyOptions> family_options_;  // options of the known families
};

// Repairs a directory whose lock the caller holds.
Status RepairLocked(const std::string& path, const std::string& out, const DBOptions& options,
                    const std::vector<ColumnFamilyDescriptor>& families, const RepairOptions& how,
                    RepairReport* report) {
  Repair repair(path, options, families, how, report);
  CAMBIUM_RETURN_IF_ERROR(repair.Look());
  return MakeWholeDirectory(
      options.file_system, out, !how.dry_run,
      [&](const std::shared_ptr<FileSystem>& fs, const std::string& directory) { return repair.Fill(fs, directory); });
}

// Opens the directory for options->file_system, and locks it.
Result<std::unique_ptr<FileLock>> LockDamaged(const std::string& path, LockMode mode, DBOptions* options) {
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(options->file_system->GetInfo(path, &info));
  if (!info.is_directory) return Status::InvalidArgument(path + ": is not a directory");
  CAMBIUM_TRY(options->file_system, AtDirectory(options->file_system, path));
  options->file_system = PoolFiles(options->file_system, options->max_open_files);
  std::unique_ptr<FileLock> lock;
  CAMBIUM_RETURN_IF_ERROR(options->file_system->Lock(path, mode, options->lock_wait_micros, &lock));
  return lock;
}

Status CheckAll(const DBOptions& options, const std::vector<ColumnFamilyDescriptor>& families) {
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(options));
  for (const ColumnFamilyDescriptor& family : families) {
    CAMBIUM_RETURN_IF_ERROR(CheckColumnFamilyOptions(family.options));
  }
  return Status::OK();
}

// Verifies a locked directory. Only verification finds damage that loses nothing, for example a damaged branch whose
// leaves are all found. Returns errors that are not damage.
Result<bool> IsHealthy(const std::string& path, const DBOptions& options,
                       std::vector<ColumnFamilyDescriptor> families) {
  const Result<ManifestRead> manifest = ReadManifest(*options.file_system, path);
  if (manifest.status().IsCorruption() || manifest.status().IsNotFound()) return false;
  CAMBIUM_RETURN_IF_ERROR(manifest.status());
  for (const auto& [id, state] : manifest->state.families) {
    if (std::ranges::find(families, state.name, &ColumnFamilyDescriptor::name) != families.end()) continue;
    families.emplace_back(state.name, WithOptionsOfState(state, ColumnFamilyOptions()));
    if (families.back().options.comparator == nullptr) return false;  // the repair reports the comparator
  }
  VerifyReport report;
  const Status verified = Verifier(options, path, families, {.deep = true}, &report).RunLocked();
  if (verified.IsCorruption()) return false;
  CAMBIUM_RETURN_IF_ERROR(verified);
  return report.problems.empty();
}

Result<bool> Exists(FileSystem& fs, const std::string& path) {
  FileInfo info;
  const Status found = fs.GetInfo(path, &info);
  if (found.IsPathNotFound()) return false;
  CAMBIUM_RETURN_IF_ERROR(found);
  return true;
}

}  // namespace

Status RepairDB(const std::string& path, const std::string& out, const DBOptions& options,
                const std::vector<ColumnFamilyDescriptor>& families, const RepairOptions& repair,
                RepairReport* report) {
  *report = {};
  CAMBIUM_RETURN_IF_ERROR(CheckAll(options, families));
  DBOptions filled = FillInDefaults(options);
  if (IsInside(*filled.file_system, out, path)) {
    return Status::InvalidArgument(out + ": is inside " + path + ", which must not be changed");
  }
  CAMBIUM_TRY(const std::unique_ptr<FileLock> lock, LockDamaged(path, LockMode::kShared, &filled));
  return RepairLocked(path, out, filled, families, repair, report);
}

Status RepairDB(const std::string& path, const Options& options) {
  const std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, options}};
  CAMBIUM_RETURN_IF_ERROR(CheckAll(options, families));
  DBOptions filled = FillInDefaults(options);
  CAMBIUM_TRY(const std::shared_ptr<FileSystem> opened, AtDirectory(filled.file_system, ParentOf(path)));
  filled.file_system = opened;  // all three directories are in this one
  FileSystem& fs = *opened;
  const std::string target = WithoutSlash(path);
  const std::string repaired = target + ".repaired";
  const std::string damaged = target + ".damaged";
  CAMBIUM_TRY(const bool is_there, Exists(fs, target));
  CAMBIUM_TRY(const bool is_repaired, Exists(fs, repaired));
  CAMBIUM_TRY(const bool has_damaged, Exists(fs, damaged));
  if (is_there) {
    for (const auto& [exists, name] : {std::pair(is_repaired, repaired), std::pair(has_damaged, damaged)}) {
      if (exists) return Status::InvalidArgument(name + ": exists, from an earlier repair; move it away");
    }
    CAMBIUM_TRY(const std::unique_ptr<FileLock> lock, LockDamaged(target, LockMode::kExclusive, &filled));
    CAMBIUM_TRY(const bool is_healthy, IsHealthy(target, filled, families));
    RepairReport report;
    CAMBIUM_RETURN_IF_ERROR(RepairLocked(target, repaired, filled, families, {}, &report));
    if (report.IsClean() && report.mended == 0 && is_healthy) {
      Options of_new = options;
      of_new.file_system = opened;
      return DestroyDB(repaired, of_new);
    }
    CAMBIUM_RETURN_IF_ERROR(fs.Rename(target, damaged));
    CAMBIUM_RETURN_IF_ERROR(fs.SyncDirectory(ParentOf(target)));
  } else if (!is_repaired || !has_damaged) {
    return Status::InvalidArgument(target + ": does not exist");
  }
  CAMBIUM_RETURN_IF_ERROR(fs.Rename(repaired, target));
  return fs.SyncDirectory(ParentOf(target));
}

}  // namespace cambium
