// Compaction filters: which values they see, what their decisions do, and that a removed key never comes back, whatever
// runs during the compaction. Errors and power cuts are in compaction_filter_faults_test.cc.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "upkeep/compact/filter_store.h"
#include "testing/test_store.h"
#include "cambium/compaction_filter.h"
#include "cambium/rate_limiter.h"
#include "manifest/manifest_reader.h"
#include "testing/mutant_scope.h"
#include "util/fault_point.h"
#include "vlog/record_format.h"

namespace cambium::testing::filter_tests {
namespace {

// ---- Decisions ----

TEST(CompactionFilterTest, RemovedKeysAreGoneAndKeptOnesStay) {
  FilterStore store;
  store.filter.by_value = RemovesIf([](const std::string& key) { return key.back() == '3'; });
  store.MustOpen();
  const auto expect = [&] {
    for (int i = 0; i < 60; ++i) {
      const std::string expected = i % 10 == 3 ? "NotFound" : ValueOf(i, kSizes[i % 3]);
      ASSERT_EQ(store.Get(NumberedKey(i)), expected) << i;
    }
  };
  for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i), ValueOf(i, kSizes[i % 3]));
  store.Compact();
  expect();
  EXPECT_EQ(store.Verify(), "");
  store.Reopen();
  expect();
  store.Compact();
  store.RunUntilIdle();
  expect();
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
}

// For each pair of sizes, a filter changes a value of the first size to one of the second. The new value must be stored
// as a write under the current options would store it: inline or separated, compressed or not.
TEST(CompactionFilterTest, ChangedValueIsStoredUnderCurrentOptions) {
  for (const CompressionType type : {CompressionType::kNoCompression, CompressionType::kZSTD}) {
    FilterStore store;
    store.options.blob_compression_type = type;
    store.filter.by_value = [](const std::string& key, Slice value, std::string* new_value, std::string*) {
      if (value.starts_with("new ")) return Decision::kKeep;
      *new_value = "new " + std::string(kSizes[(key.back() - '0') % 3], 'n') + key;
      return Decision::kChangeValue;
    };
    store.MustOpen();
    for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i), ValueOf(i, kSizes[i / 10 % 3]));
    store.Compact();
    const auto expect = [&] {
      for (int i = 0; i < 60; ++i) {
        ASSERT_EQ(store.Get(NumberedKey(i)), "new " + std::string(kSizes[i % 10 % 3], 'n') + NumberedKey(i)) << i;
      }
      ASSERT_EQ(store.Verify(), "");
    };
    expect();
    EXPECT_FALSE(store.FilesOf(".gc").empty());
    store.Reopen();
    expect();
    const int asked = store.filter.values_asked;
    store.Compact();
    EXPECT_GE(store.filter.values_asked, asked + 60) << "it is asked about what it has changed, too";
    expect();
    // Changed values are overwritten, and their segments are dropped like any others.
    for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i), "new is small");
    store.Compact();
    store.RunUntilIdle();
    EXPECT_EQ(store.Verify(), "");
    EXPECT_TRUE(store.FilesOf(".gc").empty());
  }
}

// A figure of cambium.space.
std::uint64_t SpaceFigure(DB* db, const std::string& name) {
  std::map<std::string, std::string> figures;
  EXPECT_TRUE(db->GetMapProperty("cambium.space", &figures));
  EXPECT_TRUE(figures.contains(name)) << name;
  return std::stoull(figures[name]);
}

// Regression: writes of a filter bypassed the rate limiter and the figures that writers go by.
TEST(CompactionFilterTest, WritesOfTheFilterAreRateLimited) {
  FilterStore store;
  constexpr int kChanged = 40;
  for (const std::size_t size : {std::size_t{1000}, std::size_t{10'000}}) {  // into a segment; into files of their own
    store.options.rate_limiter.reset(NewGenericRateLimiter(1 << 30));
    store.filter.by_value = [size](const std::string&, Slice value, std::string* new_value, std::string*) {
      if (value.starts_with("new ")) return Decision::kKeep;
      *new_value = "new " + std::string(size, 'n');
      return Decision::kChangeValue;
    };
    store.MustOpen();
    for (int i = 0; i < kChanged; ++i) store.Put(NumberedKey(i), "small");
    store.Flush();
    const std::int64_t before = store.options.rate_limiter->GetTotalBytesThrough();
    store.Compact();
    const std::int64_t through = store.options.rate_limiter->GetTotalBytesThrough() - before;
    EXPECT_GE(through, static_cast<std::int64_t>(kChanged * size)) << size;
    EXPECT_EQ(SpaceFigure(store.db.get(), "in_flight"), 0u);
    store.MustClose();
    ASSERT_TRUE(DestroyDB(kStorePath, store.options).ok());
  }
}

// Regression: records that fill a segment exactly exceeded its end by its header.
TEST(CompactionFilterTest, ChangedValuesFillSegments) {
  FilterStore store;
  constexpr std::uint64_t kSegment = 16u << 10;
  store.options.blob_file_size = kSegment;
  store.filter.by_value = [](const std::string& key, Slice value, std::string* new_value, std::string*) {
    if (value.starts_with("new ")) return Decision::kKeep;
    RecordHeader record;
    record.key_size = static_cast<std::uint32_t>(key.size());
    const std::uint64_t rest = 1024 - record.RecordSize() % 8 - kRecordHeaderSize - key.size();
    *new_value = "new " + std::string(rest / 8 * 8 - 4, 'n');
    return Decision::kChangeValue;
  };
  store.MustOpen();
  for (int i = 0; i < 100; ++i) store.Put(NumberedKey(i), "small");
  store.Compact();
  const Result<ManifestRead> read = ReadManifest(*store.fs, kStorePath);
  ASSERT_TRUE(read.ok());
  int segments = 0;
  for (const auto& [number, info] : read->state.segments) {
    if (info.kind != SegmentKind::kRelocation) continue;
    ++segments;
    EXPECT_LE(info.sealed_length, kSegment);
  }
  EXPECT_GE(segments, 6);
}

TEST(CompactionFilterTest, EmptyNewValueIsAValue) {
  FilterStore store;
  store.filter.by_value = [](const std::string&, Slice, std::string*, std::string*) { return Decision::kChangeValue; };
  store.MustOpen();
  store.Put("a", std::string(1000, 'a'));
  store.Compact();
  EXPECT_EQ(store.Get("a"), "");
  EXPECT_EQ(store.Verify(), "");
}

TEST(CompactionFilterTest, SkipUntilSkipsToItsKey) {
  FilterStore store;
  store.filter.by_value = [](const std::string& key, Slice, std::string*, std::string* skip_until) {
    if (key == NumberedKey(5)) return *skip_until = NumberedKey(8), Decision::kRemoveAndSkipUntil;
    if (key == NumberedKey(9)) return *skip_until = NumberedKey(9), Decision::kRemoveAndSkipUntil;  // not after the key
    if (key == NumberedKey(12)) return *skip_until = NumberedKey(3), Decision::kRemoveAndSkipUntil;
    return Decision::kKeep;
  };
  store.MustOpen();
  for (int i = 0; i < 20; ++i) store.Put(NumberedKey(i), ValueOf(i, kSizes[i % 2]));
  store.Compact();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(store.Get(NumberedKey(i)), i >= 5 && i < 8 ? "NotFound" : ValueOf(i, kSizes[i % 2])) << i;
  }
  EXPECT_FALSE(store.filter.shown.contains(NumberedKey(6)));
  EXPECT_TRUE(store.filter.shown.contains(NumberedKey(8)));
  EXPECT_EQ(store.Verify(), "");
}

// The simple method Filter, with RocksDB's meaning of its result.
TEST(CompactionFilterTest, FilterMethodAloneIsEnough) {
  class Simple final : public CompactionFilter {
    bool Filter(int, const Slice& key, const Slice& value, std::string* new_value, bool* value_changed) const override {
      if (key == Slice("c")) *new_value = value.ToString() + "!", *value_changed = true;
      return key == Slice("b");
    }
    [[nodiscard]] const char* Name() const override { return "Simple"; }
  };
  const Simple simple;
  TestStore store;
  store.options.compaction_filter = &simple;
  store.MustOpen();
  for (const char* const key : {"a", "b", "c"}) store.Put(key, "value");
  store.Compact();
  EXPECT_EQ(store.Get("a"), "value");
  EXPECT_EQ(store.Get("b"), "NotFound");
  EXPECT_EQ(store.Get("c").substr(0, 6), "value!");
  store.db.reset();
}

// ---- Values that the filter sees ----

TEST(CompactionFilterTest, DecisionByKeyReadsNoValue) {
  FilterStore store;
  store.filter.by_key = [](const std::string& key, std::string* new_value, std::string*) {
    switch (key.back() % 4) {
      case 0: return Decision::kKeep;
      case 1: return Decision::kRemove;
      case 2: return *new_value = "by key", Decision::kChangeValue;
      default: return Decision::kUndetermined;
    }
  };
  store.filter.by_value = [](const std::string&, Slice, std::string*, std::string*) { return Decision::kRemove; };
  store.MustOpen();
  for (int i = 0; i < 8; ++i) store.Put(NumberedKey(i), ValueOf(i, 1000));
  store.Put("inline", "small");
  store.Flush();
  EXPECT_EQ(store.filter.keys_asked + store.filter.values_asked, 0) << "a flush does not ask the filter";
  store.Compact();
  EXPECT_GE(store.filter.keys_asked, 8);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(store.filter.shown.contains(NumberedKey(i)), (i + '0') % 4 == 3) << i;
  EXPECT_TRUE(store.filter.shown.contains("inline")) << "its value is at hand: it is shown at once";
  for (int i = 0; i < 8; ++i) {
    const int way = (i + '0') % 4;
    EXPECT_EQ(store.Get(NumberedKey(i)), way == 0 ? ValueOf(i, 1000) : way == 2 ? "by key" : "NotFound") << i;
  }
  EXPECT_EQ(store.Verify(), "");
}

TEST(CompactionFilterTest, DeletedKeysAreNotShown) {
  FilterStore store;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  for (int i = 0; i < 40; ++i) store.Put(NumberedKey(i), ValueOf(i, kSizes[i % 2]));
  store.Flush();
  ASSERT_TRUE(store.db->Delete({}, NumberedKey(1)).ok());
  ASSERT_TRUE(store.db->DeleteRange({}, NumberedKey(10), NumberedKey(20)).ok());
  store.Put(NumberedKey(12), "anew");
  store.filter.shown.clear();
  store.Compact();
  if (!TestsUseLsm()) {  // in an LSM, a background compaction may have run before the deletes
    EXPECT_FALSE(store.filter.shown.contains(NumberedKey(1)));
    EXPECT_FALSE(store.filter.shown.contains(NumberedKey(11)));
  }
  EXPECT_TRUE(store.filter.shown.contains(NumberedKey(12)));
  EXPECT_TRUE(store.filter.shown.contains(NumberedKey(30)));
  store.filter.shown.clear();
  store.Compact();
  EXPECT_FALSE(store.filter.shown.contains(NumberedKey(1)));
  EXPECT_FALSE(store.filter.shown.contains(NumberedKey(11)));
}

// CompactRange asks about each key once, however many steps it takes, and even if nothing has to be merged.
TEST(CompactionFilterTest, CompactRangeAsksAboutEveryKeyOfItsRange) {
  constexpr int kKeys = 3000;
  FilterStore store;
  store.options.write_buffer_size = 4u << 10;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  for (int i = 0; i < kKeys; ++i) store.Put(NumberedKey(i), ValueOf(i, i % 7 == 0 ? 100 : 20));
  store.Compact();
  store.RunUntilIdle();
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(store.filter.shown.contains(NumberedKey(i))) << i;
  for (int round = 0; round < 2; ++round) {  // nothing is written in between
    store.filter.shown.clear();
    store.Compact();
    for (int i = 0; i < kKeys; ++i) ASSERT_EQ(store.filter.shown[NumberedKey(i)], 1) << i;
  }
  store.filter.shown.clear();
  const std::string begin = NumberedKey(1000);
  const std::string end = NumberedKey(1500);
  const Slice from(begin);
  const Slice to(end);
  ASSERT_TRUE(store.db->CompactRange({}, &from, &to).ok());
  for (int i = 1000; i <= 1500; ++i) ASSERT_EQ(store.filter.shown[NumberedKey(i)], 1) << i;
  EXPECT_LT(store.filter.shown.size(), static_cast<std::size_t>(TestsUseLsm() ? kKeys : 502));
  // Keys outside the range stay, whatever the filter would decide.
  store.filter.by_value = RemovesIf([&](const std::string& key) { return key >= begin && key <= end; });
  ASSERT_TRUE(store.db->CompactRange({}, &from, &to).ok());
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(store.Get(NumberedKey(i)) == "NotFound", i >= 1000 && i <= 1500) << i;
  EXPECT_EQ(store.Verify(), "");
  store.filter.by_value = RemovesIf([](const std::string&) { return true; });
  store.Compact();
  for (int i = 0; i < kKeys; i += 10) ASSERT_EQ(store.Get(NumberedKey(i)), "NotFound") << i;
  EXPECT_EQ(store.Verify(), "");
  store.Put("again", "1");
  store.filter.by_value = nullptr;
  store.Compact();
  EXPECT_EQ(store.Get("again"), "1");
}

// Background compactions ask the filter too: there is no CompactRange here.
TEST(CompactionFilterTest, BackgroundCompactionsAskTheFilter) {
  FilterStore store;
  store.filter.by_value = RemovesValue("gone");
  store.MustOpen();
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 100; ++i) store.Put(NumberedKey(i), i % 2 == 0 ? "gone" : "here");
    store.Flush();
    store.RunUntilIdle();
  }
  EXPECT_GT(store.filter.values_asked, 0);
  for (int i = 1; i < 100; i += 2) ASSERT_EQ(store.Get(NumberedKey(i)), "here") << i;
  int gone = 0;
  for (int i = 0; i < 100; i += 2) gone += store.Get(NumberedKey(i)) == "NotFound" ? 1 : 0;
  EXPECT_GT(gone, 0);
  EXPECT_EQ(store.Verify(), "");
}

class CountingFactory final : public CompactionFilterFactory {
 public:
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(const CompactionFilter::Context& context) override {
    contexts.push_back(context);
    if (makes_none) return nullptr;
    auto made = std::make_unique<TestFilter>();
    made->by_value = RemovesValue("gone");
    return made;
  }
  [[nodiscard]] const char* Name() const override { return "CountingFactory"; }
  std::vector<CompactionFilter::Context> contexts;
  bool makes_none = false;
};

TEST(CompactionFilterTest, FactoryMakesOneFilterPerCompaction) {
  const auto factory = std::make_shared<CountingFactory>();
  TestStore store;
  store.options.compaction_filter_factory = factory;
  store.MustOpen();
  store.Put("a", "gone");
  store.Put("b", "here");
  factory->makes_none = true;
  store.Compact();
  EXPECT_FALSE(factory->contexts.empty());
  EXPECT_EQ(store.Get("a"), "gone") << "without a filter everything stays";
  factory->makes_none = false;
  factory->contexts.clear();
  store.Compact();
  EXPECT_EQ(store.Get("a"), "NotFound");
  EXPECT_EQ(store.Get("b"), "here");
  ASSERT_EQ(factory->contexts.size(), 1u);
  EXPECT_TRUE(factory->contexts[0].is_manual_compaction);
  EXPECT_TRUE(factory->contexts[0].is_full_compaction);
  EXPECT_EQ(factory->contexts[0].column_family_id, 0u);
  EXPECT_EQ(factory->contexts[0].reason, TableFileCreationReason::kCompaction);
  factory->contexts.clear();
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 50; ++i) store.Put(NumberedKey(i), "here");
    store.Flush();
    store.RunUntilIdle();
  }
  ASSERT_FALSE(factory->contexts.empty());
  for (const auto& context : factory->contexts) EXPECT_FALSE(context.is_manual_compaction);
}

// ---- Snapshots ----

TEST(CompactionFilterTest, SnapshotsAndIteratorsAreUnaffected) {
  FilterStore store;
  store.filter.by_value = [](const std::string& key, Slice, std::string* new_value, std::string*) {
    *new_value = "changed";
    return key.back() % 2 == 0 ? Decision::kRemove : Decision::kChangeValue;
  };
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.MustOpen();
  for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i), ValueOf(i, kSizes[i % 3]));
  store.Put("flushed", "x");
  const Snapshot* const snapshot = store.db->GetSnapshot();
  const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
  it->SeekToFirst();
  for (int round = 0; round < 3; ++round) {
    store.Compact();
    store.RunUntilIdle();
    for (int i = 0; i < 60; ++i) {
      ASSERT_EQ(store.Get(NumberedKey(i), {.snapshot = snapshot}), ValueOf(i, kSizes[i % 3])) << i;
      ASSERT_EQ(store.Get(NumberedKey(i)), i % 2 == 0 ? "NotFound" : "changed") << i;
    }
  }
  ASSERT_EQ(it->key(), Slice("flushed"));
  for (int i = 0; i < 60; ++i) {
    it->Next();
    ASSERT_EQ(it->key(), Slice(NumberedKey(i)));
    ASSERT_EQ(it->value(), Slice(ValueOf(i, kSizes[i % 3])));
  }
  store.db->ReleaseSnapshot(snapshot);
}

// ---- Removed keys do not come back ----

// Old values lie below new ones, at every depth. The filter removes only new values, in whatever layer a compaction
// meets them.
// Returns "" or the key that shows an old value.
std::string OldValuesBelowRemovedOnes() {
  FilterStore store;
  store.filter.by_value = RemovesIf([](const std::string&) { return false; });
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  constexpr int kKeys = 400;
  for (int i = 0; i < kKeys; ++i) store.Put(NumberedKey(i), ValueOf(i, 40));
  store.Compact();
  for (int i = 0; i < kKeys; ++i) store.Put(NumberedKey(i), ValueOf(i, 50));
  store.Compact();
  store.filter.by_value = RemovesValue("new");
  for (int round = 0; round < 5; ++round) {
    for (int i = round; i < kKeys; i += 5) store.Put(NumberedKey(i), "new");
    store.Flush();
    store.executor->RunAll();
    for (int i = 0; i < kKeys; ++i) {
      const std::string found = store.Get(NumberedKey(i));
      if (i % 5 <= round && found != "new" && found != "NotFound") return NumberedKey(i) + " is " + found;
    }
  }
  store.filter.by_value = nullptr;
  store.Compact();
  for (int i = 0; i < kKeys; ++i) {
    const std::string found = store.Get(NumberedKey(i));
    if (found != "new" && found != "NotFound") return NumberedKey(i) + " is " + found + " at the end";
  }
  return store.Verify();
}

TEST(CompactionFilterTest, RemovedKeyRevealsNoOlderValue) {
  EXPECT_EQ(OldValuesBelowRemovedOnes(), "");
  if (!TestsUseLsm()) return;  // below the tree there is nothing
  const MutantScope mutant(Mutant::kFilterWithoutTombstones);
  EXPECT_NE(OldValuesBelowRemovedOnes(), "");
}

std::string AccountsOfWhatWasRemoved() {
  FilterStore store;
  store.filter.by_value = RemovesIf([](const std::string& key) { return key.back() == '3'; });
  store.MustOpen();
  for (int i = 0; i < 40; ++i) store.Put(NumberedKey(i), ValueOf(i, 1000));
  store.Compact();
  return store.Verify();
}

TEST(CompactionFilterTest, RemovalUpdatesAccountsInTheSameRecord) {
  EXPECT_EQ(AccountsOfWhatWasRemoved(), "");
  const MutantScope mutant(Mutant::kFilteredStaysCharged);
  EXPECT_NE(AccountsOfWhatWasRemoved(), "");
}

// Two thirds of the log are garbage, GC is off, and no unnecessary compaction runs in the background.
void FillWithGarbage(FilterStore* store, int keys) {
  store->options.level0_file_num_compaction_trigger = 100;
  store->options.level0_slowdown_writes_trigger = 200;
  store->options.level0_stop_writes_trigger = 300;
  store->options.sweep_ratio = 1;
  store->options.enable_blob_garbage_collection = false;
  store->options.blob_garbage_collection_age_cutoff = 1;
  store->MustOpen();
  for (int i = 0; i < keys; ++i) store->Put(NumberedKey(i), ValueOf(i, 1000));
  store->Flush();
  for (int i = 0; i < keys; ++i) {
    if (i % 3 != 0) store->Put(NumberedKey(i), ValueOf(i, 1001));
  }
  store->Compact();
  store->RunUntilIdle();
}

// Log GC relocates values after a compaction has asked the filter about them, and commits before the compaction does:
// the runs of log GC then lie above the output of the compaction. Returns "" or a key that CompactRange should have
// removed.
std::string MovedWhileItWasFiltered() {
  FilterStore store;
  FillWithGarbage(&store, 120);
  store.filter.by_value = RemovesIf([](const std::string& key) { return key.back() == '6'; });
  const At at("Merge:written", [&] {
    EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
    store.executor->RunAll();
  });
  store.Compact();
  EXPECT_TRUE(at.done());
  EXPECT_FALSE(store.FilesOf(".gc").empty()) << "nothing was moved meanwhile";
  const auto wrong = [&]() -> std::string {
    for (int i = 0; i < 120; ++i) {
      const std::string found = store.Get(NumberedKey(i));
      const std::string expected = i % 10 == 6 ? "NotFound" : ValueOf(i, i % 3 == 0 ? 1000 : 1001);
      if (found != expected) return NumberedKey(i) + " is " + found.substr(0, 20);
    }
    return store.Verify();
  };
  if (std::string first = wrong(); !first.empty()) return first;
  store.RunUntilIdle();
  store.Reopen();
  if (std::string again = wrong(); !again.empty()) return "opened again, " + again;
  return "";
}

TEST(CompactionFilterTest, CompactRangeFiltersValuesRelocatedMeanwhile) {
  EXPECT_EQ(MovedWhileItWasFiltered(), "");
  const MutantScope mutant(Mutant::kFilterMissesRelocated);
  EXPECT_NE(MovedWhileItWasFiltered(), "");
}

// The other way round: the filter removes or changes a value while log GC is copying it.
std::string FilteredWhileItWasMoved(bool is_changed) {
  FilterStore store;
  FillWithGarbage(&store, 120);
  const At at("Gc:copied", [&] {
    store.filter.by_value = [is_changed](const std::string& key, Slice value, std::string* new_value, std::string*) {
      if (key.back() != '6' || value.starts_with("new")) return Decision::kKeep;
      *new_value = "new" + std::string(500, 'n');
      return is_changed ? Decision::kChangeValue : Decision::kRemove;
    };
    CompactRangeOptions compact;  // would wait for the step that calls it
    compact.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kDisable;
    EXPECT_TRUE(store.db->CompactRange(compact, nullptr, nullptr).ok());
    store.filter.by_value = nullptr;  // a later compaction must not hide the mistake
  });
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  store.executor->RunAll();
  EXPECT_TRUE(at.done());
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 120; ++i) {
      const std::string found = store.Get(NumberedKey(i));
      const std::string expected = i % 10 != 6 ? ValueOf(i, i % 3 == 0 ? 1000 : 1001)
                                   : is_changed ? "new" + std::string(500, 'n')
                                                : "NotFound";
      if (found != expected) return NumberedKey(i) + " is " + found.substr(0, 20);
    }
    if (std::string wrong = store.Verify(); !wrong.empty()) return wrong;
    store.Reopen();
  }
  return "";
}

TEST(CompactionFilterTest, LogGcDoesNotRestoreFilteredValues) {
  EXPECT_EQ(FilteredWhileItWasMoved(false), "");
  EXPECT_EQ(FilteredWhileItWasMoved(true), "");
  const MutantScope mutant(Mutant::kGcSkipsSecondLookup);
  EXPECT_NE(FilteredWhileItWasMoved(false), "");
}

// A write during a filter's compaction is newer than the filter's decision.
TEST(CompactionFilterTest, ConcurrentWriteIsKept) {
  FilterStore store;
  store.MustOpen();
  for (int i = 0; i < 40; ++i) store.Put(NumberedKey(i), ValueOf(i, kSizes[i % 2]));
  store.filter.by_value = RemovesIf([](const std::string&) { return true; });
  const At at("Merge:written", [&] {
    store.Put(NumberedKey(1), "newer");
    store.Put(NumberedKey(2), "newer still");
    store.Flush();
    store.Put(NumberedKey(3), "in memory");
  });
  store.Compact();
  ASSERT_TRUE(at.done());
  EXPECT_EQ(store.Get(NumberedKey(0)), "NotFound");
  EXPECT_EQ(store.Get(NumberedKey(1)), "newer");
  EXPECT_EQ(store.Get(NumberedKey(2)), "newer still");
  EXPECT_EQ(store.Get(NumberedKey(3)), "in memory");
  EXPECT_EQ(store.Verify(), "");
}

// Entries of older layers point to segments that log GC has emptied, and a CompactRange of another range leaves these
// entries in place.
TEST(CompactionFilterTest, RelocatedValueIsNotReadInItsOldPlace) {
  FilterStore store;
  FillWithGarbage(&store, 120);
  ASSERT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  std::size_t most = 0;
  while (store.executor->pending() > 0) {
    store.executor->RunOneInstead();
    SimFileSystem copy(store.fs->Snapshot());
    const auto manifest = ReadManifest(copy, kStorePath);
    ASSERT_TRUE(manifest.ok());
    if (manifest->state.shadowed_slots.empty()) continue;
    most = std::max(most, manifest->state.shadowed_slots.size());
    store.Compact();
  }
  EXPECT_GT(most, 0u);
  for (int i = 0; i < 120; ++i) ASSERT_EQ(store.Get(NumberedKey(i)), ValueOf(i, i % 3 == 0 ? 1000 : 1001)) << i;
  EXPECT_EQ(store.Verify(), "");
}

// A compaction of two lower levels meets entries that a run above hides, and whose values log GC has punched.
TEST(CompactionFilterTest, PunchedValueIsNotRead) {
  CAMBIUM_FOR_THE_LSM_ALONE("a sweep takes every run along, so that no two layers are merged below another one");
  constexpr int kFillers = 1500;
  constexpr int kBig = 20;
  FilterStore store;
  store.options.min_punch_size = 16u << 10;
  store.options.blob_file_size = 256u << 10;
  store.options.large_value_size = 64u << 10;
  store.options.write_buffer_size = 1u << 20;
  store.options.max_total_wal_size = 8u << 20;
  store.options.enable_blob_garbage_collection = false;
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.options.level0_file_num_compaction_trigger = 1;
  store.options.level0_slowdown_writes_trigger = 200;
  store.options.level0_stop_writes_trigger = 300;
  store.MustOpen();
  const auto set = [&](const char* name, const char* value) {
    ASSERT_TRUE(store.db->SetOptions({{name, value}}).ok());
    store.RunUntilIdle();
  };
  const auto big = [](int i, int version) { return std::to_string(version) + NumberedKey(i) + std::string(20'000, 'b'); };
  const auto files_at = [&](const char* level) {
    std::string files;
    EXPECT_TRUE(store.db->GetProperty(std::string("cambium.num-files-at-level") + level, &files));
    return files;
  };
  const auto put_all = [&](int version) {
    for (int i = 0; i < kFillers; ++i) store.Put("filler" + std::to_string(i), ValueOf(i, 20));
    for (int i = 0; i < kBig; ++i) store.Put(NumberedKey(i), big(i, version));
    store.Flush();
    store.RunUntilIdle();
  };
  set("max_bytes_for_level_base", "1M");
  put_all(0);
  set("max_bytes_for_level_base", "16K");  // down to level 3
  set("max_bytes_for_level_base", "1M");
  put_all(1);
  EXPECT_NE(files_at("1"), "0");
  EXPECT_NE(files_at("3"), "0");
  set("level0_file_num_compaction_trigger", "100");
  for (int i = 0; i < kBig; ++i) store.Put(NumberedKey(i), big(i, 2));
  store.Flush();
  set("enable_blob_garbage_collection", "true");
  SimFileSystem copy(store.fs->Snapshot());
  const auto manifest = ReadManifest(copy, kStorePath);
  ASSERT_TRUE(manifest.ok());
  std::size_t punched = 0;
  for (const auto& [number, info] : manifest->state.segments) punched += info.punched.size();
  EXPECT_GT(punched, 0u);
  store.filter.shown.clear();
  set("max_bytes_for_level_base", "16K");
  EXPECT_FALSE(store.filter.shown.empty());
  EXPECT_EQ(files_at("1"), "0");
  for (int i = 0; i < kBig; ++i) ASSERT_EQ(store.Get(NumberedKey(i)), big(i, 2)) << i;
  EXPECT_EQ(store.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing::filter_tests
