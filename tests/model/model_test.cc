// Random programs, compared with a std::map: every answer of every call is checked. Snapshots and iterators outlive
// flushes, compactions and overwrites. Programs use all comparators, and reopen the database many times, each time with
// a deep verification.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "testing/all_read_paths.h"
#include "testing/index_mode.h"
#include "testing/mutant_scope.h"
#include "testing/program/runner.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/program/shrink.h"
#include "testing/temp_directory.h"

namespace cambium::testing {
namespace {

std::string RunOn(ProgramDatabase* database, const Program& program) {
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

SimReadCounts all_reads;  // of all calls of RunInMemory since the test began

std::string RunInMemory(const Program& program) {
  SimOptions options;
  options.seed = program.seed;
  program.config.ApplyTo(&options);
  const auto fs = std::make_shared<SimFileSystem>(options);
  ProgramDatabase database(program.config, fs, program.seed);
  std::string wrong = RunOn(&database, program);
  all_reads += fs->read_counts();
  return wrong;
}

std::string RunOnDisk(const Program& program) {
  const TempDirectory directory;
  ProgramDatabase database(program.config, directory.File("db"));
  return RunOn(&database, program);
}

void RunMany(std::uint64_t first_seed, std::uint64_t count, const ProgramShape& shape,
             std::string (*run)(const Program&)) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const Program program = DrawProgram(first_seed + i, shape);
    const std::string wrong = run(program);
    if (wrong.empty()) continue;
    const Program small = Shrink(program, run);
    FAIL() << "repeat with CAMBIUM_SEED=" << program.seed << "\n" << wrong << "\nshrunk to:\n"
           << small.ToString() << run(small);
  }
}

// For tests that run everything in one thread. Without ThreadSanitizer, and under AddressSanitizer, they always run.
constexpr const char* kOneThread =
    "SKIPPED under ThreadSanitizer: this test has one thread, so there is no race to find; the last test of the file has "
    "several, and runs";

TEST(ModelTest, EveryAnswerEqualsTheMap) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << kOneThread;
  const std::uint64_t seed = SeedFromEnvironment(1);
  all_reads = {};
  RunMany(seed, ScaledPrograms(2000), {}, RunInMemory);
  ExpectAllReadPaths(all_reads);
}

// Short programs reach states that long ones overwrite, and shrink well.
TEST(ModelTest, ShortPrograms) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << kOneThread;
  const std::uint64_t seed = SeedFromEnvironment(1'000'000);
  ProgramShape shape;
  shape.operations = 20;
  shape.key_count_max = 8;
  all_reads = {};
  RunMany(seed, ScaledPrograms(4000), shape, RunInMemory);
  // With a sanitizer only a 25th of the programs run, and by chance none of them reads a value over 16 KiB that is
  // partly in memory.
  ExpectAllReadPaths(all_reads, !kUnderSanitizer);
}

// Runs those of the first `programs` programs that have a compaction filter. Returns the first error, or "". The programs
// have many keys and few operations, so that sweeps with a filter, which the mutants need, are most of their
// operations.
std::string FirstErrorWithAFilter(std::uint64_t programs) {
  ProgramShape shape;
  shape.bulk_one_in = 1;
  shape.operations = 60;
  shape.value_size_max = 1000;
  shape.reads = false;
  for (std::uint64_t seed = 1; seed <= programs; ++seed) {
    const Program program = DrawProgram(seed, shape);
    if (program.config.filter == nullptr) continue;
    if (std::string wrong = RunInMemory(program); !wrong.empty()) return wrong;
  }
  return "";
}

// With a filter the model allows two states of a value. It must still detect a defective filter.
TEST(ModelTest, DetectsADefectiveFilter) {
  if (kUnderThreadSanitizer) GTEST_SKIP() << kOneThread;
  EXPECT_EQ(FirstErrorWithAFilter(ScaledPrograms(300)), "");
  if (kUnderSanitizer) return;  // As in mutant_test: builds without sanitizers check that the test detects defects.
  {
    const MutantScope mutant(Mutant::kFilteredStaysCharged);
    EXPECT_NE(FirstErrorWithAFilter(5000), "");
  }
  const MutantScope mutant(TestsUseLsm() ? Mutant::kFilterWithoutTombstones : Mutant::kStepEndsLeftOfItsCursor);
  EXPECT_NE(FirstErrorWithAFilter(5000), "");
}

TEST(ModelTest, EveryAnswerEqualsTheMapOnARealDiskWithThreads) {
  const std::uint64_t seed = SeedFromEnvironment(2'000'000);
  ProgramShape shape;
  shape.operations = 120;
  RunMany(seed, ScaledCount(40), shape, RunOnDisk);
}

}  // namespace
}  // namespace cambium::testing
