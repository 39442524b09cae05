// SimImage: the simulated disk at one moment, as a value. From it come the states that a power cut or a kill may leave,
// each as cheap as what it changes; and a SimFileSystem starts from it.
//
//   SimImage now = fs.Snapshot();
//   SimFileSystem after(now.DrawCrash(prng));          // power cut
//   SimFileSystem restarted(now.Kill(prng));           // kill -9: dirty pages are still there, and still dirty
//   SimFileSystem later(now.Kill(prng).DrawCrash(prng));  // so that a cut may take them after all
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
  // A write that had begun and not ended.
  struct InFlight {
    SimInodeId inode = 0;
    std::uint64_t offset = 0;
    std::string data;
  };

  SimImage() = default;
  SimImage(SimDisk disk, std::vector<InFlight> in_flight, std::uint64_t operation)
      : disk_(std::move(disk)), in_flight_(std::move(in_flight)), operation_(operation) {}

  // What may be there after the power comes back: nothing in it is unsynced. The same prng gives the same image.
  [[nodiscard]] SimImage DrawCrash(Prng& prng, const DamageMix& mix = {}, CutReport* report = nullptr) const;

  // What the next process finds after kill -9: the page cache as it was, unsynced data and names still unsynced, and of
  // each write in flight some whole pages from its start.
  [[nodiscard]] SimImage Kill(Prng& prng) const;

  // Everything a cut may take: each unsynced sector, each size, each name change. CutKeeping takes those whose place in
  // `kept` is false back to their durable state and brings the others to their newest; kept.size() is Units().size().
  [[nodiscard]] std::vector<SimUnit> Units() const;
  [[nodiscard]] SimImage CutKeeping(const std::vector<bool>& kept) const;

  [[nodiscard]] const SimDisk& disk() const { return disk_; }
  [[nodiscard]] const std::vector<InFlight>& in_flight() const { return in_flight_; }
  // How many mutating operations had begun.
  [[nodiscard]] std::uint64_t operation() const { return operation_; }

 private:
  SimDisk disk_;
  std::vector<InFlight> in_flight_;
  std::uint64_t operation_ = 0;
};

}  // namespace cambium
