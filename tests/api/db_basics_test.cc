// Every call of the public interface, with sizes around the limits between inline, separated and large values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "testing/test_store.h"
#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "testing/test_comparators.h"
#include "util/prng.h"

namespace cambium::testing::db_basics_test {
namespace {

constexpr std::size_t kSizes[] = {0, 1, 63, 64, 65, 127, 128, 129, 511, 512, 4095, 8191, 8192, 8193, 70'000};

std::string ValueOf(std::size_t size) { return std::string(size, static_cast<char>('a' + size % 26)); }

TEST(DbBasicsTest, ValuesOfEverySizeAreReadFromEveryLayer) {
  for (const CompressionType compression :
       {CompressionType::kNoCompression, CompressionType::kLZ4Compression, CompressionType::kZSTD}) {
    TestStore store;
    store.options.blob_compression_type = compression;
    store.MustOpen();
    const auto check = [&] {
      for (const std::size_t size : kSizes) ASSERT_EQ(store.Get("key" + std::to_string(size)), ValueOf(size));
      ASSERT_EQ(store.Get("key2"), "NotFound");
      ASSERT_EQ(store.Verify(), "");
    };
    for (const std::size_t size : kSizes) store.Put("key" + std::to_string(size), ValueOf(size));
    check();  // from the memtable
    store.Reopen();
    check();  // after replay
    store.Flush();
    check();  // from a run or the tree
    store.Compact();
    check();  // from the tree
    store.Reopen();
    check();
  }
}

TEST(DbBasicsTest, EmptyAndLargestKeysAreValid) {
  TestStore store;
  store.options.page_size = 4096;
  store.MustOpen();
  const std::string longest(kMaxKeyBytes, 'k');
  const Status s = store.db->Put({}, longest, "long");
  ASSERT_TRUE(s.ok()) << s.ToString();
  store.Put("", "empty");
  store.Put(Slice("\0", 1), "zero");
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(store.Get(""), "empty");
    EXPECT_EQ(store.Get(Slice("\0", 1)), "zero");
    EXPECT_EQ(store.Get(longest), "long");
    const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key(), Slice(""));
    it->SeekForPrev("");
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->value(), Slice("empty"));
    if (round == 0) store.Flush();
    if (round == 1) store.Compact();
  }
  ASSERT_TRUE(store.db->Delete({}, "").ok());
  EXPECT_EQ(store.Get(""), "NotFound");
}

TEST(DbBasicsTest, TooLargeKeysAndValuesAreRejectedWithTheLimit) {
  TestStore store;
  store.options.page_size = 4096;
  store.MustOpen();
  const std::string key(kMaxKeyBytes + 1, 'k');
  for (const Status& s : {store.db->Put({}, key, "v"), store.db->Delete({}, key), store.db->SingleDelete({}, key),
                          store.db->Put({}, "k", Slice(key.data(), kMaxValueBytes + 1))}) {
    EXPECT_TRUE(s.IsInvalidArgument());
    EXPECT_NE(s.ToString().find("the most is"), std::string::npos) << s.ToString();
  }
  EXPECT_EQ(store.db->GetLatestSequenceNumber(), 0u);
  EXPECT_EQ(store.Get(key), "NotFound");
}

TEST(DbBasicsTest, DeletesHideOlderValuesInEveryLayer) {
  TestStore store;
  store.MustOpen();
  for (int i = 0; i < 30; ++i) store.Put(std::to_string(i), ValueOf(100));
  store.Flush();
  store.Compact();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(store.db->Delete({}, std::to_string(i)).ok());
  store.Flush();
  for (int i = 10; i < 20; ++i) ASSERT_TRUE(store.db->SingleDelete({}, std::to_string(i)).ok());
  ASSERT_TRUE(store.db->Delete({}, "never there").ok());
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 30; ++i) ASSERT_EQ(store.Get(std::to_string(i)) == "NotFound", i < 20) << i;
    if (round == 0) store.Reopen();
    if (round == 1) store.Compact();
  }
  store.Put("3", "again");
  EXPECT_EQ(store.Get("3"), "again");
}

TEST(DbBasicsTest, BatchIsAtomicAndItsLastOperationOnAKeyWins) {
  TestStore store;
  store.MustOpen();
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "1").ok());
  ASSERT_TRUE(batch.Put("b", ValueOf(9000)).ok());
  ASSERT_TRUE(batch.Delete("a").ok());
  ASSERT_TRUE(batch.Put("b", ValueOf(100)).ok());
  ASSERT_TRUE(store.db->Write({}, &batch).ok());
  EXPECT_EQ(store.db->GetLatestSequenceNumber(), 4u);
  EXPECT_EQ(store.Get("a"), "NotFound");
  EXPECT_EQ(store.Get("b"), ValueOf(100));
  WriteBatch empty;
  EXPECT_TRUE(store.db->Write({}, &empty).ok());
  WriteOptions sync;
  sync.sync = true;
  EXPECT_TRUE(store.db->Write(sync, &empty).ok());
  EXPECT_EQ(store.Property("durable-sequence"), 4u);
  EXPECT_EQ(store.db->GetLatestSequenceNumber(), 4u);
}

TEST(DbBasicsTest, MultiGetReturnsResultsInTheOrderOfTheKeys) {
  TestStore store;
  store.MustOpen();
  for (const std::size_t size : kSizes) store.Put("key" + std::to_string(size), ValueOf(size));
  store.Flush();
  store.Put("key1", "new");
  const std::vector<Slice> keys = {"key8193", "absent", "key1", "key0", "key1"};
  std::vector<std::string> values = {"left over"};
  const std::vector<Status> statuses = store.db->MultiGet({}, keys, &values);
  ASSERT_EQ(statuses.size(), 5u);
  ASSERT_EQ(values.size(), 5u);
  EXPECT_TRUE(statuses[0].ok() && values[0] == ValueOf(8193));
  EXPECT_TRUE(statuses[1].IsNotFound());
  EXPECT_TRUE(statuses[2].ok() && values[2] == "new");
  EXPECT_TRUE(statuses[3].ok() && values[3].empty());
  EXPECT_TRUE(statuses[4].ok() && values[4] == "new");
  PinnableSlice pinned[5];
  Status each[5];
  store.db->MultiGet({}, keys.size(), keys.data(), pinned, each);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(each[i].code(), statuses[i].code());
    if (each[i].ok()) {
      EXPECT_EQ(pinned[i], Slice(values[i]));
    }
  }
  EXPECT_TRUE(store.db->MultiGet({}, {}, &values).empty());
  EXPECT_TRUE(values.empty());
}

TEST(DbBasicsTest, PinnableSliceMovesWithItsBytes) {
  TestStore store;
  store.MustOpen();
  store.Put("short", "s");
  store.Put("long", ValueOf(5000));
  for (const char* key : {"short", "long"}) {
    const std::string expected = store.Get(key);
    PinnableSlice first;
    ASSERT_TRUE(store.db->Get({}, key, &first).ok());
    PinnableSlice second = std::move(first);
    EXPECT_EQ(second, Slice(expected));
    EXPECT_TRUE(first.empty());  // NOLINT: a moved-from slice is empty, as its header says
    PinnableSlice third;
    third.PinSelf("something else");
    third = std::move(second);
    EXPECT_EQ(third, Slice(expected));
    ASSERT_TRUE(store.db->Put({}, key, "overwritten").ok());
    EXPECT_EQ(third, Slice(expected));
    ASSERT_TRUE(store.db->Get({}, "absent", &third).IsNotFound());
    EXPECT_TRUE(third.empty());
  }
}

TEST(DbBasicsTest, DurableOnlyReadsDataThatSurvivesAPowerCut) {
  TestStore store;
  store.MustOpen();
  store.Put("k", "synced", true);
  store.Put("k", "not synced");
  ReadOptions durable;
  durable.durable_only = true;
  EXPECT_EQ(store.Get("k"), "not synced");
  EXPECT_EQ(store.Get("k", durable), "synced");
  const std::unique_ptr<Iterator> it(store.db->NewIterator(durable));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), Slice("synced"));
  ASSERT_TRUE(store.db->SyncWAL().ok());
  EXPECT_EQ(store.Get("k", durable), "not synced");
  const ManagedSnapshot snapshot(store.db.get());
  durable.snapshot = snapshot.snapshot();
  std::string value;
  EXPECT_TRUE(store.db->Get(durable, "k", &value).IsInvalidArgument());
  const std::unique_ptr<Iterator> refused(store.db->NewIterator(durable));
  EXPECT_TRUE(refused->status().IsInvalidArgument());
}

TEST(DbBasicsTest, SyncWalAndFlushWalMakeWritesDurable) {
  TestStore store;
  store.MustOpen();
  store.Put("a", "1");
  EXPECT_TRUE(store.db->FlushWAL(false).ok());
  EXPECT_EQ(store.Property("durable-sequence"), 0u);
  EXPECT_TRUE(store.db->FlushWAL(true).ok());
  EXPECT_EQ(store.Property("durable-sequence"), 1u);
  WriteOptions none;
  none.disableWAL = true;
  EXPECT_TRUE(store.db->Put(none, "b", "2").ok());
  EXPECT_EQ(store.Get("b"), "2");
  none.sync = true;
  EXPECT_TRUE(store.db->Put(none, "c", "3").IsInvalidArgument());
  EXPECT_EQ(store.Get("c"), "NotFound");
}

// Tasks run only while a call waits. So with no_slowdown the memtables fill up, and the write is Incomplete.
TEST(DbBasicsTest, NoSlowdownIsIncompleteIfTheWriteWouldWait) {
  TestStore store;
  store.options.write_buffer_size = 4096;
  store.options.max_write_buffer_number = 2;
  store.MustOpen();
  WriteOptions options;
  options.no_slowdown = true;
  Status s;
  int written = 0;
  while (s.ok() && written < 1000) {
    s = store.db->Put(options, "k" + std::to_string(written), ValueOf(50));
    if (s.ok()) ++written;
  }
  ASSERT_TRUE(s.IsIncomplete()) << s.ToString();
  EXPECT_EQ(store.Get("k" + std::to_string(written)), "NotFound");
  EXPECT_EQ(store.Get("k" + std::to_string(written - 1)), ValueOf(50));
  store.executor->RunAll();
  EXPECT_TRUE(store.db->Put(options, "k" + std::to_string(written), ValueOf(50)).ok());
  store.RunUntilIdle();
  EXPECT_EQ(store.Verify(), "");
}

TEST(DbBasicsTest, MissingFeaturesAreNotSupported) {
  TestStore store;
  store.MustOpen();
  EXPECT_TRUE(store.db->Merge({}, "k", "v").IsNotSupported());
  EXPECT_TRUE(store.db->IngestExternalFile({"/file"}).IsNotSupported());
  EXPECT_TRUE(store.db->Resume().ok());  // there is no error to resume from
  EXPECT_EQ(store.db->GetName(), kStorePath);
}

TEST(DbBasicsTest, CloseFailsWhileSnapshotsOrIteratorsExist) {
  TestStore store;
  store.MustOpen();
  store.Put("k", "v");
  const Snapshot* snapshot = store.db->GetSnapshot();
  EXPECT_TRUE(store.db->Close().IsAborted());
  EXPECT_EQ(store.Get("k"), "v");  // the database is still open
  store.Put("k", "w");
  store.db->ReleaseSnapshot(snapshot);
  std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  EXPECT_TRUE(store.db->Close().IsAborted());
  it.reset();
  EXPECT_TRUE(store.db->Close().ok());
  EXPECT_TRUE(store.db->Close().ok());
}

TEST(DbBasicsTest, CallsOnAClosedDatabaseFailWithoutEffect) {
  TestStore store;
  store.MustOpen();
  store.Put("k", "v");
  ASSERT_TRUE(store.db->Close().ok());
  const auto before = store.Files();
  std::string value;
  PinnableSlice pinned;
  std::vector<std::string> values;
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("a", "b").ok());
  DB& db = *store.db;
  const Status refused[] = {db.Put({}, "k", "v"), db.Delete({}, "k"), db.SingleDelete({}, "k"), db.Write({}, &batch),
                            db.Get({}, "k", &value), db.Get({}, "k", &pinned), db.MultiGet({}, {"k"}, &values)[0],
                            db.Flush({}), db.SyncWAL(), db.FlushWAL(true), db.CompactRange({}, nullptr, nullptr),
                            db.WaitForCompact(), std::unique_ptr<Iterator>(db.NewIterator({}))->status()};
  for (const Status& s : refused) EXPECT_TRUE(s.IsShutdownInProgress()) << s.ToString();
  EXPECT_EQ(db.GetSnapshot(), nullptr);
  std::uint64_t number = 0;
  std::map<std::string, std::string> map;
  EXPECT_FALSE(db.GetProperty("cambium.stats", &value));
  EXPECT_FALSE(db.GetIntProperty("cambium.num-runs", &number));
  EXPECT_FALSE(db.GetMapProperty("cambium.index-stats", &map));
  store.db.reset();
  EXPECT_EQ(store.Files(), before);
}

// The rows of the table of properties: name, and whether it is a number.
std::map<std::string, bool> DocumentedProperties() {
  std::map<std::string, bool> found;
  std::ifstream document(CAMBIUM_SOURCE_DIR "/docs/OPTIONS.md");
  bool is_inside = false;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("#")) is_inside = line == "### Properties";
    if (!is_inside || !line.starts_with("| `")) continue;
    std::string name = line.substr(3, line.find('`', 3) - 3);
    if (name.ends_with("<N>")) name.replace(name.size() - 3, 3, "0");
    found[name] = line.ends_with("| number |");
  }
  return found;
}

TEST(DbBasicsTest, EveryDocumentedPropertyHasAllPrefixes) {
  TestStore store;
  store.MustOpen();
  for (int i = 0; i < 500; ++i) store.Put(std::to_string(i), ValueOf(100));
  store.Flush();
  const std::map<std::string, bool> documented = DocumentedProperties();
  ASSERT_GT(documented.size(), 35u);
  for (const std::string prefix : {"rocksdb.", "cambium.", "leveldb."}) {
    for (const auto& [name, is_number] : documented) {
      std::uint64_t number = 0;
      std::string text;
      EXPECT_EQ(store.db->GetIntProperty(prefix + name, &number), is_number) << name;
      EXPECT_TRUE(store.db->GetProperty(prefix + name, &text)) << name;
      EXPECT_EQ(text.empty(), name == "options-statistics") << name << " without statistics: " << text;
    }
    for (const char* name : {"stats", "index-stats", "blob-stats"}) {
      std::string text;
      EXPECT_TRUE(store.db->GetProperty(prefix + name, &text)) << name;
      EXPECT_NE(text.find(':'), std::string::npos);
    }
    std::map<std::string, std::string> map;
    EXPECT_TRUE(store.db->GetMapProperty(prefix + "index-stats", &map));
    EXPECT_EQ(map.count("runs"), 1u);
    EXPECT_EQ(map["index"], TestsUseLsm() ? "lsm" : "btree");
  }
  std::string text;
  for (const char* unknown : {"", "cambium.", "num-runs", "lmdb.stats", "cambium.no-such-thing", "leveldb.no-such-thing"}) {
    EXPECT_FALSE(store.db->GetProperty(unknown, &text)) << unknown;
  }
  EXPECT_EQ(store.Property("estimate-num-keys"), 500u);
  const ManagedSnapshot snapshot(store.db.get());
  EXPECT_EQ(store.Property("num-snapshots"), 1u);
  EXPECT_EQ(store.Property("oldest-snapshot-sequence"), 500u);
}

// A wrong filter hides keys from lookups, so verification checks that filters have every key.
TEST(DbBasicsTest, VerifyChecksFiltersAgainstKeys) {
  for (const bool is_wrong : {false, true}) {
    TestStore store;
    store.options.index_type = IndexKind::kLsm;
    store.MustOpen();
    const MutantScope mutant(is_wrong ? Mutant::kForgetFilterKeys : Mutant::kNone);
    for (int i = 0; i < 100; ++i) store.Put("key" + std::to_string(i), "v");
    store.Flush();
    const std::string problems = store.Verify();
    EXPECT_EQ(problems.find("is missing from the run's filter") != std::string::npos, is_wrong) << problems;
    EXPECT_EQ(std::count(problems.begin(), problems.end(), '\n'), is_wrong ? 1 : 0) << "one of a run is enough";
    int lost = 0;
    for (int i = 0; i < 100; ++i) lost += store.Get("key" + std::to_string(i)) == "v" ? 0 : 1;
    EXPECT_EQ(lost > 0, is_wrong);
  }
}

TEST(DbBasicsTest, LevelPropertiesCountFilesLikeRocksDb) {
  TestStore store;
  store.MustOpen();
  const auto files_at = [&](int level) {
    std::string text;
    return store.db->GetProperty("rocksdb.num-files-at-level" + std::to_string(level), &text) ? text : "none";
  };
  for (int i = 0; i < 500; ++i) store.Put(std::to_string(i), ValueOf(10));
  store.Compact();
  store.Put("a", "1");
  store.Flush();
  std::string table;
  ASSERT_TRUE(store.db->GetProperty("rocksdb.levelstats", &table));
  EXPECT_EQ(table.rfind("Level Files Size(MB)\n--------------------\n  0 ", 0), 0u) << table;
  EXPECT_EQ(static_cast<int>(std::count(table.begin(), table.end(), '\n')), 2 + store.options.num_levels);
  EXPECT_EQ(files_at(0), std::to_string(store.Property("num-runs")));
  int in_levels = 0;
  for (int level = 1; level < store.options.num_levels; ++level) in_levels += std::stoi(files_at(level));
  EXPECT_EQ(in_levels > 0, TestsUseLsm()) << "a tree has no levels";
  EXPECT_EQ(files_at(store.options.num_levels), "none");
  EXPECT_EQ(files_at(-1), "none");
}

// 300 keys, flushed one by one: the figures count the flushed keys and add up.
TEST(DbBasicsTest, IndexStatsCountBytesOfFlushesAndCompactions) {
  TestStore store;
  store.MustOpen();
  for (int i = 0; i < 300; ++i) {
    store.Put(std::to_string(i), ValueOf(10));
    if (i % 100 == 99) store.Flush();
  }
  store.Compact();
  std::map<std::string, std::string> stats;
  ASSERT_TRUE(store.db->GetMapProperty("cambium.index-stats", &stats));
  const auto number = [&](const std::string& name) { return std::strtod(stats[name].c_str(), nullptr); };
  EXPECT_EQ(stats["flushes"], "3");
  EXPECT_EQ(stats["flushed_keys"], "300");
  EXPECT_EQ(stats["runs"], "0") << "all is compacted";
  EXPECT_GT(number("flush_bytes") + number("merge_bytes"), 300 * 10.0);
  EXPECT_NEAR(number("index_bytes_per_update"), (number("flush_bytes") + number("merge_bytes")) / 300, 0.01);
  EXPECT_NEAR(number("law_bytes_per_update"), number("law_bytes") / 300, 0.01);
  EXPECT_GT(number("law_bytes"), 300 * 10.0);
  if (TestsUseLsm()) {
    EXPECT_GT(number("compactions"), 0);
    EXPECT_EQ(number("levels"), 1);
  } else {
    EXPECT_EQ(stats["tree_keys"], "300");
    EXPECT_GT(number("straight_merges") + number("sweeps"), 0);
  }
}

TEST(DbBasicsTest, SequenceNumbersContinueAfterReopen) {
  TestStore store;
  store.MustOpen();
  for (SequenceNumber i = 1; i <= 40; ++i) {
    store.Put("k", ValueOf(i));
    ASSERT_EQ(store.db->GetLatestSequenceNumber(), i);
    if (i % 7 == 0) store.Flush();
    if (i % 5 == 0) store.Reopen();
    ASSERT_EQ(store.db->GetLatestSequenceNumber(), i);
  }
}

// The same random operations under each comparator, compared with a map in that order.
void RunUnderComparator(const Comparator* comparator) {
  SCOPED_TRACE(comparator->Name());
  Prng prng(SeedFromEnvironment(61));
  TestStore store;
  store.options.comparator = comparator;
  store.MustOpen();
  const auto less = [&](const std::string& a, const std::string& b) { return comparator->Compare(a, b) < 0; };
  std::map<std::string, std::string, decltype(less)> model(less);
  for (int i = 0; i < 1500; ++i) {
    std::string key = prng.Bytes(prng.Skewed(2));
    for (char& c : key) c = "abAB\xff"[static_cast<unsigned char>(c) % 5];
    if (prng.OneIn(4)) {
      ASSERT_TRUE(store.db->Delete({}, key).ok());
      model.erase(key);
    } else {
      const std::string value = std::to_string(i) + ValueOf(prng.Skewed(8));
      store.Put(key, value);
      model[key] = value;
    }
    if (prng.OneIn(200)) store.Flush();
    if (prng.OneIn(300)) store.Compact();
    if (prng.OneIn(400)) store.Reopen();
    if (!prng.OneIn(50)) continue;
    const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
    it->SeekToFirst();
    for (const auto& [k, v] : model) {
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(comparator->Compare(it->key(), k), 0);
      ASSERT_EQ(it->value(), Slice(v));
      ASSERT_EQ(store.Get(k), v);
      it->Next();
    }
    ASSERT_FALSE(it->Valid());
    ASSERT_TRUE(it->status().ok());
  }
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
}

TEST(DbBasicsTest, DatabaseUsesTheComparatorsOrder) {
  RunUnderComparator(BytewiseComparator());
  RunUnderComparator(ReverseBytewiseComparator());
  RunUnderComparator(LengthFirstComparator());
}

// Keys that are equal but have different bytes: the second put overwrites the first, in every layer.
TEST(DbBasicsTest, EqualKeysMayDifferInBytes) {
  RunUnderComparator(CaseFoldingComparator());
  TestStore store;
  store.options.comparator = CaseFoldingComparator();
  store.MustOpen();
  store.Put("Key", ValueOf(100));
  store.Flush();
  EXPECT_EQ(store.Get("kEY"), ValueOf(100));
  store.Put("KEY", "second");
  EXPECT_EQ(store.Get("key"), "second");
  store.Flush();
  EXPECT_EQ(store.Get("key"), "second");
  ASSERT_TRUE(store.db->Delete({}, "kEy").ok());
  store.Flush();
  EXPECT_EQ(store.Get("Key"), "NotFound");
  EXPECT_EQ(store.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing::db_basics_test
