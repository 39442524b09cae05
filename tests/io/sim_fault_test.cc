// Failing calls, failing syncs, full disks and lying devices of the simulated file system.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/sim/sim_clock.h"
#include "io/sim/sim_file_system.h"
#include "io/sim/sim_random_source.h"
#include "io/sim_test_util.h"
#include "util/prng.h"

namespace cambium {
namespace {

constexpr std::size_t kPage = 4096;

std::string ReadAll(const File& file) {
  FileInfo info;
  EXPECT_TRUE(file.GetInfo(&info).ok());
  std::string bytes(info.size, '?');
  std::size_t read = 0;
  EXPECT_TRUE(file.Read(0, bytes.size(), bytes.data(), &read).ok());
  EXPECT_EQ(read, bytes.size());
  return bytes;
}

// Reads with direct I/O, that is, from the device.
std::string ReadDevice(FileSystem* fs, const std::string& path) {
  const auto file = MustOpen(fs, path, OpenMode::kReadOnly, true);
  alignas(kDirectAlignment) static char buffer[16 * kPage];
  std::size_t read = 0;
  EXPECT_TRUE(file->Read(0, sizeof(buffer), buffer, &read).ok());
  return {buffer, read};
}

std::string AfterCut(const SimFileSystem& fs, const std::string& path, SimDamage damage) {
  Prng prng(1);
  return ContentsIn(fs.DrawCrash(prng, DamageMix::Only(damage)), path);
}

SimFault FailSync(SyncFailure how) {
  SimFault fault;
  fault.kind = SimOpKind::kSync;
  fault.sync = how;
  return fault;
}

TEST(SimSyncFailureTest, DroppedDataStaysCachedAndNextSyncSucceeds) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", Slice(std::string(100, 'a')));
  ASSERT_TRUE(file->Write(0, Slice(std::string(kPage + 100, 'b'))).ok());
  fs.AddFault(FailSync(SyncFailure::kDropKeepCache));
  EXPECT_TRUE(file->SyncData().IsIOError());
  EXPECT_EQ(ReadAll(*file), std::string(kPage + 100, 'b'));
  EXPECT_TRUE(file->SyncData().ok());
  EXPECT_FALSE(fs.probe().IsDataDurable("/a", 1));
  const std::string lost = std::string(100, 'a') + std::string(kPage, '\0');
  EXPECT_EQ(ReadDevice(&fs, "/a"), lost);
  EXPECT_EQ(AfterCut(fs, "/a", SimDamage::kAllKept), lost);

  // A process that starts now and reads the cache is misled; one that reads the device is not.
  Prng prng(1);
  SimFileSystem restarted(fs.KillImage(prng));
  EXPECT_EQ(ReadAll(*MustOpen(&restarted, "/a", OpenMode::kReadOnly)), std::string(kPage + 100, 'b'));
  EXPECT_EQ(ReadDevice(&restarted, "/a"), lost);
  EXPECT_TRUE(file->Advise(0, 0, AccessHint::kDontNeed).ok());
  EXPECT_EQ(ReadAll(*file), lost);
}

TEST(SimSyncFailureTest, WriteToADroppedPageWritesThePage) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "");
  ASSERT_TRUE(file->Write(0, Slice(std::string(2 * kPage, 'b'))).ok());
  fs.AddFault(FailSync(SyncFailure::kDropKeepCache));
  EXPECT_FALSE(file->SyncData().ok());
  ASSERT_TRUE(file->Write(10, "cc").ok());
  ASSERT_TRUE(file->SyncData().ok());
  std::string page(kPage, 'b');
  page.replace(10, 2, "cc");
  EXPECT_EQ(AfterCut(fs, "/a", SimDamage::kAllLost), page + std::string(kPage, '\0'));
}

TEST(SimSyncFailureTest, DroppedDataMayRevertTheCache) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "old");
  ASSERT_TRUE(file->Write(0, "newer").ok());
  fs.AddFault(FailSync(SyncFailure::kDropRevertCache));
  EXPECT_TRUE(file->SyncData().IsIOError());
  EXPECT_EQ(ReadAll(*file), "old");
  EXPECT_TRUE(file->SyncData().ok());
  EXPECT_EQ(AfterCut(fs, "/a", SimDamage::kAllKept), "old");
}

TEST(SimSyncFailureTest, FalseFailureIsDurable) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "old");
  ASSERT_TRUE(file->Write(0, "new").ok());
  fs.AddFault(FailSync(SyncFailure::kFalse));
  EXPECT_TRUE(file->SyncData().IsIOError());
  EXPECT_EQ(AfterCut(fs, "/a", SimDamage::kAllLost), "new");
}

TEST(SimSyncFailureTest, LateErrorIsReturnedByTheNextSync) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "old");
  const auto other = MustCreateDurable(&fs, "/b", "");
  ASSERT_TRUE(file->Write(0, "new").ok());
  fs.AddFault(FailSync(SyncFailure::kLate));
  EXPECT_TRUE(file->SyncData().ok());
  EXPECT_EQ(ReadAll(*file), "new");
  EXPECT_EQ(AfterCut(fs, "/a", SimDamage::kAllKept), "old");
  EXPECT_TRUE(other->SyncData().ok());
  EXPECT_TRUE(file->SyncData().IsIOError());
  EXPECT_TRUE(file->SyncData().ok());
}

TEST(SimSyncFailureTest, PartialDropKeepsSomePages) {
  std::set<std::string> outcomes;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SimOptions options;
    options.seed = seed;
    SimFileSystem fs(options);
    const auto file = MustCreateDurable(&fs, "/a", Slice(std::string(2 * kPage, 'a')));
    ASSERT_TRUE(file->Write(0, Slice(std::string(2 * kPage, 'b'))).ok());
    SimFault fault = FailSync(SyncFailure::kDropKeepCache);
    fault.partial_drop = true;
    fs.AddFault(fault);
    EXPECT_FALSE(file->SyncData().ok());
    const std::string bytes = ReadDevice(&fs, "/a");
    outcomes.insert(std::string() + bytes[0] + bytes[kPage]);
    EXPECT_EQ(bytes, std::string(kPage, bytes[0]) + std::string(kPage, bytes[kPage]));
  }
  EXPECT_EQ(outcomes, (std::set<std::string>{"aa", "ab", "ba", "bb"}));
}

TEST(SimSyncFailureTest, FailedDirectorySyncDropsNames) {
  for (const SyncFailure how :
       {SyncFailure::kDropKeepCache, SyncFailure::kDropRevertCache, SyncFailure::kFalse, SyncFailure::kLate}) {
    SimFileSystem fs;
    MustCreateDurable(&fs, "/gone", "x").reset();
    MustOpen(&fs, "/new", OpenMode::kCreateNew).reset();
    ASSERT_TRUE(fs.Unlink("/gone").ok());
    SimFault fault;
    fault.kind = SimOpKind::kSyncDirectory;
    fault.sync = how;
    fs.AddFault(fault);
    EXPECT_EQ(fs.SyncDirectory("/").ok(), how == SyncFailure::kLate);
    EXPECT_EQ(fs.SyncDirectory("/").ok(), how != SyncFailure::kLate);
    const bool reverted = how == SyncFailure::kDropRevertCache;
    EXPECT_EQ(fs.probe().InodeOf("/new") == 0, reverted);
    EXPECT_EQ(fs.probe().InodeOf("/gone") != 0, reverted);
    const bool durable = how == SyncFailure::kFalse;
    EXPECT_EQ(fs.probe().IsNameDurable("/new"), durable);
    for (const SimDamage damage : {SimDamage::kAllLost, SimDamage::kAllKept, SimDamage::kUniform}) {
      EXPECT_EQ(AfterCut(fs, "/new", damage).empty(), durable);
      EXPECT_EQ(AfterCut(fs, "/gone", damage) == "x", !durable);
    }
  }
}

TEST(SimFaultTest, NthCallFailsOnceOrSticky) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "abc");
  char out[3];
  std::size_t read = 0;
  SimFault once;
  once.kind = SimOpKind::kRead;
  once.nth = 2;
  const int id = fs.AddFault(once);
  EXPECT_TRUE(file->Read(0, 3, out, &read).ok());
  EXPECT_TRUE(file->Read(0, 3, out, &read).IsIOError());
  EXPECT_TRUE(file->Read(0, 3, out, &read).ok());
  EXPECT_EQ(fs.fault_hits(), 1u);
  fs.RemoveFault(id);

  SimFault sticky;
  sticky.sticky = true;
  sticky.status = Status::NoSpace("full");
  sticky.matches = [](SimOpKind kind, const std::string& path) { return kind == SimOpKind::kCreate && path == "/b"; };
  fs.AddFault(sticky);
  for (int i = 0; i < 3; ++i) {
    std::unique_ptr<File> b;
    EXPECT_TRUE(fs.Open("/b", OpenMode::kCreateNew, {}, &b).IsNoSpace());
  }
  MustOpen(&fs, "/c", OpenMode::kCreateNew).reset();
  fs.ClearFaults();
  MustOpen(&fs, "/b", OpenMode::kCreateNew).reset();
}

// Counts the calls of a small program, then fails each in turn. The program makes calls of every kind.
TEST(SimFaultTest, EveryCallCanFail) {
  const auto program = [](SimFileSystem* fs) {
    std::vector<Status> results;
    std::unique_ptr<File> file;
    results.push_back(fs->CreateDirectory("/d"));
    results.push_back(fs->Open("/d/a", OpenMode::kCreateNew, {}, &file));
    if (file != nullptr) {
      char out[4];
      std::size_t read = 0;
      FileInfo info;
      std::unique_ptr<MappedRegion> region;
      std::uint64_t resident = 0;
      results.push_back(file->Write(0, "abcd"));
      results.push_back(file->Read(0, 4, out, &read));
      results.push_back(file->Allocate(0, 8192, false));
      results.push_back(file->PunchHole(4096, 4096));
      results.push_back(file->Truncate(2));
      results.push_back(file->Sync());
      results.push_back(file->GetInfo(&info));
      results.push_back(file->Map(0, 2, &region));
      results.push_back(file->Residency(0, 2, &resident));
      results.push_back(file->Advise(0, 0, AccessHint::kRandom));
    }
    std::unique_ptr<FileLock> lock;
    std::vector<std::string> names;
    std::uint64_t bytes = 0;
    FileInfo info;
    std::shared_ptr<FileSystem> opened;
    results.push_back(fs->OpenDirectory("/d", &opened));
    opened.reset();
    results.push_back(fs->Lock("/d", LockMode::kShared, 0, &lock));
    results.push_back(fs->SyncDirectory("/d"));
    results.push_back(fs->GetInfo("/d", &info));
    results.push_back(fs->List("/d", &names));
    results.push_back(fs->FreeSpace("/d", &bytes));
    file.reset();
    results.push_back(fs->Open("/d/a", OpenMode::kReadOnly, {}, &file));
    results.push_back(fs->Link("/d/a", "/d/b"));
    results.push_back(fs->Rename("/d/b", "/d/c"));
    results.push_back(fs->Unlink("/d/c"));
    results.push_back(fs->Unlink("/d/a"));
    lock.reset();
    results.push_back(fs->RemoveDirectory("/d"));
    return results;
  };
  SimFileSystem clean;
  for (const Status& status : program(&clean)) EXPECT_TRUE(status.ok()) << status.ToString();
  const std::uint64_t calls = clean.calls();
  for (int kind = 0; kind < kSimOpKinds; ++kind) {
    EXPECT_GT(clean.calls(static_cast<SimOpKind>(kind)), 0u) << SimOpName(static_cast<SimOpKind>(kind));
  }
  for (std::uint64_t n = 1; n <= calls; ++n) {
    SimFileSystem fs;
    SimFault fault;
    fault.nth = n;
    fault.status = Status::Busy("the fault");
    fs.AddFault(fault);
    int busy = 0;
    for (const Status& status : program(&fs)) busy += status.IsBusy() ? 1 : 0;
    EXPECT_EQ(busy, 1) << "call " << n;
    EXPECT_EQ(fs.fault_hits(), 1u);
  }
}

TEST(SimFaultTest, ShortWriteLeavesItsBeginning) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "");
  SimFault fault;
  fault.kind = SimOpKind::kWrite;
  fault.short_bytes = 3;
  fs.AddFault(fault);
  EXPECT_TRUE(file->Write(0, "abcdef").IsIOError());
  EXPECT_EQ(ReadAll(*file), "abc");
}

TEST(SimFaultTest, FailedOperationMayTakeEffect) {
  SimFileSystem fs;
  MustCreateDurable(&fs, "/a", "x").reset();
  SimFault fault;
  fault.kind = SimOpKind::kUnlink;
  fault.takes_effect = true;
  fs.AddFault(fault);
  EXPECT_TRUE(fs.Unlink("/a").IsIOError());
  EXPECT_EQ(fs.probe().InodeOf("/a"), 0u);
  fault.kind = SimOpKind::kCreate;
  fs.AddFault(fault);
  std::unique_ptr<File> file;
  EXPECT_TRUE(fs.Open("/b", OpenMode::kCreateNew, {}, &file).IsIOError());
  EXPECT_NE(fs.probe().InodeOf("/b"), 0u);
  EXPECT_EQ(fs.probe().open_files(), 0u);
}

TEST(SimFaultTest, NothingChangesAfterPowerOff) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "abc");
  fs.AddHook([&](const SimOp& op) {
    if (op.kind == SimOpKind::kSync && op.phase == SimPhase::kInside) fs.PowerOff();
  });
  ASSERT_TRUE(file->Write(0, "def").ok());
  EXPECT_TRUE(file->SyncData().IsIOError());
  EXPECT_TRUE(file->Write(0, "ghi").IsIOError());
  EXPECT_TRUE(fs.Unlink("/a").IsIOError());
  EXPECT_EQ(AfterCut(fs, "/a", SimDamage::kAllLost), "abc");
  EXPECT_EQ(AfterCut(fs, "/a", SimDamage::kAllKept), "def");
}

TEST(SimSpaceTest, FullDiskAcceptsWritesThatFit) {
  SimOptions options;
  options.quota_bytes = 4 * kPage;
  SimFileSystem fs(options);
  const auto file = MustCreateDurable(&fs, "/a", Slice(std::string(kPage, 'a')));
  std::uint64_t free_bytes = 0;
  ASSERT_TRUE(fs.FreeSpace("/", &free_bytes).ok());
  EXPECT_EQ(free_bytes, 3 * kPage);
  EXPECT_TRUE(file->Write(kPage, Slice(std::string(5 * kPage, 'b'))).IsNoSpace());
  EXPECT_EQ(ReadAll(*file), std::string(kPage, 'a') + std::string(3 * kPage, 'b'));
  EXPECT_TRUE(file->Write(0, Slice(std::string(4 * kPage, 'c'))).ok());  // in place
  EXPECT_TRUE(file->Allocate(4 * kPage, 1, true).IsNoSpace());
  ASSERT_TRUE(file->PunchHole(0, 2 * kPage).ok());
  FileInfo info;
  ASSERT_TRUE(file->GetInfo(&info).ok());
  EXPECT_EQ(info.allocated_bytes, 2 * kPage);
  EXPECT_EQ(info.size, 4 * kPage);
  EXPECT_EQ(ReadAll(*file), std::string(2 * kPage, '\0') + std::string(2 * kPage, 'c'));
  EXPECT_TRUE(file->Allocate(4 * kPage, 2 * kPage, false).ok());
  ASSERT_TRUE(file->GetInfo(&info).ok());
  EXPECT_EQ(info.size, 4 * kPage);
  EXPECT_EQ(info.allocated_bytes, 4 * kPage);
}

TEST(SimSpaceTest, UnlinkedFileKeepsItsSpaceUntilClosed) {
  SimOptions options;
  options.quota_bytes = kPage;
  SimFileSystem fs(options);
  auto file = MustCreateDurable(&fs, "/a", "abc");
  ASSERT_TRUE(fs.Unlink("/a").ok());
  EXPECT_EQ(ReadAll(*file), "abc");
  EXPECT_EQ(fs.probe().allocated_bytes(), kPage);
  file.reset();
  EXPECT_EQ(fs.probe().allocated_bytes(), 0u);
}

TEST(SimSpaceTest, DelayedAllocationFailsTheSync) {
  SimOptions options;
  options.quota_bytes = kPage;
  options.delayed_allocation = true;
  SimFileSystem fs(options);
  const auto file = MustCreateDurable(&fs, "/a", "abc");
  ASSERT_TRUE(file->Write(kPage, "def").ok());
  EXPECT_TRUE(file->SyncData().IsNoSpace());
  EXPECT_EQ(ReadAll(*file).substr(kPage), "def");
  EXPECT_TRUE(file->SyncData().ok());
  EXPECT_EQ(AfterCut(fs, "/a", SimDamage::kAllKept).substr(kPage), std::string(3, '\0'));
}

TEST(SimSpaceTest, OpenFailsWithTooManyFiles) {
  SimOptions options;
  options.max_open_files = 2;
  SimFileSystem fs(options);
  auto a = MustOpen(&fs, "/a", OpenMode::kCreateNew);
  const auto again = MustOpen(&fs, "/a", OpenMode::kReadOnly);
  std::unique_ptr<File> b;
  EXPECT_TRUE(fs.Open("/b", OpenMode::kCreateNew, {}, &b).IsIOError());
  EXPECT_EQ(fs.probe().InodeOf("/b"), 0u);
  a.reset();
  EXPECT_TRUE(fs.Open("/b", OpenMode::kCreateNew, {}, &b).ok());
}

TEST(SimDeviceTest, LostWriteIsOnlyInTheCache) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", Slice(std::string(2 * kPage, 'a')));
  fs.SetWriteOverlay([](std::uint64_t write, const SimOp& op) {
    SimWriteFate fate;
    fate.lost = write == 1 && op.path == "/a";
    return fate;
  });
  ASSERT_TRUE(file->Write(0, Slice(std::string(kPage, 'b'))).ok());
  ASSERT_TRUE(file->Write(kPage, Slice(std::string(kPage, 'c'))).ok());
  ASSERT_TRUE(file->SyncData().ok());
  EXPECT_EQ(ReadAll(*file), std::string(kPage, 'b') + std::string(kPage, 'c'));
  const std::string device = std::string(kPage, 'a') + std::string(kPage, 'c');
  EXPECT_EQ(ReadDevice(&fs, "/a"), device);
  EXPECT_EQ(AfterCut(fs, "/a", SimDamage::kAllKept), device);
  fs.DropCaches();
  EXPECT_EQ(ReadAll(*file), device);
}

TEST(SimDeviceTest, MisdirectedWriteHitsAnotherOffset) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", Slice(std::string(3 * kPage, 'a')));
  fs.SetWriteOverlay([](std::uint64_t, const SimOp& op) {
    SimWriteFate fate;
    if (op.offset == 0) fate.misdirected = 2 * kPage;
    return fate;
  });
  ASSERT_TRUE(file->Write(0, Slice(std::string(kPage, 'b'))).ok());
  ASSERT_TRUE(file->SyncData().ok());
  EXPECT_EQ(AfterCut(fs, "/a", SimDamage::kAllLost), std::string(2 * kPage, 'a') + std::string(kPage, 'b'));
}

TEST(SimDeviceTest, DirectReadShowsDirtyPagesButNotDurable) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "old");
  ASSERT_TRUE(file->Write(0, "new").ok());
  EXPECT_EQ(ReadDevice(&fs, "/a"), "new");
  EXPECT_EQ(AfterCut(fs, "/a", SimDamage::kAllLost), "old");
  const auto direct = MustOpen(&fs, "/a", OpenMode::kReadWrite, true);
  EXPECT_TRUE(direct->IsDirect());
  char odd[8];
  std::size_t read = 0;
  EXPECT_TRUE(direct->Read(0, 8, odd, &read).IsInvalidArgument());
  EXPECT_TRUE(direct->Write(1, "x").IsInvalidArgument());
}

TEST(SimHandleTest, LocksExcludeOtherHandles) {
  auto clock = std::make_shared<SimClock>();
  SimOptions options;
  options.clock = clock;
  SimFileSystem fs(options);
  ASSERT_TRUE(fs.CreateDirectory("/d").ok());
  std::unique_ptr<FileLock> first;
  std::unique_ptr<FileLock> second;
  EXPECT_TRUE(fs.Lock("/nowhere", LockMode::kExclusive, 0, &first).IsPathNotFound());
  ASSERT_TRUE(fs.Lock("/d", LockMode::kExclusive, 0, &first).ok());
  ASSERT_TRUE(fs.Unlink("/d/LOCK").ok());
  const std::uint64_t before = clock->NowMicros();
  EXPECT_TRUE(fs.Lock("/d", LockMode::kShared, 500, &second).IsLocked());
  EXPECT_EQ(clock->NowMicros(), before + 500);
  first.reset();
  ASSERT_TRUE(fs.Lock("/d", LockMode::kShared, 0, &second).ok());
  ASSERT_TRUE(fs.Lock("/d", LockMode::kShared, 0, &first).ok());
  std::unique_ptr<FileLock> third;
  EXPECT_TRUE(fs.Lock("/d", LockMode::kExclusive, 0, &third).IsLocked());
  first.reset();
  EXPECT_TRUE(fs.Lock("/d", LockMode::kExclusive, 0, &third).IsLocked());
  second.reset();
  EXPECT_TRUE(fs.Lock("/d", LockMode::kExclusive, 0, &third).ok());
}

TEST(SimHandleTest, OpenedDirectoryIsFoundAfterARename) {
  SimFileSystem fs;
  ASSERT_TRUE(fs.CreateDirectory("/d").ok());
  std::shared_ptr<FileSystem> at;
  std::unique_ptr<File> file;
  std::vector<std::string> names;
  EXPECT_TRUE(fs.OpenDirectory("/nowhere", &at).IsPathNotFound());
  ASSERT_TRUE(fs.OpenDirectory("/d", &at).ok());
  ASSERT_TRUE(at->Open("/d/before", OpenMode::kCreateNew, {}, &file).ok());
  ASSERT_TRUE(fs.Rename("/d", "/e").ok());
  ASSERT_TRUE(fs.CreateDirectory("/d").ok());
  ASSERT_TRUE(at->Open("/d/after", OpenMode::kCreateNew, {}, &file).ok());
  ASSERT_TRUE(at->Open("/d/before", OpenMode::kReadOnly, {}, &file).ok());
  ASSERT_TRUE(at->List("/d", &names).ok());
  EXPECT_EQ(names, (std::vector<std::string>{"after", "before"}));
  ASSERT_TRUE(fs.List("/d", &names).ok());
  EXPECT_TRUE(names.empty());
  ASSERT_TRUE(at->SyncDirectory("/d/..").ok());
  EXPECT_FALSE(fs.probe().IsNameDurable("/e/after"));
  ASSERT_TRUE(at->SyncDirectory("/d").ok());
  EXPECT_TRUE(fs.probe().IsNameDurable("/e/after"));
  std::shared_ptr<FileSystem> both;
  ASSERT_TRUE(at->OpenDirectory("/d/..", &both).ok());
  std::unique_ptr<FileLock> lock;
  std::unique_ptr<FileLock> second;
  ASSERT_TRUE(at->Lock("/d", LockMode::kExclusive, 0, &lock).ok());
  EXPECT_TRUE(fs.Lock("/e", LockMode::kShared, 0, &second).IsLocked());
  ASSERT_TRUE(at->Unlink("/d/after").ok());
  ASSERT_TRUE(at->Unlink("/d/before").ok());
  ASSERT_TRUE(at->Unlink("/d/LOCK").ok());
  ASSERT_TRUE(fs.RemoveDirectory("/e").ok());
  EXPECT_TRUE(at->Open("/d/x", OpenMode::kCreateNew, {}, &file).IsPathNotFound());
}

TEST(SimHandleTest, MappingsShowLaterWritesAndReportTruncation) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/a", "abcdef");
  std::unique_ptr<MappedRegion> region;
  ASSERT_TRUE(file->Map(2, 6, &region).ok());
  EXPECT_EQ(std::string(region->data(), region->size()), std::string("cdef\0\0", 6));
  ASSERT_TRUE(file->Write(5, "XYZ").ok());
  EXPECT_EQ(std::string(region->data(), region->size()), "cdeXYZ");
  char out[6];
  EXPECT_TRUE(region->CopyOut(0, 6, out).ok());
  EXPECT_TRUE(region->CopyOut(1, 6, out).IsInvalidArgument());
  ASSERT_TRUE(file->Truncate(4).ok());
  EXPECT_TRUE(region->CopyOut(0, 2, out).ok());
  EXPECT_TRUE(region->CopyOut(0, 6, out).IsIOError());
}

TEST(SimHandleTest, ReadQueuesDeliverEachRequestOnceInAnyOrder) {
  for (const bool shuffle : {false, true}) {
    SimOptions options;
    options.shuffle_reads = shuffle;
    SimFileSystem fs(options);
    const auto file = MustCreateDurable(&fs, "/a", "0123456789");
    const auto queue = fs.NewReadQueue(4, true);
    EXPECT_EQ(queue->depth(), 4u);
    char out[10];
    std::vector<ReadRequest> requests(10);
    std::vector<ReadRequest*> pointers;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      requests[i].file = file.get();
      requests[i].offset = i;
      requests[i].size = 1;
      requests[i].out = out + i;
      pointers.push_back(&requests[i]);
    }
    ASSERT_TRUE(queue->Submit(pointers).ok());
    std::vector<ReadRequest*> done;
    while (queue->in_flight() > 0) ASSERT_TRUE(queue->Wait(&done).ok());
    EXPECT_EQ(std::string(out, 10), "0123456789");
    EXPECT_EQ(std::set<ReadRequest*>(done.begin(), done.end()).size(), 10u);
    EXPECT_EQ(done.size(), 10u);
    EXPECT_EQ(done != pointers, shuffle);
  }
}

TEST(SimHandleTest, InvalidNamespaceCallsFail) {
  SimFileSystem fs;
  MustCreateDurable(&fs, "/a", "x").reset();
  ASSERT_TRUE(fs.CreateDirectory("/d").ok());
  ASSERT_TRUE(fs.CreateDirectory("/d").ok());
  std::unique_ptr<File> file;
  EXPECT_TRUE(fs.Open("/a", OpenMode::kCreateNew, {}, &file).IsIOError());
  EXPECT_TRUE(fs.Open("/b", OpenMode::kReadOnly, {}, &file).IsPathNotFound());
  EXPECT_TRUE(fs.Open("/x/b", OpenMode::kCreateNew, {}, &file).IsPathNotFound());
  EXPECT_TRUE(fs.Open("/d", OpenMode::kReadOnly, {}, &file).IsIOError());
  EXPECT_TRUE(fs.CreateDirectory("/x/y").IsPathNotFound());
  EXPECT_TRUE(fs.CreateDirectory("/a").IsIOError());
  EXPECT_TRUE(fs.Unlink("/b").IsPathNotFound());
  EXPECT_TRUE(fs.Unlink("/d").IsIOError());
  EXPECT_TRUE(fs.Rename("/b", "/c").IsPathNotFound());
  EXPECT_TRUE(fs.Rename("/d", "/d/e").IsIOError());
  EXPECT_TRUE(fs.Link("/a", "/d").IsIOError());
  EXPECT_TRUE(fs.RemoveDirectory("/a").IsIOError());
  ASSERT_TRUE(fs.Link("/a", "/d/a").ok());
  FileInfo info;
  ASSERT_TRUE(fs.GetInfo("/d/a", &info).ok());
  EXPECT_EQ(info.link_count, 2u);
  EXPECT_TRUE(fs.RemoveDirectory("/d").IsIOError());
  ASSERT_TRUE(fs.Rename("/d", "/e").ok());
  std::vector<std::string> names;
  ASSERT_TRUE(fs.List("/", &names).ok());
  EXPECT_EQ(names, (std::vector<std::string>{"a", "e"}));
  ASSERT_TRUE(fs.Open("/e/a", OpenMode::kReadOnly, {}, &file).ok());
  EXPECT_TRUE(file->Write(0, "y").IsIOError());
  ASSERT_TRUE(fs.Unlink("/e/a").ok());
  ASSERT_TRUE(fs.RemoveDirectory("/e").ok());
  ASSERT_TRUE(fs.GetInfo("/a", &info).ok());
  EXPECT_EQ(info.link_count, 1u);
}

TEST(SimTamperTest, TamperingIsVisibleInCacheDeviceAndAfterCut) {
  SimFileSystem fs;
  const auto file = MustCreateDurable(&fs, "/d", Slice("abcdefgh"));
  ASSERT_TRUE(file->Write(8, "ij").ok());
  ASSERT_TRUE(fs.tampering().FlipBit("/d", 0, 1).ok());
  ASSERT_TRUE(fs.tampering().SwapBlocks("/d", 2, 6, 2).ok());
  ASSERT_TRUE(fs.tampering().Overwrite("/d", 4, "__").ok());
  EXPECT_EQ(ReadAll(*file), "cbgh__cdij");
  EXPECT_EQ(ReadDevice(&fs, "/d"), "cbgh__cdij");
  EXPECT_EQ(AfterCut(fs, "/d", SimDamage::kAllLost), "cbgh__cd");
  EXPECT_TRUE(fs.tampering().FlipBit("/d", 10, 0).IsInvalidArgument());
  EXPECT_TRUE(fs.tampering().FlipBit("/no", 0, 0).IsPathNotFound());
  ASSERT_TRUE(fs.tampering().Truncate("/d", 3).ok());
  ASSERT_TRUE(fs.tampering().Append("/d", "++").ok());
  ASSERT_TRUE(fs.tampering().Copy("/d", "/sub/dir/copy").ok());
  ASSERT_TRUE(fs.tampering().Rename("/d", "/e").ok());
  ASSERT_TRUE(fs.tampering().WriteContents("/f", "1").ok());
  ASSERT_TRUE(fs.tampering().Remove("/f").ok());
  std::string all;
  for (const auto& [path, size] : fs.probe().ListFiles()) all += path + ":" + std::to_string(size) + " ";
  EXPECT_EQ(all, "/e:5 /sub/dir/copy:5 ");
  EXPECT_EQ(AfterCut(fs, "/sub/dir/copy", SimDamage::kAllLost), "cbg++");
  EXPECT_TRUE(fs.probe().IsFullyDurable("/sub/dir/copy", 5));
}

TEST(SimClockTest, StandsStillUntilAdvanced) {
  SimClock clock(10, 1000);
  clock.SleepMicros(5);
  EXPECT_EQ(clock.NowMicros(), 15u);
  clock.SetWallSeconds(7);
  EXPECT_EQ(clock.WallSeconds(), 7u);
  EXPECT_EQ(clock.NowMicros(), 15u);
  clock.Advance(2'000'000);
  EXPECT_EQ(clock.WallSeconds(), 9u);
}

TEST(SimRandomSourceTest, RepeatsWithTheSeed) {
  char a[16];
  char b[16];
  SimRandomSource(1).Fill(a, 16);
  SimRandomSource(1).Fill(b, 16);
  EXPECT_EQ(std::string(a, 16), std::string(b, 16));
  SimRandomSource(2).Fill(b, 16);
  EXPECT_NE(std::string(a, 16), std::string(b, 16));
}

}  // namespace
}  // namespace cambium
