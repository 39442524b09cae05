// SimDirtyFile: the unsynced sectors of one file with their versions, from which it builds what a cut leaves.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "io/sim/sim_damage.h"
#include "io/sim/sim_inode.h"
#include "util/prng.h"

namespace cambium {

class SimDirtyFile {
 public:
  // `inode` must outlive this.
  explicit SimDirtyFile(const SimInode& inode);

  [[nodiscard]] const SimInode& inode() const { return *inode_; }
  // The unsynced sectors, ascending.
  [[nodiscard]] std::size_t sector_count() const { return groups_.size(); }
  [[nodiscard]] std::uint64_t sector(std::size_t i) const { return touches_[groups_[i]].first; }
  [[nodiscard]] bool has_pending_size() const;

  // The version of sector i after its first `version` changes: 0 is the durable one, versions(i) the newest.
  [[nodiscard]] std::size_t versions(std::size_t i) const { return GroupEnd(i) - groups_[i]; }
  void BuildVersion(std::size_t i, std::size_t version, char* out) const;
  // Draws what a cut leaves of sector i. `keep_per_mille` is the probability of its newest version.
  void DrawSector(std::size_t i, Prng& prng, const DamageMix& mix, unsigned keep_per_mille, char* out,
                  CutReport* report) const;
  // Returns the durable size or one of the later ones.
  [[nodiscard]] std::uint64_t DrawSize(Prng& prng, unsigned keep_per_mille) const;

 private:
  [[nodiscard]] std::size_t GroupEnd(std::size_t i) const {
    return i + 1 < groups_.size() ? groups_[i + 1] : touches_.size();
  }
  // Calls each(change, begin, end) with byte positions inside sector i, for its first `version` changes.
  template <typename Each>
  void ForEachChange(std::size_t i, std::size_t version, Each each) const;

  const SimInode* inode_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> touches_;  // sector, index in inode_->pending; sorted
  std::vector<std::size_t> groups_;                               // where each sector begins in touches_
};

}  // namespace cambium
