// SimDisk: the files and directories of a simulated disk and their durable state, as a value. A copy shares everything
// (see SimRef). It has no handles, faults, hooks or threads: SimFileSystem adds those. SimImage applies power cuts to
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cambium/status.h"
#include "io/sim/sim_inode.h"
#include "util/prng.h"

namespace cambium {

// When a name becomes durable, and which unsynced name changes may survive a cut.
enum class SimNames : unsigned char {
  kPosix,    // only by SyncDirectory of its directory; any subset of the unsynced changes survives
  kOrdered,  // as in a journal: a prefix of all name changes survives; SyncDirectory commits all changes up to now
  kExt4,     // as kOrdered; a file's sync also commits the journal up to the file's newest name
};

class SimDisk {
 public:
  static constexpr SimInodeId kRoot = 1;
  static constexpr std::uint64_t kMaxFileSize = std::uint64_t{1} << 34;

  SimDisk();  // has an empty, durable root directory

  // Where a path leads: the directory that holds the last name, that name, and the inode that it names (0: none).
  struct Place {
    SimInodeId directory = 0;
    std::string name;
    SimInodeId inode = 0;
  };
  // Returns PathNotFound if the directory is missing. Ignores "", "." and doubled slashes; ".." is the directory above;
  // "/" is {0, "", kRoot}.
  Status Find(std::string_view path, Place* place) const;
  // Returns a path that leads to the directory now; "" if none does, because it was removed.
  [[nodiscard]] std::string PathOf(SimInodeId directory) const;
  [[nodiscard]] const SimInode* FindInode(SimInodeId id) const;
  [[nodiscard]] const SimInode& GetInode(SimInodeId id) const;                           // must exist
  SimInode& EditInode(SimInodeId id);                                                    // must exist
  [[nodiscard]] const std::vector<SimRef<SimInode>>& inodes() const { return inodes_; }  // by id
  [[nodiscard]] const std::vector<SimRef<SimNameChange>>& name_changes() const { return name_changes_; }

  // Files.
  // Appends a change to the file's list and applies it. The caller sets kind, offset, place, length, data and lost.
  void Apply(SimInodeId id, SimChange change);
  // Makes every change up to sequence `upto` durable.
  void CommitData(SimInodeId id, std::uint64_t upto);
  // Drops the unsynced writes up to `upto`: they never reach the device. If keep_cache, reads still show them, their
  // pages are clean, and the size is as if they had reached the device; else reads show the old file. With `partial`,
  // about half of the pages are not dropped.
  void DropData(SimInodeId id, std::uint64_t upto, bool keep_cache, Prng* partial);
  // Evicts the pages that lie wholly in the range; bytes that only the cache held are lost.
  void ForgetCache(SimInodeId id, std::uint64_t offset, std::uint64_t length);

  // Makes an empty file unless it exists, and the directories above it, with durable names.
  Status MakeFile(const std::string& path, SimInodeId* id);

  // Names. `place` must come from Find(); directories are inodes too.
  SimInodeId Create(const Place& place, bool is_directory);
  void Link(const Place& place, SimInodeId target);
  void Unlink(const Place& place);
  void Rename(const Place& from, const Place& to);
  void CommitNames(SimInodeId directory, std::uint64_t upto);
  // Does for the names of a directory what DropData does for data.
  void DropNames(SimInodeId directory, std::uint64_t upto, bool keep_view);
  // kExt4: commits the file's own name, as its sync does.
  void CommitNamesOf(SimInodeId file, std::uint64_t upto);

  // Removes every inode that has no name now, can have none after a cut, and is not open.
  void Sweep(const std::function<bool(SimInodeId)>& is_open);

  [[nodiscard]] SimNames name_rule() const { return name_rule_; }
  void set_name_rule(SimNames rule) { name_rule_ = rule; }
  [[nodiscard]] std::uint64_t last_sequence() const { return next_sequence_ - 1; }
  // Returns the bytes allocated to files that have a name or are open.
  [[nodiscard]] std::uint64_t AllocatedBytes(const std::function<bool(SimInodeId)>& is_open) const;

  // Questions for checkers. Return true if no cut can change bytes [0, size) of this file, or its name.
  [[nodiscard]] bool IsDataDurable(SimInodeId id, std::uint64_t size) const;
  [[nodiscard]] bool IsNameDurable(std::string_view path) const;  // also checks the directories above

  // Returns an empty string, or a description of an inconsistency. For tests.
  [[nodiscard]] std::string CheckInvariants() const;

  // Crash images (sim_image.cc) replace whole inodes and end with everything durable.
  void ReplaceContent(SimInodeId id, SimContent content);  // durable, device and cache alike
  // Applies the name changes that `survives` marks and forgets the others. Afterwards every directory shows exactly its
  // durable names.
  void ApplyNameChanges(const std::vector<bool>& survives);

 private:
  static std::vector<std::string_view> Components(std::string_view path);
  [[nodiscard]] std::size_t IndexOf(SimInodeId id) const;  // inodes_.size() if none
  SimInode& Add(bool is_directory);
  void Change(SimInodeId directory, std::vector<SimNameChange::Slot> slots, std::uint64_t needs = 0);
  void SetName(SimInodeId directory, const std::string& name, SimInodeId target);
  void SetDurableName(SimInodeId directory, const std::string& name, SimInodeId target);
  // Removes the chosen name changes from the list, in order, and makes them durable if `commit`.
  void Finish(const std::function<bool(const SimNameChange&)>& chosen, bool commit);
  void RebuildDevice(SimInode* inode);
  // Empties each directory that has no name and would have none after any cut.
  void EmptyLostDirectories();

  std::vector<SimRef<SimInode>> inodes_;  // ascending ids
  std::vector<SimRef<SimNameChange>> name_changes_;
  std::uint64_t next_sequence_ = 1;
  SimInodeId next_inode_ = kRoot + 1;
  SimNames name_rule_ = SimNames::kPosix;
};

}  // namespace cambium
