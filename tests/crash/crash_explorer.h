// CrashExplorer: runs a program in the simulated file system, takes images of the disk at its operations, and lets the
// power go or the process die in many ways at each of them.
//
//   life 1      the program runs; at chosen operations an image is taken, with what must be there then
//   each image  is damaged in several ways; each way is opened, read completely, matched with the timeline, verified
//   during the opening an image is taken too, in some: recovery is cut by another crash, and must find the same state
//   then        some live on: more operations, a crash in the middle of them, and so on, up to four lives
//
// Everything follows from the program and the seed. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/sim/sim_file_system.h"
#include "testing/program.h"
#include "testing/runner.h"
#include "testing/timeline.h"

namespace cambium::testing {

// What else goes wrong in life 1. One class at a time.
enum class FaultClass : std::uint8_t {
  kNone,
  kSyncDropKeepCache,
  kSyncDropRevertCache,
  kSyncFalse,
  kSyncLate,
  kWriteError,  // EIO, with some or all bytes written all the same
  kReadError,
  kOtherError,  // of any other call: opening, creating, listing, unlinking, ...
  kNoSpace,     // a quota that is reached for some operations
  kNoSpaceLate  // the same with delayed allocation: the sync says so
};
inline constexpr int kFaultClasses = 10;
[[nodiscard]] const char* FaultClassName(FaultClass fault);

struct ExplorerSettings {
  SimNames names = SimNames::kPosix;
  FaultClass fault = FaultClass::kNone;
  std::size_t images_max = 16;       // of life 1; fewer if it has fewer operations
  std::size_t variants_min = 6;      // damages per image
  std::size_t variants_max = 10;
  unsigned cut_recovery_percent = 30;
  unsigned live_on_percent = 12;
  int lives_max = 4;
  bool rules = true;                 // EngineRules in life 1
  DamageMix mix;
};

class CrashExplorer {
 public:
  CrashExplorer(const Program& program, std::uint64_t seed, const ExplorerSettings& settings);
  ~CrashExplorer();

  // "" or the first violation.
  [[nodiscard]] std::string Run();
  // Openings of a damaged image so far.
  [[nodiscard]] std::uint64_t images() const { return images_; }
  [[nodiscard]] std::uint64_t fault_hits() const { return fault_hits_; }
  // In all lives.
  [[nodiscard]] const SimReadCounts& read_counts() const { return read_counts_; }

 private:
  struct Captured {
    SimImage image;
    std::shared_ptr<const Timeline> timeline;
    Timeline::Bound bound;
    bool kill_keeps_all = true;  // false after a failed sync: the page cache is doubted
    bool cache_survives = false;  // killed, no cut: what the cache shows may not be on the device
    bool lied_to = false;        // a sync said OK and had failed: corruption may be found
    std::string where;
  };
  // What a recovery must find if it must find exactly that.
  struct Exact {
    std::uint64_t hash;
    SequenceNumber sequence;
  };
  enum class Crash : std::uint8_t { kPower, kKill, kKillThenPower };

  std::string RunFirstLife();
  void AddFault(SimFileSystem* fs);
  void Capture(const Captured& captured);
  std::string CheckCaptured(const Captured& captured);
  // Opens the image; `power_cut` says which bound holds. from.cache_survives speaks of this image.
  std::string CheckRecovery(const SimImage& image, const Captured& from, bool power_cut, const std::string& how, int life,
                            const std::optional<Exact>& exact);
  std::string LiveOn(TestDatabase* database, std::shared_ptr<SimFileSystem> fs, std::shared_ptr<Timeline> timeline,
                     const std::string& how, int life);
  [[nodiscard]] DamageMix MixFor(const Captured& captured) const;
  [[nodiscard]] SimOptions SimOptionsFor(std::uint64_t seed) const;

  const Program& program_;
  const ExplorerSettings settings_;
  Prng prng_;
  std::uint64_t next_operation_id_;
  std::vector<Captured> captured_;
  std::uint64_t seen_ = 0;  // operations of life 1 that could have been captured
  std::uint64_t images_ = 0;
  std::uint64_t fault_hits_ = 0;
  SimReadCounts read_counts_;
};

}  // namespace cambium::testing
