// Every store of this build does what workloads ask of it, and its figures are true.
#include "engines/engine.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "engines/registry.h"
#include "flags/transaction_flags.h"
#include "meter/sampler.h"
#include "run/engine_config.h"
#include "testing/temp_directory.h"
#include "util/checksum.h"

namespace cambium::bench {
namespace {

struct Contender {
  std::string engine;
  std::string index;
  friend void PrintTo(const Contender& contender, std::ostream* out) { *out << contender.engine << "/" << contender.index; }
};

// The engines that can run here; Cambium with both indexes.
std::vector<Contender> Stores() {
  std::vector<Contender> stores;
  for (const EngineEntry& entry : Engines()) {
    if (!entry.is_store || !WhyUnavailable(entry).empty()) continue;
    stores.push_back({entry.name, "btree"});
    if (stores.back().engine == "cambium") stores.push_back({entry.name, "lsm"});
  }
  return stores;
}

bool IsThere(const std::string& engine) { return WhyUnavailable(*FindEngine(engine)).empty(); }

// Whether puts write values to a place where they stay.
bool KeepsValuesInLog(const std::string& engine) { return engine == "cambium" || engine == "rocksdb11_blob_direct"; }

class EngineTest : public ::testing::TestWithParam<Contender> {
 protected:
  EngineTest() : engine_(FindEngine(GetParam().engine)->make(Config())) {}
  ~EngineTest() override { EXPECT_EQ(engine_->Close().ToString(), "OK"); }

  [[nodiscard]] EngineConfig Config() const {
    EngineConfig config;
    config.path = path_;
    config.index = GetParam().index;
    config.num = 10'000;
    config.key_size = 16;
    config.value_size = 1000;
    config.cache_size = 8u << 20;
    config.write_buffer_size = 1u << 20;
    config.max_write_buffer_number = 2;
    config.compression_type = "none";
    config.min_blob_size = 512;
    config.blob_file_size = 4u << 20;
    return config;
  }
  // Replaces the engine by one whose database is opened for such transactions.
  void MakeForTransactions(TransactionKind kind, bool set_snapshot) {
    EngineConfig config = Config();
    config.transacts = true;
    config.transaction.kind = kind;
    config.transaction.set_snapshot = set_snapshot;
    ASSERT_EQ(engine_->Close().ToString(), "OK");
    ASSERT_EQ(engine_->Destroy().ToString(), "OK");
    engine_ = FindEngine(GetParam().engine)->make(config);
  }

  void Open(bool create) {
    ASSERT_EQ(engine_->Open(create).ToString(), "OK");
    ASSERT_EQ(engine_->BeginWrites({}).ToString(), "OK");
  }
  void Settle() {
    double idle = 0;
    ASSERT_EQ(engine_->Settle(&idle).ToString(), "OK");
  }
  static std::string Key(int i) {
    std::string key = std::to_string(i);
    return std::string(16 - key.size(), '0') + key;
  }
  static std::string Value(int i, char round) { return std::string(1000, round) + std::to_string(i); }
  void Fill(int count, char round) {
    const auto session = engine_->NewSession();
    for (int i = 0; i < count; ++i) ASSERT_EQ(session->Put(Key(i * 7919 % count), Value(i * 7919 % count, round)).ToString(), "OK");
    ASSERT_EQ(session->Finish().ToString(), "OK");
  }
  // Returns the bytes of all files whose names end with `suffix`.
  [[nodiscard]] std::uint64_t FileBytes(const std::string& suffix) const {
    std::uint64_t bytes = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(path_)) {
      if (file.is_regular_file() && file.path().string().ends_with(suffix)) bytes += file.file_size();
    }
    return bytes;
  }

  cambium::testing::TempDirectory directory_;
  const std::string path_ = directory_.File("store");
  std::unique_ptr<Engine> engine_;
};

TEST_P(EngineTest, KeepsWrittenData) {
  Open(true);
  Fill(2000, 'a');
  {
    const auto session = engine_->NewSession();
    ASSERT_TRUE(session->Put(Key(5), "new").ok());
    ASSERT_TRUE(session->Delete(Key(6)).ok());
    ASSERT_TRUE(session->Delete("a key that was never there").ok());
    ASSERT_TRUE(session->BatchPut(Key(7), "in a batch").ok());
    ASSERT_TRUE(session->BatchPut("z", "the last").ok());
    ASSERT_TRUE(session->CommitBatch().ok());
    ASSERT_TRUE(session->Finish().ok());
  }
  Settle();
  for (const bool is_reopened : {false, true}) {
    SCOPED_TRACE(is_reopened);
    if (is_reopened) {
      ASSERT_EQ(engine_->Close().ToString(), "OK");
      Open(false);
    }
    const auto session = engine_->NewSession();
    Slice value;
    ASSERT_EQ(session->Get(Key(5), &value), Lookup::kFound);
    EXPECT_EQ(value.ToString(), "new");
    EXPECT_EQ(session->Get(Key(6), &value), Lookup::kMissing);
    ASSERT_EQ(session->Get(Key(7), &value), Lookup::kFound);
    EXPECT_EQ(value.ToString(), "in a batch");
    const std::string one = Key(1);
    const std::string six = Key(6);
    const std::string two = Key(2);
    const std::array<Slice, 3> keys{Slice(one), Slice(six), Slice(two)};
    std::array<Slice, 3> values;
    std::array<Lookup, 3> lookups;
    session->MultiGet(keys, values, lookups);
    EXPECT_EQ(lookups, (std::array{Lookup::kFound, Lookup::kMissing, Lookup::kFound}));
    EXPECT_EQ(values[0].ToString(), Value(1, 'a'));
    EXPECT_EQ(values[2].ToString(), Value(2, 'a'));
    EXPECT_TRUE(session->error().ok());
  }
}

// Regression: LevelDB counts as settled when the process uses no CPU time. But the sampler always used some, since it
// counted the blocks of a directory with many files, so the wait never ended.
TEST_P(EngineTest, SettlesWhileManyFilesAreSampled) {
  Open(true);
  for (int i = 0; i < 3000; ++i) std::ofstream(path_ + "/other" + std::to_string(i));
  Sampler sampler(path_, [] { return std::uint64_t{0}; });
  Fill(2000, 'a');
  Settle();
}

TEST_P(EngineTest, CursorWalksInOrderBothWays) {
  Open(true);
  Fill(2000, 'a');
  Settle();
  const auto session = engine_->NewSession();
  for (const Fetch fetch : {Fetch::kEntries, Fetch::kKeys}) {
    const auto cursor = session->NewCursor(fetch);
    int count = 0;
    for (bool is_there = cursor->SeekToFirst(); is_there; is_there = cursor->Next()) {
      ASSERT_EQ(cursor->key().ToString(), Key(count));
      if (fetch == Fetch::kEntries) {
        ASSERT_EQ(cursor->value().ToString(), Value(count, 'a'));
      }
      ++count;
    }
    EXPECT_EQ(cursor->status().ToString(), "OK");
    EXPECT_EQ(count, 2000);
    for (bool is_there = cursor->SeekToLast(); is_there; is_there = cursor->Prev()) --count;
    EXPECT_EQ(count, 0);
    ASSERT_TRUE(cursor->Seek(Key(77)));
    EXPECT_EQ(cursor->key().ToString(), Key(77));
    ASSERT_TRUE(cursor->Seek(Key(77) + "x"));
    EXPECT_EQ(cursor->key().ToString(), Key(78));
    EXPECT_FALSE(cursor->Seek("z"));
    EXPECT_EQ(cursor->status().ToString(), "OK");
  }
}

TEST_P(EngineTest, CursorDoesNotSeeLaterWrites) {
  Open(true);
  Fill(100, 'a');
  const auto session = engine_->NewSession();
  const auto cursor = session->NewCursor(Fetch::kEntries);
  ASSERT_TRUE(cursor->SeekToFirst());
  {
    const auto other = engine_->NewSession();
    ASSERT_TRUE(other->Put(Key(50), "later").ok());
    ASSERT_TRUE(other->Put(Key(500), "later").ok());
    ASSERT_TRUE(other->Finish().ok());
  }
  int count = 0;
  for (bool is_there = cursor->SeekToFirst(); is_there; is_there = cursor->Next()) {
    EXPECT_NE(cursor->value().ToString(), "later") << count;
    ++count;
  }
  EXPECT_EQ(count, 100);
}

// Several threads put the same keys, with and without sync, and every call succeeds.
TEST_P(EngineTest, ThreadsMayWriteTheSameKeys) {
  Open(true);
  for (const bool sync : {false, true}) {
    ASSERT_TRUE(engine_->BeginWrites({.sync = sync}).ok());
    std::array<Status, 3> ends;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < ends.size(); ++t) {
      threads.emplace_back([&, t] {
        const auto session = engine_->NewSession();
        for (int i = 0; i < 60 && ends[t].ok(); ++i) {
          ends[t] = session->Put(Key(i % 3), Value(i, 'a'));
          if (ends[t].ok()) ends[t] = session->BatchPut(Key(i % 3), Value(i, 'b'));
          if (ends[t].ok()) ends[t] = session->BatchPut(Key(i % 2), Value(i, 'c'));
          if (ends[t].ok()) ends[t] = session->CommitBatch();
        }
        if (ends[t].ok()) ends[t] = session->Finish();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Status& end : ends) EXPECT_EQ(end.ToString(), "OK");
  }
  const auto session = engine_->NewSession();
  Slice value;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(session->Get(Key(i), &value), Lookup::kFound);
}

// Adds 1 to the numbers under both keys, again after each conflict.
Status Increment(Transactions* transactions, const std::array<std::string, 2>& keys) {
  Status status = Status::Busy("not begun");
  while (status.IsBusy()) {
    status = transactions->Begin();
    std::array<std::string, 2> values;
    for (std::size_t i = 0; i < keys.size() && status.ok(); ++i) {
      Slice value;
      status = transactions->ReadForUpdate(keys[i], &value);
      values[i] = std::to_string(status.ok() ? std::stoi(value.ToString()) + 1 : 1);
      if (status.IsNotFound()) status = Status();
    }
    for (std::size_t i = 0; i < keys.size() && status.ok(); ++i) status = transactions->Put(keys[i], values[i]);
    if (status.ok()) status = transactions->Commit();
  }
  return status;
}

// Several threads increment the numbers under few keys, in different orders.
TEST_P(EngineTest, TransactionsLoseNoUpdate) {
  constexpr int kTimes = 60;
  for (const TransactionKind kind : {TransactionKind::kOptimistic, TransactionKind::kLocking}) {
    for (const bool is_first : {true, false}) {
      SCOPED_TRACE(static_cast<int>(kind));
      MakeForTransactions(kind, /*set_snapshot=*/is_first);
      Open(true);
      if (!engine_->HasTransactions()) {
        EXPECT_EQ(engine_->NewSession()->NewTransactions(), nullptr);
        return;
      }
      ASSERT_TRUE(engine_->BeginWrites({.sync = !is_first, .visible = true}).ok());
      std::array<Status, 3> ends;
      std::vector<std::thread> threads;
      for (std::size_t t = 0; t < ends.size(); ++t) {
        threads.emplace_back([&, t] {
          const auto session = engine_->NewSession();
          const auto transactions = session->NewTransactions();
          for (int i = 0; i < kTimes && ends[t].ok(); ++i) {
            const int first = static_cast<int>(t) + i;
            ends[t] = Increment(transactions.get(), {Key(first % 4), Key((first + 1 + i % 3) % 4)});
          }
          static_cast<void>(transactions->Begin());  // and is given up
        });
      }
      for (std::thread& thread : threads) thread.join();
      for (const Status& end : ends) EXPECT_EQ(end.ToString(), "OK");
      Settle();
      const auto session = engine_->NewSession();
      int sum = 0;
      for (int i = 0; i < 4; ++i) {
        Slice value;
        ASSERT_EQ(session->Get(Key(i), &value), Lookup::kFound);
        sum += std::stoi(value.ToString());
      }
      EXPECT_EQ(sum, 3 * kTimes * 2);
    }
  }
}

TEST_P(EngineTest, VerifiesCompactsAndDestroys) {
  Open(true);
  Fill(2000, 'a');
  Fill(2000, 'b');
  Settle();
  const Status compacted = engine_->Compact();
  EXPECT_TRUE(compacted.ok() || compacted.IsNotSupported()) << compacted.ToString();
  std::string what;
  EXPECT_EQ(engine_->Verify(&what).ToString(), "OK");
  EXPECT_NE(what, "");
  ASSERT_EQ(engine_->Close().ToString(), "OK");
  ASSERT_EQ(engine_->Destroy().ToString(), "OK");
  EXPECT_FALSE(std::filesystem::exists(path_)) << "and so it can be made anew";
  EXPECT_EQ(engine_->Destroy().ToString(), "OK") << "there is nothing, and that is no error";
  Open(true);
  const auto session = engine_->NewSession();
  Slice value;
  EXPECT_EQ(session->Get(Key(1), &value), Lookup::kMissing);
}

TEST_P(EngineTest, CountersGrowAcrossOpens) {
  Open(true);
  WriteLedger last;
  std::uint64_t read = 0;
  for (int round = 0; round < 3; ++round) {
    Fill(3000, static_cast<char>('a' + round));
    Settle();
    {
      const auto session = engine_->NewSession();
      Slice value;
      for (int i = 0; i < 200; ++i) ASSERT_EQ(session->Get(Key(i), &value), Lookup::kFound);
    }
    const EngineCounters counters = engine_->ReadCounters();
    if (counters.cache_hits.has_value()) {
      EXPECT_GT(*counters.cache_hits + *counters.cache_misses, 0u);
    }
    if (counters.index_bytes.has_value()) {
      EXPECT_LE(*counters.index_bytes, FileBytes(""));
    }
    if (!counters.ledger.has_value()) {
      EXPECT_EQ(GetParam().engine, "lmdb") << "all others keep one";
      return;
    }
    const WriteLedger& now = *counters.ledger;
    const std::uint64_t user_bytes = 3000 * 1016;
    EXPECT_GE(now.log - last.log, user_bytes) << "every byte goes through the log first";
    EXPECT_LE(now.log - last.log, user_bytes * 12 / 10) << "some round each record up";
    for (const auto cause : {&WriteLedger::values, &WriteLedger::flush, &WriteLedger::merge, &WriteLedger::gc,
                             &WriteLedger::manifest, &WriteLedger::other}) {
      EXPECT_GE(now.*cause, last.*cause);
    }
    if (counters.merge_read_bytes.has_value()) {
      EXPECT_GE(*counters.merge_read_bytes, read);
      read = *counters.merge_read_bytes;
    }
    last = now;
    ASSERT_EQ(engine_->Close().ToString(), "OK");
    Open(false);
    EXPECT_GE(engine_->ReadCounters().ledger->Sum(), last.Sum());
    last = *engine_->ReadCounters().ledger;
  }
}

TEST_P(EngineTest, CompactionReadsAreCounted) {
  Open(true);
  if (!engine_->ReadCounters().merge_read_bytes.has_value()) return;
  const auto fill_and_compact = [&](char round) {
    Fill(3000, round);
    ASSERT_EQ(engine_->Compact().ToString(), "OK");
    Settle();
  };
  fill_and_compact('a');
  const EngineCounters before = engine_->ReadCounters();
  fill_and_compact('b');
  const std::uint64_t read = *engine_->ReadCounters().merge_read_bytes - *before.merge_read_bytes;
  EXPECT_GE(read, *before.index_bytes / 2) << "all that was there; of a file its last pages are not asked for";
}

// While nothing has been removed, the ledger's figure for a kind of file is the size of these files.
TEST_P(EngineTest, LedgerMatchesFileSizes) {
  const std::string engine = GetParam().engine;
  Open(true);
  // Less than a memtable, so that nothing is compacted. Much less for Cambium, whose ceiling makes a small database
  // flush early: after a second flush, the first run may be merged into a tree, and removed.
  Fill(engine == "cambium" ? 50 : 500, 'a');
  if (engine == "leveldb") {
    ASSERT_TRUE(engine_->Compact().ok()) << "which flushes first";
  }
  ASSERT_TRUE(engine_->Flush().ok());
  const EngineCounters counters = engine_->ReadCounters();
  if (!counters.ledger.has_value()) return;
  const WriteLedger& ledger = *counters.ledger;
  if (engine.starts_with("rocksdb")) {
    EXPECT_EQ(ledger.flush, FileBytes(".sst"));
    EXPECT_EQ(ledger.flush, *counters.index_bytes);
    const std::uint64_t blobs = FileBytes(".blob");
    EXPECT_EQ(engine.find("blob") != std::string::npos, blobs > 0);
    EXPECT_EQ(ledger.values, KeepsValuesInLog(engine) ? 0 : blobs);
    EXPECT_EQ(counters.kept_bytes, KeepsValuesInLog(engine) ? blobs : 0);
    EXPECT_EQ(ledger.merge + ledger.gc + ledger.other, 0u);
  } else if (engine == "leveldb") {
    EXPECT_EQ(ledger.flush, FileBytes(".ldb"));
    EXPECT_EQ(ledger.flush, *counters.index_bytes);
    EXPECT_EQ(ledger.merge, 0u);
    EXPECT_GT(ledger.manifest, 0u);
  } else if (engine == "cambium") {
    EXPECT_EQ(ledger.log, FileBytes(".log"));
    EXPECT_EQ(ledger.flush, FileBytes(".idx") + FileBytes(".run"));
    EXPECT_TRUE(LogKeepsValues(counters.kept_bytes, ledger.log));
  } else {
    EXPECT_EQ(engine, "wiredtiger");
    EXPECT_GT(ledger.merge, 500 * 1016u) << "the checkpoint";
  }
}

// Every store can describe its settings before it is opened, and no two descriptions are equal.
TEST(EnginesTest, SettingsAreDescribed) {
  std::map<std::string, std::string> settings;
  for (const Contender& store : Stores()) {
    EngineConfig config;
    config.index = store.index;
    config.cache_size = 12'345'678;
    config.compression_type = "none";
    const auto engine = FindEngine(store.engine)->make(config);
    EXPECT_NE(engine->Version(), "");
    const std::string text = engine->Settings();
    if (store.engine != "lmdb") {
      EXPECT_NE(text.find("12345678"), std::string::npos) << text;
    }
    EXPECT_TRUE(settings.emplace(text, store.engine + store.index).second) << text;
  }
}

// The flags may know only the mean size of values. So the values that were written decide whether the log keeps them.
TEST_P(EngineTest, LogOfSmallValuesKeepsNoValues) {
  Open(true);
  {
    const auto session = engine_->NewSession();
    for (int i = 0; i < 50; ++i) ASSERT_TRUE(session->Put(Key(i), "small").ok());
  }
  const auto keeps_values = [this] {
    EXPECT_TRUE(engine_->Flush().ok());
    const EngineCounters counters = engine_->ReadCounters();
    return counters.ledger.has_value() && LogKeepsValues(counters.kept_bytes, counters.ledger->log);
  };
  EXPECT_FALSE(keeps_values());
  Fill(50, 'a');
  EXPECT_EQ(keeps_values(), KeepsValuesInLog(GetParam().engine)) << "the others' logs are copies";
}

// Regression: for a header with an unknown feature and a valid checksum, Cambium returns NotSupported. The bench took
// this to mean that the engine lacks this kind of maintenance.
TEST_P(EngineTest, UnknownFeatureInMaintenanceIsCorruption) {
  if (GetParam().engine != "cambium") return;
  Open(true);
  Fill(50, 'a');
  Settle();
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    if (!entry.path().filename().string().starts_with("MANIFEST")) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    std::string header(120, '\0');
    file.read(header.data(), 120);
    header[19] = '\x40';  // the highest byte of the required features
    const std::uint64_t checksum = Checksum64(header, 0);
    file.seekp(0);
    file.write(header.data(), 120).write(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
    ASSERT_TRUE(file.good());
  }
  std::string what;
  const Status s = engine_->Verify(&what);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("needs features"), std::string::npos) << s.ToString();
}

// Every store accepts the default flags.
TEST(EnginesTest, UnsupportedFlagsAreRefusedBeforeOpen) {
  BenchFlags flags;
  for (const Contender& store : Stores()) {
    flags.engines = {store.engine};
    flags.index = "both";
    EXPECT_EQ(ComplainOfEngines(flags), "") << store.engine;
  }
  const auto complaint = [](const std::string& engine, const std::function<void(BenchFlags*)>& change) {
    BenchFlags asked;
    asked.engines = {engine};
    change(&asked);
    return ComplainOfEngines(asked);
  };
  const auto has = [](const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; };
  std::string said = complaint("cambium", [](BenchFlags* f) { f->compression_type = "snappy"; });
  EXPECT_TRUE(has(said, "cambium: ") && has(said, "blob_compression_type")) << said;
  said = complaint("cambium", [](BenchFlags* f) { f->space.max_space_amplification = 0.5; });
  EXPECT_TRUE(has(said, "max_space_amplification")) << said;
  const auto few_levels = [](const std::string& index) {
    return [index](BenchFlags* f) {
      f->index = index;
      f->levels.level0_slowdown_writes_trigger = 1;
    };
  };
  for (const char* index : {"lsm", "both"}) {
    said = complaint("cambium", few_levels(index));
    EXPECT_TRUE(has(said, "level0_slowdown_writes_trigger")) << index << ": " << said;
  }
  EXPECT_EQ(complaint("cambium", few_levels("btree")), "") << "it has no levels";
  if (!IsThere("lmdb")) return;
  EXPECT_EQ(complaint("lmdb", [](BenchFlags* f) { f->key_size = 511; }), "");
  said = complaint("lmdb", [](BenchFlags* f) { f->key_size = 512; });
  EXPECT_TRUE(has(said, "at most 511 bytes")) << said;
}

std::string ComplaintOf(const std::string& engine, const std::function<void(BenchFlags*)>& change) {
  BenchFlags asked;
  asked.engines = {engine};
  change(&asked);
  return ComplainOfEngines(asked);
}

// Regression: three stores ran without compression although zstd was asked for, and the table compared them with one
// that compressed.
TEST(EnginesTest, MissingCodecIsRefused) {
  const auto codec = [](const char* name) { return [name](BenchFlags* f) { f->compression_type = name; }; };
  const struct {
    const char* engine;
    const char* has;
    const char* has_not;
  } kStores[] = {{"lmdb", "none", "snappy"},
                 {"lmdb", "none", "zstd"},
                 {"leveldb", "snappy", "zstd"},
                 {"leveldb", "none", "lz4"},
                 {"wiredtiger", "none", "zstd"},
                 {"wiredtiger", "none", "lz4"},
                 {"cambium", "zstd", "snappy"}};
  for (const auto& store : kStores) {
    if (!IsThere(store.engine)) continue;
    EXPECT_EQ(ComplaintOf(store.engine, codec(store.has)), "");
    const std::string said = ComplaintOf(store.engine, codec(store.has_not));
    EXPECT_EQ(said.find(store.engine), 0u) << said;
    EXPECT_NE(said.find("compression_type"), std::string::npos) << said;
    EXPECT_TRUE(std::string(store.engine) == "cambium" || said.find("which has none") != std::string::npos) << said;
  }
}

// Regression: RocksDB turned zero levels into two, and WiredTiger refused a size only when it was opened, after other
// stores had run.
TEST(EnginesTest, UnsupportedSizesAreRefused) {
  const auto levels = [](int n) { return [n](BenchFlags* f) { f->levels.num_levels = n; }; };
  const auto cache = [](std::size_t bytes) { return [bytes](BenchFlags* f) { f->cache_size = bytes; }; };
  for (const char* engine : {"rocksdb11_leveled", "rocksdb11_blob", "rocksdb11_blob_direct"}) {
    if (!IsThere(engine)) continue;
    EXPECT_NE(ComplaintOf(engine, levels(1)).find("--num_levels=1"), std::string::npos) << engine;
    EXPECT_EQ(ComplaintOf(engine, levels(2)), "") << engine;
  }
  if (IsThere("rocksdb_leveled")) {
    for (const char* engine : {"rocksdb_leveled", "rocksdb_blob", "rocksdb_universal"}) {
      EXPECT_NE(ComplaintOf(engine, levels(0)).find("--num_levels=0"), std::string::npos) << engine;
      EXPECT_EQ(ComplaintOf(engine, levels(2)), "") << engine;
    }
    EXPECT_NE(ComplaintOf("rocksdb_leveled", levels(1)), "");
    EXPECT_EQ(ComplaintOf("rocksdb_universal", levels(1)), "");
  }
  if (!IsThere("wiredtiger")) return;
  EXPECT_EQ(ComplaintOf("wiredtiger", cache(std::size_t{1} << 40)), "");
  for (const std::size_t bytes : {std::size_t{99'999'999'999'999}, std::size_t{10} << 40, ~std::size_t{0}}) {
    EXPECT_NE(ComplaintOf("wiredtiger", cache(bytes)).find("--cache_size=" + std::to_string(bytes)), std::string::npos);
  }
}

std::string NameOf(const ::testing::TestParamInfo<Contender>& info) {
  return info.param.engine + (info.param.engine == "cambium" ? "_" + info.param.index : "");
}
INSTANTIATE_TEST_SUITE_P(Stores, EngineTest, ::testing::ValuesIn(Stores()), NameOf);

}  // namespace
}  // namespace cambium::bench
