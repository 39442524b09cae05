// A simulated file: the state that is certain to survive a power cut, the states that the device and the page cache
// show, and the list of changes in between.
//
//   durable   bytes and size as of the last successful sync
//   device    durable plus every unsynced change that was not dropped: what a direct read sees. (Linux writes dirty
//             pages out before a direct read of their range. That makes them visible, not durable: without a flush of
//             the drive's cache and a commit of the metadata they may still be lost.)
//   cache     what a buffered read sees. The same as device, unless a failed sync dropped data and left the pages
//             clean, or the device lost or misplaced a write.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "io/sim/sim_content.h"

namespace cambium {

// Never reused in a disk or the images derived from it, so it identifies a file across renames. 0 means none.
using SimInodeId = std::uint64_t;

// One change of a file since its last sync. Immutable once in a list; shared by snapshots.
struct SimChange : SimShared {
  enum class Kind : unsigned char { kWrite, kTruncate, kAllocate, kPunchHole };

  Kind kind = Kind::kWrite;
  bool lost = false;           // for a write: its bytes never reach the device, but its size does
  std::uint64_t sequence = 0;  // position in the order of all changes of the disk, including names
  std::uint64_t offset = 0;    // of the range, as the caller gave it
  std::uint64_t place = 0;     // the offset of the bytes on the device: `offset`, unless misdirected
  std::uint64_t length = 0;
  std::uint64_t size_before = 0;  // of the file
  std::uint64_t size_after = 0;
  std::string data;  // for a write

  void ApplyTo(SimContent* content) const;
  // Applies the change as the page cache sees it: there no write is lost or misdirected.
  void ApplyToCache(SimContent* content) const;
  // Sets [*begin, *end) to the device bytes that this changes. Empty for an allocation, a growth and a lost write.
  void TouchedRange(std::uint64_t* begin, std::uint64_t* end) const;
};

struct SimInode : SimShared {
  SimInodeId id = 0;
  bool is_directory = false;
  std::uint64_t link_count = 0;     // names that the running system sees
  std::uint64_t durable_links = 0;  // durable names
  std::uint64_t pending_links = 0;  // unsynced name changes that add a name

  // A regular file.
  SimContent durable;
  SimContent device;
  SimContent cache;  // valid only if cache_differs
  bool cache_differs = false;
  std::set<std::uint64_t> dropped_pages;  // clean in the cache, not on the device; a write to one writes the page whole
  std::vector<SimRef<SimChange>> pending;

  // A directory.
  std::map<std::string, SimInodeId, std::less<>> names;
  std::map<std::string, SimInodeId, std::less<>> durable_names;
  bool names_dropped = false;  // a failed sync left names that no later sync makes durable

  [[nodiscard]] const SimContent& cached() const { return cache_differs ? cache : device; }
};

// One atomic change of one directory: a rename inside a directory is a single change.
struct SimNameChange : SimShared {
  struct Slot {
    std::string name;
    SimInodeId inode;  // 0: the name is removed
  };
  std::uint64_t sequence = 0;
  SimInodeId directory = 0;
  std::vector<Slot> slots;
  std::uint64_t needs = 0;  // the sequence of a change without which this one does not survive, or 0
};

}  // namespace cambium
