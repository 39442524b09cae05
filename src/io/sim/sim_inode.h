// What a simulated file is: what surely survives a power cut, what the device and the page cache show, and the list of
// changes in between.
//
//   durable   bytes and size as of the last successful sync
//   device    durable, with every unsynced change that was not dropped: what a direct read sees. (Linux writes dirty
//             pages out before a direct read of their range; that makes them visible, not durable: without a flush of
//             the drive's cache and a commit of the metadata they may still be lost.)
//   cache     what a buffered read sees. The same as device, except where a failed sync dropped data and left the pages
//             clean, or where the device lost or misplaced a write.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "io/sim/sim_content.h"

namespace cambium {

// Never used twice in one line of images, so that it stands for a file through renames. 0 is none.
using SimInodeId = std::uint64_t;

// One change of a file since its last sync. Immutable once in a list; shared by snapshots.
struct SimChange : SimShared {
  enum class Kind : unsigned char { kWrite, kTruncate, kAllocate, kPunchHole };

  Kind kind = Kind::kWrite;
  bool lost = false;           // a write whose bytes never reach the device; its size does
  std::uint64_t sequence = 0;  // place in the order of all changes of the disk, names included
  std::uint64_t offset = 0;    // of the range, as the caller gave it
  std::uint64_t place = 0;     // where the bytes go on the device: offset, unless misdirected
  std::uint64_t length = 0;
  std::uint64_t size_before = 0;  // of the file
  std::uint64_t size_after = 0;
  std::string data;  // of a write

  void ApplyTo(SimContent* content) const;
  // The same as the page cache sees it: nothing is lost or misdirected there.
  void ApplyToCache(SimContent* content) const;
  // The device bytes that this changes: [*begin, *end). Empty for an allocation, a growth, a lost write.
  void TouchedRange(std::uint64_t* begin, std::uint64_t* end) const;
};

struct SimInode : SimShared {
  SimInodeId id = 0;
  bool is_directory = false;
  std::uint64_t link_count = 0;     // names as the running system sees them
  std::uint64_t durable_links = 0;  // names that surely survive
  std::uint64_t pending_links = 0;  // name changes that would add one

  // A regular file.
  SimContent durable;
  SimContent device;
  SimContent cache;  // meaningful if cache_differs
  bool cache_differs = false;
  std::set<std::uint64_t> dropped_pages;  // clean in the cache, but not on the device. A write to one takes it whole.
  std::vector<SimRef<SimChange>> pending;

  // A directory.
  std::map<std::string, SimInodeId, std::less<>> names;
  std::map<std::string, SimInodeId, std::less<>> durable_names;
  bool names_dropped = false;  // a failed sync left names that nothing will make durable

  [[nodiscard]] const SimContent& cached() const { return cache_differs ? cache : device; }
};

// One change of one directory, or none: a rename inside a directory is a single change.
struct SimNameChange : SimShared {
  struct Slot {
    std::string name;
    SimInodeId inode;  // 0: the name goes
  };
  std::uint64_t sequence = 0;
  SimInodeId directory = 0;
  std::vector<Slot> slots;
  std::uint64_t needs = 0;  // sequence of a change without which this does not survive, or 0
};

}  // namespace cambium
