#include "io/sim/sim_dirty_file.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace cambium {

SimDirtyFile::SimDirtyFile(const SimInode& inode) : inode_(&inode) {
  constexpr std::uint64_t kSectorsPerBlock = SimContent::kBlockSize / kSimSectorSize;
  for (std::uint32_t c = 0; c < inode.pending.size(); ++c) {
    const SimChange& change = *inode.pending[c];
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    change.TouchedRange(&begin, &end);
    if (begin >= end) continue;
    const std::uint64_t first = begin / kSimSectorSize;
    const std::uint64_t last = (end - 1) / kSimSectorSize;
    if (change.kind == SimChange::Kind::kWrite) {
      for (std::uint64_t s = first; s <= last; ++s) touches_.emplace_back(s, c);
      continue;
    }
    // Only sectors with data count as zeroed: truncating an empty allocation of 256 MiB must cost nothing.
    std::set<std::uint64_t> sectors;
    for (const auto& [touched, earlier] : touches_) {
      if (touched >= first && touched <= last) sectors.insert(touched);
    }
    inode.durable.ForEachWrittenBlock(begin, std::min(end, inode.durable.size()), [&](std::uint64_t block) {
      for (std::uint64_t s = block * kSectorsPerBlock; s < (block + 1) * kSectorsPerBlock; ++s) {
        if (s >= first && s <= last) sectors.insert(s);
      }
    });
    for (const std::uint64_t s : sectors) touches_.emplace_back(s, c);
  }
  std::sort(touches_.begin(), touches_.end());
  for (std::size_t t = 0; t < touches_.size(); ++t) {
    if (t == 0 || touches_[t].first != touches_[t - 1].first) groups_.push_back(t);
  }
}

bool SimDirtyFile::has_pending_size() const {
  for (const SimRef<SimChange>& change : inode_->pending) {
    if (change->size_after != inode_->durable.size()) return true;
  }
  return false;
}

template <typename Each>
void SimDirtyFile::ForEachChange(std::size_t i, std::size_t version, Each each) const {
  const std::uint64_t start = sector(i) * kSimSectorSize;
  for (std::size_t t = groups_[i]; t < groups_[i] + version; ++t) {
    const SimChange& change = *inode_->pending[touches_[t].second];
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    change.TouchedRange(&begin, &end);
    begin = std::max(begin, start);
    end = std::min(end, start + kSimSectorSize);
    if (begin < end) each(change, begin - start, end - start);
  }
}

void SimDirtyFile::BuildVersion(std::size_t i, std::size_t version, char* out) const {
  const std::uint64_t start = sector(i) * kSimSectorSize;
  inode_->durable.Read(start, kSimSectorSize, out);
  ForEachChange(i, version, [&](const SimChange& change, std::uint64_t begin, std::uint64_t end) {
    if (change.kind == SimChange::Kind::kWrite) {
      std::memcpy(out + begin, change.data.data() + (start + begin - change.place), end - begin);
    } else {
      std::memset(out + begin, 0, end - begin);
    }
  });
}

void SimDirtyFile::DrawSector(std::size_t i, Prng& prng, const DamageMix& mix, unsigned keep_per_mille, char* out,
                              CutReport* report) const {
  const std::size_t newest = versions(i);
  const auto garble = [&](std::size_t from) {
    for (std::size_t at = from; at < kSimSectorSize; ++at) out[at] = static_cast<char>(prng.Next() >> 56);
  };
  // Fills sector i with garbage, except its first `spared` bytes.
  const auto garbage = [&](std::uint64_t spared) {
    ++report->sectors_garbage;
    BuildVersion(i, prng.Uniform(newest + 1), out);
    if (!mix.spare_synced_bytes) return garble(0);
    ForEachChange(i, newest, [&](const SimChange& change, std::uint64_t begin, std::uint64_t end) {
      if (change.kind != SimChange::Kind::kWrite) return;
      for (std::uint64_t at = std::max(begin, spared); at < end; ++at) out[at] = static_cast<char>(prng.Next() >> 56);
    });
  };

  const std::uint64_t fate = prng.Uniform(1000);
  if (fate < mix.garbage_per_mille) return garbage(0);
  if (fate < mix.garbage_per_mille + mix.torn_per_mille) {
    ++report->sectors_torn;
    char other[kSimSectorSize];
    const std::size_t before = prng.Uniform(newest + 1);
    const std::size_t after = (before + 1 + prng.Uniform(newest)) % (newest + 1);
    BuildVersion(i, before, out);
    BuildVersion(i, after, other);
    const std::size_t cut = prng.Uniform(kSimSectorSize + 1);
    std::memcpy(out + cut, other + cut, kSimSectorSize - cut);
    return;
  }
  if (prng.Uniform(1000) < keep_per_mille) {
    ++report->sectors_newest;
    return BuildVersion(i, newest, out);
  }
  const std::size_t version = prng.OneIn(2) ? 0 : prng.Uniform(newest);
  if (version > 0) {
    ++report->sectors_between;
    return BuildVersion(i, version, out);
  }
  // The file may have grown without its data. Then the bytes after its durable end are zeros, or what the blocks held
  // before. The bytes below the durable end are spared. No write has changed them, but a change may cover them: a write
  // to a page that a failed sync has dropped counts as a write of the whole page.
  const std::uint64_t start = sector(i) * kSimSectorSize;
  const std::uint64_t durable_size = inode_->durable.size();
  if (start + kSimSectorSize > durable_size && mix.garbage_per_mille > 0 && prng.OneIn(4)) {
    return garbage(durable_size > start ? durable_size - start : 0);
  }
  ++report->sectors_durable;
  BuildVersion(i, 0, out);
}

std::uint64_t SimDirtyFile::DrawSize(Prng& prng, unsigned keep_per_mille) const {
  const auto& pending = inode_->pending;
  if (pending.empty()) return inode_->durable.size();
  if (prng.Uniform(1000) < keep_per_mille) return pending.back()->size_after;
  const std::uint64_t pick = prng.Uniform(pending.size() + 1);
  return pick == 0 ? inode_->durable.size() : pending[pick - 1]->size_after;
}

}  // namespace cambium
