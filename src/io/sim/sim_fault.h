// SimFault: which call fails and how. SimFaults: the list of faults, and the call counts for a test that fails each
// n-th call in turn.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cambium/status.h"
#include "io/sim/sim_op.h"

namespace cambium {

// The effect of a failed sync of a file or a directory on the unsynced changes.
enum class SyncFailure : unsigned char {
  kDropKeepCache,    // they never reach the device, reads still show them, the next sync returns OK (ext4, XFS)
  kDropRevertCache,  // they never reach the device, and reads show the old contents again (btrfs)
  kFalse,            // they are durable despite the error
  kLate,             // as kDropKeepCache, but this sync returns OK, and the next one of the file returns the error
};

struct SimFault {
  std::optional<SimOpKind> kind;                               // absent: any
  std::function<bool(SimOpKind, const std::string&)> matches;  // of kind and path; empty: all
  std::uint64_t nth = 1;                                       // the n-th matching call, counted from AddFault on
  bool sticky = false;                                         // if true, all later matching calls fail too
  Status status = Status::IOError("injected fault");
  std::uint64_t short_bytes = 0;  // for a write: how many of its bytes are written despite the error
  bool takes_effect = false;      // for other calls: the call takes effect despite the error
  SyncFailure sync = SyncFailure::kDropKeepCache;
  bool partial_drop = false;  // for a sync: about half of the unsynced pages are not dropped
};

// The effect of one write that the device reports as successful.
struct SimWriteFate {
  bool lost = false;                         // it writes nothing, though later syncs succeed
  std::optional<std::uint64_t> misdirected;  // it writes the bytes to this offset of the same file
};
// Called for each write, with its number, counted from 0 since the file system was created.
using SimWriteOverlay = std::function<SimWriteFate(std::uint64_t write, const SimOp& op)>;

class SimFaults {
 public:
  int Add(SimFault fault);
  void Remove(int id);
  void Clear() { entries_.clear(); }

  // Counts the call. Returns the fault that hits it, or nullptr. Valid until the list changes.
  const SimFault* Check(SimOpKind kind, const std::string& path);

  [[nodiscard]] std::uint64_t calls(SimOpKind kind) const { return calls_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::uint64_t calls() const;
  // Returns how many calls a fault has hit.
  [[nodiscard]] std::uint64_t hits() const { return hits_; }

 private:
  struct Entry {
    int id;
    SimFault fault;
    std::uint64_t seen = 0;
  };
  std::vector<Entry> entries_;
  std::array<std::uint64_t, kSimOpKinds> calls_{};
  std::uint64_t hits_ = 0;
  int next_id_ = 1;
};

}  // namespace cambium
