// Reading ahead of an iterator while memory runs out.
#include "read/scan_ahead.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "testing/heap_bytes.h"
#include "testing/scarce_memory.h"
#include "testing/still_cursor.h"
#include "testing/test_store.h"
#include "vlog/value_store.h"

namespace cambium::testing {
namespace {

// Values that must all be read from the device.
class ScanAheadTest : public ::testing::Test, protected StillCursor {
 protected:
  ScanAheadTest() {
    for (int i = 0; i < 40; ++i) {
      keys_.push_back("key" + std::to_string(i));
      addresses_.push_back(store_.Put(keys_.back(), ValueOf(i)));
    }
    source_.segments = &store_.table;
    source_.family = kStoreFamily;
    source_.queues = &queues_;
  }
  static std::string ValueOf(int i) { return std::string(500, static_cast<char>('a' + i % 26)) + std::to_string(i); }
  // As an iterator does: the cursor moves on after each push.
  void PushOne(ScanAhead* ahead) {
    if (ahead->Push(*this)) ++at_;
  }
  void ExpectFront(ScanAhead* ahead, int i) {
    EXPECT_EQ(ahead->key(), Slice("key" + std::to_string(i)));
    Slice value;
    const Status s = ahead->FetchValue(&value);
    EXPECT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(value, Slice(ValueOf(i)));
  }

  [[nodiscard]] Slice key() const override { return keys_[at_]; }
  [[nodiscard]] Entry entry() const override { return Entry::At(addresses_[at_]); }

  static SimOptions WithoutResidency() {
    SimOptions options;
    options.residency = false;
    return options;
  }

  ValueStore store_{FileKind::kLog, WithoutResidency()};
  ReadQueues queues_{&store_.fs};
  ScanSource source_;
  std::vector<std::string> keys_;
  std::vector<ValueAddress> addresses_;
  std::size_t at_ = 0;
};

// Refuses the n-th allocation, for every n, while entries are pushed and submitted. Regression: values that were pushed
// before it failed as "not read", and a partly pushed entry kept the state of an earlier one.
TEST_F(ScanAheadTest, PushedValuesAreReadAfterMemoryRanOut) {
  for (std::uint64_t n = 0, met = 1; met != 0; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    at_ = 0;
    ScanAhead ahead(source_);
    {
      ScarceMemory scarce(n);
      try {
        for (int i = 0; i < 6; ++i) PushOne(&ahead);
        ahead.Submit();
      } catch (const std::bad_alloc&) {
      }
      met = scarce.End();
    }
    ASSERT_EQ(ahead.size(), at_);
    int next = 0;
    for (; !ahead.empty(); ahead.Pop()) ExpectFront(&ahead, next++);
    PushOne(&ahead);
    ahead.Submit();
    ExpectFront(&ahead, next);
  }
}

// Regression: each slot kept the memory of the largest value that it had ever had.
TEST_F(ScanAheadTest, PoppedLargeValuesReturnTheirMemory) {
  constexpr std::size_t kLarge = 1u << 20;
  constexpr int kValues = 32;  // as many as the reader has slots
  for (int i = 0; i < kValues; ++i) {
    keys_.push_back("large" + std::to_string(i));
    addresses_.push_back(store_.Put(keys_.back(), std::string(kLarge, static_cast<char>('a' + i % 26))));
  }
  ScanAhead ahead(source_);
  for (int i = 0; i < kValues; ++i) PushOne(&ahead);  // makes the slots
  for (; !ahead.empty(); ahead.Pop()) ahead.Submit();
  const std::size_t before = HeapBytes();
  at_ = 40;
  PushOne(&ahead);
  for (int i = 0; i + 1 < kValues; ++i) {
    PushOne(&ahead);  // so there are always values ahead, and each gets the next slot
    ahead.Submit();
    Slice value;
    ASSERT_TRUE(ahead.FetchValue(&value).ok());
    ASSERT_EQ(value.size(), kLarge);
    ahead.Pop();
  }
  EXPECT_LT(HeapBytes(), before + 4 * kLarge);
}

// Regression: when Submit read the value of a popped entry, the slot already belonged to another entry, whose value was
// then read twice.
TEST_F(ScanAheadTest, ValuesPoppedBeforeSubmitAreNotRead) {
  ScanAhead ahead(source_);
  for (int i = 0; i < 30; ++i) {
    PushOne(&ahead);
    if (i % 3 != 2) {
      ahead.Pop();
      continue;
    }
    const std::uint64_t before = store_.fs.calls(SimOpKind::kRead);
    ahead.Submit();
    ExpectFront(&ahead, i);
    EXPECT_EQ(store_.fs.calls(SimOpKind::kRead), before + 1);
    ahead.Pop();
  }
  PushOne(&ahead);
  ahead.Clear();
  PushOne(&ahead);
  ExpectFront(&ahead, 31);
}

// Prepares the first value of a scan, and refuses the n-th allocation while the iterator reads ahead, for every n. The
// iterator then is where it was, or becomes invalid with an error; in the end it has returned each entry once.
TEST(IteratorWithoutMemoryTest, ReturnsEachEntryOnceWhenMemoryRunsOut) {
  constexpr int kKeys = 60;
  const auto key_of = [](int i) { return NumberedKey(i) + std::string(400, 'k'); };  // reading ahead crosses leaves
  TestStore store;
  store.MustOpen();
  for (int i = 0; i < kKeys; ++i) store.Put(key_of(i), NumberedKey(i) + std::string(500, 'v'));
  store.Compact();
  store.fs->SetResident(false);
  int nowhere = 0;
  int where_it_was = 0;
  for (std::uint64_t n = 0, met = 1; met != 0; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    {
      const std::unique_ptr<Iterator> before(store.db->NewIterator({}));  // so that scans are expected to be long
      for (before->SeekToFirst(); before->Valid(); before->Next()) ASSERT_FALSE(before->value().empty());
    }
    ReadOptions read;
    read.allow_unprepared_value = true;
    const std::unique_ptr<Iterator> it(store.db->NewIterator(read));
    it->SeekToFirst();
    {
      ScarceMemory scarce(n);
      try {
        static_cast<void>(it->PrepareValue());
      } catch (const std::bad_alloc&) {
      }
      met = scarce.End();
    }
    if (!it->Valid()) {
      EXPECT_TRUE(it->status().IsAborted()) << it->status().ToString();
      it->SeekToFirst();
      ++nowhere;
    } else if (met != 0) {
      ++where_it_was;
    }
    int seen = 0;
    for (; it->Valid(); it->Next(), ++seen) {
      ASSERT_EQ(it->key(), Slice(key_of(seen)));
      ASSERT_TRUE(it->PrepareValue()) << it->status().ToString();
      ASSERT_EQ(it->value(), Slice(NumberedKey(seen) + std::string(500, 'v')));
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_EQ(seen, kKeys);
  }
  EXPECT_GT(nowhere, 0);
  EXPECT_GT(where_it_was, 0);
}

// Refuses the n-th allocation of a seek and a few moves, for every n. The iterator then shows an entry with its value,
// or has an error until it seeks: it never shows an entry without its value, and never ends without an error.
TEST(IteratorWithoutMemoryTest, MoveThatRunsOutOfMemoryStopsTheIteratorUntilItSeeks) {
  constexpr int kKeys = 60;
  const auto key_of = [](int i) { return NumberedKey(i) + std::string(400, 'k'); };
  TestStore store;
  store.MustOpen();
  for (int i = 0; i < kKeys; ++i) store.Put(key_of(i), NumberedKey(i) + std::string(500, 'v'));
  store.Compact();
  store.fs->SetResident(false);
  int stopped = 0;
  for (std::uint64_t n = 0, met = 1; met != 0; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    const std::unique_ptr<Iterator> it(store.db->NewIterator({}));
    int at = 0;
    {
      ScarceMemory scarce(n);
      try {
        for (it->Seek(Slice(NumberedKey(0))); at < 20; it->Next(), ++at) {
          if (!it->Valid() || it->value().size() != 505) break;
        }
      } catch (const std::bad_alloc&) {
      }
      met = scarce.End();
    }
    if (met == 0) {
      EXPECT_EQ(at, 20);
      break;
    }
    if (at < 20) {
      ++stopped;
      for (int i = 0; i < 3; ++i, i % 2 == 0 ? it->Next() : it->Prev()) {
        ASSERT_FALSE(it->Valid());
        ASSERT_TRUE(it->status().IsAborted()) << it->status().ToString();
      }
    }
    int seen = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++seen) {
      ASSERT_EQ(it->key(), Slice(key_of(seen)));
      ASSERT_EQ(it->value(), Slice(NumberedKey(seen) + std::string(500, 'v')));
    }
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_EQ(seen, kKeys);
  }
  EXPECT_GT(stopped, 0);
}

}  // namespace
}  // namespace cambium::testing
