#include "cambium/backup_engine.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "api/db_inside.h"
#include "options/options_check.h"
#include "options/options_file.h"
#include "backup/backup_directory.h"
#include "backup/content_check.h"
#include "backup/copy_file.h"
#include "backup/damage_judge.h"
#include "backup/plan.h"
#include "backup/whole_directory.h"
#include "io/at_directory.h"
#include "io/lock_file_name.h"
#include "io/parent_path.h"
#include "manifest/manifest.h"
#include "manifest/manifest_reader.h"
#include "util/checksum.h"
#include "util/fault_point.h"
#include "util/generic_rate_limiter.h"
#include "util/mutant.h"
#include "util/mutex.h"
#include "util/sealed_text.h"
#include "util/without_fatal.h"

namespace cambium {
namespace {

Status CheckLimiter(const char* name, const std::shared_ptr<RateLimiter>& limiter) {
  if (limiter == nullptr) return Status::OK();
  return static_cast<const GenericRateLimiter&>(*limiter).Check().WithContext(name);  // only the library can make one
}

Status CheckChecksum(const std::string& path, const BackupFile& file, std::uint64_t checksum) {
  if (ChecksumMatches(file.checksum, checksum) || MutantIs(Mutant::kRestoreUnchecked)) return Status::OK();
  return Status::Corruption(path + ":0: the checksum of its " + std::to_string(file.length) +
                            " bytes differs from the one in the backup's record");
}

// The progress of one call. Done reports it, limits its rate, and ends the call after StopBackup.
class Work {
 public:
  Work(BackupProgress progress, RateLimiter* limiter, Clock* clock, const std::atomic<bool>* is_stopped)
      : progress_(std::move(progress)), limiter_(static_cast<GenericRateLimiter*>(limiter)), clock_(clock),
        is_stopped_(is_stopped) {}
  void Expect(std::uint64_t bytes) { all_ += bytes; }
  // The error after StopBackup.
  [[nodiscard]] Status GoOn() const {
    return is_stopped_->load() ? Status::Incomplete("StopBackup was called") : Status::OK();
  }
  Status Done(std::uint64_t bytes) {
    CAMBIUM_RETURN_IF_ERROR(GoOn());
    if (limiter_ != nullptr) limiter_->Admit(bytes, IO_LOW, clock_, [this] { return is_stopped_->load(); });
    done_ += bytes;
    if (progress_ != nullptr) progress_(done_, all_);
    return Status::OK();
  }

 private:
  const BackupProgress progress_;
  GenericRateLimiter* const limiter_;
  Clock* const clock_;
  const std::atomic<bool>* const is_stopped_;
  std::uint64_t done_ = 0;
  std::uint64_t all_ = 0;
};

// A file to be stored: its path and its entry in the record.
struct Source {
  std::string path;
  BackupFile file;
  bool has_holes = false;
  std::uint64_t log_end = 0;  // as in CapturedFile
  FileSystem* fs = nullptr;   // null: that of backup_dir
};

// The database of which a backup is made.
struct Origin {
  FileSystem& fs;
  const std::string& path;
};

// Whether a file has checksums that CheckContents compares. The other files are written again for each backup.
bool HasContents(FileKind kind) { return kind != FileKind::kManifest && kind != FileKind::kOptions; }

class BackupEngineImpl final : public BackupEngine {
 public:
  explicit BackupEngineImpl(const BackupEngineOptions& options)
      : options_(options),
        base_(options.file_system != nullptr ? options.file_system : FileSystem::Default()),
        fs_(base_),
        clock_(options.clock != nullptr ? options.clock : Clock::Default()),
        directory_(fs_.get(), options.backup_dir) {}

  Status Start();

  Status CreateNewBackup(const CreateBackupOptions& options, DB* db, BackupID* id) override;
  Status CreateNewBackupOffline(const CreateBackupOptions& options, const std::string& path, BackupID* id) override;
  void StopBackup() override { is_stopped_.store(true); }
  Status PurgeOldBackups(std::uint32_t num_backups_to_keep) override;
  Status DeleteBackup(BackupID id) override;
  Status GarbageCollect() override;
  [[nodiscard]] std::vector<BackupInfo> GetBackupInfo() const override;
  [[nodiscard]] std::vector<BackupID> GetCorruptedBackups() const override;
  Status VerifyBackup(BackupID id, bool verify_with_checksum) override;
  Status RestoreDBFromBackup(const RestoreOptions& options, BackupID id, const std::string& directory) override;
  Status RestoreDBFromLatestBackup(const RestoreOptions& options, const std::string& directory) override;
  Status PlanRestore(BackupID id, const std::string& directory, CopyPlan* plan) override;
  Status PlanNew(const std::string& path, CopyPlan* plan);
  Status PlanDeletion(BackupID id, std::uint32_t num_backups_to_keep, std::vector<BackupID>* ids);

 private:
  [[nodiscard]] Status CheckWritable() const {
    return options_.read_only ? Status::InvalidArgument(options_.backup_dir + ": is open for reading only") : Status::OK();
  }
  // Creates backup_dir if it does not exist.
  Status MakeDirectory();
  // Opens backup_dir: from here on fs_ finds its files.
  Status EnterDirectory();
  // Checks, locks and loads backup_dir as Start does for a writing engine, but writes nothing.
  Status StartToPlan();
  static Status CheckNew(const CreateBackupOptions& options);
  Status Store(const CreateBackupOptions& options, const Origin& from, const Capture& capture, BackupID* id)
      CAMBIUM_REQUIRES(work_mutex_);
  // Whether a stored file can stand for a file of the database.
  using IsUsable = std::function<bool(const CapturedFile& file, const BackupFile& known)>;
  // Adds files that are stored already to the record, and the others to *sources. Writes nothing.
  void Sort(const Origin& from, const Capture& capture, const IsUsable& is_usable, BackupRecord* record,
            std::vector<Source>* sources) const;
  Status StoreFiles(const CreateBackupOptions& options, const Origin& from, const Capture& capture, Work* work,
                    BackupRecord* record, std::vector<std::string>* made) CAMBIUM_REQUIRES(work_mutex_);
  // Decides whether the damage in the files of a new backup counts; all of them are stored.
  Status JudgeNew(const CreateBackupOptions& options, const std::string& from, const Capture& capture, const Work& work,
                  const BackupRecord& record, const std::vector<FileDamage>& damage) const;
  // Checks the contents of the files of a stored backup.
  [[nodiscard]] Status CheckStored(const BackupRecord& record, const Work& work) const;
  [[nodiscard]] PathOf PathsOf(const BackupRecord& record) const;
  Status StageManifest(const Capture& capture, BackupID id, std::vector<Source>* sources);
  Status StoreFile(const Source& source, Work* work, BackupRecord* record, std::vector<std::string>* made);
  [[nodiscard]] bool IsStored(const BackupFile& file) const;
  Result<BackupRecord> Find(BackupID id) const;
  Result<BackupID> Latest() const;

  const BackupEngineOptions options_;
  const std::shared_ptr<FileSystem> base_;  // for other directories
  std::shared_ptr<FileSystem> fs_;          // for backup_dir
  const std::shared_ptr<Clock> clock_;
  std::unique_ptr<FileLock> lock_;
  std::atomic<bool> is_stopped_{false};
  // Held during a whole call that writes to backup_dir.
  Mutex work_mutex_ CAMBIUM_ACQUIRED_BEFORE(mutex_);
  mutable Mutex mutex_;        // held for the I/O of a record only
  BackupDirectory directory_;  // changed with both mutexes held; read with either
};

Status BackupEngineImpl::Start() {
  if (options_.backup_dir.empty()) return Status::InvalidArgument("backup_dir is empty");
  CAMBIUM_RETURN_IF_ERROR(CheckLimiter("backup_rate_limiter", options_.backup_rate_limiter));
  CAMBIUM_RETURN_IF_ERROR(CheckLimiter("restore_rate_limiter", options_.restore_rate_limiter));
  const bool may_make = !options_.read_only && options_.create_if_missing;
  if (may_make) CAMBIUM_RETURN_IF_ERROR(MakeDirectory());
  CAMBIUM_RETURN_IF_ERROR(EnterDirectory());
  CAMBIUM_RETURN_IF_ERROR(directory_.Check(may_make));
  const LockMode mode = options_.read_only ? LockMode::kShared : LockMode::kExclusive;
  CAMBIUM_RETURN_IF_ERROR(fs_->Lock(options_.backup_dir, mode, options_.lock_wait_micros, &lock_));
  CAMBIUM_RETURN_IF_ERROR(directory_.Load());
  if (options_.read_only) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(fs_->CreateDirectory(directory_.FilesPath()));
  CAMBIUM_RETURN_IF_ERROR(WithoutFatal(fs_->SyncDirectory(options_.backup_dir)));
  return directory_.RemoveUnneeded();
}

Status BackupEngineImpl::MakeDirectory() {
  FileInfo info;
  const Status found = base_->GetInfo(options_.backup_dir, &info);
  if (!found.IsPathNotFound()) return found;
  const std::string parent = ParentOf(options_.backup_dir);
  CAMBIUM_TRY(fs_, AtDirectory(base_, parent));
  CAMBIUM_RETURN_IF_ERROR(fs_->CreateDirectory(options_.backup_dir));
  return WithoutFatal(fs_->SyncDirectory(parent));
}

Status BackupEngineImpl::EnterDirectory() {
  CAMBIUM_TRY(fs_, AtDirectory(fs_, options_.backup_dir));
  directory_.SetFileSystem(fs_.get());
  return Status::OK();
}

Status BackupEngineImpl::StartToPlan() {
  CAMBIUM_RETURN_IF_ERROR(EnterDirectory());
  CAMBIUM_RETURN_IF_ERROR(directory_.Check(options_.create_if_missing));
  // Without LOCK, no engine has used the directory yet. Do not lock then, since that would create the file.
  FileInfo info;
  const Status found = fs_->GetInfo(options_.backup_dir + "/" + kLockFileName, &info);
  if (!found.ok() && !found.IsPathNotFound()) return found;
  if (found.ok()) {
    CAMBIUM_RETURN_IF_ERROR(fs_->Lock(options_.backup_dir, LockMode::kExclusive, options_.lock_wait_micros, &lock_));
  }
  return directory_.Load();
}

// ---- Making a backup ----

Status BackupEngineImpl::CheckNew(const CreateBackupOptions& options) {
  if (options.app_metadata.size() <= kBackupMetadataMax) return Status::OK();
  return Status::InvalidArgument("app_metadata has " + std::to_string(options.app_metadata.size()) +
                                 " bytes; the most is " + std::to_string(kBackupMetadataMax));
}

Status BackupEngineImpl::CreateNewBackup(const CreateBackupOptions& options, DB* db, BackupID* id) {
  CAMBIUM_RETURN_IF_ERROR(CheckWritable());
  CAMBIUM_RETURN_IF_ERROR(CheckNew(options));
  DbInside* const inside = DbInside::Of(db);
  if (inside == nullptr) return Status::InvalidArgument("a backup needs a database that DB::Open opened");
  const MutexLock work_lock(work_mutex_);
  const std::uint64_t log_size = options.flush_before_backup ? 0 : std::numeric_limits<std::uint64_t>::max();
  CAMBIUM_TRY(const Capture capture, inside->CaptureNow(log_size));
  return WithoutFatal(Store(options, {*inside->file_system(), db->GetName()}, capture, id));
}

Status BackupEngineImpl::CreateNewBackupOffline(const CreateBackupOptions& options, const std::string& path,
                                                BackupID* id) {
  CAMBIUM_RETURN_IF_ERROR(CheckWritable());
  CAMBIUM_RETURN_IF_ERROR(CheckNew(options));
  const MutexLock work_lock(work_mutex_);
  CAMBIUM_TRY(const std::shared_ptr<FileSystem> its_fs, AtDirectory(base_, path));
  std::unique_ptr<FileLock> lock;
  CAMBIUM_RETURN_IF_ERROR(its_fs->Lock(path, LockMode::kShared, options_.lock_wait_micros, &lock));
  CAMBIUM_TRY(const Capture capture, CaptureClosed(*its_fs, path, *RandomSource::Default()));
  return WithoutFatal(Store(options, {*its_fs, path}, capture, id));
}

Status BackupEngineImpl::Store(const CreateBackupOptions& options, const Origin& from, const Capture& capture,
                               BackupID* id) {
  CAMBIUM_RETURN_IF_ERROR(CheckIsOutside(*fs_, options_.backup_dir, from.fs, from.path));
  CAMBIUM_RETURN_IF_ERROR(directory_.RemoveUnneeded());  // remains may have the names of new files
  Work work(options.progress, options_.backup_rate_limiter.get(), clock_.get(), &is_stopped_);
  BackupRecord record;
  CAMBIUM_TRY(record.id, directory_.NextId());
  record.created_seconds = static_cast<std::int64_t>(clock_->WallSeconds());
  record.sequence = capture.state.durable_sequence;
  record.metadata = options.app_metadata;
  std::vector<std::string> made;
  record.is_checked = options.verify_checksums;
  Status s = StoreFiles(options, from, capture, &work, &record, &made);
  const BackupID new_id = record.id;
  if (s.ok()) {
    const MutexLock lock(mutex_);
    s = directory_.Add(std::move(record));
  }
  if (!s.ok()) {
    for (const std::string& stored : made) static_cast<void>(fs_->Unlink(directory_.StoredPath(stored)));
  }
  static_cast<void>(directory_.RemoveUnneeded());  // if this fails, the next call does it
  if (s.ok() && id != nullptr) *id = new_id;
  return s;
}

// Whether the stored file exists with its length. Does not read it.
bool BackupEngineImpl::IsStored(const BackupFile& file) const {
  FileInfo info;
  return fs_->GetInfo(directory_.StoredPath(file.stored), &info).ok() && info.is_regular && info.size == file.length;
}

void BackupEngineImpl::Sort(const Origin& from, const Capture& capture, const IsUsable& is_usable, BackupRecord* record,
                            std::vector<Source>* sources) const {
  for (const CapturedFile& file : capture.files) {
    const auto is_wanted = [&](const BackupFile& known) { return IsStored(known) && is_usable(file, known); };
    const BackupFile* const known = file.is_final ? directory_.Find(file, is_wanted) : nullptr;
    if (known != nullptr) {
      record->files.push_back(*known);
      record->files.back().name = file.name;
      continue;
    }
    BackupFile stored{.name = file.name, .length = file.length, .punched = file.punched, .cut = file.cut};
    stored.stored = StoredName(file.file_id, file.length, file.name.kind, file.punched, file.cut);
    // If the name is taken, a damaged record may need that file, or the file is damaged: do not overwrite it.
    FileInfo info;
    const bool is_free = fs_->GetInfo(directory_.StoredPath(stored.stored), &info).IsPathNotFound();
    if (!file.is_final || !is_free) stored.stored = UnsharedName(record->id, file.name);
    sources->push_back({FilePath(from.path, file.name.kind, file.name.number), std::move(stored), file.MayHaveHoles(),
                        file.log_end, &from.fs});
  }
}

Status BackupEngineImpl::StoreFiles(const CreateBackupOptions& options, const Origin& from, const Capture& capture,
                                    Work* work, BackupRecord* record, std::vector<std::string>* made) {
  const std::set<std::string> checked = directory_.CheckedFiles();
  const std::function<Status()> go_on = [work] { return work->GoOn(); };
  // A stored file that was never checked may have been damaged already when it was stored. If it is, or if it cannot be
  // read, the database's own file is stored again.
  const auto is_usable = [&](const CapturedFile& file, const BackupFile& known) {
    if (!options.verify_checksums || checked.contains(known.stored)) return true;
    const std::string path = directory_.StoredPath(known.stored);
    const Result<std::vector<FileDamage>> found = CheckContents(*fs_, capture.state, {file.name, path, path, 0}, go_on);
    return found.ok() && found->empty();
  };
  std::vector<Source> sources;
  Sort(from, capture, is_usable, record, &sources);
  CAMBIUM_RETURN_IF_ERROR(StageManifest(capture, record->id, &sources));
  for (const Source& source : sources) work->Expect(source.file.length);
  std::vector<FileDamage> damage;
  for (const Source& source : sources) {
    CAMBIUM_RETURN_IF_ERROR(StoreFile(source, work, record, made));
    if (!options.verify_checksums || !HasContents(source.file.name.kind)) continue;
    const std::string path = directory_.StoredPath(source.file.stored);
    CAMBIUM_TRY(const std::vector<FileDamage> found,
                CheckContents(*fs_, capture.state, {source.file.name, path, source.path, source.log_end}, go_on));
    for (const FileDamage& each : found) {
      if (each.part == DamagedPart::kNeeded) return Status::Corruption(each.what);
      damage.push_back(each);
    }
  }
  assert(record->files.size() == capture.files.size() + (capture.options_text.empty() ? 1 : 2) &&
         "every file, the OPTIONS file if there is one, and the MANIFEST");
  CAMBIUM_RETURN_IF_ERROR(JudgeNew(options, from.path, capture, *work, *record, damage));
  if (MutantIs(Mutant::kBackupSkipsDirectorySync)) return Status::OK();
  return fs_->SyncDirectory(directory_.FilesPath());
}

PathOf BackupEngineImpl::PathsOf(const BackupRecord& record) const {
  std::map<NumberedFile, std::string> paths;
  for (const BackupFile& file : record.files) paths[file.name] = directory_.StoredPath(file.stored);
  return [paths = std::move(paths)](const NumberedFile& name) {
    const auto found = paths.find(name);
    return found == paths.end() ? std::string() : found->second;
  };
}

Status BackupEngineImpl::JudgeNew(const CreateBackupOptions& options, const std::string& from, const Capture& capture,
                                  const Work& work, const BackupRecord& record,
                                  const std::vector<FileDamage>& damage) const {
  const auto go_on = [&work] { return work.GoOn(); };
  if (!damage.empty()) {
    CAMBIUM_RETURN_IF_ERROR(JudgeDamage(*fs_, capture.state, PathsOf(record), damage, options.on_dead_damage, go_on));
  }
  const bool has_options = capture.options_text.empty() || UnsealText(capture.options_text).has_value();
  if (options.verify_checksums && !has_options && options.on_dead_damage) {
    options.on_dead_damage(FilePath(from, FileKind::kOptions, capture.options_number) +
                           ":0: the checksum at the end does not match the file");
  }
  return Status::OK();
}

// Writes the MANIFEST and OPTIONS of the restored database into staging/, and adds them to *sources.
Status BackupEngineImpl::StageManifest(const Capture& capture, BackupID id, std::vector<Source>* sources) {
  const std::string staging = directory_.StagingPath();
  CAMBIUM_RETURN_IF_ERROR(fs_->CreateDirectory(staging));
  std::vector<NumberedFile> staged;
  if (!capture.options_text.empty()) {
    staged.push_back({FileKind::kOptions, capture.options_number});
    CAMBIUM_RETURN_IF_ERROR(WriteOptionsFile(*fs_, staging, capture.options_number, capture.options_text));
  }
  staged.push_back({FileKind::kManifest, capture.manifest_number});
  CAMBIUM_RETURN_IF_ERROR(
      Manifest::Create(*fs_, staging, capture.header, capture.manifest_number, capture.state).status());
  for (const NumberedFile& name : staged) {
    const std::string path = FilePath(staging, name.kind, name.number);
    FileInfo info;
    CAMBIUM_RETURN_IF_ERROR(fs_->GetInfo(path, &info));
    sources->push_back(
        {path, {.name = name, .length = info.size, .stored = UnsharedName(id, name)}, false, 0, nullptr});
  }
  return Status::OK();
}

Status BackupEngineImpl::StoreFile(const Source& source, Work* work, BackupRecord* record,
                                   std::vector<std::string>* made) {
  assert(IsStoredName(source.file.stored) && "RemoveUnneeded removes only such files");
  Checksum64Stream checksum(0);
  made->push_back(source.file.stored);
  const std::string to = directory_.StoredPath(source.file.stored);
  CAMBIUM_RETURN_IF_ERROR(
      CopyFile(*fs_, {source.path, to, source.file.length, source.has_holes, source.fs}, [&](Slice piece) {
        checksum.Update(piece);
        return work->Done(piece.size());
      }));
  CAMBIUM_FAULT_POINT("Backup:file");
  record->files.push_back(source.file);
  record->files.back().checksum = checksum.Digest();
  return Status::OK();
}

// ---- Deleting ----

Status BackupEngineImpl::DeleteBackup(BackupID id) {
  CAMBIUM_RETURN_IF_ERROR(CheckWritable());
  const MutexLock work_lock(work_mutex_);
  {
    const MutexLock lock(mutex_);
    CAMBIUM_RETURN_IF_ERROR(WithoutFatal(directory_.Remove(id)));
  }
  return directory_.RemoveUnneeded();
}

Status BackupEngineImpl::PurgeOldBackups(std::uint32_t num_backups_to_keep) {
  CAMBIUM_RETURN_IF_ERROR(CheckWritable());
  const MutexLock work_lock(work_mutex_);
  while (directory_.records().size() > num_backups_to_keep) {
    const MutexLock lock(mutex_);
    CAMBIUM_RETURN_IF_ERROR(WithoutFatal(directory_.Remove(directory_.records().begin()->first)));
  }
  return directory_.RemoveUnneeded();
}

Status BackupEngineImpl::GarbageCollect() {
  CAMBIUM_RETURN_IF_ERROR(CheckWritable());
  const MutexLock work_lock(work_mutex_);
  CAMBIUM_RETURN_IF_ERROR(directory_.RemoveUnneeded());
  if (directory_.damaged().empty()) return Status::OK();
  return Status::Corruption(options_.backup_dir + "/" + BackupRecordName(*directory_.damaged().begin()) +
                            ": cannot be read, so the files that it needs are unknown; delete it first");
}

// ---- Listing and verifying ----

std::vector<BackupInfo> BackupEngineImpl::GetBackupInfo() const {
  const MutexLock lock(mutex_);
  std::vector<BackupInfo> all;
  for (const auto& [id, record] : directory_.records()) {
    BackupInfo info;
    info.backup_id = id;
    info.timestamp = record.created_seconds;
    for (const BackupFile& file : record.files) info.size += file.length;
    info.number_files = static_cast<std::uint32_t>(record.files.size());
    info.sequence_number = record.sequence;
    info.app_metadata = record.metadata;
    info.is_checked = record.is_checked;
    all.push_back(std::move(info));
  }
  return all;
}

std::vector<BackupID> BackupEngineImpl::GetCorruptedBackups() const {
  const MutexLock lock(mutex_);
  return {directory_.damaged().begin(), directory_.damaged().end()};
}

Result<BackupRecord> BackupEngineImpl::Find(BackupID id) const {
  const MutexLock lock(mutex_);
  const std::string name = options_.backup_dir + "/" + BackupRecordName(id);
  if (directory_.damaged().contains(id)) return Status::Corruption(name + ": cannot be read");
  const auto found = directory_.records().find(id);
  if (found == directory_.records().end()) return Status::NotFound(name + ": there is no such backup");
  return found->second;
}

Status BackupEngineImpl::VerifyBackup(BackupID id, bool verify_with_checksum) {
  CAMBIUM_TRY(const BackupRecord record, Find(id));
  Work work(nullptr, nullptr, clock_.get(), &is_stopped_);
  for (const BackupFile& file : record.files) {
    const std::string path = directory_.StoredPath(file.stored);
    FileInfo info;
    const Status found = fs_->GetInfo(path, &info);
    if (found.IsPathNotFound()) return Status::Corruption(path + ": is missing");
    CAMBIUM_RETURN_IF_ERROR(found);
    if (info.size != file.length) {
      return Status::Corruption(path + ":" + std::to_string(info.size) + ": the file ends here; the record says " +
                                std::to_string(file.length) + " bytes");
    }
    if (!verify_with_checksum) continue;
    Checksum64Stream checksum(0);
    CAMBIUM_RETURN_IF_ERROR(ReadThrough(*fs_, path, file.length, [&](Slice piece) {
      checksum.Update(piece);
      return work.Done(piece.size());
    }));
    CAMBIUM_RETURN_IF_ERROR(CheckChecksum(path, file, checksum.Digest()));
  }
  return verify_with_checksum && !record.is_checked ? CheckStored(record, work) : Status::OK();
}

Status BackupEngineImpl::CheckStored(const BackupRecord& record, const Work& work) const {
  const std::function<Status()> go_on = [&work] { return work.GoOn(); };
  const PathOf path_of = PathsOf(record);
  ManifestRead manifest;
  for (const BackupFile& file : record.files) {
    if (file.name.kind != FileKind::kManifest) continue;
    CAMBIUM_RETURN_IF_ERROR(ReadManifestFile(*fs_, path_of(file.name), nullptr, &manifest));
  }
  const LogPosition& replay = manifest.state.replay;
  std::vector<FileDamage> damage;
  for (const BackupFile& file : record.files) {
    if (!HasContents(file.name.kind)) continue;
    const std::string path = path_of(file.name);
    // In a segment that is not sealed, the end of the log is known only up to the replay position.
    const std::uint64_t log_end = file.name.number == replay.segment ? replay.offset : 0;
    CAMBIUM_TRY(const std::vector<FileDamage> found,
                CheckContents(*fs_, manifest.state, {file.name, path, path, log_end}, go_on));
    damage.insert(damage.end(), found.begin(), found.end());
  }
  return damage.empty() ? Status::OK() : JudgeDamage(*fs_, manifest.state, path_of, damage, nullptr, go_on);
}

// ---- Restoring ----

Status BackupEngineImpl::RestoreDBFromBackup(const RestoreOptions& options, BackupID id, const std::string& directory) {
  CAMBIUM_RETURN_IF_ERROR(CheckIsOutside(*base_, directory, *fs_, options_.backup_dir));
  CAMBIUM_TRY(const BackupRecord record, Find(id));
  Work work(options.progress, options_.restore_rate_limiter.get(), clock_.get(), &is_stopped_);
  for (const BackupFile& file : record.files) work.Expect(file.length);
  const auto place = [&](FileSystem& there, const BackupFile& file, const std::string& to) {
    const std::string path = directory_.StoredPath(file.stored);
    const bool may_have_holes = file.name.kind == FileKind::kLog || file.name.kind == FileKind::kRelocation;
    Checksum64Stream checksum(0);
    const std::string target = FilePath(to, file.name.kind, file.name.number);
    CAMBIUM_RETURN_IF_ERROR(CopyFile(there, {path, target, file.length, may_have_holes, fs_.get()}, [&](Slice piece) {
      checksum.Update(piece);
      return work.Done(piece.size());
    }));
    return CheckChecksum(path, file, checksum.Digest());
  };
  return MakeWholeDirectory(base_, directory, true, [&](const std::shared_ptr<FileSystem>& fs, const std::string& to) {
    const auto is_manifest = [](const BackupFile& file) { return file.name.kind == FileKind::kManifest; };
    for (const BackupFile& file : record.files) {
      if (!is_manifest(file)) CAMBIUM_RETURN_IF_ERROR(place(*fs, file, to));
    }
    CAMBIUM_RETURN_IF_ERROR(fs->SyncDirectory(to));
    for (const BackupFile& file : record.files) {
      if (is_manifest(file)) CAMBIUM_RETURN_IF_ERROR(place(*fs, file, to));
    }
    return fs->SyncDirectory(to);
  });
}

// Never replaces a damaged newest backup by an older one, which has older data.
Result<BackupID> BackupEngineImpl::Latest() const {
  const MutexLock lock(mutex_);
  const BackupID newest = directory_.NewestId();
  if (newest == 0) return Status::NotFound(options_.backup_dir + ": there is no backup");
  const auto& records = directory_.records();
  const BackupID readable = records.empty() ? 0 : records.rbegin()->first;
  if (readable == newest || (readable != 0 && MutantIs(Mutant::kLatestSkipsDamaged))) return readable;
  return Status::Corruption(options_.backup_dir + "/" + BackupRecordName(newest) +
                            ": the newest backup cannot be read; " +
                            (readable == 0 ? std::string("there is no other")
                                           : "backup " + std::to_string(readable) + " is the newest that can be read"));
}

Status BackupEngineImpl::RestoreDBFromLatestBackup(const RestoreOptions& options, const std::string& directory) {
  CAMBIUM_TRY(const BackupID latest, Latest());
  return RestoreDBFromBackup(options, latest, directory);
}

// ---- Planning ----

Status BackupEngineImpl::PlanRestore(BackupID id, const std::string& directory, CopyPlan* plan) {
  if (plan == nullptr) return Status::InvalidArgument("PlanRestore: the plan is null");
  *plan = {};
  CAMBIUM_RETURN_IF_ERROR(CheckIsOutside(*base_, directory, *fs_, options_.backup_dir));
  if (id == 0) {
    CAMBIUM_TRY(id, Latest());
  }
  CAMBIUM_RETURN_IF_ERROR(VerifyBackup(id, false));
  CAMBIUM_TRY(const BackupRecord record, Find(id));
  CAMBIUM_RETURN_IF_ERROR(CheckWholeDirectory(*base_, directory));
  for (const BackupFile& file : record.files) PlanCopy(file.length, plan);
  return CheckPlanFits(*base_, ParentOf(directory), plan);
}

// backup_dir may not exist yet.
Status BackupEngineImpl::PlanNew(const std::string& path, CopyPlan* plan) {
  *plan = {};
  FileInfo info;
  const Status found = fs_->GetInfo(options_.backup_dir, &info);
  const bool exists = found.ok();
  if (!exists && !found.IsPathNotFound()) return found;
  if (!exists && !options_.create_if_missing) return found;
  if (exists) CAMBIUM_RETURN_IF_ERROR(StartToPlan());
  const std::string place = exists ? options_.backup_dir : ParentOf(options_.backup_dir);
  CAMBIUM_RETURN_IF_ERROR(fs_->GetInfo(place, &info));
  CAMBIUM_TRY(const std::shared_ptr<FileSystem> its_fs, AtDirectory(base_, path));
  CAMBIUM_RETURN_IF_ERROR(CheckIsOutside(*fs_, options_.backup_dir, *its_fs, path));
  std::unique_ptr<FileLock> lock;
  CAMBIUM_RETURN_IF_ERROR(its_fs->Lock(path, LockMode::kShared, options_.lock_wait_micros, &lock));
  CAMBIUM_TRY(const Capture capture, CaptureClosed(*its_fs, path, *RandomSource::Default()));
  BackupRecord record;
  CAMBIUM_TRY(record.id, directory_.NextId());
  std::vector<Source> sources;
  const auto is_usable = [](const CapturedFile&, const BackupFile&) { return true; };
  Sort({*its_fs, path}, capture, is_usable, &record, &sources);
  for (const BackupFile& file : record.files) {
    ++plan->shared_files;
    plan->shared_bytes += file.length;
  }
  for (const Source& source : sources) PlanCopy(source.file.length, plan);
  if (!capture.options_text.empty()) PlanCopy(capture.options_text.size(), plan);
  PlanCopy(Manifest::SizeOfNew(capture.state, capture.manifest_number), plan);
  return CheckPlanFits(*fs_, place, plan);
}

Status BackupEngineImpl::PlanDeletion(BackupID id, std::uint32_t num_backups_to_keep, std::vector<BackupID>* ids) {
  if (ids == nullptr) return Status::InvalidArgument("PlanDeletion: the list of ids is null");
  ids->clear();
  CAMBIUM_RETURN_IF_ERROR(StartToPlan());
  if (id != 0) {
    CAMBIUM_RETURN_IF_ERROR(directory_.CheckExists(id));
    ids->push_back(id);
    return Status::OK();
  }
  std::size_t left = directory_.records().size();
  for (const auto& [each, record] : directory_.records()) {
    if (left-- > num_backups_to_keep) ids->push_back(each);
  }
  return Status::OK();
}

}  // namespace

Status BackupEngine::PlanDeletion(const BackupEngineOptions& options, BackupID id, std::uint32_t num_backups_to_keep,
                                  std::vector<BackupID>* ids) {
  BackupEngineOptions existing = options;
  existing.create_if_missing = false;
  return BackupEngineImpl(existing).PlanDeletion(id, num_backups_to_keep, ids);
}

Status BackupEngine::PlanNewBackupOffline(const BackupEngineOptions& options, const std::string& path,
                                          CopyPlan* plan) {
  if (plan == nullptr) return Status::InvalidArgument("PlanNewBackupOffline: the plan is null");
  return BackupEngineImpl(options).PlanNew(path, plan);
}

Status BackupEngine::Open(const BackupEngineOptions& options, std::unique_ptr<BackupEngine>* engine) {
  if (engine == nullptr) return Status::InvalidArgument("BackupEngine::Open: the engine is null");
  engine->reset();
  auto opened = std::make_unique<BackupEngineImpl>(options);
  CAMBIUM_RETURN_IF_ERROR(opened->Start());
  *engine = std::move(opened);
  return Status::OK();
}

}  // namespace cambium
