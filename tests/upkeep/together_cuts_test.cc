// Power cuts and kills at each call of a commit that many families share: of the flush of their memtables, and of their
// compactions. What was durable before must be there after each of them.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/sim/sim_image.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "upkeep/due_store.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr int kCutFamilies = 8;

// What a crash left, before which call.
struct CrashImage {
  SimImage image;
  std::string call;
};

// Runs `commit`. Before each call that changes a file, takes what a power cut leaves if nothing unsynced survives, if
// all of it does, and if random parts do; and what a kill leaves.
std::vector<CrashImage> ImagesOf(DueStore* store, const std::function<void()>& commit, Prng* prng) {
  std::vector<CrashImage> images;
  const int hook = store->fs->AddHook([&](const SimOp& op) {
    if (op.phase != SimPhase::kBefore) return;
    const SimImage now = store->fs->Snapshot();
    const std::string call = "before call " + std::to_string(now.operation()) + " on " + std::string(op.path);
    images.push_back({now.CutKeeping(std::vector<bool>(now.Units().size(), false)), call + ", nothing unsynced kept"});
    images.push_back({now.CutKeeping(std::vector<bool>(now.Units().size(), true)), call + ", all kept"});
    images.push_back({now.DrawCrash(*prng), call + ", some kept"});
    images.push_back({now.Kill(*prng), call + ", killed"});
  });
  commit();
  store->fs->RemoveHook(hook);
  return images;
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

std::string CheckAll(const std::vector<CrashImage>& images, const DueStore& before) {
  for (const CrashImage& image : images) {
    if (std::string wrong = Check(image, before); !wrong.empty()) return wrong;
  }
  return "";
}

// Cuts the commits of the compactions of all families.
std::string CutCompactions(Prng* prng, std::size_t* count) {
  DueStore store(nullptr, kCutFamilies);
  const std::vector<CrashImage> images = ImagesOf(&store, [&] { store.executor->RunAll(); }, prng);
  *count = images.size();
  return CheckAll(images, store);
}

// Cuts the commit of the memtables of all families.
std::string CutFlushes(Prng* prng, std::size_t* count) {
  DueStore store(nullptr, kCutFamilies);
  store.executor->RunAll();
  store.FillMemtables();
  const std::vector<CrashImage> images = ImagesOf(&store, [&] { store.FlushMemtables(); }, prng);
  *count = images.size();
  return CheckAll(images, store);
}

void ExpectCutsLoseNothing(std::string (*cut)(Prng*, std::size_t*)) {
  const std::uint64_t seed = SeedFromEnvironment(1);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  std::size_t images = 0;
  EXPECT_EQ(cut(&prng, &images), "");
  EXPECT_GE(images, std::size_t{4 * 2 * kCutFamilies}) << "a write and a sync for each family";
  const MutantScope defect(Mutant::kSyncOneOfTogether);
  EXPECT_NE(cut(&prng, &images), "");
}

TEST(TogetherCutsTest, ACutAtAnyCallOfASharedFlushLosesNothing) { ExpectCutsLoseNothing(CutFlushes); }

TEST(TogetherCutsTest, ACutAtAnyCallOfSharedCompactionsLosesNothing) { ExpectCutsLoseNothing(CutCompactions); }

}  // namespace
}  // namespace cambium::testing
