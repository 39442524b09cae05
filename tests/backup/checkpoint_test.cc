// Tests of checkpoints: a copy has the state of one moment, and afterwards origin and copy do not affect each other.
#include "cambium/checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "backup/known_store.h"
#include "cambium/backup_engine.h"
#include "cambium/compact_log.h"
#include "cambium/convenience.h"
#include "manifest/file_names.h"
#include "manifest/manifest_reader.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/fault_point.h"

namespace cambium::testing {
namespace {

constexpr const char* kCopy = "/copy";
constexpr const char* kPartial = "/copy.tmp";
constexpr const char* kMark = "/copy.tmp.mark";

struct CopiedStore : KnownStore {
  using KnownStore::KnownStore;
  Status Copy(std::uint64_t log_size_for_flush = 0, SequenceNumber* sequence = nullptr) {
    std::unique_ptr<Checkpoint> checkpoint;
    const Status made = Checkpoint::Create(db.get(), &checkpoint);
    return made.ok() ? checkpoint->CreateCheckpoint(kCopy, log_size_for_flush, sequence) : made;
  }
  void RemoveCopy() { ASSERT_TRUE(DestroyDB(kCopy, options).ok()); }
};

// The copy, opened with the origin's options.
struct OpenedCopy {
  explicit OpenedCopy(const TestStore& store, const std::shared_ptr<SimFileSystem>& fs = nullptr)
      : options(store.options) {
    if (fs != nullptr) options.file_system = fs;
    options.create_if_missing = false;
    const Status s = DB::Open(options, kCopy, &db);
    EXPECT_TRUE(s.ok() || MutantIs(Mutant::kLinkUnfinishedFiles)) << s.ToString();
  }
  std::string Verify() const {
    VerifyReport report;
    Options as_is = options;
    as_is.file_system = std::make_shared<SimFileSystem>(static_cast<SimFileSystem&>(*options.file_system).Snapshot());
    const Status s = VerifyDB(kCopy, as_is, {.deep = true}, &report);
    std::string all = s.ok() ? "" : s.ToString();
    for (const std::string& problem : report.problems) all += problem + "\n";
    return all;
  }
  Options options;
  std::unique_ptr<DB> db;
};

std::vector<std::string> Below(const SimFileSystem& fs, const std::string& directory) {
  std::vector<std::string> paths;
  for (const auto& file : fs.probe().ListFiles()) {
    if (file.path.starts_with(directory + "/")) paths.push_back(file.path);
  }
  return paths;
}

std::map<std::string, std::string> BytesBelow(const SimFileSystem& fs, const std::string& directory) {
  std::map<std::string, std::string> all;
  for (const std::string& path : Below(fs, directory)) EXPECT_TRUE(fs.probe().ReadContents(path, &all[path]).ok());
  return all;
}

TEST(CheckpointTest, CopyHasTheStateAtItsCreation) {
  for (const std::uint64_t log_size_for_flush : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    CopiedStore store;
    store.MustOpen();
    Prng prng(SeedFromEnvironment(1));
    store.ChangeMany(&prng, 200);
    store.Compact();
    store.ChangeMany(&prng, 100);
    ASSERT_TRUE(store.db->DeleteRange({}, NumberedKey(10), NumberedKey(15)).ok());
    store.known.erase(store.known.lower_bound(NumberedKey(10)), store.known.lower_bound(NumberedKey(15)));
    SequenceNumber sequence = 0;
    const Status made = store.Copy(log_size_for_flush, &sequence);
    ASSERT_TRUE(made.ok()) << made.ToString();
    EXPECT_EQ(sequence, store.db->GetLatestSequenceNumber());
    EXPECT_EQ(store.Property("num-entries-active-mem-table") == 0, log_size_for_flush == 0)
        << "flushed exactly if log_size_for_flush asks for it";
    const Map then = store.known;
    store.ChangeMany(&prng, 300);
    store.Compact();
    OpenedCopy copy(store);
    EXPECT_EQ(Contents(copy.db.get()), then);
    EXPECT_EQ(copy.Verify(), "");
    EXPECT_EQ(Contents(store.db.get()), store.known);
    EXPECT_EQ(store.Verify(), "");
  }
}

TEST(CheckpointTest, FinalFilesAreLinkedAndTheRestIsCopied) {
  CopiedStore store;
  store.MustOpen();
  Prng prng(SeedFromEnvironment(2));
  store.ChangeMany(&prng, 300);
  store.Compact();
  store.ChangeMany(&prng, 3);
  ASSERT_TRUE(store.Copy(~std::uint64_t{0}).ok());
  std::uint64_t linked = 0;
  std::uint64_t copied = 0;
  for (const std::string& path : Below(*store.fs, kCopy)) {
    FileInfo info;
    ASSERT_TRUE(store.fs->GetInfo(path, &info).ok());
    FileInfo origin;
    const bool is_same =
        store.fs->GetInfo(std::string(kStorePath) + path.substr(5), &origin).ok() && origin.inode == info.inode;
    EXPECT_EQ(info.link_count, is_same ? 2u : 1u) << path;
    (is_same ? linked : copied) += info.size;
  }
  EXPECT_GT(linked, 3 * copied) << "the end of the log, a tree file, MANIFEST and OPTIONS are copies";
  EXPECT_GT(copied, 0u);
  std::vector<std::string> partial;
  EXPECT_TRUE(store.fs->List(kPartial, &partial).IsPathNotFound());
}

TEST(CheckpointTest, ReportsProgress) {
  for (const bool can_link : {false, true}) {
    CopiedStore store;
    store.MustOpen();
    Prng prng(SeedFromEnvironment(12));
    store.ChangeMany(&prng, 300);
    store.MustClose();
    SimFault fault;
    fault.kind = SimOpKind::kLink;
    fault.sticky = true;
    fault.status = Status::NotSupported("another file system");
    if (!can_link) store.fs->AddFault(fault);
    std::uint64_t last = 0;
    std::uint64_t total = 0;
    const Status made = CheckpointOffline(store.options, kStorePath, kCopy, [&](std::uint64_t done, std::uint64_t all) {
      EXPECT_GE(done, last);
      EXPECT_TRUE(total == 0 || total == all);
      last = done;
      total = all;
    });
    ASSERT_TRUE(made.ok()) << made.ToString();
    EXPECT_EQ(last, total);
    EXPECT_GT(total, 100'000u);
  }
}

TEST(CheckpointTest, WithoutHardLinksEverythingIsCopied) {
  CopiedStore store;
  store.MustOpen();
  Prng prng(SeedFromEnvironment(3));
  store.ChangeMany(&prng, 300);
  store.Compact();
  SimFault fault;
  fault.kind = SimOpKind::kLink;
  fault.sticky = true;
  fault.status = Status::NotSupported("another file system");
  store.fs->AddFault(fault);
  const Status made = store.Copy();
  ASSERT_TRUE(made.ok()) << made.ToString();
  for (const std::string& path : Below(*store.fs, kCopy)) {
    FileInfo info;
    ASSERT_TRUE(store.fs->GetInfo(path, &info).ok());
    EXPECT_EQ(info.link_count, 1u) << path;
  }
  OpenedCopy copy(store);
  EXPECT_EQ(Contents(copy.db.get()), store.known);
  EXPECT_EQ(copy.Verify(), "");
}

TEST(CheckpointTest, CopyHasEveryColumnFamily) {
  CopiedStore store;
  store.MustOpen();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "other", &other).ok());
  ASSERT_TRUE(store.db->Put({}, other, "a", std::string(500, 'a')).ok());
  store.Put("b", "default's");
  ASSERT_TRUE(store.Copy().ok());
  ASSERT_TRUE(store.db->DropColumnFamily(other).ok());
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(other).ok());
  store.RunUntilIdle();
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  ConfigOptions config;
  config.file_system = store.fs;
  const Status loaded = LoadLatestOptions(config, kCopy, &options, &families);
  ASSERT_TRUE(loaded.ok()) << loaded.ToString();
  options.executor = store.executor;
  options.clock = store.clock;
  std::vector<ColumnFamilyHandle*> handles;
  std::unique_ptr<DB> db;
  const Status s = DB::Open(options, kCopy, families, &handles, &db);
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_EQ(handles.size(), 2u);
  std::string value;
  EXPECT_TRUE(db->Get({}, handles[1], "a", &value).ok());
  EXPECT_EQ(value, std::string(500, 'a'));
  for (ColumnFamilyHandle* const handle : handles) EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
}

// Runs origin and copy side by side: writes, compactions, log GC, punching, reopening, and removal of one of them.
// Returns what is wrong, or "".
std::string RunBoth(std::uint64_t seed) {
  Prng prng(seed);
  CopiedStore store;
  store.MustOpen();
  store.ChangeMany(&prng, 150);
  if (prng.OneIn(2)) store.Compact();
  store.ChangeMany(&prng, static_cast<int>(prng.Uniform(60)));
  if (const Status made = store.Copy(prng.OneIn(2) ? 0 : ~std::uint64_t{0}); !made.ok()) return made.ToString();
  Map other = store.known;
  if (prng.OneIn(2)) store.ChangeMany(&prng, static_cast<int>(prng.Uniform(40)));  // before the first Open of the copy
  OpenedCopy copy(store);
  if (copy.db == nullptr) return "the copy does not open";
  for (int round = 0; round < 6; ++round) {
    store.ChangeMany(&prng, static_cast<int>(prng.Uniform(80)));
    if (prng.OneIn(2)) store.Compact();
    for (int i = 0; i < 40; ++i) {
      const std::string key = NumberedKey(static_cast<int>(prng.Uniform(60)));
      if (!copy.db->Put({}, key, other[key] = prng.Bytes(prng.OneIn(3) ? 5000 : 200)).ok())
        return "a put to the copy failed";
    }
    if (prng.OneIn(2) && !copy.db->CompactRange({}, nullptr, nullptr).ok()) return "CompactRange of the copy failed";
    store.executor->RunAll();
    if (prng.OneIn(4)) store.Reopen();
    if (Contents(copy.db.get()) != other) return "the copy has changed, in round " + std::to_string(round);
    if (Contents(store.db.get()) != store.known) return "the origin has changed";
  }
  if (const std::string wrong = store.Verify() + copy.Verify(); !wrong.empty()) return wrong;
  // Cut the power of both, then destroy one of them.
  if (!store.db->SyncWAL().ok() || !copy.db->SyncWAL().ok()) return "a sync failed";
  const auto after = std::make_shared<SimFileSystem>(store.fs->DrawCrash(prng));
  CopiedStore again(after);
  again.options.index_type = store.options.index_type;
  {
    OpenedCopy copy_again(again, after);
    if (copy_again.db == nullptr) return "the copy does not open after a cut";
    again.MustOpen();
    if (Contents(copy_again.db.get()) != other) return "a cut has changed the copy";
    if (Contents(again.db.get()) != store.known) return "a cut has changed the origin";
    if (!copy_again.db->Close().ok()) return "the copy does not close";
    again.MustClose();
  }
  const bool origin_goes = prng.OneIn(2);
  if (!DestroyDB(origin_goes ? kStorePath : kCopy, again.options).ok()) return "DestroyDB failed";
  if (origin_goes) {
    OpenedCopy left(again, after);
    return Contents(left.db.get()) == other ? left.Verify() : "the copy was lost with the origin";
  }
  again.MustOpen();
  return Contents(again.db.get()) == store.known ? again.Verify() : "the origin was lost with the copy";
}

TEST(CheckpointTest, OriginAndCopyAreIndependent) {
  const std::uint64_t first = SeedFromEnvironment(100);
  for (std::uint64_t seed = first; seed < first + ScaledCount(60); ++seed) {
    ASSERT_EQ(RunBoth(seed), "") << "CAMBIUM_SEED=" << seed;
  }
}

// An offline compaction removes and rewrites files that the other database still has under its own names.
TEST(CheckpointTest, CompactLogOfOneLeavesTheOtherUnchanged) {
  for (const bool by_origin : {false, true}) {
    SCOPED_TRACE(by_origin);
    CopiedStore store;
    store.options.enable_blob_garbage_collection = false;
    store.MustOpen();
    Prng prng(SeedFromEnvironment(11));
    store.ChangeMany(&prng, 300);
    store.Compact();
    store.ChangeMany(&prng, 60);
    store.MustClose();
    ASSERT_TRUE(CheckpointOffline(store.options, kStorePath, kCopy).ok());
    const std::string compacted_path = by_origin ? kStorePath : kCopy;
    const std::string other = by_origin ? kCopy : kStorePath;
    const auto before = BytesBelow(*store.fs, other);
    CompactLogOptions how;
    how.cluster = true;
    CompactLogReport report;
    const Status compacted = CompactLog(compacted_path, store.options, how, &report);
    ASSERT_TRUE(compacted.ok()) << compacted.ToString();
    EXPECT_GT(report.fact.bytes_held, 0u) << "nothing was shared";
    EXPECT_EQ(BytesBelow(*store.fs, other), before);
    store.MustOpen();
    EXPECT_EQ(Contents(store.db.get()), store.known);
    EXPECT_EQ(store.Verify(), "");
    OpenedCopy copy(store);
    EXPECT_EQ(Contents(copy.db.get()), store.known);
    EXPECT_EQ(copy.Verify(), "");
  }
}

TEST(CheckpointTest, LinkingUnfinishedFilesIsCaught) {
  const MutantScope mutant(Mutant::kLinkUnfinishedFiles);
  bool is_wrong = false;
  for (std::uint64_t seed = 100; seed < 120 && !is_wrong; ++seed) is_wrong = !RunBoth(seed).empty();
  EXPECT_TRUE(is_wrong);
}

TEST(CheckpointTest, PunchingKeepsTheValuesOfTheCopy) {
  const auto holes_show = [] {
    CopiedStore store;
    store.options.blob_file_size = 256u << 10;
    store.options.write_buffer_size = 1u << 20;
    store.options.max_total_wal_size = 8u << 20;
    store.options.enable_blob_garbage_collection = false;
    store.MustOpen();
    Prng prng(4);
    for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i), store.known[NumberedKey(i)] = prng.Bytes(12'000));
    store.Compact();
    if (!store.Copy().ok()) return std::string("no copy");
    const Map then = store.known;
    for (int i = 0; i < 60; i += 2) store.Put(NumberedKey(i), store.known[NumberedKey(i)] = prng.Bytes(12'000));
    store.Compact();
    EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
    store.RunUntilIdle();
    store.Compact({.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce,
                   .blob_garbage_collection_age_cutoff = 1});
    OpenedCopy copy(store);
    return (Contents(copy.db.get()) == then ? "" : "the copy has holes") + copy.Verify();
  };
  EXPECT_EQ(holes_show(), "");
  const MutantScope mutant(Mutant::kPunchLinkedFile);
  EXPECT_NE(holes_show(), "");
}

// While a checkpoint is made, other threads write, flush, compact and run log GC. The copy has a prefix of the writes,
// with at least those before its start.
TEST(CheckpointTest, ConcurrentWritesAreInTheCopyAsAPrefix) {
  std::uint64_t later = 0;
  const std::uint64_t first = SeedFromEnvironment(300);
  for (std::uint64_t seed = first; seed < first + ScaledCount(60); ++seed) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
    Prng prng(seed);
    CopiedStore store;
    store.MustOpen();
    store.ChangeMany(&prng, 150);
    std::vector<Map> states = {store.known};
    bool is_inside = false;
    const int hook = store.fs->AddHook([&](const SimOp& op) {
      const bool is_of_copy = op.path.starts_with(kPartial) || op.to.starts_with(kPartial);
      if (!is_of_copy || op.phase != SimPhase::kBefore || std::exchange(is_inside, true)) return;
      if (prng.OneIn(2)) {
        store.Change(&prng);
        states.push_back(store.known);
      } else if (prng.OneIn(2)) {
        store.Flush();
      } else {
        store.executor->RunAll();
      }
      is_inside = false;
    });
    const Status made = store.Copy(prng.OneIn(2) ? 0 : ~std::uint64_t{0});
    store.fs->RemoveHook(hook);
    ASSERT_TRUE(made.ok()) << made.ToString();
    OpenedCopy copy(store);
    const auto found = std::ranges::find(states, Contents(copy.db.get()));
    ASSERT_NE(found, states.end());
    later += static_cast<std::uint64_t>(states.end() - found) - 1;
    ASSERT_EQ(copy.Verify(), "");
    ASSERT_EQ(Contents(store.db.get()), store.known);
  }
  EXPECT_GT(later, ScaledCount(60)) << "nothing was written meanwhile";
}

// Cuts the power at every call. Returns what is wrong, or "" if the copy is whole or absent, the origin is unchanged,
// and the next try succeeds.
std::string AfterEveryCut(std::uint64_t seed) {
  Prng prng(seed);
  CopiedStore store;
  store.MustOpen();
  store.ChangeMany(&prng, 200);
  if (!store.db->SyncWAL().ok()) return "the sync failed";
  std::vector<SimImage> images;
  const int hook = store.fs->AddHook([&](const SimOp& op) {
    if (op.phase == SimPhase::kBefore || op.phase == SimPhase::kInside) images.push_back(store.fs->DrawCrash(prng));
  });
  if (!store.Copy().ok()) return "the copy failed";
  store.fs->RemoveHook(hook);
  images.push_back(store.fs->DrawCrash(prng));
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::string where = "cut " + std::to_string(i) + " of " + std::to_string(images.size()) + ": ";
    const auto fs = std::make_shared<SimFileSystem>(images[i]);
    CopiedStore after(fs);
    FileInfo info;
    const bool is_there = fs->GetInfo(kCopy, &info).ok();
    if (i + 1 == images.size() && !is_there) return "the finished copy is missing";
    if (is_there) {
      OpenedCopy copy(after);
      if (copy.db == nullptr || Contents(copy.db.get()) != store.known)
        return where + "the copy exists and is not whole";
      if (!copy.db->Close().ok()) return where + "the copy does not close";
      after.RemoveCopy();
    }
    after.MustOpen();
    if (Contents(after.db.get()) != store.known) return where + "the origin has changed";
    if (const Status again = after.Copy(); !again.ok()) return where + again.ToString();
    if (!fs->GetInfo(kPartial, &info).IsPathNotFound()) return where + "remains are left";
    OpenedCopy copy(after);
    if (copy.db == nullptr || Contents(copy.db.get()) != store.known) return where + "the second try is not whole";
    if (!fs->GetInfo(kMark, &info).IsPathNotFound()) return where + "the mark is left";
  }
  return "";
}

TEST(CheckpointTest, PowerCutLeavesAWholeCopyOrNone) {
  const std::uint64_t first = SeedFromEnvironment(500);
  for (std::uint64_t seed = first; seed < first + ScaledCount(10); ++seed) ASSERT_EQ(AfterEveryCut(seed), "") << seed;
  const MutantScope mutant(Mutant::kCloneSkipsDirectorySync);
  bool is_wrong = false;
  for (std::uint64_t seed = 500; seed < 520 && !is_wrong; ++seed) is_wrong = !AfterEveryCut(seed).empty();
  EXPECT_TRUE(is_wrong);
}

// Regression: the call after a crash removed the mark before the remains. If this call was killed too, it left a
// MANIFEST without a mark. Every later call took this MANIFEST for a foreign database, and failed.
TEST(CheckpointTest, RemovalOfRemainsMayBeInterrupted) {
  CopiedStore store;
  store.MustOpen();
  Prng prng(SeedFromEnvironment(700));
  store.ChangeMany(&prng, 40);
  store.MustClose();
  std::vector<SimImage> whole;  // the disk of a copy that was killed right before the rename
  const int hook = store.fs->AddHook([&](const SimOp& op) {
    if (op.phase == SimPhase::kBefore && op.kind == SimOpKind::kRename && op.path == kPartial) {
      whole.push_back(store.fs->Snapshot().Kill(prng));
    }
  });
  ASSERT_TRUE(CheckpointOffline(store.options, kStorePath, kCopy).ok());
  store.fs->RemoveHook(hook);
  ASSERT_EQ(whole.size(), 1u);

  std::vector<SimImage> images;
  DBOptions options = store.options;
  const auto again = std::make_shared<SimFileSystem>(whole.front());
  again->AddHook([&](const SimOp& op) {
    if (op.phase != SimPhase::kBefore || !op.path.starts_with(kPartial)) return;
    images.push_back(again->Snapshot().Kill(prng));
    images.push_back(again->DrawCrash(prng));
  });
  options.file_system = again;
  ASSERT_TRUE(CheckpointOffline(options, kStorePath, kCopy).ok());
  std::size_t tries = 0;
  for (const SimImage& image : images) {
    options.file_system = std::make_shared<SimFileSystem>(image);
    FileInfo info;
    if (options.file_system->GetInfo(kCopy, &info).ok()) continue;  // the copy was finished, and only the mark was left
    ++tries;
    const Status s = CheckpointOffline(options, kStorePath, kCopy);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  EXPECT_GT(tries, 10u);
}

TEST(CheckpointTest, FailureOfAnyCallLeavesNothing) {
  std::uint64_t calls = 0;
  for (std::uint64_t nth = 0; nth <= calls; nth += kSweepStep) {
    for (const Status& status : {Status::IOError("injected"), Status::NoSpace("injected")}) {
      Prng prng(6);
      CopiedStore store;
      store.MustOpen();
      store.ChangeMany(&prng, 120);
      store.Compact();
      store.RunUntilIdle();
      const std::uint64_t before = store.fs->calls();
      SimFault fault;
      fault.nth = nth;
      fault.status = status;
      if (nth > 0) store.fs->AddFault(fault);
      const Status made = store.Copy(~std::uint64_t{0});
      if (nth == 0) calls = store.fs->calls() - before;
      store.fs->ClearFaults();
      FileInfo info;
      const bool is_there = store.fs->GetInfo(kCopy, &info).ok();
      if (!made.ok()) {
        EXPECT_NE(made.message().find("injected"), std::string::npos) << nth << ": " << made.ToString();
        EXPECT_EQ(made.severity(), Status::Severity::kNone) << nth;
        EXPECT_TRUE(store.fs->GetInfo(kMark, &info).IsPathNotFound()) << nth;
      }
      EXPECT_TRUE(store.fs->GetInfo(kPartial, &info).IsPathNotFound()) << nth;
      if (is_there) store.RemoveCopy();  // the copy is whole, but its name may not be durable
      const Status again = store.Copy();
      ASSERT_TRUE(again.ok()) << nth << ": " << again.ToString();
      ASSERT_EQ(Contents(OpenedCopy(store).db.get()), store.known) << nth;
      ASSERT_EQ(Contents(store.db.get()), store.known) << nth;
    }
  }
  EXPECT_GT(calls, 20u);
}

// From the n-th call on, no call gets a descriptor. Returns how often the mark of the copy is left.
int CopyWithoutDescriptors() {
  int marks = 0;
  for (std::uint64_t nth = 1; nth <= 8; ++nth) {
    CopiedStore store;
    store.MustOpen();
    store.Put("a", "1");
    SimFault fault;
    fault.matches = [](SimOpKind kind, const std::string& path) {
      const bool needs_one = kind == SimOpKind::kOpen || kind == SimOpKind::kCreate || kind == SimOpKind::kList ||
                             kind == SimOpKind::kLock || kind == SimOpKind::kSyncDirectory;
      return needs_one && (path.starts_with(kCopy) || path == "/");
    };
    fault.nth = nth;
    fault.sticky = true;
    fault.status = Status::Denied("injected");
    store.fs->AddFault(fault);
    EXPECT_TRUE(store.Copy().IsDenied()) << nth;
    store.fs->ClearFaults();
    FileInfo info;
    marks += store.fs->GetInfo(kMark, &info).IsPathNotFound() ? 0 : 1;
  }
  return marks;
}

TEST(CheckpointTest, WithoutDescriptorsNoMarkIsLeft) {
  EXPECT_EQ(CopyWithoutDescriptors(), 0);
  const MutantScope mutant(Mutant::kLeaveEmptyMark);
  EXPECT_GT(CopyWithoutDescriptors(), 0);
}

TEST(CheckpointTest, ExistingFilesAreNotOverwritten) {
  CopiedStore store;
  store.MustOpen();
  store.Put("a", "1");
  ASSERT_TRUE(store.Copy().ok());
  const Status exists = store.Copy();
  EXPECT_TRUE(exists.IsInvalidArgument()) << exists.ToString();
  EXPECT_NE(exists.message().find("/copy: exists"), std::string::npos) << exists.ToString();
  // A database or a foreign file is at the path where the copy is made.
  ASSERT_TRUE(store.fs->Rename(kCopy, kPartial).ok());
  const Status database = store.Copy();
  EXPECT_TRUE(database.IsInvalidArgument()) << database.ToString();
  Options options = store.options;
  ASSERT_TRUE(DestroyDB(kPartial, options).ok());
  ASSERT_TRUE(store.fs->CreateDirectory(kPartial).ok());
  std::unique_ptr<File> file;
  ASSERT_TRUE(store.fs->Open(std::string(kPartial) + "/notes", OpenMode::kCreateNew, {}, &file).ok());
  const Status notes = store.Copy();
  EXPECT_TRUE(notes.IsInvalidArgument()) << notes.ToString();
  EXPECT_NE(notes.message().find("notes"), std::string::npos) << notes.ToString();
  FileInfo info;
  EXPECT_TRUE(store.fs->GetInfo(std::string(kPartial) + "/notes", &info).ok());
}

// Regression: a checkpoint inside the database was made there, and one without a name failed as an error of the system.
TEST(CheckpointTest, TargetWithoutNameOrInsideTheDatabaseIsRejected) {
  CopiedStore store;
  store.MustOpen();
  store.Put("a", "1");
  std::unique_ptr<Checkpoint> checkpoint;
  ASSERT_TRUE(Checkpoint::Create(store.db.get(), &checkpoint).ok());
  ASSERT_TRUE(store.fs->CreateDirectory("/beside").ok());
  const auto before = store.Files();
  for (const char* const place : {"", "/db", "/db/", "/db/copy", "/db/copy/", "/beside/../db/copy", "/db/../db/copy",
                                  "/db/missing/copy"}) {
    const Status s = checkpoint->CreateCheckpoint(place, std::numeric_limits<std::uint64_t>::max());
    EXPECT_TRUE(s.IsInvalidArgument()) << place << ": " << s.ToString();
    CopyPlan plan;
    EXPECT_FALSE(PlanCheckpointOffline(store.options, kStorePath, place, &plan).ok()) << place;
  }
  EXPECT_EQ(store.Files().size(), before.size());
  EXPECT_TRUE(checkpoint->CreateCheckpoint("/db/../copy").ok()) << "a name that only begins like the database's";
  store.MustClose();
  for (const char* const place : {"", "/db/copy"}) {
    EXPECT_TRUE(CheckpointOffline(store.options, kStorePath, place).IsInvalidArgument()) << place;
    CopyPlan plan;
    EXPECT_TRUE(PlanCheckpointOffline(store.options, kStorePath, place, &plan).IsInvalidArgument()) << place;
  }
}

// Regression: files of a database without a MANIFEST were taken for the remains of an earlier try, and removed.
TEST(CheckpointTest, ForeignFilesAreNotTakenForRemains) {
  CopiedStore store;
  store.MustOpen();
  Prng prng(1);
  store.ChangeMany(&prng, 100);
  store.Compact();
  store.MustClose();
  for (const std::string& path : Below(*store.fs, kStorePath)) {
    const std::string name = path.substr(std::string(kStorePath).size() + 1);
    if (name.starts_with("MANIFEST") || name == "LOCK" || name == "LOG") continue;
    ASSERT_TRUE(store.fs->tampering().Copy(path, std::string(kPartial) + "/" + name).ok());
  }
  // The same holds if there is a mark whose note names another directory.
  for (const bool has_mark : {false, true}) {
    if (has_mark) {
      ASSERT_TRUE(store.fs->tampering().WriteContents(std::string(kMark) + "/7777777", "").ok());
    }
    const auto before = BytesBelow(*store.fs, kPartial);
    ASSERT_FALSE(before.empty());
    const Status refused = CheckpointOffline(store.options, kStorePath, kCopy);
    EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
    CopyPlan plan;
    EXPECT_EQ(PlanCheckpointOffline(store.options, kStorePath, kCopy, &plan).ToString(), refused.ToString());
    EXPECT_EQ(BytesBelow(*store.fs, kPartial), before);
  }
}

TEST(CheckpointTest, StaleMarkIsRemoved) {
  for (const bool is_file : {false, true}) {  // in earlier versions, the mark was a file
    CopiedStore store;
    store.MustOpen();
    store.Put("a", "1");
    store.known["a"] = "1";
    const auto leave_mark = [&] {
      const std::string path = is_file ? kMark : std::string(kMark) + "/12";
      ASSERT_TRUE(store.fs->tampering().WriteContents(path, "").ok());
    };
    FileInfo info;
    leave_mark();
    ASSERT_TRUE(store.Copy().ok());
    EXPECT_TRUE(store.fs->GetInfo(kMark, &info).IsPathNotFound());
    leave_mark();
    EXPECT_TRUE(store.Copy().IsInvalidArgument()) << "the copy exists";
    EXPECT_TRUE(store.fs->GetInfo(kMark, &info).IsPathNotFound());
    EXPECT_EQ(Contents(OpenedCopy(store).db.get()), store.known);
  }
}

// Regression: a second call removed the files of the first, and both continued in one directory.
TEST(CheckpointTest, ConcurrentCopiesOfOneNameAreLocked) {
  CopiedStore store;
  store.MustOpen();
  Prng prng(2);
  store.ChangeMany(&prng, 200);
  store.Compact();
  store.MustClose();
  std::vector<Status> seconds;
  CopyPlan plan;
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string(name) != "Clone:file" && std::string(name) != "WholeDirectory:begun") return;
    if (seconds.size() > 8) return;
    seconds.push_back(CheckpointOffline(store.options, kStorePath, kCopy));
    seconds.push_back(PlanCheckpointOffline(store.options, kStorePath, kCopy, &plan));
  });
  const Status first = CheckpointOffline(store.options, kStorePath, kCopy);
  FaultPoints::Instance().Set(nullptr);
  EXPECT_TRUE(first.ok()) << first.ToString();
  EXPECT_GE(seconds.size(), 4u);
  for (const Status& second : seconds) EXPECT_TRUE(second.IsLocked()) << second.ToString();
  OpenedCopy copy(store);
  EXPECT_EQ(Contents(copy.db.get()), store.known);
  EXPECT_EQ(copy.Verify(), "");
}

// A directory that gets the target's name meanwhile is kept, even an empty one, which rename(2) would replace.
TEST(CheckpointTest, DirectoryCreatedMeanwhileIsNotReplaced) {
  CopiedStore store;
  store.MustOpen();
  store.Put("a", "1");
  store.MustClose();
  FaultPoints::Instance().Set([&](const char* name) {
    if (std::string(name) != "Clone:file") return;
    EXPECT_TRUE(store.fs->CreateDirectory(kCopy).ok());
  });
  const Status made = CheckpointOffline(store.options, kStorePath, kCopy);
  FaultPoints::Instance().Set(nullptr);
  EXPECT_FALSE(made.ok());
  EXPECT_NE(made.message().find("exists"), std::string::npos) << made.ToString();
  std::vector<std::string> names;
  ASSERT_TRUE(store.fs->List(kCopy, &names).ok());
  EXPECT_TRUE(names.empty());
  FileInfo info;
  EXPECT_TRUE(store.fs->GetInfo(kPartial, &info).IsPathNotFound());
  EXPECT_TRUE(store.fs->GetInfo(kMark, &info).IsPathNotFound());
}

Id128 ManifestId(FileSystem& fs, const std::string& directory) {
  const auto read = ReadManifest(fs, directory);
  EXPECT_TRUE(read.ok()) << read.status().ToString();
  return read.ok() ? read->header.file_id : Id128{};
}

// Checksums of a MANIFEST are bound to its id, so two MANIFESTs with different edits must not share an id.
TEST(CheckpointTest, ManifestOfACopyHasItsOwnId) {
  CopiedStore store;
  store.MustOpen();
  store.Put("a", "1");
  store.MustClose();
  ASSERT_TRUE(CheckpointOffline(store.options, kStorePath, kCopy).ok());
  EXPECT_NE(ManifestId(*store.fs, kCopy), ManifestId(*store.fs, kStorePath));
  BackupEngineOptions options("/backups");
  options.file_system = store.fs;
  std::unique_ptr<BackupEngine> engine;
  ASSERT_TRUE(BackupEngine::Open(options, &engine).ok());
  ASSERT_TRUE(engine->CreateNewBackupOffline({}, kStorePath).ok());
  ASSERT_TRUE(engine->RestoreDBFromLatestBackup("/restored").ok());
  EXPECT_NE(ManifestId(*store.fs, "/restored"), ManifestId(*store.fs, kStorePath));
}

TEST(CheckpointTest, ReadOnlyDatabaseIsRejected) {
  CopiedStore store;
  store.MustOpen();
  store.Put("a", "1");
  store.MustClose();
  std::unique_ptr<DB> reader;
  ASSERT_TRUE(DB::OpenForReadOnly(store.options, kStorePath, &reader).ok());
  std::unique_ptr<Checkpoint> checkpoint;
  ASSERT_TRUE(Checkpoint::Create(reader.get(), &checkpoint).ok());
  EXPECT_FALSE(checkpoint->CreateCheckpoint(kCopy).ok());
  EXPECT_TRUE(Checkpoint::Create(nullptr, &checkpoint).IsInvalidArgument());
}

// Before the checkpoint, the database was closed or killed.
TEST(CheckpointTest, CopiesAClosedDatabase) {
  for (const bool is_killed : {false, true}) {
    CopiedStore store;
    store.MustOpen();
    Prng prng(SeedFromEnvironment(8));
    store.ChangeMany(&prng, 200);
    EXPECT_TRUE(CheckpointOffline(store.options, kStorePath, kCopy).IsLocked());
    ASSERT_TRUE(store.db->SyncWAL().ok());
    const auto fs = std::make_shared<SimFileSystem>(store.fs->DrawCrash(prng));
    if (!is_killed) store.MustClose();
    Options options = store.options;
    if (is_killed) options.file_system = fs;
    const Status made = CheckpointOffline(options, kStorePath, kCopy);
    ASSERT_TRUE(made.ok()) << made.ToString();
    OpenedCopy copy(store, is_killed ? fs : nullptr);
    EXPECT_EQ(Contents(copy.db.get()), store.known);
    EXPECT_EQ(copy.Verify(), "");
    EXPECT_TRUE(CheckpointOffline(options, "/nothing", "/copy2").IsPathNotFound());
    ASSERT_TRUE(options.file_system->CreateDirectory("/empty").ok());
    EXPECT_TRUE(CheckpointOffline(options, "/empty", "/copy2").IsInvalidArgument());
  }
}

// Regression: the checkpoint waits for a seal, and the seal fails with a fatal error. The checkpoint asked for the
// database's health while it held the jobs lock. That query takes the jobs lock too, so the call never returned.
TEST(CheckpointTest, FailedSealEndsTheCheckpoint) {
  CopiedStore store;
  store.options.blob_file_size = 16384;
  store.MustOpen();
  for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i), std::string(500, 'v'));  // the first segment is rotated
  SimFault fault;
  fault.matches = [](SimOpKind kind, const std::string& path) {
    return kind == SimOpKind::kSync && path.ends_with(".log");
  };
  fault.sticky = true;
  store.fs->AddFault(fault);
  const Status made = store.Copy(/*log_size_for_flush=*/1u << 30);
  EXPECT_EQ(made.severity(), Status::Severity::kFatal) << made.ToString();
}

}  // namespace
}  // namespace cambium::testing
