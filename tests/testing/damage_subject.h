// A database with every kind of file, for tests that damage it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
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

// Makes the database. Its ids depend on `id`. With `older` it stops early, which gives an older copy of the same
// database.
[[nodiscard]] inline Subject MakeSubject(std::uint64_t id, End end, bool older = false,
                                         CompressionType compression = CompressionType::kNoCompression) {
  TestStore store;
  UseSubjectOptions(&store.options);
  store.options.compression = compression;
  store.options.random_source = std::make_shared<SimRandomSource>(id);
  Subject subject;
  const auto put = [&](const std::string& key, const std::string& value) {
    store.Put(key, subject.model[key] = value);
    subject.written[key].insert(value);
  };
  store.MustOpen();
  // The tree, with values in a segment that fills up and is sealed with a footer.
  for (int i = 0; i < 40; ++i) put("t" + std::to_string(100 + i), ValueOf(i, i % 3 == 0 ? 12 : 700));
  put("large", ValueOf(1, 5'000));
  if (compression != CompressionType::kNoCompression) {
    // Inline values that compress, so that leaves are stored compressed. In two runs: a single run would only be moved.
    for (const int part : {0, 1}) {
      for (int i = part; i < 80; i += 2) {
        Prng noise(static_cast<std::uint64_t>(i));
        put("t2" + std::to_string(100 + i), noise.Bytes(20) + std::string(30, static_cast<char>('a' + i % 3)));
      }
      store.Flush();
    }
  }
  store.Compact();
  store.executor->RunAll();
  subject.sealed_log = store.FilesOf(".log").front();
  const std::vector<std::string> levels = store.FilesOf(".run");
  if (!older) {
    // This flush makes a run, since its keys span the whole tree.
    put("t100", ValueOf(50, 90));
    put("t139", ValueOf(51, 9));
    EXPECT_TRUE(store.db->Delete({}, "t120").ok());
    subject.model.erase("t120");
    if (TestsUseLsm()) {  // with a tree, the flush would merge it into the tree directly
      EXPECT_TRUE(store.db->DeleteRange({}, "t122", "t124").ok());
      subject.model.erase("t122");
      subject.model.erase("t123");
    }
    store.Flush();
    store.executor->RunAll();
    // The log's tail, synced.
    for (int i = 0; i < 6; ++i) put("u" + std::to_string(i), ValueOf(i, i % 2 == 0 ? 5 : 80));
    EXPECT_TRUE(store.db->Delete({}, "t130").ok());
    subject.model.erase("t130");
  }
  EXPECT_TRUE(store.db->SyncWAL().ok());
  // Not synced. Naming its file in the MANIFEST records how far the log is durable.
  subject.maybe["late"] = ValueOf(9, 4'500);
  store.Put("late", subject.maybe["late"]);
  subject.written["late"].insert(subject.maybe["late"]);
  for (const auto& [path, bytes] : store.Files()) {
    // Skips the spare segment.
    if (path.ends_with(".log") && bytes.find("late") != std::string::npos) subject.open_log = path;
  }
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
  return subject;
}

}  // namespace cambium::testing
