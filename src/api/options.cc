// Options of an open database: reading and changing those in force, and writing the OPTIONS file.
#include <algorithm>
#include <utility>

#include "api/families.h"
#include "io/whole_file.h"
#include "manifest/file_names.h"
#include "options/options_check.h"
#include "options/options_file.h"
#include "options/options_text.h"
#include "util/mutant.h"

namespace cambium {
namespace {

Result<OptionTexts> TextsOf(const std::unordered_map<std::string, std::string>& changes) {
  if (changes.empty()) return Status::InvalidArgument("no option is named");
  OptionTexts texts;
  for (const auto& [name, value] : changes) texts.emplace(name, Trimmed(value).ToString());
  return texts;
}

constexpr const char* kNotPersisted = "the options are in force but not persisted";
constexpr ApplyRules kWhileOpen{.comparators = {}, .dynamic_only = true, .ignore_unknown = false};

}  // namespace

DBOptions Families::DbOptions() const {
  DBOptions now = db_.options;
  now.page_cache_size = db_.pool->capacity_bytes();
  now.max_space_amplification = db_.max_space_amplification.load(std::memory_order_relaxed);
  now.min_space_limit = db_.min_space_limit.load(std::memory_order_relaxed);
  now.min_punch_size = db_.min_punch_size.load(std::memory_order_relaxed);
  now.max_total_wal_size = db_.max_total_wal_size.load(std::memory_order_relaxed);
  return now;
}

Status Families::SetOptions(Family* its, const std::unordered_map<std::string, std::string>& changes) {
  CAMBIUM_TRY(const OptionTexts texts, TextsOf(changes));
  const FamiliesLock lock(*this);
  const std::shared_ptr<Family> family = commits_.FindFamily(its->id);
  if (family == nullptr) return DroppedStatus(*its);
  ColumnFamilyOptions next = family->options();
  CAMBIUM_RETURN_IF_ERROR(ApplyOptionTexts(texts, kWhileOpen, &next));
  const bool is_default = family == default_family_;
  CAMBIUM_RETURN_IF_ERROR(CheckOptions(next));
  if (!is_default) CAMBIUM_RETURN_IF_ERROR(CheckSegmentSize(next));
  std::vector<Resized> others;
  if (next.blob_file_size != db_.blob_file_size.load(std::memory_order_relaxed)) {
    others = WithSegmentsOf(next.blob_file_size, *family);
  }
  std::unique_ptr<const OptionsInForce> own = family->MakeOptions(next);
  Status lost = Interrupted();
  // From here on nothing can fail, so the change is made as a whole.
  family->PutInForce(std::move(own));
  for (Resized& other : others) other.family->PutInForce(std::move(other.options));
  db_.blob_file_size.store(next.blob_file_size, std::memory_order_relaxed);
  family->index->SetOptions(next);
  return EndChange(family, std::move(lost));
}

std::vector<Families::Resized> Families::WithSegmentsOf(std::uint64_t bytes, const Family& but) const {
  std::vector<Resized> resized;
  const std::shared_ptr<const View> view = commits_.view().Pin();
  for (const FamilyView& each : view->families) {
    if (each.family.get() == &but) continue;
    ColumnFamilyOptions its = each.family->options();
    its.blob_file_size = bytes;
    resized.push_back({each.family, each.family->MakeOptions(its)});
  }
  return resized;
}

Status Families::SetDbOptions(const std::unordered_map<std::string, std::string>& changes) {
  CAMBIUM_TRY(const OptionTexts texts, TextsOf(changes));
  const FamiliesLock lock(*this);
  DBOptions next = DbOptions();
  CAMBIUM_RETURN_IF_ERROR(ApplyOptionTexts(texts, kWhileOpen, &next));
  CAMBIUM_RETURN_IF_ERROR(CheckDbOptions(next));
  const std::shared_ptr<const View> view = commits_.view().Pin();
  for (const FamilyView& each : view->families) {
    CAMBIUM_RETURN_IF_ERROR(CheckCeiling(next.max_space_amplification, each.family->options())
                                .WithContext("column family \"" + each.family->name + "\""));
  }
  next = FillInDefaults(next);
  Status lost = Interrupted();
  db_.pool->SetCapacity(next.page_cache_size);
  {
    const AppendLock append(head_);
    db_.max_total_wal_size.store(next.max_total_wal_size, std::memory_order_relaxed);
    head_.LookForOldestSoon();
  }
  db_.max_space_amplification.store(next.max_space_amplification, std::memory_order_relaxed);
  db_.min_space_limit.store(next.min_space_limit, std::memory_order_relaxed);
  db_.min_punch_size.store(next.min_punch_size, std::memory_order_relaxed);
  return EndChange(nullptr, std::move(lost));
}

// ---- The OPTIONS file ----

// If a job cannot be scheduled, the next event that needs it schedules it.
Status Families::EndChange(const std::shared_ptr<Family>& changed, Status lost) {
  try {
    jobs_.ScheduleIfPossible(Job::kLookAtSpace);
    if (changed != nullptr && compactor_.IsDue(*changed)) jobs_.ScheduleIfPossible(Job::kCompact, changed);
    const Status persisted = Persist();
    if (persisted.severity() == Status::Severity::kFatal) jobs_.SetFatal(persisted);
    return persisted.WithContext(kNotPersisted);
  } catch (...) {
    if (MutantIs(Mutant::kExceptionAfterChange)) throw;
    ForgetFiles();
    return lost;
  }
}

// The user's file system or logger may also throw other exceptions.
Status Families::Interrupted() {
  return Status::Aborted("memory ran out, or another exception came").WithContext(kNotPersisted);
}

void Families::PersistFamilies(FamilyChanges changes) {
  try {
    const Status persisted = PersistAddition(std::move(changes));
    if (persisted.severity() == Status::Severity::kFatal) {
      jobs_.SetFatal(persisted);
    } else if (!persisted.ok()) {
      db_.logger->Log(InfoLogLevel::kWarn, "options are not persisted: " + persisted.ToString());
    }
  } catch (...) {
    if (MutantIs(Mutant::kExceptionAfterChange)) throw;
    ForgetFiles();
  }
}

// The next file is whole, so that no change is missing in it.
void Families::ForgetFiles() noexcept {
  if (additions_.whole() != 0) previous_file_ = additions_.whole();
  additions_.Clear();
  knows_old_files_ = false;
}

// If the file cannot be written, for example for lack of space, Open succeeds. If the directory cannot be synced, Open
// fails.
Status Families::PersistAtOpen() {
  const FamiliesLock lock(*this);
  if (db_.is_offline) return Status::OK();  // CompactLog calls PersistOffline
  if (IsPersistedWith({true, true})) return Status::OK();
  const Status persisted = Persist();
  if (persisted.severity() == Status::Severity::kFatal) return persisted;
  if (!persisted.ok()) db_.logger->Log(InfoLogLevel::kWarn, "options are not persisted: " + persisted.ToString());
  return Status::OK();
}

std::string Families::Text(KeptForm kept) const {
  std::vector<ColumnFamilyDescriptor> families;
  const std::shared_ptr<const View> view = commits_.view().Pin();
  for (const FamilyView& each : view->families) families.emplace_back(each.family->name, each.family->options());
  return EncodeOptionsFile(DbOptions(), families, kept);
}

std::uint64_t Families::NewestFile() const {
  std::uint64_t newest = 0;
  const Result<std::vector<NumberedFile>> files = ListNumberedFiles(*db_.fs, db_.path);
  if (!files.ok()) return newest;
  for (const NumberedFile& file : *files) {
    if (file.kind == FileKind::kOptions) newest = std::max(newest, file.number);
  }
  return newest;
}

// Writes no file if the newest one says the same. There is a second case in which the newest file suffices: if all
// segments are newer than it, their values already have the form that its options ask for. Then a relocation does not
// change the form, so the file may say that fewer properties of the form are kept than `kept` says.
Status Families::PersistOffline(KeptForm kept, const std::vector<std::uint64_t>& segments) {
  const FamiliesLock lock(*this);
  if (segments.empty()) kept = {};  // no value can be moved
  const bool all_are_newer = segments.empty() || segments.front() > NewestFile();
  if (all_are_newer ? IsPersistedWith(kept) : Persisted() == kept) return Status::OK();
  return Persist(kept);
}

// True if the newest file has the same options, and says that relocated values keep at most the properties of their
// form that `most` names.
bool Families::IsPersistedWith(KeptForm most) {
  const std::optional<KeptForm> kept = Persisted();
  return kept.has_value() && (most.codec || !kept->codec) && (most.size || !kept->size);
}

// If the newest file has the same options, returns what it says about the form of relocated values. Then no new file is
// written, and the number of the newest file shows since when the options are in force. If the newest file is an
// addition, returns nothing, so that a whole file replaces it.
std::optional<KeptForm> Families::Persisted() {
  previous_file_ = NewestFile();
  if (previous_file_ == 0) return std::nullopt;
  const std::string name = db_.PathOf(FileKind::kOptions, previous_file_);
  const Result<std::string> bytes = ReadWholeFile(*db_.fs, name, kOptionsFileSizeMax);
  if (!bytes.ok()) return std::nullopt;
  if (std::string ours = Text({}); *bytes == ours) {  // the usual case needs no parsing
    additions_.SetWhole(previous_file_, ours.size());
    return KeptForm{};
  }
  const Result<NewestOptions> newest = ReadNewestOptions(*db_.fs, db_.path);
  if (!newest.ok()) return std::nullopt;
  if (newest->base != newest->number) {
    previous_file_ = newest->base;
    return std::nullopt;
  }
  const Result<OptionsFileText> ours = DecodeOptionsFile(Text(newest->text.kept), name);
  if (!ours.ok() || !HasAllOptionsOf(newest->text, *ours)) return std::nullopt;
  additions_.SetWhole(newest->number, bytes->size());
  return newest->text.kept;
}

// A failed sync of the file itself affects no other file: no state refers to it, and recovery does not read it. The new
// file is removed, the previous one is kept, and writes continue. A failed sync of the directory is fatal, as
// everywhere: names of runs or segments that other threads have just created may be lost, and perhaps no other sync
// reports the loss.
Status Families::WriteFile(std::uint64_t number, const std::string& text) {
  db_.meter.Tick(FILE_BYTES_OTHER, text.size());
  CAMBIUM_RETURN_IF_ERROR(WriteOptionsFile(*db_.fs, db_.path, number, text));
  return db_.SyncDirectory();
}

Status Families::Persist(KeptForm kept) {
  std::vector<std::uint64_t> old = additions_.numbers();
  if (const std::uint64_t whole = additions_.whole(); whole != 0) {
    if (previous_file_ != 0 && previous_file_ != whole) old.push_back(previous_file_);
    previous_file_ = whole;
  }
  additions_.Clear();
  const bool knows_old_files = std::exchange(knows_old_files_, false);
  const std::string text = Text(kept);
  const std::uint64_t number = commits_.NewFileNumber();
  CAMBIUM_RETURN_IF_ERROR(WriteFile(number, text));
  additions_.SetWhole(number, text.size());
  knows_old_files_ = true;
  if (knows_old_files) {
    RemoveFiles(old);
  } else if (const Status removed = RemoveOldOptionsFiles(*db_.fs, db_.path, previous_file_); !removed.ok()) {
    KeepsOldFile(removed);
  }
  return Status::OK();
}

void Families::RemoveFiles(const std::vector<std::uint64_t>& numbers) {
  for (const std::uint64_t number : numbers) {
    if (const Status removed = db_.Unlink(FileKind::kOptions, number); !removed.ok()) KeepsOldFile(removed);
  }
}

void Families::KeepsOldFile(const Status& removed) {
  knows_old_files_ = false;
  db_.logger->Log(InfoLogLevel::kWarn, "could not remove an old OPTIONS file: " + removed.ToString());
}

// If anything fails on the way, also for lack of memory, the files in force are forgotten: the next file is whole, so
// that this change is not missing in it.
Status Families::PersistAddition(FamilyChanges changes) {
  OptionsAdditions::Addition addition;
  addition.changes = changes;
  addition = additions_.Plan(std::move(changes), TextOf(addition).size());
  if (addition.adds_to == 0 || MutantIs(Mutant::kOptionsWrittenWhole)) return Persist();
  OptionsAdditions files = std::exchange(additions_, {});
  const std::uint64_t previous_file = std::exchange(previous_file_, files.whole());
  const bool knows_old_files = std::exchange(knows_old_files_, false);
  const std::string text = TextOf(addition);
  const std::uint64_t number = commits_.NewFileNumber();
  CAMBIUM_RETURN_IF_ERROR(WriteFile(number, text));
  const std::vector<std::uint64_t> replaced = addition.replaced;
  files.Written(std::move(addition), number, text.size());
  additions_ = std::move(files);
  previous_file_ = previous_file;
  knows_old_files_ = knows_old_files;
  RemoveFiles(replaced);
  return Status::OK();
}

std::string Families::TextOf(const OptionsAdditions::Addition& addition) const {
  std::vector<ColumnFamilyDescriptor> families;
  std::vector<std::string> dropped;
  for (const auto& [name, change] : addition.changes) {
    if (change.was_dropped) dropped.push_back(name);
    const std::shared_ptr<Family> family = change.created_id == 0 ? nullptr : commits_.FindFamily(change.created_id);
    if (family != nullptr) families.emplace_back(name, family->options());
  }
  return EncodeOptionsAddition(addition.adds_to, families, dropped);
}

}  // namespace cambium
