// Open: what it rejects, and that a rejected Open changes nothing.
#include <gtest/gtest.h>

#include <functional>

#include "testing/family_store.h"
#include "io/file_header.h"
#include "manifest/file_names.h"
#include "manifest/manifest.h"
#include "manifest/manifest_reader.h"
#include "testing/mutant_scope.h"
#include "testing/temp_directory.h"
#include "util/checksum.h"
#include "util/coding.h"

namespace cambium::testing {
namespace {

// A database with a run, a tree or a level, a log tail and a large value, closed.
void MakeDatabase(TestStore* store) {
  store->MustOpen();
  for (int i = 0; i < 100; ++i) store->Put("k" + std::to_string(i), std::string(i % 2 == 0 ? 10 : 100, 'v'));
  store->Compact();
  for (const char* key : {"k0", "k51", "k99"}) store->Put(key, "run");  // few keys over a wide range: a run, not merged
  store->Flush();
  ASSERT_EQ(store->FilesOf(".run").size(), TestsUseLsm() ? 2u : 1u);
  store->Put("large", std::string(10'000, 'l'));
  store->Put("tail", "t");
  store->MustClose();
}

TEST(DbOpenTest, MissingDatabaseIsNamedAndNotCreated) {
  TestStore store;
  store.options.create_if_missing = false;
  const Status s = store.Open();
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find(kStorePath), std::string::npos);
  EXPECT_NE(s.ToString().find("create_if_missing"), std::string::npos);
  EXPECT_TRUE(store.Files().empty());
  ASSERT_TRUE(store.fs->CreateDirectory(kStorePath).ok());
  EXPECT_TRUE(store.Open().IsInvalidArgument());
  DB* raw = reinterpret_cast<DB*>(1);
  EXPECT_TRUE(DB::Open(store.options, kStorePath, &raw).IsInvalidArgument());
  EXPECT_EQ(raw, nullptr);
  EXPECT_TRUE(DB::OpenForReadOnly(store.options, "/elsewhere", &store.db).IsInvalidArgument());
}

TEST(DbOpenTest, MissingParentDirectoryIsAnError) {
  TestStore store;
  std::unique_ptr<DB> db;
  EXPECT_FALSE(DB::Open(store.options, "/no/such/place", &db).ok());
}

TEST(DbOpenTest, BothFormsOfOpenWork) {
  TestStore store;
  DB* raw = nullptr;
  ASSERT_TRUE(DB::Open(store.options, kStorePath, &raw).ok());
  EXPECT_TRUE(raw->Put({}, "k", "v").ok());
  delete raw;
  store.MustOpen();
  EXPECT_EQ(store.Get("k"), "v");
}

TEST(DbOpenTest, ErrorIfExistsChangesNothing) {
  TestStore store;
  MakeDatabase(&store);
  const auto before = store.Files();
  store.options.error_if_exists = true;
  const Status s = store.Open();
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("error_if_exists"), std::string::npos);
  EXPECT_EQ(store.Files(), before);
}

TEST(DbOpenTest, OtherComparatorIsRejectedWithBothNames) {
  TestStore store;
  MakeDatabase(&store);
  const auto before = store.Files();
  store.options.comparator = ReverseBytewiseComparator();
  for (const Status& s : {store.Open(), DB::OpenForReadOnly(store.options, kStorePath, &store.db)}) {
    EXPECT_TRUE(s.IsInvalidArgument());
    EXPECT_NE(s.ToString().find("cambium.BytewiseComparator"), std::string::npos);
    EXPECT_NE(s.ToString().find("cambium.ReverseBytewiseComparator"), std::string::npos);
  }
  EXPECT_EQ(store.Files(), before);
}

// A user's comparator that has the name of one of the library's, but another order.
class FalseName final : public Comparator {
 public:
  int Compare(Slice a, Slice b) const override { return b.compare(a); }
  const char* Name() const override { return "cambium.BytewiseComparator"; }
};

TEST(DbOpenTest, ComparatorWithAReservedNameIsRejected) {
  const FalseName comparator;
  TestStore store;
  MakeDatabase(&store);
  const auto before = store.Files();
  store.options.comparator = &comparator;
  for (const Status& s : {store.Open(), DB::OpenForReadOnly(store.options, kStorePath, &store.db)}) {
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find("names that begin with \"cambium.\""), std::string::npos) << s.ToString();
  }
  EXPECT_EQ(store.Files(), before);
}

TEST(DbOpenTest, OtherIndexTypeIsRejectedWithBothNames) {
  for (const bool is_named : {false, true}) {
    FamilyStore store;
    store.MustOpen();
    if (is_named) store.Create("other");
    store.Put("key", "value");
    store.Close();
    const auto before = store.Files();
    const IndexKind its = store.options.index_type;
    const IndexKind another = its == kLsm ? kBTree : kLsm;
    if (is_named) {
      store.family_options["other"] = store.options;
      store.family_options["other"].index_type = another;
    } else {
      store.options.index_type = another;
    }
    std::vector<ColumnFamilyDescriptor> families{{kDefaultColumnFamilyName, store.options}};
    if (is_named) families.emplace_back("other", store.OptionsOf("other"));
    std::vector<ColumnFamilyHandle*> handles;
    for (const Status& s : {DB::Open(store.options, kStorePath, families, &handles, &store.db),
                            DB::OpenForReadOnly(store.options, kStorePath, families, &handles, &store.db)}) {
      EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
      EXPECT_NE(s.ToString().find(its == kLsm ? "index_type is kLsm, and the options give kBTree"
                                              : "index_type is kBTree, and the options give kLsm"),
                std::string::npos)
          << s.ToString();
      EXPECT_EQ(s.ToString().find("\"other\"") != std::string::npos, is_named) << s.ToString();
    }
    EXPECT_EQ(store.Files(), before);
  }
}

TEST(DbOpenTest, FileInsteadOfDirectoryIsRejected) {
  TestStore store;
  ASSERT_TRUE(store.fs->tampering().WriteContents(kStorePath, "a file").ok());
  const Status s = store.Open();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("directory"), std::string::npos);
  EXPECT_EQ(store.Files().at(kStorePath), "a file");
  VerifyReport report;
  EXPECT_FALSE(VerifyDB(kStorePath, store.options, {}, &report).ok());
}

// Rewrites a field of a file's header, and the header's checksum to match.
void PatchHeader(TestStore* store, const std::string& path, std::size_t offset, std::uint32_t value) {
  std::string header;
  ASSERT_TRUE(store->fs->probe().ReadContents(path, &header).ok());
  header.resize(kFileHeaderSize);
  EncodeFixed<std::uint32_t>(header.data() + offset, value);
  EncodeFixed<std::uint64_t>(header.data() + 120, Checksum64({header.data(), 120}, 0));
  ASSERT_TRUE(store->fs->tampering().Overwrite(path, 0, header).ok());
}

// Hazard H52: whichever file has a newer version, Open changes no byte of the directory. The info log is on, because it
// is the first file that Open would write.
TEST(DbOpenTest, NewerFormatIsRejectedBeforeAnyWrite) {
  for (const std::string kind : {"MANIFEST", ".log", ".run", ".idx", ".val"}) {
    if (kind == ".idx" && TestsUseLsm()) continue;  // an LSM has no such files
    for (const std::size_t offset : {8u, 16u}) {  // format version, required features
      TestStore store;
      MakeDatabase(&store);
      const auto paths = store.FilesOf(kind);
      ASSERT_FALSE(paths.empty()) << kind;
      PatchHeader(&store, paths.front(), offset, 2);
      store.options.info_log = nullptr;
      const auto before = store.Files();
      const Status s = store.Open();
      EXPECT_TRUE(s.IsNotSupported()) << kind << ": " << s.ToString();
      EXPECT_NE(s.ToString().find(paths.front()), std::string::npos) << s.ToString();
      EXPECT_EQ(store.Files(), before) << kind;
      EXPECT_TRUE(DB::OpenForReadOnly(store.options, kStorePath, &store.db).IsNotSupported());
      const MutantScope mutant(Mutant::kWriteBeforeVersionCheck);
      EXPECT_TRUE(store.Open().IsNotSupported());
      EXPECT_NE(store.Files(), before) << kind;
    }
  }
}

// A failed Open changes nothing, wherever the damage is.
TEST(DbOpenTest, FailedOpenOfDamagedDatabaseChangesNothing) {
  for (const std::string kind : {"MANIFEST", ".log", ".run", ".idx", ".val"}) {
    TestStore store;
    MakeDatabase(&store);
    for (const std::string& path : store.FilesOf(kind)) {
      TestStore damaged(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
      damaged.options.info_log = nullptr;
      ASSERT_TRUE(damaged.fs->tampering().FlipBit(path, 70, 1).ok());  // in the header
      const auto before = damaged.Files();
      const Status s = damaged.Open();
      EXPECT_FALSE(s.ok()) << path;
      EXPECT_NE(s.ToString().find(path), std::string::npos) << s.ToString();
      EXPECT_EQ(damaged.Files(), before) << path;
    }
  }
}

TEST(DbOpenTest, SecondOpenIsLockedOut) {
  TestStore store;
  store.MustOpen();
  store.Put("k", "v");
  const auto before = store.Files();
  std::unique_ptr<DB> second;
  for (const Status& s : {DB::Open(store.options, kStorePath, &second),
                          DB::OpenForReadOnly(store.options, kStorePath, &second)}) {
    EXPECT_TRUE(s.IsLocked()) << s.ToString();
    EXPECT_EQ(second, nullptr);
  }
  VerifyReport report;
  EXPECT_TRUE(VerifyDB(kStorePath, store.options, {}, &report).IsLocked());
  EXPECT_TRUE(DestroyDB(kStorePath, store.options).IsLocked());
  EXPECT_EQ(store.Files(), before);
  store.Put("k", "w");
  store.MustClose();
  EXPECT_TRUE(DB::Open(store.options, kStorePath, &second).ok());
  second.reset();
  const MutantScope mutant(Mutant::kNoExclusiveLock);
  store.MustOpen();
  EXPECT_TRUE(DB::Open(store.options, kStorePath, &second).ok());  // only the lock keeps it out
}

// Rule E3, in the simulator and in a real directory.
void ReadersExcludeWriters(const Options& options, const std::string& path) {
  std::unique_ptr<DB> writer;
  ASSERT_TRUE(DB::Open(options, path, &writer).ok());
  ASSERT_TRUE(writer->Put({}, "k", "v").ok());
  ASSERT_TRUE(writer->Close().ok());
  std::unique_ptr<DB> readers[2];
  for (auto& reader : readers) ASSERT_TRUE(DB::OpenForReadOnly(options, path, &reader).ok());
  writer.reset();
  EXPECT_TRUE(DB::Open(options, path, &writer).IsLocked());
  for (auto& reader : readers) {
    std::string value;
    EXPECT_TRUE(reader->Get({}, "k", &value).ok());
  }
  readers[0].reset();
  EXPECT_TRUE(DB::Open(options, path, &writer).IsLocked());
  readers[1].reset();
  ASSERT_TRUE(DB::Open(options, path, &writer).ok());
  EXPECT_TRUE(DB::OpenForReadOnly(options, path, &readers[0]).IsLocked());
}

TEST(DbOpenTest, ReadersAndWriterExcludeEachOther) {
  TestStore store;
  ReadersExcludeWriters(store.options, kStorePath);
  const TempDirectory directory;
  Options options = SmallOptions();
  ReadersExcludeWriters(options, directory.File("db"));
}

TEST(DbOpenTest, ReadOnlyOpenWritesNothing) {
  TestStore store;
  MakeDatabase(&store);
  store.options.info_log = nullptr;
  // With a tail to replay, without a clean shutdown.
  store.MustOpen();
  store.Put("unflushed", "u", true);
  store.Put("large", std::string(10'000, 'm'), true);
  TestStore copy(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
  const auto before = copy.Files();
  const std::uint64_t operations = copy.fs->operations();
  ASSERT_TRUE(DB::OpenForReadOnly(copy.options, kStorePath, &copy.db).ok());
  EXPECT_EQ(copy.Get("unflushed"), "u");
  EXPECT_EQ(copy.Get("large"), std::string(10'000, 'm'));
  EXPECT_EQ(copy.Get("k51"), "run");
  EXPECT_EQ(copy.Get("k1"), std::string(100, 'v'));
  for (const Status& s : {copy.db->Put({}, "a", "b"), copy.db->Delete({}, "a"), copy.db->Flush({}), copy.db->SyncWAL(),
                          copy.db->CompactRange({}, nullptr, nullptr), copy.db->FlushWAL(true)}) {
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  }
  const Snapshot* snapshot = copy.db->GetSnapshot();
  ReadOptions at;
  at.snapshot = snapshot;
  EXPECT_EQ(copy.Get("unflushed", at), "u");
  copy.db->ReleaseSnapshot(snapshot);
  std::string text;
  EXPECT_TRUE(copy.db->GetProperty("cambium.stats", &text));
  copy.MustClose();
  EXPECT_EQ(copy.fs->operations(), operations);
  EXPECT_EQ(copy.Files(), before);
}

// Hazard H53: the power fails at each step of the first creation. The remains can be opened, or created again.
TEST(DbOpenTest, InterruptedCreationIsRepeated) {
  std::vector<SimImage> images;
  {
    TestStore store;
    store.options.info_log = nullptr;
    store.fs->AddHook([&](const SimOp&) { images.push_back(store.fs->Snapshot()); });
    store.MustOpen();
    store.Put("k", "v", true);
    store.fs->PowerOff();
    store.db.reset();
  }
  ASSERT_GT(images.size(), 10u);
  Prng prng(3);
  bool refused = false;
  for (const bool mutant : {false, true}) {
    for (const SimImage& image : images) {
      for (int draw = 0; draw < 12; ++draw) {
        TestStore after(std::make_shared<SimFileSystem>(draw == 0 ? image.Kill(prng) : image.DrawCrash(prng)));
        after.options.info_log = nullptr;
        const MutantScope scope(mutant ? Mutant::kRefuseHalfCreated : Mutant::kNone);
        const Status s = after.Open();
        if (mutant) {
          refused = refused || !s.ok();
          continue;
        }
        ASSERT_TRUE(s.ok()) << "operation " << image.operation() << ": " << s.ToString();
        after.Put("again", "a", true);
        after.MustClose();
        ASSERT_EQ(after.Verify(), "");
      }
    }
  }
  EXPECT_TRUE(refused);
}

// Hazard H51: files of a database without a MANIFEST are a damaged database, never a new one.
TEST(DbOpenTest, FilesWithoutManifestAreNotANewDatabase) {
  TestStore store;
  MakeDatabase(&store);
  for (const std::string& path : store.FilesOf("MANIFEST")) ASSERT_TRUE(store.fs->tampering().Remove(path).ok());
  const auto before = store.Files();
  const Status s = store.Open();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("no MANIFEST"), std::string::npos) << s.ToString();
  EXPECT_EQ(store.Files(), before);
  // One file of any kind is enough.
  for (const auto& [path, bytes] : before) {
    if (!ParseFileName(path.substr(path.rfind('/') + 1)).has_value()) continue;
    TestStore alone;
    ASSERT_TRUE(alone.fs->tampering().WriteContents(path, bytes).ok());
    EXPECT_TRUE(alone.Open().IsCorruption()) << path;
  }
  const MutantScope mutant(Mutant::kCreateOverExistingFiles);
  EXPECT_FALSE(store.Open().IsCorruption());
}

// Puts back the MANIFEST as it was `before`, with the current files: as if the device had lost an acknowledged write.
void CheckShorterManifest(const std::function<void(TestStore*)>& before, const std::function<void(TestStore*)>& after) {
  TestStore store;
  store.MustOpen();
  before(&store);
  const std::string path = store.FilesOf("MANIFEST").back();
  std::string bytes;
  ASSERT_TRUE(store.fs->probe().ReadContents(path, &bytes).ok());
  after(&store);
  store.MustClose();
  ASSERT_TRUE(store.fs->tampering().Truncate(path, bytes.size()).ok());
  const Status s = store.Open();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("the MANIFEST has lost its end"), std::string::npos) << s.ToString();
  EXPECT_NE(store.Verify().find("the MANIFEST has lost its end"), std::string::npos) << store.Verify();
}

// Regression: the log had a valid record of the value, and the MANIFEST did not name its file. Recovery took that for a
// torn tail, and silently lost a synced put.
TEST(DbOpenTest, LargeValueMissingFromManifestIsNotATornTail) {
  CheckShorterManifest([](TestStore* store) { store->Put("a", "1", true); },
                       [](TestStore* store) { store->Put("large", std::string(10'000, 'l'), true); });
}

// Regression: Open rejected such a database, but VerifyDB found nothing wrong with it.
TEST(DbOpenTest, SegmentMissingFromManifestIsReportedByVerify) {
  CheckShorterManifest([](TestStore*) {}, [](TestStore* store) { store->Put("a", "1", true); });
}

TEST(DbOpenTest, ManifestWithoutDefaultFamilyIsCorruption) {
  TestStore store;
  MakeDatabase(&store);
  const Result<ManifestRead> read = ReadManifest(*store.fs, kStorePath);
  ASSERT_TRUE(read.ok());
  ManifestState state = read->state;
  state.families.erase(0);
  FileHeader header = read->header;
  header.number = state.next_file_number++;
  ASSERT_TRUE(Manifest::Create(*store.fs, kStorePath, header, header.number, state).ok());
  EXPECT_TRUE(store.Open().IsCorruption());
  EXPECT_NE(store.Verify(), "") << store.Verify();
}

TEST(DbOpenTest, ForeignFilesAreKept) {
  TestStore store;
  for (const char* name : {"/notes.txt", "/12.log", "/000012.LOG", "/MANIFEST", "/000099.run.bak", "/CURRENT"}) {
    ASSERT_TRUE(store.fs->tampering().WriteContents(kStorePath + std::string(name), "mine").ok());
  }
  MakeDatabase(&store);
  store.MustOpen();
  store.Compact();
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
  ASSERT_TRUE(DestroyDB(kStorePath, store.options).ok());
  const auto left = store.Files();
  EXPECT_EQ(left.size(), 6u);
  for (const auto& [path, bytes] : left) EXPECT_EQ(bytes, "mine") << path;
}

TEST(DbOpenTest, OrphansOfACrashAreRemoved) {
  TestStore store;
  MakeDatabase(&store);
  const std::string run = store.FilesOf(".run").front();
  std::string bytes;
  ASSERT_TRUE(store.fs->probe().ReadContents(run, &bytes).ok());
  for (const char* orphan : {"/000900.run", "/000901.idx", "/000902.val", "/000903.log"}) {
    ASSERT_TRUE(store.fs->tampering().WriteContents(kStorePath + std::string(orphan), bytes).ok());
  }
  store.MustOpen();
  for (const auto& [path, contents] : store.Files()) EXPECT_EQ(path.find("/0009"), std::string::npos) << path;
  EXPECT_EQ(store.Get("k1"), std::string(100, 'v'));
  // The numbers of the orphans are not reused.
  store.Put("k", "v");
  ASSERT_FALSE(store.FilesOf(".log").empty());
  EXPECT_GT(store.FilesOf(".log").back(), kStorePath + std::string("/000903.log"));
}

TEST(DbOpenTest, UnreadableFileIsATransientIOError) {
  TestStore store;
  MakeDatabase(&store);
  for (const SimOpKind kind :
       {SimOpKind::kOpen, SimOpKind::kRead, SimOpKind::kGetInfo, SimOpKind::kList, SimOpKind::kLock}) {
    for (std::uint64_t n = 1;; ++n) {
      TestStore copy(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
      SimFault fault;
      fault.kind = kind;
      fault.nth = n;
      copy.fs->AddFault(fault);
      const auto before = copy.Files();
      const Status s = copy.Open();
      if (copy.fs->fault_hits() == 0) {
        ASSERT_TRUE(s.ok()) << s.ToString();
        break;
      }
      copy.fs->ClearFaults();
      if (s.ok()) {
        EXPECT_EQ(copy.Get("k1"), std::string(100, 'v'));
        continue;
      }
      EXPECT_TRUE(s.IsIOError()) << SimOpName(kind) << " " << n << ": " << s.ToString();
      ASSERT_TRUE(copy.Open().ok()) << SimOpName(kind) << " " << n;
      EXPECT_EQ(copy.Get("tail"), "t");
      copy.MustClose();
      EXPECT_EQ(copy.Verify(), "") << SimOpName(kind) << " " << n;
    }
  }
}

TEST(DbOpenTest, TooFewDescriptorsIsAnErrorWithoutLoss) {
  TestStore store;
  MakeDatabase(&store);
  std::size_t enough = 0;
  for (std::size_t limit = 0; enough == 0; ++limit) {
    ASSERT_LT(limit, 100u);
    TestStore copy(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
    copy.fs->SetMaxOpenFiles(limit);
    const Status s = copy.Open();
    if (s.ok()) {
      // Writes fail without side effects, or succeed.
      int written = 0;
      for (int i = 0; i < 300; ++i) {
        if (copy.db->Put({}, "new" + std::to_string(i), std::string(200, 'n')).ok()) ++written;
      }
      if (written == 300) enough = limit;
      copy.fs->SetMaxOpenFiles(1000);
      EXPECT_TRUE(copy.db->Put({}, "after", "a").ok());
      EXPECT_EQ(copy.Get("after"), "a");
      copy.MustClose();
    } else {
      EXPECT_TRUE(s.IsIOError()) << s.ToString();
      copy.fs->SetMaxOpenFiles(1000);
    }
    copy.MustOpen();
    EXPECT_EQ(copy.Get("tail"), "t");
    EXPECT_EQ(copy.Get("k1"), std::string(100, 'v'));
    copy.MustClose();
    EXPECT_EQ(copy.Verify(), "") << "limit " << limit;
  }
}

TEST(DbOpenTest, DestroyRemovesADatabaseAndMayBeCalledTwice) {
  TestStore store;
  store.options.info_log = nullptr;
  MakeDatabase(&store);
  ASSERT_TRUE(DestroyDB(kStorePath, store.options).ok());
  EXPECT_TRUE(store.Files().empty());
  FileInfo info;
  EXPECT_TRUE(store.fs->GetInfo(kStorePath, &info).IsPathNotFound());
  EXPECT_TRUE(DestroyDB(kStorePath, store.options).ok());
  store.MustOpen();
  EXPECT_EQ(store.Get("k1"), "NotFound");
}

TEST(DbOpenTest, DestroyWorksOnADamagedDatabase) {
  TestStore store;
  MakeDatabase(&store);
  for (const std::string& path : store.FilesOf("MANIFEST")) ASSERT_TRUE(store.fs->tampering().Truncate(path, 10).ok());
  EXPECT_FALSE(store.Open().ok());
  ASSERT_TRUE(DestroyDB(kStorePath, store.options).ok());
  EXPECT_TRUE(store.Files().empty());
}

// An interrupted DestroyDB leaves the database or a damaged one, never an empty one.
TEST(DbOpenTest, InterruptedDestroyIsNotANewDatabase) {
  TestStore store;
  MakeDatabase(&store);
  const SimImage whole = store.fs->Snapshot();
  for (std::uint64_t n = 1;; ++n) {
    TestStore copy(std::make_shared<SimFileSystem>(whole));
    SimFault fault;
    fault.kind = SimOpKind::kUnlink;
    fault.nth = n;
    fault.sticky = true;
    copy.fs->AddFault(fault);
    const Status s = DestroyDB(kStorePath, copy.options);
    if (copy.fs->fault_hits() == 0) break;
    if (copy.FilesOf("MANIFEST").empty()) continue;  // only LOCK is left
    EXPECT_TRUE(s.IsIOError());
    copy.fs->ClearFaults();
    const Status opened = copy.Open();
    if (opened.ok()) {
      EXPECT_EQ(copy.Get("k1"), std::string(100, 'v'));
      copy.MustClose();
    }
    EXPECT_TRUE(DestroyDB(kStorePath, copy.options).ok());
    EXPECT_TRUE(copy.Files().empty());
  }
}

}  // namespace
}  // namespace cambium::testing
