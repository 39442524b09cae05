// Compaction filters when something fails: invalid decisions, exceptions, values that cannot be read, errors of the file
// system, power cuts.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "upkeep/compact/filter_store.h"
#include "testing/mutant_scope.h"
#include "testing/test_store.h"

namespace cambium::testing::filter_tests {
namespace {

// ---- Errors ----

TEST(CompactionFilterFaultsTest, InvalidDecisionFailsTheCompaction) {
  FilterStore store;
  store.MustOpen();
  for (int i = 0; i < 40; ++i) store.Put(NumberedKey(i), ValueOf(i, kSizes[i % 2]));
  for (const Decision wrong : {Decision::kUndetermined, static_cast<Decision>(4), static_cast<Decision>(77)}) {
    store.filter.by_value = [wrong](const std::string& key, Slice, std::string*, std::string*) {
      return key == NumberedKey(20) ? wrong : Decision::kRemove;
    };
    const Status s = store.db->CompactRange({}, nullptr, nullptr);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_NE(s.ToString().find("TestFilter"), std::string::npos) << s.ToString();
    const std::string answer = "answers " + std::to_string(static_cast<int>(wrong));
    EXPECT_NE(s.ToString().find(answer), std::string::npos) << s.ToString();
    for (int i = 0; i < 40; ++i) ASSERT_EQ(store.Get(NumberedKey(i)), ValueOf(i, kSizes[i % 2])) << i;
  }
  store.filter.by_value = nullptr;
  store.filter.ignores_snapshots = false;
  EXPECT_TRUE(store.db->CompactRange({}, nullptr, nullptr).IsNotSupported());
  store.filter.ignores_snapshots = true;
  store.Put("more", "x");  // the error was not fatal
  store.Compact();
  EXPECT_EQ(store.Verify(), "");
}

// An exception, for example of the filter, ends a compaction. The files of the values that the filter has changed are
// then removed, and their slots are free again.
TEST(CompactionFilterFaultsTest, ExceptionLeavesNoFilesOfChangedValues) {
  FilterStore store;
  store.options.large_value_size = 5000;
  store.MustOpen();
  for (int i = 0; i < 60; ++i) store.Put(NumberedKey(i), ValueOf(i, kSizes[i % 3]));
  store.Compact();
  const auto value_files = [&store] { return std::pair(store.FilesOf(".val"), store.FilesOf(".gc")); };
  const auto before = value_files();
  store.filter.by_value = [](const std::string&, Slice value, std::string* new_value, std::string*) {
    *new_value = value.ToString() + "+";
    return Decision::kChangeValue;
  };
  for (int i = 0; i < 3; ++i) {
    bool has_new_files = false;
    const At at("Merge:written", [&] {
      has_new_files = value_files().first != before.first && value_files().second != before.second;
      throw std::runtime_error("thrown in the test");
    });
    try {
      EXPECT_FALSE(store.db->CompactRange({}, nullptr, nullptr).ok());
    } catch (const std::runtime_error&) {
    }
    EXPECT_TRUE(has_new_files) << i;
    EXPECT_TRUE(value_files() == before) << i;
  }
  for (int i = 0; i < 60; ++i) ASSERT_EQ(store.Get(NumberedKey(i)), ValueOf(i, kSizes[i % 3])) << i;
  store.Compact();
  for (int i = 0; i < 60; ++i) ASSERT_EQ(store.Get(NumberedKey(i)), ValueOf(i, kSizes[i % 3]) + "+") << i;
  EXPECT_EQ(store.Verify(), "");
}

// An unreadable value is not dead: the compaction fails with the error. Returns "" or what happened to the key.
std::string KeyOfADamagedValue(const char* what) {
  FilterStore store;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  for (int i = 0; i < 10; ++i) store.Put(NumberedKey(i), ValueOf(i, 1000));
  store.Flush();
  for (const std::string& path : store.FilesOf(".log")) {
    std::string bytes;
    EXPECT_TRUE(store.fs->probe().ReadContents(path, &bytes).ok());
    const std::size_t at = bytes.find(ValueOf(4, 1000));
    if (at == std::string::npos) continue;
    EXPECT_TRUE(store.fs->tampering().FlipBit(path, at + 500, 3).ok());
  }
  const Status s = store.db->CompactRange({}, nullptr, nullptr);
  for (const int i : {0, 1, 2, 3, 5, 9}) EXPECT_EQ(store.Get(NumberedKey(i)), ValueOf(i, 1000)) << what << i;
  if (s.ok()) return "CompactRange says OK, and the key " + store.Get(NumberedKey(4));
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find(".log:"), std::string::npos) << s.ToString();
  return store.Get(NumberedKey(4)) == "NotFound" ? "the key is gone" : "";
}

TEST(CompactionFilterFaultsTest, UnreadableValueIsNotRemoved) {
  EXPECT_EQ(KeyOfADamagedValue("sound "), "");
  const MutantScope mutant(Mutant::kFilterRemovesUnreadable);
  EXPECT_NE(KeyOfADamagedValue("mutant "), "");
}

// The n-th call of the file system fails, for each n, while a CompactRange removes and changes values. Afterwards each
// value is in its old or its new state, no file is left over, and a retry succeeds unless the error was fatal.
TEST(CompactionFilterFaultsTest, ErrorAnywhereLeavesAllOrNothing) {
  int failed = 0;
  for (const SimOpKind kind : {SimOpKind::kWrite, SimOpKind::kSync, SimOpKind::kOpen, SimOpKind::kSyncDirectory,
                               SimOpKind::kRead}) {
    for (std::uint64_t nth = 1; nth < 60; ++nth) {
      FilterStore store;
      store.options.enable_blob_garbage_collection = false;
      store.MustOpen();
      for (int i = 0; i < 24; ++i) store.Put(NumberedKey(i), ValueOf(i, kSizes[i % 3]));
      store.Flush();
      store.RunUntilIdle();
      store.filter.by_value = [](const std::string& key, Slice value, std::string* new_value, std::string*) {
        if (value.starts_with("new")) return Decision::kKeep;
        *new_value = "new" + std::string(kSizes[static_cast<std::size_t>(key.back()) % 3], 'n');
        return key.back() % 4 == 0 ? Decision::kRemove : Decision::kChangeValue;
      };
      const auto done = [](int i) {
        const char last = NumberedKey(i).back();
        return last % 4 == 0 ? "NotFound" : "new" + std::string(kSizes[static_cast<std::size_t>(last) % 3], 'n');
      };
      SimFault fault;
      fault.kind = kind;
      fault.nth = nth;
      fault.status = Status::IOError("injected");
      const std::uint64_t hits = store.fs->fault_hits();
      store.fs->AddFault(fault);
      const Status s = store.db->CompactRange({}, nullptr, nullptr);
      store.fs->ClearFaults();
      const bool hit = store.fs->fault_hits() > hits;
      if (!hit) break;
      failed += s.ok() ? 0 : 1;
      int filtered = 0;
      for (int i = 0; i < 24; ++i) {
        const std::string found = store.Get(NumberedKey(i));
        if (found == done(i)) {
          ++filtered;
        } else {
          ASSERT_EQ(found, ValueOf(i, kSizes[i % 3])) << i << " " << nth;
        }
      }
      ASSERT_TRUE(!s.ok() || filtered == 24) << nth;
      if (s.severity() == Status::Severity::kFatal) {
        store.db.reset();
        store.MustOpen();
      }
      ASSERT_EQ(store.Verify(), "") << nth;
      store.Compact();
      for (int i = 0; i < 24; ++i) ASSERT_EQ(store.Get(NumberedKey(i)), done(i)) << i << " " << nth;
      store.Reopen();
      for (int i = 0; i < 24; ++i) ASSERT_EQ(store.Get(NumberedKey(i)), done(i)) << i << " " << nth;
      store.RunUntilIdle();
      Options copy = store.options;
      copy.file_system = std::make_shared<SimFileSystem>(store.fs->Snapshot());
      VerifyReport report;
      ASSERT_TRUE(VerifyDB(kStorePath, copy, {.deep = true}, &report).ok());
      ASSERT_TRUE(report.problems.empty()) << report.problems[0];
      for (const std::string& note : report.notes) {
        ASSERT_EQ(note.find("orphan"), std::string::npos) << note << " " << nth;
      }
    }
  }
  EXPECT_GT(failed, 20);
}

// ---- Power cuts ----

// The power fails at each call of a CompactRange that removes and changes values; unsynced data is lost. Each value is
// in its old or its new state, and nothing is damaged. Returns "" or what is wrong.
std::string CutAtEveryCall() {
  FilterStore store;
  store.options.enable_blob_garbage_collection = false;
  store.MustOpen();
  for (int i = 0; i < 24; ++i) store.Put(NumberedKey(i), ValueOf(i, kSizes[i % 3]));
  store.Flush();
  store.RunUntilIdle();
  store.filter.by_value = [](const std::string& key, Slice, std::string* new_value, std::string*) {
    *new_value = "new" + std::string(kSizes[static_cast<std::size_t>(key.back()) % 3], 'n');
    return key.back() % 4 == 0 ? Decision::kRemove : Decision::kChangeValue;
  };
  std::vector<SimImage> cuts;
  Prng prng(1);
  const int hook = store.fs->AddHook([&](const SimOp& op) {
    if (op.phase != SimPhase::kBefore) return;
    cuts.push_back(store.fs->DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost)));
    cuts.push_back(store.fs->DrawCrash(prng));
  });
  store.Compact();
  store.fs->RemoveHook(hook);
  cuts.push_back(store.fs->DrawCrash(prng, DamageMix::Only(SimDamage::kAllLost)));
  for (std::size_t cut = 0; cut < cuts.size(); ++cut) {
    FilterStore after;
    after.fs = std::make_shared<SimFileSystem>(cuts[cut]);
    after.options.file_system = after.fs;
    if (const Status s = after.Open(); !s.ok()) return s.ToString();
    for (int i = 0; i < 24; ++i) {
      const char last = NumberedKey(i).back();
      const std::string done =
          last % 4 == 0 ? "NotFound" : "new" + std::string(kSizes[static_cast<std::size_t>(last) % 3], 'n');
      const std::string found = after.Get(NumberedKey(i));
      if (found == done || (cut + 1 < cuts.size() && found == ValueOf(i, kSizes[i % 3]))) continue;
      return "cut " + std::to_string(cut) + ": " + NumberedKey(i) + " is " + found.substr(0, 60);
    }
    if (std::string wrong = after.Verify(); !wrong.empty()) return wrong;
  }
  return cuts.size() > 20 ? "" : "too few cuts";
}

TEST(CompactionFilterFaultsTest, PowerCutAnywhereLeavesAllOrNothing) {
  EXPECT_EQ(CutAtEveryCall(), "");
  const MutantScope mutant(Mutant::kFilterCommitsUnsynced);
  EXPECT_NE(CutAtEveryCall(), "");
}

}  // namespace
}  // namespace cambium::testing::filter_tests
