// Threads write to many families with small indexes, flush and compact them, so that jobs take over each other's steps.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "testing/family_store.h"
#include "testing/scale.h"

namespace cambium::testing {
namespace {

constexpr int kThreadedFamilies = 40;

TEST(CompactThreadsTest, ThreadsCompactManyFamilies) {
  FamilyStore store;
  store.options.executor = nullptr;
  store.options.clock = nullptr;
  store.options.max_background_jobs = 4;
  store.options.create_missing_column_families = true;
  store.options.level0_file_num_compaction_trigger = 2;
  store.MustOpenWith(FamilyNames(kThreadedFamilies));
  std::vector<std::thread> threads;
  std::atomic<int> errors{0};
  constexpr int kRounds = kUnderSanitizer ? 4 : 12;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = t; i < store.handles.size(); i += 4) {
          ColumnFamilyHandle* const handle = store.handles[i];
          for (int key = 0; key < 40; ++key) {
            errors += store.db->Put({}, handle, NumberedKey(key), std::to_string(round)).ok() ? 0 : 1;
          }
          FlushOptions flush;
          flush.wait = (i + static_cast<std::size_t>(round)) % 5 == 0;
          errors += store.db->Flush(flush, handle).ok() ? 0 : 1;
          if ((i + static_cast<std::size_t>(round)) % 9 == 0) {
            errors += store.db->CompactRange({}, handle, nullptr, nullptr).ok() ? 0 : 1;
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors, 0);
  ASSERT_TRUE(store.db->WaitForCompact().ok());
  for (ColumnFamilyHandle* const handle : store.handles) {
    for (int key = 0; key < 40; ++key) EXPECT_EQ(store.GetFrom(handle, NumberedKey(key)), std::to_string(kRounds - 1));
  }
  EXPECT_EQ(store.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing
