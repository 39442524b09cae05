// The calls of a simulated file system, and what hooks learn about the mutating ones.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "cambium/status.h"
#include "io/sim/sim_inode.h"

namespace cambium {

enum class SimOpKind : unsigned char {
  kOpen,  // of a file that exists; kCreate otherwise
  kCreate,
  kRead,
  kWrite,
  kSync,  // SyncData and Sync
  kTruncate,
  kAllocate,
  kPunchHole,
  kGetInfo,
  kMap,
  kResidency,
  kAdvise,
  kList,
  kCreateDirectory,
  kRemoveDirectory,
  kUnlink,
  kRename,
  kLink,
  kSyncDirectory,
  kOpenDirectory,
  kLock,
  kFreeSpace,
};
inline constexpr int kSimOpKinds = static_cast<int>(SimOpKind::kFreeSpace) + 1;

[[nodiscard]] const char* SimOpName(SimOpKind kind);
// Returns true for calls that change the disk or its durable state. Only these have an index and call hooks.
[[nodiscard]] bool IsMutating(SimOpKind kind);

enum class SimPhase : unsigned char {
  kBefore,  // nothing has happened yet; if it is a write, a snapshot taken here has it in flight
  kInside,  // syncs only: the sync has begun and does not cover later writes
  kAfter,   // the operation is done or has failed
};

// One phase of a mutating operation. Valid during the call of the hook.
struct SimOp {
  std::uint64_t index = 0;  // 0 for the first mutating operation of this SimFileSystem; equal in all phases
  SimOpKind kind = SimOpKind::kWrite;
  SimPhase phase = SimPhase::kBefore;
  std::string_view path;         // as the caller gave it; for a File, the name it was opened under
  std::string_view to;           // of a rename or a link
  SimInodeId inode = 0;          // the inode that is changed or named, 0 if it does not exist (yet)
  std::uint64_t link_count = 0;  // of that inode, when the operation began
  std::uint64_t offset = 0;      // of a write, allocation or hole; the new size for a truncation
  std::uint64_t length = 0;
  const Status* status = nullptr;  // kAfter: how it ended
};

// Runs without a lock held, so it may call the file system, including Snapshot(), and the engine above it.
using SimHook = std::function<void(const SimOp&)>;

}  // namespace cambium
