// SimDisk: files, directories and what of them is durable, as a value: copying shares everything (see SimRef).
// It knows nothing of handles, faults, hooks or threads; SimFileSystem adds those, SimImage takes it through a cut.
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
  kPosix,    // by SyncDirectory of its directory only; any subset of the others survives
  kOrdered,  // as in a journal: a prefix of all changes of names survives; SyncDirectory commits all up to now
  kExt4,     // kOrdered, and a file's sync commits the journal up to the file's newest name
};

class SimDisk {
 public:
  static constexpr SimInodeId kRoot = 1;
  static constexpr std::uint64_t kMaxFileSize = std::uint64_t{1} << 34;

  SimDisk();  // an empty, durable root directory

  // Where a path leads: the directory that holds the last name, that name, and what it names (0: nothing).
  struct Place {
    SimInodeId directory = 0;
    std::string name;
    SimInodeId inode = 0;
  };
  // PathNotFound if the directory is missing. "", "." and doubled slashes count for nothing; "/" is {0, "", kRoot}.
  Status Find(std::string_view path, Place* place) const;
  [[nodiscard]] const SimInode* FindInode(SimInodeId id) const;
  [[nodiscard]] const SimInode& GetInode(SimInodeId id) const;                           // must exist
  SimInode& EditInode(SimInodeId id);                                                    // must exist
  [[nodiscard]] const std::vector<SimRef<SimInode>>& inodes() const { return inodes_; }  // by id
  [[nodiscard]] const std::vector<SimRef<SimNameChange>>& name_changes() const { return name_changes_; }

  // Files.
  // Puts a change at the end of the file's list and applies it. `change` has kind, offset, place, length, data, lost.
  void Apply(SimInodeId id, SimChange change);
  // Every change up to `upto` is durable.
  void CommitData(SimInodeId id, std::uint64_t upto);
  // Unsynced writes up to `upto` never reach the device. keep_cache: reads still show them, the pages are clean, and
  // the size is as if they had happened; else reads show the old file. With `partial`, about half of the pages stay.
  void DropData(SimInodeId id, std::uint64_t upto, bool keep_cache, Prng* partial);
  // Drops cached pages wholly in the range that only the cache still knows.
  void ForgetCache(SimInodeId id, std::uint64_t offset, std::uint64_t length);

  // Names. The place must be right; directories are inodes too.
  SimInodeId Create(const Place& place, bool is_directory);
  void Link(const Place& place, SimInodeId target);
  void Unlink(const Place& place);
  void Rename(const Place& from, const Place& to);
  void CommitNames(SimInodeId directory, std::uint64_t upto);
  // As DropData, for the names of a directory.
  void DropNames(SimInodeId directory, std::uint64_t upto, bool keep_view);
  // kExt4: what a file's sync does for its own name.
  void CommitNamesOf(SimInodeId file, std::uint64_t upto);

  // Removes every inode that no name leads to, none may lead to after a cut, and `is_open` does not hold.
  void Sweep(const std::function<bool(SimInodeId)>& is_open);

  [[nodiscard]] SimNames name_rule() const { return name_rule_; }
  void set_name_rule(SimNames rule) { name_rule_ = rule; }
  [[nodiscard]] std::uint64_t last_sequence() const { return next_sequence_ - 1; }
  // Bytes taken by files that have a name, or that is_open says are open.
  [[nodiscard]] std::uint64_t AllocatedBytes(const std::function<bool(SimInodeId)>& is_open) const;

  // Questions about durability, for checkers. What a cut may take from [0, size) of this file, or its name.
  [[nodiscard]] bool IsDataDurable(SimInodeId id, std::uint64_t size) const;
  [[nodiscard]] bool IsNameDurable(std::string_view path) const;  // and those of the directories above

  // Empty, or what is inconsistent. For tests.
  [[nodiscard]] std::string CheckInvariants() const;

  // Crash images (sim_image.cc) replace whole inodes and end with everything durable.
  void ReplaceContent(SimInodeId id, SimContent content);  // durable, device and cache alike
  // The name changes that `survives` says happened; every directory is durable and agrees with itself afterwards.
  void SettleNames(const std::vector<bool>& survives);

 private:
  static std::vector<std::string_view> Components(std::string_view path);
  [[nodiscard]] std::size_t IndexOf(SimInodeId id) const;  // inodes_.size() if none
  SimInode& Add(bool is_directory);
  void Change(SimInodeId directory, std::vector<SimNameChange::Slot> slots, std::uint64_t needs = 0);
  void SetName(SimInodeId directory, const std::string& name, SimInodeId target);
  void SetDurableName(SimInodeId directory, const std::string& name, SimInodeId target);
  // Makes those for which `chosen` holds durable (commit) or forgets them, in order.
  void Finish(const std::function<bool(const SimNameChange&)>& chosen, bool commit);
  void RebuildDevice(SimInode* inode);
  // Directories that no name leads to, now or after any cut, take their names along.
  void EmptyLostDirectories();

  std::vector<SimRef<SimInode>> inodes_;  // ascending ids
  std::vector<SimRef<SimNameChange>> name_changes_;
  std::uint64_t next_sequence_ = 1;
  SimInodeId next_inode_ = kRoot + 1;
  SimNames name_rule_ = SimNames::kPosix;
};

}  // namespace cambium
