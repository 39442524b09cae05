// Punching: dead large values free their blocks without copying, and no reader that may still need one finds a hole.
#include <algorithm>
#include <functional>

#include "testing/test_store.h"
#include "manifest/file_names.h"
#include "manifest/manifest_reader.h"
#include "testing/mutant_scope.h"
#include "util/fault_point.h"

namespace cambium::testing::punch_test {
namespace {

constexpr int kKeys = 60;
constexpr std::size_t kValueSize = 20'000;  // 4 whole blocks at any offset

std::string ValueOf(int i, int version) {
  return NumberedKey(i) + "." + std::to_string(version) + std::string(kValueSize, static_cast<char>('a' + i % 26));
}
int VersionOf(int i) { return i % 3 == 0 ? 0 : 1; }

struct PunchStore : TestStore {
  explicit PunchStore(const SimOptions& sim = {}) : PunchStore(std::make_shared<SimFileSystem>(sim)) {}
  explicit PunchStore(std::shared_ptr<SimFileSystem> file_system) : TestStore(std::move(file_system)) {
    options.min_punch_size = 16u << 10;
    options.blob_file_size = 256u << 10;
    options.large_value_size = 64u << 10;
    options.write_buffer_size = 1u << 20;
    options.max_total_wal_size = 8u << 20;
    options.enable_blob_garbage_collection = false;
    options.blob_garbage_collection_age_cutoff = 1;
  }
  // Two thirds of the first values are overwritten, and the layers have the new entries. Log GC has not begun.
  void Fill() {
    MustOpen();
    for (int i = 0; i < kKeys; ++i) Put(NumberedKey(i), ValueOf(i, 0));
    Flush();
    for (int i = 0; i < kKeys; ++i) {
      if (i % 3 != 0) Put(NumberedKey(i), ValueOf(i, 1));
    }
    Compact();
    RunUntilIdle();
  }
  void Collect() {
    ASSERT_TRUE(db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
    RunUntilIdle();
  }
  void ExpectAll() {
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(Get(NumberedKey(i)), ValueOf(i, VersionOf(i))) << i;
  }
  [[nodiscard]] std::uint64_t Allocated() const {
    std::uint64_t bytes = 0;
    for (const auto& file : fs->probe().ListFiles()) {
      FileInfo info;
      EXPECT_TRUE(fs->GetInfo(file.path, &info).ok());
      bytes += std::min(info.size, info.allocated_bytes);
    }
    return bytes;
  }
  // The records that the MANIFEST names as punched.
  [[nodiscard]] std::size_t Punched() const {
    SimFileSystem copy(fs->Snapshot());
    const auto manifest = ReadManifest(copy, kStorePath);
    EXPECT_TRUE(manifest.ok());
    std::size_t count = 0;
    for (const auto& [number, info] : manifest->state.segments) count += info.punched.size();
    return count;
  }
  [[nodiscard]] std::uint64_t Space(const std::string& name) {
    std::map<std::string, std::string> figures;
    EXPECT_TRUE(db->GetMapProperty("cambium.space", &figures));
    return std::stoull(figures.at(name));
  }
};

ReadOptions At(const Snapshot* snapshot) {
  ReadOptions read;
  read.snapshot = snapshot;
  return read;
}

constexpr std::uint64_t kDead = 40 * kValueSize;

TEST(PunchTest, DeadValuesArePunchedWithoutCopying) {
  PunchStore store;
  store.Fill();
  const std::uint64_t before = store.Allocated();
  const std::vector<std::string> logs = store.FilesOf(".log");
  std::map<std::string, std::string> forecast;
  ASSERT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  ASSERT_TRUE(store.db->GetMapProperty("cambium.gc-forecast", &forecast));
  EXPECT_GT(std::stoull(forecast["punch_bytes_freed"]), kDead * 9 / 10);
  EXPECT_EQ(forecast["all_bytes_written"], "0");
  store.RunUntilIdle();
  EXPECT_EQ(store.Property("gc-bytes-written"), 0u);
  EXPECT_LT(store.Property("gc-bytes-read"), 16u << 10) << "indexes of segments only";
  EXPECT_EQ(store.FilesOf(".log"), logs);
  EXPECT_TRUE(store.FilesOf(".gc").empty());
  EXPECT_LE(store.Allocated(), before - kDead * 3 / 4);
  EXPECT_EQ(store.Punched(), 40u);
  EXPECT_NEAR(static_cast<double>(store.Space("on_disk")), static_cast<double>(store.Allocated()), 16384);
  store.ExpectAll();
  EXPECT_EQ(store.Verify(), "");
  store.Reopen();
  store.RunUntilIdle();
  EXPECT_NEAR(static_cast<double>(store.Space("on_disk")), static_cast<double>(store.Allocated()), 16384);
  store.ExpectAll();
  EXPECT_EQ(store.Verify(), "");
  // The live values die too; then the files are dropped.
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(store.db->Delete({}, NumberedKey(i)).ok());
  store.Compact();
  store.RunUntilIdle();
  EXPECT_LT(store.Allocated(), 256u << 10);
  EXPECT_EQ(store.Verify(), "");
}

// Regression: holes were made from the footer alone. A damaged footer kept a segment from being punched forever,
// although its records were intact, and every Open reported an error.
TEST(PunchTest, PunchesWithoutAFooter) {
  PunchStore store;
  store.Fill();
  store.MustClose();
  SimFileSystem copy(store.fs->Snapshot());
  const auto manifest = ReadManifest(copy, kStorePath);
  ASSERT_TRUE(manifest.ok());
  int damaged = 0;
  for (const auto& [number, info] : manifest->state.segments) {
    if (!info.has_footer) continue;
    ASSERT_TRUE(store.fs->tampering()
                    .FlipBit(cambium::FilePath(kStorePath, FileKind::kLog, number), info.file_size - 1, 0)
                    .ok());
    ++damaged;
  }
  EXPECT_GT(damaged, 2);
  const std::uint64_t before = store.Allocated();
  store.MustOpen();
  store.Collect();
  EXPECT_EQ(store.Punched(), 40u);
  EXPECT_LE(store.Allocated(), before - kDead * 3 / 4);
  store.ExpectAll();
  EXPECT_TRUE(store.Verify().starts_with("dead: ")) << store.Verify();  // the footers are damaged
}

TEST(PunchTest, SnapshotKeepsItsValues) {
  PunchStore store;
  store.Fill();
  const Snapshot* const snapshot = store.db->GetSnapshot();
  store.Put(NumberedKey(0), ValueOf(0, 0));
  for (int i = 1; i < kKeys; ++i) store.Put(NumberedKey(i), ValueOf(i, 2));
  store.Compact();
  const std::uint64_t before = store.Allocated();
  store.Collect();
  EXPECT_GE(store.Allocated(), before);
  EXPECT_GT(store.Space("pinned_by_snapshots"), kDead / 2);
  EXPECT_EQ(store.Space("pinned_by_snapshot_" + std::to_string(snapshot->GetSequenceNumber())),
            store.Space("pinned_by_snapshots"));
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(store.Get(NumberedKey(i), At(snapshot)), ValueOf(i, VersionOf(i))) << i;
  store.db->ReleaseSnapshot(snapshot);
  store.RunUntilIdle();
  EXPECT_LE(store.Allocated(), before - kDead / 2);
  EXPECT_EQ(store.Space("pinned_by_snapshots"), 0u);
  for (int i = 1; i < kKeys; ++i) ASSERT_EQ(store.Get(NumberedKey(i)), ValueOf(i, 2)) << i;
  EXPECT_EQ(store.Verify(), "");
}

TEST(PunchTest, LinkedFileIsNotPunched) {
  PunchStore store;
  store.Fill();
  for (const std::string& path : store.FilesOf(".log")) ASSERT_TRUE(store.fs->Link(path, path + ".kept").ok());
  std::map<std::string, std::string> kept;
  for (const auto& [path, bytes] : store.Files()) {
    if (path.ends_with(".kept")) kept[path] = bytes;
  }
  store.Collect();
  EXPECT_EQ(store.Punched(), 0u);
  EXPECT_FALSE(store.FilesOf(".gc").empty()) << "what is alive is moved, so that the database's name of it can go";
  for (const auto& [path, bytes] : kept) EXPECT_EQ(store.Files()[path], bytes) << path;
  store.ExpectAll();
}

// The file got its second name while a reader delayed the holes.
TEST(PunchTest, LinkMadeBeforeTheHolesIsRespected) {
  PunchStore store;
  store.Fill();
  const Snapshot* const snapshot = store.db->GetSnapshot();
  store.Collect();
  ASSERT_GT(store.Punched(), 0u);
  const std::vector<std::string> logs = store.FilesOf(".log");
  for (const std::string& path : logs) ASSERT_TRUE(store.fs->Link(path, path + ".kept").ok());
  std::map<std::string, std::string> before = store.Files();
  store.db->ReleaseSnapshot(snapshot);
  store.RunUntilIdle();
  for (const std::string& path : logs) EXPECT_EQ(store.Files()[path + ".kept"], before[path + ".kept"]) << path;
  EXPECT_FALSE(store.FilesOf(".gc").empty()) << "what is alive is moved after all";
  store.ExpectAll();
}

// The process ended while a snapshot delayed the holes.
TEST(PunchTest, NextOpenMakesMissingHoles) {
  PunchStore store;
  store.Fill();
  const Snapshot* const snapshot = store.db->GetSnapshot();
  store.Collect();
  ASSERT_EQ(store.Punched(), 40u);
  PunchStore next(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
  const std::uint64_t before = next.Allocated();
  EXPECT_EQ(next.Verify(), "") << "the values are still there, and need not be";
  next.MustOpen();
  next.RunUntilIdle();
  EXPECT_LE(next.Allocated(), before - kDead * 3 / 4);
  EXPECT_NEAR(static_cast<double>(next.Space("on_disk")), static_cast<double>(next.Allocated()), 16384);
  next.ExpectAll();
  EXPECT_EQ(next.Verify(), "");
  store.db->ReleaseSnapshot(snapshot);
}

TEST(PunchTest, ValuesAreRelocatedIfHolesAreNotSupported) {
  SimOptions without;
  without.holes = false;
  PunchStore store(without);
  store.Fill();
  const std::uint64_t before = store.Allocated();
  store.Collect();
  EXPECT_GT(store.Property("gc-bytes-written"), 0u);
  EXPECT_LE(store.Allocated(), before - kDead / 2);
  store.ExpectAll();
  EXPECT_EQ(store.Verify(), "");
  store.Reopen();
  store.RunUntilIdle();
  store.ExpectAll();
  EXPECT_EQ(store.Verify(), "");
}

TEST(PunchTest, ZeroMinPunchSizeDisablesPunching) {
  PunchStore store;
  store.Fill();
  ASSERT_TRUE(store.db->SetDBOptions({{"min_punch_size", "0"}}).ok());
  store.Collect();
  EXPECT_EQ(store.Punched(), 0u);
  EXPECT_GT(store.Property("gc-bytes-written"), 0u);
  store.ExpectAll();
}

// Few small values among large ones are not relocated; if there are many, the segment's values are relocated. The
// accounts stay exact.
TEST(PunchTest, OnlyValuesOfMinPunchSizeArePunched) {
  PunchStore store;
  store.options.min_punch_size = 16'000;
  store.MustOpen();
  const auto value = [](int i, int version) {
    const std::size_t size = 15'900 + static_cast<std::size_t>(i * 7) % 200;
    return std::to_string(version) + std::string(size, static_cast<char>('a' + i % 26));
  };
  for (int i = 0; i < 150; ++i) store.Put(NumberedKey(i), value(i, 0));
  store.Flush();
  for (int round = 1; round < 6; ++round) {
    for (int i = 0; i < 150; ++i) {
      if ((i + round) % 4 != 0) store.Put(NumberedKey(i), value(i, round));
    }
    store.Compact();
    store.Collect();
    EXPECT_EQ(store.Verify(), "") << round;
  }
  for (int i = 0; i < 150; ++i) {
    const int newest = (i + 5) % 4 != 0 ? 5 : 4;
    ASSERT_EQ(store.Get(NumberedKey(i)), value(i, newest)) << i;
  }
}

TEST(PunchTest, HoleInALiveValueIsDamage) {
  MutantScope mutant(Mutant::kPunchLiveValues);
  PunchStore store;
  store.Fill();
  store.Collect();
  const std::string found = store.Verify();
  EXPECT_NE(found.find("to a value that log GC has punched"), std::string::npos) << found;
}

// ---- Rule E1: a mutant per condition ----

// A power cut just before the MANIFEST record that names the punched values; the remaining values must be intact.
std::string CutBeforeTheCommit() {
  PunchStore store;
  store.Fill();
  std::shared_ptr<SimFileSystem> cut;
  bool is_planned = false;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string_view(name) == "Punch:planned") is_planned = true;
  });
  // The first write to the MANIFEST after the plan.
  const int hook = store.fs->AddHook([&](const SimOp& op) {
    if (is_planned && cut == nullptr && op.phase == SimPhase::kBefore && op.kind == SimOpKind::kWrite &&
        op.path.find("MANIFEST") != std::string_view::npos) {
      cut = std::make_shared<SimFileSystem>(store.fs->Snapshot());
    }
  });
  store.Collect();
  store.fs->RemoveHook(hook);
  FaultPoints::Instance().Set(nullptr);
  if (cut == nullptr) return "never met";
  Options options = store.options;
  options.file_system = cut;
  VerifyReport report;
  VerifyOptions deep;
  deep.deep = true;
  const Status s = VerifyDB(kStorePath, options, deep, &report);
  if (!s.ok()) return s.ToString();
  if (!report.problems.empty()) return report.problems.front();
  return report.dead_damage.empty() ? "" : report.dead_damage.front();  // dead values must still be intact
}

TEST(PunchMutantsTest, HolesBeforeTheManifestRecordAreCaught) {
  EXPECT_EQ(CutBeforeTheCommit(), "");
  MutantScope mutant(Mutant::kPunchBeforeCommit);
  EXPECT_NE(CutBeforeTheCommit(), "");
}

std::string ReadThroughASnapshot() {
  PunchStore store;
  store.Fill();
  const Snapshot* const snapshot = store.db->GetSnapshot();
  for (int i = 0; i < kKeys; ++i) {
    if (i % 4 != 0) store.Put(NumberedKey(i), ValueOf(i, 2));
  }
  store.Compact();
  store.Collect();
  std::string wrong;
  for (int i = 0; i < kKeys; ++i) {
    if (const std::string seen = store.Get(NumberedKey(i), At(snapshot)); seen != ValueOf(i, VersionOf(i))) {
      wrong = seen.substr(0, 100);
    }
  }
  store.db->ReleaseSnapshot(snapshot);
  return wrong;
}

TEST(PunchMutantsTest, HolesUnderASnapshotAreCaught) {
  EXPECT_EQ(ReadThroughASnapshot(), "");
  MutantScope mutant(Mutant::kPunchWhilePinned);
  EXPECT_NE(ReadThroughASnapshot(), "");
}

bool SecondNamesKeepTheirBytes() {
  PunchStore store;
  store.Fill();
  std::map<std::string, std::string> before = store.Files();
  for (const std::string& path : store.FilesOf(".log")) EXPECT_TRUE(store.fs->Link(path, path + ".kept").ok());
  store.Collect();
  std::map<std::string, std::string> after = store.Files();
  return std::ranges::all_of(after, [&](const auto& file) {
    const auto& [path, bytes] = file;
    return !path.ends_with(".kept") || before[path.substr(0, path.size() - 5)] == bytes;
  });
}

TEST(PunchMutantsTest, HolesInALinkedFileAreCaught) {
  EXPECT_TRUE(SecondNamesKeepTheirBytes());
  MutantScope mutant(Mutant::kPunchLinkedFile);
  EXPECT_FALSE(SecondNamesKeepTheirBytes());
}

// A family that flushes late holds the replay position back: a segment that recovery may read is not a candidate.
TEST(PunchTest, SegmentsThatRecoveryReadsAreNotPunched) {
  PunchStore store;
  store.MustOpen();
  ColumnFamilyHandle* lagging = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "lagging", &lagging).ok());
  ASSERT_TRUE(store.db->Put({}, lagging, "key", "value").ok());
  for (int version = 0; version < 3; ++version) {
    for (int i = 0; i < kKeys; ++i) store.Put(NumberedKey(i), ValueOf(i, version));
    store.Flush();
  }
  store.Compact();
  store.Collect();
  EXPECT_EQ(store.Punched(), 0u);
  ASSERT_TRUE(store.db->Flush({}, lagging).ok());
  store.RunUntilIdle();
  EXPECT_GT(store.Punched() + store.FilesOf(".gc").size(), 0u);
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(lagging).ok());
}

// Regression: the holes of the second punch did not wait for readers that held the segment from before the first.
TEST(PunchTest, SecondPunchWaitsForReadersOfTheFirst) {
  PunchStore store;
  store.MustOpen();
  for (int i = 0; i < kKeys; ++i) store.Put(NumberedKey(i), ValueOf(i, 0));
  store.Flush();
  store.Compact();
  ASSERT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  const Snapshot* const snapshot = store.db->GetSnapshot();
  for (int round = 0; round < 2; ++round) {
    for (int i = round; i < kKeys; i += 3) store.Put(NumberedKey(i), ValueOf(i, 1));
    store.Flush();
    store.RunUntilIdle();
    EXPECT_TRUE(TestsUseLsm() || store.Punched() > (round == 0 ? 10u : 30u)) << "an LSM may move them instead";
  }
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(store.Get(NumberedKey(i), At(snapshot)), ValueOf(i, 0)) << i;
  store.db->ReleaseSnapshot(snapshot);
}

// When the readers of the first punch are released, only its own values become holes, not those of a later punch, which
// a snapshot taken between the two may read.
TEST(PunchTest, EachPunchMakesItsOwnHoles) {
  PunchStore store;
  store.MustOpen();
  for (int i = 0; i < kKeys; ++i) store.Put(NumberedKey(i), ValueOf(i, 0));
  store.Flush();
  store.Compact();
  ASSERT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  std::vector<const Snapshot*> snapshots;
  for (int round = 0; round < 2; ++round) {
    snapshots.push_back(store.db->GetSnapshot());
    for (int i = round; i < kKeys; i += 3) store.Put(NumberedKey(i), ValueOf(i, 1));
    store.Flush();
    store.RunUntilIdle();
  }
  store.db->ReleaseSnapshot(snapshots[0]);
  store.RunUntilIdle();
  for (int i = 0; i < kKeys; ++i) {
    ASSERT_EQ(store.Get(NumberedKey(i), At(snapshots[1])), ValueOf(i, i % 3 == 0 ? 1 : 0)) << i;
  }
  const std::uint64_t before = store.Allocated();
  store.db->ReleaseSnapshot(snapshots[1]);
  store.RunUntilIdle();
  EXPECT_LT(store.Allocated(), before);
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(store.Get(NumberedKey(i)), ValueOf(i, i % 3 == 2 ? 0 : 1)) << i;
  EXPECT_EQ(store.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing::punch_test
