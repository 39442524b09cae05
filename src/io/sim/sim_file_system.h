// SimFileSystem: a FileSystem in memory whose power can be cut, whose syncs can fail and whose device can lie.
//
//   SimFileSystem fs;
//   fs.AddHook([&](const SimOp& op) { images.push_back(fs.Snapshot()); });   // before and after each mutating call
//   RunWorkload(&fs);
//   for (const SimImage& image : images) {
//     SimFileSystem after(image.DrawCrash(prng));
//     CheckRecovery(&after);
//   }
//
// The model, in short (sim_inode.h and sim_image.h have it in full):
//   - Reads see writes at once. Until a sync of the file, a cut leaves each 512-byte sector in its durable version, in
//     any later version, torn, or with garbage in the written bytes; and the file in its durable size or any later one.
//   - A sync covers the writes before its hooks' kInside phase, and none of the later ones.
//   - The durability of names is separate: see SimNames.
//   - A direct read sees the device. It first writes out the dirty pages of its range, as Linux does. They are then
//     visible on the device, but a cut may still lose them. It does not write out pages that a failed sync left clean.
//   - All random choices come from a seed; a run with one thread repeats exactly.
//
// Threads: any thread may call any function; one mutex guards everything. Hooks run without it. Lifetime: every File,
// opened directory, lock and read queue must be destroyed before the file system.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cambium/clock.h"
#include "cambium/file_system.h"
#include "io/sim/sim_disk.h"
#include "io/sim/sim_fault.h"
#include "io/sim/sim_image.h"
#include "io/sim/sim_op.h"
#include "io/sim/sim_probe.h"
#include "io/sim/sim_read_counts.h"
#include "io/sim/sim_tampering.h"
#include "util/mutex.h"
#include "util/prng.h"

namespace cambium {

class SimMappedRegion;

struct SimOptions {
  std::uint64_t seed = 0;  // for dropping pages in part and for the order of queued reads
  SimNames names = SimNames::kPosix;
  std::uint64_t quota_bytes = std::numeric_limits<std::uint64_t>::max();
  bool delayed_allocation = false;  // a write over the quota succeeds; its sync returns NoSpace and drops it
  std::size_t max_open_files = std::numeric_limits<std::size_t>::max();
  bool direct = true;            // false: opens files buffered although FileOptions::direct is set
  bool holes = true;             // false: PunchHole returns NotSupported
  bool grows_ahead = true;       // false: CanGrowAhead returns false
  bool maps = true;              // false: Map returns NotSupported
  bool residency = true;         // false: Residency returns NotSupported
  bool shuffle_reads = false;    // true: read queues deliver in random order, not in the order of submission
  std::shared_ptr<Clock> clock;  // Lock sleeps on it before it gives up; null: gives up at once
};

// The class has many functions because one mutex guards the calls of FileSystem, the calls of open files, and the
// controls of tests: power cuts, hooks, faults, quotas, caches.
class SimFileSystem final : public FileSystem {
 public:
  explicit SimFileSystem(SimOptions options = {});
  explicit SimFileSystem(const SimImage& image, SimOptions options = {});
  ~SimFileSystem() override;

  Status Open(const std::string& path, OpenMode mode, const FileOptions& options, std::unique_ptr<File>* file) override;
  Status GetInfo(const std::string& path, FileInfo* info) override;
  Status List(const std::string& directory, std::vector<std::string>* names) override;
  Status CreateDirectory(const std::string& path) override;
  Status RemoveDirectory(const std::string& path) override;
  Status Unlink(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Link(const std::string& from, const std::string& to) override;
  Status SyncDirectory(const std::string& path) override;
  Status OpenDirectory(const std::string& directory, std::shared_ptr<FileSystem>* opened) override;
  Status Lock(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
              std::unique_ptr<FileLock>* lock) override;
  Status FreeSpace(const std::string& path, std::uint64_t* bytes) override;
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool use_io_uring) override;

  // Power cuts. Images are cheap: contents are shared until changed.
  [[nodiscard]] SimImage Snapshot() const;
  [[nodiscard]] SimImage DrawCrash(Prng& prng, const DamageMix& mix = {}, CutReport* report = nullptr) const;
  [[nodiscard]] SimImage KillImage(Prng& prng) const;
  // From now on every call fails and changes nothing, so a test can destroy the database after a cut.
  void PowerOff();

  // Hooks run in the order of AddHook. A hook that is removed while another thread runs hooks may run one last time.
  int AddHook(SimHook hook);
  void RemoveHook(int id);
  // Returns the index of the next mutating operation.
  [[nodiscard]] std::uint64_t operations() const;

  // Faults.
  int AddFault(SimFault fault);
  void RemoveFault(int id);
  void ClearFaults();
  void SetWriteOverlay(SimWriteOverlay overlay);  // empty: none
  [[nodiscard]] std::uint64_t calls() const;      // all calls, with reads: the bound for a test that fails each n-th
  [[nodiscard]] std::uint64_t calls(SimOpKind kind) const;
  [[nodiscard]] std::uint64_t fault_hits() const;
  [[nodiscard]] SimReadCounts read_counts() const;
  void SetQuota(std::uint64_t bytes);
  void SetMaxOpenFiles(std::size_t count);
  void SetResident(bool resident);  // what Residency and ReadCached find in the page cache: everything, or nothing
  void SetResidentInPart(std::uint64_t seed);  // about half of the pieces of 16 KiB, at random
  // Forgets every page that only the cache holds, as a clean reboot does.
  void DropCaches();

  // Questions for checkers and tests, which are not counted and which no fault hits: sim_probe.h.
  [[nodiscard]] SimProbe probe() const;
  // Changes that the program does not know of, durable at once: sim_tampering.h.
  [[nodiscard]] SimTampering tampering();

 private:
  friend class SimFile;
  friend class SimOpenDirectory;
  friend class SimProbe;
  friend class SimTampering;
  friend class SimFileLock;
  friend class SimMappedRegion;
  friend class SimReadQueue;
  struct HookEntry {
    int id;
    SimHook hook;
  };
  struct DirectoryLock {
    std::size_t shared = 0;
    bool exclusive = false;
  };

  // Called by SimFile and the other friends.
  Status ReadFile(SimInodeId id, const std::string& path, bool direct, std::uint64_t offset,
                  std::span<const std::span<char>> out, std::size_t* read);
  Status WriteFile(SimInodeId id, const std::string& path, std::uint64_t offset, std::span<const Slice> data);
  Status SyncFile(SimInodeId id, const std::string& path);
  Status ChangeFile(SimOpKind kind, SimInodeId id, const std::string& path, std::uint64_t offset, std::uint64_t length,
                    bool grow);
  void CloseFile(SimInodeId id);
  void Release(SimInodeId id) CAMBIUM_REQUIRES(mutex_);  // ends one use of the inode: a handle, a mapping or a lock
  void Unlock(SimInodeId directory, LockMode mode);
  // Counts the opening of a directory, and sets *id to its inode.
  Status EnterDirectory(const std::string& directory, SimInodeId* id);
  // Ends what EnterDirectory began.
  void LeaveDirectory(SimInodeId id);
  // Returns `path` if it leads to this directory, else a path that does, "" if there is none.
  [[nodiscard]] std::string PathNow(SimInodeId directory, const std::string& path) const;

  // Counts a call. Returns an error if the power is off. Sets *fault if a fault hits the call; the caller applies it.
  Status CheckCall(SimOpKind kind, const std::string& path, std::optional<SimFault>* fault) CAMBIUM_REQUIRES(mutex_);
  // Counts a call that changes nothing. Returns an error if the power is off or a fault hits it.
  Status CheckQuery(SimOpKind kind, const std::string& path) CAMBIUM_REQUIRES(mutex_);
  // Calls the hooks with the lock released. Returns an error if the power is off afterwards.
  Status RunHooks(SimOp* op, SimPhase phase, const Status* status = nullptr) CAMBIUM_REQUIRES(mutex_);
  // Runs a mutating operation with its fault and its hooks. Calls body(), which performs it, under the lock.
  template <typename Body>
  Status Mutate(SimOp op, Body body);
  [[nodiscard]] SimOp NewOp(SimOpKind kind, std::string_view path, SimInodeId id) const CAMBIUM_REQUIRES(mutex_);
  [[nodiscard]] bool IsOpen(SimInodeId id) const CAMBIUM_REQUIRES(mutex_) { return open_.contains(id); }
  void SweepUnreachable() CAMBIUM_REQUIRES(mutex_);
  [[nodiscard]] std::uint64_t AllocatedBytesLocked() const CAMBIUM_REQUIRES(mutex_);
  // Updates the mappings of the file after a change of the range.
  void RefreshMaps(SimInodeId id, std::uint64_t offset, std::uint64_t length) CAMBIUM_REQUIRES(mutex_);
  // Returns how many bytes of the range count as resident in the page cache.
  [[nodiscard]] std::uint64_t ResidentBytes(SimInodeId inode, std::uint64_t offset, std::uint64_t length) const
      CAMBIUM_REQUIRES(mutex_);
  [[nodiscard]] std::uint64_t FreeBytesLocked() const CAMBIUM_REQUIRES(mutex_);
  Status ApplyWrite(SimInodeId id, const std::string& path, std::uint64_t offset, std::string data, const SimOp& op)
      CAMBIUM_REQUIRES(mutex_);
  Status FinishSync(SimInodeId id, std::uint64_t upto, const std::optional<SimFault>& fault) CAMBIUM_REQUIRES(mutex_);
  Status FinishDirectorySync(SimInodeId id, std::uint64_t upto, const std::optional<SimFault>& fault)
      CAMBIUM_REQUIRES(mutex_);
  Status TakeLateError(SimInodeId id) CAMBIUM_REQUIRES(mutex_);
  void FillInfo(const SimInode& inode, FileInfo* info) const;
  Status FindFile(const std::string& path, SimInodeId* id) const CAMBIUM_REQUIRES(mutex_);

  const SimOptions options_;
  // Taken last, and never held while a hook runs or a clock sleeps.
  mutable Mutex mutex_;
  SimDisk disk_ CAMBIUM_GUARDED_BY(mutex_);
  Prng prng_ CAMBIUM_GUARDED_BY(mutex_);
  std::map<SimInodeId, std::size_t> open_ CAMBIUM_GUARDED_BY(mutex_);  // users by inode: handles, mappings, locks
  std::size_t open_files_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::map<SimInodeId, DirectoryLock> locks_ CAMBIUM_GUARDED_BY(mutex_);
  std::map<SimInodeId, Status> late_errors_ CAMBIUM_GUARDED_BY(mutex_);
  // Null if there are none; replaced, never modified.
  std::shared_ptr<const std::vector<HookEntry>> hooks_ CAMBIUM_GUARDED_BY(mutex_);
  int next_hook_ CAMBIUM_GUARDED_BY(mutex_) = 1;
  SimFaults faults_ CAMBIUM_GUARDED_BY(mutex_);
  mutable SimReadCounts read_counts_ CAMBIUM_GUARDED_BY(mutex_);
  SimWriteOverlay overlay_ CAMBIUM_GUARDED_BY(mutex_);
  std::vector<const SimImage::InFlight*> in_flight_ CAMBIUM_GUARDED_BY(mutex_);
  std::vector<SimMappedRegion*> maps_ CAMBIUM_GUARDED_BY(mutex_);
  std::uint64_t operations_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::uint64_t writes_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::uint64_t quota_bytes_ CAMBIUM_GUARDED_BY(mutex_);
  std::size_t max_open_files_ CAMBIUM_GUARDED_BY(mutex_);
  bool resident_ CAMBIUM_GUARDED_BY(mutex_) = true;
  std::optional<std::uint64_t> resident_seed_ CAMBIUM_GUARDED_BY(mutex_);  // set: only random pieces are resident
  bool powered_ CAMBIUM_GUARDED_BY(mutex_) = true;
};

}  // namespace cambium
