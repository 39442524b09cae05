// What each wal_recovery_mode makes of a damaged header of a log segment, and of a kill. docs/OPTIONS.md has the table.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/db_inside.h"
#include "io/file_header.h"
#include "testing/hook_scope.h"
#include "testing/mutant_scope.h"
#include "testing/program/program_database.h"
#include "testing/program/runner.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_store.h"
#include "vlog/record_format.h"

namespace cambium::testing {
namespace {

constexpr WALRecoveryMode kOpeningModes[] = {WALRecoveryMode::kTolerateCorruptedTailRecords,
                                             WALRecoveryMode::kAbsoluteConsistency,
                                             WALRecoveryMode::kPointInTimeRecovery};

// ---- Damage in the first bytes of a segment ----

constexpr int kKeys = 60;

std::string ValueOf(int i) {
  return NumberedKey(i) + std::string(i % 3 == 0 ? 20 : 900, static_cast<char>('a' + i % 26));
}

class LoggedErrors final : public Logger {
 public:
  void Log(InfoLogLevel level, Slice line) override {
    if (level >= InfoLogLevel::kError) errors += line.ToString() + "\n";
  }
  std::string errors;
};

// A database of synced puts that was killed: sealed segments, and one that is not sealed.
struct Logged {
  SimImage image;
  std::vector<std::string> segments;  // paths of those with records, oldest first
  int flushed = 0;                    // keys below this are in the index
};

Logged MakeLogged(bool flush) {
  Logged made;
  TestStore store;
  store.options.blob_file_size = 16u << 10;
  store.options.write_buffer_size = 1u << 20;
  store.MustOpen();
  for (int i = 0; i < kKeys; ++i) {
    store.Put(NumberedKey(i), ValueOf(i), true);
    if (flush && i == kKeys / 3) {
      store.Flush();
      made.flushed = i + 1;
    }
  }
  store.executor->RunAll();
  for (const std::string& path : store.FilesOf(".log")) {
    std::string bytes;
    EXPECT_TRUE(store.fs->probe().ReadContents(path, &bytes).ok());
    if (bytes.find('k', kFileHeaderSize) != std::string::npos) made.segments.push_back(path);
  }
  EXPECT_GE(made.segments.size(), 3u);
  made.image = store.fs->Snapshot();
  return made;
}

struct Opened {
  Status status;
  int keys = 0;           // the first ones, in the order of writing
  bool is_prefix = true;  // the database has exactly these keys
  std::string errors;     // logged
  bool changed = false;   // Open failed and changed files
};

Opened OpenDamaged(const std::shared_ptr<SimFileSystem>& fs, WALRecoveryMode mode) {
  TestStore store(fs);
  const auto logger = std::make_shared<LoggedErrors>();
  store.options.info_log = logger;
  store.options.wal_recovery_mode = mode;
  const auto before = FilesOfDatabase(*fs);
  Opened opened;
  opened.status = store.Open();
  opened.errors = logger->errors;
  if (!opened.status.ok()) {
    opened.changed = FilesOfDatabase(*fs) != before;
    return opened;
  }
  while (opened.keys < kKeys && store.Get(NumberedKey(opened.keys)) == ValueOf(opened.keys)) ++opened.keys;
  for (int i = opened.keys; i < kKeys; ++i)
    opened.is_prefix = opened.is_prefix && store.Get(NumberedKey(i)) == "NotFound";
  // The database takes writes, and has the same keys when it is opened again.
  store.Put("new", "n", true);
  store.MustClose();
  store.MustOpen();
  EXPECT_EQ(store.Get("new"), "n");
  for (int i = 0; i < kKeys; ++i) {
    EXPECT_EQ(store.Get(NumberedKey(i)), i < opened.keys ? ValueOf(i) : "NotFound");
  }
  store.MustClose();
  return opened;
}

// The MANIFEST has all fields of the header that reading the segment needs, and the checksums of the records show that
// the segment is the right one. So a damaged header alone costs no operation, in whichever segment it is.
TEST(RecoveryModesTest, DamagedSegmentHeaderIsRefusedExceptByPointInTime) {
  for (const bool flush : {false, true}) {
    const Logged logged = MakeLogged(flush);
    for (const std::string& path :
         {logged.segments.front(), logged.segments[logged.segments.size() / 2], logged.segments.back()}) {
      for (std::size_t at = 0; at < kFileHeaderSize; ++at) {
        for (const WALRecoveryMode mode : kOpeningModes) {
          SCOPED_TRACE(path + ", byte " + std::to_string(at) + ", mode " + std::to_string(static_cast<int>(mode)));
          const auto fs = std::make_shared<SimFileSystem>(logged.image);
          ASSERT_TRUE(fs->tampering().FlipBit(path, at, static_cast<int>(at % 8)).ok());
          const Opened opened = OpenDamaged(fs, mode);
          if (mode == WALRecoveryMode::kPointInTimeRecovery) {
            ASSERT_TRUE(opened.status.ok()) << opened.status.ToString();
            ASSERT_EQ(opened.keys, kKeys);
            ASSERT_NE(opened.errors.find(path), std::string::npos) << opened.errors;
            continue;
          }
          ASSERT_TRUE(opened.status.IsCorruption()) << opened.status.ToString();
          ASSERT_NE(opened.status.ToString().find(path + ":0"), std::string::npos) << opened.status.ToString();
          ASSERT_FALSE(opened.changed);
        }
      }
    }
  }
}

// Returns what kPointInTimeRecovery makes of a database whose oldest log segment has a damaged header.
Opened OpenWithDamagedHeader() {
  const Logged logged = MakeLogged(false);
  const auto fs = std::make_shared<SimFileSystem>(logged.image);
  EXPECT_TRUE(fs->tampering().FlipBit(logged.segments.front(), kFileHeaderSize / 2, 0).ok());
  return OpenDamaged(fs, WALRecoveryMode::kPointInTimeRecovery);
}

TEST(RecoveryModesTest, PointInTimeReadsASegmentWithADamagedHeader) {
  const Opened opened = OpenWithDamagedHeader();
  EXPECT_TRUE(opened.status.ok()) << opened.status.ToString();
  EXPECT_EQ(opened.keys, kKeys);
  const MutantScope mutant(Mutant::kDamagedHeaderLosesAll);
  const Opened refused = OpenWithDamagedHeader();
  EXPECT_TRUE(refused.status.IsCorruption()) << "the mutant has no effect: " << refused.status.ToString();
}

// The bytes after the header: the link and the first record.
TEST(RecoveryModesTest, DamagedFirstRecordsEndTheLogForPointInTime) {
  const Logged logged = MakeLogged(false);
  const std::size_t end =
      kFileHeaderSize + RecordHeader{.value_size = SegmentLink::kSize}.RecordSize() + kRecordHeaderSize + 5;
  for (std::size_t s = 0; s < logged.segments.size(); ++s) {
    const std::string& path = logged.segments[s];
    std::optional<int> expected;
    for (std::size_t at = kFileHeaderSize; at < end; ++at) {
      for (const WALRecoveryMode mode : kOpeningModes) {
        SCOPED_TRACE(path + ", byte " + std::to_string(at) + ", mode " + std::to_string(static_cast<int>(mode)));
        const auto fs = std::make_shared<SimFileSystem>(logged.image);
        ASSERT_TRUE(fs->tampering().FlipBit(path, at, static_cast<int>(at % 8)).ok());
        const Opened opened = OpenDamaged(fs, mode);
        if (mode != WALRecoveryMode::kPointInTimeRecovery) {
          ASSERT_TRUE(opened.status.IsCorruption()) << opened.status.ToString();
          ASSERT_NE(opened.status.ToString().find(kStorePath + std::string("/")), std::string::npos);
          ASSERT_FALSE(opened.changed);
          continue;
        }
        ASSERT_TRUE(opened.status.ok()) << opened.status.ToString();
        ASSERT_TRUE(opened.is_prefix);
        if (!expected.has_value()) expected = opened.keys;
        ASSERT_EQ(opened.keys, *expected);  // the operations of the segments before this one
        ASSERT_NE(opened.errors, "");
      }
    }
    ASSERT_EQ(*expected == 0, s == 0);
    ASSERT_LT(*expected, kKeys);
  }
}

// One family has flushed operations that follow the damage; the other families would end before the damage.
TEST(RecoveryModesTest, DamageBeforeFlushedOperationsIsRefusedByEveryMode) {
  TestStore store;
  store.options.blob_file_size = 16u << 10;
  store.options.write_buffer_size = 1u << 20;
  store.MustOpen();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "other", &other).ok());
  WriteOptions sync;
  sync.sync = true;
  for (int i = 0; i < kKeys; ++i)
    ASSERT_TRUE(
        store.db->Put(sync, i % 2 == 0 ? store.db->DefaultColumnFamily() : other, NumberedKey(i), ValueOf(i)).ok());
  ASSERT_TRUE(store.db->Flush({}, other).ok());
  store.executor->RunAll();
  delete other;
  const std::string first = store.FilesOf(".log").front();
  const std::size_t in_first_record =
      kFileHeaderSize + RecordHeader{.value_size = SegmentLink::kSize}.RecordSize() + 20;
  for (const WALRecoveryMode mode : kOpeningModes) {
    const auto fs = std::make_shared<SimFileSystem>(store.fs->Snapshot());
    ASSERT_TRUE(fs->tampering().FlipBit(first, in_first_record, 1).ok());
    Options options = store.options;
    options.file_system = fs;
    options.wal_recovery_mode = mode;
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> db;
    const Status s =
        DB::Open(options, kStorePath, {{kDefaultColumnFamilyName, options}, {"other", options}}, &handles, &db);
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  }
}

// The MANIFEST has the sequence number of the last operation of a family that was dropped later. Recovery ends at
// damage before this operation, so its own last sequence number is smaller. A copy of the database must have the larger
// of the two.
TEST(RecoveryModesTest, CopiesSucceedAfterTheLossOfOperationsOfADroppedFamily) {
  TestStore store;
  store.MustOpen();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "other", &other).ok());
  store.Put("a", "1", true);
  ASSERT_TRUE(store.db->Put({.sync = true}, other, "b", "2").ok());
  ASSERT_TRUE(store.db->Flush({}, other).ok());
  store.executor->RunAll();
  ASSERT_TRUE(store.db->DropColumnFamily(other).ok());
  store.executor->RunAll();
  delete other;
  const std::string log = store.FilesOf(".log").front();
  const auto fs = std::make_shared<SimFileSystem>(store.fs->Snapshot());
  const std::size_t in_first_record =
      kFileHeaderSize + RecordHeader{.value_size = SegmentLink::kSize}.RecordSize() + 20;
  ASSERT_TRUE(fs->tampering().FlipBit(log, in_first_record, 1).ok());
  TestStore damaged(fs);
  damaged.options.wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  damaged.MustOpen();
  EXPECT_EQ(damaged.Get("a"), "NotFound");
  const Result<Capture> captured = DbInside::Of(damaged.db.get())->CaptureNow(0);
  EXPECT_TRUE(captured.ok()) << captured.status().ToString();
}

TEST(RecoveryModesTest, SkippingCorruptedRecordsIsNotSupported) {
  const Logged logged = MakeLogged(false);
  TestStore store(std::make_shared<SimFileSystem>(logged.image));
  store.options.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  EXPECT_TRUE(store.Open().IsNotSupported());
}

// ---- Kills ----

struct Killed {
  std::uint64_t images = 0;
  std::string refused;  // the first refusal
};

// Runs a program without faults and kills it after each call of the file system. So nothing is damaged or torn.
void KillEverywhere(std::uint64_t seed, Killed* killed) {
  ProgramShape shape;
  shape.operations = 40;
  shape.value_size_max = 6000;
  shape.batch_size_max = 8;
  shape.key_count_max = 24;
  shape.reads = false;
  const Program program = DrawProgram(seed, shape);
  const auto fs = std::make_shared<SimFileSystem>();
  ProgramDatabase database(program.config, fs, program.seed);
  std::vector<SimImage> images;
  const HookScope hook(fs, [&](const SimOp& op) {
    if (op.phase == SimPhase::kAfter) images.push_back(fs->Snapshot());
  });
  ASSERT_TRUE(database.Open().ok());
  Runner::Policy policy;
  policy.verify = false;
  Runner runner(program, &database, NewTimeline(program), policy);
  for (const Operation& op : program.operations) {
    const std::string wrong = runner.Run(op);
    ASSERT_EQ(wrong, "");
  }
  runner.ReleaseAll();
  ASSERT_TRUE(database.Close().ok());
  for (const SimImage& image : images) {
    ASSERT_TRUE(image.in_flight().empty());
    ++killed->images;
    Prng kill(seed);
    Options options = database.options();
    options.file_system = std::make_shared<SimFileSystem>(image.Kill(kill));
    options.executor = std::make_shared<ManualExecutor>();
    options.listeners.clear();
    options.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
    std::unique_ptr<DB> db;
    const Status s = DB::Open(options, kSimDatabasePath, &db);
    if (!s.ok() && killed->refused.empty()) {
      killed->refused = "CAMBIUM_SEED=" + std::to_string(seed) + ", operation " + std::to_string(image.operation()) +
                        ": " + s.ToString();
    }
  }
}

Killed KillPrograms(std::uint64_t programs) {
  Killed killed;
  const std::uint64_t first = SeedFromEnvironment(1);
  for (std::uint64_t seed = first; seed < first + programs && killed.refused.empty(); ++seed) {
    KillEverywhere(seed, &killed);
    if (::testing::Test::HasFatalFailure()) break;
  }
  return killed;
}

TEST(RecoveryModesTest, AbsoluteConsistencyOpensAfterAnyKill) {
  const Killed killed = KillPrograms(ScaledPrograms(60));
  EXPECT_EQ(killed.refused, "");
  std::printf("%llu kills\n", static_cast<unsigned long long>(killed.images));
  const MutantScope mutant(Mutant::kIgnoreUnsealedFooter);
  EXPECT_NE(KillPrograms(60).refused, "");
}

}  // namespace
}  // namespace cambium::testing
