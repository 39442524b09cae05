// Databases in states that only develop over time, for tests that damage them: families of both indexes, relocated
// values, holes, large values, a tree in the middle of a sweep.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testing/family_store.h"
#include "manifest/manifest_reader.h"
#include "util/prng.h"

namespace cambium::testing::grown {

using Model = std::map<std::string, std::string>;
using Models = std::map<std::string, Model>;  // by family

struct Subject {
  std::string name = {};
  std::function<void(FamilyStore*)> set_options = {};
  std::vector<std::string> families = {};  // in addition to the default one
  SimImage image = {};
  SimImage older = {};  // an earlier state of the database
  Models must = {};     // entries that must be found
  Models may = {};      // entries that may be found
  std::map<std::string, std::map<std::string, std::set<std::string>>> written = {};  // all values that a key ever had
};

// Databases with different ids differ only in their database id and file ids.
inline constexpr std::uint64_t kUsualId = 7;


inline void UseSmallFiles(FamilyStore* store) {
  store->options.blob_file_size = 16u << 10;
  store->options.large_value_size = 8u << 10;
  store->options.enable_blob_garbage_collection = false;
}

inline void PutBoth(FamilyStore* store, Subject* subject, std::size_t family, const std::string& key, std::string value) {
  const std::string& name = family == 0 ? kDefaultColumnFamilyName : subject->families[family - 1];
  store->PutIn(store->handles[family], key, value);
  subject->written[name][key].insert(value);
  subject->must[name][key] = std::move(value);
}

[[nodiscard]] inline std::string ValueOf(int i, std::size_t size) {
  return NumberedKey(i) + std::string(size, static_cast<char>('a' + i % 26));
}

// Syncs everything and makes the MANIFEST record it, by writing a large value. Otherwise damage in the last synced
// group before a crash could not be told from a torn tail: nothing else records that it was durable.
inline void SyncAndRecord(FamilyStore* store, Subject* subject) {
  EXPECT_TRUE(store->db->SyncWAL().ok());
  const std::string large = ValueOf(99, store->options.large_value_size);
  store->Put("late", large);
  subject->may[kDefaultColumnFamilyName]["late"] = large;
  subject->written[kDefaultColumnFamilyName]["late"].insert(large);
}

inline void End(FamilyStore* store, Subject* subject) {
  SyncAndRecord(store, subject);
  Prng prng(1);
  subject->image = store->fs->Snapshot().Kill(prng);
  store->DestroyHandles();
  store->fs->PowerOff();
  store->db.reset();
}

[[nodiscard]] inline ManifestState StateOf(const SimImage& image) {
  SimFileSystem copy(image);
  const auto read = ReadManifest(copy, kStorePath);
  EXPECT_TRUE(read.ok());
  return read->state;
}

// Has families of both indexes, with runs above a tree and above levels; sealed segments with dead and live records;
// and a tail with new keys.
[[nodiscard]] inline Subject Families(std::uint64_t id = kUsualId) {
  Subject subject{.name = "families", .set_options = UseSmallFiles, .families = {"other", "third"}};
  subject.set_options = [](FamilyStore* store) {
    UseSmallFiles(store);
    ColumnFamilyOptions other = store->options;
    other.index_type = TestsUseLsm() ? IndexKind::kBTree : IndexKind::kLsm;
    store->family_options["other"] = other;
    ColumnFamilyOptions third = store->options;
    third.comparator = ReverseBytewiseComparator();
    store->family_options["third"] = third;
  };
  FamilyStore store;
  store.options.random_source = std::make_shared<SimRandomSource>(id);
  subject.set_options(&store);
  store.MustOpenWith({});
  for (const std::string& name : subject.families) store.Create(name);
  for (std::size_t f = 0; f < 3; ++f) {
    for (int i = 0; i < 40; ++i) PutBoth(&store, &subject, f, NumberedKey(i), ValueOf(i, i % 3 == 0 ? 10 : 500));
    EXPECT_TRUE(store.db->CompactRange({}, store.handles[f], nullptr, nullptr).ok());
  }
  subject.older = store.fs->Snapshot();
  for (std::size_t f = 0; f < 3; ++f) {
    const std::string name = f == 0 ? kDefaultColumnFamilyName : subject.families[f - 1];
    for (int i = 0; i < 40; i += 13) PutBoth(&store, &subject, f, NumberedKey(i), ValueOf(i + 1, 400));
    const std::string begin = NumberedKey(f == 2 ? 22 : 20);
    const std::string end = NumberedKey(f == 2 ? 20 : 22);
    EXPECT_TRUE(store.db->DeleteRange({}, store.handles[f], begin, end).ok());
    for (const int i : {20, 21}) subject.must[name].erase(NumberedKey(i));
    if (f == 2) {  // (22, 20] in this order
      PutBoth(&store, &subject, f, NumberedKey(20), ValueOf(20, 90));
      EXPECT_TRUE(store.db->Delete({}, store.handles[f], NumberedKey(22)).ok());
      subject.must[name].erase(NumberedKey(22));
    }
    store.FlushOf(store.handles[f]);
  }
  store.executor->RunAll();
  for (int i = 50; i < 56; ++i)
    PutBoth(&store, &subject, static_cast<std::size_t>(i) % 3, NumberedKey(i), ValueOf(i, 200));
  End(&store, &subject);
  return subject;
}

// Most of the log is overwritten, and log GC has relocated the live values.
[[nodiscard]] inline Subject Collected(std::uint64_t id = kUsualId) {
  Subject subject{.name = "collected", .set_options = UseSmallFiles};
  FamilyStore store;
  store.options.random_source = std::make_shared<SimRandomSource>(id);
  UseSmallFiles(&store);
  store.options.blob_garbage_collection_age_cutoff = 1;
  store.MustOpenWith({});
  for (int i = 0; i < 60; ++i) PutBoth(&store, &subject, 0, NumberedKey(i), ValueOf(i, 600));
  store.Flush();
  for (int i = 0; i < 60; ++i) {
    if (i % 3 != 0) PutBoth(&store, &subject, 0, NumberedKey(i), ValueOf(i + 1, 600));
  }
  store.Compact();
  store.RunUntilIdle();
  subject.older = store.fs->Snapshot();
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  store.RunUntilIdle();
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "false"}}).ok());
  // Adds new garbage in old and new segments, which log GC does not collect.
  for (int i = 0; i < 60; i += 7) PutBoth(&store, &subject, 0, NumberedKey(i), ValueOf(i + 2, 300));
  store.Flush();
  store.executor->RunAll();
  End(&store, &subject);
  const ManifestState state = StateOf(subject.image);
  EXPECT_TRUE(
      std::ranges::any_of(state.segments, [](const auto& s) { return s.second.kind == SegmentKind::kRelocation; }));
  return subject;
}

[[nodiscard]] inline Subject Punched(std::uint64_t id = kUsualId) {
  Subject subject{.name = "punched"};
  subject.set_options = [](FamilyStore* store) {
    store->options.min_punch_size = 8u << 10;
    store->options.blob_file_size = 64u << 10;
    store->options.large_value_size = 32u << 10;
    store->options.write_buffer_size = 1u << 20;
    store->options.max_total_wal_size = 8u << 20;
    store->options.enable_blob_garbage_collection = false;
    store->options.blob_garbage_collection_age_cutoff = 1;
  };
  FamilyStore store;
  store.options.random_source = std::make_shared<SimRandomSource>(id);
  subject.set_options(&store);
  store.MustOpenWith({});
  for (int i = 0; i < 12; ++i) PutBoth(&store, &subject, 0, NumberedKey(i), ValueOf(i, 10'000));
  store.Flush();
  for (int i = 0; i < 12; ++i) {
    if (i % 3 != 0) PutBoth(&store, &subject, 0, NumberedKey(i), ValueOf(i + 1, 10'000));
  }
  store.Compact();
  store.RunUntilIdle();
  subject.older = store.fs->Snapshot();
  EXPECT_TRUE(store.db->SetOptions({{"enable_blob_garbage_collection", "true"}}).ok());
  store.RunUntilIdle();
  End(&store, &subject);
  const ManifestState state = StateOf(subject.image);
  EXPECT_TRUE(std::ranges::any_of(state.segments, [](const auto& s) { return !s.second.punched.empty(); }));
  return subject;
}

// Has large values that are flushed, hidden by newer entries, and in the tail.
[[nodiscard]] inline Subject LargeValues(std::uint64_t id = kUsualId) {
  Subject subject{.name = "large values", .set_options = UseSmallFiles};
  FamilyStore store;
  store.options.random_source = std::make_shared<SimRandomSource>(id);
  UseSmallFiles(&store);
  store.MustOpenWith({});
  for (int i = 0; i < 30; ++i) PutBoth(&store, &subject, 0, NumberedKey(i), ValueOf(i, i % 10 == 0 ? 9'000 : 100));
  store.Compact();
  subject.older = store.fs->Snapshot();
  PutBoth(&store, &subject, 0, NumberedKey(10), ValueOf(10, 9'500));
  PutBoth(&store, &subject, 0, NumberedKey(0), "small");
  store.Flush();
  PutBoth(&store, &subject, 0, NumberedKey(40), ValueOf(40, 9'000));
  PutBoth(&store, &subject, 0, NumberedKey(41), ValueOf(41, 9'000));
  PutBoth(&store, &subject, 0, NumberedKey(41), "replaced in the tail");
  End(&store, &subject);
  return subject;
}

// Has a tree, and runs whose keys below the sweep cursor have been merged into the tree.
[[nodiscard]] inline Subject HalfSwept(std::uint64_t id = kUsualId) {
  Subject subject{.name = "half swept"};
  subject.set_options = [](FamilyStore* store) {
    UseSmallFiles(store);
    store->options.write_buffer_size = 4u << 10;
    store->options.blob_file_size = 64u << 10;
  };
  FamilyStore store;
  store.options.random_source = std::make_shared<SimRandomSource>(id);
  subject.set_options(&store);
  store.executor->OnNothingToRun([] {});
  store.MustOpenWith({});
  for (int i = 0; i < 9'000; ++i) PutBoth(&store, &subject, 0, NumberedKey(i), std::to_string(i));
  store.Compact();
  subject.older = store.fs->Snapshot();
  Prng prng(3);
  for (int round = 0; round < 400; ++round) {
    for (int i = 0; i < 20; ++i) {
      const int key = static_cast<int>(prng.Uniform(9'000));
      PutBoth(&store, &subject, 0, NumberedKey(key), ValueOf(key, i == 0 ? 100 : 5));
    }
    store.Flush();
    static_cast<void>(store.executor->RunOneInstead());
    const ManifestState state = StateOf(store.fs->Snapshot());
    const auto& sweep = state.families.at(0).sweep;
    if (sweep.has_value() && sweep->cursor > NumberedKey(3'000) && sweep->cursor < NumberedKey(7'000)) {
      End(&store, &subject);
      return subject;
    }
  }
  ADD_FAILURE() << "no sweep stopped half way";
  return subject;
}

}  // namespace cambium::testing::grown
