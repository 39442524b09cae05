// TestStore: a database in a simulated file system, with options that a test may change before each Open. Background
// tasks run in the test's thread, when the database waits for them or when the test runs them. Most tests of the
// database use it; a program of random operations runs on a ProgramDatabase (testing/program/program_database.h).
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cambium/db.h"
#include "io/sim/sim_clock.h"
#include "io/sim/sim_file_system.h"
#include "io/sim/sim_random_source.h"
#include "testing/index_mode.h"
#include "testing/small_options.h"
#include "util/manual_executor.h"

namespace cambium::testing {

inline constexpr const char* kStorePath = "/db";

// Returns k0000, k0001, ..., which are in key order.
[[nodiscard]] inline std::string NumberedKey(int i) {
  char key[16];
  std::snprintf(key, sizeof(key), "k%04d", i);
  return key;
}

class TestStore {
 public:
  explicit TestStore(SimOptions sim = {}) : TestStore(std::make_shared<SimFileSystem>(sim)) {}
  explicit TestStore(std::shared_ptr<SimFileSystem> file_system) : options(SmallOptions()), fs(std::move(file_system)) {
    clock = std::make_shared<SimClock>();
    executor = std::make_shared<ManualExecutor>();
    executor->OnNothingToRun([] {
      std::fprintf(stderr, "a call waits, but no task is left that could wake it\n");
      std::abort();
    });
    options.file_system = fs;
    options.clock = clock;
    options.random_source = std::make_shared<SimRandomSource>(7);
    options.executor = executor;
    options.info_log = NullLogger();
  }

  Status Open() { return DB::Open(options, kStorePath, &db); }
  void MustOpen() {
    const Status s = Open();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void MustClose() {
    const Status s = db->Close();
    ASSERT_TRUE(s.ok()) << s.ToString();
    db.reset();
  }
  void Reopen() {
    MustClose();
    MustOpen();
  }
  void Put(Slice key, Slice value, bool sync = false) {
    WriteOptions write;
    write.sync = sync;
    const Status s = db->Put(write, key, value);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Returns the value, "NotFound", or the error.
  std::string Get(Slice key, const ReadOptions& read = {}) {
    std::string value;
    const Status s = db->Get(read, key, &value);
    return s.ok() ? value : s.IsNotFound() ? "NotFound" : s.ToString();
  }
  void Flush() {
    const Status s = db->Flush({});
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void Compact(const CompactRangeOptions& compact = {}) {
    const Status s = db->CompactRange(compact, nullptr, nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void RunUntilIdle() {
    const Status s = db->WaitForCompact();
    ASSERT_TRUE(s.ok()) << s.ToString();
    executor->RunAll();
  }
  // Lets seconds pass one by one, and runs the tasks that are due after each.
  void LetSecondsPass(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      executor->LetTimePass();
      executor->RunAll();
    }
  }
  std::uint64_t Property(const std::string& name) {
    std::uint64_t value = 0;
    EXPECT_TRUE(db->GetIntProperty("cambium." + name, &value)) << name;
    return value;
  }

  // Returns every file by path, with its bytes.
  [[nodiscard]] std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& file : fs->probe().ListFiles())
      EXPECT_TRUE(fs->probe().ReadContents(file.path, &files[file.path]).ok());
    return files;
  }
  // Returns the paths that end with `suffix` (".log", ".run"), or whose file name begins with it ("MANIFEST").
  [[nodiscard]] std::vector<std::string> FilesOf(const std::string& suffix) const {
    std::vector<std::string> paths;
    for (const auto& file : fs->probe().ListFiles()) {
      if (file.path.ends_with(suffix) || file.path.find("/" + suffix) != std::string::npos) paths.push_back(file.path);
    }
    return paths;
  }
  // Flips a bit in the middle of the first occurrence of `text` in each index file. Returns the number of files
  // changed.
  int DamageInIndex(const std::string& text) {
    int damages = 0;
    for (const std::string& path : FilesOf(IndexFileSuffix())) {
      std::string bytes;
      EXPECT_TRUE(fs->probe().ReadContents(path, &bytes).ok());
      const std::size_t at = bytes.find(text);
      if (at == std::string::npos) continue;
      EXPECT_TRUE(fs->tampering().FlipBit(path, at + text.size() / 2, 3).ok());
      ++damages;
    }
    return damages;
  }
  // Returns the largest number of run files after a compaction of a small database: with an LSM, the last level has
  // some.
  [[nodiscard]] std::size_t RunsAtRest() const { return TestsUseLsm() ? 2 : 0; }
  [[nodiscard]] std::uint64_t BytesOnDisk() const {
    std::uint64_t bytes = 0;
    for (const auto& file : fs->probe().ListFiles()) bytes += file.size;
    return bytes;
  }
  // Runs a deep VerifyDB on a copy of the current files. Returns everything that is wrong, also in dead bytes, or "".
  [[nodiscard]] std::string Verify() const {
    Options copy = options;
    copy.file_system = std::make_shared<SimFileSystem>(fs->Snapshot());
    VerifyReport report;
    const Status s = VerifyDB(kStorePath, copy, {.deep = true}, &report);
    if (!s.ok()) return s.ToString();
    std::string all;
    for (const std::string& problem : report.problems) all += problem + "\n";
    for (const std::string& dead : report.dead_damage) all += "dead: " + dead + "\n";
    return all;
  }

  Options options;
  std::shared_ptr<SimFileSystem> fs;
  std::shared_ptr<SimClock> clock;
  std::shared_ptr<ManualExecutor> executor;
  std::unique_ptr<DB> db;
};

// Returns the files in the directory of the store, by path, without LOCK.
[[nodiscard]] inline std::map<std::string, std::string> FilesOfDatabase(const SimFileSystem& fs) {
  std::map<std::string, std::string> files;
  for (const auto& file : fs.probe().ListFiles()) {
    if (!file.path.starts_with(std::string(kStorePath) + "/") || file.path.ends_with("/LOCK")) continue;
    EXPECT_TRUE(fs.probe().ReadContents(file.path, &files[file.path]).ok());
  }
  return files;
}

}  // namespace cambium::testing
