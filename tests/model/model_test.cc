// Random programs against std::map: every answer of every call is compared, with snapshots and iterators that outlive
// flushes, merges and overwrites, with all comparators, and over many reopenings, each followed by a deep verification.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "testing/all_read_paths.h"
#include "testing/index_mode.h"
#include "testing/mutant_scope.h"
#include "testing/runner.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/shrink.h"
#include "testing/temp_directory.h"

namespace cambium::testing {
namespace {

std::string RunOn(TestDatabase* database, const Program& program) {
  Runner runner(program, database, NewTimeline(program), {});
  if (const Status opened = database->Open(); !opened.ok()) return "Open: " + opened.ToString();
  for (const Operation& op : program.operations) {
    if (std::string wrong = runner.Run(op); !wrong.empty()) return wrong;
  }
  if (std::string wrong = runner.CheckAll(); !wrong.empty()) return "at the end, " + wrong;
  runner.ReleaseAll();
  if (const Status closed = database->Close(); !closed.ok()) return "Close: " + closed.ToString();
  return database->Verify();
}

SimReadCounts reads_of_all;  // of RunInMemory since the test began

std::string RunInMemory(const Program& program) {
  SimOptions options;
  options.seed = program.seed;
  program.config.ApplyTo(&options);
  const auto fs = std::make_shared<SimFileSystem>(options);
  TestDatabase database(program.config, fs, program.seed);
  std::string wrong = RunOn(&database, program);
  reads_of_all += fs->read_counts();
  return wrong;
}

std::string RunOnDisk(const Program& program) {
  const TempDirectory directory;
  TestDatabase database(program.config, directory.File("db"));
  return RunOn(&database, program);
}

void RunMany(std::uint64_t first_seed, std::uint64_t count, const ProgramShape& shape,
             std::string (*run)(const Program&)) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const Program program = DrawProgram(first_seed + i, shape);
    const std::string wrong = run(program);
    if (wrong.empty()) continue;
    const Program small = Shrink(program, run);
    FAIL() << "repeat with CAMBIUM_SEED=" << program.seed << "\n" << wrong << "\nand, shrunk:\n"
           << small.ToString() << run(small);
  }
}

// The last test of this file is for it.
constexpr const char* kOneThread =
    "SKIPPED: here background tasks run in the calling thread, when the program says so, and one thread has no races";

TEST(ModelTest, EveryAnswerIsThatOfAMap) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << kOneThread;
  const std::uint64_t seed = SeedFromEnvironment(1);
  reads_of_all = {};
  RunMany(seed, ScaledPrograms(2000), {}, RunInMemory);
  ExpectAllReadPaths(reads_of_all);
}

// Short programs reach states that long ones overwrite, and shrink well.
TEST(ModelTest, ShortPrograms) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << kOneThread;
  const std::uint64_t seed = SeedFromEnvironment(1'000'000);
  ProgramShape shape;
  shape.operations = 20;
  shape.key_count_max = 8;
  reads_of_all = {};
  RunMany(seed, ScaledPrograms(4000), shape, RunInMemory);
  // A sanitizer's 25th of them has few values over 16 KiB, and as chance has it none that is in memory in part.
  ExpectAllReadPaths(reads_of_all, !kUnderSanitizer);
}

// What the first of so many programs says that goes wrong, of those with a compaction filter; "": none does.
std::string FirstWrongWithAFilter(std::uint64_t programs) {
  ProgramShape shape;
  shape.bulk_one_in = 2;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    const Program program = DrawProgram(seed, shape);
    if (program.config.filter == nullptr) continue;
    if (std::string wrong = RunInMemory(program); !wrong.empty()) return wrong;
  }
  return "";
}

// A model that allows two states of a value might allow too much.
TEST(ModelTest, AFilterThatIsWrongIsSeen) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << kOneThread;
  EXPECT_EQ(FirstWrongWithAFilter(300), "");
  {
    const MutantScope mutant(Mutant::kFilterUncharged);
    EXPECT_NE(FirstWrongWithAFilter(5000), "");
  }
  if (TestsUseLsm()) {
    const MutantScope mutant(Mutant::kFilterWithoutTombstones);
    EXPECT_NE(FirstWrongWithAFilter(5000), "");
  }
}

TEST(ModelTest, EveryAnswerIsThatOfAMapOnARealDiskWithThreads) {
  const std::uint64_t seed = SeedFromEnvironment(2'000'000);
  ProgramShape shape;
  shape.operations = 120;
  RunMany(seed, ScaledCount(40), shape, RunOnDisk);
}

}  // namespace
}  // namespace cambium::testing
