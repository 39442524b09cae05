#include "manifest/manifest.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "io/new_file_guard.h"
#include "io/take_blocks.h"
#include "manifest/apply_edit.h"
#include "manifest/features.h"
#include "manifest/file_names.h"
#include "manifest/manifest_record.h"
#include "util/checksum.h"
#include "util/coding.h"
#include "util/mutant.h"
#include "util/mutex.h"

namespace cambium {
namespace {

// Derives an id from a random id and a file number with two hashes. It is as unique as a random one, and needs no
// random source.
Id128 FileIdOf(const Id128& drawn, std::uint64_t number) {
  std::string bytes(reinterpret_cast<const char*>(drawn.data()), drawn.size());
  PutFixed<std::uint64_t>(&bytes, number);
  Id128 id;
  EncodeFixed<std::uint64_t>(reinterpret_cast<char*>(id.data()), Checksum64(bytes, 0));
  EncodeFixed<std::uint64_t>(reinterpret_cast<char*>(id.data()) + 8, Checksum64(bytes, 1));
  return id;
}

Status CheckPayload(const std::string& payload) {
  if (payload.size() <= kManifestPayloadMax) return Status::OK();
  return Status::InvalidArgument("MANIFEST record of " + std::to_string(payload.size()) + " bytes; at most " +
                                 std::to_string(kManifestPayloadMax));
}

// Takes the space of a record before its first byte is written, so that a full disk leaves the file as it was. Most
// records fit into the file's last block.
Status TakeSpace(File* file, std::uint64_t offset, std::uint64_t length) {
  constexpr std::uint64_t kBlock = 4096;
  if (offset % kBlock != 0 && offset % kBlock + length <= kBlock) return Status::OK();
  return TakeBlocks(file, offset, length);
}

Status SyncCommitPoint(File* file) { return MutantIs(Mutant::kManifestSkipSync) ? Status::OK() : file->SyncData(); }

// The errors for a lack of memory after the write of a record. They are made before the write.
struct Lost {
  Status kept = Status::Aborted("memory ran out after a MANIFEST record was written").Fatal();
  Status returned = kept;
};

// The file that records are appended to.
struct CurrentFile {
  std::unique_ptr<File> file;
  std::uint64_t number = 0;
  Features features;           // in its header
  std::uint64_t seed = 0;
  std::uint64_t size = 0;      // written and synced
  std::uint64_t previous = 0;  // header checksum of the last record
  std::uint64_t size_max = 0;
};

}  // namespace

struct Manifest::Rep {
  Rep(FileSystem& file_system, std::string dir, const FileHeader& file_identity, std::uint64_t roll, const Meter& counts)
      : fs(file_system), directory(std::move(dir)), identity(file_identity), roll_bytes(roll), meter(counts) {}

  FileSystem& fs;
  const std::string directory;
  const FileHeader identity;
  const std::uint64_t roll_bytes;
  const Meter meter;

  mutable Mutex mutex;
  CurrentFile current CAMBIUM_GUARDED_BY(mutex);
  ManifestState state CAMBIUM_GUARDED_BY(mutex);
  StateIndex index CAMBIUM_GUARDED_BY(mutex);  // of `state`
  bool dead CAMBIUM_GUARDED_BY(mutex) = true;  // nothing may be appended to the current file
  bool has_written CAMBIUM_GUARDED_BY(mutex) = false;  // since NoteNothingWritten
  Status fatal CAMBIUM_GUARDED_BY(mutex);      // never changes once set

  [[nodiscard]] bool MustRoll() const CAMBIUM_REQUIRES(mutex) { return dead || current.size > current.size_max; }

  // A header never changes, so a new feature bit needs a new file.
  [[nodiscard]] bool LacksFeatureOf(const Edit& edit) const CAMBIUM_REQUIRES(mutex) {
    return !current.features.HasAll(FeaturesOf(edit));
  }

  [[nodiscard]] FileHeader HeaderOf(std::uint64_t number, const ManifestState& next) const CAMBIUM_REQUIRES(mutex) {
    FileHeader header;
    header.kind = FileKind::kManifest;
    const Features features = FeaturesOf(next);
    header.required_features = features.required;
    header.optional_features = features.optional;
    header.database_id = identity.database_id;
    header.file_id = current.number == 0 ? identity.file_id : FileIdOf(identity.file_id, number);
    header.number = number;
    header.epoch = next.epoch;
    header.created_seconds = identity.created_seconds;
    return header;
  }

  Status CheckNumber(std::uint64_t number) const {
    if (number == 0 || number >= kFileNumberMax) return Status::InvalidArgument("MANIFEST number out of range");
    CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(fs, directory));
    for (const NumberedFile& file : files) {
      if (file.kind != FileKind::kManifest || file.number < number) continue;
      return Status::InvalidArgument(FilePath(directory, FileKind::kManifest, file.number) +
                                     " exists; a new MANIFEST cannot have the number " + std::to_string(number));
    }
    return Status::OK();
  }

  // Only in a mutant: opens the newest old MANIFEST, to overwrite it. False if it does nothing.
  Result<bool> OverwriteNewest(std::uint64_t* number, std::unique_ptr<File>* file) const {
    if (!MutantIs(Mutant::kOverwriteManifest)) return false;
    CAMBIUM_TRY(const std::vector<NumberedFile> files, ListNumberedFiles(fs, directory));
    const auto newest = std::ranges::find_if(files.rbegin(), files.rend(), [](const NumberedFile& candidate) {
      return candidate.kind == FileKind::kManifest;
    });
    if (newest == files.rend()) return false;
    *number = newest->number;
    CAMBIUM_RETURN_IF_ERROR(
        fs.Open(FilePath(directory, FileKind::kManifest, *number), OpenMode::kReadWrite, FileOptions(), file));
    CAMBIUM_RETURN_IF_ERROR((*file)->Truncate(0));
    return true;
  }

  // Creates the new file.
  Status OpenNew(std::uint64_t* number, NewFileGuard* guard, std::unique_ptr<File>* file) const {
    CAMBIUM_TRY(const bool is_open, OverwriteNewest(number, file));
    return is_open ? Status::OK() : guard->Create(file);
  }

  // Only in a mutant: later edits follow the remains of a failed append of `size` bytes. False if it does nothing.
  bool AppendsAfterRemains(std::size_t size) CAMBIUM_REQUIRES(mutex) {
    if (!MutantIs(Mutant::kManifestAppendAfterFailure)) return false;
    current.size += size;
    return true;
  }

  // Creates file `number` with the snapshot `next`, and makes it the current file and `next` the state.
  //
  // A file whose write fails is removed. On a full disk every commit may start one, and each would keep the space that
  // was freed in between. If the file reappears after a crash, a file with a higher number supersedes it, or the state
  // in it is one that the failed commit may have left.
  Status Start(std::uint64_t number, ManifestState next, StateIndex next_index) CAMBIUM_REQUIRES(mutex) {
    next.next_file_number = std::max(next.next_file_number, number + 1);
    const std::string payload = EncodeEdit(SnapshotEdit(next));
    CAMBIUM_RETURN_IF_ERROR(CheckPayload(payload));
    CAMBIUM_RETURN_IF_ERROR(CheckNumber(number));
    Lost lost;
    NewFileGuard guard(&fs, FilePath(directory, FileKind::kManifest, number));
    CurrentFile made;
    CAMBIUM_RETURN_IF_ERROR(OpenNew(&number, &guard, &made.file));

    const FileHeader header = HeaderOf(number, next);
    std::string bytes = EncodeFileHeader(header);
    const auto header_checksum = DecodeFixed<std::uint64_t>(bytes.data() + kFileHeaderSize - 8);
    made.number = number;
    made.features = {header.required_features, header.optional_features};
    made.seed = header.Seed();
    made.previous = AppendManifestRecord(ManifestRecordType::kSnapshot, payload, made.seed, kFileHeaderSize,
                                         header_checksum, &bytes);
    made.size = bytes.size();
    made.size_max = MutantIs(Mutant::kManifestRollsAtFourMiB) ? 4u << 20 : roll_bytes + 2 * made.size;
    meter.Tick(FILE_BYTES_MANIFEST, bytes.size());
    if (Status status = WriteNew(bytes, made.file.get()); !status.ok()) {
      made.file.reset();
      if (MutantIs(Mutant::kKeepFailedManifest)) guard.Keep();
      return status;
    }
    guard.Keep();
    CAMBIUM_RETURN_IF_ERROR(SyncWritten(made.file.get(), /*is_new=*/true, &lost));

    current = std::move(made);
    state = std::move(next);
    index = std::move(next_index);
    dead = false;
    RemoveOlder();
    return Status::OK();
  }

  Status WriteNew(const std::string& bytes, File* file) CAMBIUM_REQUIRES(mutex) {
    CAMBIUM_RETURN_IF_ERROR(TakeSpace(file, 0, bytes.size()));
    // The old file is dead from here on: once the new file has bytes, a reader may choose it.
    dead = dead || !MutantIs(Mutant::kReuseManifestAfterFailedRoll);
    has_written = true;
    return file->Write(0, bytes);
  }

  // Syncs what was written to `file`, and the directory if the file is new. Any failure is fatal, also a lack of
  // memory: it may hide a failed sync.
  Status SyncWritten(File* file, bool is_new, Lost* lost) CAMBIUM_REQUIRES(mutex) {
    assert(fatal.ok() && "no commit comes after a fatal error");
    Status failed;
    try {
      failed = SyncCommitPoint(file);
      const bool syncs_directory = is_new && !MutantIs(Mutant::kSkipManifestDirectorySync);
      if (failed.ok() && syncs_directory) failed = fs.SyncDirectory(directory);
      if (failed.ok()) return failed;
      failed = failed.Fatal();
      lost->kept = failed;
    } catch (const std::bad_alloc&) {
      if (failed.severity() != Status::Severity::kFatal) failed = std::move(lost->returned);
    }
    fatal = std::move(lost->kept);
    return failed;
  }

  // Only tidies up: a reader never chooses an older file that remains.
  void RemoveOlder() const CAMBIUM_REQUIRES(mutex) {
    try {
      const Result<std::vector<NumberedFile>> files = ListNumberedFiles(fs, directory);
      if (!files.ok()) return;
      for (const NumberedFile& file : *files) {
        if (file.kind != FileKind::kManifest || file.number >= current.number) continue;
        (void)fs.Unlink(FilePath(directory, file.kind, file.number));
      }
    } catch (const std::bad_alloc&) {  // the new file is durable: the commit has succeeded
    }
  }

  Status Append(const Edit& edit, StagedEdit staged) CAMBIUM_REQUIRES(mutex) {
    assert(!dead && current.file != nullptr);
    const std::string payload = EncodeEdit(edit);
    CAMBIUM_RETURN_IF_ERROR(CheckPayload(payload));
    std::string bytes;
    const std::uint64_t checksum =
        AppendManifestRecord(ManifestRecordType::kEdit, payload, current.seed, current.size, current.previous, &bytes);
    Lost lost;
    meter.Tick(FILE_BYTES_MANIFEST, bytes.size());
    CAMBIUM_RETURN_IF_ERROR(TakeSpace(current.file.get(), current.size, bytes.size()));
    has_written = true;
    dead = true;  // also if memory runs out: the file may have a part of the record
    if (Status status = current.file->Write(current.size, bytes); !status.ok()) {
      dead = !AppendsAfterRemains(bytes.size());
      return status;
    }
    CAMBIUM_RETURN_IF_ERROR(SyncWritten(current.file.get(), /*is_new=*/false, &lost));
    current.size += bytes.size();
    current.previous = checksum;
    dead = false;
    try {
      Install(std::move(staged), &state, &index);
      const bool has_excess = !edit.drop_families.empty() && !FeaturesOf(state).HasAll(current.features);
      if (has_excess) current.size_max = 0;  // the next commit starts a file without the bit
    } catch (const std::bad_alloc&) {
      fatal = std::move(lost.kept);
      return std::move(lost.returned);
    }
    return Status::OK();
  }
};

Manifest::Manifest(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) {}
Manifest::~Manifest() = default;

Result<std::unique_ptr<Manifest>> Manifest::Create(FileSystem& fs, const std::string& directory,
                                                   const FileHeader& identity, std::uint64_t number,
                                                   const ManifestState& state, std::uint64_t roll_bytes,
                                                   const Meter& meter) {
  CAMBIUM_RETURN_IF_ERROR(state.Check());
  if (state.database_id == Id128{}) return Status::InvalidArgument("the database id of a MANIFEST is zero");
  FileHeader own = identity;
  own.database_id = state.database_id;
  auto rep = std::make_unique<Rep>(fs, directory, own, roll_bytes, meter);
  {
    const MutexLock lock(rep->mutex);
    CAMBIUM_RETURN_IF_ERROR(rep->Start(number, state, StateIndex(state)));
  }
  return std::unique_ptr<Manifest>(new Manifest(std::move(rep)));
}

std::uint64_t Manifest::SizeOfNew(const ManifestState& state, std::uint64_t number) {
  ManifestState next = state;
  next.next_file_number = std::max(next.next_file_number, number + 1);
  const std::uint64_t payload = EncodeEdit(SnapshotEdit(next)).size();
  return kFileHeaderSize + kManifestRecordHeaderSize +
         (payload + kManifestRecordAlignment - 1) / kManifestRecordAlignment * kManifestRecordAlignment;
}

Status Manifest::Commit(const Edit& edit, std::uint64_t next_number, bool must_roll) {
  const MutexLock lock(rep_->mutex);
  if (!rep_->fatal.ok()) return rep_->fatal;
  if (edit.database_id.has_value()) return Status::InvalidArgument("the id of a database never changes");
  CAMBIUM_TRY(StagedEdit staged, StageEdit(edit, rep_->state, rep_->index));
  must_roll = must_roll || rep_->LacksFeatureOf(edit);
  if (!must_roll && !rep_->MustRoll()) return rep_->Append(edit, std::move(staged));
  ManifestState next = rep_->state;
  StateIndex next_index = rep_->index;
  Install(StagedEdit(staged), &next, &next_index);
  Status status = rep_->Start(next_number, std::move(next), std::move(next_index));
  // A file that is only too large still takes the edit if nothing was written to the new one (no space, say).
  if (status.IsIOError() && !rep_->dead && !must_roll) return rep_->Append(edit, std::move(staged));
  return status;
}

const ManifestState& Manifest::state() const
    CAMBIUM_NO_THREAD_SAFETY_ANALYSIS("the caller sees to it that no commit is under way") {
  return rep_->state;
}

const StateIndex& Manifest::index() const
    CAMBIUM_NO_THREAD_SAFETY_ANALYSIS("the caller sees to it that no commit is under way") {
  return rep_->index;
}

std::uint64_t Manifest::number() const {
  const MutexLock lock(rep_->mutex);
  return rep_->current.number;
}

std::uint64_t Manifest::file_size() const {
  const MutexLock lock(rep_->mutex);
  return rep_->current.size;
}

void Manifest::RollSoon() {
  const MutexLock lock(rep_->mutex);
  rep_->current.size_max = 0;
}

bool Manifest::HasWritten() const {
  const MutexLock lock(rep_->mutex);
  return rep_->has_written;
}

void Manifest::NoteNothingWritten() {
  const MutexLock lock(rep_->mutex);
  rep_->has_written = false;
}

bool Manifest::WillRoll(const Edit& edit) const {
  const MutexLock lock(rep_->mutex);
  return rep_->MustRoll() || rep_->LacksFeatureOf(edit);
}

}  // namespace cambium
