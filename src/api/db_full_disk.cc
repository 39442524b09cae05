// The full disk: a reserve for it, what is done when there is no space, and who may still write.
//
//                        somebody finds no space: the reserve is given back
//        ┌──────────────┐ ───────────────────────────────────────────────▶ ┌───────────────────────────────────┐
//        │ puts, deletes │                                                  │ deletes; flush, merge, collect, in │
//        └──────────────┘ ◀─────────────────────────────────────────────── │ steps that fit; puts get NoSpace    │
//                        the reserve could be made again, and more is free   └───────────────────────────────────┘
//
// A batch of deletes takes a first part of what was given back, jobs have the rest: so that what turns deletes into free
// space always has room to begin. Each time that part is used up the next delete waits until the jobs have done what they
// can, and then goes on, whatever came of them.
#include <algorithm>
#include <limits>

#include "api/db_impl.h"
#include "gc/reserve.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::uint64_t kTickMicros = 1'000'000;
constexpr std::size_t kZerosAtOnce = 1u << 20;
// A delete waits for so many jobs at most: others may keep them busy for ever.
constexpr std::uint64_t kJobsToAwait = 256;
// A MANIFEST of so many bytes is mostly what is no longer so.
constexpr std::uint64_t kManifestBytesToRoll = 64u << 10;

std::uint64_t Releasable(std::uint64_t reserve_bytes) { return reserve_bytes - KeptForOpening(reserve_bytes); }

// Where space cannot be taken, zeros take it.
Status WriteZeros(File* file, std::uint64_t from, std::uint64_t to) {
  const std::string zeros(std::min<std::uint64_t>(kZerosAtOnce, to - from), '\0');
  for (std::uint64_t at = from; at < to; at += zeros.size()) {
    CAMBIUM_RETURN_IF_ERROR(file->Write(at, Slice(zeros.data(), std::min<std::uint64_t>(zeros.size(), to - at))));
  }
  return Status::OK();
}

}  // namespace

// ---- Who may write ----

Status DbImpl::CheckGrowth() {
  if (!IsDiskFull() || MutantIs(Mutant::kPutsEatReserve)) return Status::OK();
  const std::uint64_t wanted = full_disk_.wanted_bytes.load(std::memory_order_relaxed);
  const std::uint64_t has = full_disk_.reserve_bytes.load(std::memory_order_relaxed);
  std::uint64_t free = 0;
  if (fs_->FreeSpace(path_, &free).ok() && free >= FreeBytesToGoOn(wanted - std::min(has, wanted), wanted)) {
    ScheduleIfPossible(Job::kReserve);
  }
  return Status::NoSpace(path_ + ": the disk is full; only deletes are taken until there is space again");
}

// What of the reserve is not there yet is left for it.
std::uint64_t DbImpl::BytesToLeave() const {
  const std::uint64_t wanted = full_disk_.wanted_bytes.load(std::memory_order_relaxed);
  const std::uint64_t has = full_disk_.reserve_bytes.load(std::memory_order_relaxed);
  return kFreeBytesLeft + wanted - std::min(has, wanted);
}

Status DbImpl::CheckFree(std::uint64_t bytes, std::uint64_t left, std::uint64_t* free) const {
  if (!fs_->FreeSpace(path_, free).ok()) *free = std::numeric_limits<std::uint64_t>::max();
  if (*free >= bytes + left || MutantIs(Mutant::kPutsEatReserve)) return Status::OK();
  return Status::NoSpace(path_ + ": " + std::to_string(*free) + " bytes are free on the disk, and " +
                         std::to_string(bytes) + " more would not leave " + std::to_string(left));
}

Status DbImpl::CheckRoomForFile(std::uint64_t bytes) {
  if (full_disk_.wanted_bytes.load(std::memory_order_relaxed) == 0) return Status::OK();
  full_disk_.look_at.store(0, std::memory_order_relaxed);  // it is no part of the log
  std::uint64_t free = 0;
  return CheckFree(bytes, BytesToLeave(), &free);
}

// Also makes memory tables smaller, the fuller the disk is: what the reserve has to be enough for is the flush of what is
// in them when nothing else is left.
Status DbImpl::LookAtFreeSpace(std::uint64_t bytes, bool only_deletes, bool is_last_try) {
  const std::uint64_t wanted = full_disk_.wanted_bytes.load(std::memory_order_relaxed);
  if (wanted == 0) return Status::OK();
  std::uint64_t free = 0;
  if (IsDiskFull()) {
    if (!only_deletes) return CheckGrowth();
    return CheckFree(bytes, Releasable(wanted) / (is_last_try ? 8 : 2), &free);
  }
  const std::uint64_t logged = logged_bytes_.load(std::memory_order_relaxed);
  if (logged + bytes < full_disk_.look_at.load(std::memory_order_relaxed)) return Status::OK();
  CAMBIUM_RETURN_IF_ERROR(CheckFree(bytes, BytesToLeave(), &free));
  full_disk_.look_at.store(logged + BytesUntilNextLook(free), std::memory_order_relaxed);
  const std::uint64_t reserve = full_disk_.reserve_bytes.load(std::memory_order_relaxed);
  const std::shared_ptr<const View> view = view_.Pin();
  std::uint64_t in_tables = 0;
  for (const FamilyView& each : view->families) in_tables += each.active->memory_bytes();
  if (in_tables <= TableBytesMax(free, Releasable(reserve))) return Status::OK();
  for (const FamilyView& each : view->families) {
    Family& family = *each.family;
    if (family.dropped.load(std::memory_order_relaxed) || family.active->empty() || !each.frozen.empty()) continue;
    Freeze(&family, FlushReason::kSpace);
  }
  return Status::OK();
}

void DbImpl::MakeRoomForDeletes() {
  if (logged_bytes_.load(std::memory_order_relaxed) < full_disk_.rescue_at.load(std::memory_order_relaxed)) return;
  AwaitRescue();
}

// ---- What is done ----

void DbImpl::OnNoSpace() {
  if (read_only_ || closing_.load(std::memory_order_relaxed)) return;
  const std::uint64_t had = full_disk_.reserve_bytes.load(std::memory_order_relaxed);
  if (had == 0 && full_disk_.wanted_bytes.load(std::memory_order_relaxed) == 0) return;
  if (full_disk_.is_on.exchange(true)) return;
  ReleaseReserve();
  {
    const std::lock_guard lock(commit_mutex_);
    if (manifest_->file_size() >= kManifestBytesToRoll) manifest_->RollSoon();
  }
  const std::uint64_t has = full_disk_.reserve_bytes.load(std::memory_order_relaxed);
  logger_->Log(InfoLogLevel::kWarn, "the disk is full: " + std::to_string(had - std::min(has, had)) +
                                        " bytes of the reserve are given back, and only deletes are taken");
  if (!full_disk_.is_ticking.exchange(true)) TickFullDisk();
  StartRescue();
}

std::uint64_t DbImpl::StepOnFullDisk() const {
  constexpr std::uint64_t kLeast = 16u << 10;
  return std::max(kLeast, Releasable(full_disk_.wanted_bytes.load(std::memory_order_relaxed)) / 4);
}

// In the order of their tasks: what nobody refers to is removed, tables are flushed, runs merged, and then log GC looks
// for what it has room for.
void DbImpl::StartRescue() {
  full_disk_.rescue_at.store(logged_bytes_.load(std::memory_order_relaxed) + StepOnFullDisk(),
                             std::memory_order_relaxed);
  SpacePlan plan;
  plan.flush = plan.seal = plan.merge = plan.collect = true;
  StartSpaceJobs(plan);
}

void DbImpl::AwaitRescue() {
  StartRescue();
  const CountScope stalls(&stalled_writers_);
  const auto ended = [this] {
    std::uint64_t sum = 0;
    ForEachJob([&sum](Job, const std::shared_ptr<Family>&, const JobState* state) { sum += state->ended; });
    return sum;
  };
  std::uint64_t seen = 0;
  {
    const std::lock_guard lock(background_mutex_);
    seen = ended();
  }
  // A fatal error is what the write itself will say.
  static_cast<void>(WaitUntil([&] { return !HasSpaceJob() || ended() - seen >= kJobsToAwait; }));
}

void DbImpl::TickFullDisk() noexcept {
  try {
    executor_->ScheduleAfter(kTickMicros, TaskPriority::kNormal, [target = tick_target_] {
      const std::lock_guard lock(target->mutex);
      if (target->db == nullptr) return;
      FullDisk& disk = target->db->full_disk_;
      if (!disk.is_on.load()) return disk.is_ticking.store(false);
      disk.is_rescue_due.store(true);
      target->db->ScheduleIfPossible(Job::kReserve);
      target->db->TickFullDisk();
    });
  } catch (...) {  // no memory for it; whoever finds no space next, or frees some, looks again
    full_disk_.is_ticking.store(false);
  }
}

// ---- The reserve ----

bool DbImpl::ReserveIsDue() const {
  return IsDiskFull() || IsWorthResizing(full_disk_.reserve_bytes.load(std::memory_order_relaxed),
                                         full_disk_.wanted_bytes.load(std::memory_order_relaxed));
}

// That it could not be made is no error: writers have the space instead, and it is tried again with the next job.
Status DbImpl::MakeReserve() {
  const std::uint64_t wanted = full_disk_.wanted_bytes.load(std::memory_order_relaxed);
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(commit_mutex_);
    number = next_file_number_++;
  }
  Status made;
  bool is_over = false;
  {
    const std::lock_guard lock(full_disk_.mutex);
    const std::uint64_t has = full_disk_.reserve_bytes.load(std::memory_order_relaxed);
    if (IsDiskFull()) {
      std::uint64_t free = 0;
      is_over = !fs_->FreeSpace(path_, &free).ok() || free >= FreeBytesToGoOn(wanted - std::min(has, wanted), wanted);
    }
    if (is_over || (!IsDiskFull() && IsWorthResizing(has, wanted))) made = ResizeReserve(number, wanted);
    is_over = is_over && made.ok();
    if (is_over) full_disk_.is_on.store(false);
  }
  if (is_over) logger_->Log(InfoLogLevel::kInfo, "there is space again, and a reserve is kept of it");
  if (IsDiskFull() && full_disk_.is_rescue_due.exchange(false)) StartRescue();
  if (!made.IsNoSpace() || made.severity() == Status::Severity::kFatal) return made;
  logger_->Log(InfoLogLevel::kInfo, "no reserve for a full disk could be made: " + made.ToString());
  return Status::OK();
}

Status DbImpl::ResizeReserve(std::uint64_t number, std::uint64_t bytes) {
  const std::uint64_t has = full_disk_.reserve_bytes.load(std::memory_order_relaxed);
  if (bytes == 0) {
    DropReserve();
    return Status::OK();
  }
  const bool is_new = full_disk_.file == nullptr;
  if (is_new) {
    CAMBIUM_RETURN_IF_ERROR(
        fs_->Open(FilePath(path_, FileKind::kReserve, number), OpenMode::kCreateNew, {}, &full_disk_.file));
    full_disk_.number = number;
  }
  File& file = *full_disk_.file;
  Status resized;
  if (bytes <= has) {
    resized = file.Truncate(bytes);
  } else {
    if (is_new) {
      meter_.Tick(FILE_BYTES_OTHER, kFileHeaderSize);
      resized = file.Write(0, EncodeFileHeader(HeaderFor(FileKind::kReserve, number)));
    }
    const std::uint64_t from = is_new ? kFileHeaderSize : has;
    if (resized.ok()) resized = file.Allocate(from, bytes - from, /*grow=*/true);
    if (resized.IsNotSupported()) {
      meter_.Tick(FILE_BYTES_OTHER, bytes - from);
      resized = WriteZeros(&file, from, bytes);
    }
  }
  // It is there for the next opening, too.
  if (resized.ok()) resized = Judge(file.SyncData());
  if (resized.ok() && is_new) resized = SyncDirectory();
  if (resized.ok()) {
    full_disk_.reserve_bytes.store(bytes, std::memory_order_relaxed);
  } else if (is_new) {
    DropReserve();
  } else {
    static_cast<void>(file.Truncate(has));
  }
  return resized;
}

void DbImpl::ReleaseReserve() {
  if (MutantIs(Mutant::kReserveStays)) return;
  const std::lock_guard lock(full_disk_.mutex);
  if (full_disk_.file == nullptr) return;
  const std::uint64_t has = full_disk_.reserve_bytes.load(std::memory_order_relaxed);
  const std::uint64_t wanted = full_disk_.wanted_bytes.load(std::memory_order_relaxed);
  const std::uint64_t kept = KeptForOpening(std::max(has, wanted));
  if (has <= kept) return;
  const Status cut = full_disk_.file->Truncate(kept);
  if (cut.ok()) {
    full_disk_.reserve_bytes.store(kept, std::memory_order_relaxed);
  } else {
    DropReserve();  // a file system that writes elsewhere may have no room to make a file smaller, but to remove it
  }
}

void DbImpl::DropReserve() {
  if (full_disk_.number == 0) return;
  full_disk_.file.reset();
  const Status removed = Unlink(FileKind::kReserve, std::exchange(full_disk_.number, 0));
  full_disk_.reserve_bytes.store(0, std::memory_order_relaxed);
  if (!removed.ok()) logger_->Log(InfoLogLevel::kWarn, "could not remove the reserve: " + removed.ToString());
}

// Whatever is no reserve, or somebody's copy by link, goes or stays with the orphans.
void DbImpl::AdoptReserve(const std::vector<NumberedFile>& files) {
  for (const NumberedFile& found : files) {
    if (found.kind != FileKind::kReserve || full_disk_.number != 0) continue;
    std::unique_ptr<File> file;
    if (!fs_->Open(FilePath(path_, found.kind, found.number), OpenMode::kReadWrite, {}, &file).ok()) continue;
    const Result<FileHeader> header = ReadFileHeader(*file, found.kind, found.number);
    FileInfo info;
    if (!header.ok() || header->database_id != database_id_ || !file->GetInfo(&info).ok()) continue;
    if (info.link_count != 1) continue;
    full_disk_.reserve_bytes.store(std::min(info.size, info.allocated_bytes), std::memory_order_relaxed);
    full_disk_.number = found.number;
    full_disk_.file = std::move(file);
  }
}

// The new MANIFEST needs space before it frees any, and in a sync it would be too late to learn that there is none.
void DbImpl::MakeRoomForManifest(const ManifestState& state) {
  if (MutantIs(Mutant::kOpeningKeepsReserve)) return;
  constexpr std::uint64_t kBytesOfFile = 256;  // of the MANIFEST, for each file that it names
  std::uint64_t files = state.segments.size();
  for (const auto& [id, family] : state.families) {
    files += family.runs.size() + family.index_segments.size() + family.level_runs.size();
  }
  std::uint64_t free = 0;
  if (!fs_->FreeSpace(path_, &free).ok() || free >= kFreeBytesLeft + files * kBytesOfFile) return;
  DropReserve();
}

}  // namespace cambium
