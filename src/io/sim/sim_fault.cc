#include "io/sim/sim_fault.h"

#include <array>
#include <numeric>
#include <utility>

namespace cambium {

const char* SimOpName(SimOpKind kind) {
  static constexpr auto kNames = std::to_array(
      {"open",      "create", "read", "write", "sync",   "truncate", "allocate", "punch",          "info", "map",
       "residency", "advise", "list", "mkdir", "rmdir",  "unlink",   "rename",   "link", "sync_directory",
       "open_directory", "lock", "free_space"});
  static_assert(kNames.size() == kSimOpKinds);
  return kNames[static_cast<std::size_t>(kind)];
}

bool IsMutating(SimOpKind kind) {
  switch (kind) {
    case SimOpKind::kCreate:
    case SimOpKind::kWrite:
    case SimOpKind::kSync:
    case SimOpKind::kTruncate:
    case SimOpKind::kAllocate:
    case SimOpKind::kPunchHole:
    case SimOpKind::kCreateDirectory:
    case SimOpKind::kRemoveDirectory:
    case SimOpKind::kUnlink:
    case SimOpKind::kRename:
    case SimOpKind::kLink:
    case SimOpKind::kSyncDirectory:
      return true;
    default:
      return false;
  }
}

int SimFaults::Add(SimFault fault) {
  entries_.push_back({next_id_, std::move(fault)});
  return next_id_++;
}

void SimFaults::Remove(int id) {
  std::erase_if(entries_, [id](const Entry& entry) { return entry.id == id; });
}

const SimFault* SimFaults::Check(SimOpKind kind, const std::string& path) {
  ++calls_[static_cast<std::size_t>(kind)];
  const SimFault* hit = nullptr;
  for (Entry& entry : entries_) {
    const SimFault& fault = entry.fault;
    if (fault.kind.has_value() && *fault.kind != kind) continue;
    if (fault.matches && !fault.matches(kind, path)) continue;
    ++entry.seen;
    if (entry.seen == fault.nth || (fault.sticky && entry.seen > fault.nth)) hit = hit == nullptr ? &fault : hit;
  }
  if (hit != nullptr) ++hits_;
  return hit;
}

std::uint64_t SimFaults::calls() const { return std::accumulate(calls_.begin(), calls_.end(), std::uint64_t{0}); }

}  // namespace cambium
