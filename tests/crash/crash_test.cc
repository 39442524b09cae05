// Power cuts and kills at any call of the file system, and what recovery makes of them. See crash_explorer.h.
//
// Must hold: every opening succeeds; it finds the state after some whole number of batches, at least those that were
// acknowledged; it verifies; another crash, during the recovery or later, takes nothing that it has shown; and what it
// has dropped never comes back.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "crash/crash_explorer.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/shrink.h"

namespace cambium::testing {
namespace {

// Program, explorer settings and damage, all drawn from one seed.
struct Case {
  Program program;
  ExplorerSettings settings;
};

Case DrawCase(std::uint64_t seed) {
  Prng prng(seed ^ 0x63726173685f7365u);
  Case drawn;
  ProgramShape shape;
  shape.operations = prng.OneIn(3) ? prng.Between(1, 8) : prng.Between(10, 60);
  shape.value_size_max = 6000;
  shape.batch_size_max = prng.OneIn(4) ? 50 : 8;
  shape.key_count_max = 24;
  shape.reads = prng.OneIn(3);
  shape.long_keys = prng.OneIn(2);
  drawn.program = DrawProgram(seed, shape);
  drawn.settings.names = static_cast<SimNames>(prng.Uniform(3));
  if (prng.OneIn(2)) drawn.settings.fault = static_cast<FaultClass>(1 + prng.Uniform(kFaultClasses - 1));
  if (shape.operations <= 8 && prng.OneIn(3)) drawn.settings.images_max = 200;  // every operation
  if (prng.OneIn(8)) drawn.settings.variants_max = 32;
  return drawn;
}

TEST(CrashTest, EveryCrashLeavesWholeAcknowledgedBatches) {
  const std::uint64_t first_seed = SeedFromEnvironment(1);
  const bool repeat = std::getenv("CAMBIUM_SEED") != nullptr;
  const std::uint64_t wanted = ScaledCount(400'000);
  std::uint64_t images = 0;
  std::uint64_t programs = 0;
  std::uint64_t hits = 0;
  for (std::uint64_t seed = first_seed; images < wanted; ++seed, ++programs) {
    const Case drawn = DrawCase(seed);
    CrashExplorer explorer(drawn.program, seed, drawn.settings);
    std::string wrong = explorer.Run();
    images += explorer.images();
    hits += explorer.fault_hits();
    if (!wrong.empty()) {
      const Program small = Shrink(
          drawn.program,
          [&](const Program& program) { return CrashExplorer(program, seed, drawn.settings).Run(); }, 100);
      FAIL() << "repeat with CAMBIUM_SEED=" << seed << " (" << FaultClassName(drawn.settings.fault) << ", names "
             << static_cast<int>(drawn.settings.names) << ")\n"
             << wrong << "\nand, shrunk:\n"
             << small.ToString() << CrashExplorer(small, seed, drawn.settings).Run();
    }
    if (repeat && programs > 0) break;
  }
  std::printf("%llu images of %llu programs, %llu calls failed\n", static_cast<unsigned long long>(images),
              static_cast<unsigned long long>(programs), static_cast<unsigned long long>(hits));
  if (!repeat) {
    EXPECT_GE(images, wanted);
  }
}

}  // namespace
}  // namespace cambium::testing
