// Sentences of docs/LIMITS.md that concern the database as a whole, each tried at its limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cambium/logger.h"
#include "testing/family_store.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "testing/test_store.h"
#include "util/prng.h"
#include "vlog/record_format.h"

namespace cambium::testing {
namespace {

constexpr std::size_t kKiB = 1024;

// ---- Sizes ----

// Keys of the largest size are written, deleted, range-deleted and found in every layer, and a longer key is refused.
TEST(ApiLimitsTest, LongestKeyDependsOnThePageSize) {
  struct Row {
    std::size_t page_size;
    std::size_t longest;
  };
  for (const auto& [page_size, longest] : {Row{512, 8 * kKiB}, {1024, 16 * kKiB}, {2048, 32 * kKiB}, {4096, 64 * kKiB},
                                           {8192, 64 * kKiB}, {16384, 64 * kKiB}}) {
    SCOPED_TRACE(page_size);
    TestStore store;
    store.options = SmallOptions(page_size);
    store.options.file_system = store.fs;
    store.options.clock = store.clock;
    store.options.executor = store.executor;
    store.options.info_log = NullLogger();
    store.options.write_buffer_size = std::size_t{1} << 20;
    store.MustOpen();
    const auto key = [length = longest](int i) { return std::string(length - 5, 'k') + NumberedKey(i); };
    const std::string inline_value(20, 'i');
    const std::string separated(3000, 's');
    const auto value = [&](int i) { return i % 3 == 0 ? separated : inline_value; };
    for (int i = 0; i < 20; ++i) store.Put(key(i), value(i));
    const auto check = [&](int from) {
      for (int i = 0; i < 20; ++i) ASSERT_EQ(store.Get(key(i)), i < from ? "NotFound" : value(i)) << i;
      ASSERT_EQ(store.Verify(), "");
    };
    check(0);
    store.Reopen();
    check(0);
    store.Flush();
    check(0);
    store.Compact();
    check(0);
    ASSERT_TRUE(store.db->Delete({}, key(0)).ok());
    ASSERT_TRUE(store.db->DeleteRange({}, std::string(longest, 'a'), key(0)).ok());
    store.Flush();
    store.Compact({.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce});
    check(1);
    store.Reopen();
    check(1);
    const std::string longer = key(1) + "x";
    for (const Status& s : {store.db->Put({}, longer, "v"), store.db->Delete({}, longer),
                            store.db->DeleteRange({}, "a", longer), store.db->DeleteRange({}, longer, "z")}) {
      EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
      EXPECT_NE(s.ToString().find(std::to_string(longest)), std::string::npos) << s.ToString();
    }
    check(1);
  }
}

// Large values have files of their own, so they do not count for the size of a batch.
TEST(ApiLimitsTest, LargeValuesOfABatchTakeNoLog) {
  TestStore store;
  store.MustOpen();
  const auto bytes_of_log = [&] {
    std::uint64_t bytes = 0;
    for (const auto& [path, contents] : store.Files()) {
      if (path.ends_with(".log")) bytes += contents.find_last_not_of('\0') + 1;  // the file may have grown ahead
    }
    return bytes;
  };
  const std::uint64_t before = bytes_of_log();
  WriteBatch batch;
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(batch.Put(NumberedKey(i), std::string(9 * kKiB, 'v')).ok());
  ASSERT_TRUE(store.db->Write({}, &batch).ok());
  EXPECT_LE(bytes_of_log(), before + 40 * 200);
  EXPECT_EQ(store.FilesOf(".val").size(), 40u);
}

// ---- Damage ----

// Without verify_checksums a damaged byte of a value is returned; header and key are compared nevertheless.
TEST(ApiLimitsTest, HeadersAreCheckedWithoutVerifyChecksumsAndValuesAreNot) {
  const std::string value(1000, 'v');
  ReadOptions unverified;
  unverified.verify_checksums = false;
  const auto read_with_flipped = [&](std::uint64_t offset_in_record, const ReadOptions& read) {
    TestStore store;
    store.MustOpen();
    store.Put("the key", value);
    store.Flush();
    const std::string path = store.FilesOf(".log").back();
    std::string bytes;
    EXPECT_TRUE(store.fs->probe().ReadContents(path, &bytes).ok());
    const std::uint64_t record = bytes.find("the key") - kRecordHeaderSize;
    EXPECT_TRUE(store.fs->tampering().FlipBit(path, record + offset_in_record, 0).ok());
    return store.Get("the key", read);
  };
  const std::uint64_t in_value = kRecordHeaderSize + 7 + 500;
  EXPECT_TRUE(read_with_flipped(in_value, {}).starts_with("Corruption"));
  const std::string unnoticed = read_with_flipped(in_value, unverified);
  EXPECT_EQ(unnoticed.size(), value.size()) << unnoticed.substr(0, 100);
  EXPECT_NE(unnoticed, value);
  for (std::uint64_t offset = 0; offset < kRecordHeaderSize + 7; ++offset) {
    EXPECT_TRUE(read_with_flipped(offset, unverified).starts_with("Corruption")) << offset;
    EXPECT_TRUE(read_with_flipped(offset, {}).starts_with("Corruption")) << offset;
  }
}

// A damaged leaf costs its keys, and no others.
TEST(ApiLimitsTest, KeysOfOtherPagesStayReadable) {
  TestStore store;
  store.MustOpen();
  const auto value = [](int i) { return "value of " + NumberedKey(i); };
  for (int i = 0; i < 600; ++i) store.Put(NumberedKey(i), value(i));
  store.Compact();
  store.MustClose();
  ASSERT_GT(store.DamageInIndex(value(300)), 0);
  store.MustOpen();
  int unreadable = 0;
  for (int i = 0; i < 600; ++i) {
    const std::string found = store.Get(NumberedKey(i));
    if (found == value(i)) continue;
    ASSERT_TRUE(found.starts_with("Corruption")) << i << ": " << found;
    ++unreadable;
  }
  EXPECT_TRUE(store.Get(NumberedKey(300)).starts_with("Corruption"));
  EXPECT_LE(unreadable, 40) << "more than a page of 512 bytes has";
}

// The bytes of the second of two synced records change. After a crash they look like a torn tail, because nothing after
// them says that they were durable; after Close the MANIFEST says so.
TEST(ApiLimitsTest, DamageOfTheLastSyncedWriteIsNoticedAfterClose) {
  for (const bool is_closed : {false, true}) {
    TestStore store;
    store.MustOpen();
    store.Put("first", "1", true);
    store.Put("second", "2", true);
    const SimImage crashed = store.fs->Snapshot();
    store.MustClose();
    TestStore damaged(std::make_shared<SimFileSystem>(is_closed ? store.fs->Snapshot() : crashed));
    const std::string path = damaged.FilesOf(".log").back();
    std::string bytes;
    ASSERT_TRUE(damaged.fs->probe().ReadContents(path, &bytes).ok());
    ASSERT_TRUE(damaged.fs->tampering().FlipBit(path, bytes.find("second"), 0).ok());
    const Status opened = damaged.Open();
    if (is_closed) {
      EXPECT_TRUE(opened.IsCorruption()) << opened.ToString();
      EXPECT_NE(opened.ToString().find(path), std::string::npos) << opened.ToString();
    } else {
      ASSERT_TRUE(opened.ok()) << opened.ToString();
      EXPECT_EQ(damaged.Get("first"), "1");
      EXPECT_EQ(damaged.Get("second"), "NotFound");
    }
  }
}

class ReverseComparator final : public Comparator {
 public:
  [[nodiscard]] const char* Name() const override { return "test.Reverse"; }
  [[nodiscard]] int Compare(Slice a, Slice b) const override { return b.compare(a); }
};

TEST(ApiLimitsTest, VerifyDbChecksFamiliesWithAComparatorOfTheCallersOwn) {
  const ReverseComparator reverse;
  FamilyStore store;
  store.family_options["reverse"] = store.options;
  store.family_options["reverse"].comparator = &reverse;
  store.MustOpen();
  ColumnFamilyHandle* const family = store.Create("reverse");
  for (int i = 0; i < 500; ++i) store.PutIn(family, NumberedKey(i), std::string(20, 'v'));
  store.FlushOf(family);
  store.Close();
  const std::vector<ColumnFamilyDescriptor> families{{kDefaultColumnFamilyName, store.options},
                                                     {"reverse", store.OptionsOf("reverse")}};
  VerifyReport report;
  Status s = VerifyDB(kStorePath, store.options, families, {.deep = true}, &report);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(report.problems.empty());
  EXPECT_GE(report.entries, 500u);
  s = VerifyDB(kStorePath, store.options, {.deep = true}, &report);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(s.ToString().find("test.Reverse"), std::string::npos) << s.ToString();
}

// ---- Files ----

// The files of a closed or killed database are copied, byte by byte and without LOCK, under another path.
TEST(ApiLimitsTest, FilesMayBeCopiedWhileNoProcessHasTheDatabaseOpen) {
  for (const bool is_closed : {false, true}) {
    TestStore store;
    store.MustOpen();
    for (int i = 0; i < 300; ++i) store.Put(NumberedKey(i % 200), std::string(i % 7 == 0 ? 9000 : i % 100, 'v'));
    store.Flush();
    store.Put("last", "value");
    const SimImage killed = store.fs->Snapshot();
    store.MustClose();
    const SimFileSystem source(is_closed ? store.fs->Snapshot() : killed);
    const auto target = std::make_shared<SimFileSystem>();
    for (const auto& file : source.probe().ListFiles()) {
      if (file.path.ends_with("/LOCK")) continue;
      std::string bytes;
      ASSERT_TRUE(source.probe().ReadContents(file.path, &bytes).ok());
      ASSERT_TRUE(target->tampering().WriteContents("/elsewhere/copy" + file.path.substr(3), bytes).ok());
    }
    Options options = store.options;
    options.file_system = target;
    options.create_if_missing = false;
    std::unique_ptr<DB> db;
    const Status opened = DB::Open(options, "/elsewhere/copy", &db);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    std::string value;
    for (int i = 100; i < 300; ++i) {
      ASSERT_TRUE(db->Get({}, NumberedKey(i % 200), &value).ok()) << i;
      ASSERT_EQ(value.size(), static_cast<std::size_t>(i % 7 == 0 ? 9000 : i % 100)) << i;
    }
    EXPECT_TRUE(db->Get({}, "last", &value).ok());
    EXPECT_TRUE(db->Put({}, "new", "value").ok());
    ASSERT_TRUE(db->Close().ok());
    VerifyReport report;
    ASSERT_TRUE(VerifyDB("/elsewhere/copy", options, {.deep = true}, &report).ok());
    EXPECT_TRUE(report.problems.empty() && report.dead_damage.empty());
  }
}

// ---- Recovery ----

// Keeps how much log the last Open has read.
class LogReadLogger final : public Logger {
 public:
  void Log(InfoLogLevel /*level*/, Slice message) override {
    const std::string text = message.ToString();
    const std::size_t at = text.find("after reading ");
    if (at != std::string::npos) bytes = std::stoull(text.substr(at + 14));
  }
  std::uint64_t bytes = 0;
};

// Writes to twenty families, to most of them seldom. Now and then the process is killed, and the database opened again.
// Returns the most bytes of log that one of these opens has read.
std::uint64_t MostLogReadByRecovery(std::uint64_t max_total_wal_size, std::uint64_t seed) {
  constexpr int kFamilies = 20;
  FamilyStore store;
  store.options.max_total_wal_size = max_total_wal_size;
  store.options.write_buffer_size = 64 * kKiB;
  store.MustOpen();
  for (int i = 0; i < kFamilies; ++i) store.Create("family" + std::to_string(i));
  Prng prng(seed);
  std::uint64_t most = 0;
  for (int i = 0; i < 3000; ++i) {
    const bool is_rare = prng.OneIn(50);
    ColumnFamilyHandle* const family = store.handles[is_rare ? prng.Uniform(kFamilies) : 0];
    store.PutIn(family, NumberedKey(static_cast<int>(prng.Uniform(500))), std::string(prng.Uniform(600), 'v'));
    store.executor->RunAll();
    if (!prng.OneIn(60)) continue;
    auto log = std::make_shared<LogReadLogger>();
    TestStore killed(std::make_shared<SimFileSystem>(store.fs->Snapshot()));
    killed.options = store.options;
    killed.options.file_system = killed.fs;
    killed.options.info_log = log;
    std::vector<ColumnFamilyDescriptor> families{{kDefaultColumnFamilyName, killed.options}};
    for (int j = 0; j < kFamilies; ++j) families.emplace_back("family" + std::to_string(j), killed.options);
    std::vector<ColumnFamilyHandle*> handles;
    EXPECT_TRUE(DB::Open(killed.options, kStorePath, families, &handles, &killed.db).ok());
    for (ColumnFamilyHandle* handle : handles) delete handle;
    killed.db.reset();
    most = std::max(most, log->bytes);
  }
  return most;
}

// The log may grow by a sixteenth of the limit before the database notices that a flush is due. Headers of files and
// one batch come on top.
TEST(ApiLimitsTest, RecoveryReadsAboutMaxTotalWalSize) {
  const std::uint64_t seed = SeedFromEnvironment(0x11a1);
  const std::uint64_t limit = 128 * kKiB;
  const std::uint64_t most = MostLogReadByRecovery(limit, seed);
  std::printf("at most %llu bytes of log\n", static_cast<unsigned long long>(most));
  EXPECT_LE(most, limit + limit / 16 + 4 * kKiB);
  EXPECT_GT(most, limit / 2);
  const MutantScope mutant(Mutant::kForgetIdleFamily);
  EXPECT_GT(MostLogReadByRecovery(limit, seed), 2 * limit);
}

}  // namespace
}  // namespace cambium::testing
