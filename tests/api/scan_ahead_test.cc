// The entries in front of an iterator, where memory runs out on the way.
#include "api/scan_ahead.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>
#include <vector>

#include "testing/scarce_memory.h"
#include "vlog/value_store.h"

namespace cambium::testing {
namespace {

// Values that all have to be waited for.
class ScanAheadTest : public ::testing::Test, protected EntryCursor {
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
  // As an iterator does: the cursor moves on behind what was pushed.
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

  void SeekToFirst() override {}
  void SeekToLast() override {}
  void Seek(Slice) override {}
  void SeekForPrev(Slice) override {}
  void Next() override {}
  void Prev() override {}
  [[nodiscard]] bool Valid() const override { return true; }
  [[nodiscard]] Slice key() const override { return keys_[at_]; }
  [[nodiscard]] Entry entry() const override { return Entry::At(addresses_[at_]); }
  [[nodiscard]] Status status() const override { return Status::OK(); }

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

// The n-th allocation is refused, for every n, while entries are pushed and handed in. What was pushed before was "not
// read", and an entry that was pushed in part stood there with the state of an earlier one.
TEST_F(ScanAheadTest, WhatWasPushedIsReadThoughMemoryRanOutBehindIt) {
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

// Its place is that of another by then, which was read twice, by the one and by the other.
TEST_F(ScanAheadTest, WhatIsPoppedBeforeItIsHandedInIsNotRead) {
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

}  // namespace
}  // namespace cambium::testing
