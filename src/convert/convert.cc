// ConvertIndex: a conversion is a clone whose families have other layers.
#include "cambium/convert.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "recovery/capture.h"
#include "recovery/open_files.h"
#include "options/options_check.h"
#include "options/options_file.h"
#include "backup/clone.h"
#include "backup/plan.h"
#include "backup/whole_directory.h"
#include "convert/family_converter.h"
#include "convert/measured_file.h"
#include "io/at_directory.h"
#include "io/pooled_file_system.h"
#include "io/parent_path.h"
#include "manifest/file_names.h"
#include "manifest/state_index.h"

namespace cambium {
namespace {

struct IndexSize {
  std::uint64_t entries = 0;  // of all runs and of the tree
  std::uint64_t bytes = 0;
};

IndexSize SizeOf(const FamilyState& family) {
  IndexSize size;
  const auto add_run = [&size](const RunInfo& run) {
    size.entries += run.root.entry_count;
    size.bytes += run.file_size;
  };
  for (const RunInfo& run : family.runs) add_run(run);
  for (const auto& [number, run] : family.level_runs) add_run(run.info);
  size.entries += family.root.entry_count;
  for (const auto& [number, info] : family.index_segments) size.bytes += info.length;
  return size;
}

class Converter {
 public:
  Converter(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
            IndexKind to, const ConvertOptions& how, ConvertReport* report)
      : options_(FillInDefaults(options)),
        fs_(options_.file_system),
        path_(path),
        families_(families),
        to_(to),
        how_(how),
        report_(*report) {}

  Status Run(const std::string& out) {
    FileInfo info;
    CAMBIUM_RETURN_IF_ERROR(fs_->GetInfo(path_, &info));
    CAMBIUM_TRY(fs_, AtDirectory(fs_, path_));
    fs_ = PoolFiles(fs_, options_.max_open_files);
    CAMBIUM_RETURN_IF_ERROR(CheckIsOutside(*fs_, out, path_));
    std::unique_ptr<FileLock> lock;
    CAMBIUM_RETURN_IF_ERROR(fs_->Lock(path_, LockMode::kShared, options_.lock_wait_micros, &lock));
    CAMBIUM_TRY(Capture capture, CaptureClosed(*fs_, path_, *options_.random_source));
    CAMBIUM_RETURN_IF_ERROR(CheckFamilies(capture.state));
    for (const auto& [id, family] : capture.state.families) all_entries_ += SizeOf(family).entries;
    if (how_.dry_run) {
      CAMBIUM_RETURN_IF_ERROR(CheckWholeDirectory(*fs_, out));
      CAMBIUM_RETURN_IF_ERROR(ConvertAll(out, &capture));
      CAMBIUM_RETURN_IF_ERROR(PlanClone(*fs_, path_, capture, out, &report_.plan));
      report_.plan.copied_files += measured_files_;
      report_.plan.copied_bytes += report_.index_bytes_after;
      return CheckPlanFits(*fs_, ParentOf(out), &report_.plan);
    }
    return MakeWholeDirectory(fs_, out, true,
                              [&](const std::shared_ptr<FileSystem>& there, const std::string& directory) -> Status {
                                fs_ = there;
                                CAMBIUM_RETURN_IF_ERROR(ConvertAll(directory, &capture));
                                return FillClone(*fs_, path_, capture, directory);
                              });
  }

 private:
  Status CheckFamilies(const ManifestState& state) {
    for (const auto& [id, family] : state.families) {
      const auto found = std::ranges::find(families_, family.name, &ColumnFamilyDescriptor::name);
      const std::string where = path_ + ": column family \"" + family.name + "\"";
      if (found == families_.end()) return Status::InvalidArgument(where + " is missing in the call");
      CAMBIUM_RETURN_IF_ERROR(CheckColumnFamilyOptions(found->options).WithContext(where));
      ColumnFamilyOptions converted = found->options;
      converted.index_type = to_;
      CAMBIUM_RETURN_IF_ERROR(CheckCeiling(options_.max_space_amplification, converted).WithContext(where));
      if (found->options.comparator->Name() != family.comparator) {
        return Status::InvalidArgument(where + ": keys are ordered by comparator \"" + family.comparator +
                                       "\", and the options give \"" + found->options.comparator->Name() + "\"");
      }
    }
    if (families_.size() == state.families.size()) return Status::OK();
    return Status::InvalidArgument(path_ + ": the database has " + std::to_string(state.families.size()) +
                                   " column families, but the call has " + std::to_string(families_.size()));
  }

  Status ConvertAll(const std::string& directory, Capture* capture) {
    ManifestState& state = capture->state;
    state.next_file_number = capture->manifest_number;
    for (ColumnFamilyDescriptor& descriptor : families_) {
      descriptor.options.index_type = to_;
      const auto found = std::ranges::find_if(
          state.families, [&](const auto& each) { return each.second.name == descriptor.name; });
      FamilyState& family = found->second;
      descriptor.options.page_size = family.page_size;
      if (family.index_type == static_cast<IndexType>(to_)) continue;
      std::uint64_t entries = 0;
      CAMBIUM_TRY(FamilyState converted, ConvertOne(directory, family, descriptor.options, &entries, capture));
      ++report_.families;
      report_.entries += entries;
      report_.index_bytes_before += SizeOf(family).bytes;
      report_.index_bytes_after += SizeOf(converted).bytes;
      DropIndexFiles(family, capture);
      family = std::move(converted);
    }
    DropGarbage(capture);
    capture->manifest_number = state.next_file_number;
    capture->header.number = capture->manifest_number;
    FillId(&capture->header.file_id);
    capture->options_number = state.next_file_number + 1;
    state.next_file_number += 2;
    capture->options_text = EncodeOptionsFile(options_, families_);
    return state.Check();
  }

  Result<FamilyState> ConvertOne(const std::string& directory, const FamilyState& family,
                                 const ColumnFamilyOptions& options, std::uint64_t* entries, Capture* capture) {
    ConvertFamily how;
    how.options = &options;
    how.open_file = [&](FileKind kind, std::uint64_t number) -> Result<std::shared_ptr<File>> {
      CAMBIUM_TRY(std::unique_ptr<File> file, OpenLayerFile(*fs_, path_, capture->state, kind, number));
      return std::shared_ptr<File>(std::move(file));
    };
    const FileKind kind = to_ == IndexKind::kLsm ? FileKind::kRun : FileKind::kIndex;
    const auto create_file = [this, directory, capture, kind]() -> Result<NewIndexFile> {
      NewIndexFile made;
      made.header = capture->header;
      made.header.kind = kind;
      made.header.number = capture->state.next_file_number++;
      made.header.created_seconds = options_.clock->WallSeconds();
      FillId(&made.header.file_id);
      const std::string name = FilePath(directory, kind, made.header.number);
      if (how_.dry_run) {
        if (measured_ != nullptr) measured_->Forget();
        measured_ = std::make_shared<MeasuredFile>(name);
        ++measured_files_;
        made.file = measured_;
        return made;
      }
      std::unique_ptr<File> file;
      CAMBIUM_RETURN_IF_ERROR(fs_->Open(name, OpenMode::kCreateNew, {}, &file));
      made.file = std::move(file);
      return made;
    };
    how.create_file = create_file;
    how.on_entries = [this](std::uint64_t more) {
      done_ += more;
      if (how_.progress) how_.progress(done_, std::max(done_, all_entries_));
    };
    return Convert(family, how, entries);
  }

  void FillId(Id128* id) const { options_.random_source->Fill(reinterpret_cast<char*>(id->data()), id->size()); }

  static void DropIndexFiles(const FamilyState& family, Capture* capture) {
    std::erase_if(capture->files, [&](const CapturedFile& file) { return HasFile(family, file.name.number); });
  }

  // The new layers have no hidden entries. Drops what only these referred to: slots of removed segments, and segments
  // that recovery need not read.
  void DropGarbage(Capture* capture) {
    ManifestState& state = capture->state;
    const StateIndex index(state);
    std::erase_if(state.shadowed_slots, [&](Slot slot) { return index.TotalOf(slot).references == 0; });
    std::set<std::uint64_t> gone;
    // Keep all segments after an unsealed one: the first record of the next segment says where an unsealed one ends.
    bool is_after_unsealed = false;
    for (const auto& [number, info] : state.segments) {
      if (info.kind == SegmentKind::kLargeValue) continue;  // an operation in the log's tail may refer to it
      if (info.kind == SegmentKind::kLog && is_after_unsealed) continue;
      is_after_unsealed = is_after_unsealed || (info.kind == SegmentKind::kLog && !info.sealed);
      const bool is_replayed = info.kind == SegmentKind::kLog && state.replay < LogPosition{number, info.sealed_length};
      if (info.sealed && !is_replayed && index.TotalOf(info.slot).references == 0) gone.insert(number);
    }
    for (const std::uint64_t number : gone) state.segments.erase(number);
    std::erase_if(capture->files, [&](const CapturedFile& file) { return gone.contains(file.name.number); });
    for (const CapturedFile& file : capture->files) {
      if (state.segments.contains(file.name.number)) report_.log_bytes += file.length;
    }
  }

  const DBOptions options_;
  std::shared_ptr<FileSystem> fs_;
  const std::string path_;
  std::vector<ColumnFamilyDescriptor> families_;
  const IndexKind to_;
  const ConvertOptions& how_;
  ConvertReport& report_;
  std::shared_ptr<MeasuredFile> measured_;  // the newest file of a dry run
  std::uint64_t measured_files_ = 0;
  std::uint64_t all_entries_ = 0;
  std::uint64_t done_ = 0;
};

}  // namespace

Status ConvertIndex(const DBOptions& options, const std::string& path,
                    const std::vector<ColumnFamilyDescriptor>& families, IndexKind to, const std::string& out,
                    const ConvertOptions& how, ConvertReport* report) {
  *report = {};
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(options));
  return Converter(options, path, families, to, how, report).Run(out);
}

}  // namespace cambium
