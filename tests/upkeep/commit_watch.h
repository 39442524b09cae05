// For tests of commits of several families: CommitWatch watches in which order files of indexes are written, synced and
// named; NoSpaceForOutput makes one of these files fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "io/sim/sim_file_system.h"

namespace cambium::testing {

inline bool IsOutput(std::string_view path) { return path.ends_with(".run") || path.ends_with(".idx"); }
inline bool IsManifest(std::string_view path) { return path.find("/MANIFEST-") != std::string_view::npos; }

// The nth operation of this kind on a file of an index finds no space. Syncs of a tree's files are left out: if a
// MANIFEST record names the file, its failed sync is fatal.
inline SimFault NoSpaceForOutput(SimOpKind kind, std::uint64_t nth) {
  SimFault fault;
  fault.kind = kind;
  fault.matches = [](SimOpKind its, const std::string& path) {
    return path.ends_with(".run") || (its == SimOpKind::kWrite && path.ends_with(".idx"));
  };
  fault.nth = nth;
  fault.status = Status::NoSpace("injected");
  return fault;
}

// One thread. Watches during its life.
class CommitWatch {
 public:
  explicit CommitWatch(SimFileSystem* fs) : fs_(*fs) {
    hook_ = fs_.AddHook([this](const SimOp& op) {
      if (op.phase == SimPhase::kAfter) Note(op);
    });
  }
  ~CommitWatch() { fs_.RemoveHook(hook_); }
  CommitWatch(const CommitWatch&) = delete;
  CommitWatch& operator=(const CommitWatch&) = delete;

  struct Counts {
    std::size_t named_unsynced = 0;  // files that were not synced when a MANIFEST record was
    int syncs_between = 0;           // files that were written after another one of the same commit was synced
  };
  [[nodiscard]] Counts counts() const { return counts_; }
  [[nodiscard]] bool has_written() const { return has_written_; }

 private:
  void Note(const SimOp& op) {
    if (IsOutput(op.path) && op.kind == SimOpKind::kWrite) {
      has_written_ = true;
      unsynced_.insert(std::string(op.path));
      counts_.syncs_between += has_synced_ ? 1 : 0;
    } else if (IsOutput(op.path) && op.kind == SimOpKind::kSync) {
      unsynced_.erase(std::string(op.path));
      has_synced_ = true;
    } else if (IsManifest(op.path) && op.kind == SimOpKind::kSync) {
      counts_.named_unsynced += unsynced_.size();
      has_synced_ = false;
    }
  }

  SimFileSystem& fs_;
  int hook_ = 0;
  std::set<std::string> unsynced_;
  Counts counts_;
  bool has_synced_ = false;
  bool has_written_ = false;
};

}  // namespace cambium::testing
