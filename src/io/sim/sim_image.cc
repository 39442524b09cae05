#include "io/sim/sim_image.h"

#include <algorithm>
#include <optional>

#include "io/sim/sim_dirty_file.h"

namespace cambium {

namespace {

constexpr unsigned kAlways = 1000;  // per mille

bool HasUnsyncedData(const SimInode& inode) { return !inode.pending.empty() || inode.cache_differs; }

// Corrects what was drawn: a journal keeps a prefix of the name changes, and a change does not survive without the
// change that it needs.
void EnforceNameRules(const SimDisk& disk, std::vector<bool>* survives) {
  const auto& changes = disk.name_changes();
  if (disk.name_rule() != SimNames::kPosix) {
    const auto kept = std::count(survives->begin(), survives->end(), true);
    for (std::size_t i = 0; i < changes.size(); ++i) (*survives)[i] = static_cast<std::ptrdiff_t>(i) < kept;
    return;
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!(*survives)[i] || changes[i]->needs == 0) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (changes[j]->sequence == changes[i]->needs && !(*survives)[j]) (*survives)[i] = false;
    }
  }
}

// Draws one cut. Its disk shares everything that the cut does not change with the original image.
class Cut {
 public:
  Cut(const SimDisk& before, Prng& prng, const DamageMix& mix, CutReport* report)
      : before_(before), after_(before), prng_(prng), mix_(mix), report_(report) {
    for (const SimRef<SimInode>& inode : before_.inodes()) {
      if (HasUnsyncedData(*inode)) dirty_.push_back(&*inode);
    }
    survives_.assign(before_.name_changes().size(), false);
    report_->dirty_files = dirty_.size();
    report_->name_changes = survives_.size();
  }

  SimDisk Draw() {
    switch (report_->damage = DrawDamage()) {
      case SimDamage::kAllLost:
        KeepAll(false);
        break;
      case SimDamage::kAllKept:
        KeepAll(true);
        break;
      case SimDamage::kOneFileKept:
        OneFile(true);
        break;
      case SimDamage::kOneFileLost:
        OneFile(false);
        break;
      case SimDamage::kPrefix:
        Prefix();
        break;
      case SimDamage::kOneUnit:
        OneUnit();
        break;
      case SimDamage::kUniform:
        Uniform();
        break;
    }
    EnforceNameRules(before_, &survives_);
    report_->name_changes_kept = static_cast<std::uint64_t>(std::count(survives_.begin(), survives_.end(), true));
    after_.ApplyNameChanges(survives_);
    return std::move(after_);
  }

 private:
  SimDamage DrawDamage() {
    DamageMix mix = mix_;
    std::uint64_t sum = 0;
    for (int i = 0; i < kSimDamageKinds; ++i) sum += mix.weight(static_cast<SimDamage>(i));
    std::uint64_t pick = sum == 0 ? 0 : prng_.Uniform(sum);
    for (int i = 0; i < kSimDamageKinds; ++i) {
      const auto damage = static_cast<SimDamage>(i);
      if (pick < mix.weight(damage)) return damage;
      pick -= mix.weight(damage);
    }
    return SimDamage::kAllLost;
  }

  // Keeps all unsynced changes of the file, or loses them.
  void KeepOrLose(const SimInode& inode, bool keep) {
    after_.ReplaceContent(inode.id, keep ? inode.device : inode.durable);
  }

  void KeepAll(bool keep) {
    for (const SimInode* inode : dirty_) KeepOrLose(*inode, keep);
    survives_.assign(survives_.size(), keep);
  }

  void OneFile(bool keep) {
    const std::size_t chosen = dirty_.empty() ? 0 : prng_.Uniform(dirty_.size());
    for (std::size_t i = 0; i < dirty_.size(); ++i) KeepOrLose(*dirty_[i], (i == chosen) == keep);
    const std::uint64_t names = prng_.Uniform(10);
    if (names < 6) {
      survives_.assign(survives_.size(), true);
    } else if (names < 9) {
      DrawNames();
    }
  }

  void Prefix() {
    const std::uint64_t last = before_.last_sequence();
    std::uint64_t first = last;
    for (const SimInode* inode : dirty_) {
      if (!inode->pending.empty()) first = std::min(first, inode->pending.front()->sequence - 1);
    }
    if (!survives_.empty()) first = std::min(first, before_.name_changes().front()->sequence - 1);
    const std::uint64_t moment = prng_.Between(first, last);
    for (const SimInode* inode : dirty_) {
      SimContent content = inode->durable;
      for (const SimRef<SimChange>& change : inode->pending) {
        if (change->sequence <= moment) change->ApplyTo(&content);
      }
      after_.ReplaceContent(inode->id, std::move(content));
    }
    for (std::size_t i = 0; i < survives_.size(); ++i) {
      survives_[i] = before_.name_changes()[i]->sequence <= moment;
    }
  }

  void OneUnit() {
    const bool keep = prng_.Uniform(10) < 7;
    KeepAll(keep);
    std::vector<SimDirtyFile> files;
    std::uint64_t units = survives_.size();
    for (const SimInode* inode : dirty_) {
      files.emplace_back(*inode);
      units += files.back().sector_count() + (files.back().has_pending_size() ? 1 : 0);
    }
    if (units == 0) return;
    std::uint64_t pick = prng_.Uniform(units);
    if (pick < survives_.size()) {
      survives_[pick] = !keep;
      return;
    }
    pick -= survives_.size();
    for (const SimDirtyFile& file : files) {
      SimContent content = keep ? file.inode().device : file.inode().durable;
      if (pick < file.sector_count()) {
        const std::uint64_t size = content.size();
        char bytes[kSimSectorSize];
        file.DrawSector(pick, prng_, mix_, keep ? 0 : kAlways, bytes, report_);
        content.Write(file.sector(pick) * kSimSectorSize, Slice(bytes, kSimSectorSize));
        // If the file lost all other changes, a sector after its durable end is visible only if the new size survives.
        const bool grow = !keep && prng_.OneIn(2);
        content.Resize(grow ? file.inode().device.size() : size);
        after_.ReplaceContent(file.inode().id, std::move(content));
        return;
      }
      pick -= file.sector_count();
      if (!file.has_pending_size()) continue;
      if (pick == 0) {
        content.Resize(file.DrawSize(prng_, keep ? 0 : kAlways));
        after_.ReplaceContent(file.inode().id, std::move(content));
        return;
      }
      --pick;
    }
  }

  void Uniform() {
    static constexpr unsigned kLikelihoods[] = {100, 500, 900};
    constexpr std::uint64_t kSectorsPerPage = 8;
    for (const SimInode* inode : dirty_) {
      const SimDirtyFile file(*inode);
      const unsigned keep = kLikelihoods[prng_.Uniform(3)];
      const bool by_page = prng_.OneIn(3);
      SimContent content = inode->durable;
      char bytes[kSimSectorSize];
      std::uint64_t page = ~std::uint64_t{0};
      bool page_kept = false;
      for (std::size_t i = 0; i < file.sector_count(); ++i) {
        if (by_page) {
          if (file.sector(i) / kSectorsPerPage != page) page_kept = prng_.Uniform(1000) < keep;
          page = file.sector(i) / kSectorsPerPage;
          file.BuildVersion(i, page_kept ? file.versions(i) : 0, bytes);
          ++(page_kept ? report_->sectors_newest : report_->sectors_durable);
        } else {
          file.DrawSector(i, prng_, mix_, keep, bytes, report_);
        }
        content.Write(file.sector(i) * kSimSectorSize, Slice(bytes, kSimSectorSize));
      }
      content.Resize(file.DrawSize(prng_, keep));
      after_.ReplaceContent(inode->id, std::move(content));
    }
    DrawNames();
  }

  void DrawNames() {
    const std::uint64_t keep = 1 + prng_.Uniform(3);  // how many of 4 names survive, on average
    for (std::size_t i = 0; i < survives_.size(); ++i) survives_[i] = prng_.Uniform(4) < keep;
  }

  const SimDisk& before_;
  SimDisk after_;
  Prng& prng_;
  const DamageMix& mix_;
  CutReport* report_;
  std::vector<const SimInode*> dirty_;
  std::vector<bool> survives_;
};

}  // namespace

std::string CutReport::ToString() const {
  static constexpr const char* kNames[kSimDamageKinds] = {"all lost", "all kept", "one file kept", "one file lost",
                                                          "prefix",   "one unit", "uniform"};
  return std::string(kNames[static_cast<int>(damage)]) + ": " + std::to_string(dirty_files) + " dirty files, sectors " +
         std::to_string(sectors_durable) + " durable " + std::to_string(sectors_between) + " between " +
         std::to_string(sectors_newest) + " newest " + std::to_string(sectors_torn) + " torn " +
         std::to_string(sectors_garbage) + " garbage, names " + std::to_string(name_changes_kept) + " of " +
         std::to_string(name_changes) + " kept";
}

SimImage SimImage::DrawCrash(Prng& prng, const DamageMix& mix, CutReport* report) const {
  CutReport unused;
  if (report == nullptr) report = &unused;
  *report = CutReport();
  // A write in flight counts as one more unsynced change.
  if (in_flight_.empty()) return {Cut(disk_, prng, mix, report).Draw(), {}, operation_};
  SimDisk with_writes = disk_;
  for (const InFlight& write : in_flight_) {
    SimChange change;
    change.offset = change.place = write.offset;
    change.length = write.data.size();
    change.data = write.data;
    with_writes.Apply(write.inode, std::move(change));
  }
  return {Cut(with_writes, prng, mix, report).Draw(), {}, operation_};
}

SimImage SimImage::Kill(Prng& prng) const {
  constexpr std::uint64_t kPage = SimContent::kBlockSize;
  SimDisk disk = disk_;
  for (const InFlight& write : in_flight_) {
    const std::uint64_t first_page = write.offset / kPage;
    const std::uint64_t end_page = (write.offset + write.data.size() + kPage - 1) / kPage;
    const std::uint64_t stop = prng.Between(first_page, end_page) * kPage;
    if (stop <= write.offset) continue;
    SimChange change;
    change.offset = change.place = write.offset;
    change.length = std::min<std::uint64_t>(write.data.size(), stop - write.offset);
    change.data = write.data.substr(0, change.length);
    disk.Apply(write.inode, std::move(change));
  }
  disk.Sweep([](SimInodeId) { return false; });
  return {std::move(disk), {}, operation_};
}

std::vector<SimUnit> SimImage::Units() const {
  std::vector<SimUnit> units;
  for (const SimRef<SimInode>& inode : disk_.inodes()) {
    if (inode->pending.empty()) continue;
    const SimDirtyFile file(*inode);
    for (std::size_t i = 0; i < file.sector_count(); ++i) {
      units.push_back({SimUnit::Kind::kSector, inode->id, file.sector(i)});
    }
    if (file.has_pending_size()) units.push_back({SimUnit::Kind::kSize, inode->id, 0});
  }
  for (std::size_t i = 0; i < disk_.name_changes().size(); ++i) units.push_back({SimUnit::Kind::kName, 0, i});
  return units;
}

SimImage SimImage::CutKeeping(const std::vector<bool>& kept) const {
  SimDisk after = disk_;
  std::size_t unit = 0;
  for (const SimRef<SimInode>& inode : disk_.inodes()) {
    if (!HasUnsyncedData(*inode)) continue;
    SimContent content = inode->durable;
    if (!inode->pending.empty()) {
      const SimDirtyFile file(*inode);
      char bytes[kSimSectorSize];
      for (std::size_t i = 0; i < file.sector_count(); ++i) {
        if (!kept[unit++]) continue;
        file.BuildVersion(i, file.versions(i), bytes);
        content.Write(file.sector(i) * kSimSectorSize, Slice(bytes, kSimSectorSize));
      }
      const bool newest_size = !file.has_pending_size() || kept[unit++];
      content.Resize(newest_size ? inode->device.size() : inode->durable.size());
    }
    after.ReplaceContent(inode->id, std::move(content));
  }
  std::vector<bool> survives(disk_.name_changes().size(), false);
  for (std::size_t i = 0; i < survives.size(); ++i) survives[i] = kept[unit++];
  EnforceNameRules(disk_, &survives);
  after.ApplyNameChanges(survives);
  return {std::move(after), {}, operation_};
}

}  // namespace cambium
