#include "golden/golden_case.h"

#include "cambium/conditional_write.h"
#include "cambium/transaction_db.h"
#include "util/checksum.h"

namespace cambium::testing {
namespace {

using Pairs = std::map<std::string, std::string>;

std::string KeyOf(int i) {
  char key[16];
  std::snprintf(key, sizeof(key), "key%04d", i);
  return key;
}

std::string ValueOf(int i, std::size_t size) {
  std::string value;
  for (std::size_t n = 0; value.size() < size; ++n) {
    value += std::to_string(static_cast<std::size_t>(i) * 7919 + n * (n + 3)) + ";";
  }
  value.resize(size);
  return value;
}

void Put(TestStore* store, Pairs* expected, const std::string& key, const std::string& value) {
  store->Put(key, value);
  (*expected)[key] = value;
}
void Delete(TestStore* store, Pairs* expected, const std::string& key) {
  EXPECT_TRUE(store->db->Delete({}, key).ok());
  expected->erase(key);
}

void WriteEmpty(TestStore* store, Pairs*) {
  store->MustOpen();
  store->MustClose();
}

void WriteSmall(TestStore* store, Pairs* expected) {
  store->MustOpen();
  Put(store, expected, "", "the empty key");
  for (int i = 0; i < 200; ++i) Put(store, expected, KeyOf(i), ValueOf(i, static_cast<std::size_t>(i) % 60));
  for (int i = 0; i < 200; i += 9) Delete(store, expected, KeyOf(i));
  store->Compact();
  store->executor->RunAll();
  store->MustClose();
}

// Runs with smaller pages than the family's above a level: inline and separated values, tombstones, range deletes.
void WriteSmallRuns(TestStore* store, Pairs* expected) {
  store->MustOpen();
  for (int i = 0; i < 40; ++i) Put(store, expected, KeyOf(i), ValueOf(i, 60));
  store->Compact();
  store->executor->RunAll();
  Put(store, expected, KeyOf(1), ValueOf(100, 30));
  Put(store, expected, KeyOf(2), ValueOf(101, 1500));
  store->Flush();
  Delete(store, expected, KeyOf(3));
  EXPECT_TRUE(store->db->DeleteRange({}, KeyOf(10), KeyOf(12)).ok());
  expected->erase(KeyOf(10));
  expected->erase(KeyOf(11));
  store->Flush();
  store->MustClose();
}

// A tree, a run above it and a log tail; inline and separated values, with one segment sealed and with a footer.
void WriteLayers(TestStore* store, Pairs* expected) {
  store->MustOpen();
  for (int i = 0; i < 60; ++i) {
    Put(store, expected, KeyOf(i), ValueOf(i, i % 2 == 0 ? 40 : 400));
  }
  store->Compact();
  store->executor->RunAll();
  Put(store, expected, KeyOf(0), ValueOf(100, 300));
  Put(store, expected, KeyOf(59), ValueOf(101, 3));
  Delete(store, expected, KeyOf(30));
  store->Flush();
  store->executor->RunAll();
  Put(store, expected, KeyOf(1), ValueOf(102, 200));
  Put(store, expected, "tail", "t");
  Delete(store, expected, KeyOf(31));
  store->MustClose();
}

void DeleteRange(TestStore* store, Pairs* expected, const std::string& begin, const std::string& end) {
  EXPECT_TRUE(store->db->DeleteRange({}, begin, end).ok());
  expected->erase(expected->lower_bound(begin), expected->lower_bound(end));
}

// Range deletes in a run with keys, in a run without keys, and in the log.
void WriteRanges(TestStore* store, Pairs* expected) {
  store->MustOpen();
  for (int i = 0; i < 400; ++i) Put(store, expected, KeyOf(i), ValueOf(i, i % 8 == 0 ? 80 : 12));
  store->Compact();
  store->executor->RunAll();
  // The keys are far apart, so that the flush makes a run.
  Put(store, expected, KeyOf(0), ValueOf(503, 100));
  Put(store, expected, KeyOf(399), ValueOf(504, 100));
  Put(store, expected, KeyOf(5), ValueOf(500, 100));
  DeleteRange(store, expected, KeyOf(3), KeyOf(9));
  DeleteRange(store, expected, KeyOf(20), KeyOf(20) + "x");
  Put(store, expected, KeyOf(7), ValueOf(501, 100));
  store->Flush();
  DeleteRange(store, expected, KeyOf(30), KeyOf(33));
  store->Flush();
  EXPECT_EQ(store->FilesOf(".run").size(), 2u);
  DeleteRange(store, expected, KeyOf(390), "z");
  Put(store, expected, KeyOf(395), ValueOf(502, 10));
  store->MustClose();
}

// An LSM: files in levels, a run above them with a range delete, a log tail.
void WriteLevels(TestStore* store, Pairs* expected) {
  store->MustOpen();
  for (int i = 0; i < 260; ++i) Put(store, expected, KeyOf(i), ValueOf(i, i % 8 == 0 ? 100 : 20));
  DeleteRange(store, expected, KeyOf(100), KeyOf(130));
  store->Compact();
  store->executor->RunAll();
  for (int i = 120; i < 140; ++i) Put(store, expected, KeyOf(i), ValueOf(i, 20));
  DeleteRange(store, expected, KeyOf(200), KeyOf(210));
  EXPECT_TRUE(store->db->Flush({.wait = false}).ok());
  while (store->Property("num-immutable-mem-table") > 0) store->executor->RunOneInstead();
  EXPECT_GE(store->FilesOf(".run").size(), 2u);
  Put(store, expected, "tail", ValueOf(7, 100));
  store->MustClose();
}

// Log GC has relocated values. Some were overwritten since, and older layers still refer to the old places.
void WriteMoved(TestStore* store, Pairs* expected) {
  store->MustOpen();
  for (int i = 0; i < 90; ++i) Put(store, expected, KeyOf(i), ValueOf(i, 600));
  store->Compact();
  store->executor->RunAll();
  for (int i = 0; i < 90; ++i) {
    if (i % 3 != 0) Put(store, expected, KeyOf(i), ValueOf(i + 200, 12));
  }
  store->Compact();
  store->executor->RunAll();
  EXPECT_FALSE(store->FilesOf(".gc").empty());
  Put(store, expected, KeyOf(0), ValueOf(300, 600));
  Put(store, expected, KeyOf(89), ValueOf(301, 600));
  store->Flush();
  store->MustClose();
}

// Dead values are punched.
void WritePunched(TestStore* store, Pairs* expected) {
  store->MustOpen();
  Put(store, expected, KeyOf(0), std::string(20'000, 'a'));
  Put(store, expected, KeyOf(1), std::string(22'000, 'b'));
  Put(store, expected, KeyOf(2), "in the next segment");
  store->Flush();
  Put(store, expected, KeyOf(1), "small");
  store->Compact();
  store->executor->RunAll();
  EXPECT_TRUE(store->FilesOf(".gc").empty());
  EXPECT_EQ(store->Property("gc-bytes-written"), 0u);
  EXPECT_GT(store->Property("gc-bytes-read"), 0u);
  store->MustClose();
}

// After a power cut, the log ends inside an unacknowledged record.
void WriteCrashed(TestStore* store, Pairs* expected) {
  store->MustOpen();
  for (int i = 0; i < 20; ++i) Put(store, expected, KeyOf(i), ValueOf(i, i % 2 == 0 ? 10 : 150));
  store->Flush();
  for (int i = 20; i < 30; ++i) Put(store, expected, KeyOf(i), ValueOf(i, 100));
  EXPECT_TRUE(store->db->SyncWAL().ok());
  store->Put("torn", ValueOf(77, 500));
  const std::string log = store->FilesOf(".log").back();
  std::string bytes;
  EXPECT_TRUE(store->fs->probe().ReadContents(log, &bytes).ok());
  EXPECT_TRUE(store->fs->tampering().Truncate(log, bytes.size() - 200).ok());
}

void WriteLarge(TestStore* store, Pairs* expected) {
  store->MustOpen();
  Put(store, expected, "small", "s");
  Put(store, expected, "flushed", ValueOf(1, 10'000));
  store->Flush();
  store->executor->RunAll();
  Put(store, expected, "in the log", ValueOf(2, 4'097));
  store->MustClose();
}

void WriteCompressed(TestStore* store, Pairs* expected) {
  for (const CompressionType type : {CompressionType::kLZ4Compression, CompressionType::kZSTD}) {
    store->options.blob_compression_type = type;
    store->MustOpen();
    const int first = type == CompressionType::kZSTD ? 100 : 0;
    for (int i = first; i < first + 10; ++i) Put(store, expected, KeyOf(i), ValueOf(i, 1'000));
    Put(store, expected, KeyOf(first + 50), ValueOf(first, 20'000));
    if (type == CompressionType::kLZ4Compression) store->Compact();
    store->executor->RunAll();
    store->MustClose();
  }
}

// Two transactions are prepared, one of them in the log only.
void WritePrepared(TestStore* store, Pairs* expected) {
  TransactionDB* db = nullptr;
  EXPECT_TRUE(TransactionDB::Open(store->options, TransactionDBOptions(), kStorePath, &db).ok());
  store->db.reset(db);
  Put(store, expected, "a", "not yet");
  for (const char* const name : {"flushed", "in the log"}) {
    const std::unique_ptr<Transaction> transaction(db->BeginTransaction(WriteOptions()));
    EXPECT_TRUE(transaction->SetName(name).ok());
    EXPECT_TRUE(transaction->Put(name, ValueOf(1, 200)).ok());
    EXPECT_TRUE(transaction->Delete(std::string(name) + ", gone").ok());
    EXPECT_TRUE(transaction->GetForUpdate({}, std::string(name) + ", read", static_cast<std::string*>(nullptr)).ok());
    EXPECT_TRUE(transaction->DeleteRange(std::string(name) + ", range", std::string(name) + ", range.").ok());
    EXPECT_TRUE(transaction->TrackRange(std::string(name) + ", tracked", std::string(name) + ", tracked.").ok());
    EXPECT_TRUE(transaction->Prepare().ok());
    if (name == std::string("flushed")) store->Flush();
  }
  store->MustClose();
}

// A family that keeps versions: inline values from before without them, others with them, in the lowest layers and above,
// and in the log only.
void WriteVersions(TestStore* store, Pairs* expected) {
  store->MustOpen();
  for (int i = 0; i < 40; ++i) Put(store, expected, KeyOf(i), ValueOf(i, static_cast<std::size_t>(i) % 50));
  store->Flush();
  std::string value;
  SequenceNumber version = 0;
  EXPECT_TRUE(GetWithVersion(store->db.get(), {}, nullptr, KeyOf(1), &value, &version).ok());
  EXPECT_EQ(version, 40u);
  for (int i = 20; i < 90; ++i) Put(store, expected, KeyOf(i), ValueOf(i + 100, static_cast<std::size_t>(i) % 70));
  store->Compact();
  store->executor->RunAll();
  Put(store, expected, KeyOf(1), ValueOf(201, 30));
  Put(store, expected, KeyOf(85), ValueOf(202, 3));
  Delete(store, expected, KeyOf(30));
  store->Flush();
  store->executor->RunAll();
  Put(store, expected, "tail", "t");
  store->MustClose();
}

void SetNothing(Options*) {}
void SetSmallFiles(Options* options) {
  options->blob_file_size = 16 << 10;
  options->large_value_size = 4 << 10;
}
void SetLsm(Options* options) {
  options->index_type = IndexKind::kLsm;
  options->target_file_size_base = 16 << 10;
  options->max_bytes_for_level_base = 16 << 10;
}
void SetLargePages(Options* options) {
  SetLsm(options);  // each flush makes a run
  options->page_size = 4096;
}
void SetEagerGc(Options* options) {
  options->blob_file_size = 16 << 10;
  options->blob_garbage_collection_age_cutoff = 1;
}
void SetPunching(Options* options) {
  SetEagerGc(options);
  options->min_punch_size = 16u << 10;
  options->blob_file_size = 32u << 10;
  options->large_value_size = 24u << 10;
}
void SetReverse(Options* options) { options->comparator = ReverseBytewiseComparator(); }

}  // namespace

const std::vector<GoldenCase>& GoldenCases() {
  static const std::vector<GoldenCase> cases = {
      {"empty", true, SetNothing, WriteEmpty},
      {"small", true, SetNothing, WriteSmall},
      {"reverse", true, SetReverse, WriteSmall},
      {"layers", true, SetSmallFiles, WriteLayers},
      {"crashed", true, SetNothing, WriteCrashed},
      {"ranges", true, SetNothing, WriteRanges},
      {"levels", true, SetLsm, WriteLevels},
      {"small_runs", true, SetLargePages, WriteSmallRuns},
      {"moved", false, SetEagerGc, WriteMoved},  // written when relocation segments had their values' age
      {"relocated", true, SetEagerGc, WriteMoved},
      {"punched", true, SetPunching, WritePunched},
      {"large", true, SetSmallFiles, WriteLarge},
      {"prepared", true, SetNothing, WritePrepared},
      {"versions", true, SetNothing, WriteVersions},
      {"versions_levels", true, SetLsm, WriteVersions},
      {"compressed", false, SetSmallFiles, WriteCompressed},
  };
  return cases;
}

std::unique_ptr<TestStore> GoldenStore(const GoldenCase& c) {
  auto store = std::make_unique<TestStore>();
  c.set(&store->options);
  return store;
}

GoldenFiles WriteGolden(const GoldenCase& c, std::map<std::string, std::string>* expected) {
  const auto store = GoldenStore(c);
  c.write(store.get(), expected);
  GoldenFiles files;
  for (auto& [path, bytes] : store->Files()) files[path.substr(path.rfind('/') + 1)] = bytes;
  store->fs->PowerOff();  // a crashed store is still open
  store->db.reset();
  return files;
}

std::string ExpectedText(const std::map<std::string, std::string>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) {
    char rest[48];
    std::snprintf(rest, sizeof(rest), "\t%zu\t%016llx\n", value.size(),
                  static_cast<unsigned long long>(Checksum64(value, 0)));
    text += key + rest;
  }
  return text;
}

}  // namespace cambium::testing
