// A database with every kind of file, for tests that damage it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testing/test_store.h"
#include "util/prng.h"

namespace cambium::testing {

using Model = std::map<std::string, std::string>;

// A database made by fixed steps.
struct Subject {
  SimImage image;
  Model model;                                                    // synced: must survive
  Model maybe;                                                    // not synced: may survive
  std::map<std::string, std::set<std::string>> written;           // all values that a key ever had
  std::string open_log, sealed_log, run, index, large, manifest;  // paths; `index`: of the tree or a level
};

[[nodiscard]] inline std::string ValueOf(int i, std::size_t size) {
  std::string value(size, static_cast<char>('a' + i % 26));
  for (std::size_t at = 0; at + 8 < size; at += 31) value[at] = static_cast<char>(i + static_cast<int>(at));
  return value;
}

inline void UseSubjectOptions(Options* options) {
  options->blob_file_size = 16 << 10;
  options->large_value_size = 4 << 10;
}

enum class End { kClean, kCrash };

// The database while it is made, in the steps below.
struct GrowingSubject {
  void Put(const std::string& key, const std::string& value) {
    store.Put(key, subject.model[key] = value);
    subject.written[key].insert(value);
  }
  void Delete(const std::string& key) {
    EXPECT_TRUE(store.db->Delete({}, key).ok());
    subject.model.erase(key);
  }

  TestStore store;
  Subject subject;
};

// The tree, with values in a segment that fills up and is sealed with a footer, and a large value.
inline void FillTree(GrowingSubject* growing) {
  TestStore& store = growing->store;
  for (int i = 0; i < 40; ++i) growing->Put("t" + std::to_string(100 + i), ValueOf(i, i % 3 == 0 ? 12 : 700));
  growing->Put("large", ValueOf(1, 5'000));
  if (store.options.compression != CompressionType::kNoCompression) {
    // Inline values that compress, so that leaves are stored compressed. In two runs: a single run would only be moved.
    for (const int part : {0, 1}) {
      for (int i = part; i < 80; i += 2) {
        Prng noise(static_cast<std::uint64_t>(i));
        growing->Put("t2" + std::to_string(100 + i), noise.Bytes(20) + std::string(30, static_cast<char>('a' + i % 3)));
      }
      store.Flush();
    }
  }
  store.Compact();
  store.executor->RunAll();
  growing->subject.sealed_log = store.FilesOf(".log").front();
}

// A run above the tree, and newer writes, which only the log has.
inline void AddRunAndLogTail(GrowingSubject* growing) {
  TestStore& store = growing->store;
  // This flush makes a run, since its keys span the whole tree.
  growing->Put("t100", ValueOf(50, 90));
  growing->Put("t139", ValueOf(51, 9));
  growing->Delete("t120");
  if (TestsUseLsm()) {  // with a tree, the flush would merge it into the tree directly
    EXPECT_TRUE(store.db->DeleteRange({}, "t122", "t124").ok());
    growing->subject.model.erase("t122");
    growing->subject.model.erase("t123");
  }
  store.Flush();
  store.executor->RunAll();
  for (int i = 0; i < 6; ++i) growing->Put("u" + std::to_string(i), ValueOf(i, i % 2 == 0 ? 5 : 80));
  growing->Delete("t130");
}

// A write that is not synced. Naming its file in the MANIFEST records how far the log is durable.
inline void AddUnsyncedValue(GrowingSubject* growing) {
  Subject& subject = growing->subject;
  subject.maybe["late"] = ValueOf(9, 4'500);
  growing->store.Put("late", subject.maybe["late"]);
  subject.written["late"].insert(subject.maybe["late"]);
  for (const auto& [path, bytes] : growing->store.Files()) {
    // Skips the spare segment.
    if (path.ends_with(".log") && bytes.find("late") != std::string::npos) subject.open_log = path;
  }
}

// Makes the database. Its ids depend on `id`. With `older` it stops early, which gives an older copy of the same
// database.
[[nodiscard]] inline Subject MakeSubject(std::uint64_t id, End end, bool older = false,
                                         CompressionType compression = CompressionType::kNoCompression) {
  GrowingSubject growing;
  TestStore& store = growing.store;
  Subject& subject = growing.subject;
  UseSubjectOptions(&store.options);
  store.options.compression = compression;
  store.options.random_source = std::make_shared<SimRandomSource>(id);
  store.MustOpen();
  FillTree(&growing);
  const std::vector<std::string> levels = store.FilesOf(".run");
  if (!older) AddRunAndLogTail(&growing);
  EXPECT_TRUE(store.db->SyncWAL().ok());
  AddUnsyncedValue(&growing);
  if (end == End::kClean) {
    store.MustClose();
    subject.model["late"] = subject.maybe["late"];
    subject.maybe.clear();
  }
  for (const std::string& path : store.FilesOf(".run")) {
    if (std::ranges::find(levels, path) == levels.end()) subject.run = path;
  }
  EXPECT_TRUE(older || !subject.run.empty());
  subject.index = TestsUseLsm() ? levels.front() : store.FilesOf(".idx").back();
  subject.large = store.FilesOf(".val").front();
  subject.manifest = store.FilesOf("MANIFEST").back();
  Prng prng(1);
  subject.image = store.fs->Snapshot().Kill(prng);
  if (end == End::kCrash) {
    store.fs->PowerOff();
    store.db.reset();
  }
  return std::move(subject);
}

}  // namespace cambium::testing
