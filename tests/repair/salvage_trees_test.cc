// Tests salvage of databases with a history: several runs and compactions, overwritten and deleted keys, log GC, range
// deletes. One page, record or file at a time is damaged. Every value in the new database was written for its key.
// If unproven values are left out, each value is the newest of its key, except that damage of the tail of the log may
// lose newer values. The report then has newest_known.
#include <gtest/gtest.h>

#include <memory>
#include <set>

#include "testing/test_store.h"
#include "index/page_format.h"
#include "io/file_header.h"
#include "cambium/repair.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium::testing::salvage_trees_test {
namespace {

constexpr const char* kOutPath = "/out";
using Entries = std::map<std::string, std::string>;

struct Lived {
  SimImage image;
  Entries model;
  std::map<std::string, std::set<std::string>> written;
  Options options;
};

// `is_reopened`: Open has removed the log before the replay position, so that only the index has inline values.
Lived Live(std::uint64_t seed, bool is_reopened) {
  TestStore store;
  Prng prng(seed);
  store.options.blob_file_size = 16 << 10;
  store.options.large_value_size = 8 << 10;
  store.options.page_size = 512;
  Lived lived;
  store.MustOpen();
  const int keys = 300;
  for (int round = 0; round < 8; ++round) {
    const int writes = round == 0 ? keys : 40;
    for (int i = 0; i < writes; ++i) {
      const std::string key = NumberedKey(round == 0 ? i : static_cast<int>(prng.Uniform(keys)));
      const std::uint64_t what = prng.Uniform(20);
      if (round > 0 && what < 4) {
        EXPECT_TRUE(store.db->Delete({}, key).ok());
        lived.model.erase(key);
      } else if (round > 2 && what == 4) {
        const std::string end = key + "~";
        EXPECT_TRUE(store.db->DeleteRange({}, key, end).ok());
        lived.model.erase(key);
      } else {
        const std::size_t size = what == 5 ? 9'000 : what < 14 ? 20 + prng.Uniform(60) : 600 + prng.Uniform(300);
        const std::string value = prng.Bytes(size);
        store.Put(key, value);
        lived.model[key] = value;
        lived.written[key].insert(value);
      }
    }
    if (prng.Uniform(3) != 0) store.Flush();
    if (prng.Uniform(4) == 0) store.Compact();
    store.executor->RunAll();
  }
  EXPECT_TRUE(store.db->SyncWAL().ok());
  if (is_reopened) store.Reopen();
  store.MustClose();
  lived.image = store.fs->Snapshot().Kill(prng);
  lived.options = store.options;
  return lived;
}

struct Outcome {
  Entries entries;
  RepairReport report;
  std::string findings;
};

Outcome SalvageOf(const Lived& lived, const std::shared_ptr<SimFileSystem>& fs, bool include_unproven) {
  Outcome outcome;
  TestStore store(fs);
  Options options = lived.options;
  options.file_system = fs;
  options.executor = store.executor;
  RepairOptions how;
  how.include_unproven = include_unproven;
  how.on_lost = [&](const RepairLoss& loss) {
    outcome.findings += "lost " + loss.key.value_or(loss.begin.value_or("-") + " to " + loss.end.value_or("-")) + ": " +
                    loss.what + "\n";
  };
  how.on_unproven = [&](const RepairUnproven& unproven) { outcome.findings += "unproven " + unproven.key + "\n"; };
  const Status s = RepairDB(kStorePath, kOutPath, options, {{kDefaultColumnFamilyName, options}}, how, &outcome.report);
  EXPECT_TRUE(s.ok()) << s.ToString();
  for (const std::string& note : outcome.report.notes) outcome.findings += "note " + note + "\n";
  std::unique_ptr<DB> db;
  EXPECT_TRUE(DB::OpenForReadOnly(options, kOutPath, &db).ok());
  if (db == nullptr) return outcome;
  const std::unique_ptr<Iterator> it(db->NewIterator({}));
  for (it->SeekToFirst(); it->Valid(); it->Next()) outcome.entries[it->key().ToString()] = it->value().ToString();
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  return outcome;
}

// Returns what reads of the damaged database still return.
Entries Readable(const Lived& lived, const SimImage& damaged) {
  Entries readable;
  TestStore store(std::make_shared<SimFileSystem>(damaged));
  Options options = lived.options;
  options.file_system = store.fs;
  options.executor = store.executor;
  std::unique_ptr<DB> db;
  if (!DB::OpenForReadOnly(options, kStorePath, &db).ok()) return readable;
  std::string value;
  for (const auto& [key, values] : lived.written) {
    if (db->Get({}, key, &value).ok()) readable[key] = value;
  }
  return readable;
}

void Judge(const Lived& lived, const SimImage& damaged, bool is_index) {
  const Outcome proven = SalvageOf(lived, std::make_shared<SimFileSystem>(damaged), false);
  for (const auto& [key, value] : Readable(lived, damaged)) {
    const auto there = proven.entries.find(key);
    ASSERT_TRUE(there != proven.entries.end() && there->second == value) << key << " is readable\n" << proven.findings;
  }
  std::set<std::string> missing;
  for (const auto& [key, value] : lived.model) {
    if (!proven.entries.contains(key)) missing.insert(key);
  }
  for (const auto& [key, value] : proven.entries) {
    const auto newest = lived.model.find(key);
    if (newest != lived.model.end() && newest->second == value) continue;
    // Only damage of the tail can lose a newer value, and newest_known reports this. No layer is damaged then.
    const auto written = lived.written.find(key);
    ASSERT_TRUE(!is_index && proven.report.newest_known.has_value()) << key << " has an old value\n" << proven.findings;
    ASSERT_TRUE(written != lived.written.end() && written->second.contains(value)) << key << ": unwritten value";
  }
  ASSERT_TRUE(missing.empty() || !proven.report.IsClean()) << *missing.begin() << " is missing without a report";
  const Outcome all = SalvageOf(lived, std::make_shared<SimFileSystem>(damaged), true);
  for (const auto& [key, value] : all.entries) {
    const auto written = lived.written.find(key);
    ASSERT_TRUE(written != lived.written.end() && written->second.contains(value)) << key << ": unwritten value";
  }
  for (const auto& [key, value] : proven.entries) {
    ASSERT_TRUE(all.entries.contains(key)) << key << " is proven, but missing if unproven values are included\n"
                                           << all.findings;
  }
  ASSERT_EQ(proven.report.lost, all.report.lost);
}

TEST(SalvageTreesTest, HealthyDatabasesAreRecoveredWhole) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Lived lived = Live(seed, seed % 2 == 0);
    const Outcome outcome = SalvageOf(lived, std::make_shared<SimFileSystem>(lived.image), false);
    EXPECT_TRUE(outcome.report.IsClean()) << outcome.findings;
    ASSERT_EQ(outcome.entries, lived.model);
  }
}

TEST(SalvageTreesTest, OldValuesAreNeverProven) {
  const std::uint64_t seed = SeedFromEnvironment(211);
  Prng prng(seed);
  for (std::uint64_t round = 0; round < ScaledCount(12); ++round) {
    const Lived lived = Live(seed + round, round % 2 == 0);
    for (const auto& file : SimFileSystem(lived.image).probe().ListFiles()) {
      const bool is_index = file.path.ends_with(".run") || file.path.ends_with(".idx");
      const bool is_value = file.path.ends_with(".log") || file.path.ends_with(".gc") || file.path.ends_with(".val");
      if ((!is_index && !is_value) || file.size < 256) continue;
      for (int i = 0; i < 6; ++i) {
        const auto fs = std::make_shared<SimFileSystem>(lived.image);
        const std::uint64_t at = prng.Uniform(file.size / 128) * 128;
        SCOPED_TRACE("round " + std::to_string(round) + ", " + file.path + " at " + std::to_string(at));
        if (i == 5) {
          ASSERT_TRUE(fs->tampering().Remove(file.path).ok());
        } else {
          const std::string garbage = prng.Bytes(std::min<std::uint64_t>(i < 3 ? 8 : 1024, file.size - at));
          ASSERT_TRUE(fs->tampering().Overwrite(file.path, at, garbage).ok());
        }
        Judge(lived, fs->Snapshot(), is_index);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// If the tree's files contain replaced pages, salvage takes the leaves that were written last for those below a lost
// branch, provided that they have as many entries as the branch had. If another page is damaged too, these leaves prove
// nothing: an older leaf might be in the place of that page.
TEST(SalvageTreesTest, LeavesBelowALostBranchAreFound) {
  CAMBIUM_TREE_ONLY("it damages branches of a tree whose pages were replaced; no page of a run ever is");
  const std::uint64_t seed = SeedFromEnvironment(307);
  Prng prng(seed);
  int branches = 0;
  for (std::uint64_t round = 0; round < 3; ++round) {
    const Lived lived = Live(seed + round, true);
    for (const auto& file : SimFileSystem(lived.image).probe().ListFiles()) {
      if (!file.path.ends_with(".idx")) continue;
      for (std::uint64_t at = 512; at < file.size; at += 512 * kSweepStep) {
        SCOPED_TRACE("round " + std::to_string(round) + ", " + file.path + " at " + std::to_string(at));
        const auto fs = std::make_shared<SimFileSystem>(lived.image);
        ASSERT_TRUE(fs->tampering().FlipBit(file.path, at + prng.Uniform(512), 3).ok());
        const SimImage damaged = fs->Snapshot();
        const Outcome outcome = SalvageOf(lived, fs, false);
        if (outcome.findings.find("all leaves below it were found") == std::string::npos) continue;
        ++branches;
        EXPECT_TRUE(outcome.report.IsClean()) << outcome.findings;
        ASSERT_EQ(outcome.entries, lived.model);
        for (int i = 0; i < 8; ++i) {
          const auto twice = std::make_shared<SimFileSystem>(damaged);
          const std::uint64_t other = prng.Uniform(file.size);
          ASSERT_TRUE(twice->tampering().Overwrite(file.path, other / 512 * 512, std::string(64, 'x')).ok());
          Judge(lived, twice->Snapshot(), true);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(branches, 0);
}

// Overwrites one key with a value of the same size, so that the replaced leaf has the same counts.
Lived LiveInATree(int deleted_from, int deleted_to) {
  Lived lived;
  TestStore store;
  store.options.page_size = 512;
  store.options.blob_file_size = 16 << 10;
  lived.options = store.options;
  const auto put = [&](int i, const std::string& value) {
    store.Put(NumberedKey(i), value);
    lived.model[NumberedKey(i)] = value;
    lived.written[NumberedKey(i)].insert(value);
  };
  store.MustOpen();
  for (int i = 0; i < 80; ++i) put(i, std::string(20, 'o'));
  store.Flush();
  put(5, std::string(20, 'n'));
  for (int i = deleted_from; i < deleted_to; ++i) {
    EXPECT_TRUE(store.db->Delete({}, NumberedKey(i)).ok());
    lived.model.erase(NumberedKey(i));
  }
  store.Flush();
  store.Compact();
  store.Reopen();  // removes the log before the replay position
  store.MustClose();
  Prng prng(1);
  lived.image = store.fs->Snapshot().Kill(prng);
  return lived;
}

// Damages each page, and each pair of pages. If all keys of two leaves were deleted, no leaf has replaced these two.
TEST(SalvageTreesTest, ReplacedLeavesBelowALostBranchDoNotCount) {
  CAMBIUM_TREE_ONLY("it damages branches of a tree whose pages were replaced; no page of a run ever is");
  std::uint64_t known = 0;
  for (const auto& [from, to] : {std::pair(13, 39), {25, 55}}) {
    const Lived lived = LiveInATree(from, to);
    const std::vector<std::string> paths = TestStore(std::make_shared<SimFileSystem>(lived.image)).FilesOf(".idx");
    ASSERT_EQ(paths.size(), 1u);
    std::string bytes;
    ASSERT_TRUE(SimFileSystem(lived.image).probe().ReadContents(paths.front(), &bytes).ok());
    for (std::uint64_t first = 512; first < bytes.size(); first += 512) {
      for (std::uint64_t second = first; second < bytes.size(); second += 512) {
        SCOPED_TRACE(std::to_string(from) + ": " + std::to_string(first) + " and " + std::to_string(second));
        const auto fs = std::make_shared<SimFileSystem>(lived.image);
        for (const std::uint64_t at : {first, second}) {
          ASSERT_TRUE(fs->tampering().Overwrite(paths.front(), at + 100, "damaged").ok());
        }
        Judge(lived, fs->Snapshot(), true);
        if (HasFatalFailure()) return;
        const Outcome outcome = SalvageOf(lived, fs, false);
        const bool is_reported = outcome.findings.find("all leaves below it were found") != std::string::npos;
        known += is_reported && outcome.entries == lived.model ? 1 : 0;
      }
    }
  }
  EXPECT_GT(known, 0u);
}

// Regression: a whole branch that is not the committed page was counted twice, as a page that was read and as a page
// that is missing. So the damage of another page was not seen, and a leaf that this other page had replaced counted.
TEST(SalvageTreesTest, MisplacedPageDoesNotHideAMissingOne) {
  CAMBIUM_TREE_ONLY("it damages branches of a tree whose pages were replaced; no page of a run ever is");
  const Lived lived = LiveInATree(80, 80);
  const std::string path = TestStore(std::make_shared<SimFileSystem>(lived.image)).FilesOf(".idx").at(0);
  std::string bytes;
  ASSERT_TRUE(SimFileSystem(lived.image).probe().ReadContents(path, &bytes).ok());
  const Result<FileHeader> header = DecodeFileHeader(bytes, path);
  ASSERT_TRUE(header.ok());
  int forged = 0;
  for (std::uint64_t first = 512; first < bytes.size(); first += 512) {
    const PageId id = MakePageId(header->number, first / 512, 1);
    std::string page = bytes.substr(first, 512);
    if (!VerifyPage(page, id, 512, header->Seed(), path).ok()) continue;
    const Result<PageView> view = PageView::Parse(page, path, first);
    if (!view.ok() || view->is_leaf()) continue;
    page[511] = static_cast<char>(page[511] ^ 1);
    PlacePage(&page, id, 512, header->Seed());
    ++forged;
    for (std::uint64_t second = 512; second < bytes.size(); second += 512) {
      if (second == first) continue;
      SCOPED_TRACE(std::to_string(first) + " and " + std::to_string(second));
      const auto fs = std::make_shared<SimFileSystem>(lived.image);
      ASSERT_TRUE(fs->tampering().Overwrite(path, first, page).ok());
      ASSERT_TRUE(fs->tampering().Overwrite(path, second + 100, "damaged").ok());
      Judge(lived, fs->Snapshot(), true);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(forged, 0);
}

// The rules hold without a MANIFEST too. If the log has all operations, everything is recovered.
TEST(SalvageTreesTest, WithoutAManifestOnlyStoredEntriesAreRecovered) {
  std::uint64_t found = 0;
  std::uint64_t all_there = 0;
  for (std::uint64_t seed = 31; seed < 43; ++seed) {
    const Lived lived = Live(seed, seed % 2 == 0);
    const auto fs = std::make_shared<SimFileSystem>(lived.image);
    for (const auto& file : fs->probe().ListFiles()) {
      if (file.path.find("MANIFEST") == std::string::npos) continue;
      ASSERT_TRUE(fs->tampering().Remove(file.path).ok());
    }
    SCOPED_TRACE("seed " + std::to_string(seed));
    Judge(lived, fs->Snapshot(), true);
    if (HasFatalFailure()) return;
    const Outcome all = SalvageOf(lived, std::make_shared<SimFileSystem>(fs->Snapshot()), true);
    for (const auto& [key, value] : lived.model) {
      ++all_there;
      const auto there = all.entries.find(key);
      found += there != all.entries.end() && there->second == value ? 1 : 0;
    }
  }
  EXPECT_GT(found * 10, all_there * 8) << found << " of " << all_there;
}

}  // namespace
}  // namespace cambium::testing::salvage_trees_test
