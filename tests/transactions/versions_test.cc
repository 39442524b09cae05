// Versions of values: GetWithVersion returns the sequence number of the write, whatever has become of the value since;
// PutIfUnchanged writes exactly if the key was not written since.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/db_inside.h"
#include "cambium/compaction_filter.h"
#include "cambium/conditional_write.h"
#include "cambium/optimistic_transaction_db.h"
#include "cambium/transaction_db.h"
#include "manifest/features.h"
#include "testing/bytes_per_snapshot.h"
#include "testing/hook_scope.h"
#include "testing/index_mode.h"
#include "testing/mutant_scope.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/test_store.h"
#include "util/prng.h"

namespace cambium::testing::versions_test {
namespace {

const std::string kInlineValue = "inline";
const std::string kSeparatedValue(200, 's');

// The kind of an error that a test expects; otherwise all that it says.
std::string NameOf(const Status& s) {
  if (s.IsNotFound()) return "not found";
  if (s.IsTryAgain()) return "try again";
  if (s.IsNotSupported()) return "not supported";
  if (s.IsTimedOut()) return "timed out";
  return s.IsColumnFamilyDropped() ? "dropped" : s.ToString();
}

struct Versioned {
  std::string value;  // or the error
  SequenceNumber version = 0;
};
Versioned GetOf(DB* db, Slice key, const ReadOptions& options = {}, ColumnFamilyHandle* family = nullptr) {
  Versioned found;
  found.version = 99'999'999;
  const Status s = GetWithVersion(db, options, family, key, &found.value, &found.version);
  if (!s.ok()) {
    EXPECT_EQ(found.version, 0u) << s.ToString();
    found.value = NameOf(s);
  }
  return found;
}
SequenceNumber VersionOf(TestStore* store, Slice key) { return GetOf(store->db.get(), key).version; }

// "written", "unmet", or the error.
std::string Outcome(const Status& s, bool written) {
  if (!s.ok()) return written ? "an error, but written" : NameOf(s);
  return written ? "written" : "unmet";
}
std::string PutIf(DB* db, Slice key, SequenceNumber version, Slice value, ColumnFamilyHandle* family = nullptr) {
  bool written = true;
  const Status s = PutIfUnchanged(db, {}, family, key, version, value, &written);
  return Outcome(s, written);
}
std::string DeleteIf(DB* db, Slice key, SequenceNumber version) {
  bool written = true;
  const Status s = DeleteIfUnchanged(db, {}, key, version, &written);
  return Outcome(s, written);
}
Features FeaturesOnDisk(const TestStore& store) {
  const std::vector<std::string> manifests = store.FilesOf("MANIFEST");
  std::string bytes;
  EXPECT_TRUE(store.fs->probe().ReadContents(*std::ranges::max_element(manifests), &bytes).ok());
  const Result<FileHeader> header = DecodeFileHeader(Slice(bytes).substr(0, kFileHeaderSize), "MANIFEST");
  EXPECT_TRUE(header.ok()) << header.status().ToString();
  return header.ok() ? Features{header->required_features, header->optional_features} : Features{};
}

// Flushes and compacts until the entries of all keys are in the lowest layers.
void MoveDown(TestStore* store) {
  store->Flush();
  store->Compact();
  store->RunUntilIdle();
}

TEST(VersionsTest, TheVersionIsTheSequenceNumberOfTheWriteWhereverTheValueIs) {
  TestStore store;
  store.MustOpen();
  store.Put("other", "1");
  EXPECT_EQ(GetOf(store.db.get(), "other").version, 1u);
  EXPECT_EQ(GetOf(store.db.get(), "absent").value, "not found");
  store.Put("i", kInlineValue);
  store.Put("s", kSeparatedValue);
  const auto check = [&](const char* when) {
    EXPECT_EQ(GetOf(store.db.get(), "i").version, 2u) << when;
    EXPECT_EQ(GetOf(store.db.get(), "i").value, kInlineValue) << when;
    EXPECT_EQ(GetOf(store.db.get(), "s").version, 3u) << when;
    EXPECT_EQ(GetOf(store.db.get(), "s").value, kSeparatedValue) << when;
    EXPECT_EQ(GetOf(store.db.get(), "absent").version, 0u) << when;
  };
  check("in the memtable");
  store.Flush();
  check("flushed");
  for (int i = 0; i < 300; ++i) store.Put(NumberedKey(i), "x");
  MoveDown(&store);
  check("compacted");
  store.Reopen();
  check("reopened");
  EXPECT_EQ(store.Verify(), "");
}

TEST(VersionsTest, TheFirstVersionSetsTheFeatureBitAndNothingElseDoes) {
  for (const bool is_inline : {true, false}) {
    TestStore store;
    store.MustOpen();
    store.Put("i", kInlineValue);
    store.Put("s", kSeparatedValue);
    EXPECT_EQ(VersionOf(&store, "absent"), 0u);
    EXPECT_EQ(PutIf(store.db.get(), "new", 0, kInlineValue), "written");
    EXPECT_EQ(PutIf(store.db.get(), "s", 1, kSeparatedValue), "unmet");
    store.Flush();
    store.Reopen();
    EXPECT_EQ(FeaturesOnDisk(store).required, 0u);
    // For inline values, the last operation that was flushed before.
    EXPECT_EQ(VersionOf(&store, is_inline ? "i" : "s"), is_inline ? 3u : 2u);
    EXPECT_EQ(FeaturesOnDisk(store).required, kFeatureVersions);
    store.Reopen();
    EXPECT_EQ(FeaturesOnDisk(store).required, kFeatureVersions);
    EXPECT_EQ(VersionOf(&store, "i"), 3u);
  }
}

TEST(VersionsTest, MutantNoBitForVersionsIsNoticed) {
  const MutantScope mutant(Mutant::kNoBitForVersions);
  TestStore store;
  store.MustOpen();
  store.Put("i", kInlineValue);
  EXPECT_EQ(VersionOf(&store, "i"), 1u);
  EXPECT_EQ(FeaturesOnDisk(store).required, 0u);
}

// What others may do to key "k".
struct Intrusion {
  const char* name;
  std::function<void(TestStore*, const std::string& value)> run;
  bool writes = true;
  bool leaves_a_key = true;
};
std::vector<Intrusion> Intrusions() {
  return {
      {"nothing", [](TestStore*, const std::string&) {}, false},
      {"another key", [](TestStore* store, const std::string& value) { store->Put("kk", value); }, false},
      {"put of an equal value", [](TestStore* store, const std::string& value) { store->Put("k", value); }},
      {"put of a value of the other kind",
       [](TestStore* store, const std::string& value) {
         store->Put("k", value == kInlineValue ? kSeparatedValue : kInlineValue);
       }},
      {"delete", [](TestStore* store, const std::string&) { ASSERT_TRUE(store->db->Delete({}, "k").ok()); }, true,
       false},
      {"range delete",
       [](TestStore* store, const std::string&) { ASSERT_TRUE(store->db->DeleteRange({}, "j", "l").ok()); }, true,
       false},
      {"delete and put",
       [](TestStore* store, const std::string& value) {
         ASSERT_TRUE(store->db->Delete({}, "k").ok());
         store->Put("k", value);
       }},
  };
}
struct Upkeep {
  const char* name;
  std::function<void(TestStore*)> run;
};
std::vector<Upkeep> AllUpkeep() {
  return {{"nothing", [](TestStore*) {}},
          {"flush", [](TestStore* store) { store->Flush(); }},
          {"compaction", MoveDown},
          {"reopening", [](TestStore* store) { store->Reopen(); }},
          {"flush and reopening", [](TestStore* store) {
             store->Flush();
             store->Reopen();
           }}};
}

// Returns the first cases in which a conditional write does not end as it must.
std::vector<std::string> WrongOutcomes() {
  std::vector<std::string> wrong;
  const auto expect = [&wrong](const std::string& what, const std::string& is, const std::string& expected) {
    if (is != expected) wrong.push_back(what + ": " + is + ", not " + expected);
  };
  for (const std::string& value : {kInlineValue, kSeparatedValue}) {
    for (const Upkeep& before : AllUpkeep()) {
      for (const Upkeep& between : AllUpkeep()) {
        for (const Upkeep& after : AllUpkeep()) {
          for (const Intrusion& intrusion : Intrusions()) {
            if (wrong.size() > 5) return wrong;
            TestStore store;
            store.MustOpen();
            store.Put("a", kInlineValue);
            store.Put("k", value);
            before.run(&store);
            const SequenceNumber version = VersionOf(&store, "k");
            between.run(&store);
            intrusion.run(&store, value);
            after.run(&store);
            const std::string what = std::string(value == kInlineValue ? "inline, " : "separated, ") + before.name +
                                     ", " + between.name + ", " + intrusion.name + ", " + after.name;
            expect(what, PutIf(store.db.get(), "k", 0, "mine"), intrusion.leaves_a_key ? "unmet" : "written");
            if (!intrusion.leaves_a_key) continue;
            expect(what, PutIf(store.db.get(), "k", version, "mine"), intrusion.writes ? "unmet" : "written");
            const SequenceNumber now = VersionOf(&store, "k");
            if (!intrusion.writes && now == version) wrong.push_back(what + ": a write has left the version");
            expect(what + ", again", DeleteIf(store.db.get(), "k", version), "unmet");
            expect(what + ", again", DeleteIf(store.db.get(), "k", now), "written");
          }
        }
      }
    }
  }
  return wrong;
}

void ExpectCaught(Mutant mutant) {
  const MutantScope scope(mutant);
  EXPECT_NE(WrongOutcomes(), std::vector<std::string>()) << MutantName(mutant);
}

TEST(VersionsTest, AConditionalWriteIsMadeExactlyIfNobodyHasWrittenTheKey) {
  EXPECT_EQ(WrongOutcomes(), std::vector<std::string>());
  ExpectCaught(Mutant::kVersionIsNotCompared);
  ExpectCaught(Mutant::kFlushWritesNoVersions);
}

TEST(VersionsTest, AnInlineValueThatWasFlushedBeforeHasTheNumberOfTheLastFlush) {
  TestStore store;
  store.MustOpen();
  store.Put("a", kInlineValue);
  store.Put("b", kInlineValue);
  store.Put("c", kInlineValue);
  store.Flush();
  store.Put("d", kInlineValue);
  EXPECT_EQ(VersionOf(&store, "a"), 3u);
  EXPECT_EQ(VersionOf(&store, "d"), 4u);
  EXPECT_EQ(PutIf(store.db.get(), "a", 3, "new"), "written");
  EXPECT_EQ(PutIf(store.db.get(), "b", 2, "new"), "try again");
  EXPECT_EQ(PutIf(store.db.get(), "b", 4, "new"), "unmet");
  EXPECT_EQ(PutIf(store.db.get(), "b", 3, "new"), "written");
  MoveDown(&store);
  EXPECT_EQ(VersionOf(&store, "a"), 5u);
  EXPECT_EQ(VersionOf(&store, "b"), 6u);
  EXPECT_EQ(VersionOf(&store, "c"), 3u);
  EXPECT_EQ(VersionOf(&store, "d"), 4u);
  EXPECT_EQ(PutIf(store.db.get(), "a", 3, "newer"), "unmet");
}

// A snapshot shows a value that was overwritten before the family kept versions. It must not get the version of the
// value that overwrote it.
std::string PutIfAsOfAnOldSnapshot() {
  TestStore store;
  store.MustOpen();
  store.Put("k", "old");
  store.Flush();
  const Snapshot* const snapshot = store.db->GetSnapshot();
  store.Put("k", "new");
  store.Flush();
  EXPECT_EQ(VersionOf(&store, "k"), 2u);
  const Versioned old = GetOf(store.db.get(), "k", {.snapshot = snapshot});
  store.db->ReleaseSnapshot(snapshot);
  if (old.value == "try again") return "not known";
  EXPECT_EQ(old.value, "old");
  return PutIf(store.db.get(), "k", old.version, "mine");
}

TEST(VersionsTest, ASnapshotFromBeforeTheVersionsDoesNotTellThem) {
  EXPECT_EQ(PutIfAsOfAnOldSnapshot(), "not known");
  const MutantScope mutant(Mutant::kVersionOfOlderSnapshot);
  EXPECT_EQ(PutIfAsOfAnOldSnapshot(), "written");
}

// Its memtable knows the version, but the layers do not know whether the key was written since.
TEST(VersionsTest, AVersionFromTheMemtableOfAnOldSnapshotIsNotKnownLater) {
  TestStore store;
  store.MustOpen();
  store.Put("k", "old");
  const Snapshot* const snapshot = store.db->GetSnapshot();
  store.Put("k", "new");
  store.Flush();
  EXPECT_EQ(VersionOf(&store, "k"), 2u);
  const Versioned old = GetOf(store.db.get(), "k", {.snapshot = snapshot});
  EXPECT_EQ(old.value, "old");
  EXPECT_EQ(old.version, 1u);
  EXPECT_EQ(PutIf(store.db.get(), "k", old.version, "mine"), "try again");
  EXPECT_EQ(DeleteIf(store.db.get(), "k", old.version), "try again");
  EXPECT_EQ(store.Get("k"), "new");
  store.db->ReleaseSnapshot(snapshot);
}

TEST(VersionsTest, ASnapshotShowsTheVersionOfItsValueAlsoFromRunsOfItsOwn) {
  const BytesPerSnapshot dense(0);  // memtables of dense snapshots are moved to runs, too
  TestStore store;
  store.options.write_buffer_size = 6u << 10;
  store.options.max_write_buffer_number = 2;
  store.options.level0_slowdown_writes_trigger = 1000;
  store.options.level0_stop_writes_trigger = 1000;
  store.MustOpen();
  store.Put("first", kInlineValue);
  EXPECT_EQ(VersionOf(&store, "first"), 1u);
  struct Held {
    const Snapshot* snapshot;
    std::map<std::string, Versioned> model;
  };
  std::vector<Held> held;
  std::map<std::string, Versioned> model;
  for (int i = 0; i < 2000; ++i) {
    const std::string key = NumberedKey(i * 7 % 40);
    const std::string value = std::to_string(i) + (i % 3 == 0 ? std::string(80, 's') : "");
    store.Put(key, value);
    model[key] = {value, store.db->GetLatestSequenceNumber()};
    if (i % 15 == 0) held.push_back({store.db->GetSnapshot(), model});
  }
  MoveDown(&store);
  EXPECT_GT(store.FilesOf(".run").size(), store.RunsAtRest()) << "the snapshots need them";
  for (const auto& [snapshot, at] : held) {
    for (const auto& [key, expected] : at) {
      const Versioned found = GetOf(store.db.get(), key, {.snapshot = snapshot});
      ASSERT_EQ(found.value, expected.value);
      ASSERT_EQ(found.version, expected.version);
    }
    store.db->ReleaseSnapshot(snapshot);
  }
}

// The family begins to keep versions while a flush writes its file. Returns how a conditional write ends that must not
// be made.
std::string PutIfAfterAFlushThatWasUnderWay() {
  TestStore store;
  store.MustOpen();
  store.Put("a", kInlineValue);
  store.Put("k", "old");
  store.Flush();
  store.Put("k", "new");
  store.Put("a", "new");
  SequenceNumber before = 0;
  {
    const HookScope hook(store.fs, [&](const SimOp& op) {
      const bool is_index = op.path.ends_with(".run") || op.path.ends_with(".idx");
      if (op.phase != SimPhase::kBefore || op.kind != SimOpKind::kWrite || !is_index || before != 0) return;
      before = 1;
      before = VersionOf(&store, "k");
    });
    store.Flush();
  }
  EXPECT_EQ(before, 3u);
  EXPECT_EQ(FeaturesOnDisk(store).required, kFeatureVersions);
  EXPECT_EQ(store.Verify(), "");
  // The layers had operations up to 2 when the family began to keep versions.
  return PutIf(store.db.get(), "k", 2, "mine");
}

TEST(VersionsTest, AFlushThatIsUnderWayWhenAFamilyBeginsToKeepVersionsBeginsAgain) {
  EXPECT_EQ(PutIfAfterAFlushThatWasUnderWay(), "unmet");
  const MutantScope mutant(Mutant::kFlushUnderWayHasNoVersions);
  EXPECT_EQ(PutIfAfterAFlushThatWasUnderWay(), "written");
}

// Changes values of key "k": to an inline one, or to a separated one.
class Change final : public CompactionFilter {
 public:
  explicit Change(std::string to) : to_(std::move(to)) {}
  [[nodiscard]] const char* Name() const override { return "Change"; }
  Decision FilterV2(int, const Slice& key, ValueType, const Slice& value, std::string* changed,
                    std::string*) const override {
    if (key != Slice("k") || value == Slice(to_)) return Decision::kKeep;
    *changed = to_;
    return Decision::kChangeValue;
  }

 private:
  const std::string to_;
};

// Returns how a conditional write ends whose value a filter has changed meanwhile.
std::string PutIfAfterAFilter(const std::string& from, const std::string& to) {
  const Change filter(to);
  TestStore store;
  store.options.compaction_filter = &filter;
  store.MustOpen();
  store.Put("a", kInlineValue);
  store.Put("k", "older");
  EXPECT_EQ(VersionOf(&store, "a"), 1u);
  store.Flush();
  store.Put("k", from);
  const SequenceNumber version = VersionOf(&store, "k");
  store.Put("b", "1");
  MoveDown(&store);
  EXPECT_EQ(store.Get("k"), to);
  EXPECT_EQ(store.Verify(), "");
  return PutIf(store.db.get(), "k", version, "mine");
}

TEST(VersionsTest, AValueThatAFilterMakesInlineKeepsItsVersion) {
  EXPECT_EQ(PutIfAfterAFilter(kInlineValue, "changed"), "written");
  EXPECT_EQ(PutIfAfterAFilter(kSeparatedValue, "changed"), "written");
  EXPECT_EQ(PutIfAfterAFilter(kInlineValue, std::string(300, 'c')), "unmet");
  EXPECT_EQ(PutIfAfterAFilter(kSeparatedValue, std::string(300, 'c')), "unmet");
  const MutantScope mutant(Mutant::kFilterLosesVersions);
  EXPECT_NE(PutIfAfterAFilter(kInlineValue, "changed"), "written");
}

// Returns how a conditional write ends whose value log GC has moved from the log into the index meanwhile.
std::string PutIfAfterTheValueBecameInline() {
  const std::string value(100, 's');
  TestStore store;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.MustOpen();
  store.Put("a", kInlineValue);
  store.Put("k", value);
  const SequenceNumber version = VersionOf(&store, "k");
  EXPECT_EQ(version, 2u);
  for (int i = 0; i < 500; ++i) store.Put(NumberedKey(i % 20), std::string(500, 'x'));
  store.Flush();
  EXPECT_TRUE(store.db->SetOptions({{"min_blob_size", "120"}}).ok());
  CompactRangeOptions forced;
  forced.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
  store.Compact(forced);
  store.RunUntilIdle();
  EXPECT_EQ(store.Get("k"), value);
  EXPECT_EQ(store.Verify(), "");
  return PutIf(store.db.get(), "k", version, "mine");
}

TEST(VersionsTest, AValueThatLogGcPutsIntoTheIndexKeepsItsVersion) {
  EXPECT_EQ(PutIfAfterTheValueBecameInline(), "written");
  const MutantScope mutant(Mutant::kMovedInlineLosesVersion);
  EXPECT_NE(PutIfAfterTheValueBecameInline(), "written");
}

TEST(VersionsTest, LargeValuesHaveNoVersion) {
  TestStore store;
  store.MustOpen();
  store.Put("k", std::string(store.options.large_value_size + 1, 'l'));
  for (int i = 0; i < 2; ++i) {
    const Versioned found = GetOf(store.db.get(), "k");
    EXPECT_EQ(found.value, "not supported");
    EXPECT_EQ(PutIf(store.db.get(), "k", 1, "mine"), "unmet");
    EXPECT_EQ(PutIf(store.db.get(), "k", 0, "mine"), "unmet");
    MoveDown(&store);
  }
  EXPECT_EQ(FeaturesOnDisk(store).required, 0u);
}

TEST(VersionsTest, ADatabaseThatIsOnlyReadTellsVersionsIfItsFamilyKeepsThem) {
  TestStore store;
  store.MustOpen();
  store.Put("i", kInlineValue);
  store.Flush();
  store.Put("s", kSeparatedValue);
  for (const bool keeps : {false, true}) {
    if (keeps) {
      EXPECT_EQ(VersionOf(&store, "i"), 1u);
    }
    store.MustClose();
    {
      std::unique_ptr<DB> reader;
      ASSERT_TRUE(DB::OpenForReadOnly(store.options, kStorePath, &reader).ok());
      EXPECT_EQ(GetOf(reader.get(), "s").version, 2u);
      const Versioned found = GetOf(reader.get(), "i");
      if (keeps) {
        EXPECT_EQ(found.version, 1u);
      } else {
        EXPECT_EQ(found.value, "not supported");
      }
      bool written = true;
      EXPECT_TRUE(PutIfUnchanged(reader.get(), {}, "s", 2, "mine", &written).IsNotSupported());
      EXPECT_FALSE(written);
    }
    store.MustOpen();
  }
}

TEST(VersionsTest, EachFamilyKeepsVersionsOfItsOwn) {
  TestStore store;
  store.MustOpen();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "f", &family).ok());
  store.Put("k", kInlineValue);
  ASSERT_TRUE(store.db->Put({}, family, "k", kInlineValue).ok());
  store.Flush();
  ASSERT_TRUE(store.db->Flush({}, family).ok());
  EXPECT_EQ(GetOf(store.db.get(), "k", {}, family).version, 2u);
  EXPECT_EQ(VersionOf(&store, "k"), 2u);  // the flush took all operations up to 2
  EXPECT_EQ(PutIf(store.db.get(), "k", 2, "mine", family), "written");
  ASSERT_TRUE(store.db->DropColumnFamily(family).ok());
  EXPECT_EQ(GetOf(store.db.get(), "k", {}, family).value, "dropped");
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(family).ok());
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "f", &family).ok());
  EXPECT_EQ(GetOf(store.db.get(), "k", {}, family).value, "not found");
  EXPECT_EQ(PutIf(store.db.get(), "k", 0, "mine", family), "written");
  EXPECT_EQ(GetOf(store.db.get(), "k", {}, family).version, 4u);
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(family).ok());
}

TEST(VersionsTest, ABatchMayDependOnVersionsOfSeveralKeys) {
  TestStore store;
  store.MustOpen();
  store.Put("a", kInlineValue);
  store.Put("b", kSeparatedValue);
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("c", "1").ok());
  const auto write = [&](const WriteConditions& conditions) {
    bool written = true;
    const Status s = WriteIf(store.db.get(), {}, conditions, &batch, &written);
    return Outcome(s, written);
  };
  EXPECT_EQ(VersionOf(&store, "a"), 1u);
  EXPECT_EQ(write(WriteConditions().IsUnchanged("a", 1).IsUnchanged("b", 1)), "unmet");
  EXPECT_EQ(write(WriteConditions().IsUnchanged("a", 1).IsUnchanged("b", 2).IsUnchanged("c", 0)), "written");
  EXPECT_EQ(write(WriteConditions().IsUnchanged("a", 1).IsUnchanged("c", 0)), "unmet");
  EXPECT_EQ(write(WriteConditions().IsUnchanged("a", 1).HasValue("b", kSeparatedValue).IsUnchanged("c", 3)), "written");
}

TEST(VersionsTest, TheDatabasesOfTransactionsHaveThemToo) {
  TestStore store;
  {
    std::unique_ptr<TransactionDB> db;
    ASSERT_TRUE(TransactionDB::Open(store.options, {.default_lock_timeout = 0}, kStorePath, &db).ok());
    ASSERT_TRUE(db->Put({}, "k", kInlineValue).ok());
    const SequenceNumber version = GetOf(db.get(), "k").version;
    const std::unique_ptr<Transaction> transaction(db->BeginTransaction({}));
    ASSERT_TRUE(transaction->Put("k", "theirs").ok());
    EXPECT_EQ(PutIf(db.get(), "k", version, "mine"), "timed out");  // it is locked
    ASSERT_TRUE(transaction->Rollback().ok());
    EXPECT_EQ(PutIf(db.get(), "k", version, "mine"), "written");
  }
  std::unique_ptr<OptimisticTransactionDB> db;
  ASSERT_TRUE(OptimisticTransactionDB::Open(store.options, kStorePath, &db).ok());
  const SequenceNumber version = GetOf(db.get(), "k").version;
  const std::unique_ptr<Transaction> transaction(db->BeginTransaction({}));
  ASSERT_TRUE(transaction->Put("k", "theirs").ok());
  EXPECT_EQ(PutIf(db.get(), "k", version, "mine"), "written");
  EXPECT_TRUE(transaction->Commit().IsBusy());
}

// A random program and a model that has the sequence number of each key's last write. Everything that moves values or
// writes them again takes turns with writes, reads of versions, and conditional writes with versions of any age.
class Program {
 public:
  explicit Program(std::uint64_t seed) : prng_(seed) {
    store_.options.blob_garbage_collection_age_cutoff = 1;
    store_.options.page_size = 1024;
    UseIndexOfTest(&store_.options);
    store_.MustOpen();
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) Step();
    if (!::testing::Test::HasFailure()) {
      EXPECT_EQ(store_.Verify(), "");
    }
  }
  [[nodiscard]] int written() const { return written_; }
  [[nodiscard]] int unmet() const { return unmet_; }

 private:
  static constexpr int kKeys = 12;
  struct Known {
    std::string key;
    SequenceNumber version;
    int write;  // the write that the version is of; 0: the key did not exist
  };

  std::string Key() { return "k" + std::to_string(10 + prng_.Uniform(kKeys)); }
  std::string Value() {
    const std::size_t sizes[] = {3, 40, 100, 180, 400};
    return std::to_string(++values_) + std::string(sizes[prng_.Uniform(5)], 'v');
  }
  void Wrote(const std::string& key, const std::optional<std::string>& value) {
    ++writes_;
    if (value.has_value()) {
      model_[key] = {*value, store_.db->GetLatestSequenceNumber()};
      write_of_[key] = writes_;
    } else {
      model_.erase(key);
      write_of_.erase(key);
    }
  }
  [[nodiscard]] int WriteOf(const std::string& key) const {
    const auto found = write_of_.find(key);
    return found == write_of_.end() ? 0 : found->second;
  }

  void Step() {
    switch (prng_.Uniform(16)) {
      case 0: return store_.Flush();
      case 1: return prng_.OneIn(2) ? store_.Compact() : store_.RunUntilIdle();
      case 2: return prng_.OneIn(4) ? store_.Reopen() : SetMinBlobSize();
      case 3: return CollectGarbage();
      case 4:
      case 5: return Delete();
      case 6:
      case 7:
      case 8: {
        const std::string key = Key();
        const std::string value = Value();
        store_.Put(key, value);
        return Wrote(key, value);
      }
      case 9:
      case 10:
      case 11: return WriteIfUnchanged();
      default: return Read();
    }
  }
  void SetMinBlobSize() {
    const char* const sizes[] = {"0", "64", "150", "1000"};
    EXPECT_TRUE(store_.db->SetOptions({{"min_blob_size", sizes[prng_.Uniform(4)]}}).ok());
  }
  void CollectGarbage() {
    CompactRangeOptions forced;
    forced.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
    forced.cluster_values = prng_.OneIn(2);
    store_.Compact(forced);
  }
  void Delete() {
    const std::string key = Key();
    if (prng_.OneIn(3)) {
      const std::string end = Key();
      if (key >= end) return;
      EXPECT_TRUE(store_.db->DeleteRange({}, key, end).ok());
      for (auto at = model_.lower_bound(key); at != model_.end() && at->first < end;) {
        const std::string deleted = (at++)->first;  // Wrote removes the entry
        Wrote(deleted, std::nullopt);
      }
      return;
    }
    EXPECT_TRUE(store_.db->Delete({}, key).ok());
    Wrote(key, std::nullopt);
  }
  void Read() {
    const std::string key = Key();
    const Versioned found = GetOf(store_.db.get(), key);
    const auto expected = model_.find(key);
    if (expected == model_.end()) {
      EXPECT_EQ(found.value, "not found");
    } else {
      EXPECT_EQ(found.value, expected->second.value);
      // Before the family keeps versions, that of the last flush stands for older ones.
      if (found.version != expected->second.version) {
        EXPECT_GT(found.version, expected->second.version);
        EXPECT_TRUE(!since_.has_value() || found.version == *since_) << found.version;
        since_ = found.version;
      }
    }
    known_.push_back({key, found.version, WriteOf(key)});
  }
  void WriteIfUnchanged() {
    if (known_.empty()) return;
    // One of the last reads, so that many are still true.
    const Known known = known_[known_.size() - 1 - prng_.Uniform(std::min<std::size_t>(known_.size(), 8))];
    const std::string value = Value();
    const bool deletes = prng_.OneIn(4);
    const std::string outcome = deletes ? DeleteIf(store_.db.get(), known.key, known.version)
                                        : PutIf(store_.db.get(), known.key, known.version, value);
    const bool is_unchanged = WriteOf(known.key) == known.write;
    ++(is_unchanged ? written_ : unmet_);
    EXPECT_EQ(outcome, is_unchanged ? "written" : "unmet") << known.key << " at " << known.version;
    if (is_unchanged) Wrote(known.key, deletes ? std::nullopt : std::optional<std::string>(value));
  }

  Prng prng_;
  TestStore store_;
  std::map<std::string, Versioned> model_;
  std::map<std::string, int> write_of_;
  std::vector<Known> known_;
  std::optional<SequenceNumber> since_;
  int writes_ = 0;
  int values_ = 0;
  int written_ = 0;
  int unmet_ = 0;
};

TEST(VersionsTest, ConditionalWritesAgreeWithAModelOfAllWrites) {
  const std::uint64_t seed = SeedFromEnvironment(7);
  int written = 0;
  int unmet = 0;
  const std::uint64_t rounds = ScaledCount(20);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed + round));
    Program program(seed + round);
    program.Run(400);
    written += program.written();
    unmet += program.unmet();
    if (HasFailure()) return;
  }
  EXPECT_GT(written, static_cast<int>(rounds * 5));
  EXPECT_GT(unmet, static_cast<int>(rounds * 5));
}

TEST(VersionsTest, WrongUseIsAnError) {
  TestStore store;
  store.MustOpen();
  std::string value;
  SequenceNumber version = 7;
  bool written = true;
  EXPECT_TRUE(GetWithVersion(nullptr, {}, nullptr, "k", &value, &version).IsInvalidArgument());
  EXPECT_TRUE(GetWithVersion(store.db.get(), {}, nullptr, "k", nullptr, &version).IsInvalidArgument());
  EXPECT_TRUE(GetWithVersion(store.db.get(), {}, nullptr, "k", &value, nullptr).IsInvalidArgument());
  EXPECT_TRUE(PutIfUnchanged(nullptr, {}, "k", 1, "v", &written).IsInvalidArgument());
  EXPECT_FALSE(written);
  EXPECT_TRUE(PutIfUnchanged(store.db.get(), {}, "k", 1, "v", nullptr).IsInvalidArgument());
  TestStore other;
  other.MustOpen();
  ColumnFamilyHandle* const foreign = other.db->DefaultColumnFamily();
  EXPECT_TRUE(GetWithVersion(store.db.get(), {}, foreign, "k", &value, &version).IsInvalidArgument());
  EXPECT_TRUE(PutIfUnchanged(store.db.get(), {}, foreign, "k", 1, "v", &written).IsInvalidArgument());
}

}  // namespace
}  // namespace cambium::testing::versions_test
