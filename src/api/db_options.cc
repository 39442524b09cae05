// Options while the database is open: what is in force, how it is changed, and the OPTIONS file that says so.
#include <algorithm>

#include "api/db_impl.h"
#include "options/options_check.h"
#include "options/options_file.h"
#include "options/options_text.h"
#include "manifest/file_names.h"

namespace cambium {
namespace {

Result<OptionTexts> TextsOf(const std::unordered_map<std::string, std::string>& changes) {
  if (changes.empty()) return Status::InvalidArgument("no option is named");
  OptionTexts texts;
  for (const auto& [name, value] : changes) texts.emplace(name, Trimmed(value).ToString());
  return texts;
}

constexpr ApplyRules kWhileOpen{.comparators = {}, .dynamic_only = true, .ignore_unknown = false};

}  // namespace

DBOptions DbImpl::DbOptionsInForce() const {
  DBOptions now = options_;
  now.page_cache_size = pool_->capacity_bytes();
  now.max_space_amplification = max_space_amplification_.load(std::memory_order_relaxed);
  now.min_punch_size = min_punch_size_.load(std::memory_order_relaxed);
  now.max_total_wal_size = max_total_wal_size_.load(std::memory_order_relaxed);
  return now;
}

Options DbImpl::GetOptions(ColumnFamilyHandle* handle) const {
  const Result<Family*> family = FamilyOf(handle);
  return {DbOptionsInForce(), family.ok() ? (*family)->options() : default_handle_->family()->options()};
}

Status DbImpl::SetOptions(ColumnFamilyHandle* handle, const std::unordered_map<std::string, std::string>& changes) {
  const Delivery delivery(&events_);
  CAMBIUM_RETURN_IF_ERROR(CheckWrite({}));
  CAMBIUM_TRY(Family* const its, FamilyOf(handle));
  CAMBIUM_TRY(const OptionTexts texts, TextsOf(changes));
  const std::lock_guard one_at_a_time(families_mutex_);
  const std::shared_ptr<Family> family = FindFamily(its->id);
  if (family == nullptr) return Status::ColumnFamilyDropped("column family \"" + its->name + "\" was dropped");
  ColumnFamilyOptions next = family->options();
  CAMBIUM_RETURN_IF_ERROR(ApplyOptionTexts(texts, kWhileOpen, &next));
  const bool is_default = family == default_handle_->family();
  CAMBIUM_RETURN_IF_ERROR(is_default ? CheckColumnFamilyOptions(next) : CheckFamilyOptions(next));
  family->ChangeOptions(next);
  family->index->SetOptions(next);
  if (next.blob_file_size != blob_file_size_.load(std::memory_order_relaxed)) ResizeSegments(next.blob_file_size);
  if (CompactionIsDue(*family)) Schedule(Job::kCompact, family);
  Schedule(Job::kSpace);
  return PersistChange();
}

// The log is one for all families, and what they say of it is the same.
void DbImpl::ResizeSegments(std::uint64_t bytes) {
  blob_file_size_.store(bytes, std::memory_order_relaxed);
  const std::shared_ptr<const View> view = view_.Pin();
  for (const FamilyView& each : view->families) {
    ColumnFamilyOptions its = each.family->options();
    its.blob_file_size = bytes;
    each.family->ChangeOptions(its);
  }
}

Status DbImpl::SetDBOptions(const std::unordered_map<std::string, std::string>& changes) {
  const Delivery delivery(&events_);
  CAMBIUM_RETURN_IF_ERROR(CheckWrite({}));
  CAMBIUM_TRY(const OptionTexts texts, TextsOf(changes));
  const std::lock_guard one_at_a_time(families_mutex_);
  DBOptions next = DbOptionsInForce();
  CAMBIUM_RETURN_IF_ERROR(ApplyOptionTexts(texts, kWhileOpen, &next));
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(next));
  next = FillInDefaults(next);
  pool_->SetCapacity(next.page_cache_size);
  {
    const std::lock_guard lock(append_mutex_);
    max_total_wal_size_.store(next.max_total_wal_size, std::memory_order_relaxed);
    next_wal_check_ = 0;
  }
  max_space_amplification_.store(next.max_space_amplification, std::memory_order_relaxed);
  min_punch_size_.store(next.min_punch_size, std::memory_order_relaxed);
  Schedule(Job::kSpace);
  return PersistChange();
}

Status DbImpl::PersistChange() {
  const Status persisted = PersistOptions();
  if (persisted.severity() == Status::Severity::kFatal) SetFatal(persisted);
  return persisted.WithContext("the options are in force, and not persisted");
}

void DbImpl::PersistFamilies() {
  const Status persisted = PersistOptions();
  if (persisted.severity() == Status::Severity::kFatal) {
    SetFatal(persisted);
  } else if (!persisted.ok()) {
    logger_->Log(InfoLogLevel::kWarn, "options are not persisted: " + persisted.ToString());
  }
}

// A disk without room for one file more is no reason not to serve. A directory that cannot be synced is.
Status DbImpl::PersistAtOpen() {
  const std::lock_guard one_at_a_time(families_mutex_);
  if (is_offline_) return Status::OK();  // it is CompactLog's, which knows more
  if (IsPersistedWith({true, true})) return Status::OK();
  const Status persisted = PersistOptions();
  if (persisted.severity() == Status::Severity::kFatal) return persisted;
  if (!persisted.ok()) logger_->Log(InfoLogLevel::kWarn, "options are not persisted: " + persisted.ToString());
  return Status::OK();
}

std::string DbImpl::OptionsText(KeptForm kept) const {
  std::vector<ColumnFamilyDescriptor> families;
  const std::shared_ptr<const View> view = view_.Pin();
  for (const FamilyView& each : view->families) families.emplace_back(each.family->name, each.family->options());
  return EncodeOptionsFile(DbOptionsInForce(), families, kept);
}

std::uint64_t DbImpl::NewestOptionsFile() const {
  std::uint64_t newest = 0;
  const Result<std::vector<NumberedFile>> files = ListNumberedFiles(*fs_, path_);
  if (!files.ok()) return newest;
  for (const NumberedFile& file : *files) {
    if (file.kind == FileKind::kOptions) newest = std::max(newest, file.number);
  }
  return newest;
}

// The file that is there will do if it says the same. If all segments are newer it also may say more of them: what has the
// form that the options say, and is moved as it is, still has it.
Status DbImpl::PersistOffline(KeptForm kept) {
  const std::lock_guard one_at_a_time(families_mutex_);
  const std::vector<std::uint64_t> segments = SegmentsOfLog();
  if (segments.empty()) kept = {};  // there is nothing to be moved
  const bool all_are_newer = segments.empty() || segments.front() > NewestOptionsFile();
  if (all_are_newer ? IsPersistedWith(kept) : IsPersisted(kept)) return Status::OK();
  return PersistOptions(kept);
}

// The newest file says it already, and of moved values no more than that.
bool DbImpl::IsPersistedWith(KeptForm most) const {
  for (const KeptForm kept : {KeptForm{}, KeptForm{true, false}, KeptForm{false, true}, KeptForm{true, true}}) {
    const bool is_more = (kept.codec && !most.codec) || (kept.size && !most.size);
    if (!is_more && IsPersisted(kept)) return true;
  }
  return false;
}

// The newest file says it already. So its number tells since when options are what they are, as far as openings know.
bool DbImpl::IsPersisted(KeptForm kept) const {
  const std::uint64_t newest = NewestOptionsFile();
  if (newest == 0) return false;
  const std::string name = FilePath(path_, FileKind::kOptions, newest);
  const Result<OptionsFileText> text = ReadOptionsFile(*fs_, name);
  const Result<OptionsFileText> ours = DecodeOptionsFile(OptionsText(kept), name);
  return text.ok() && ours.ok() && SaysTheSame(*text, *ours);
}

// A failed sync of the file itself is nobody else's: no state refers to it, and recovery does not read it. It goes, the
// one before it stays, and writes go on; no page cache can make us believe something of it that is not so. The
// directory is another matter. Its sync is also that of names which other threads have just made, a run's, a segment's;
// one that fails may lose them, and may be the only one that says so. So that is fatal, as everywhere.
Status DbImpl::PersistOptions(KeptForm kept) {
  const std::string text = OptionsText(kept);
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(commit_mutex_);
    number = next_file_number_++;
  }
  meter_.Tick(FILE_BYTES_OTHER, text.size());
  CAMBIUM_RETURN_IF_ERROR(WriteOptionsFile(*fs_, path_, number, text));
  CAMBIUM_RETURN_IF_ERROR(SyncDirectory());
  const Status removed = RemoveOldOptionsFiles(*fs_, path_);
  if (!removed.ok()) logger_->Log(InfoLogLevel::kWarn, "could not remove an old OPTIONS file: " + removed.ToString());
  return Status::OK();
}

}  // namespace cambium
