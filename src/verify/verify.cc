// VerifyDB: the order of the checks, and how findings are reported.
#include <algorithm>

#include "io/at_directory.h"
#include "io/pooled_file_system.h"
#include "recovery/log_replay.h"
#include "recovery/open_files.h"
#include "verify/verifier.h"
#include "manifest/manifest_reader.h"
#include "manifest/state_check.h"

namespace cambium {

Verifier::Verifier(const DBOptions& options, const std::string& path,
                   const std::vector<ColumnFamilyDescriptor>& families, const VerifyOptions& verify,
                   VerifyReport* report)
    : options_(FillInDefaults(options)),
      fs_(*options_.file_system),
      path_(path),
      wanted_(families),
      verify_(verify),
      report_(report) {}

Status Verifier::Run() {
  std::unique_ptr<FileLock> lock;
  CAMBIUM_RETURN_IF_ERROR(fs_.Lock(path_, LockMode::kShared, options_.lock_wait_micros, &lock));
  return RunLocked();
}

Status Verifier::RunLocked() {
  Result<ManifestRead> read = ReadManifest(fs_, path_);
  if (!read.ok()) {
    if (read.status().IsNotSupported()) return read.status();  // a later format, which we cannot verify
    if (read.status().IsNotFound()) return Status::InvalidArgument(path_ + ": holds no database");
    CAMBIUM_RETURN_IF_ERROR(Found(read.status()));
    return first_unread_;
  }
  state_ = std::move(read->state);
  manifest_number_ = read->number;
  report_->bytes_read += read->valid_length;
  if (state_.families.empty()) return Found(Status::Corruption(path_ + ": the MANIFEST names no column family"));
  CAMBIUM_RETURN_IF_ERROR(CheckDefaultFamily(path_, state_));
  for (const auto& [id, family] : state_.families) CAMBIUM_RETURN_IF_ERROR(FindComparator(family));
  CAMBIUM_RETURN_IF_ERROR(Found(state_.Check()));
  MeasureWork();
  CAMBIUM_RETURN_IF_ERROR(OpenSegments());
  for (const auto& [id, each] : state_.families) CAMBIUM_RETURN_IF_ERROR(Found(CheckFamily(each)));
  CAMBIUM_RETURN_IF_ERROR(CheckSegments());
  CAMBIUM_RETURN_IF_ERROR(Found(CheckStrayFiles(fs_, path_, state_)));
  CAMBIUM_RETURN_IF_ERROR(CheckTail());
  CAMBIUM_RETURN_IF_ERROR(Found(CheckOtherFiles()));
  if (verify_.progress) verify_.progress(work_, work_);
  return first_unread_;
}

Status Verifier::FindComparator(const FamilyState& family) {
  const auto named = std::ranges::find(wanted_, family.name, &ColumnFamilyDescriptor::name);
  const Comparator* comparator =
      named != wanted_.end() ? named->options.comparator : BuiltInComparator(family.comparator);
  if (comparator == nullptr || family.comparator != comparator->Name()) {
    return Status::InvalidArgument(path_ + ": keys of column family \"" + family.name +
                                   "\" are ordered by comparator \"" + family.comparator +
                                   "\", which is needed to verify them");
  }
  comparators_[family.id] = comparator;
  return Status::OK();
}

namespace {

void AddTo(std::vector<std::string>* lines, std::uint64_t* count, std::string line) {
  ++*count;
  if (lines->size() < VerifyReport::kListedMax) lines->push_back(std::move(line));
}

}  // namespace

void Verifier::Problem(std::string what) { AddTo(&report_->problems, &report_->problem_count, std::move(what)); }
void Verifier::DeadDamage(std::string what) {
  AddTo(&report_->dead_damage, &report_->dead_damage_count, std::move(what));
}
void Verifier::Note(std::string what) { AddTo(&report_->notes, &report_->note_count, std::move(what)); }

Status Verifier::Found(const Status& s) {
  if (s.ok()) return s;
  if (s.IsIOError()) {
    if (first_unread_.ok()) first_unread_ = s;
    AddTo(&report_->unreadable, &report_->unreadable_count, std::string(s.message()));
    return Status::OK();
  }
  if (!s.IsCorruption() && !s.IsNotSupported()) return s;
  Problem(std::string(s.message()));
  return Status::OK();
}

Status Verifier::FoundDead(const Status& s) {
  if (!s.IsCorruption() && !s.IsNotSupported()) return Found(s);
  DeadDamage(std::string(s.message()));
  return Status::OK();
}

// Counts pages once. With `deep`, counts values once for their index entries, and segments once for the walk.
void Verifier::MeasureWork() {
  const auto size_of = [&](FileKind kind, std::uint64_t number) -> std::uint64_t {
    FileInfo info;
    return fs_.GetInfo(FilePath(path_, kind, number), &info).ok() ? info.size : 0;  // the later read reports the error
  };
  for (const auto& [id, family] : state_.families) {
    for (const RunInfo& run : family.runs) work_ += run.file_size;
    for (const auto& [number, run] : family.level_runs) work_ += run.info.file_size;
    for (const auto& [number, segment] : family.index_segments) work_ += segment.length;
    if (!verify_.deep) continue;
    for (const auto& [slot, account] : family.accounts) {
      work_ += static_cast<std::uint64_t>(std::max<std::int64_t>(account.bytes, 0));
    }
  }
  for (const auto& [number, info] : state_.segments) {
    if (info.kind == SegmentKind::kLargeValue) continue;
    const bool is_walked = verify_.deep || (info.kind == SegmentKind::kLog && number >= state_.replay.segment);
    if (is_walked) work_ += info.sealed ? info.file_size : size_of(FileKind::kLog, number);
  }
}

void Verifier::CountRead(std::uint64_t bytes) {
  report_->bytes_read += bytes;
  if (verify_.progress) verify_.progress(std::min(report_->bytes_read, work_), work_);
}

Status VerifyDB(const std::string& path, const Options& options, const VerifyOptions& verify, VerifyReport* report) {
  return VerifyDB(path, options, {ColumnFamilyDescriptor(kDefaultColumnFamilyName, options)}, verify, report);
}

Status VerifyDB(const std::string& path, const DBOptions& options, const std::vector<ColumnFamilyDescriptor>& families,
                const VerifyOptions& verify, VerifyReport* report) {
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(options));
  for (const ColumnFamilyDescriptor& family : families)
    CAMBIUM_RETURN_IF_ERROR(CheckColumnFamilyOptions(family.options));
  *report = {};
  DBOptions its = FillInDefaults(options);
  FileInfo info;
  CAMBIUM_RETURN_IF_ERROR(its.file_system->GetInfo(path, &info));
  CAMBIUM_TRY(its.file_system, AtDirectory(its.file_system, path));
  its.file_system = PoolFiles(its.file_system, its.max_open_files);
  return Verifier(its, path, families, verify, report).Run();
}

}  // namespace cambium
