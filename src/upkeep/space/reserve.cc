// The reserve: a file that occupies space, which is released on a full disk.
#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "gc/reserve.h"
#include "io/file_header.h"
#include "manifest/edit.h"
#include "upkeep/space/disk_keeper.h"
#include "util/mutant.h"

namespace cambium {
namespace {

constexpr std::size_t kZerosAtOnce = 1u << 20;

// Writes zeros, for file systems that cannot allocate space.
Status WriteZeros(File* file, std::uint64_t from, std::uint64_t to) {
  const std::string zeros(std::min<std::uint64_t>(kZerosAtOnce, to - from), '\0');
  for (std::uint64_t at = from; at < to; at += zeros.size()) {
    CAMBIUM_RETURN_IF_ERROR(file->Write(at, Slice(zeros.data(), std::min<std::uint64_t>(zeros.size(), to - at))));
  }
  return Status::OK();
}

}  // namespace

// If the disk has no space for the reserve, this is no error: writers may use the space, and a later job tries again.
Status DiskKeeper::MakeReserve() {
  const std::uint64_t wanted = disk_.wanted_bytes.load(std::memory_order_relaxed);
  const std::uint64_t number = commits_.NewFileNumber();
  Status made;
  bool is_over = false;
  {
    const MutexLock lock(disk_.mutex);
    is_over = disk_.IsFull() && IsRoomToGoOn();
    const std::uint64_t has = disk_.reserve_bytes.load(std::memory_order_relaxed);
    if (is_over || (!disk_.IsFull() && IsWorthResizing(has, wanted))) made = ResizeReserve(number, wanted);
    is_over = is_over && made.ok();
    if (is_over) disk_.is_on.store(false);
  }
  if (is_over) db_.logger->Log(InfoLogLevel::kInfo, "the disk has space again, and a reserve is kept");
  if (disk_.IsFull() && disk_.is_rescue_due.exchange(false)) StartRescue();
  if (!made.IsNoSpace() || made.severity() == Status::Severity::kFatal) return made;
  db_.logger->Log(InfoLogLevel::kInfo, "no reserve for a full disk could be made: " + made.ToString());
  return Status::OK();
}

Status DiskKeeper::ResizeReserve(std::uint64_t number, std::uint64_t bytes) {
  const std::uint64_t has = disk_.reserve_bytes.load(std::memory_order_relaxed);
  if (bytes == 0) {
    DropReserve();
    return Status::OK();
  }
  const bool is_new = disk_.file == nullptr;
  assert(is_new == (disk_.number == 0) && (!is_new || has == 0));
  if (is_new) {
    CAMBIUM_RETURN_IF_ERROR(db_.fs->Open(db_.PathOf(FileKind::kReserve, number), OpenMode::kCreateNew, {}, &disk_.file));
    disk_.number = number;
  }
  File& file = *disk_.file;
  Status resized = bytes <= has ? file.Truncate(bytes) : GrowReserve(number, has, bytes, is_new);
  // Synced, because the next Open uses it.
  if (resized.ok()) resized = DbContext::JudgeSync(file.SyncData());
  if (resized.ok() && is_new) resized = db_.SyncDirectory();
  if (resized.ok()) {
    disk_.reserve_bytes.store(bytes, std::memory_order_relaxed);
  } else if (is_new) {
    DropReserve();
  } else {
    static_cast<void>(file.Truncate(has));
  }
  return resized;
}

Status DiskKeeper::GrowReserve(std::uint64_t number, std::uint64_t has, std::uint64_t bytes, bool is_new) {
  File& file = *disk_.file;
  if (is_new) {
    db_.meter.Tick(FILE_BYTES_OTHER, kFileHeaderSize);
    CAMBIUM_RETURN_IF_ERROR(file.Write(0, EncodeFileHeader(db_.HeaderFor(FileKind::kReserve, number))));
  }
  const std::uint64_t from = is_new ? kFileHeaderSize : has;
  const Status allocated = file.Allocate(from, bytes - from, /*grow=*/true);
  if (!allocated.IsNotSupported()) return allocated;
  db_.meter.Tick(FILE_BYTES_OTHER, bytes - from);
  return WriteZeros(&file, from, bytes);
}

std::uint64_t DiskKeeper::reserve_number() const {
  const MutexLock lock(disk_.mutex);
  return disk_.number;
}

void DiskKeeper::ReleaseReserve() {
  if (MutantIs(Mutant::kKeepReserveOnFullDisk)) return;
  const MutexLock lock(disk_.mutex);
  if (disk_.file == nullptr) return;
  const std::uint64_t has = disk_.reserve_bytes.load(std::memory_order_relaxed);
  const std::uint64_t wanted = disk_.wanted_bytes.load(std::memory_order_relaxed);
  const std::uint64_t for_open = disk_.bytes_for_open.load(std::memory_order_relaxed);
  const std::uint64_t kept = std::max(KeptForOpen(std::max(has, wanted)), std::min(for_open, wanted / 2));
  if (has <= kept) return;
  const Status cut = disk_.file->Truncate(kept);
  if (cut.ok()) {
    disk_.reserve_bytes.store(kept, std::memory_order_relaxed);
  } else {
    DropReserve();  // a full copy-on-write file system may fail to truncate a file, but can remove it
  }
}

void DiskKeeper::DropReserve() {
  if (disk_.number == 0) return;
  disk_.file.reset();
  disk_.reserve_bytes.store(0, std::memory_order_relaxed);  // first: the path below takes memory
  const Status removed = db_.Unlink(FileKind::kReserve, std::exchange(disk_.number, 0));
  if (!removed.ok()) db_.logger->Log(InfoLogLevel::kWarn, "could not remove the reserve: " + removed.ToString());
}

// A file that is not a valid reserve, or that has a second name, is later removed as an orphan.
void DiskKeeper::AdoptReserve(const std::vector<NumberedFile>& files) {
  const MutexLock lock(disk_.mutex);
  for (const NumberedFile& found : files) {
    if (found.kind != FileKind::kReserve || disk_.number != 0) continue;
    std::unique_ptr<File> file;
    if (!db_.fs->Open(db_.PathOf(found.kind, found.number), OpenMode::kReadWrite, {}, &file).ok()) continue;
    const Result<FileHeader> header = ReadFileHeader(*file, found.kind, found.number);
    FileInfo info;
    if (!header.ok() || header->database_id != db_.database_id || !file->GetInfo(&info).ok()) continue;
    if (info.link_count != 1) continue;
    disk_.reserve_bytes.store(std::min(info.size, info.allocated_bytes), std::memory_order_relaxed);
    disk_.number = found.number;
    disk_.file = std::move(file);
  }
  // Offline, space is not measured, so the reserve keeps its size.
  if (!db_.is_offline || MutantIs(Mutant::kCompactLogDropsReserve)) return;
  disk_.wanted_bytes.store(disk_.reserve_bytes.load(std::memory_order_relaxed));
}

// The new MANIFEST takes space before it frees any. If a sync were the first call to notice that there is no space, it
// would be too late.
void DiskKeeper::MakeRoomForManifest(const ManifestState& state) {
  if (MutantIs(Mutant::kOpenKeepsReserve)) return;
  constexpr std::uint64_t kPlenty = 1u << 30;  // more than any MANIFEST
  std::uint64_t free = 0;
  if (!db_.fs->FreeSpace(db_.path, &free).ok() || free >= kPlenty) return;
  if (free >= kFreeBytesLeft + EncodeEdit(SnapshotEdit(state)).size()) return;
  const MutexLock lock(disk_.mutex);
  DropReserve();
}

void DiskKeeper::ReleaseFile() {
  const MutexLock lock(disk_.mutex);
  disk_.file.reset();
}

}  // namespace cambium
