// Power cuts and kills at any call of the file system, and what recovery finds. See crash_explorer.h.
//
// Every Open must succeed, must find a prefix of the batches that includes all acknowledged ones, and must verify. A
// further crash, during recovery or later, must lose nothing that recovery has shown. Batches that recovery has dropped
// must never reappear.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "crash/crash_explorer.h"
#include "testing/all_read_paths.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/program/shrink.h"

namespace cambium::testing {
namespace {

// A program and explorer settings, drawn from one seed.
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
  shape.bulk_one_in = 10;
  drawn.program = DrawProgram(seed, shape);
  drawn.settings.names = static_cast<SimNames>(prng.Uniform(3));
  if (prng.OneIn(2)) drawn.settings.fault = static_cast<FaultClass>(1 + prng.Uniform(kFaultClasses - 1));
  const bool is_large = drawn.program.universe.size() > shape.key_count_max;
  if (is_large) drawn.settings.images_max = 6;
  if (shape.operations <= 8 && !is_large && prng.OneIn(3)) drawn.settings.images_max = 200;  // every operation
  if (prng.OneIn(8)) drawn.settings.variants_max = 32;
  return drawn;
}

TEST(CrashTest, EveryCrashLeavesWholeAcknowledgedBatches) {
  const std::uint64_t first_seed = SeedFromEnvironment(1);
  // A seed alone repeats one program; with CAMBIUM_SCALE it is the first of many.
  const bool repeat = std::getenv("CAMBIUM_SEED") != nullptr && std::getenv("CAMBIUM_SCALE") == nullptr;
  const std::uint64_t wanted = ScaledPrograms(kUnderSanitizer ? 100'000 : 300'000);
  std::uint64_t images = 0;
  std::uint64_t seen_before = 0;
  std::uint64_t programs = 0;
  std::uint64_t hits = 0;
  SimReadCounts reads;
  for (std::uint64_t seed = first_seed; images < wanted; ++seed, ++programs) {
    const Case drawn = DrawCase(seed);
    CrashExplorer explorer(drawn.program, seed, drawn.settings);
    std::string wrong = explorer.Run();
    images += explorer.images();
    seen_before += explorer.images_seen_before();
    hits += explorer.fault_hits();
    reads += explorer.read_counts();
    if (!wrong.empty()) {
      const Program small = Shrink(
          drawn.program,
          [&](const Program& program) { return CrashExplorer(program, seed, drawn.settings).Run(); }, 100);
      FAIL() << "repeat with CAMBIUM_SEED=" << seed << " (" << FaultClassName(drawn.settings.fault) << ", names "
             << static_cast<int>(drawn.settings.names) << ")\n"
             << wrong << "\nshrunk to:\n"
             << small.ToString() << CrashExplorer(small, seed, drawn.settings).Run();
    }
    if (repeat) break;
  }
  std::printf("%llu images of %llu programs, %llu equal to an earlier image, %llu calls failed\n",
              static_cast<unsigned long long>(images), static_cast<unsigned long long>(programs),
              static_cast<unsigned long long>(seen_before), static_cast<unsigned long long>(hits));
  if (!repeat) {
    EXPECT_GE(images, wanted);
    ExpectAllReadPaths(reads);
  }
}

// The operations of an exhaustive test of small programs (after CrashMonkey's ACE). It runs every program of one or two
// of them after a fixed beginning, crashes at every call, and applies a few kinds of damage to each crash.
std::vector<Operation> Templates() {
  const auto write = [](std::vector<Mutation> mutations, Durability durability = Durability::kNone) {
    Operation op;
    op.mutations = std::move(mutations);
    op.durability = durability;
    return op;
  };
  const auto verb = [](Operation::Verb v, bool flag = false, std::uint64_t count = 0) {
    Operation op;
    op.verb = v;
    op.flag = flag;
    op.count = count;
    return op;
  };
  using Verb = Operation::Verb;
  std::vector<Mutation> batch;
  for (int i = 0; i < 5; ++i) batch.push_back({"b" + std::to_string(i), false, i % 2 == 0 ? 30u : 700u, false});
  batch.push_back({"a", true, 0, false});
  return {
      write({{"a", false, 20, false}}),                     // inline
      write({{"b1", false, 700, false}}),                   // separated
      write({{"c", false, 5000, false}}),                   // in a file of its own
      write({{"b2", true, 0, false}}),
      write(batch),
      write({{"a", false, 25, false}}, Durability::kSync),
      write({{"d", false, 900, false}}, Durability::kDisableWal),
      verb(Verb::kSyncWal),
      verb(Verb::kFlush, true),
      verb(Verb::kCompact),
      verb(Verb::kReopen, true),
      verb(Verb::kBackground, false, 4),
  };
}

TEST(CrashTest, EveryCrashOfEveryProgramOfTwoOperations) {
  const std::vector<Operation> templates = Templates();
  Program base;
  base.seed = SeedFromEnvironment(77);
  base.config.blob_file_size = 16u << 10;
  base.universe = {"a", "b0", "b1", "b2", "b3", "b4", "c", "d", "e"};
  base.hot_keys = base.universe.size();
  // Entries in the tree, in a run and in the log, and a segment that is nearly full.
  const auto add = [](Program* program, Operation op) {
    op.id = program->operations.size() + 1;
    program->operations.push_back(std::move(op));
  };
  for (const std::size_t t : {4, 9, 1, 0, 8, 4}) add(&base, templates[t]);
  Operation fill = templates[1];
  fill.mutations.assign(14, {"e", false, 900, false});
  add(&base, fill);

  ExplorerSettings settings;
  settings.images_max = 100'000;
  settings.variants_min = settings.variants_max = 4;
  settings.live_on_percent = 2;
  std::uint64_t images = 0;
  std::uint64_t seen_before = 0;
  std::uint64_t seed = base.seed;
  const std::size_t step = kUnderSanitizer ? 13 : 1;
  for (std::size_t first = 0; first < templates.size(); ++first) {
    for (std::size_t second = 0; second <= templates.size(); second += step) {
      Program program = base;
      add(&program, templates[first]);
      if (second < templates.size()) add(&program, templates[second]);
      settings.names = static_cast<SimNames>(++seed % 3);
      CrashExplorer explorer(program, seed, settings);
      const std::string wrong = explorer.Run();
      images += explorer.images();
      seen_before += explorer.images_seen_before();
      ASSERT_EQ(wrong, "") << "seed " << seed << "\n" << program.ToString();
    }
  }
  std::printf("%llu images, %llu equal to an earlier image\n", static_cast<unsigned long long>(images),
              static_cast<unsigned long long>(seen_before));
}

}  // namespace
}  // namespace cambium::testing
