// DueStore: a database with many families whose small compactions are due and scheduled, so that one job can do them
// together.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "cambium/listener.h"
#include "testing/family_store.h"
#include "upkeep/commit_watch.h"

namespace cambium::testing {

inline constexpr int kDueFamilies = 40;

class DueStore : public FamilyStore {
 public:
  static constexpr int kKeys = 400;  // in each family

  explicit DueStore(const std::shared_ptr<EventListener>& listener = nullptr, int families = kDueFamilies) {
    if (listener != nullptr) options.listeners.push_back(listener);
    options.create_missing_column_families = true;
    options.write_buffer_size = 1u << 20;
    options.level0_file_num_compaction_trigger = 4;
    options.level0_slowdown_writes_trigger = 40;
    options.level0_stop_writes_trigger = 60;
    options.sweep_ratio = 1;  // memtables become runs, and no sweep is due, until it is set to 8
    options.min_blob_size = 1000;
    MustOpenWith(FamilyNames(families));
    for (int round = 0; round < 4; ++round) WriteRound();
    for (ColumnFamilyHandle* const handle : handles) EXPECT_TRUE(db->SetOptions(handle, {{"sweep_ratio", "8"}}).ok());
    EXPECT_GE(Due(), static_cast<std::uint64_t>(families));
  }

  // A closed store over these files, with the keys and the present options of `other`.
  DueStore(std::shared_ptr<SimFileSystem> files, const DueStore& other) : FamilyStore(files), rounds(other.rounds) {
    const Options mine = options;
    options = other.options;
    options.file_system = std::move(files);
    options.executor = mine.executor;
    options.clock = mine.clock;
    options.random_source = mine.random_source;
    options.listeners.clear();
    options.sweep_ratio = 8;
  }

  // Writes keys into each family, and flushes them. No compaction runs.
  void WriteRound() {
    FillMemtables();
    FlushMemtables();
  }
  // Writes keys into each family, makes them durable, and freezes the memtables.
  void FillMemtables() {
    const int round = rounds++;
    for (ColumnFamilyHandle* const handle : handles) {
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        if (round == 0 || HasKey(round, key)) PutIn(handle, NumberedKey(static_cast<int>(key)), ValueOf(round, key));
      }
      FlushOptions flush;
      flush.wait = false;
      ASSERT_TRUE(db->Flush(flush, handle).ok());
    }
    ASSERT_TRUE(db->SyncWAL().ok());
  }
  void FlushMemtables() {
    while (Sum("num-immutable-mem-table") > 0) ASSERT_TRUE(executor->RunOneInstead());
  }
  // Runs jobs up to the first one that writes files of an index.
  void RunFirstCompaction() {
    bool has_written = false;
    const int hook = fs->AddHook(
        [&](const SimOp& op) { has_written = has_written || (op.kind == SimOpKind::kWrite && IsOutput(op.path)); });
    while (!has_written) ASSERT_TRUE(executor->RunOneInstead());
    fs->RemoveHook(hook);
  }
  [[nodiscard]] std::uint64_t Sum(const std::string& property) const {
    std::uint64_t sum = 0;
    for (ColumnFamilyHandle* const handle : handles) {
      std::uint64_t its = 0;
      EXPECT_TRUE(db->GetIntProperty(handle, "cambium." + property, &its));
      sum += its;
    }
    return sum;
  }
  [[nodiscard]] std::uint64_t Due() const { return Sum("compaction-pending"); }
  // Looks up every seventh key of each family but `except`. Returns the first one that is wrong, or "".
  std::string WhatIsWrong(int except = -1) {
    for (int i = 0; i < static_cast<int>(handles.size()); ++i) {
      if (i == except) continue;
      for (std::uint64_t key = 0; key < kKeys; key += 7) {
        int newest = 0;
        for (int round = 1; round < rounds; ++round) newest = HasKey(round, key) ? round : newest;
        const std::string name = NumberedKey(static_cast<int>(key));
        const std::string found = GetFrom(handles[static_cast<std::size_t>(i)], name);
        if (found != ValueOf(newest, key)) return name + " of handle " + std::to_string(i) + ": " + found;
      }
    }
    return "";
  }
  void ExpectAll(int except = -1) { EXPECT_EQ(WhatIsWrong(except), ""); }

  int rounds = 0;

 private:
  static std::string ValueOf(int round, std::uint64_t key) {
    return "round " + std::to_string(round) + ", key " + std::to_string(key) + std::string(60, '.');
  }
  // Each round after the first one overwrites about a fifth of the keys.
  static bool HasKey(int round, std::uint64_t key) {
    return (key * 2654435761u + static_cast<unsigned>(round)) % 5 == 0;
  }
};

}  // namespace cambium::testing
