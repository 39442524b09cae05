// The names of the simulated disk: those that the running system sees, the durable ones, and the changes in between.
#include <algorithm>

#include "io/sim/sim_disk.h"

namespace cambium {

void SimDisk::SetName(SimInodeId directory, const std::string& name, SimInodeId target) {
  auto& names = EditInode(directory).names;
  const auto found = names.find(name);
  if (found != names.end()) {
    const SimInodeId old = found->second;
    names.erase(found);
    --EditInode(old).link_count;
  }
  if (target == 0) return;
  EditInode(directory).names.emplace(name, target);
  ++EditInode(target).link_count;
}

void SimDisk::SetDurableName(SimInodeId directory, const std::string& name, SimInodeId target) {
  auto& names = EditInode(directory).durable_names;
  const auto found = names.find(name);
  if (found != names.end()) {
    const SimInodeId old = found->second;
    names.erase(found);
    --EditInode(old).durable_links;
  }
  if (target == 0) return;
  EditInode(directory).durable_names.emplace(name, target);
  ++EditInode(target).durable_links;
}

void SimDisk::Change(SimInodeId directory, std::vector<SimNameChange::Slot> slots, std::uint64_t needs) {
  for (const SimNameChange::Slot& slot : slots) {
    if (slot.inode != 0) ++EditInode(slot.inode).pending_links;
    SetName(directory, slot.name, slot.inode);
  }
  auto* change = new SimNameChange;
  change->sequence = next_sequence_++;
  change->directory = directory;
  change->slots = std::move(slots);
  change->needs = needs;
  name_changes_.emplace_back(change);
}

SimInodeId SimDisk::Create(const Place& place, bool is_directory) {
  const SimInodeId id = Add(is_directory).id;
  Change(place.directory, {{place.name, id}});
  return id;
}

void SimDisk::Link(const Place& place, SimInodeId target) { Change(place.directory, {{place.name, target}}); }

void SimDisk::Unlink(const Place& place) { Change(place.directory, {{place.name, 0}}); }

void SimDisk::Rename(const Place& from, const Place& to) {
  if (from.inode == to.inode) return;  // two names of one file: POSIX demands that nothing happens
  if (from.directory == to.directory) {
    Change(from.directory, {{from.name, 0}, {to.name, from.inode}});
    return;
  }
  // Two directories mean two changes, but no file system loses the old name before the new one is durable.
  Change(to.directory, {{to.name, from.inode}});
  Change(from.directory, {{from.name, 0}}, last_sequence());
}

void SimDisk::Finish(const std::function<bool(const SimNameChange&)>& chosen, bool commit) {
  std::vector<SimRef<SimNameChange>> remaining;
  for (const SimRef<SimNameChange>& change : name_changes_) {
    if (!chosen(*change)) {
      remaining.push_back(change);
      continue;
    }
    for (const SimNameChange::Slot& slot : change->slots) {
      if (commit) SetDurableName(change->directory, slot.name, slot.inode);
      if (slot.inode != 0) --EditInode(slot.inode).pending_links;
    }
  }
  name_changes_ = std::move(remaining);
}

void SimDisk::CommitNames(SimInodeId directory, std::uint64_t upto) {
  if (name_changes_.empty()) return;
  if (name_rule_ != SimNames::kPosix) {
    Finish([&](const SimNameChange& change) { return change.sequence <= upto; }, true);
    return;
  }
  // First commits the changes in other directories that this directory's changes need, and the changes before them.
  std::vector<std::uint64_t> needed;
  for (const SimRef<SimNameChange>& change : name_changes_) {
    if (change->directory == directory && change->sequence <= upto && change->needs != 0)
      needed.push_back(change->needs);
  }
  for (const std::uint64_t sequence : needed) {
    for (const SimRef<SimNameChange>& change : name_changes_) {
      if (change->sequence != sequence) continue;
      const SimInodeId other = change->directory;
      CommitNames(other, sequence);
      break;
    }
  }
  Finish([&](const SimNameChange& change) { return change.directory == directory && change.sequence <= upto; }, true);
}

void SimDisk::DropNames(SimInodeId directory, std::uint64_t upto, bool keep_view) {
  const bool all = name_rule_ != SimNames::kPosix;
  std::vector<SimInodeId> directories;
  Finish(
      [&](const SimNameChange& change) {
        if (change.sequence > upto || !(all || change.directory == directory)) return false;
        directories.push_back(change.directory);
        return true;
      },
      false);
  for (const SimInodeId id : directories) EditInode(id).names_dropped = true;
  if (keep_view) return;
  // The running system now sees the durable names, with the changes made since.
  for (const SimInodeId id : directories) {
    auto wanted = GetInode(id).durable_names;
    for (const SimRef<SimNameChange>& change : name_changes_) {
      if (change->directory != id) continue;
      for (const SimNameChange::Slot& slot : change->slots) {
        wanted.erase(slot.name);
        if (slot.inode != 0) wanted.emplace(slot.name, slot.inode);
      }
    }
    const auto seen = GetInode(id).names;
    for (const auto& [name, inode] : seen) {
      if (!wanted.contains(name)) SetName(id, name, 0);
    }
    for (const auto& [name, inode] : wanted) SetName(id, name, inode);
  }
}

void SimDisk::CommitNamesOf(SimInodeId file, std::uint64_t upto) {
  if (name_rule_ != SimNames::kExt4 || GetInode(file).pending_links == 0) return;
  std::uint64_t newest = 0;
  for (const SimRef<SimNameChange>& change : name_changes_) {
    for (const SimNameChange::Slot& slot : change->slots) {
      if (slot.inode == file && change->sequence <= upto) newest = change->sequence;
    }
  }
  if (newest != 0) Finish([&](const SimNameChange& change) { return change.sequence <= newest; }, true);
}

bool SimDisk::IsNameDurable(std::string_view path) const {
  SimInodeId at = kRoot;
  for (const std::string_view part : Components(path)) {
    const SimInode* directory = FindInode(at);
    if (directory == nullptr || !directory->is_directory) return false;
    const auto seen = directory->names.find(part);
    const auto durable = directory->durable_names.find(part);
    if (seen == directory->names.end() || durable == directory->durable_names.end()) return false;
    if (seen->second != durable->second) return false;
    for (const SimRef<SimNameChange>& change : name_changes_) {
      if (change->directory != at) continue;
      for (const SimNameChange::Slot& slot : change->slots) {
        if (slot.name == part) return false;  // even if changed back: a cut may fall in between
      }
    }
    at = seen->second;
  }
  return true;
}

void SimDisk::ApplyNameChanges(const std::vector<bool>& survives) {
  bool dropped = false;
  for (const SimRef<SimInode>& inode : inodes_) dropped = dropped || inode->names_dropped;
  if (name_changes_.empty() && !dropped) {
    Sweep([](SimInodeId) { return false; });
    return;
  }
  for (std::size_t i = 0; i < name_changes_.size(); ++i) {
    if (!survives[i]) continue;
    for (const SimNameChange::Slot& slot : name_changes_[i]->slots) {
      SetDurableName(name_changes_[i]->directory, slot.name, slot.inode);
    }
  }
  name_changes_.clear();
  for (SimRef<SimInode>& inode : inodes_) {
    if (inode->pending_links == 0 && inode->link_count == inode->durable_links && !inode->is_directory) continue;
    SimInode& changed = inode.Edit();
    changed.pending_links = 0;
    changed.link_count = changed.durable_links;
    if (!changed.is_directory) continue;
    changed.names = changed.durable_names;
    changed.names_dropped = false;
  }
  Sweep([](SimInodeId) { return false; });
}

Status SimDisk::MakeFile(const std::string& path, SimInodeId* id) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    SimDisk::Place above;
    if (Status status = Find(path.substr(0, slash), &above); !status.ok()) return status;
    if (above.inode == 0) {
      Create(above, true);
      CommitNames(above.directory, last_sequence());
    }
  }
  SimDisk::Place place;
  if (Status status = Find(path, &place); !status.ok()) return status;
  *id = place.inode;
  if (*id == 0) {
    *id = Create(place, false);
    CommitNames(place.directory, last_sequence());
  }
  if (GetInode(*id).is_directory) return Status::IOError(path + ": is a directory");
  return Status::OK();
}

}  // namespace cambium
