// SimDirtyFile: the unsynced sectors of one file and the versions each has had; puts together what a cut leaves of it.
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

  // Sector i after its first `version` changes; 0 is durable, versions(i) the newest.
  [[nodiscard]] std::size_t versions(std::size_t i) const { return GroupEnd(i) - groups_[i]; }
  void BuildVersion(std::size_t i, std::size_t version, char* out) const;
  // Draws what becomes of sector i; `keep_per_mille` is how likely its newest version is.
  void DrawSector(std::size_t i, Prng& prng, const DamageMix& mix, unsigned keep_per_mille, char* out,
                  CutReport* report) const;
  // The durable size or one of the later ones.
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
