// SimImage: the simulated disk at one moment, as a value. It draws the states that a power cut or a kill may leave;
// each costs only what differs. A SimFileSystem can start from an image.
//
//   SimImage now = fs.Snapshot();
//   SimFileSystem after(now.DrawCrash(prng));          // power cut
//   SimFileSystem restarted(now.Kill(prng));           // kill -9: dirty pages survive, and are still dirty
//   SimFileSystem later(now.Kill(prng).DrawCrash(prng));  // kill -9, then a power cut, which may lose them
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/sim/sim_damage.h"
#include "io/sim/sim_disk.h"
#include "util/prng.h"

namespace cambium {

// Any number of threads may read one image.
class SimImage {
 public:
  // A write that has begun and not ended.
  struct InFlight {
    SimInodeId inode = 0;
    std::uint64_t offset = 0;
    std::string data;
  };

  SimImage() = default;
  SimImage(SimDisk disk, std::vector<InFlight> in_flight, std::uint64_t operation)
      : disk_(std::move(disk)), in_flight_(std::move(in_flight)), operation_(operation) {}

  // Draws a state that a power cut may leave; nothing in it is unsynced. The same prng state gives the same image.
  [[nodiscard]] SimImage DrawCrash(Prng& prng, const DamageMix& mix = {}, CutReport* report = nullptr) const;

  // Returns what the next process finds after kill -9: the page cache as it was, with unsynced data and names still
  // unsynced. Each write in flight has written a random number of whole pages from its start.
  [[nodiscard]] SimImage Kill(Prng& prng) const;

  // Units returns everything that a cut may lose: each unsynced sector, size and name change. CutKeeping returns the
  // image in which unit i has its newest state if kept[i], else its durable state; kept.size() is Units().size().
  [[nodiscard]] std::vector<SimUnit> Units() const;
  [[nodiscard]] SimImage CutKeeping(const std::vector<bool>& kept) const;

  [[nodiscard]] const SimDisk& disk() const { return disk_; }
  [[nodiscard]] const std::vector<InFlight>& in_flight() const { return in_flight_; }
  // Returns how many mutating operations had begun.
  [[nodiscard]] std::uint64_t operation() const { return operation_; }

 private:
  SimDisk disk_;
  std::vector<InFlight> in_flight_;
  std::uint64_t operation_ = 0;
};

}  // namespace cambium
