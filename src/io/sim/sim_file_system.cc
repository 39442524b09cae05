#include "io/sim/sim_file_system.h"

#include <algorithm>
#include <cassert>

#include "io/sim/sim_file.h"
#include "io/sim/sim_map.h"
#include "io/sim/sim_open_directory.h"
#include "io/sim/sim_read_queue.h"

namespace cambium {

class SimFileLock final : public FileLock {
 public:
  SimFileLock(SimFileSystem* file_system, SimInodeId directory, LockMode mode)
      : file_system_(file_system), directory_(directory), mode_(mode) {}
  ~SimFileLock() override { file_system_->Unlock(directory_, mode_); }

 private:
  SimFileSystem* const file_system_;
  const SimInodeId directory_;
  const LockMode mode_;
};

namespace {

Status NoSuchFile(const std::string& path) { return Status::PathNotFound(path + ": no such file or directory"); }

}  // namespace

SimFileSystem::SimFileSystem(SimOptions options) : SimFileSystem(SimImage(), std::move(options)) {}

SimFileSystem::SimFileSystem(const SimImage& image, SimOptions options)
    : options_(std::move(options)),
      disk_(image.disk()),
      prng_(options_.seed),
      quota_bytes_(options_.quota_bytes),
      max_open_files_(options_.max_open_files) {
  disk_.set_name_rule(options_.names);
}

SimFileSystem::~SimFileSystem() { assert(open_.empty() && locks_.empty()); }

// Calls, hooks and faults

Status SimFileSystem::CheckCall(SimOpKind kind, const std::string& path, std::optional<SimFault>* fault) {
  if (!powered_) return Status::IOError(path + ": the power is off");
  if (const SimFault* hit = faults_.Check(kind, path); hit != nullptr) *fault = *hit;
  return Status::OK();
}

Status SimFileSystem::CheckQuery(SimOpKind kind, const std::string& path) {
  std::optional<SimFault> fault;
  Status status = CheckCall(kind, path, &fault);
  if (status.ok() && fault.has_value()) status = fault->status.WithContext(path);
  return status;
}

SimOp SimFileSystem::NewOp(SimOpKind kind, std::string_view path, SimInodeId id) const {
  SimOp op;
  op.kind = kind;
  op.path = path;
  op.inode = id;
  if (const SimInode* inode = disk_.FindInode(id); inode != nullptr) op.link_count = inode->link_count;
  return op;
}

Status SimFileSystem::RunHooks(SimOp* op, SimPhase phase, const Status* status) {
  if (phase == SimPhase::kBefore) op->index = operations_++;
  if (hooks_ != nullptr) {
    const std::shared_ptr<const std::vector<HookEntry>> hooks = hooks_;
    op->phase = phase;
    op->status = status;
    const MutexUnlock unlocked(mutex_);
    for (const HookEntry& entry : *hooks) entry.hook(*op);
  }
  return powered_ ? Status::OK() : Status::IOError(std::string(op->path) + ": the power is off");
}

template <typename Body>
Status SimFileSystem::Mutate(SimOp op, Body body) {
  const MutexLock lock(mutex_);
  const std::string path(op.path);
  std::optional<SimFault> fault;
  if (Status status = CheckCall(op.kind, path, &fault); !status.ok()) return status;
  if (SimDisk::Place place; op.inode == 0 && disk_.Find(op.path, &place).ok()) op.inode = place.inode;
  if (const SimInode* inode = disk_.FindInode(op.inode); inode != nullptr) op.link_count = inode->link_count;

  Status status = RunHooks(&op, SimPhase::kBefore);
  if (status.ok() && (!fault.has_value() || fault->takes_effect)) status = body();
  if (status.ok() && fault.has_value()) status = fault->status.WithContext(path);
  Status after = RunHooks(&op, SimPhase::kAfter, &status);
  return status.ok() ? after : status;
}

// Names

Status SimFileSystem::Open(const std::string& path, OpenMode mode, const FileOptions& options,
                           std::unique_ptr<File>* file) {
  const bool direct = options.direct && options_.direct;
  SimInodeId id = 0;
  const auto check_room = [this, &path]() CAMBIUM_REQUIRES(mutex_) {
    return open_files_ < max_open_files_ ? Status::OK() : Status::Denied(path + ": too many open files");
  };
  const auto take_handle = [this, &id]() CAMBIUM_REQUIRES(mutex_) {
    ++open_[id];
    ++open_files_;
  };
  if (mode == OpenMode::kCreateNew) {
    SimOp create;
    create.kind = SimOpKind::kCreate;
    create.path = path;
    bool taken = false;
    Status status = Mutate(create, [&]() CAMBIUM_REQUIRES(mutex_) {
      SimDisk::Place place;
      if (Status room = check_room(); !room.ok()) return room;
      if (Status found = disk_.Find(path, &place); !found.ok()) return found;
      if (place.inode != 0) return Status::IOError(path + ": file exists");
      id = disk_.Create(place, false);
      take_handle();
      taken = true;
      return Status::OK();
    });
    if (!status.ok()) {
      if (taken) CloseFile(id);  // the file was created despite the error
      return status;
    }
  } else {
    const MutexLock lock(mutex_);
    SimDisk::Place place;
    if (Status status = CheckQuery(SimOpKind::kOpen, path); !status.ok()) return status;
    if (Status room = check_room(); !room.ok()) return room;
    if (Status found = disk_.Find(path, &place); !found.ok()) return found;
    if (place.inode == 0) return NoSuchFile(path);
    if (disk_.GetInode(place.inode).is_directory) return Status::IOError(path + ": is a directory");
    id = place.inode;
    take_handle();
  }
  *file = std::make_unique<SimFile>(this, id, path, mode != OpenMode::kReadOnly, direct);
  return Status::OK();
}

void SimFileSystem::SweepUnreachable() {
  disk_.Sweep([this](SimInodeId id) CAMBIUM_REQUIRES(mutex_) { return IsOpen(id); });
}

void SimFileSystem::FillInfo(const SimInode& inode, FileInfo* info) const {
  info->size = inode.cached().size();
  info->allocated_bytes = inode.device.allocated_bytes();
  info->link_count = inode.link_count;
  info->inode = inode.id;
  info->is_directory = inode.is_directory;
  info->is_regular = !inode.is_directory;
}

Status SimFileSystem::GetInfo(const std::string& path, FileInfo* info) {
  const MutexLock lock(mutex_);
  SimDisk::Place place;
  if (Status status = CheckQuery(SimOpKind::kGetInfo, path); !status.ok()) return status;
  if (Status found = disk_.Find(path, &place); !found.ok()) return found;
  if (place.inode == 0) return NoSuchFile(path);
  FillInfo(disk_.GetInode(place.inode), info);
  return Status::OK();
}

Status SimFileSystem::List(const std::string& directory, std::vector<std::string>* names) {
  const MutexLock lock(mutex_);
  SimDisk::Place place;
  if (Status status = CheckQuery(SimOpKind::kList, directory); !status.ok()) return status;
  if (Status found = disk_.Find(directory, &place); !found.ok()) return found;
  if (place.inode == 0) return NoSuchFile(directory);
  const SimInode& inode = disk_.GetInode(place.inode);
  if (!inode.is_directory) return Status::IOError(directory + ": not a directory");
  names->clear();
  for (const auto& [name, id] : inode.names) names->push_back(name);
  return Status::OK();
}

Status SimFileSystem::CreateDirectory(const std::string& path) {
  SimOp op;
  op.kind = SimOpKind::kCreateDirectory;
  op.path = path;
  return Mutate(op, [&]() CAMBIUM_REQUIRES(mutex_) {
    SimDisk::Place place;
    if (Status found = disk_.Find(path, &place); !found.ok()) return found;
    if (place.inode == 0) {
      disk_.Create(place, true);
    } else if (!disk_.GetInode(place.inode).is_directory) {
      return Status::IOError(path + ": file exists and is not a directory");
    }
    return Status::OK();
  });
}

Status SimFileSystem::RemoveDirectory(const std::string& path) {
  SimOp op;
  op.kind = SimOpKind::kRemoveDirectory;
  op.path = path;
  return Mutate(op, [&]() CAMBIUM_REQUIRES(mutex_) {
    SimDisk::Place place;
    if (Status found = disk_.Find(path, &place); !found.ok()) return found;
    if (place.inode == 0) return NoSuchFile(path);
    const SimInode& inode = disk_.GetInode(place.inode);
    if (!inode.is_directory) return Status::IOError(path + ": not a directory");
    if (place.directory == 0) return Status::IOError(path + ": cannot remove the root directory");
    if (!inode.names.empty()) return Status::IOError(path + ": directory not empty");
    disk_.Unlink(place);
    return Status::OK();
  });
}

Status SimFileSystem::Unlink(const std::string& path) {
  SimOp op;
  op.kind = SimOpKind::kUnlink;
  op.path = path;
  return Mutate(op, [&]() CAMBIUM_REQUIRES(mutex_) {
    SimDisk::Place place;
    if (Status found = disk_.Find(path, &place); !found.ok()) return found;
    if (place.inode == 0) return NoSuchFile(path);
    if (disk_.GetInode(place.inode).is_directory) return Status::IOError(path + ": is a directory");
    disk_.Unlink(place);
    SweepUnreachable();
    return Status::OK();
  });
}

Status SimFileSystem::Rename(const std::string& from, const std::string& to) {
  SimOp op;
  op.kind = SimOpKind::kRename;
  op.path = from;
  op.to = to;
  return Mutate(op, [&]() CAMBIUM_REQUIRES(mutex_) {
    SimDisk::Place source;
    SimDisk::Place target;
    if (Status found = disk_.Find(from, &source); !found.ok()) return found;
    if (Status found = disk_.Find(to, &target); !found.ok()) return found;
    if (source.inode == 0) return NoSuchFile(from);
    if (source.directory == 0 || target.directory == 0)
      return Status::IOError(from + ": cannot rename the root directory");
    const bool is_directory = disk_.GetInode(source.inode).is_directory;
    if (target.inode != 0) {
      const SimInode& replaced = disk_.GetInode(target.inode);
      if (replaced.is_directory != is_directory) return Status::IOError(to + ": only one of the two is a directory");
      if (!replaced.names.empty()) return Status::IOError(to + ": directory not empty");
    }
    for (std::string above = to; is_directory && !above.empty(); above.resize(above.rfind('/'))) {
      SimDisk::Place place;
      if (disk_.Find(above, &place).ok() && place.inode == source.inode && source.inode != target.inode) {
        return Status::IOError(to + ": is inside " + from);
      }
      if (above.find('/') == std::string::npos) break;
    }
    disk_.Rename(source, target);
    SweepUnreachable();
    return Status::OK();
  });
}

Status SimFileSystem::Link(const std::string& from, const std::string& to) {
  SimOp op;
  op.kind = SimOpKind::kLink;
  op.path = from;
  op.to = to;
  return Mutate(op, [&]() CAMBIUM_REQUIRES(mutex_) {
    SimDisk::Place source;
    SimDisk::Place target;
    if (Status found = disk_.Find(from, &source); !found.ok()) return found;
    if (Status found = disk_.Find(to, &target); !found.ok()) return found;
    if (source.inode == 0) return NoSuchFile(from);
    if (disk_.GetInode(source.inode).is_directory) return Status::IOError(from + ": is a directory");
    if (target.inode != 0) return Status::IOError(to + ": file exists");
    disk_.Link(target, source.inode);
    return Status::OK();
  });
}

Status SimFileSystem::TakeLateError(SimInodeId id) {
  const auto late = late_errors_.find(id);
  if (late == late_errors_.end()) return Status::OK();
  Status error = late->second;
  late_errors_.erase(late);
  return error;
}

Status SimFileSystem::FinishDirectorySync(SimInodeId id, std::uint64_t upto, const std::optional<SimFault>& fault) {
  Status late = TakeLateError(id);
  if (!fault.has_value() || fault->sync == SyncFailure::kFalse) {
    disk_.CommitNames(id, upto);
  } else {
    disk_.DropNames(id, upto, fault->sync != SyncFailure::kDropRevertCache);
  }
  SweepUnreachable();
  if (!fault.has_value()) return late;
  if (fault->sync != SyncFailure::kLate) return fault->status;
  late_errors_[id] = fault->status;
  return late;
}

Status SimFileSystem::SyncDirectory(const std::string& path) {
  const MutexLock lock(mutex_);
  std::optional<SimFault> fault;
  if (Status status = CheckCall(SimOpKind::kSyncDirectory, path, &fault); !status.ok()) return status;
  SimDisk::Place place;
  if (Status found = disk_.Find(path, &place); !found.ok()) return found;
  SimOp op = NewOp(SimOpKind::kSyncDirectory, path, place.inode);
  Status status = RunHooks(&op, SimPhase::kBefore);
  const std::uint64_t upto = disk_.last_sequence();
  if (status.ok()) status = RunHooks(&op, SimPhase::kInside);
  if (status.ok()) {
    const SimInode* inode = disk_.FindInode(place.inode);
    if (inode == nullptr) {
      status = NoSuchFile(path);
    } else if (!inode->is_directory) {
      status = Status::IOError(path + ": not a directory");
    } else {
      status = FinishDirectorySync(place.inode, upto, fault).WithContext(path);
    }
  }
  Status after = RunHooks(&op, SimPhase::kAfter, &status);
  return status.ok() ? after : status;
}

// Files

Status SimFileSystem::ReadFile(SimInodeId id, const std::string& path, bool direct, std::uint64_t offset,
                               std::span<const std::span<char>> out, std::size_t* read) {
  const MutexLock lock(mutex_);
  *read = 0;
  if (Status status = CheckQuery(SimOpKind::kRead, path); !status.ok()) return status;
  const SimInode& inode = disk_.GetInode(id);
  const SimContent& content = direct ? inode.device : inode.cached();
  for (const std::span<char>& piece : out) {
    if (offset >= content.size()) break;
    const std::size_t n = std::min<std::uint64_t>(piece.size(), content.size() - offset);
    content.Read(offset, n, piece.data());
    *read += n;
    offset += n;
  }
  return Status::OK();
}

std::uint64_t SimFileSystem::AllocatedBytesLocked() const {
  return disk_.AllocatedBytes([this](SimInodeId id) CAMBIUM_REQUIRES(mutex_) { return IsOpen(id); });
}

std::uint64_t SimFileSystem::FreeBytesLocked() const {
  const std::uint64_t used = AllocatedBytesLocked();
  return used < quota_bytes_ ? quota_bytes_ - used : 0;
}

// If the disk is full, writes the part that fits, as write(2) does.
Status SimFileSystem::ApplyWrite(SimInodeId id, const std::string& path, std::uint64_t offset, std::string data,
                                 const SimOp& op) {
  constexpr std::uint64_t kPage = SimContent::kBlockSize;
  if (offset > SimDisk::kMaxFileSize || data.size() > SimDisk::kMaxFileSize - offset) {
    return Status::IOError(path + ": file too large");
  }
  const std::uint64_t number = writes_++;
  Status status;
  if (quota_bytes_ != std::numeric_limits<std::uint64_t>::max() && !options_.delayed_allocation) {
    const SimContent& content = disk_.GetInode(id).device;
    const std::uint64_t free_blocks = FreeBytesLocked() / kPage;
    if (content.MissingBlocks(offset, data.size()) > free_blocks) {
      std::uint64_t fits = 0;
      for (std::uint64_t end = (offset / kPage + 1) * kPage;
           fits < data.size() && content.MissingBlocks(offset, std::min(data.size(), end - offset)) <= free_blocks;
           end += kPage) {
        fits = std::min(data.size(), end - offset);
      }
      data.resize(fits);
      status = Status::NoSpace(path + ": no space left on device");
    }
  }
  if (data.empty()) return status;
  SimChange change;
  change.offset = change.place = offset;
  change.length = data.size();
  change.data = std::move(data);
  if (overlay_) {
    const SimWriteFate fate = overlay_(number, op);
    change.lost = fate.lost;
    if (fate.misdirected.has_value()) change.place = *fate.misdirected;
  }
  const std::uint64_t written = change.length;
  disk_.Apply(id, std::move(change));
  RefreshMaps(id, offset, written);
  return status;
}

void SimFileSystem::RefreshMaps(SimInodeId id, std::uint64_t offset, std::uint64_t length) {
  for (SimMappedRegion* region : maps_) {
    if (region->inode() == id) region->Refresh(disk_.GetInode(id).cached(), offset, length);
  }
}

Status SimFileSystem::WriteFile(SimInodeId id, const std::string& path, std::uint64_t offset,
                                std::span<const Slice> data) {
  SimImage::InFlight write;
  write.inode = id;
  write.offset = offset;
  std::size_t size = 0;
  for (const Slice& piece : data) size += piece.size();
  write.data.reserve(size);
  for (const Slice& piece : data) write.data.append(piece.data(), piece.size());

  const MutexLock lock(mutex_);
  std::optional<SimFault> fault;
  if (Status status = CheckCall(SimOpKind::kWrite, path, &fault); !status.ok()) return status;
  SimOp op = NewOp(SimOpKind::kWrite, path, id);
  op.offset = offset;
  op.length = size;
  in_flight_.push_back(&write);
  Status status = RunHooks(&op, SimPhase::kBefore);
  std::erase(in_flight_, &write);
  if (status.ok()) {
    if (fault.has_value()) write.data.resize(std::min<std::uint64_t>(size, fault->short_bytes));
    status = ApplyWrite(id, path, offset, std::move(write.data), op);
    if (fault.has_value()) status = fault->status.WithContext(path);
  }
  Status after = RunHooks(&op, SimPhase::kAfter, &status);
  return status.ok() ? after : status;
}

Status SimFileSystem::FinishSync(SimInodeId id, std::uint64_t upto, const std::optional<SimFault>& fault) {
  Status late = TakeLateError(id);
  if (fault.has_value() && fault->sync != SyncFailure::kFalse) {
    disk_.DropData(id, upto, fault->sync != SyncFailure::kDropRevertCache, fault->partial_drop ? &prng_ : nullptr);
    if (fault->sync != SyncFailure::kLate) return fault->status;
    disk_.CommitData(id, upto);  // commits the size and other changes that are not data
    late_errors_[id] = fault->status;
    return late;
  }
  if (options_.delayed_allocation && AllocatedBytesLocked() > quota_bytes_ && !disk_.GetInode(id).pending.empty()) {
    disk_.DropData(id, upto, true, nullptr);
    return Status::NoSpace("no space left on device");
  }
  disk_.CommitData(id, upto);
  disk_.CommitNamesOf(id, upto);
  SweepUnreachable();
  return fault.has_value() ? fault->status : late;
}

Status SimFileSystem::SyncFile(SimInodeId id, const std::string& path) {
  const MutexLock lock(mutex_);
  std::optional<SimFault> fault;
  if (Status status = CheckCall(SimOpKind::kSync, path, &fault); !status.ok()) return status;
  SimOp op = NewOp(SimOpKind::kSync, path, id);
  Status status = RunHooks(&op, SimPhase::kBefore);
  const std::uint64_t upto = disk_.last_sequence();
  if (status.ok()) status = RunHooks(&op, SimPhase::kInside);
  if (status.ok()) status = FinishSync(id, upto, fault).WithContext(path);
  Status after = RunHooks(&op, SimPhase::kAfter, &status);
  return status.ok() ? after : status;
}

Status SimFileSystem::ChangeFile(SimOpKind kind, SimInodeId id, const std::string& path, std::uint64_t offset,
                                 std::uint64_t length, bool grow) {
  SimOp op;
  op.kind = kind;
  op.path = path;
  op.inode = id;
  op.offset = offset;
  op.length = length;
  return Mutate(op, [&]() CAMBIUM_REQUIRES(mutex_) {
    if (offset > SimDisk::kMaxFileSize || length > SimDisk::kMaxFileSize - offset) {
      return Status::IOError(path + ": file too large");
    }
    SimChange change;
    change.offset = change.place = offset;
    change.length = length;
    switch (kind) {
      case SimOpKind::kTruncate:
        change.kind = SimChange::Kind::kTruncate;
        break;
      case SimOpKind::kPunchHole:
        change.kind = SimChange::Kind::kPunchHole;
        break;
      default: {
        change.kind = SimChange::Kind::kAllocate;
        change.size_after = grow ? offset + length : 0;
        const std::uint64_t missing = disk_.GetInode(id).device.MissingBlocks(offset, length);
        if (missing > FreeBytesLocked() / SimContent::kBlockSize) {
          return Status::NoSpace(path + ": no space left on device");
        }
      }
    }
    disk_.Apply(id, std::move(change));
    RefreshMaps(id, offset, length);
    return Status::OK();
  });
}

void SimFileSystem::CloseFile(SimInodeId id) {
  const MutexLock lock(mutex_);
  --open_files_;
  Release(id);
}

void SimFileSystem::Release(SimInodeId id) {
  const auto entry = open_.find(id);
  assert(entry != open_.end());
  if (--entry->second > 0) return;
  open_.erase(entry);
  if (disk_.GetInode(id).link_count == 0) SweepUnreachable();
}

// Opened directories

Status SimFileSystem::OpenDirectory(const std::string& directory, std::shared_ptr<FileSystem>* opened) {
  return SimOpenDirectory::Open(this, {}, directory, directory, opened);
}

Status SimFileSystem::EnterDirectory(const std::string& directory, SimInodeId* id) {
  const MutexLock lock(mutex_);
  SimDisk::Place place;
  if (Status status = CheckQuery(SimOpKind::kOpenDirectory, directory); !status.ok()) return status;
  if (Status found = disk_.Find(directory, &place); !found.ok()) return found;
  if (place.inode == 0) return NoSuchFile(directory);
  if (!disk_.GetInode(place.inode).is_directory) return Status::IOError(directory + ": not a directory");
  *id = place.inode;
  ++open_[*id];
  return Status::OK();
}

void SimFileSystem::LeaveDirectory(SimInodeId id) {
  const MutexLock lock(mutex_);
  Release(id);
}

std::string SimFileSystem::PathNow(SimInodeId directory, const std::string& path) const {
  const MutexLock lock(mutex_);
  SimDisk::Place place;
  return disk_.Find(path, &place).ok() && place.inode == directory ? path : disk_.PathOf(directory);
}

// Locks, space, queues

Status SimFileSystem::Lock(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
                           std::unique_ptr<FileLock>* lock) {
  const MutexLock guard(mutex_);
  if (Status status = CheckQuery(SimOpKind::kLock, directory); !status.ok()) return status;
  SimDisk::Place place;
  if (Status found = disk_.Find(directory, &place); !found.ok()) return found;
  if (place.inode == 0) return NoSuchFile(directory);
  if (!disk_.GetInode(place.inode).is_directory) return Status::IOError(directory + ": not a directory");
  const auto is_held = [&]() CAMBIUM_REQUIRES(mutex_) {
    const auto held = locks_.find(place.inode);
    return held != locks_.end() && (held->second.exclusive || mode == LockMode::kExclusive);
  };
  if (is_held() && wait_micros > 0 && options_.clock != nullptr) {
    const MutexUnlock unlocked(mutex_);
    options_.clock->SleepMicros(wait_micros);
  }
  if (is_held()) return Status::Locked(directory + ": another handle holds the lock");
  SimDisk::Place file;  // a shared lock does not change the directory
  if (mode == LockMode::kExclusive && disk_.Find(directory + "/LOCK", &file).ok() && file.inode == 0)
    disk_.Create(file, false);
  DirectoryLock& entry = locks_[place.inode];
  if (mode == LockMode::kExclusive) {
    entry.exclusive = true;
  } else {
    ++entry.shared;
  }
  ++open_[place.inode];
  *lock = std::make_unique<SimFileLock>(this, place.inode, mode);
  return Status::OK();
}

void SimFileSystem::Unlock(SimInodeId directory, LockMode mode) {
  const MutexLock lock(mutex_);
  DirectoryLock& entry = locks_[directory];
  if (mode == LockMode::kShared && entry.shared > 1) {
    --entry.shared;
  } else {
    locks_.erase(directory);
  }
  Release(directory);
}

Status SimFileSystem::FreeSpace(const std::string& path, std::uint64_t* bytes) {
  const MutexLock lock(mutex_);
  SimDisk::Place place;
  if (Status status = CheckQuery(SimOpKind::kFreeSpace, path); !status.ok()) return status;
  if (Status found = disk_.Find(path, &place); !found.ok()) return found;
  if (place.inode == 0) return NoSuchFile(path);
  *bytes = FreeBytesLocked();
  return Status::OK();
}

std::unique_ptr<ReadQueue> SimFileSystem::NewReadQueue(std::size_t depth, bool use_io_uring) {
  const MutexLock lock(mutex_);
  std::optional<std::uint64_t> seed;
  if (options_.shuffle_reads) seed = prng_.Next();
  return std::make_unique<SimReadQueue>(this, depth, use_io_uring, seed);
}

}  // namespace cambium
