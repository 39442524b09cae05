// The part of SimFileSystem that only tests call: hooks, faults, images and questions.
#include <algorithm>

#include "io/sim/sim_file_system.h"

namespace cambium {

// Hooks and faults

int SimFileSystem::AddHook(SimHook hook) {
  const MutexLock lock(mutex_);
  auto hooks = hooks_ == nullptr ? std::make_shared<std::vector<HookEntry>>()
                                 : std::make_shared<std::vector<HookEntry>>(*hooks_);
  hooks->push_back({next_hook_, std::move(hook)});
  hooks_ = std::move(hooks);
  return next_hook_++;
}

void SimFileSystem::RemoveHook(int id) {
  const MutexLock lock(mutex_);
  if (hooks_ == nullptr) return;
  auto hooks = std::make_shared<std::vector<HookEntry>>(*hooks_);
  std::erase_if(*hooks, [id](const HookEntry& entry) { return entry.id == id; });
  if (hooks->empty()) {
    hooks_ = nullptr;
  } else {
    hooks_ = std::move(hooks);
  }
}

std::uint64_t SimFileSystem::operations() const {
  const MutexLock lock(mutex_);
  return operations_;
}

int SimFileSystem::AddFault(SimFault fault) {
  const MutexLock lock(mutex_);
  return faults_.Add(std::move(fault));
}

void SimFileSystem::RemoveFault(int id) {
  const MutexLock lock(mutex_);
  faults_.Remove(id);
}

void SimFileSystem::ClearFaults() {
  const MutexLock lock(mutex_);
  faults_.Clear();
}

void SimFileSystem::SetWriteOverlay(SimWriteOverlay overlay) {
  const MutexLock lock(mutex_);
  overlay_ = std::move(overlay);
}

std::uint64_t SimFileSystem::calls() const {
  const MutexLock lock(mutex_);
  return faults_.calls();
}

std::uint64_t SimFileSystem::calls(SimOpKind kind) const {
  const MutexLock lock(mutex_);
  return faults_.calls(kind);
}

std::uint64_t SimFileSystem::fault_hits() const {
  const MutexLock lock(mutex_);
  return faults_.hits();
}

SimReadCounts SimFileSystem::read_counts() const {
  const MutexLock lock(mutex_);
  return read_counts_;
}

void SimFileSystem::SetQuota(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  quota_bytes_ = bytes;
}

void SimFileSystem::SetMaxOpenFiles(std::size_t count) {
  const MutexLock lock(mutex_);
  max_open_files_ = count;
}

void SimFileSystem::SetResident(bool resident) {
  const MutexLock lock(mutex_);
  resident_ = resident;
  resident_seed_.reset();
}

void SimFileSystem::SetResidentInPart(std::uint64_t seed) {
  const MutexLock lock(mutex_);
  resident_seed_ = seed;
}

std::uint64_t SimFileSystem::ResidentBytes(SimInodeId inode, std::uint64_t offset, std::uint64_t length) const {
  constexpr std::uint64_t kPiece = 16u << 10;
  const std::uint64_t size = disk_.GetInode(inode).cached().size();
  const std::uint64_t end = std::min(size, offset + length);
  if (offset >= end) return 0;
  if (!resident_seed_.has_value()) return resident_ ? end - offset : 0;
  std::uint64_t bytes = 0;
  for (std::uint64_t at = offset; at < end;) {
    const std::uint64_t next = std::min(end, (at / kPiece + 1) * kPiece);
    if (Prng(*resident_seed_ ^ (inode << 32) ^ at / kPiece).OneIn(2)) bytes += next - at;
    at = next;
  }
  return bytes;
}

void SimFileSystem::DropCaches() {
  const MutexLock lock(mutex_);
  std::vector<SimInodeId> differing;
  for (const SimRef<SimInode>& inode : disk_.inodes()) {
    if (inode->cache_differs) differing.push_back(inode->id);
  }
  for (const SimInodeId id : differing) disk_.ForgetCache(id, 0, 0);
}

// Images

SimImage SimFileSystem::Snapshot() const {
  const MutexLock lock(mutex_);
  std::vector<SimImage::InFlight> in_flight;
  for (const SimImage::InFlight* write : in_flight_) in_flight.push_back(*write);
  return {disk_, std::move(in_flight), operations_};
}

SimImage SimFileSystem::DrawCrash(Prng& prng, const DamageMix& mix, CutReport* report) const {
  return Snapshot().DrawCrash(prng, mix, report);
}

SimImage SimFileSystem::KillImage(Prng& prng) const { return Snapshot().Kill(prng); }

void SimFileSystem::PowerOff() {
  const MutexLock lock(mutex_);
  powered_ = false;
}

Status SimFileSystem::FindFile(const std::string& path, SimInodeId* id) const {
  SimDisk::Place place;
  if (Status found = disk_.Find(path, &place); !found.ok()) return found;
  if (place.inode == 0) return Status::PathNotFound(path + ": no such file or directory");
  *id = place.inode;
  return Status::OK();
}

SimProbe SimFileSystem::probe() const { return SimProbe(this); }
SimTampering SimFileSystem::tampering() { return SimTampering(this); }

}  // namespace cambium
