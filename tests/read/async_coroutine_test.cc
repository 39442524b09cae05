// Coroutines that await asynchronous reads.
#include <gtest/gtest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "read/async_store.h"
#include "testing/mutant_scope.h"

namespace cambium::testing {
namespace {

TEST(AsyncCoroutineTest, ManyCoroutinesWaitForRoomAndAllEnd) {
  constexpr int kKeys = 200;
  SimOptions sim;
  sim.shuffle_reads = true;
  AsyncStore store(sim);
  store.Fill(kKeys);
  store.NewReader({.depth = 4});
  std::vector<Ended> ended(kKeys + 1);
  for (int i = 0; i <= kKeys; ++i) ReadInto(store.reader.get(), NumberedKey(i), &ended[static_cast<std::size_t>(i)]);
  EXPECT_EQ(ended[0].times, 1) << "an inline value needs no suspension";
  EXPECT_EQ(ended[1].times, 0);
  EXPECT_EQ(store.reader->in_flight(), kKeys + 1u - 2u) << "those that wait count; two inline ones have ended";
  EXPECT_TRUE(store.reader->Get({}, "k", [](const Status&, Slice) {}).IsBusy());
  store.reader->Poll(kKeys);
  for (int i = 0; i < kKeys; ++i) ExpectValue(ended[static_cast<std::size_t>(i)], ValueAt(i));
  EXPECT_TRUE(ended[kKeys].status.IsNotFound());
  EXPECT_LE(store.fs->read_counts().together_max, 4u);
}

Started ReadChain(AsyncReader* reader, int from, int count, int* found) {
  PinnableSlice value;
  for (int i = from; i < from + count; ++i) {
    const Status s = co_await reader->Get({}, NumberedKey(i), &value);
    if (s.ok() && value == Slice(ValueAt(i))) ++*found;
  }
}

TEST(AsyncCoroutineTest, CoroutinesReadValuesInSequence) {
  AsyncStore store;
  store.Fill(200);
  store.NewReader({.depth = 8});
  int found = 0;
  for (int i = 0; i < 10; ++i) ReadChain(store.reader.get(), i * 20, 20, &found);
  while (store.reader->in_flight() > 0) store.reader->Poll();
  EXPECT_EQ(found, 200);
}

TEST(AsyncCoroutineTest, PollThrowsExceptionOfCoroutine) {
  if (!kCoroutinesMayThrow) GTEST_SKIP() << kCoroutinesMustNotThrow;
  AsyncStore store;
  store.Fill(10);
  store.NewReader();
  std::vector<Ended> ended(2);
  ReadInto(store.reader.get(), NumberedKey(1), &ended[0]);
  const Owned throwing = ReadAndThrow(store.reader.get(), NumberedKey(2));
  ReadInto(store.reader.get(), NumberedKey(4), &ended[1]);
  EXPECT_THROW(store.reader->Poll(3), std::runtime_error);
  store.reader->Poll(3);
  ExpectValue(ended[0], ValueAt(1));
  ExpectValue(ended[1], ValueAt(4));
}

// A callback or coroutine throws while others wait for its room. These must count as in flight, so that the usual loop
// ends them.
TEST(AsyncCoroutineTest, WaitingCoroutinesContinueAfterException) {
  AsyncStore store;
  store.Fill(10);
  for (const int thrower : {0, 1, 2}) {
    if (thrower != 0 && !kCoroutinesMayThrow) GTEST_SKIP() << kCoroutinesMustNotThrow;
    store.NewReader({.depth = 1});
    std::vector<Ended> ended(2);
    std::vector<Owned> throwing;
    if (thrower == 0) {
      const auto fails = [](const Status&, Slice) { throw std::runtime_error("x"); };
      ASSERT_TRUE(store.reader->Get({}, NumberedKey(2), fails).ok());
    } else {
      // The second of these waits for room, and its value is inline: it throws when its read begins.
      if (thrower == 2) ReadInto(store.reader.get(), NumberedKey(1), &ended[0]);
      throwing.push_back(ReadAndThrow(store.reader.get(), NumberedKey(thrower == 1 ? 2 : 3)));
    }
    ReadInto(store.reader.get(), NumberedKey(4), &ended[1]);
    EXPECT_THROW(store.reader->Poll(3), std::runtime_error);
    EXPECT_EQ(store.reader->in_flight(), 1u);
    {
      const MutantScope mutant(Mutant::kAsyncReaderForgetsWaiting);  // rule G12
      EXPECT_EQ(store.reader->in_flight(), 0u) << "the loop would end";
    }
    while (store.reader->in_flight() > 0) store.reader->Poll();
    ExpectValue(ended[1], ValueAt(4));
    throwing.clear();
    store.reader.reset();
  }
}

Owned ReadAgainAndAgain(AsyncReader* reader, std::string key, int* left) {
  PinnableSlice value;
  while (*left > 0) {
    --*left;
    const Status s = co_await reader->Get({}, key, &value);
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
}

// Two coroutines give the only room to each other, for values that are read at once. A Poll begins one read of each.
TEST(AsyncCoroutineTest, PollEndsThoughCoroutinesTakeTurns) {
  AsyncStore store;
  store.Fill(10);
  store.NewReader({.depth = 1});
  Ended first;
  ReadInto(store.reader.get(), NumberedKey(1), &first);
  int left = 1000;
  const Owned one = ReadAgainAndAgain(store.reader.get(), NumberedKey(3), &left);
  const Owned other = ReadAgainAndAgain(store.reader.get(), NumberedKey(3), &left);
  EXPECT_EQ(left, 998);
  store.reader->Poll(1, 1000);
  EXPECT_EQ(first.times, 1);
  EXPECT_EQ(left, 996);
  while (store.reader->in_flight() > 0) ASSERT_GE(store.reader->Poll(), 1u);
  EXPECT_TRUE(one.handle.done() && other.handle.done());
}

TEST(AsyncCoroutineTest, WaitingCoroutineMayBeDestroyed) {
  AsyncStore store;
  store.Fill(10);
  store.NewReader({.depth = 2});
  std::vector<Ended> ended(5);
  {
    const Owned first = ReadOwned(store.reader.get(), NumberedKey(1), &ended[0]);
    Owned second = ReadOwned(store.reader.get(), NumberedKey(2), &ended[1]);
    const Owned third = ReadOwned(store.reader.get(), NumberedKey(4), &ended[2]);  // these wait for room
    Owned fourth = ReadOwned(store.reader.get(), NumberedKey(5), &ended[3]);
    const Owned fifth = ReadOwned(store.reader.get(), NumberedKey(8), &ended[4]);
    { const Owned gone = std::move(second); }
    { const Owned gone = std::move(fourth); }
    EXPECT_EQ(store.reader->Poll(3), 3u) << "the destroyed ones do not count";
    EXPECT_TRUE(first.handle.done() && third.handle.done() && fifth.handle.done());
  }
  ExpectValue(ended[0], ValueAt(1));
  EXPECT_EQ(ended[1].times, 0);
  ExpectValue(ended[2], ValueAt(4));
  EXPECT_EQ(ended[3].times, 0);
  ExpectValue(ended[4], ValueAt(8));
  EXPECT_EQ(store.reader->in_flight(), 0u);
}

TEST(AsyncCoroutineTest, CoAwaitReturnsErrors) {
  AsyncStore store;
  store.Fill(2);
  store.NewReader({.depth = 1});
  Ended first;
  store.Begin(NumberedKey(1), &first);  // errors wait for no room
  ReadOptions bad;
  const Snapshot* const snapshot = store.db->GetSnapshot();
  bad.snapshot = snapshot;
  bad.durable_only = true;
  std::vector<Status> results;
  const auto read = [&](const ReadOptions& options, ColumnFamilyHandle* family, PinnableSlice* value) -> Started {
    results.push_back(co_await store.reader->Get(options, family, "k", value));
  };
  PinnableSlice value;
  value.PinSelf("old");
  read(bad, store.db->DefaultColumnFamily(), &value);
  EXPECT_TRUE(value.empty());
  value.PinSelf("old");
  read({}, nullptr, &value);
  EXPECT_TRUE(value.empty());
  read({}, store.db->DefaultColumnFamily(), nullptr);
  ASSERT_EQ(results.size(), 3u);
  for (const Status& s : results) EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  store.db->ReleaseSnapshot(snapshot);
  EXPECT_EQ(store.reader->Poll(1), 1u);
  ExpectValue(first, ValueAt(1));
}

}  // namespace
}  // namespace cambium::testing
