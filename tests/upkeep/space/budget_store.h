// BudgetStore: a FamilyStore in which only the limit of a WriteBufferManager makes memtables full.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cambium/listener.h"
#include "cambium/write_buffer_manager.h"
#include "testing/family_store.h"
#include "testing/units.h"
#include "util/prng.h"

namespace cambium::testing {

struct BudgetStore : FamilyStore {
  explicit BudgetStore(std::size_t limit, std::shared_ptr<WriteBufferManager> its = nullptr)
      : manager(its != nullptr ? its : std::make_shared<WriteBufferManager>(limit)) {
    options.write_buffer_manager = manager;
    options.write_buffer_size = 64u << 20;
    options.max_total_wal_size = 256u << 20;
    options.min_blob_size = 1000;
    options.level0_file_num_compaction_trigger = 8;
    options.level0_slowdown_writes_trigger = 500;
    options.level0_stop_writes_trigger = 1000;
    options.create_missing_column_families = true;
  }
  // Puts `count` values of 100 bytes under random keys. Returns the most memory in use after any of them.
  std::size_t PutRandom(int count, ColumnFamilyHandle* family = nullptr) {
    std::size_t most = 0;
    for (int i = 0; i < count; ++i) {
      ColumnFamilyHandle* const handle = family == nullptr ? db->DefaultColumnFamily() : family;
      const Status s = db->Put({}, handle, std::to_string(prng.Next()), std::string(100, 'v'));
      EXPECT_TRUE(s.ok()) << s.ToString();
      most = std::max(most, manager->memory_usage());
    }
    return most;
  }

  const std::shared_ptr<WriteBufferManager> manager;
  Prng prng{17};
};

// Notes why memtables were frozen, and stalls.
struct CountingListener : EventListener {
  void OnMemTableSealed(const MemTableInfo& info) override { reasons.push_back(info.reason); }
  void OnStallConditionsChanged(const WriteStallInfo& info) override { stalls.push_back(info); }
  std::vector<FlushReason> reasons;
  std::vector<WriteStallInfo> stalls;
};

}  // namespace cambium::testing
