// SimFault: which call fails and how; SimFaults: the list of them, and the counts that an n-th-call sweep needs.
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

// What a failed sync of a file or a directory leaves behind.
enum class SyncFailure : unsigned char {
  kDropKeepCache,    // unsynced data never gets there, reads still show it, the next sync says OK (ext4, XFS)
  kDropRevertCache,  // it never gets there, and reads show the old file again (btrfs)
  kFalse,            // all of it is durable all the same
  kLate,             // as kDropKeepCache, but this sync says OK and the next one of the file returns the error
};

struct SimFault {
  std::optional<SimOpKind> kind;                               // absent: any
  std::function<bool(SimOpKind, const std::string&)> matches;  // of kind and path; empty: all
  std::uint64_t nth = 1;                                       // the n-th call that fits, counted from AddFault on
  bool sticky = false;                                         // and all later ones
  Status status = Status::IOError("injected fault");
  std::uint64_t short_bytes = 0;  // a write: so many of its bytes land all the same
  bool takes_effect = false;      // other calls: it happens, and the error is reported all the same
  SyncFailure sync = SyncFailure::kDropKeepCache;
  bool partial_drop = false;  // a sync: about half of the unsynced pages stay
};

// What the device does with one write, whatever it says.
struct SimWriteFate {
  bool lost = false;                         // nothing, though later syncs succeed
  std::optional<std::uint64_t> misdirected;  // the bytes go to this offset of the same file
};
// Asked for each write, with its number counted from 0 since the file system was made.
using SimWriteOverlay = std::function<SimWriteFate(std::uint64_t write, const SimOp& op)>;

class SimFaults {
 public:
  int Add(SimFault fault);
  void Remove(int id);
  void Clear() { entries_.clear(); }

  // Counts the call. The fault that hits it, or nullptr; valid until the list changes.
  const SimFault* Check(SimOpKind kind, const std::string& path);

  [[nodiscard]] std::uint64_t calls(SimOpKind kind) const { return calls_[static_cast<std::size_t>(kind)]; }
  [[nodiscard]] std::uint64_t calls() const;
  // How many calls a fault has hit.
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
