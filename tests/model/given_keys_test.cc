// A comparator of the user is asked only about keys that a user has given: whole keys that were written, or bounds of a
// call. Random programs run under a comparator that reports any other key: writes, range deletes, scans with bounds,
// compactions with bounds, a compaction filter that comes and goes, verification; then conversion, offline compaction
// and repair of the resulting files, also of a damaged file.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "cambium/compact_log.h"
#include "cambium/convert.h"
#include "cambium/repair.h"
#include "testing/given_keys.h"
#include "testing/index_mode.h"
#include "testing/mutant_scope.h"
#include "testing/program/runner.h"
#include "testing/scale.h"
#include "testing/seed.h"

namespace cambium::testing {
namespace {

std::unordered_set<std::string> KeysOf(const Program& program) {
  std::unordered_set<std::string> keys(program.universe.begin(), program.universe.end());
  for (const Operation& op : program.operations) {
    for (const Mutation& mutation : op.mutations) {
      keys.insert(mutation.key);
      if (mutation.is_range) keys.insert(mutation.range_end);
    }
    keys.insert(op.keys.begin(), op.keys.end());
    for (const IteratorStep& step : op.steps) keys.insert(step.target);
    if (op.lower.has_value()) keys.insert(*op.lower);
    if (op.upper.has_value()) keys.insert(*op.upper);
  }
  keys.erase("");  // the target of steps without one
  return keys;
}

// Sizes of ranges between any two keys of the universe.
std::string AskForSizes(DB* db, const Program& program, Prng& prng) {
  for (int i = 0; i < 4; ++i) {
    const std::string& start = program.universe[prng.Uniform(program.universe.size())];
    const std::string& limit = program.universe[prng.Uniform(program.universe.size())];
    const Range range{start, limit};
    std::uint64_t size = 0;
    if (const Status s = db->GetApproximateSizes(&range, 1, &size); !s.ok()) return s.ToString();
  }
  return "";
}

// Calls the functions that read or rewrite a closed database. Their results are checked elsewhere; here only the
// comparator matters.
void VisitClosed(const ProgramDatabase& database, Prng& prng) {
  Options options = database.options();
  options.executor = nullptr;
  options.listeners.clear();
  const auto with_copy = [&](const auto& call) {
    options.file_system = std::make_shared<SimFileSystem>(database.sim()->Snapshot());
    call(options);
  };
  with_copy([](const Options& its) {
    ConvertReport report;
    const IndexKind other = its.index_type == kLsm ? kBTree : kLsm;
    const Status s = ConvertIndex(its, kSimDatabasePath, {{kDefaultColumnFamilyName, its}}, other, "/out", {}, &report);
    EXPECT_TRUE(s.ok()) << s.ToString();
  });
  with_copy([](const Options& its) {
    CompactLogReport report;
    CompactLogOptions how;
    const Status s = CompactLog(kSimDatabasePath, its, how, &report);
    EXPECT_TRUE(s.ok()) << s.ToString();
  });
  for (const bool is_damaged : {false, true}) {
    with_copy([&](const Options& its) {
      auto& fs = dynamic_cast<SimFileSystem&>(*its.file_system);
      if (is_damaged) {
        const auto files = fs.probe().ListFiles();
        const auto& file = files[prng.Uniform(files.size())];
        static_cast<void>(fs.tampering().FlipBit(file.path, prng.Uniform(fs.probe().DurableSize(file.path) + 1), 0));
      }
      RepairReport report;
      static_cast<void>(RepairDB(kSimDatabasePath, "/salvaged", its, {{kDefaultColumnFamilyName, its}}, {}, &report));
    });
  }
}

std::string RunOne(const Program& program) {
  GivenKeys* const comparator = GivenKeys::Get();
  comparator->Begin(KeysOf(program));
  std::string wrong = [&]() -> std::string {
    SimOptions options;
    options.seed = program.seed;
    program.config.ApplyTo(&options);
    ProgramDatabase database(program.config, std::make_shared<SimFileSystem>(options), program.seed);
    Prng prng(program.seed);
    Runner runner(program, &database, NewTimeline(program), {});
    if (const Status opened = database.Open(); !opened.ok()) return "Open: " + opened.ToString();
    for (const Operation& op : program.operations) {
      if (std::string failed = runner.Run(op); !failed.empty()) return failed;
      if (!prng.OneIn(8)) continue;
      if (std::string failed = AskForSizes(database.get(), program, prng); !failed.empty()) return failed;
    }
    runner.ReleaseAll();
    if (const Status closed = database.Close(); !closed.ok()) return "Close: " + closed.ToString();
    if (std::string failed = database.Verify(); !failed.empty()) return failed;
    VisitClosed(database, prng);
    return "";
  }();
  const std::string asked = comparator->End();
  return wrong.empty() ? asked : wrong;
}

std::string FirstError(std::uint64_t seed, std::uint64_t count) {
  ProgramShape shape;
  shape.given_keys = true;
  shape.bulk_one_in = 2;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Program program = DrawProgram(seed + i, shape);
    const std::string wrong = RunOne(program);
    if (!wrong.empty()) return "CAMBIUM_SEED=" + std::to_string(seed + i) + " " + wrong;
  }
  return "";
}

TEST(GivenKeysTest, ComparatorIsAskedOnlyAboutKeysThatWereGiven) {
  EXPECT_EQ(FirstError(SeedFromEnvironment(1), ScaledPrograms(200)), "");
  if (TestsUseLsm()) return;
  const MutantScope mutant(Mutant::kGraftComparesTheEdge);
  EXPECT_NE(FirstError(1, 2000), "") << "the tree's left edge is taken for an empty key";
}

}  // namespace
}  // namespace cambium::testing
