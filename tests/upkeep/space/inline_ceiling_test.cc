// The ceiling and inline values, with options whose sizes are far larger than the database: memtables, files and levels
// must then be as small as the ceiling has room for. Before each write of a file, and whatever writes it, the test adds
// up all files and compares the sum with S * L + A.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_store.h"
#include "testing/units.h"
#include "upkeep/space/small_value_store.h"

namespace cambium::testing::inline_ceiling_test {
namespace {

enum class Writes { kUniform, kSkewed, kDeletes };

class InlineCeiling {
 public:
  InlineCeiling(IndexKind index, double s, int num_levels = 7)
      : s_(s), stored_bytes_(StoredBytes()), store_(index), present_(kKeys, false) {
    store_.options.max_space_amplification = s;
    store_.options.num_levels = num_levels;
    UseFullSizes(&store_.options);
    store_.MustOpen();
    hook_ = store_.fs->AddHook([this](const SimOp& op) {
      if (op.phase != SimPhase::kBefore || op.path.find(".log") != std::string::npos) return;
      Sample();
      // During CompactRange a background thread would run jobs, above all those that remove replaced files. The hook runs
      // one before each write of an index file, because no lock that a job needs is held there.
      const bool is_index = op.path.ends_with(".run") || op.path.ends_with(".idx");
      if (op.kind == SimOpKind::kWrite && is_index && std::exchange(is_compacting_, false)) {
        if (store_.executor->pending() > 0) store_.executor->RunOneInstead();
        is_compacting_ = true;
      }
    });
  }
  ~InlineCeiling() { store_.fs->RemoveHook(hook_); }

  void Load() {
    for (std::uint64_t i = 0; i < kKeys; ++i) Put(i);
  }
  void Write(Writes writes, std::uint64_t count) {
    Prng prng(SeedFromEnvironment(72));
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t bound = writes == Writes::kSkewed ? 1 + prng.Uniform(kKeys) : kKeys;
      const std::uint64_t key = prng.Uniform(bound);
      writes == Writes::kDeletes && prng.OneIn(3) ? Delete(key) : Put(key);
    }
  }
  // Loads the keys so fast that jobs run almost only while the writer waits. SmallValueStore's keys are random, so the
  // load is not in their order. Then overwrites the first 1,000 keys, many times each.
  void LoadFastAndOverwriteFew() {
    store_.puts_per_task = 4096;
    Load();
    Prng prng(SeedFromEnvironment(73));
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      Put(prng.Uniform(1'000));
      if (i % 64 != 0) continue;
      const double part = static_cast<double>(store_.Space("live")) / (static_cast<double>(kKeys) * stored_bytes_);
      least_known_ = std::min(least_known_, part);
      most_known_ = std::max(most_known_, part);
    }
  }
  void CompactRange() {
    is_compacting_ = true;
    store_.Compact();
    is_compacting_ = false;
    store_.executor->RunAll();
  }
  void Reopen() { store_.Reopen(); }

  // The highest sample, divided by the bytes allowed at that moment.
  [[nodiscard]] double most() const { return most_; }
  [[nodiscard]] const std::string& where() const { return where_; }
  // What LoadFastAndOverwriteFew has seen of the figure `live`, as a part of the live bytes.
  [[nodiscard]] double least_known() const { return least_known_; }
  [[nodiscard]] double most_known() const { return most_known_; }
  [[nodiscard]] SmallValueStore& store() { return store_; }
  // Bytes of index files written per byte of keys and values.
  [[nodiscard]] double Cost() const {
    const std::uint64_t written = store_.Ticker(FILE_BYTES_MERGE) + store_.Ticker(FILE_BYTES_FLUSH);
    return static_cast<double>(written) / static_cast<double>(store_.puts * kEntryBytes);
  }

 private:
  static constexpr std::uint64_t kLimit = 16 * kMiB;  // the default of min_space_limit
  static void UseFullSizes(Options* options) {
    options->write_buffer_size = 64u << 20;
    options->target_file_size_base = 64u << 20;
    options->max_bytes_for_level_base = 256u << 20;
    options->min_space_limit = kLimit;
  }
  // An entry as it is stored in full pages, with its part of headers, branches and filters.
  static double StoredBytes() {
    constexpr std::uint64_t kSample = 20'000;
    SmallValueStore store(IndexKind::kLsm);
    UseFullSizes(&store.options);
    store.MustOpen();
    for (std::uint64_t i = 0; i < kSample; ++i) store.PutNumber(i);
    store.Compact();
    const double bytes = static_cast<double>(store.Space("index_live")) / kSample;
    EXPECT_LT(bytes, 1.2 * kEntryBytes);
    return bytes;
  }

  static constexpr std::uint64_t kKeys = 150'000;
  static constexpr std::uint64_t kEntryBytes = SmallValueStore::kKeyBytes + SmallValueStore::kValueBytes;

  void Put(std::uint64_t i) {
    if (!present_[i]) ++live_;
    present_[i] = true;
    store_.PutNumber(i);
  }
  void Delete(std::uint64_t i) {
    ASSERT_TRUE(store_.db->Delete({}, SmallValueStore::Key(i)).ok());
    if (present_[i]) --live_;
    present_[i] = false;
  }
  // A segment is an eighth of the slack, but at least a megabyte. A is three segments.
  [[nodiscard]] double Allowed() const {
    const double live = static_cast<double>(live_) * stored_bytes_;
    return std::max<double>(kLimit, s_ * live + 3 * std::max<double>(kMiB, (s_ - 1) * live / 8));
  }
  void Sample() {
    const auto files = store_.fs->probe().ListFiles();
    std::uint64_t all = 0;
    for (const auto& file : files) all += file.size;
    const double part = static_cast<double>(all) / Allowed();
    if (part <= most_) return;
    std::map<std::string, std::uint64_t> bytes;  // by the end of the file's name
    for (const auto& file : files) bytes[file.path.substr(std::min(file.path.size(), file.path.rfind('.')))] += file.size;
    most_ = part;
    where_ = std::to_string(live_ * kEntryBytes) + " live, after " + std::to_string(store_.puts) + " puts:";
    for (const auto& [kind, its] : bytes) where_ += " " + kind + " " + std::to_string(its);
  }

  const double s_;
  const double stored_bytes_;
  SmallValueStore store_;
  std::vector<bool> present_;
  std::uint64_t live_ = 0;
  double most_ = 0;
  double least_known_ = 1;
  double most_known_ = 1;
  std::string where_;
  int hook_ = 0;
  bool is_compacting_ = false;
};

struct Case {
  IndexKind index;
  double s;
  Writes writes;
  int num_levels = 7;  // of an LSM
};
void PrintTo(const Case& its, std::ostream* out) {
  constexpr const char* kNames[] = {"uniform", "skewed", "deletes"};
  *out << (its.index == IndexKind::kLsm ? "LSM, " : "tree, ") << its.s << ", " << kNames[static_cast<int>(its.writes)];
  if (its.num_levels == 2) *out << ", two levels";
}

class InlineCeilingTest : public ::testing::TestWithParam<Case> {};

TEST_P(InlineCeilingTest, NoFileWriteExceedsTheCeiling) {
  InlineCeiling ceiling(GetParam().index, GetParam().s, GetParam().num_levels);
  // At its least ceiling, a tree writes five times as much per byte as at 1.5.
  const bool is_costly = GetParam().index == IndexKind::kBTree && GetParam().s < 1.5;
  const std::uint64_t writes = (is_costly ? 100'000 : 300'000) * ScaleFromEnvironment();
  ceiling.Load();
  EXPECT_LE(ceiling.most(), 1) << "during the load: " << ceiling.where();
  ceiling.Write(GetParam().writes, writes);
  EXPECT_LE(ceiling.most(), 1) << ceiling.where();
  ceiling.CompactRange();
  ceiling.Reopen();
  ceiling.Write(GetParam().writes, writes / 3);
  EXPECT_LE(ceiling.most(), 1) << "with a CompactRange and an Open: " << ceiling.where();
  std::printf("at most %.3f of S * L + A, %.1f bytes of index per byte\n", ceiling.most(), ceiling.Cost());
  EXPECT_EQ(ceiling.store().Verify(), "");
}

INSTANTIATE_TEST_SUITE_P(Cells, InlineCeilingTest,
                         ::testing::Values(Case{IndexKind::kLsm, 1.5, Writes::kUniform},
                                           Case{IndexKind::kLsm, 1.5, Writes::kSkewed},
                                           Case{IndexKind::kLsm, 1.5, Writes::kDeletes},
                                           Case{IndexKind::kLsm, 2, Writes::kUniform},
                                           Case{IndexKind::kLsm, 1.25, Writes::kUniform},
                                           Case{IndexKind::kLsm, 1.25, Writes::kDeletes},
                                           Case{IndexKind::kLsm, 2.5, Writes::kUniform, 2},
                                           Case{IndexKind::kBTree, 1.5, Writes::kUniform},
                                           Case{IndexKind::kBTree, 1.5, Writes::kSkewed},
                                           Case{IndexKind::kBTree, 1.5, Writes::kDeletes},
                                           Case{IndexKind::kBTree, 2, Writes::kUniform},
                                           Case{IndexKind::kBTree, 1.25, Writes::kUniform},
                                           Case{IndexKind::kBTree, 1.25, Writes::kSkewed},
                                           Case{IndexKind::kBTree, 1.25, Writes::kDeletes}));

// When the load ends, the runs that wait for a sweep change at once: from adding keys to replacing some.
struct FastLoad {
  double most = 0;
  double least_known = 0;
  double most_known = 0;
};
FastLoad LoadFast(double s) {
  InlineCeiling ceiling(IndexKind::kBTree, s);
  ceiling.LoadFastAndOverwriteFew();
  EXPECT_EQ(ceiling.store().Verify(), "");
  std::printf("fast load, then few keys at %.2f: at most %.3f of S * L + A, %.3f to %.3f known, %.1f bytes of index per byte\n",
              s, ceiling.most(), ceiling.least_known(), ceiling.most_known(), ceiling.Cost());
  return {ceiling.most(), ceiling.least_known(), ceiling.most_known()};
}

double MostOf(Writes writes, IndexKind index, double s) {
  InlineCeiling ceiling(index, s);
  ceiling.Load();
  ceiling.Write(writes, 100'000);
  return ceiling.most();
}

// Rule C1, for inline values.
TEST(InlineCeilingMutantTest, LevelsAndRunsFitIntoTheRoom) {
  EXPECT_LE(MostOf(Writes::kUniform, IndexKind::kLsm, 1.5), 1);
  {
    const MutantScope mutant(Mutant::kLevelsIgnoreRoom);
    EXPECT_GT(MostOf(Writes::kUniform, IndexKind::kLsm, 1.5), 1.1);
  }
  EXPECT_LE(MostOf(Writes::kUniform, IndexKind::kBTree, 1.5), 1);
  const MutantScope mutant(Mutant::kRunsIgnoreRoom);
  EXPECT_GT(MostOf(Writes::kUniform, IndexKind::kBTree, 1.5), 1);
}

TEST(InlineCeilingMutantTest, SweepsCopyMoreNearTheLimitOfDeadPages) {
  const double most = MostOf(Writes::kSkewed, IndexKind::kBTree, 1.25);
  EXPECT_LE(most, 1);
  const MutantScope mutant(Mutant::kSweepsIgnoreDeadPages);
  EXPECT_GT(MostOf(Writes::kSkewed, IndexKind::kBTree, 1.25), most + 0.02);
}

// At the least ceiling, LIMITS allows a tree a little more during a fast load.
TEST(InlineCeilingMutantTest, SweepsTakeTheRunsThatHaveRoom) {
  const FastLoad with = LoadFast(1.5);
  EXPECT_LE(with.most, 1);
  EXPECT_GT(with.least_known, 0.85);
  EXPECT_LT(with.most_known, 1.1);
  EXPECT_LE(LoadFast(1.25).most, 1.05);
  {
    const MutantScope mutant(Mutant::kSweepsTakeAllRuns);
    EXPECT_GT(LoadFast(1.5).most, 1.1);
    EXPECT_GT(LoadFast(1.25).most, 1.2);
  }
  {
    const MutantScope mutant(Mutant::kSweptRunsNeedNoRoom);
    EXPECT_GT(LoadFast(1.5).most, with.most + 0.03);
  }
  const MutantScope mutant(Mutant::kRunsAreLikeTheLast);
  EXPECT_LT(LoadFast(1.5).least_known, with.least_known - 0.04);
}

std::string OpenedWith(double s, const ColumnFamilyOptions& family) {
  TestStore store;
  static_cast<ColumnFamilyOptions&>(store.options) = family;
  store.options.max_space_amplification = s;
  return store.Open().ToString();
}

// A ceiling that values in the index would exceed is refused wherever it, or the size of such values, can be set.
TEST(InlineCeilingMutantTest, CeilingThatValuesInTheIndexWouldExceedIsRefused) {
  ColumnFamilyOptions family;
  EXPECT_EQ(OpenedWith(1.25, family), "OK");
  EXPECT_EQ(OpenedWith(0, family), "OK");
  const std::string refused =
      "Invalid argument: column family \"default\": max_space_amplification is 1.24; for values in the index legal is 0, "
      "and 1.25 or more. With enable_blob_files and a min_blob_size of 0 or 1 no values are in the index";
  EXPECT_EQ(OpenedWith(1.24, family), refused);
  {
    const MutantScope mutant(Mutant::kAnyCeilingForInlineValues);
    EXPECT_NE(OpenedWith(1.24, family), refused);
  }
  family.index_type = IndexKind::kLsm;
  EXPECT_EQ(OpenedWith(1.25, family), "OK");
  EXPECT_EQ(OpenedWith(1.24, family), refused);
  family.num_levels = 2;
  EXPECT_EQ(OpenedWith(2.5, family), "OK");
  EXPECT_NE(OpenedWith(2.4, family), "OK");
  family.min_blob_size = 1;
  EXPECT_EQ(OpenedWith(1, family), "OK");
  family.enable_blob_files = false;
  EXPECT_NE(OpenedWith(1, family), "OK");
}

TEST(InlineCeilingOptionsTest, CeilingIsCheckedWhenOptionsChange) {
  TestStore store;
  store.options.min_blob_size = 512;
  store.options.max_space_amplification = 1.5;
  store.MustOpen();
  EXPECT_TRUE(store.db->SetDBOptions({{"max_space_amplification", "1.2"}}).IsInvalidArgument());
  EXPECT_EQ(store.db->GetOptions().max_space_amplification, 1.5);
  ASSERT_TRUE(store.db->SetOptions({{"min_blob_size", "0"}}).ok());
  ASSERT_TRUE(store.db->SetDBOptions({{"max_space_amplification", "1.2"}}).ok());
  EXPECT_TRUE(store.db->SetOptions({{"min_blob_size", "2"}}).IsInvalidArgument());
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_files", "false"}}).IsInvalidArgument());
  ColumnFamilyOptions family = store.options;
  ColumnFamilyHandle* handle = nullptr;
  EXPECT_TRUE(store.db->CreateColumnFamily(family, "other", &handle).IsInvalidArgument());
  family.min_blob_size = 0;
  ASSERT_TRUE(store.db->CreateColumnFamily(family, "other", &handle).ok());
  EXPECT_TRUE(store.db->SetOptions(handle, {{"min_blob_size", "2"}}).IsInvalidArgument());
  // All families are checked, not only the first.
  ASSERT_TRUE(store.db->SetDBOptions({{"max_space_amplification", "0"}}).ok());
  ASSERT_TRUE(store.db->SetOptions(handle, {{"min_blob_size", "2"}}).ok());
  EXPECT_TRUE(store.db->SetDBOptions({{"max_space_amplification", "1.2"}}).IsInvalidArgument());
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(handle).ok());
  store.MustClose();
  std::vector<ColumnFamilyDescriptor> families = {{kDefaultColumnFamilyName, store.options}, {"other", store.options}};
  families[0].options.min_blob_size = 0;
  DBOptions options = store.options;
  options.max_space_amplification = 1.2;
  std::vector<ColumnFamilyHandle*> handles;
  const Status refused = DB::Open(options, kStorePath, families, &handles, &store.db);
  EXPECT_NE(refused.ToString().find("column family \"other\": max_space_amplification is 1.2"), std::string::npos)
      << refused.ToString();
  // OpenForReadOnly checks no ceiling.
  ASSERT_TRUE(DB::OpenForReadOnly(options, kStorePath, families, &handles, &store.db).ok());
  for (ColumnFamilyHandle* const each : handles) ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(each).ok());
}

}  // namespace
}  // namespace cambium::testing::inline_ceiling_test
