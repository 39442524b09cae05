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
//   - Writes are seen at once. Until a sync of the file, a cut leaves each 512-byte sector in its durable version, in
//   any
//     later one, torn, or with garbage in the bytes written; and the file in its durable size or any later one.
//   - A sync covers what was written before it began, as the hooks' kInside shows, and nothing written meanwhile.
//   - Names have a durability of their own: SimNames.
//   - A direct read sees the device. Dirty pages of its range are written out first, as Linux does; that makes them
//     visible, and as easily lost in a cut as before. Pages that a failed sync left clean are not written out.
//   - Everything that is drawn comes from a seed; a run with one thread repeats exactly.
//
// Threads: one mutex; any thread may call any function. Hooks run without it. Lifetime: every File, lock and read queue
// must be gone before the file system is.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <mutex>
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
#include "io/sim/sim_read_counts.h"
#include "util/prng.h"

namespace cambium {

class SimMappedRegion;

struct SimOptions {
  std::uint64_t seed = 0;  // for partial drops and the order of queued reads
  SimNames names = SimNames::kPosix;
  std::uint64_t quota_bytes = std::numeric_limits<std::uint64_t>::max();
  bool delayed_allocation = false;  // a write over the quota succeeds; the sync then says NoSpace and drops it
  std::size_t max_open_files = std::numeric_limits<std::size_t>::max();
  bool direct = true;            // false: FileOptions::direct opens buffered
  bool holes = true;             // false: PunchHole is NotSupported
  bool grows_ahead = true;       // false: CanGrowAhead is
  bool maps = true;              // false: Map is NotSupported
  bool residency = true;         // false: Residency is NotSupported
  bool shuffle_reads = false;    // read queues deliver in a random order, not first come first served
  std::shared_ptr<Clock> clock;  // Lock sleeps on it before it gives up; none: it gives up at once
};

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
  Status Lock(const std::string& directory, LockMode mode, std::uint64_t wait_micros,
              std::unique_ptr<FileLock>* lock) override;
  Status FreeSpace(const std::string& path, std::uint64_t* bytes) override;
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool use_io_uring) override;

  // Cuts. Cheap: contents are shared until changed.
  [[nodiscard]] SimImage Snapshot() const;
  [[nodiscard]] SimImage DrawCrash(Prng& prng, const DamageMix& mix = {}, CutReport* report = nullptr) const;
  [[nodiscard]] SimImage KillImage(Prng& prng) const;
  // From now on every call fails and changes nothing: so that what lives above can be taken down after a cut.
  void PowerOff();

  // Hooks run in the order they were added. One removed while it runs elsewhere may run a last time.
  int AddHook(SimHook hook);
  void RemoveHook(int id);
  // The index that the next mutating operation gets.
  [[nodiscard]] std::uint64_t operations() const;

  // Faults.
  int AddFault(SimFault fault);
  void RemoveFault(int id);
  void ClearFaults();
  void SetWriteOverlay(SimWriteOverlay overlay);  // empty: none
  [[nodiscard]] std::uint64_t calls() const;      // all, reads included: what an n-th-call sweep counts to
  [[nodiscard]] std::uint64_t calls(SimOpKind kind) const;
  [[nodiscard]] std::uint64_t fault_hits() const;
  [[nodiscard]] SimReadCounts read_counts() const;
  void SetQuota(std::uint64_t bytes);
  void SetMaxOpenFiles(std::size_t count);
  void SetResident(bool resident);  // what Residency and ReadCached find in the page cache: everything, or nothing
  void SetResidentInPart(std::uint64_t seed);  // every other piece of 16 KiB or so, by chance
  // Every page that only the cache knows is forgotten, as after a reboot without a cut.
  void DropCaches();

  // Questions, for checkers and tests: never counted, never failed.
  [[nodiscard]] bool IsDataDurable(const std::string& path, std::uint64_t size) const;  // bytes [0, size)
  [[nodiscard]] bool IsNameDurable(const std::string& path) const;                      // and the directories above it
  // Both, and nothing of the first `size` bytes, or of the name, may be lost or changed by a cut.
  [[nodiscard]] bool IsFullyDurable(const std::string& path, std::uint64_t size) const;
  [[nodiscard]] bool HasUnsyncedData(const std::string& path) const;
  // Of all that is unsynced, nothing but holes: the bytes outside of them are durable. True where nothing is.
  [[nodiscard]] bool HasOnlyHolesUnsynced(const std::string& path) const;
  [[nodiscard]] std::uint64_t DurableSize(const std::string& path) const;
  [[nodiscard]] SimInodeId InodeOf(const std::string& path) const;  // 0: none
  [[nodiscard]] std::uint64_t allocated_bytes() const;
  [[nodiscard]] std::size_t open_files() const;

  // Contents by name, past handles, hooks and faults (sim_tampering.cc). Changes are durable at once, in the cache too;
  // what is unsynced stays so. PathNotFound, or InvalidArgument for a range that the file does not have.
  struct NamedFile {
    std::string path;
    std::uint64_t size;
  };
  [[nodiscard]] std::vector<NamedFile> ListFilesForTest() const;  // all regular files, by path
  Status ReadFileForTest(const std::string& path, std::string* bytes) const;
  Status WriteFileForTest(const std::string& path, Slice bytes);  // made if need be, with the directories above
  Status FlipBit(const std::string& path, std::uint64_t offset, int bit);
  Status OverwriteForTest(const std::string& path, std::uint64_t offset, Slice bytes);
  Status TruncateForTest(const std::string& path, std::uint64_t size);  // or grows with zeros
  Status AppendForTest(const std::string& path, Slice bytes);
  Status SwapBlocks(const std::string& path, std::uint64_t offset, std::uint64_t other, std::uint64_t length);
  Status CopyFileForTest(const std::string& from, const std::string& to);
  Status RemoveForTest(const std::string& path);
  Status RenameForTest(const std::string& from, const std::string& to);

 private:
  friend class SimFile;
  friend class SimFileLock;
  friend class SimMappedRegion;
  friend class SimReadQueue;
  using Guard = std::unique_lock<std::mutex>;
  struct HookEntry {
    int id;
    SimHook hook;
  };
  struct DirectoryLock {
    std::size_t shared = 0;
    bool exclusive = false;
  };

  // What SimFile and its like call.
  Status ReadFile(SimInodeId id, const std::string& path, bool direct, std::uint64_t offset,
                  std::span<const std::span<char>> out, std::size_t* read);
  Status WriteFile(SimInodeId id, const std::string& path, std::uint64_t offset, std::span<const Slice> data);
  Status SyncFile(SimInodeId id, const std::string& path);
  Status ChangeFile(SimOpKind kind, SimInodeId id, const std::string& path, std::uint64_t offset, std::uint64_t length,
                    bool grow);
  void CloseFile(SimInodeId id);
  void Release(SimInodeId id);  // one user of the inode less: a handle, a mapping or a lock
  void Unlock(SimInodeId directory, LockMode mode);

  // Counts a call. An error if it must fail at once; `fault` is set if it must fail in a way of its own.
  Status CheckCall(SimOpKind kind, const std::string& path, std::optional<SimFault>* fault);
  // Counts a call that changes nothing.
  Status CheckQuery(SimOpKind kind, const std::string& path);
  // Calls the hooks with the lock let go. An error if the power went off meanwhile.
  Status RunHooks(Guard* guard, SimOp* op, SimPhase phase, const Status* status = nullptr);
  // A mutating operation from its fault to its hooks; body() does it, under the lock.
  template <typename Body>
  Status Mutate(SimOp op, Body body);
  [[nodiscard]] SimOp NewOp(SimOpKind kind, std::string_view path, SimInodeId id) const;
  [[nodiscard]] bool IsOpen(SimInodeId id) const { return open_.contains(id); }
  void SweepUnreachable();
  [[nodiscard]] std::uint64_t AllocatedBytesLocked() const;
  // Bytes of the range that the page cache is said to hold. Needs mutex_.
  [[nodiscard]] std::uint64_t ResidentBytes(SimInodeId inode, std::uint64_t offset, std::uint64_t length) const;
  [[nodiscard]] std::uint64_t FreeBytesLocked() const;
  Status ApplyWrite(SimInodeId id, const std::string& path, std::uint64_t offset, std::string data, const SimOp& op);
  Status FinishSync(SimInodeId id, std::uint64_t upto, const std::optional<SimFault>& fault);
  Status FinishDirectorySync(SimInodeId id, std::uint64_t upto, const std::optional<SimFault>& fault);
  Status TakeLateError(SimInodeId id);
  void FillInfo(const SimInode& inode, FileInfo* info) const;
  Status Tamper(const std::string& path, std::uint64_t offset, std::uint64_t length,
                const std::function<void(SimContent*)>& change);
  Status MakeFileForTest(const std::string& path, SimInodeId* id);
  Status FindFile(const std::string& path, SimInodeId* id) const;

  const SimOptions options_;
  // Guards what follows; taken last, and never held while a hook or a clock runs.
  mutable std::mutex mutex_;
  SimDisk disk_;
  Prng prng_;
  std::map<SimInodeId, std::size_t> open_;  // users by inode: handles, mappings, locks
  std::size_t open_files_ = 0;
  std::map<SimInodeId, DirectoryLock> locks_;
  std::map<SimInodeId, Status> late_errors_;
  std::shared_ptr<const std::vector<HookEntry>> hooks_;  // null if there are none; replaced, never changed
  int next_hook_ = 1;
  SimFaults faults_;
  mutable SimReadCounts read_counts_;
  SimWriteOverlay overlay_;
  std::vector<const SimImage::InFlight*> in_flight_;
  std::vector<SimMappedRegion*> maps_;
  std::uint64_t operations_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t quota_bytes_;
  std::size_t max_open_files_;
  bool resident_ = true;
  std::optional<std::uint64_t> resident_seed_;  // in part
  bool powered_ = true;
};

}  // namespace cambium
