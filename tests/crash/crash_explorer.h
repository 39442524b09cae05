// CrashExplorer runs a program in the simulated file system, copies the disk at its operations, and simulates power
// cuts and kills at each of them.
//
//   life 1      runs the program; at chosen operations it takes an image of the disk, and notes what recovery must find
//   each image  is damaged in several ways; each result is opened, read completely, matched with the timeline, verified
//   recovery    during some of these opens an image is taken, too: a crash in recovery, after which the next recovery
//               must find the same state
//   next life   some continue: more operations, a crash in the middle of them, and so on, up to four lives
//
// Everything follows from the program and the seed. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/sim/sim_file_system.h"
#include "testing/program/program.h"
#include "testing/program/runner.h"
#include "testing/program/timeline.h"

namespace cambium::testing {

// The faults in life 1. One class at a time.
enum class FaultClass : std::uint8_t {
  kNone,
  kSyncDropKeepCache,
  kSyncDropRevertCache,
  kSyncFalse,
  kSyncLate,
  kWriteError,  // EIO, although some or all bytes are written
  kReadError,
  kOtherError,  // of any other call: open, create, list, unlink, ...
  kNoSpace,     // a quota that is reached for some operations
  kNoSpaceLate  // the same with delayed allocation: the sync reports it
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

  // Returns the first violation, or "".
  [[nodiscard]] std::string Run();
  // How many damaged images were checked so far.
  [[nodiscard]] std::uint64_t images() const { return images_; }
  // How many of them held the same files as an earlier one, and were not opened again.
  [[nodiscard]] std::uint64_t images_seen_before() const { return images_seen_before_; }
  [[nodiscard]] std::uint64_t fault_hits() const { return fault_hits_; }
  // The read counts of all lives.
  [[nodiscard]] const SimReadCounts& read_counts() const { return read_counts_; }

 private:
  struct Captured {
    SimImage image;
    std::shared_ptr<const Timeline> timeline;
    Timeline::Bound bound;
    bool kill_keeps_all = true;   // false after a failed sync: the page cache is not trusted
    bool cache_survives = false;  // a kill without a power cut: the cache may show bytes that are not on the device
    bool lied_to = false;         // a sync failed and returned OK: recovery may find corruption
    std::string where;
  };
  // The one state that a recovery must find.
  struct Exact {
    std::uint64_t hash;
    SequenceNumber sequence;
  };
  struct Recovered {
    Exact exact;
    std::map<std::string, std::string> values;
  };
  enum class Crash : std::uint8_t { kPower, kKill, kKillThenPower };
  struct FirstLife;

  // These return what is wrong, or "".
  std::string RunFirstLife();
  std::string OpenFirstLife(FirstLife* life);
  std::string RunOperations(FirstLife* life);
  std::string EndFirstLife(FirstLife* life);
  void AddFault(SimFileSystem* fs);
  void CaptureFirstLife(const FirstLife& life, std::string where);
  void Capture(const Captured& captured);
  std::string CheckCaptured(const Captured& captured);
  // Returns "" if `found` equals `wanted`, or if there is no `wanted`.
  [[nodiscard]] static std::string Difference(const Exact& found, const std::optional<Exact>& wanted);
  // Opens the image and checks its contents; `power_cut` says which bound applies. from.cache_survives is that of
  // `image`.
  std::string CheckRecovery(const SimImage& image, const Captured& from, bool power_cut, const std::string& how,
                            int life, const std::optional<Exact>& exact);
  // Returns "" if `found` is within the bound of `from`, and is `exact`, if that is given.
  [[nodiscard]] static std::string Mismatch(const Recovered& found, const Captured& from, bool power_cut,
                                            const std::optional<Exact>& exact, Timeline::Match* match);
  // Opens the database. *during is the state before one of the calls of the file system that this made.
  Status OpenAndCapture(ProgramDatabase* database, const std::shared_ptr<SimFileSystem>& fs, const Captured& from,
                        std::optional<Captured>* during);
  // These check the recovery after a further crash: within a recovery that captured `captured`, or right after one.
  // Recovery has shown its state to readers, so this state must be durable from then on.
  std::string CrashInRecovery(Captured captured, bool power_cut, const std::string& how, int life,
                              const std::optional<Exact>& exact);
  std::string CutAfterRecovery(const SimFileSystem& fs, Timeline timeline, const std::string& how, const Exact& exact);
  std::string LiveOn(ProgramDatabase* database, std::shared_ptr<SimFileSystem> fs, std::shared_ptr<Timeline> timeline,
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
  std::uint64_t images_seen_before_ = 0;
  // The recoveries that passed verification. The key is the fingerprint of the image and the write_buffer_size of the
  // Open, because recovery flushes if the buffer is too small for the log.
  std::map<std::pair<std::uint64_t, std::size_t>, Recovered> recovered_;
  std::uint64_t fault_hits_ = 0;
  SimReadCounts read_counts_;
};

}  // namespace cambium::testing
