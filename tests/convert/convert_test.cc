// Tests of conversions: the new database has the same contents under the other index, and neither database affects the
// other.
#include "cambium/convert.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backup/known_store.h"
#include "cambium/compact_log.h"
#include "cambium/convenience.h"
#include "manifest/manifest_reader.h"
#include "testing/scale.h"
#include "testing/seed.h"

namespace cambium::testing {
namespace {

constexpr const char* kOut = "/out";

IndexKind Other(IndexKind kind) { return kind == kLsm ? kBTree : kLsm; }

class ConvertedStore : public KnownStore {
 public:
  using KnownStore::KnownStore;
  void Fill(Prng* prng, int changes = 300) {
    MustOpen();
    ChangeMany(prng, changes);
    Compact();
    RunUntilIdle();
    ChangeMany(prng, changes / 3);
    Flush();
    ASSERT_TRUE(db->DeleteRange({}, NumberedKey(10), NumberedKey(14)).ok());
    known.erase(known.lower_bound(NumberedKey(10)), known.lower_bound(NumberedKey(14)));
    if (prng->OneIn(2)) Flush();
    ChangeMany(prng, 20);
    MustClose();
  }
  Status ConvertIt(const std::string& path = kStorePath, const std::string& out = kOut) {
    return ConvertIndex(options, path, {{kDefaultColumnFamilyName, options}}, Other(options.index_type), out, {}, &report);
  }
  [[nodiscard]] Options OptionsOf(IndexKind kind) const {
    Options its = options;
    its.create_if_missing = false;
    its.index_type = kind;
    return its;
  }
  [[nodiscard]] std::string VerifyAt(const std::string& path, IndexKind kind) const {
    Options its = OptionsOf(kind);
    its.file_system = std::make_shared<SimFileSystem>(fs->Snapshot());
    VerifyReport verified;
    const Status s = VerifyDB(path, its, {.deep = true}, &verified);
    std::string all = s.ok() ? "" : s.ToString();
    for (const std::string& problem : verified.problems) all += problem + "\n";
    return all;
  }
  // Opens the database at `path` as `kind`, writes, compacts and runs log GC, and expects the known contents
  // throughout.
  void ExpectAt(const std::string& path, IndexKind kind) {
    ASSERT_EQ(VerifyAt(path, kind), "");
    std::unique_ptr<DB> its;
    const Status opened = DB::Open(OptionsOf(kind), path, &its);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    ASSERT_EQ(Contents(its.get()), known);
    ASSERT_TRUE(its->Put({}, "zzz", std::string(500, 'z')).ok());
    CompactRangeOptions all;
    all.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
    const Status compacted = its->CompactRange(all, nullptr, nullptr);
    ASSERT_TRUE(compacted.ok()) << compacted.ToString();
    ASSERT_TRUE(its->Delete({}, "zzz").ok());
    ASSERT_EQ(Contents(its.get()), known);
    ASSERT_TRUE(its->Close().ok());
    ASSERT_EQ(VerifyAt(path, kind), "");
  }
  ConvertReport report;
};

TEST(ConvertTest, ContentsSurviveConversionThereAndBack) {
  const std::uint64_t first = SeedFromEnvironment(1);
  for (std::uint64_t seed = first; seed < first + ScaledCount(30); ++seed) {
    SCOPED_TRACE(seed);
    Prng prng(seed);
    ConvertedStore store;
    store.Fill(&prng, 100 + static_cast<int>(prng.Uniform(400)));
    const IndexKind from = store.options.index_type;
    const auto before = store.Files();
    Status s = store.ConvertIt();
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(store.report.families, 1u);
    EXPECT_GT(store.report.entries, 0u);
    EXPECT_GT(store.report.index_bytes_after, 0u);
    for (const auto& [path, bytes] : before) EXPECT_EQ(store.Files()[path], bytes) << path << " was changed";
    // Convert back before the first Open.
    ASSERT_TRUE(ConvertIndex(store.options, kOut, {{kDefaultColumnFamilyName, store.options}}, from, "/back", {},
                             &store.report).ok());
    store.ExpectAt(kOut, Other(from));
    store.ExpectAt(kStorePath, from);
    store.ExpectAt("/back", from);
  }
}

TEST(ConvertTest, ValuesAreSharedAndGarbageIsLeftOut) {
  Prng prng(2);
  ConvertedStore store;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i), store.known[NumberedKey(i)] = prng.Bytes(3000));
    store.Flush();  // in an LSM, each round is a run
  }
  store.MustClose();
  ASSERT_TRUE(store.ConvertIt().ok());
  std::size_t linked = 0;
  std::size_t segments = 0;
  for (const std::string& path : store.FilesOf(".log")) {
    if (path.starts_with(kStorePath)) ++segments;
    FileInfo info;
    ASSERT_TRUE(store.fs->GetInfo(path, &info).ok());
    if (path.starts_with(kOut)) linked += info.link_count == 2 ? 1 : 0;
  }
  EXPECT_GE(linked, 5u);
  if (TestsUseLsm()) {
    EXPECT_LT(linked + 1, segments) << "segments that only hidden entries refer to were not left out";
  }
  EXPECT_GT(store.report.log_bytes, 60u * 3000);
  store.ExpectAt(kOut, Other(store.options.index_type));
}

// Actions of one database that remove, empty or punch files that both databases share.
enum class Action : unsigned char { kCollect, kPunch, kCompactRange, kCompactLog, kDestroy };

void Apply(Action action, const std::string& path, const Options& its) {
  if (action == Action::kDestroy) {
    ASSERT_TRUE(DestroyDB(path, its).ok());
    return;
  }
  if (action == Action::kCompactLog) {
    CompactLogReport report;
    const Status compacted = CompactLog(path, its, {}, &report);
    ASSERT_TRUE(compacted.ok()) << compacted.ToString();
    return;
  }
  std::unique_ptr<DB> db;
  const Status opened = DB::Open(its, path, &db);
  ASSERT_TRUE(opened.ok()) << opened.ToString();
  for (int i = 0; i < 60; i += 2) ASSERT_TRUE(db->Delete({}, NumberedKey(i)).ok());
  CompactRangeOptions all;
  if (action == Action::kCollect) all.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
  ASSERT_TRUE(db->CompactRange(all, nullptr, nullptr).ok());
  if (action == Action::kPunch) {
    ASSERT_TRUE(db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
    ASSERT_TRUE(db->WaitForCompact().ok());
  }
  ASSERT_TRUE(db->Close().ok());
}

TEST(ConvertTest, OriginAndConversionAreIndependent) {
  for (const Action action : {Action::kCollect, Action::kPunch, Action::kCompactRange, Action::kCompactLog, Action::kDestroy}) {
    for (const bool by_origin : {false, true}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(action)) + (by_origin ? " by the origin" : " by the conversion"));
      Prng prng(9);
      ConvertedStore store;
      store.options.enable_blob_garbage_collection = false;
      store.options.blob_file_size = 256u << 10;
      store.MustOpen();
      for (int i = 0; i < 60; ++i) {
        store.Put(NumberedKey(i), store.known[NumberedKey(i)] = prng.Bytes(i % 10 == 0 ? 17'000 : 12'000));
      }
      store.Flush();
      for (int i = 0; i < 60; i += 3) store.Put(NumberedKey(i), store.known[NumberedKey(i)] = prng.Bytes(12'000));
      store.Compact();
      store.MustClose();
      ASSERT_TRUE(store.ConvertIt().ok());
      const IndexKind here = store.options.index_type;
      const std::string changed_path = by_origin ? kStorePath : kOut;
      const std::string other = by_origin ? kOut : kStorePath;
      std::map<std::string, std::string> before;
      for (const auto& [path, bytes] : store.Files()) {
        if (path.starts_with(other + "/")) before[path] = bytes;
      }
      std::size_t shared = 0;
      for (const auto& [path, bytes] : before) {
        FileInfo info;
        ASSERT_TRUE(store.fs->GetInfo(path, &info).ok());
        shared += info.link_count == 2 ? 1 : 0;
      }
      ASSERT_GE(shared, 3u);
      Apply(action, changed_path, store.OptionsOf(by_origin ? here : Other(here)));
      for (const auto& [path, bytes] : before) EXPECT_EQ(store.Files()[path], bytes) << path << " was changed";
      store.ExpectAt(other, by_origin ? Other(here) : here);
    }
  }
}

TEST(ConvertTest, DryRunForecastsAllFigures) {
  Prng prng(10);
  ConvertedStore store;
  store.options.target_file_size_base = 16384;
  store.Fill(&prng, 500);
  const auto before = store.Files();
  ConvertOptions dry;
  dry.dry_run = true;
  ConvertReport planned;
  const auto convert = [&](const std::string& out, const ConvertOptions& how, ConvertReport* report) {
    return ConvertIndex(store.options, kStorePath, {{kDefaultColumnFamilyName, store.options}},
                        Other(store.options.index_type), out, how, report);
  };
  ASSERT_TRUE(convert(kOut, dry, &planned).ok());
  EXPECT_EQ(store.Files(), before);
  ASSERT_TRUE(store.ConvertIt().ok());
  EXPECT_EQ(planned.entries, store.report.entries);
  EXPECT_EQ(planned.index_bytes_before, store.report.index_bytes_before);
  EXPECT_EQ(planned.index_bytes_after, store.report.index_bytes_after);
  EXPECT_EQ(planned.log_bytes, store.report.log_bytes);
  std::uint64_t linked = 0;
  std::uint64_t copied = 0;
  for (const auto& file : store.fs->probe().ListFiles()) {
    if (!file.path.starts_with(std::string(kOut) + "/") || file.path.ends_with("/LOCK")) continue;
    FileInfo info;
    ASSERT_TRUE(store.fs->GetInfo(file.path, &info).ok());
    (info.link_count == 2 ? linked : copied) += info.size;
  }
  EXPECT_EQ(planned.plan.linked_bytes, linked);
  EXPECT_EQ(planned.plan.copied_bytes, copied);
  // Leave one byte less than needed.
  store.fs->SetQuota(store.fs->probe().allocated_bytes() + planned.plan.copied_bytes - 1);
  const Status refused = convert("/other", dry, &planned);
  EXPECT_TRUE(refused.IsNoSpace()) << refused.ToString();
  EXPECT_TRUE(convert("/no/where", dry, &planned).IsPathNotFound());
}

TEST(ConvertTest, OptionsFileHasTheNewIndex) {
  Prng prng(3);
  ConvertedStore store;
  store.Fill(&prng);
  ASSERT_TRUE(store.ConvertIt().ok());
  DBOptions db;
  std::vector<ColumnFamilyDescriptor> families;
  ConfigOptions config;
  config.file_system = store.fs;
  ASSERT_TRUE(LoadLatestOptions(config, kOut, &db, &families).ok());
  ASSERT_EQ(families.size(), 1u);
  EXPECT_EQ(families[0].options.index_type, Other(store.options.index_type));
  EXPECT_EQ(families[0].options.page_size, store.options.page_size);
}

TEST(ConvertTest, AllFamiliesAreConverted) {
  TestStore store;
  store.options.create_missing_column_families = true;
  ColumnFamilyOptions other = store.options;
  other.index_type = Other(store.options.index_type);
  ColumnFamilyOptions reverse = store.options;
  reverse.comparator = ReverseBytewiseComparator();
  std::vector<ColumnFamilyDescriptor> families = {
      {kDefaultColumnFamilyName, store.options}, {"other", other}, {"reverse", reverse}};
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_TRUE(DB::Open(store.options, kStorePath, families, &handles, &store.db).ok());
  for (int i = 0; i < 100; ++i) {
    for (ColumnFamilyHandle* const handle : handles) {
      ASSERT_TRUE(store.db->Put({}, handle, NumberedKey(i), handle->GetName() + std::string(i % 2 == 0 ? 10 : 300, 'x')).ok());
    }
  }
  for (ColumnFamilyHandle* const handle : handles) ASSERT_TRUE(store.db->Flush({}, handle).ok());
  for (ColumnFamilyHandle* const handle : handles) delete handle;
  store.MustClose();
  const IndexKind to = other.index_type;
  ConvertReport report;
  EXPECT_TRUE(ConvertIndex(store.options, kStorePath, {families[0]}, to, kOut, {}, &report).IsInvalidArgument());
  const Status s = ConvertIndex(store.options, kStorePath, families, to, kOut, {}, &report);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(report.families, 2u) << "the third has that index already";
  for (ColumnFamilyDescriptor& family : families) family.options.index_type = to;
  // An LSM of two levels cannot keep the usual ceiling.
  std::vector<ColumnFamilyDescriptor> low = families;
  low[2].options.num_levels = 2;
  DBOptions with_ceiling = store.options;
  with_ceiling.max_space_amplification = 1.5;
  EXPECT_TRUE(ConvertIndex(with_ceiling, kStorePath, low, kLsm, "/two_levels", {}, &report).IsInvalidArgument());
  ASSERT_TRUE(DB::Open(store.options, kOut, families, &handles, &store.db).ok());
  for (int i = 0; i < 100; ++i) {
    for (ColumnFamilyHandle* const handle : handles) {
      std::string value;
      ASSERT_TRUE(store.db->Get({}, handle, NumberedKey(i), &value).ok());
      EXPECT_EQ(value, handle->GetName() + std::string(i % 2 == 0 ? 10 : 300, 'x'));
    }
  }
  for (ColumnFamilyHandle* const handle : handles) delete handle;
}

TEST(ConvertTest, DamagedIndexIsRejected) {
  Prng prng(4);
  ConvertedStore store;
  store.Fill(&prng, 600);
  std::string index;
  std::string bytes;  // the contents of the largest file; a smaller file may consist of its header page only
  for (const std::string& path : store.FilesOf(TestsUseLsm() ? ".run" : ".idx")) {
    std::string its;
    ASSERT_TRUE(store.fs->probe().ReadContents(path, &its).ok());
    if (its.size() <= bytes.size()) continue;
    index = path;
    bytes = std::move(its);
  }
  for (std::size_t at = 512; at + 512 <= bytes.size(); at += 512) {
    ASSERT_TRUE(store.fs->tampering().Overwrite(index, at + 60, "damage").ok());
  }
  const Status s = store.ConvertIt();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.message().find(index), std::string::npos) << s.ToString();
  FileInfo info;
  EXPECT_TRUE(store.fs->GetInfo(kOut, &info).IsPathNotFound());
}

TEST(ConvertTest, RejectsOpenDatabasesAndIllegalArguments) {
  ConvertedStore store;
  EXPECT_FALSE(store.ConvertIt().ok());
  store.MustOpen();
  EXPECT_TRUE(store.ConvertIt().IsLocked());
  store.Put("key", "value");
  store.known["key"] = "value";
  store.MustClose();
  for (const std::string& out : {std::string(), std::string(kStorePath), kStorePath + std::string("/out")}) {
    EXPECT_TRUE(ConvertIndex(store.options, kStorePath, {{kDefaultColumnFamilyName, store.options}},
                             Other(store.options.index_type), out, {}, &store.report).IsInvalidArgument()) << out;
  }
  Options reverse = store.options;
  reverse.comparator = ReverseBytewiseComparator();
  EXPECT_TRUE(ConvertIndex(reverse, kStorePath, {{kDefaultColumnFamilyName, reverse}}, kLsm, kOut, {}, &store.report)
                  .IsInvalidArgument());
  ASSERT_TRUE(store.ConvertIt().ok());
  EXPECT_TRUE(store.ConvertIt().IsInvalidArgument()) << "the directory exists";
  store.ExpectAt(kOut, Other(store.options.index_type));
}

TEST(ConvertTest, PowerCutLeavesAWholeConversionOrNone) {
  const std::uint64_t first = SeedFromEnvironment(20);
  for (std::uint64_t seed = first; seed < first + ScaledCount(6); ++seed) {
    SCOPED_TRACE(seed);
    Prng prng(seed);
    ConvertedStore store;
    store.Fill(&prng, 150);
    std::vector<SimImage> images;
    const int hook = store.fs->AddHook([&](const SimOp& op) {
      if (op.phase == SimPhase::kBefore || op.phase == SimPhase::kInside) images.push_back(store.fs->DrawCrash(prng));
    });
    ASSERT_TRUE(store.ConvertIt().ok());
    store.fs->RemoveHook(hook);
    images.push_back(store.fs->DrawCrash(prng));
    ASSERT_GT(images.size(), 20u);
    for (std::size_t i = 0; i < images.size(); ++i) {
      SCOPED_TRACE(i);
      ConvertedStore after(std::make_shared<SimFileSystem>(images[i]));
      after.known = store.known;
      FileInfo info;
      const bool is_there = after.fs->GetInfo(kOut, &info).ok();
      EXPECT_TRUE(is_there || i + 1 < images.size()) << "the finished conversion is missing";
      if (!is_there) {
        ASSERT_TRUE(after.ConvertIt().ok());
      }
      after.ExpectAt(kOut, Other(store.options.index_type));
      ASSERT_EQ(after.VerifyAt(kStorePath, store.options.index_type), "");
    }
  }
}

TEST(ConvertTest, FailureOfAnyCallLeavesNothing) {
  std::uint64_t calls = 0;
  for (std::uint64_t nth = 0; nth <= calls; nth += kSweepStep) {
    SCOPED_TRACE(nth);
    Prng prng(6);
    ConvertedStore store;
    store.Fill(&prng, 120);
    const std::uint64_t before = store.fs->calls();
    SimFault fault;
    fault.nth = nth;
    fault.status = nth % 2 == 0 ? Status::IOError("injected") : Status::NoSpace("injected");
    if (nth > 0) store.fs->AddFault(fault);
    const Status made = store.ConvertIt();
    if (nth == 0) calls = store.fs->calls() - before;
    store.fs->ClearFaults();
    EXPECT_TRUE(made.ok() || made.message().find("injected") != std::string::npos) << made.ToString();
    FileInfo info;
    EXPECT_TRUE(store.fs->GetInfo(std::string(kOut) + ".tmp", &info).IsPathNotFound());
    if (!store.fs->GetInfo(kOut, &info).ok()) {
      ASSERT_TRUE(store.ConvertIt().ok());
    }
    store.ExpectAt(kOut, Other(store.options.index_type));
  }
  EXPECT_GT(calls, 20u);
}

}  // namespace
}  // namespace cambium::testing
