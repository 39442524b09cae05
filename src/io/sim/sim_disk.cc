#include "io/sim/sim_disk.h"

#include <algorithm>
#include <cassert>

namespace cambium {

// SimChange

void SimChange::TouchedRange(std::uint64_t* begin, std::uint64_t* end) const {
  *begin = *end = 0;
  switch (kind) {
    case Kind::kWrite:
      if (lost) return;
      *begin = place;
      *end = place + length;
      return;
    case Kind::kTruncate:
      if (size_after >= size_before) return;
      *begin = size_after;
      *end = size_before;
      return;
    case Kind::kPunchHole:
      *begin = offset;
      *end = std::max(offset, std::min(offset + length, size_before));
      return;
    case Kind::kAllocate:
      return;
  }
}

void SimChange::ApplyTo(SimContent* content) const {
  switch (kind) {
    case Kind::kWrite:
      if (!lost) content->Write(place, Slice(data));
      if (content->size() < offset + length) content->Resize(offset + length);
      return;
    case Kind::kTruncate:
      content->Resize(size_after);
      return;
    case Kind::kPunchHole:
      content->Punch(offset, length);
      return;
    case Kind::kAllocate:
      content->Allocate(offset, length);
      if (size_after > size_before && content->size() < size_after) content->Resize(size_after);
      return;
  }
}

void SimChange::ApplyToCache(SimContent* content) const {
  if (kind == Kind::kWrite) {
    content->Write(offset, Slice(data));
  } else {
    ApplyTo(content);
  }
}

// Inodes and paths

SimDisk::SimDisk() {
  auto* root = new SimInode;
  root->id = kRoot;
  root->is_directory = true;
  root->link_count = root->durable_links = 1;
  inodes_.emplace_back(root);
}

std::size_t SimDisk::IndexOf(SimInodeId id) const {
  const auto found =
      std::lower_bound(inodes_.begin(), inodes_.end(), id,
                       [](const SimRef<SimInode>& inode, SimInodeId wanted) { return inode->id < wanted; });
  return found != inodes_.end() && (*found)->id == id ? static_cast<std::size_t>(found - inodes_.begin())
                                                      : inodes_.size();
}

const SimInode* SimDisk::FindInode(SimInodeId id) const {
  const std::size_t i = IndexOf(id);
  return i == inodes_.size() ? nullptr : &*inodes_[i];
}

const SimInode& SimDisk::GetInode(SimInodeId id) const {
  const std::size_t i = IndexOf(id);
  assert(i < inodes_.size());
  return *inodes_[i];
}

SimInode& SimDisk::EditInode(SimInodeId id) {
  const std::size_t i = IndexOf(id);
  assert(i < inodes_.size());
  return inodes_[i].Edit();
}

SimInode& SimDisk::Add(bool is_directory) {
  auto* inode = new SimInode;
  inode->id = next_inode_++;
  inode->is_directory = is_directory;
  inodes_.emplace_back(inode);
  return *inode;
}

std::vector<std::string_view> SimDisk::Components(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  return parts;
}

Status SimDisk::Find(std::string_view path, Place* place) const {
  *place = Place{0, "", kRoot};
  std::vector<Place> above_it;  // the directories passed on the way, without the last
  for (const std::string_view part : Components(path)) {
    const SimInode* above = FindInode(place->inode);
    if (above == nullptr || !above->is_directory) {
      return Status::PathNotFound(std::string(path) + ": no such file or directory");
    }
    if (part == "..") {
      if (!above_it.empty()) {
        *place = std::move(above_it.back());
        above_it.pop_back();
      }
      continue;
    }
    const auto found = above->names.find(part);
    Place next{above->id, std::string(part), found == above->names.end() ? 0 : found->second};
    above_it.push_back(std::exchange(*place, std::move(next)));
  }
  return Status::OK();
}

std::string SimDisk::PathOf(SimInodeId directory) const {
  std::string path;
  for (SimInodeId at = directory; at != kRoot;) {
    const auto names_it = [at](const auto& entry) { return entry.second == at; };
    const auto parent = std::ranges::find_if(inodes_, [&](const SimRef<SimInode>& inode) {
      return inode->is_directory && std::ranges::any_of(inode->names, names_it);
    });
    if (parent == inodes_.end()) return "";
    path.insert(0, "/" + std::ranges::find_if((*parent)->names, names_it)->first);
    at = (*parent)->id;
  }
  return path.empty() ? "/" : path;
}

void SimDisk::EmptyLostDirectories() {
  const auto is_lost = [](const SimInode& inode) {
    return inode.is_directory && inode.link_count == 0 && inode.durable_links == 0 && inode.pending_links == 0;
  };
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < inodes_.size(); ++i) {
      if (!is_lost(*inodes_[i])) continue;
      const SimInodeId id = inodes_[i]->id;
      Finish([id](const SimNameChange& change) { return change.directory == id; }, false);
      const auto names = inodes_[i]->names;
      const auto durable_names = inodes_[i]->durable_names;
      for (const auto& [name, target] : names) SetName(id, name, 0);
      for (const auto& [name, target] : durable_names) SetDurableName(id, name, 0);
      again = again || !names.empty() || !durable_names.empty();
    }
  }
}

void SimDisk::Sweep(const std::function<bool(SimInodeId)>& is_open) {
  EmptyLostDirectories();
  std::erase_if(inodes_, [&](const SimRef<SimInode>& inode) {
    return inode->link_count == 0 && inode->durable_links == 0 && inode->pending_links == 0 && !is_open(inode->id);
  });
}

std::uint64_t SimDisk::AllocatedBytes(const std::function<bool(SimInodeId)>& is_open) const {
  std::uint64_t bytes = 0;
  for (const SimRef<SimInode>& inode : inodes_) {
    if (inode->link_count > 0 || is_open(inode->id)) bytes += inode->device.allocated_bytes();
  }
  return bytes;
}

// Files

void SimDisk::Apply(SimInodeId id, SimChange change) {
  constexpr std::uint64_t kPage = SimContent::kBlockSize;
  SimInode& inode = EditInode(id);
  const std::uint64_t size = inode.cached().size();
  if (change.kind == SimChange::Kind::kWrite && !inode.dropped_pages.empty() && change.length > 0) {
    // A page that a failed sync dropped is whole in the cache. A write to it makes the whole page dirty.
    std::uint64_t begin = change.offset;
    std::uint64_t end = change.offset + change.length;
    if (inode.dropped_pages.contains(begin / kPage)) begin -= begin % kPage;
    if (inode.dropped_pages.contains((end - 1) / kPage))
      end = std::max(end, std::min(size, (end + kPage - 1) / kPage * kPage));
    std::string whole(end - begin, '\0');
    inode.cached().Read(begin, whole.size(), whole.data());
    whole.replace(change.offset - begin, change.length, change.data);
    change.place -= std::min(change.place, change.offset - begin);
    change.offset = begin;
    change.length = end - begin;
    change.data = std::move(whole);
    inode.dropped_pages.erase(inode.dropped_pages.lower_bound(begin / kPage),
                              inode.dropped_pages.upper_bound((end - 1) / kPage));
  }
  change.sequence = next_sequence_++;
  change.size_before = size;
  switch (change.kind) {
    case SimChange::Kind::kWrite:
      change.size_after = std::max(size, change.offset + change.length);
      break;
    case SimChange::Kind::kTruncate:
      change.size_after = change.offset;
      break;
    case SimChange::Kind::kAllocate:
      change.size_after = std::max(size, change.size_after);
      break;
    case SimChange::Kind::kPunchHole:
      change.size_after = size;
      break;
  }
  const bool astray = change.kind == SimChange::Kind::kWrite && (change.lost || change.place != change.offset);
  if (astray && !inode.cache_differs) {
    inode.cache = inode.device;
    inode.cache_differs = true;
  }
  change.ApplyTo(&inode.device);
  if (inode.cache_differs) change.ApplyToCache(&inode.cache);
  inode.pending.push_back(SimRef<SimChange>(new SimChange(std::move(change))));
}

void SimDisk::CommitData(SimInodeId id, std::uint64_t upto) {
  const SimInode& before = GetInode(id);
  if (before.pending.empty() || before.pending.front()->sequence > upto) return;
  SimInode& inode = EditInode(id);
  if (inode.pending.back()->sequence <= upto) {
    inode.durable = inode.device;
    inode.pending.clear();
    return;
  }
  std::size_t i = 0;
  for (; inode.pending[i]->sequence <= upto; ++i) inode.pending[i]->ApplyTo(&inode.durable);
  inode.pending.erase(inode.pending.begin(), inode.pending.begin() + static_cast<std::ptrdiff_t>(i));
}

void SimDisk::RebuildDevice(SimInode* inode) {
  inode->device = inode->durable;
  for (const SimRef<SimChange>& change : inode->pending) change->ApplyTo(&inode->device);
}

void SimDisk::DropData(SimInodeId id, std::uint64_t upto, bool keep_cache, Prng* partial) {
  constexpr std::uint64_t kPage = SimContent::kBlockSize;
  SimInode& inode = EditInode(id);
  const SimContent cache = inode.cached();
  std::map<std::uint64_t, bool> kept;  // for each written page
  const auto keeps = [&](std::uint64_t page) {
    const auto [at, is_new] = kept.try_emplace(page, false);
    if (is_new && partial != nullptr) at->second = partial->OneIn(2);
    return at->second;
  };
  std::vector<SimRef<SimChange>> remaining;
  for (const SimRef<SimChange>& change : inode.pending) {
    if (change->sequence > upto || change->kind != SimChange::Kind::kWrite) {
      if (change->sequence > upto || keep_cache) remaining.push_back(change);
      continue;
    }
    // Splits the write into pages, kept and dropped ones; each remains in the list as a change of its own.
    for (std::uint64_t at = change->offset; at < change->offset + change->length;) {
      const std::uint64_t end = std::min(change->offset + change->length, (at / kPage + 1) * kPage);
      const bool keep = keeps(at / kPage);
      if (keep || keep_cache) {
        auto* const piece = new SimChange(*change);
        const SimRef<SimChange> owner(piece);
        piece->offset = at;
        piece->place = change->place + (at - change->offset);
        piece->length = end - at;
        piece->data = change->data.substr(at - change->offset, end - at);
        piece->lost = change->lost || !keep;
        remaining.push_back(owner);
      }
      at = end;
    }
  }
  inode.pending = std::move(remaining);
  RebuildDevice(&inode);
  if (keep_cache) {
    inode.cache = cache;
    inode.cache_differs = true;
    for (const auto& [page, keep] : kept) {
      if (!keep) inode.dropped_pages.insert(page);
    }
  } else {
    inode.cache = SimContent();
    inode.cache_differs = false;
    inode.dropped_pages.clear();
  }
}

void SimDisk::ForgetCache(SimInodeId id, std::uint64_t offset, std::uint64_t length) {
  constexpr std::uint64_t kPage = SimContent::kBlockSize;
  const SimInode& before = GetInode(id);
  if (!before.cache_differs) return;
  const std::uint64_t pages = (before.cache.size() + kPage - 1) / kPage;
  const std::uint64_t first = (offset + kPage - 1) / kPage;
  // If the range reaches the end of the file, the last page counts as whole.
  const bool to_end = length == 0 || length > pages * kPage || offset + length >= before.cache.size();
  const std::uint64_t end = to_end ? pages : (offset + length) / kPage;
  SimInode& inode = EditInode(id);
  if (first == 0 && end == pages) {
    inode.cache = SimContent();
    inode.cache_differs = false;
    inode.dropped_pages.clear();
    return;
  }
  std::string page_bytes(kPage, '\0');
  for (std::uint64_t page = first; page < end; ++page) {
    const std::size_t n = std::min<std::uint64_t>(kPage, inode.cache.size() - page * kPage);
    inode.device.Read(page * kPage, n, page_bytes.data());
    inode.cache.Write(page * kPage, Slice(page_bytes.data(), n));
    inode.dropped_pages.erase(page);
  }
}

bool SimDisk::IsDataDurable(SimInodeId id, std::uint64_t size) const {
  const SimInode* inode = FindInode(id);
  if (inode == nullptr || inode->durable.size() < size) return false;
  for (const SimRef<SimChange>& change : inode->pending) {
    std::uint64_t begin = change->offset;
    std::uint64_t end = change->offset + change->length;
    if (change->kind != SimChange::Kind::kWrite) change->TouchedRange(&begin, &end);
    if (begin < std::min(end, size)) return false;
  }
  return inode->dropped_pages.empty() || *inode->dropped_pages.begin() * SimContent::kBlockSize >= size;
}

std::string SimDisk::CheckInvariants() const {
  struct Counts {
    std::uint64_t links = 0;
    std::uint64_t durable = 0;
    std::uint64_t pending = 0;
  };
  std::map<SimInodeId, Counts> counts;
  counts[kRoot].links = counts[kRoot].durable = 1;
  for (const SimRef<SimInode>& inode : inodes_) {
    for (const auto& [name, target] : inode->names) ++counts[target].links;
    for (const auto& [name, target] : inode->durable_names) ++counts[target].durable;
  }
  std::uint64_t previous = 0;
  for (const SimRef<SimNameChange>& change : name_changes_) {
    if (change->sequence <= previous) return "name changes out of order";
    previous = change->sequence;
    if (FindInode(change->directory) == nullptr) return "name change in a directory that is gone";
    for (const SimNameChange::Slot& slot : change->slots) {
      if (slot.inode != 0) ++counts[slot.inode].pending;
    }
  }
  for (const auto& [id, count] : counts) {
    if (FindInode(id) == nullptr) return "inode " + std::to_string(id) + " has a name but does not exist";
  }
  for (const SimRef<SimInode>& inode : inodes_) {
    const std::string who = "inode " + std::to_string(inode->id) + ": ";
    const Counts& count = counts[inode->id];
    if (inode->link_count != count.links) return who + "link count";
    if (inode->durable_links != count.durable) return who + "durable links";
    if (inode->pending_links != count.pending) return who + "pending links";
    SimContent device = inode->durable;
    previous = 0;
    for (const SimRef<SimChange>& change : inode->pending) {
      if (change->sequence < previous) return who + "changes out of order";
      previous = change->sequence;
      change->ApplyTo(&device);
    }
    if (!device.Equals(inode->device)) return who + "device is not durable with its changes";
    if (!inode->cache_differs && !inode->dropped_pages.empty()) return who + "dropped pages without a cache";
  }
  return {};
}

// Crash images

void SimDisk::ReplaceContent(SimInodeId id, SimContent content) {
  SimInode& inode = EditInode(id);
  inode.durable = std::move(content);
  inode.device = inode.durable;
  inode.cache = SimContent();
  inode.cache_differs = false;
  inode.dropped_pages.clear();
  inode.pending.clear();
}

}  // namespace cambium
