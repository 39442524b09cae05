// Options that change while the database is open: which ones may, that each call is atomic, and their effects.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "options/option_table.h"
#include "options/random_options.h"
#include "testing/test_store.h"
#include "cambium/convenience.h"
#include "testing/scale.h"
#include "testing/seed.h"

namespace cambium::testing {
namespace {

using Changes = std::unordered_map<std::string, std::string>;

void ExpectSet(TestStore* store, const Changes& changes) {
  const Status s = store->db->SetOptions(changes);
  EXPECT_TRUE(s.ok()) << s.ToString();
}

// Every option of the table, with its current value.
template <typename Struct>
void ExpectOnlyDynamicOnesMayBeSet(const Struct& now, const std::function<Status(const Changes&)>& set) {
  for (const OptionField<Struct>& field : OptionFields<Struct>()) {
    const Status s = set({{field.name, FormatOption(field, now)}});
    if (field.while_open == WhileOpen::kDynamic) {
      EXPECT_TRUE(s.ok()) << s.ToString();
      continue;
    }
    EXPECT_TRUE(s.IsInvalidArgument()) << field.name;
    EXPECT_NE(s.ToString().find(field.name), std::string::npos) << s.ToString();
    EXPECT_NE(s.ToString().find("can't be changed while the database is open"), std::string::npos) << s.ToString();
  }
}

TEST(SetOptionsTest, OnlyDynamicOptionsCanBeSet) {
  TestStore store;
  store.MustOpen();
  ExpectOnlyDynamicOnesMayBeSet<ColumnFamilyOptions>(store.db->GetOptions(),
                                                     [&](const Changes& c) { return store.db->SetOptions(c); });
  ExpectOnlyDynamicOnesMayBeSet<DBOptions>(store.db->GetOptions(),
                                           [&](const Changes& c) { return store.db->SetDBOptions(c); });
}

TEST(SetOptionsTest, OptionOfTheOtherKindNamesTheRightCall) {
  TestStore store;
  store.MustOpen();
  const auto expect = [](const Status& s, const std::string& message) {
    EXPECT_TRUE(s.IsInvalidArgument());
    EXPECT_NE(s.ToString().find(message), std::string::npos) << s.ToString();
  };
  expect(store.db->SetOptions({{"page_cache_size", "1M"}}),
         "page_cache_size is an option of the database, not of a column family; use SetDBOptions");
  expect(store.db->SetDBOptions({{"sweep_ratio", "3"}}),
         "sweep_ratio is an option of a column family, not of the database; use SetOptions");
  expect(store.db->SetOptions({{"max_background_jobs", "3"}}),
         "max_background_jobs is an option of the database, not of a column family; it can't be changed");
  expect(store.db->SetDBOptions({{"num_levels", "3"}}),
         "num_levels is an option of a column family, not of the database; it can't be changed");
}

// All families share one log, so the default family's blob_file_size applies to all.
TEST(SetOptionsTest, BlobFileSizeAppliesToAllFamilies) {
  TestStore store;
  store.options.max_total_wal_size = 1u << 30;
  store.options.blob_file_size = 16u << 10;
  store.MustOpen();
  ColumnFamilyHandle* other = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "other", &other).ok());
  const Status refused = store.db->SetOptions(other, {{"blob_file_size", "64K"}});
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  const auto longest = [&store] {
    std::size_t bytes = 0;
    for (const auto& [path, contents] : store.Files()) {
      if (path.ends_with(".log")) bytes = std::max(bytes, contents.size());
    }
    return bytes;
  };
  const auto write = [&store] {
    for (int i = 0; i < 200; ++i) store.Put(NumberedKey(i), std::string(1000, 'v'));
  };
  write();
  EXPECT_LT(longest(), 20u << 10);
  ASSERT_TRUE(store.db->SetOptions({{"blob_file_size", "64K"}}).ok());
  store.RunUntilIdle();
  EXPECT_EQ(store.db->GetOptions(other).blob_file_size, 64u << 10);
  write();
  EXPECT_GT(longest(), 60u << 10);
  EXPECT_LT(longest(), 70u << 10);
  ASSERT_TRUE(store.db->SetOptions(other, {{"blob_file_size", "64K"}}).ok()) << "that is what it is";
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(other).ok());
}

TEST(SetOptionsTest, CallIsAtomic) {
  TestStore store;
  store.MustOpen();
  const Options before = store.db->GetOptions();
  const struct {
    Changes changes;
    const char* says;
  } kCases[] = {
      {{}, "no option"},
      {{{"sweep_ratio", "3"}, {"nonsense", "1"}}, "nonsense"},
      {{{"sweep_ratio", "3"}, {"min_blob_size", "many"}}, "min_blob_size is \"many\"; legal is 0 to"},
      {{{"sweep_ratio", "3"}, {"max_write_buffer_number", "1"}}, "max_write_buffer_number is 1; legal is 2 to 64"},
      {{{"sweep_ratio", "3"}, {"page_size", "1024"}}, "page_size is \"1024\"; it can't be changed"},
      {{{"sweep_ratio", "3"}, {"level0_stop_writes_trigger", "1"}}, "level0_stop_writes_trigger is 1"},
      {{{"sweep_ratio", "3"}, {"blob_compression_type", "kZlibCompression"}}, "blob_compression_type"},
  };
  for (const auto& c : kCases) {
    const Status s = store.db->SetOptions(c.changes);
    EXPECT_TRUE(s.IsInvalidArgument() || s.IsNotSupported()) << s.ToString();
    EXPECT_NE(s.ToString().find(c.says), std::string::npos) << s.ToString();
    EXPECT_TRUE(SameOptions<ColumnFamilyOptions>(store.db->GetOptions(), before)) << c.says;
  }
  const Status s = store.db->SetDBOptions({{"page_cache_size", "1M"}, {"max_total_wal_size", "1"}});
  EXPECT_NE(s.ToString().find("max_total_wal_size is 1; legal is 0, or 4096 to"), std::string::npos) << s.ToString();
  EXPECT_TRUE(SameOptions<DBOptions>(store.db->GetOptions(), before));
  EXPECT_EQ(store.FilesOf("OPTIONS").size(), 1u) << "what changed nothing writes nothing";

  ExpectSet(&store, {{"sweep_ratio", " 3 "}, {"min_blob_size", "1K"}, {"max_write_buffer_number", "7"}});
  EXPECT_EQ(store.db->GetOptions().sweep_ratio, 3);
  EXPECT_EQ(store.db->GetOptions().min_blob_size, 1024u);
  EXPECT_EQ(store.db->GetOptions().max_write_buffer_number, 7);
  ASSERT_TRUE(store.db->SetDBOptions({{"max_total_wal_size", "0"}}).ok());
  EXPECT_EQ(store.db->GetOptions().max_total_wal_size, 1u << 30) << "the default that 0 stands for";
}

TEST(SetOptionsTest, OptionsApplyToOneFamilyUntilClose) {
  TestStore store;
  store.MustOpen();
  ColumnFamilyHandle* one = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "one", &one).ok());
  ASSERT_TRUE(store.db->SetOptions(one, {{"min_blob_size", "33"}}).ok());
  EXPECT_EQ(store.db->GetOptions(one).min_blob_size, 33u);
  EXPECT_EQ(store.db->GetOptions().min_blob_size, store.options.min_blob_size);
  ColumnFamilyDescriptor descriptor;
  ASSERT_TRUE(one->GetDescriptor(&descriptor).ok());
  EXPECT_EQ(descriptor.options.min_blob_size, 33u);

  EXPECT_TRUE(store.db->SetOptions(nullptr, {{"min_blob_size", "33"}}).IsInvalidArgument());
  ASSERT_TRUE(store.db->DropColumnFamily(one).ok());
  EXPECT_TRUE(store.db->SetOptions(one, {{"min_blob_size", "34"}}).IsColumnFamilyDropped());
  EXPECT_EQ(store.db->GetOptions(one).min_blob_size, 33u);
  delete one;
  ExpectSet(&store, {{"min_blob_size", "44"}});
  store.Reopen();
  EXPECT_EQ(store.db->GetOptions().min_blob_size, store.options.min_blob_size) << "Open takes what it is given";
}

// ---- Effects ----

TEST(SetOptionsTest, MemtableOptionsApplyFromTheNextWrite) {
  TestStore store;
  store.options.write_buffer_size = 1 << 20;
  store.options.max_total_wal_size = 1 << 30;
  store.MustOpen();
  int next = 0;
  const auto put = [&](std::size_t bytes) { store.Put("k" + std::to_string(next++), std::string(bytes, 'v')); };
  for (int i = 0; i < 500; ++i) put(40);
  EXPECT_EQ(store.Property("num-immutable-mem-table"), 0u);
  ExpectSet(&store, {{"write_buffer_size", "8K"}});
  put(40);
  EXPECT_EQ(store.Property("num-immutable-mem-table"), 1u);
  ExpectSet(&store, {{"write_buffer_size", "4K"}, {"max_write_buffer_number", "3"}});
  WriteOptions no_wait;
  no_wait.no_slowdown = true;
  Status s;
  while ((s = store.db->Put(no_wait, "k" + std::to_string(next++), std::string(40, 'v'))).ok()) ASSERT_LT(next, 5000);
  ASSERT_TRUE(s.IsIncomplete()) << s.ToString();
  EXPECT_EQ(store.Property("num-immutable-mem-table"), 2u);
  ExpectSet(&store, {{"max_write_buffer_number", "4"}});
  EXPECT_TRUE(store.db->Put(no_wait, "more", "v").ok());
  store.RunUntilIdle();

  // Limits the length of the log.
  ExpectSet(&store, {{"write_buffer_size", "1M"}});
  store.Flush();
  const std::uint64_t flushed = store.Property("num-entries-active-mem-table");
  EXPECT_EQ(flushed, 0u);
  for (int i = 0; i < 50; ++i) put(400);
  EXPECT_EQ(store.Property("num-immutable-mem-table"), 0u);
  ASSERT_TRUE(store.db->SetDBOptions({{"max_total_wal_size", "4K"}}).ok());
  put(400);
  EXPECT_EQ(store.Property("num-immutable-mem-table"), 1u);

  ASSERT_TRUE(store.db->SetDBOptions({{"page_cache_size", "3M"}}).ok());
  EXPECT_EQ(store.Property("page-cache-capacity"), 3u << 20);
}

// The references from the index into the log, and their bytes.
VerifyReport ReportOf(TestStore* store) {
  Options copy = store->options;
  copy.file_system = std::make_shared<SimFileSystem>(store->fs->Snapshot());
  VerifyReport report;
  const Status s = VerifyDB(kStorePath, copy, {.deep = true}, &report);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(report.problems.empty()) << report.problems.front();
  return report;
}

TEST(SetOptionsTest, ValueOptionsApplyFromTheNextWrite) {
  TestStore store;
  store.options.min_blob_size = 100;
  store.MustOpen();
  store.Put("a", std::string(101, 'a'));
  ExpectSet(&store, {{"min_blob_size", "120"}});
  store.Put("b", std::string(101, 'b'));  // inline
  store.Flush();
  EXPECT_EQ(ReportOf(&store).live_references, 1u);
  ExpectSet(&store, {{"enable_blob_files", "false"}});
  store.Put("a", std::string(125, 'a'));  // inline too: a quarter of a page unit is 128 bytes
  store.Flush();
  store.Compact();
  EXPECT_EQ(ReportOf(&store).live_references, 0u);

  ExpectSet(&store, {{"enable_blob_files", "true"}, {"large_value_size", "4K"}});
  const std::size_t large = store.FilesOf(".val").size();
  store.Put("c", std::string(5'000, 'c'));
  EXPECT_EQ(store.FilesOf(".val").size(), large + 1);
  ExpectSet(&store, {{"large_value_size", "8K"}});
  store.Put("d", std::string(5'000, 'd'));
  EXPECT_EQ(store.FilesOf(".val").size(), large + 1);
  store.Flush();
  const std::uint64_t raw = ReportOf(&store).live_bytes;
  ExpectSet(&store, {{"blob_compression_type", "kLZ4Compression"}});
  store.Put("d", std::string(5'000, 'd'));
  store.Compact();
  EXPECT_LT(ReportOf(&store).live_bytes, raw - 4'000);
  EXPECT_EQ(store.Get("d"), std::string(5'000, 'd'));
}

TEST(SetOptionsTest, IndexOptionsApplyFromTheNextFlushOrCompaction) {
  TestStore store;
  store.options.filter_bits_per_key = 0;
  store.options.write_buffer_size = 1 << 20;
  store.options.sweep_ratio = 1;
  store.options.level0_file_num_compaction_trigger = 100;
  store.options.level0_slowdown_writes_trigger = 200;
  store.options.level0_stop_writes_trigger = 300;
  store.options.target_file_size_base = 1 << 20;
  store.MustOpen();
  const bool is_lsm = store.options.index_type == IndexKind::kLsm;
  const auto fill = [&](int every) {
    for (int i = 0; i < 2000; i += every) store.Put("k" + std::to_string(10'000 + i), "v");
    store.Flush();
  };
  fill(1);
  store.Compact();
  store.executor->RunAll();
  const auto newest_run = [&] {
    const std::vector<std::string> runs = store.FilesOf(".run");
    EXPECT_FALSE(runs.empty());
    std::string bytes;
    EXPECT_TRUE(runs.empty() || store.fs->probe().ReadContents(runs.back(), &bytes).ok());
    return bytes.size();
  };
  fill(10);
  const std::size_t without_filter = newest_run();
  ExpectSet(&store, {{"filter_bits_per_key", "64"}});
  fill(10);
  EXPECT_GE(newest_run(), without_filter + 200 * 64 / 8);
  store.executor->RunAll();
  EXPECT_EQ(store.Property("num-runs"), 2u);
  EXPECT_EQ(store.Property("compaction-pending"), 0u);
  // If a change of options makes work due, that work is started at once.
  ExpectSet(&store, {{is_lsm ? "level0_file_num_compaction_trigger" : "sweep_ratio", is_lsm ? "2" : "20"}});
  store.executor->RunAll();
  EXPECT_EQ(store.Property("num-runs"), 0u);
  if (is_lsm) {
    ExpectSet(&store, {{"filter_bits_per_key", "0"}});
    fill(1);
    store.Compact();
    const std::uint64_t raw = store.Property("index-bytes");
    ExpectSet(&store, {{"compression", "kZSTD"}});
    fill(1);
    store.Compact();
    EXPECT_LT(store.Property("index-bytes"), raw * 3 / 4);
  }
  EXPECT_EQ(store.Get("k10000"), "v");
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
}

// ---- A changing threshold ----

// One step in the life of a key. Each key goes through one sequence of steps; together the keys cover all sequences.
enum class Step : int { kSmall, kMiddle, kLarge, kOwnFile, kDelete };
constexpr int kSteps = 5;
constexpr int kLength = 3;

// The boundary between two steps of all keys.
enum class Boundary : int { kNone, kFlush, kCompact, kReopen, kKill };
constexpr int kBoundaries = 5;
constexpr std::uint64_t kThresholds[] = {0, 20, 60, 1'000'000};

std::string ValueOf(Step step, int key, int at) {
  constexpr std::size_t kSizes[] = {10, 40, 300, 9'000};
  return std::string(kSizes[static_cast<int>(step)], static_cast<char>('a' + (key + at) % 26));
}

void Cross(TestStore* store, Boundary boundary) {
  switch (boundary) {
    case Boundary::kNone: break;
    case Boundary::kFlush: store->Flush(); break;
    case Boundary::kCompact: store->Compact(); break;
    case Boundary::kReopen: store->Reopen(); break;
    case Boundary::kKill:
      auto after = std::make_shared<SimFileSystem>(store->fs->Snapshot());
      store->db.reset();
      store->fs = after;
      store->options.file_system = after;
      store->MustOpen();
  }
}

// Writes small, large and deleted values in every order, with every boundary of layers between them. Thresholds change
// by SetOptions and by a reopen. Reads are right at each moment, and accounts agree with the layers.
TEST(SetOptionsTest, ChangingMinBlobSizeKeepsReadsAndAccountsRight) {
  const std::uint64_t seed = SeedFromEnvironment(0xb10b);
  Prng prng(seed);
  int keys = 1;
  for (int i = 0; i < kLength; ++i) keys *= kSteps;
  int programs = 1;
  for (int i = 0; i < kLength; ++i) programs *= kBoundaries;
  for (int program = 0; program < programs; ++program) {
    if (kUnderSanitizer && !prng.OneIn(10)) continue;
    TestStore store;
    store.options.write_buffer_size = 1 << 20;
    if (prng.OneIn(3)) store.options.blob_compression_type = CompressionType::kLZ4Compression;
    store.options.min_blob_size = kThresholds[prng.Uniform(4)];
    store.MustOpen();
    std::map<std::string, std::string> model;
    std::string trace = "CAMBIUM_SEED=" + std::to_string(seed) + " boundaries";
    int boundaries = program;
    for (int at = 0, divisor = 1; at < kLength; ++at, divisor *= kSteps, boundaries /= kBoundaries) {
      for (int k = 0; k < keys; ++k) {
        const std::string key = "key" + std::to_string(1000 + k);
        const Step step = static_cast<Step>(k / divisor % kSteps);
        // One file per value takes time, and 25 keys show as much as 125.
        const bool too_many = step == Step::kOwnFile && k % 5 != 0;
        if (step == Step::kDelete || too_many) {
          ASSERT_TRUE(store.db->Delete({}, key).ok());
          model.erase(key);
        } else {
          store.Put(key, model[key] = ValueOf(step, k, at));
        }
      }
      const auto boundary = static_cast<Boundary>(boundaries % kBoundaries);
      const std::uint64_t threshold = kThresholds[prng.Uniform(4)];
      trace += " " + std::to_string(static_cast<int>(boundary)) + ", then threshold " + std::to_string(threshold) + ";";
      SCOPED_TRACE(trace);
      if (prng.OneIn(2)) ExpectSet(&store, {{"min_blob_size", std::to_string(threshold)}});
      store.options.min_blob_size = threshold;  // for the next Open
      Cross(&store, boundary);
      if (::testing::Test::HasFatalFailure()) return;
      for (int k = 0; k < keys; ++k) {
        const std::string key = "key" + std::to_string(1000 + k);
        const auto expected = model.find(key);
        ASSERT_EQ(store.Get(key), expected == model.end() ? "NotFound" : expected->second) << key;
      }
      ASSERT_EQ(store.Verify(), "");
    }
    store.Compact();
    store.executor->RunAll();
    const std::unique_ptr<Iterator> all(store.db->NewIterator({}));
    auto expected = model.begin();
    for (all->SeekToFirst(); all->Valid(); all->Next(), ++expected) {
      ASSERT_NE(expected, model.end());
      ASSERT_EQ(all->key(), Slice(expected->first));
      ASSERT_EQ(all->value(), Slice(expected->second));
    }
    ASSERT_EQ(expected, model.end());
    ASSERT_EQ(store.Verify(), "");
  }
}

// With threads: changes of options concurrent with writers, readers and background work.
TEST(SetOptionsTest, SetOptionsRunsConcurrentlyWithAllCalls) {
  TestStore store;
  store.options.executor = nullptr;
  store.options.max_background_jobs = 2;
  store.MustOpen();
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  std::atomic<std::uint64_t> rounds{0};
  const auto value_of = [](int i) {
    return std::string(static_cast<std::size_t>(i * 37 % 400), static_cast<char>('a' + i % 26));
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      for (int i = t; !stop.load(); i += 2) {
        if (!store.db->Put({}, "k" + std::to_string(i % 500), value_of(i % 500)).ok()) ++failures;
        std::string value;
        const Status s = store.db->Get({}, "k" + std::to_string(i % 500), &value);
        if (!s.ok() || value != value_of(i % 500)) ++failures;
        if (store.db->GetOptions().min_blob_size > 500) ++failures;
        ++rounds;
      }
    });
  }
  Prng prng(SeedFromEnvironment(0x7e5));
  while (rounds.load() < ScaledCount(20'000)) {
    const char* const codec = prng.OneIn(2) ? "kNoCompression" : "kLZ4Compression";
    const Status s = store.db->SetOptions({{"min_blob_size", std::to_string(prng.Uniform(500))},
                                           {"write_buffer_size", std::to_string(prng.Between(4096, 40'000))},
                                           {"max_write_buffer_number", std::to_string(prng.Between(2, 6))},
                                           {"sweep_ratio", std::to_string(prng.Between(1, 30))},
                                           {"blob_compression_type", codec},
                                           {"filter_bits_per_key", std::to_string(prng.Uniform(20))},
                                           {"level0_file_num_compaction_trigger", std::to_string(prng.Between(1, 6))}});
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_TRUE(store.db->SetDBOptions({{"page_cache_size", std::to_string(prng.Between(64 << 10, 1 << 20))},
                                        {"max_total_wal_size", std::to_string(prng.Between(16 << 10, 1 << 20))}})
                    .ok());
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures.load(), 0);
  ASSERT_TRUE(store.db->WaitForCompact().ok());
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing
