// Power cuts, kills and failing calls at every operation of a program of creations, commits and rolls.
//
// Afterwards a reader must find the last acknowledged state, or a later one whose commit was in progress. Before the
// first creation is acknowledged, the directory may also be empty or half-created.
//
// Each program runs once, with a hook that copies the disk at every phase of every operation. From each copy several
// damaged disks are made, and on some of them the program runs again, with cuts of its own.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>

#include "io/sim/sim_file_system.h"
#include "manifest/edit_generator.h"
#include "manifest/file_names.h"
#include "manifest/manifest.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"

namespace cambium::manifest_crash_test {
namespace {

using testing::EditGenerator;
using testing::MutantScope;

const std::string kDirectory = "/db";

// The states that a reader may find at some moment. A roll draws the number of its MANIFEST from the counter, so the
// counter may be larger than expected.
struct Allowed {
  bool may_be_unborn = true;
  std::vector<std::shared_ptr<const ManifestState>> states;

  [[nodiscard]] bool Contains(ManifestState state) const {
    for (const auto& candidate : states) {
      if (state.next_file_number < candidate->next_file_number) continue;
      ManifestState expected = *candidate;
      expected.next_file_number = state.next_file_number;
      if (expected == state) return true;
    }
    return false;
  }
  void Attempt(ManifestState state) { states.push_back(std::make_shared<const ManifestState>(std::move(state))); }
  void Acknowledge(const ManifestState& state) {
    may_be_unborn = false;
    states.clear();
    Attempt(state);
  }
};

struct Moment {
  SimImage image;
  Allowed allowed;
  std::uint64_t operation = 0;
};

// Returns the problem of a disk, or nothing.
std::optional<std::string> Check(const SimImage& image, const Allowed& allowed, std::optional<ManifestRead>* out) {
  SimFileSystem fs(image);
  Result<ManifestRead> read = ReadManifest(fs, kDirectory);
  if (read.ok()) {
    if (!allowed.Contains(read->state)) {
      return "read a state that is neither acknowledged nor in progress: last sequence number " +
             std::to_string(read->state.last_sequence) + ", in " + FileName(FileKind::kManifest, read->number);
    }
    if (out != nullptr) *out = std::move(*read);
    return std::nullopt;
  }
  if (!allowed.may_be_unborn) return "a committed state is lost: " + read.status().ToString();
  if (read.status().IsNotFound() || read.status().IsPathNotFound()) return std::nullopt;
  const Result<bool> half_created = IsHalfCreated(fs, kDirectory);
  if (half_created.ok() && *half_created) return std::nullopt;
  return "can neither be opened nor created: " + read.status().ToString();
}

// One run of the program: opens or creates, then commits. After a failed commit it continues with the next one, as a
// database does, unless the error is fatal.
class Life {
 public:
  Life(SimFileSystem* fs, std::uint64_t seed, Allowed allowed)
      : fs_(fs), generator_(seed), allowed_(std::move(allowed)) {}

  void Run(int commits) {
    const int hook =
        fs_->AddHook([this](const SimOp& op) { moments_.push_back({fs_->Snapshot(), allowed_, op.index}); });
    Open(commits);
    moments_.push_back({fs_->Snapshot(), allowed_, fs_->operations()});
    fs_->RemoveHook(hook);
  }
  [[nodiscard]] const std::vector<Moment>& moments() const { return moments_; }
  [[nodiscard]] const std::optional<std::string>& problem() const { return problem_; }
  [[nodiscard]] int acknowledged() const { return acknowledged_; }
  [[nodiscard]] int rolls() const { return rolls_; }

 private:
  void Open(int commits) {
    if (!fs_->CreateDirectory(kDirectory).ok() || !fs_->SyncDirectory("/").ok()) return;
    const Result<ManifestRead> read = ReadManifest(*fs_, kDirectory);
    ManifestState state = read.ok() ? read->state : generator_.Start();
    ++state.epoch;
    const Result<std::vector<NumberedFile>> files = ListNumberedFiles(*fs_, kDirectory);
    if (!files.ok()) return;
    state.next_file_number = std::max(state.next_file_number, LargestNumber(*files) + 1);
    allowed_.Attempt(state);
    FileHeader identity;
    identity.file_id = generator_.DrawId();
    auto manifest = Manifest::Create(*fs_, kDirectory, identity, generator_.DrawNumber(state), state, /*roll_bytes=*/0);
    if (!manifest.ok()) return;
    allowed_.Acknowledge((*manifest)->state());
    for (int i = 0; i < commits; ++i) Commit(manifest->get());
  }

  void Commit(Manifest* manifest) {
    const ManifestState before = manifest->state();
    const Edit edit = generator_.Next(before);
    ManifestState after = before;
    if (!ApplyEdit(edit, &after).ok()) problem_ = "the generator made an edit that does not fit";
    // After a fatal error a commit writes nothing.
    if (!fatal_) allowed_.Attempt(after);
    const std::uint64_t number = generator_.DrawNumber(after);
    const std::uint64_t operations = fs_->operations();
    const std::uint64_t file = manifest->number();
    const Status status = manifest->Commit(edit, number);
    if (fatal_ && (status.ok() || fs_->operations() != operations)) problem_ = "wrote after a fatal error";
    fatal_ = fatal_ || status.severity() == Status::Severity::kFatal;
    if (status.ok()) {
      allowed_.Acknowledge(manifest->state());
      ++acknowledged_;
      if (manifest->number() != file) ++rolls_;
    } else if (!(manifest->state() == before)) {
      problem_ = "a failed commit changed the state";
    }
  }

  SimFileSystem* const fs_;
  EditGenerator generator_;
  Allowed allowed_;
  std::vector<Moment> moments_;
  std::optional<std::string> problem_;
  int acknowledged_ = 0;
  int rolls_ = 0;
  bool fatal_ = false;
};

constexpr int kCommits = 14;

// Damages the disk of each moment by `cuts` power cuts and by one kill; with `deeper`, runs the program again on some
// of them. Returns the first problem, or nothing.
std::optional<std::string> CheckMoments(const std::vector<Moment>& moments, Prng& prng, int cuts, bool deeper) {
  for (const Moment& moment : moments) {
    for (int cut = 0; cut <= cuts; ++cut) {
      const SimImage image = cut == cuts ? moment.image.Kill(prng) : moment.image.DrawCrash(prng);
      const std::string where = (cut == cuts ? "kill" : "cut") + std::string(" at operation ") +
                                std::to_string(moment.operation) + ": ";
      if (auto problem = Check(image, moment.allowed, nullptr)) return where + *problem;
      if (!deeper || !prng.OneIn(10)) continue;
      SimFileSystem fs(image);
      Life next(&fs, prng.Next(), moment.allowed);
      next.Run(2);
      if (next.problem()) return where + *next.problem();
      if (auto problem = CheckMoments(next.moments(), prng, 2, false)) return where + "then " + *problem;
    }
  }
  return std::nullopt;
}

std::optional<std::string> FindProblem(std::uint64_t seed, const std::function<void(SimFileSystem*)>& inject,
                                       int* acknowledged = nullptr, int* rolls = nullptr) {
  Prng prng(seed);
  SimOptions options;
  options.seed = seed;
  SimFileSystem fs(options);
  if (inject) inject(&fs);
  Life life(&fs, seed, {});
  life.Run(kCommits);
  if (acknowledged != nullptr) *acknowledged = life.acknowledged();
  if (rolls != nullptr) *rolls = life.rolls();
  if (life.problem()) return life.problem();
  return CheckMoments(life.moments(), prng, testing::kUnderSanitizer ? 1 : 4, true);
}

TEST(ManifestCrashTest, EveryPowerCutLeavesACommittedState) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0xc0ffee);
  for (std::uint64_t run = 0; run < testing::ScaledCount(12); ++run) {
    int acknowledged = 0;
    int rolls = 0;
    const auto problem = FindProblem(seed + run, nullptr, &acknowledged, &rolls);
    ASSERT_FALSE(problem.has_value()) << *problem << "; CAMBIUM_SEED=" << seed + run;
    ASSERT_EQ(acknowledged, kCommits);
    ASSERT_GE(rolls, 1);
  }
}

// Each write fails in turn, and a part of its bytes may be written. The next commit must use a new file.
TEST(ManifestCrashTest, AnyFailedWriteLosesNothing) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0xfa11);
  Prng prng(seed);
  for (std::uint64_t nth = 1; nth <= 14; ++nth) {
    int acknowledged = 0;
    const auto problem = FindProblem(
        seed + nth,
        [&](SimFileSystem* fs) {
          SimFault fault;
          fault.kind = SimOpKind::kWrite;
          fault.nth = nth;
          fault.short_bytes = prng.Uniform(2000);
          fs->AddFault(fault);
        },
        &acknowledged);
    ASSERT_FALSE(problem.has_value()) << *problem << "; write " << nth << "; CAMBIUM_SEED=" << seed;
    ASSERT_EQ(acknowledged, nth == 1 ? 0 : kCommits - 1);
  }
}

// Several calls of one run fail, of any kind but syncs.
TEST(ManifestCrashTest, ManyFailuresLoseNothing) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0xfa12);
  for (std::uint64_t run = 0; run < testing::ScaledCount(12); ++run) {
    const auto problem = FindProblem(seed + run, [&](SimFileSystem* fs) {
      Prng prng(seed + run);
      for (int i = 0; i < 6; ++i) {
        constexpr SimOpKind kKinds[] = {SimOpKind::kCreate, SimOpKind::kWrite, SimOpKind::kList, SimOpKind::kUnlink};
        SimFault fault;
        fault.kind = kKinds[prng.Uniform(4)];
        fault.nth = 2 + prng.Uniform(12);
        fault.short_bytes = prng.OneIn(2) ? prng.Uniform(2000) : 0;
        fault.takes_effect = prng.OneIn(3);
        fs->AddFault(fault);
      }
    });
    ASSERT_FALSE(problem.has_value()) << *problem << "; CAMBIUM_SEED=" << seed + run;
  }
}

// Each sync of the file or the directory fails in turn, in every way. Nothing is committed after it, and all earlier
// commits are found, with or without a crash.
TEST(ManifestCrashTest, AnyFailedSyncIsFatalAndLosesNothing) {
  const std::uint64_t seed = testing::SeedFromEnvironment(0x5f5f);
  for (const SyncFailure failure : {SyncFailure::kDropKeepCache, SyncFailure::kDropRevertCache, SyncFailure::kFalse}) {
    for (const SimOpKind kind : {SimOpKind::kSync, SimOpKind::kSyncDirectory}) {
      for (std::uint64_t nth = 2; nth <= 8; ++nth) {
        int acknowledged = 0;
        const auto problem = FindProblem(
            seed + nth,
            [&](SimFileSystem* fs) {
              SimFault fault;
              fault.kind = kind;
              fault.nth = nth;
              fault.sync = failure;
              fault.partial_drop = nth % 2 == 0;
              fs->AddFault(fault);
            },
            &acknowledged);
        ASSERT_FALSE(problem.has_value()) << *problem << "; " << SimOpName(kind) << " " << nth << ", failure "
                                          << static_cast<int>(failure) << "; CAMBIUM_SEED=" << seed;
        ASSERT_LE(acknowledged, kCommits);
        if (kind == SimOpKind::kSync) {
          ASSERT_EQ(acknowledged, static_cast<int>(nth) - 2);
        }
      }
    }
  }
}

#ifdef CAMBIUM_TEST_HOOKS
// The programs above detect each mutant.
void ExpectCaught(Mutant mutant, const std::function<void(SimFileSystem*)>& inject = nullptr) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const MutantScope scope(mutant);
    if (FindProblem(seed, inject).has_value()) return;
  }
  FAIL() << MutantName(mutant) << " was not detected";
}

TEST(ManifestCrashTest, MutantSkipSyncIsCaught) { ExpectCaught(Mutant::kManifestSkipSync); }
TEST(ManifestCrashTest, MutantSkipDirectorySyncIsCaught) { ExpectCaught(Mutant::kSkipManifestDirectorySync); }
TEST(ManifestCrashTest, MutantLaunderIsCaught) { ExpectCaught(Mutant::kOverwriteManifest); }
TEST(ManifestCrashTest, MutantNoChecksumIsCaught) { ExpectCaught(Mutant::kManifestNoChecksum); }
TEST(ManifestCrashTest, MutantAppendAfterFailureIsCaught) {
  ExpectCaught(Mutant::kManifestAppendAfterFailure, [](SimFileSystem* fs) {
    SimFault fault;
    fault.kind = SimOpKind::kWrite;
    fault.nth = 4;
    fs->AddFault(fault);
  });
}
#endif

}  // namespace
}  // namespace cambium::manifest_crash_test
