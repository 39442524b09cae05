// A workload is run once for each call of the file system that it makes. In that run this call fails, alone or with all
// later ones: with EIO, with NoSpace, or after half of a write.
//
// The process must not crash, and no thread may wait for ever. Every answer must be right or an error; a failed batch
// must not be visible. Once calls succeed again, the database must continue, unless the error was fatal. The next Open
// must find all acknowledged batches, and verify.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "testing/all_read_paths.h"
#include "testing/program/engine_rules.h"
#include "testing/program/program_database.h"
#include "testing/program/runner.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/program/shrink.h"

namespace cambium::testing {
namespace {

enum class Flavour : std::uint8_t { kIoError, kNoSpace, kShortWrite };
constexpr int kFlavours = 3;

SimFault MakeFault(Flavour flavour, std::uint64_t nth, bool sticky) {
  SimFault fault;
  fault.nth = nth;
  fault.sticky = sticky;
  fault.status = flavour == Flavour::kNoSpace ? Status::NoSpace("injected: no space") : Status::IOError("injected");
  if (flavour == Flavour::kShortWrite) fault.short_bytes = 7 + nth * 37 % 600;
  return fault;
}

Operation SyncedPut(const Program& program, std::uint64_t id) {
  Operation op;
  op.id = id;
  op.mutations.push_back({program.universe.front(), false, 40, false});
  op.durability = Durability::kSync;
  return op;
}

SimReadCounts all_reads;  // of all calls of RunWith since the test began

// Adds the read counts of a file system to all_reads when it is destroyed, on any return of RunWith.
class CountReads {
 public:
  explicit CountReads(const SimFileSystem& fs) : fs_(fs) {}
  ~CountReads() { all_reads += fs_.read_counts(); }
  CountReads(const CountReads&) = delete;
  CountReads& operator=(const CountReads&) = delete;

 private:
  const SimFileSystem& fs_;
};

// How many calls a run made.
struct Calls {
  std::uint64_t all = 0;
  std::uint64_t writes = 0;
};

// Returns the first error, or "". Sets *calls, unless null.
std::string RunWith(const Program& program, const SimFault* fault, Calls* calls) {
  SimOptions sim_options;
  sim_options.seed = program.seed;
  program.config.ApplyTo(&sim_options);
  const auto fs = std::make_shared<SimFileSystem>(sim_options);
  const CountReads count(*fs);
  bool sync_failed = false;  // with an error other than NoSpace
  bool cache_is_doubted = false;
  fs->AddHook([&](const SimOp& op) {
    if (!IsFailedSync(op)) return;
    cache_is_doubted = true;
    if (!op.status->IsNoSpace()) sync_failed = true;
  });
  ProgramDatabase database(program.config, fs, program.seed);
  database.OnOpen([&] { sync_failed = cache_is_doubted = false; });
  Runner::Policy policy;
  policy.faults = fault != nullptr;
  policy.lift_faults = [&] { fs->ClearFaults(); };
  policy.sync_has_failed = [&] { return sync_failed; };
  policy.cache_is_doubted = [&] { return cache_is_doubted; };
  Runner runner(program, &database, NewTimeline(program), policy);
  if (fault != nullptr) fs->AddFault(*fault);

  std::string wrong;
  try {
    Status opened = database.Open();
    if (!opened.ok() && fault != nullptr) {
      if (!opened.IsIOError()) return "Open returned " + opened.ToString();
      fs->ClearFaults();
      opened = database.Open();
    }
    if (!opened.ok()) return "Open: " + opened.ToString();
    for (const Operation& op : program.operations) {
      if (wrong = runner.Run(op); !wrong.empty()) return wrong;
    }
    if (program.config.allow_mmap_reads && program.config.maps && program.config.residency) {
      // After a reopen all segments are complete, and are mapped once they have been read for a while.
      Operation reopen;
      reopen.verb = Operation::Verb::kReopen;
      reopen.id = 999'999;
      if (wrong = runner.Run(reopen); !wrong.empty()) return wrong;
      for (int i = 0; i < 2; ++i) {
        if (wrong = runner.CheckAll(); !wrong.empty()) return wrong;
      }
    }
    fs->ClearFaults();
    if (wrong = runner.CheckAll(); !wrong.empty()) return "with faults gone, " + wrong;
    // A background job that failed may be reported once.
    if (wrong = runner.Run(SyncedPut(program, 1'000'000)); !wrong.empty()) return "with faults gone, " + wrong;
    runner.ForbidErrors();
    if (wrong = runner.Run(SyncedPut(program, 1'000'001)); !wrong.empty()) return "with faults gone, " + wrong;
    Operation reopen;
    reopen.verb = Operation::Verb::kReopen;
    reopen.id = 1'000'002;
    reopen.flag = program.seed % 2 == 0;
    if (wrong = runner.Run(reopen); !wrong.empty()) return "with faults gone, " + wrong;
    runner.ReleaseAll();
    if (const Status closed = database.Close(); !closed.ok()) return "the last Close: " + closed.ToString();
  } catch (const Stuck&) {
    database.Abandon();
    return "Open or Close waits, and no task is left to wake it";
  }
  if (calls != nullptr) *calls = {fs->calls(), fs->calls(SimOpKind::kWrite)};
  return "";
}

Program SmallProgram(std::uint64_t seed) {
  ProgramShape shape;
  shape.operations = 12;
  shape.value_size_max = 6000;
  shape.batch_size_max = 6;
  shape.key_count_max = 8;
  shape.long_keys = false;
  shape.bulk_one_in = 0;
  return DrawProgram(seed, shape);
}

TEST(ErrorSweepTest, EveryCallMayFail) {
  const std::uint64_t first_seed = SeedFromEnvironment(7'000);
  const std::uint64_t programs = ScaledCount(30);
  std::uint64_t runs = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + programs; ++seed) {
    const Program program = SmallProgram(seed);
    Calls calls;
    ASSERT_EQ(RunWith(program, nullptr, &calls), "") << program.ToString();
    for (std::uint64_t nth = 1; nth <= calls.all; ++nth) {
      for (int f = 0; f < 2 * kFlavours; ++f) {
        if (kUnderSanitizer && (nth + static_cast<std::uint64_t>(f)) % 3 != 0) continue;
        SimFault fault = MakeFault(static_cast<Flavour>(f / 2), nth, f % 2 == 1);
        if (fault.short_bytes != 0 && !fault.sticky) {  // for a call that is no write, the same as the first flavour
          if (nth > calls.writes) continue;
          fault.kind = SimOpKind::kWrite;
        }
        ++runs;
        const std::string wrong = RunWith(program, &fault, nullptr);
        ASSERT_EQ(wrong, "") << "CAMBIUM_SEED=" << seed << (fault.kind.has_value() ? " write " : " call ") << nth
                             << " of " << (fault.kind.has_value() ? calls.writes : calls.all) << ", "
                             << fault.status.ToString()
                             << (fault.short_bytes != 0 ? " after " + std::to_string(fault.short_bytes) + " bytes" : "")
                             << (fault.sticky ? ", and all after it" : ", once") << "\n"
                             << program.ToString();
      }
    }
  }
  std::printf("%llu runs, each with one failing call, or with all calls from one on failing\n",
              static_cast<unsigned long long>(runs));
  EXPECT_GT(runs, programs * (kUnderSanitizer ? 33 : 100));
  if (!kUnderSanitizer) ExpectAllReadPaths(all_reads, false);  // with a sanitizer only three programs run
}

}  // namespace
}  // namespace cambium::testing
