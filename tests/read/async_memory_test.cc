// Asynchronous reads while memory runs out, and the memory that they keep.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "read/async_store.h"
#include "testing/scarce_memory.h"

namespace cambium::testing {
namespace {

// Refuses the n-th allocation, for every n, while reads begin and end. A read that does not begin throws; one that has
// begun ends once, with its value or an error.
TEST(AsyncMemoryTest, EachReadEndsOnceWhenMemoryRunsOut) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  AsyncStore store;
  store.options.blob_compression_type = CompressionType::kZSTD;
  store.Fill(30);
  int failed = 0;
  int thrown = 0;
  for (std::uint64_t n = 0, met = 1; met != 0; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    store.NewReader({.depth = 8});
    std::vector<Ended> ended(8);
    std::vector<AsyncReader::Callback> callbacks;
    std::vector<std::string> keys;
    for (int i = 0; i < 8; ++i) {
      keys.push_back(NumberedKey(i * 2 + 1));
      Ended* const its = &ended[static_cast<std::size_t>(i)];
      callbacks.emplace_back([its](const Status& status, PinnableSlice&& value) {
        const AmpleMemory ample;
        ++its->times;
        its->status = status;
        its->value = value.ToString();
      });
    }
    std::vector<bool> begun(8);
    {
      ScarceMemory scarce(n);
      for (std::size_t i = 0; i < 8; ++i) {
        try {
          begun[i] = store.reader->Get({}, keys[i], callbacks[i]).ok();
        } catch (const std::bad_alloc&) {
          ++thrown;
        }
      }
      while (store.reader->in_flight() > 0) store.reader->Poll(8);
      met = scarce.End();
    }
    for (std::size_t i = 0; i < 8; ++i) {
      ASSERT_EQ(ended[i].times, begun[i] ? 1 : 0) << i;
      if (!begun[i]) continue;
      if (ended[i].status.ok()) {
        ASSERT_EQ(ended[i].value, ValueAt(static_cast<int>(i) * 2 + 1));
      } else {
        ASSERT_TRUE(ended[i].status.IsAborted()) << ended[i].status.ToString();
        ++failed;
      }
    }
    store.reader.reset();
  }
  EXPECT_GT(failed, 0);
  EXPECT_GT(thrown, 0);
}

// The same for the keys of a MultiGet, and for coroutines.
TEST(AsyncMemoryTest, MultiGetAndCoroutinesEndOnceWhenMemoryRunsOut) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  AsyncStore store;
  store.Fill(30);
  const std::vector<std::string> names = {NumberedKey(1), NumberedKey(2), NumberedKey(3), "absent"};
  const std::vector<Slice> keys(names.begin(), names.end());
  const std::vector<ColumnFamilyHandle*> families(4, store.db->DefaultColumnFamily());
  for (std::uint64_t n = 0, met = 1; met != 0; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    store.NewReader({.depth = 4});  // the coroutine waits for room
    int called = 0;
    bool begun = false;
    AsyncReader::ManyCallback callback = [&](std::span<const Status> statuses, std::span<PinnableSlice> values) {
      const AmpleMemory ample;
      ++called;
      for (std::size_t i = 0; i < 3; ++i) {
        const bool is_read = statuses[i].ok() && values[i] == Slice(ValueAt(static_cast<int>(i) + 1));
        EXPECT_TRUE(is_read || statuses[i].IsAborted()) << statuses[i].ToString();
      }
    };
    Ended ended;
    bool threw = false;
    const int exceptions_before = Started::exceptions;
    {
      ScarceMemory scarce(n);
      try {
        begun = store.reader->MultiGet({}, 4, families.data(), keys.data(), callback).ok();
      } catch (const std::bad_alloc&) {
      }
      try {
        ReadInto(store.reader.get(), NumberedKey(4), &ended);
      } catch (const std::bad_alloc&) {
        threw = true;
      }
      while (store.reader->in_flight() > 0) store.reader->Poll(8);
      met = scarce.End();
    }
    threw = threw || Started::exceptions > exceptions_before;
    ASSERT_EQ(called, begun ? 1 : 0);
    ASSERT_EQ(store.reader->in_flight(), 0u);
    ASSERT_TRUE(ended.times == 1 || threw);
    store.reader.reset();
  }
}

TEST(AsyncMemoryTest, LargeValueLeavesNoLargeBuffer) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  AsyncStore store;
  store.MustOpen();
  store.Put("large", std::string(1'500'000, 'l'));
  store.Put("small", std::string(40'000, 's'));
  store.fs->SetResident(false);
  store.NewReader({.depth = 1});
  const auto bytes_of_read = [&](Slice key, std::size_t size) {
    std::size_t seen = 0;
    const AllocatedBytes allocated;
    const Status s = store.reader->Get({}, key, [&](const Status& status, const PinnableSlice& value) {
      seen = status.ok() ? value.size() : 0;
    });
    EXPECT_TRUE(s.ok());
    store.reader->Poll();
    EXPECT_EQ(seen, size);
    return allocated.get();
  };
  for (int i = 0; i < 3; ++i) static_cast<void>(bytes_of_read("large", 1'500'000));
  EXPECT_GE(bytes_of_read("large", 1'500'000), 1'500'000u) << "its memory is not kept";
  for (int i = 0; i < 3; ++i) static_cast<void>(bytes_of_read("small", 40'000));
  EXPECT_LT(bytes_of_read("small", 40'000), 40'000u) << "its memory is used again";
}

}  // namespace
}  // namespace cambium::testing
