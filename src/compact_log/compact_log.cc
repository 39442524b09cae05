#include "cambium/compact_log.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "api/db_impl.h"
#include "compact_log/log_compaction.h"
#include "options/options_check.h"
#include "options/options_file.h"
#include "cambium/compaction_filter.h"
#include "cambium/executor.h"
#include "io/at_directory.h"
#include "manifest/file_names.h"
#include "manifest/manifest_reader.h"

namespace cambium {
namespace {

constexpr int kUrgentThreads = 2;  // for flushes, seals and removals

// Moves inline values of min_blob_size and more into the log. It "changes" each to the same value, and the compaction
// stores a changed value as the options say.
class SeparatingFilter final : public CompactionFilter {
 public:
  explicit SeparatingFilter(std::uint64_t min_blob_size) : min_blob_size_(min_blob_size) {}
  [[nodiscard]] const char* Name() const override { return "cambium.SeparatingFilter"; }
  [[nodiscard]] Decision FilterBlobByKey(int, const Slice&, std::string*, std::string*) const override {
    return Decision::kKeep;  // the value is already in the log
  }
  Decision FilterV2(int, const Slice&, ValueType, const Slice& value, std::string* changed,
                    std::string*) const override {
    if (value.size() < min_blob_size_) return Decision::kKeep;
    changed->assign(value.data(), value.size());
    return Decision::kChangeValue;
  }

 private:
  const std::uint64_t min_blob_size_;
};

Status CheckHow(const CompactLogOptions& how) {
  if (!(how.target_space_amp >= 1)) {
    return Status::InvalidArgument("target_space_amp is " + std::to_string(how.target_space_amp) +
                                   "; legal is 1 or more");
  }
  return Status::OK();
}

// The sizes of the files that a state names, in bytes.
struct Sizes {
  std::uint64_t log = 0;
  std::uint64_t index = 0;
};

Result<Sizes> SizesOf(FileSystem& fs, const std::string& path, const ManifestState& state) {
  Sizes sizes;
  for (const auto& [number, info] : state.segments) {
    if (info.kind == SegmentKind::kLargeValue) continue;
    FileInfo file;
    CAMBIUM_RETURN_IF_ERROR(fs.GetInfo(FilePath(path, FileKindOf(info.kind), number), &file));
    sizes.log += !info.MayHaveHoles() ? (info.sealed ? info.file_size : file.size)
                                      : std::min(info.file_size, file.allocated_bytes);
  }
  for (const auto& [id, family] : state.families) {
    for (const RunInfo& run : family.runs) sizes.index += run.file_size;
    for (const auto& [number, run] : family.level_runs) sizes.index += run.info.file_size;
    for (const auto& [number, info] : family.index_segments) sizes.index += info.length;
  }
  return sizes;
}

// Returns the number of the newest whole OPTIONS file if this file and its additions have the wanted options: all
// values in segments with larger numbers were written with them. Returns the largest possible number, so that no
// segment counts, if the file has other options, if it cannot be read, or if values were moved later without changing
// their form.
std::uint64_t AsWantedFrom(FileSystem& fs, const std::string& path,
                           const std::vector<ColumnFamilyDescriptor>& families, const CompactLogOptions& how) {
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  const Result<NewestOptions> newest = ReadNewestOptions(fs, path);
  if (!newest.ok() || (how.recompress.has_value() && newest->text.kept.codec) ||
      (how.min_blob_size.has_value() && newest->text.kept.size)) {
    return kNone;
  }
  ConfigOptions config;
  config.ignore_unknown_options = true;
  for (const ColumnFamilyDescriptor& family : families) config.comparators.push_back(family.options.comparator);
  DBOptions were;
  std::vector<ColumnFamilyDescriptor> had;
  if (!OptionsFromFileText(newest->text, config, newest->path, &were, &had).ok()) return kNone;
  for (const ColumnFamilyDescriptor& family : families) {
    const auto before = std::ranges::find(had, family.name, &ColumnFamilyDescriptor::name);
    if (before == had.end() || before->options.blob_compression_type != family.options.blob_compression_type ||
        before->options.min_blob_size != family.options.min_blob_size) {
      return kNone;
    }
  }
  return newest->base;  // families that an addition names had no values before it
}

}  // namespace

Status CompactLog(const DBOptions& options, const std::string& path, const std::vector<ColumnFamilyDescriptor>& families,
                  const CompactLogOptions& how, CompactLogReport* report) {
  *report = {};
  CAMBIUM_RETURN_IF_ERROR(CheckHow(how));
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(options));
  DBOptions its = options;
  // Add threads by an executor of our own: max_background_jobs is written to the OPTIONS file and must not change.
  if (its.executor == nullptr) its.executor = Executor::NewThreadPool(LogCompaction::StepsAtATime(its), kUrgentThreads);
  its.create_if_missing = its.create_missing_column_families = its.error_if_exists = false;
  // Everything below uses the directory to which `path` leads now; if there is none, Open returns the error.
  const std::shared_ptr<FileSystem> base = FillInDefaults(its).file_system;
  FileInfo info;
  if (base->GetInfo(path, &info).ok() && info.is_directory) {
    CAMBIUM_TRY(its.file_system, AtDirectory(base, path));
  }
  const std::shared_ptr<FileSystem> fs = FillInDefaults(its).file_system;
  std::vector<ColumnFamilyDescriptor> wanted = families;
  std::vector<std::unique_ptr<const CompactionFilter>> filters;
  for (ColumnFamilyDescriptor& family : wanted) {
    family.options.compaction_filter = nullptr;
    family.options.compaction_filter_factory = nullptr;
    if (how.recompress.has_value()) family.options.blob_compression_type = *how.recompress;
    if (how.min_blob_size.has_value()) family.options.min_blob_size = *how.min_blob_size;
    CAMBIUM_RETURN_IF_ERROR(CheckCeiling(options.max_space_amplification, family.options)
                                .WithContext("column family \"" + family.name + "\""));
    if (!how.min_blob_size.has_value()) continue;
    filters.push_back(std::make_unique<SeparatingFilter>(*how.min_blob_size));
    family.options.compaction_filter = filters.back().get();
  }
  // Measure before Open changes files. If another process has the database open, Open below returns Locked.
  const Result<ManifestRead> read = ReadManifest(*fs, path);
  Result<Sizes> before = read.ok() ? SizesOf(*fs, path, read->state) : Result<Sizes>(read.status());
  const std::uint64_t as_wanted_from = AsWantedFrom(*fs, path, wanted, how);
  CAMBIUM_TRY(const std::unique_ptr<DbImpl> db,
              DbImpl::OpenAt(its, path, wanted, how.dry_run ? OpenAs::kReader : OpenAs::kOffline, nullptr));
  CAMBIUM_RETURN_IF_ERROR(before.status());
  report->log_bytes_before = before->log;
  report->index_bytes_before = before->index;

  LogCompaction compaction(&db->inside().offline(), how, as_wanted_from, report);
  Status done = how.dry_run ? compaction.Forecast() : compaction.Run();
  const Status closed = db->Close();
  if (done.ok()) done = closed;
  if (how.dry_run) {
    report->log_bytes_after = before->log - std::min(before->log, compaction.leaves());
    report->index_bytes_after = before->index;
  } else if (const Result<ManifestRead> now = ReadManifest(*fs, path); now.ok()) {
    CAMBIUM_TRY(const Sizes after, SizesOf(*fs, path, now->state));
    report->log_bytes_after = after.log;
    report->index_bytes_after = after.index;
  }
  if (!done.ok() || report->damaged.empty()) return done;
  return Status::Corruption(report->damaged.front() +
                            (report->damaged.size() > 1
                                 ? ", and " + std::to_string(report->damaged.size() - 1) + " more segments"
                                 : ""));
}

Status CompactLog(const std::string& path, const Options& options, const CompactLogOptions& how,
                  CompactLogReport* report) {
  return CompactLog(options, path, {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options)}, how, report);
}

}  // namespace cambium
