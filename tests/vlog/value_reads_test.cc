// Values that are read together: each is what ReadValue returns, and nothing is written to an item that was forgotten.
#include "vlog/value_reads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "io/sim/sim_read_queue.h"
#include "testing/files/partial_file_system.h"
#include "testing/scarce_memory.h"
#include "testing/seed.h"
#include "util/prng.h"
#include "vlog/value_store.h"

namespace cambium::testing {
namespace {

struct Stored {
  ValueAddress address;
  std::string key;
  std::string value;
};

std::vector<Stored> Fill(ValueStore* store, Prng& prng, std::size_t count) {
  std::vector<Stored> all;
  for (std::size_t i = 0; i < count; ++i) {
    Stored one;
    one.key = "key" + std::to_string(i);
    // Small ones, a few that are larger than a gap, and one in fifty that is larger than a block.
    const std::uint64_t size = prng.OneIn(50) ? 300'000 : prng.OneIn(6) ? prng.Uniform(60'000) : prng.Uniform(2000);
    const bool is_text = prng.OneIn(3);
    one.value = is_text ? std::string(size, 't') : prng.Bytes(size);
    one.address = store->Put(one.key, one.value, is_text ? Codec::kLz4 : Codec::kNone);
    all.push_back(std::move(one));
  }
  return all;
}

ValueReads::Item ItemFor(const Stored& stored) {
  ValueReads::Item item;
  item.query = {stored.address, kStoreFamily, stored.key, true, nullptr};
  return item;
}

TEST(ValueReadsTest, ReadsEveryValueInAnyOrder) {
  const std::uint64_t seed = SeedFromEnvironment(0x7ea5);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  Prng prng(seed);
  ValueStore store;
  const std::vector<Stored> all = Fill(&store, prng, 300);
  ReadQueues queues(&store.fs);
  for (int round = 0; round < 60; ++round) {
    std::deque<ValueReads::Item> items;
    ValueReads reads(&queues, prng.OneIn(2));
    std::vector<const Stored*> wanted;
    const std::size_t count = prng.Between(1, 80);  // more than one queue has room for
    for (std::size_t i = 0; i < count; ++i) {
      wanted.push_back(&all[prng.Uniform(all.size())]);
      items.push_back(ItemFor(*wanted.back()));
      reads.Add(store.table, &items.back());
      if (prng.OneIn(20)) reads.Submit();
    }
    reads.Submit();
    if (prng.OneIn(10)) continue;  // destroyed without an Await
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[prng.Uniform(i)]);
    for (const std::size_t i : order) {
      reads.Await(items[i]);
      ASSERT_TRUE(items[i].status.ok()) << items[i].status.ToString();
      ASSERT_EQ(items[i].value, Slice(wanted[i]->value)) << wanted[i]->key;
    }
  }
}

// Returns how many reads of the file it takes to read all of these.
std::uint64_t ReadsFor(ValueStore* store, const std::vector<Stored>& wanted) {
  ReadQueues queues(&store->fs);
  std::deque<ValueReads::Item> items;
  ValueReads reads(&queues, false);
  const std::uint64_t before = store->fs.calls(SimOpKind::kRead);
  for (const Stored& stored : wanted) {
    items.push_back(ItemFor(stored));
    reads.Add(store->table, &items.back());
  }
  reads.Submit();
  for (const ValueReads::Item& item : items) {
    reads.Await(item);
    EXPECT_TRUE(item.status.ok()) << item.status.ToString();
  }
  return store->fs.calls(SimOpKind::kRead) - before;
}

TEST(ValueReadsTest, NeighboursAreReadAtOnce) {
  ValueStore store;
  std::vector<Stored> all;
  const auto put = [&](std::size_t size) {
    Stored one{{}, "key" + std::to_string(all.size()), std::string(size, 'v')};
    one.address = store.Put(one.key, one.value);
    all.push_back(one);
  };
  for (int i = 0; i < 40; ++i) put(1000);
  EXPECT_EQ(ReadsFor(&store, all), 1u);
  EXPECT_EQ(ReadsFor(&store, {all[7], all[3], all[3], all[12]}), 1u) << "within 16 KiB";
  EXPECT_EQ(ReadsFor(&store, {all[0], all[39]}), 2u) << "40 KiB between them";
  for (int i = 0; i < 10; ++i) put(100'000);
  const std::vector<Stored> large(all.end() - 10, all.end());
  EXPECT_EQ(ReadsFor(&store, large), 5u) << "two in 256 KiB";
}

TEST(ValueReadsTest, GapOf16KiBIsReadAndALargerOneIsNot) {
  ValueStore store;
  constexpr std::uint64_t kGap = 16u << 10;
  const auto put = [&store](std::size_t size) {
    Stored one{{}, "key", std::string(size, 'v')};
    one.address = store.Put(one.key, one.value);
    return one;
  };
  const std::uint64_t before = store.end;
  put(1000);
  const std::uint64_t rest = store.end - before - 1000;  // size of a record without its value
  for (const std::uint64_t gap : {kGap, kGap + kRecordAlignment}) {
    const Stored first = put(1000);
    const std::uint64_t end = first.address.offset() + first.address.size();
    ASSERT_EQ(end, store.end) << "a size with an exact code";
    put(gap - rest);
    const Stored second = put(1000);
    ASSERT_EQ(second.address.offset() - end, gap);
    EXPECT_EQ(ReadsFor(&store, {first, second}), gap == kGap ? 1u : 2u) << gap;
  }
}

// Compares as bytes do, and runs out of memory at one key.
class ExhaustedComparator final : public Comparator {
 public:
  [[nodiscard]] const char* Name() const override { return "exhausted"; }
  [[nodiscard]] int Compare(Slice a, Slice b) const override {
    if (a == Slice("key1")) throw std::bad_alloc();
    return a.compare(b);
  }
};

// (Regression: Await waited for ever for a read that had been delivered.)
TEST(ValueReadsTest, OutOfMemoryForOneValueFailsOnlyThatValue) {
  ValueStore store;
  std::vector<Stored> all;
  for (int i = 0; i < 3; ++i) {
    Stored one{.address = {}, .key = "key" + std::to_string(i), .value = std::string(500, 'v')};
    one.address = store.Put(one.key, one.value);
    all.push_back(one);
  }
  const ExhaustedComparator order;
  ReadQueues queues(&store.fs);
  ValueReads reads(&queues, true);
  std::deque<ValueReads::Item> items;
  for (const Stored& stored : all) {
    items.push_back(ItemFor(stored));
    items.back().query.order = &order;
    reads.Add(store.table, &items.back());
  }
  reads.Submit();
  for (const ValueReads::Item& item : items) reads.Await(item);
  EXPECT_EQ(items[0].value, Slice(all[0].value));
  EXPECT_TRUE(items[1].status.IsAborted()) << items[1].status.ToString();
  EXPECT_EQ(items[2].value, Slice(all[2].value));
}

// If a scan runs out of memory while it reads ahead, it awaits an item that it added and did not submit. (Regression:
// the item stayed "not read" for ever.)
TEST(ValueReadsTest, AwaitSubmitsAnAddedItem) {
  ValueStore store;
  Stored one{.address = store.Put("key", "value"), .key = "key", .value = "value"};
  ReadQueues queues(&store.fs);
  ValueReads reads(&queues, true);
  ValueReads::Item item = ItemFor(one);
  reads.Add(store.table, &item);
  EXPECT_FALSE(item.is_done);
  EXPECT_TRUE(item.status.IsAborted());
  reads.Await(item);
  EXPECT_TRUE(item.is_done);
  EXPECT_TRUE(item.status.ok()) << item.status.ToString();
  EXPECT_EQ(item.value, Slice("value"));
}

TEST(ValueReadsTest, ErrorFailsOnlyTheItemsOfItsRead) {
  ValueStore store;
  Prng prng(5);
  std::vector<Stored> all;
  for (int i = 0; i < 3; ++i) {
    Stored one{{}, "key" + std::to_string(i), std::string(50'000, 'v')};
    one.address = store.Put(one.key, one.value);
    all.push_back(one);
  }
  ASSERT_TRUE(store.fs.tampering().FlipBit(PathOf(1), all[1].address.offset() + 3000, 2).ok());
  ReadQueues queues(&store.fs);
  {
    std::deque<ValueReads::Item> items;
    ValueReads reads(&queues, true);
    for (const Stored& stored : all) {
      items.push_back(ItemFor(stored));
      reads.Add(store.table, &items.back());
    }
    items.push_back(ItemFor(all[0]));
    items.back().query.address = ValueAddress::InLog(Slot{9}, 128, 100);
    reads.Add(store.table, &items.back());
    EXPECT_TRUE(items.back().is_done && items.back().status.IsCorruption()) << "no such segment";
    reads.Submit();
    for (const ValueReads::Item& item : items) reads.Await(item);
    EXPECT_TRUE(items[0].status.ok());
    EXPECT_TRUE(items[1].status.IsCorruption()) << items[1].status.ToString();
    EXPECT_TRUE(items[1].value.empty());
    EXPECT_TRUE(items[2].status.ok());
  }
  SimFault fault;
  fault.kind = SimOpKind::kRead;
  store.fs.AddFault(fault);
  ValueReads::Item item = ItemFor(all[0]);
  ValueReads reads(&queues, true);
  reads.Add(store.table, &item);
  reads.Submit();
  reads.Await(item);
  EXPECT_TRUE(item.status.IsIOError()) << item.status.ToString();
  item = ItemFor(all[0]);
  reads.Add(store.table, &item);
  reads.Submit();
  reads.Await(item);
  EXPECT_EQ(item.value, Slice(all[0].value));
}

// Makes queues that fail on demand, and counts them.
class QueueMaker final : public PartialFileSystem {
 public:
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool) override {
    ++made;
    return std::make_unique<Queue>(this, depth);
  }

  Status submit;  // returned by the next Submit
  Status wait;    // returned by every Wait
  bool submit_throws = false;
  bool wait_throws = false;
  bool is_spent = false;
  int made = 0;

 private:
  class Queue final : public ReadQueue {
   public:
    Queue(QueueMaker* maker, std::size_t depth) : maker_(maker), base_(&maker->files_, depth, false, 7) {}
    Status Submit(std::span<ReadRequest* const> requests) override {
      if (std::exchange(maker_->submit_throws, false)) throw std::bad_alloc();
      if (!maker_->submit.ok()) return std::exchange(maker_->submit, Status::OK());
      return base_.Submit(requests);
    }
    Status Wait(std::vector<ReadRequest*>* done) override {
      if (maker_->wait_throws) throw std::bad_alloc();
      return maker_->wait.ok() ? base_.Wait(done) : maker_->wait;
    }
    [[nodiscard]] std::size_t in_flight() const override { return base_.in_flight(); }
    [[nodiscard]] std::size_t depth() const override { return base_.depth(); }
    [[nodiscard]] bool IsSpent() const override { return maker_->is_spent; }

   private:
    QueueMaker* const maker_;
    SimReadQueue base_;
  };

  SimFileSystem files_;  // for its counts
};

class FailingQueueTest : public ::testing::Test {
 protected:
  FailingQueueTest() {
    Prng prng(11);
    all_ = Fill(&store_, prng, 30);
  }
  ValueReads::Item* Add(ValueReads* reads, std::size_t i) {
    items_.push_back(ItemFor(all_[i]));
    reads->Add(store_.table, &items_.back());
    return &items_.back();
  }
  static Status Awaited(ValueReads* reads, const ValueReads::Item* item) {
    reads->Await(*item);
    EXPECT_TRUE(item->is_done);
    EXPECT_TRUE(item->status.ok() || item->value.empty());
    return item->status;
  }

  ValueStore store_;
  std::vector<Stored> all_;
  std::deque<ValueReads::Item> items_;
  QueueMaker maker_;
  ReadQueues queues_{&maker_};
};

TEST_F(FailingQueueTest, FailedSubmitFailsOnlyItsOwnItems) {
  ValueReads reads(&queues_, true);
  const ValueReads::Item* const before = Add(&reads, 1);
  reads.Submit();
  maker_.submit = Status::Busy("no room");
  const ValueReads::Item* const refused = Add(&reads, 2);
  const ValueReads::Item* const with_it = Add(&reads, 20);
  reads.Submit();
  EXPECT_TRUE(refused->is_done && with_it->is_done);
  EXPECT_TRUE(Awaited(&reads, refused).IsBusy()) << refused->status.ToString();
  EXPECT_TRUE(Awaited(&reads, with_it).IsBusy());
  const ValueReads::Item* const after = Add(&reads, 3);
  reads.Submit();
  EXPECT_TRUE(Awaited(&reads, after).ok());
  EXPECT_EQ(after->value, Slice(all_[3].value));
  EXPECT_TRUE(Awaited(&reads, before).ok());
  EXPECT_EQ(before->value, Slice(all_[1].value));
  EXPECT_EQ(maker_.made, 1);
}

// If Wait fails, it is unknown which reads are in flight, so the queue is destroyed. Its destructor waits until no read
// writes into a buffer any more.
TEST_F(FailingQueueTest, QueueThatCannotWaitIsReplaced) {
  for (const bool throws : {false, true}) {
    ValueReads reads(&queues_, true);
    std::vector<const ValueReads::Item*> lost;
    for (std::size_t i = 0; i < 10; ++i) lost.push_back(Add(&reads, i));
    reads.Submit();
    (throws ? maker_.wait_throws : maker_.is_spent) = true;
    if (!throws) maker_.wait = Status::IOError("gone");
    for (const ValueReads::Item* const item : lost) {
      const Status s = Awaited(&reads, item);
      EXPECT_TRUE(throws ? s.IsAborted() : s.IsIOError()) << s.ToString();
    }
    maker_.wait = Status::OK();
    maker_.wait_throws = false;
    maker_.is_spent = false;
    const int made = maker_.made;
    const ValueReads::Item* const after = Add(&reads, 3);
    reads.Submit();
    EXPECT_TRUE(Awaited(&reads, after).ok());
    EXPECT_EQ(after->value, Slice(all_[3].value));
    EXPECT_EQ(maker_.made, made + 1);
    // A destructor waits too.
    Add(&reads, 4);
    reads.Submit();
    maker_.wait_throws = throws;
  }
  maker_.wait_throws = false;
}

TEST_F(FailingQueueTest, SpentQueueIsNotReused) {
  queues_.Give(queues_.Take(true), true);
  queues_.Give(queues_.Take(true), true);
  EXPECT_EQ(maker_.made, 1);
  maker_.is_spent = true;
  queues_.Give(queues_.Take(true), true);
  EXPECT_EQ(maker_.made, 1);
  queues_.Give(queues_.Take(true), true);
  EXPECT_EQ(maker_.made, 2);
}

TEST_F(FailingQueueTest, ForgottenItemIsNotRead) {
  ValueReads reads(&queues_, true);
  auto gone = std::make_unique<ValueReads::Item>(ItemFor(all_[1]));
  reads.Add(store_.table, gone.get());
  const ValueReads::Item* const stays = Add(&reads, 2);
  reads.Forget(gone.get());
  gone.reset();
  reads.Submit();
  EXPECT_TRUE(Awaited(&reads, stays).ok());
  ValueReads::Item* const under_way = Add(&reads, 3);
  reads.Submit();
  reads.Forget(under_way);
  EXPECT_TRUE(under_way->is_done);
}

// The n-th allocation fails, for every n. Every added item is read in the end, or has an error.
TEST_F(FailingQueueTest, OutOfMemoryLosesNoAddedItem) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  for (std::uint64_t n = 0, met = 1; met != 0; ++n) {
    SCOPED_TRACE("allocation " + std::to_string(n));
    items_.clear();
    ValueReads reads(&queues_, true);
    std::vector<std::pair<const ValueReads::Item*, std::size_t>> wanted;
    wanted.reserve(10);
    for (std::size_t i = 0; i < 10; ++i) items_.push_back(ItemFor(all_[i * 3]));
    {
      ScarceMemory scarce(n);
      for (std::size_t i = 0; i < 10; ++i) {
        try {
          reads.Add(store_.table, &items_[i]);
          wanted.emplace_back(&items_[i], i * 3);
          if (i == 5) reads.Submit();
          if (i == 7) reads.Await(items_[0]);
        } catch (const std::bad_alloc&) {
        }
      }
      met = scarce.End();
    }
    for (const auto& [item, i] : wanted) {
      const Status s = Awaited(&reads, item);
      EXPECT_TRUE(s.ok() ? item->value == Slice(all_[i].value) : s.IsAborted()) << s.ToString();
      EXPECT_TRUE(s.ok() || met != 0);
    }
  }
}

}  // namespace
}  // namespace cambium::testing
