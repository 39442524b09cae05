// Power cuts at each call of a commit that many families share: of the flush of their memtables, and of their
// compactions. After each cut, everything that was durable before must be there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/sim/sim_image.h"
#include "testing/hook_scope.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "upkeep/commit_watch.h"
#include "upkeep/compact/due_store.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr int kCutFamilies = 6;

// The disk after a crash, and when the crash came.
struct CrashImage {
  SimImage image;
  std::string call;
};

struct Cuts {
  std::vector<CrashImage> images;
  int outputs_of_a_commit = 0;  // the largest number of files of an index that were synced before one MANIFEST record
};

// Runs `commit`, perhaps with a mutant. Before each call that changes a file, and at the end, takes three images of the
// disk: without anything unsynced, with all of it (as after a kill), and with random parts of it.
Cuts CutsOf(DueStore* store, Mutant mutant, const std::function<void()>& commit, Prng* prng) {
  Cuts cuts;
  int outputs = 0;
  std::uint64_t calls = 0;
  const auto take = [&](const std::string& when) {
    const SimImage now = store->fs->Snapshot();
    const std::size_t units = now.Units().size();
    cuts.images.push_back({now.CutKeeping(std::vector<bool>(units, false)), when + ", nothing unsynced kept"});
    cuts.images.push_back({now.CutKeeping(std::vector<bool>(units, true)), when + ", all kept"});
    cuts.images.push_back({now.DrawCrash(*prng), when + ", some kept"});
  };
  {
    const HookScope hook(store->fs, [&](const SimOp& op) {
      if (op.phase == SimPhase::kBefore && calls++ % kSweepStep == 0) {
        take("before call " + std::to_string(op.index) + " on " + std::string(op.path));
      }
      if (op.phase != SimPhase::kAfter || op.kind != SimOpKind::kSync) return;
      outputs += IsOutput(op.path) ? 1 : 0;
      if (IsManifest(op.path)) cuts.outputs_of_a_commit = std::max(cuts.outputs_of_a_commit, std::exchange(outputs, 0));
    });
    const MutantScope scope(mutant);
    commit();
  }
  take("at the end");
  return cuts;
}

// Opens the image. Returns what is wrong, or "".
std::string Check(const CrashImage& crash, const DueStore& before) {
  DueStore after(std::make_shared<SimFileSystem>(crash.image), before);
  const Status opened = after.OpenWith(FamilyNames(kCutFamilies));
  std::string wrong = opened.ok() ? after.WhatIsWrong() : opened.ToString();
  if (wrong.empty()) wrong = after.Verify();
  if (wrong.empty()) after.executor->RunAll();
  if (wrong.empty()) wrong = after.WhatIsWrong() + after.Verify();
  return wrong.empty() ? "" : crash.call + ": " + wrong;
}

std::string CheckAll(const Cuts& cuts, const DueStore& before) {
  for (const CrashImage& image : cuts.images) {
    if (std::string wrong = Check(image, before); !wrong.empty()) return wrong;
  }
  return "";
}

// Cuts the commit of the compactions of all families. Returns what is wrong after one of the cuts, or "".
std::string CutCompactions(Mutant mutant, Prng* prng) {
  DueStore store(nullptr, kCutFamilies);
  const Cuts cuts = CutsOf(&store, mutant, [&] { store.RunFirstCompaction(); }, prng);
  EXPECT_GE(cuts.outputs_of_a_commit, mutant == Mutant::kNone ? kCutFamilies : 1);
  return CheckAll(cuts, store);
}

// The same for the commit of the memtables of all families.
std::string CutFlushes(Mutant mutant, Prng* prng) {
  DueStore store(nullptr, kCutFamilies);
  store.executor->RunAll();
  store.FillMemtables();
  const Cuts cuts = CutsOf(&store, mutant, [&] { store.FlushMemtables(); }, prng);
  EXPECT_GE(cuts.outputs_of_a_commit, mutant == Mutant::kNone ? kCutFamilies : 1);
  return CheckAll(cuts, store);
}

void ExpectCutsLoseNothing(std::string (*cut)(Mutant, Prng*)) {
  const std::uint64_t seed = SeedFromEnvironment(1);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  EXPECT_EQ(cut(Mutant::kNone, &prng), "");
  EXPECT_NE(cut(Mutant::kSyncOneOfTogether, &prng), "");
}

TEST(TogetherCutsTest, ACutAtAnyCallOfASharedFlushLosesNothing) { ExpectCutsLoseNothing(CutFlushes); }

TEST(TogetherCutsTest, ACutAtAnyCallOfSharedCompactionsLosesNothing) { ExpectCutsLoseNothing(CutCompactions); }

}  // namespace
}  // namespace cambium::testing
