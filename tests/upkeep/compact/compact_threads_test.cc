// Threads write to many families with small indexes, flush and compact them, so that jobs do each other's steps.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "testing/scale.h"
#include "upkeep/threaded_families.h"

namespace cambium::testing {
namespace {

constexpr int kThreadedFamilies = 40;

TEST(CompactThreadsTest, ThreadsCompactManyFamilies) {
  ThreadedFamilies store(kThreadedFamilies, [](Options* options) { options->level0_file_num_compaction_trigger = 2; });
  constexpr int kRounds = kUnderSanitizer ? 4 : 12;
  store.Run(kRounds, [&](ColumnFamilyHandle* handle, std::size_t family, int round) {
    int errors = 0;
    for (int key = 0; key < 40; ++key) {
      errors += store.db->Put({}, handle, NumberedKey(key), std::to_string(round)).ok() ? 0 : 1;
    }
    if ((family + static_cast<std::size_t>(round)) % 9 == 0) {
      errors += store.db->CompactRange({}, handle, nullptr, nullptr).ok() ? 0 : 1;
    }
    return errors;
  });
  ASSERT_TRUE(store.db->WaitForCompact().ok());
  for (ColumnFamilyHandle* const handle : store.handles) {
    for (int key = 0; key < 40; ++key) EXPECT_EQ(store.GetFrom(handle, NumberedKey(key)), std::to_string(kRounds - 1));
  }
  EXPECT_EQ(store.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing
