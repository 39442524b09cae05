// Asynchronous reads: what they return, when, and that each ends exactly once.
#include "cambium/async.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <coroutine>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cambium/statistics.h"
#include "testing/forwarding_file_system.h"
#include "testing/mutant_scope.h"
#include "testing/page_cache.h"
#include "testing/scarce_memory.h"
#include "testing/seed.h"
#include "testing/temp_directory.h"
#include "testing/test_store.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// How a read has ended. With `times`, a second call of a callback is found.
struct Ended {
  int times = 0;
  Status status;
  std::string value;
};

// Values that are inline, in the log, or in files of their own; one has more than 1 MiB.
std::string ValueAt(int i) {
  const std::size_t size = i % 50 == 7 ? 20'000 : i % 3 == 0 ? 10 : 100 + static_cast<std::size_t>(i) * 7 % 3000;
  return NumberedKey(i) + std::string(i == 57 ? 1'500'000 : size, static_cast<char>('a' + i % 26));
}

struct AsyncStore : TestStore {
  explicit AsyncStore(const SimOptions& sim = {}) : TestStore(sim) {}
  ~AsyncStore() { reader.reset(); }
  AsyncStore(const AsyncStore&) = delete;
  AsyncStore& operator=(const AsyncStore&) = delete;

  // Fills the store with values that are not in memory.
  void Fill(int count) {
    MustOpen();
    for (int i = 0; i < count; ++i) Put(NumberedKey(i), ValueAt(i));
    Compact();
    fs->SetResident(false);
  }
  void NewReader(const AsyncReaderOptions& with = {}) {
    const Status s = db->NewAsyncReader(with, &reader);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  AsyncReader::Callback Into(Ended* ended) {
    return [ended](const Status& status, Slice value) {
      ++ended->times;
      ended->status = status;
      ended->value = value.ToString();
    };
  }
  // Begins a read, which has room.
  void Begin(Slice key, Ended* ended, const ReadOptions& read = {}) {
    const Status s = reader->Get(read, key, Into(ended));
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  std::unique_ptr<AsyncReader> reader;
};

void ExpectValue(const Ended& ended, const std::string& value) {
  EXPECT_EQ(ended.times, 1);
  EXPECT_TRUE(ended.status.ok()) << ended.status.ToString();
  EXPECT_EQ(ended.value, value);
}

// A coroutine that starts at once and destroys itself at its end. It counts exceptions.
struct Started {
  struct promise_type {
    static Started get_return_object() { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() {}
    static void unhandled_exception() { ++exceptions; }
  };
  static inline int exceptions = 0;
};
// A coroutine that starts at once, and that its owner destroys. An exception goes to whoever resumes it.
struct Owned {
  struct promise_type {
    Owned get_return_object() { return Owned{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_always final_suspend() noexcept { return {}; }
    static void return_void() {}
    [[noreturn]] static void unhandled_exception() { throw; }
  };
  explicit Owned(std::coroutine_handle<promise_type> h) : handle(h) {}
  Owned(Owned&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  ~Owned() {
    if (handle != nullptr) handle.destroy();
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned& operator=(Owned&&) = delete;
  std::coroutine_handle<promise_type> handle;
};

Started ReadInto(AsyncReader* reader, std::string key, Ended* ended) {
  PinnableSlice value;
  value.PinSelf("old");
  const Status s = co_await reader->Get({}, key, &value);
  ++ended->times;
  ended->status = s;
  ended->value = value.ToString();
}
Owned ReadOwned(AsyncReader* reader, std::string key, Ended* ended) {
  PinnableSlice value;
  const Status s = co_await reader->Get({}, key, &value);
  ++ended->times;
  ended->status = s;
  ended->value = value.ToString();
}

// In memory or not, with mappings or without, and in any order of the device.
TEST(AsyncReaderTest, ReadsEveryKindOfValue) {
  constexpr int kKeys = 100;
  for (const bool maps : {true, false}) {
    for (const bool resident : {true, false}) {
      SimOptions sim;
      sim.maps = maps;
      sim.shuffle_reads = true;
      sim.seed = SeedFromEnvironment(1);
      AsyncStore store(sim);
      store.Fill(kKeys);
      store.fs->SetResident(resident);
      store.NewReader({.depth = 7});
      std::vector<Ended> ended(kKeys + 1);
      for (int i = 0; i <= kKeys; ++i) {
        while (!store.reader->HasRoom()) ASSERT_GE(store.reader->Poll(), 1u);
        store.Begin(NumberedKey(i), &ended[static_cast<std::size_t>(i)]);
      }
      store.reader->Poll(kKeys);
      EXPECT_EQ(store.reader->in_flight(), 0u);
      for (int i = 0; i < kKeys; ++i) ExpectValue(ended[static_cast<std::size_t>(i)], ValueAt(i));
      EXPECT_EQ(ended[kKeys].times, 1);
      EXPECT_TRUE(ended[kKeys].status.IsNotFound());
    }
  }
}

// All reads go to the device together, and come back in random order.
TEST(AsyncReaderTest, ThousandInFlightEndInAnyOrder) {
  constexpr std::size_t kDepth = 1000;
  SimOptions sim;
  sim.shuffle_reads = true;
  sim.seed = SeedFromEnvironment(1);
  AsyncStore store(sim);
  store.Fill(300);
  store.NewReader({.depth = kDepth});
  std::vector<Ended> ended(kDepth);
  std::vector<int> order;
  std::vector<int> keys;
  for (std::size_t i = 0; i < kDepth; ++i) {
    keys.push_back(static_cast<int>(i * 7 % 300));
    const Status s = store.reader->Get({}, NumberedKey(keys[i]), [&, i](const Status& status, Slice value) {
      order.push_back(static_cast<int>(i));
      store.Into(&ended[i])(status, PinnableSlice());
      ended[i].value = value.ToString();
    });
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  EXPECT_EQ(store.reader->in_flight(), kDepth);
  EXPECT_TRUE(store.reader->Get({}, "k", store.Into(&ended[0])).IsBusy());
  EXPECT_EQ(store.reader->Poll(kDepth), kDepth);
  for (std::size_t i = 0; i < kDepth; ++i) ExpectValue(ended[i], ValueAt(keys[i]));
  EXPECT_GE(store.fs->read_counts().together_max, 600u) << "two thirds are separated";
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
}

// Without a ring, a value in memory is copied at once: a thread would take many times as long.
TEST(AsyncReaderTest, ThreadsReadOnlyWhatIsNotInMemory) {
  SimOptions sim;
  sim.maps = false;
  AsyncStore store(sim);
  store.Fill(20);
  store.NewReader({.use_io_uring = false});
  for (const bool resident : {true, false}) {
    store.fs->SetResident(resident);
    const std::uint64_t before = store.fs->read_counts().queued[0];
    Ended ended;
    store.Begin(NumberedKey(1), &ended);
    store.reader->Poll();
    ExpectValue(ended, ValueAt(1));
    EXPECT_EQ(store.fs->read_counts().queued[0] - before, resident ? 0u : 1u);
  }
}

TEST(AsyncReaderTest, PollWithoutWaitingLeavesSlowReads) {
  AsyncStore store;
  store.Fill(10);
  store.NewReader();
  Ended slow;
  Ended fast;
  store.Begin(NumberedKey(1), &slow);
  EXPECT_EQ(store.reader->Poll(0), 0u);
  store.Begin(NumberedKey(3), &fast);  // inline
  EXPECT_EQ(fast.times, 0) << "a Get calls no callback";
  EXPECT_EQ(store.reader->Poll(0), 1u);
  ExpectValue(fast, ValueAt(3));
  EXPECT_EQ(slow.times, 0);
  EXPECT_EQ(store.reader->in_flight(), 1u);
  EXPECT_EQ(store.reader->Poll(5, 1000), 1u) << "returns when none is in flight";
  ExpectValue(slow, ValueAt(1));
  EXPECT_EQ(store.reader->Poll(), 0u);
}

TEST(AsyncReaderTest, DamagedValueIsReportedWithFileAndOffset) {
  AsyncStore store;
  store.Fill(20);
  int damaged = 0;
  for (const std::string& path : store.FilesOf(".log")) {
    std::string bytes;
    ASSERT_TRUE(store.fs->probe().ReadContents(path, &bytes).ok());
    const std::size_t at = bytes.find(ValueAt(4));
    if (at == std::string::npos) continue;
    ASSERT_TRUE(store.fs->tampering().FlipBit(path, at + 20, 1).ok());
    ++damaged;
  }
  ASSERT_GE(damaged, 1);
  store.NewReader();
  std::vector<Ended> ended(20);
  for (int i = 0; i < 20; ++i) store.Begin(NumberedKey(i), &ended[static_cast<std::size_t>(i)]);
  store.reader->Poll(20);
  for (int i = 0; i < 20; ++i) {
    if (i != 4) ExpectValue(ended[static_cast<std::size_t>(i)], ValueAt(i));
  }
  EXPECT_EQ(ended[4].times, 1);
  EXPECT_TRUE(ended[4].status.IsCorruption());
  EXPECT_NE(ended[4].status.ToString().find(".log:"), std::string::npos) << ended[4].status.ToString();
  EXPECT_EQ(ended[4].value, "");
  Ended unverified;
  ReadOptions trusting;
  trusting.verify_checksums = false;
  store.Begin(NumberedKey(4), &unverified, trusting);
  store.reader->Poll();
  EXPECT_TRUE(unverified.status.ok()) << "verify_checksums decides, as in Get";
}

// Fails each read of the file system in turn, during the look-up or later. The read gets the error or the value; the
// next one the value.
TEST(AsyncReaderTest, ErrorOfTheDeviceEndsOneRead) {
  AsyncStore store;
  store.Fill(40);
  int failed = 0;
  for (std::uint64_t nth = 1; nth <= 12; ++nth) {
    store.NewReader();
    SimFault fault;
    fault.kind = SimOpKind::kRead;
    fault.nth = nth;
    store.fs->AddFault(fault);
    std::vector<Ended> ended(4);
    for (int i = 0; i < 4; ++i) store.Begin(NumberedKey(i), &ended[static_cast<std::size_t>(i)]);
    store.reader->Poll(4);
    store.fs->ClearFaults();
    for (int i = 0; i < 4; ++i) {
      const Ended& each = ended[static_cast<std::size_t>(i)];
      ASSERT_EQ(each.times, 1);
      if (each.status.ok()) {
        EXPECT_EQ(each.value, ValueAt(i));
      } else {
        EXPECT_TRUE(each.status.IsIOError()) << each.status.ToString();
        ++failed;
      }
    }
    Ended again;
    store.Begin(NumberedKey(1), &again);
    store.reader->Poll();
    ExpectValue(again, ValueAt(1));
    store.reader.reset();
  }
  EXPECT_GT(failed, 0);
}

// Overwrites everything and collects the log while reads have begun. Returns how many of them did not return the state
// of their beginning. With bytes_max = 1, nearly all records are located only after the log was collected.
int WrongReadsThroughLogGc(std::uint64_t bytes_max) {
  constexpr int kKeys = 60;
  AsyncStore store;
  store.options.enable_blob_garbage_collection = true;
  store.Fill(kKeys);
  const std::vector<std::string> before = store.FilesOf(".log");
  store.NewReader({.bytes_max = bytes_max});
  std::vector<Ended> ended(kKeys);
  for (int i = 0; i < kKeys; ++i) store.Begin(NumberedKey(i), &ended[static_cast<std::size_t>(i)]);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kKeys; ++i) store.Put(NumberedKey(i), "new" + std::string(3000, 'n'));
    CompactRangeOptions force;
    force.blob_garbage_collection_policy = BlobGarbageCollectionPolicy::kForce;
    force.blob_garbage_collection_age_cutoff = 1;
    store.Compact(force);
    store.RunUntilIdle();
  }
  store.reader->Poll(kKeys);
  int wrong = 0;
  for (int i = 0; i < kKeys; ++i) {
    const Ended& each = ended[static_cast<std::size_t>(i)];
    EXPECT_EQ(each.times, 1);
    if (!each.status.ok() || each.value != ValueAt(i)) ++wrong;
  }
  if (wrong != 0) return wrong;
  Ended later;
  store.Begin(NumberedKey(1), &later);
  store.reader->Poll();
  ExpectValue(later, "new" + std::string(3000, 'n'));
  store.reader.reset();
  store.Put("x", "y");
  store.Compact();
  store.RunUntilIdle();
  const std::vector<std::string> after = store.FilesOf(".log");
  for (const std::string& path : before) EXPECT_EQ(std::count(after.begin(), after.end(), path), 0) << path;
  return 0;
}

TEST(AsyncReaderTest, ReadsTheStateOfItsBeginningThroughLogGc) {
  EXPECT_EQ(WrongReadsThroughLogGc(64u << 20), 0);
  EXPECT_EQ(WrongReadsThroughLogGc(1), 0);
  const MutantScope mutant(Mutant::kSlotOfNewestView);  // rule E4
  EXPECT_GT(WrongReadsThroughLogGc(1), 0);
}

TEST(AsyncReaderTest, ReadsAtItsSnapshotAndDurably) {
  AsyncStore store;
  store.MustOpen();
  store.Put("a", std::string(500, '1'), /*sync=*/true);
  store.NewReader();
  const Snapshot* const snapshot = store.db->GetSnapshot();
  store.Put("a", std::string(500, '2'));
  store.fs->SetResident(false);
  ReadOptions at_snapshot;
  at_snapshot.snapshot = snapshot;
  ReadOptions durable;
  durable.durable_only = true;
  Ended old;
  Ended safe;
  Ended now;
  store.Begin("a", &old, at_snapshot);
  store.Begin("a", &safe, durable);
  store.Begin("a", &now);
  store.db->ReleaseSnapshot(snapshot);
  store.reader->Poll(3);
  ExpectValue(old, std::string(500, '1'));
  ExpectValue(safe, std::string(500, '1'));
  ExpectValue(now, std::string(500, '2'));
  at_snapshot.durable_only = true;
  EXPECT_TRUE(store.reader->Get(at_snapshot, "a", store.Into(&old)).IsInvalidArgument());
}

TEST(AsyncReaderTest, FamiliesAndDroppedFamilies) {
  AsyncStore store;
  store.MustOpen();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(store.db->CreateColumnFamily(store.options, "other", &family).ok());
  ASSERT_TRUE(store.db->Put({}, family, "a", std::string(700, 'o')).ok());
  store.Put("a", std::string(700, 'd'));
  store.fs->SetResident(false);
  store.NewReader();
  Ended other;
  Ended in_default;
  Ended dropped;
  ASSERT_TRUE(store.reader->Get({}, family, "a", store.Into(&other)).ok());
  store.Begin("a", &in_default);
  ASSERT_TRUE(store.db->DropColumnFamily(family).ok());
  ASSERT_TRUE(store.reader->Get({}, family, "a", store.Into(&dropped)).ok());
  ASSERT_TRUE(store.db->DestroyColumnFamilyHandle(family).ok());
  store.reader->Poll(3);
  ExpectValue(other, std::string(700, 'o'));
  ExpectValue(in_default, std::string(700, 'd'));
  EXPECT_TRUE(dropped.status.IsColumnFamilyDropped());
  EXPECT_TRUE(store.reader->Get({}, nullptr, "a", store.Into(&dropped)).IsInvalidArgument());
  EXPECT_EQ(dropped.times, 1);
}

TEST(AsyncReaderTest, CallbackBeginsTheNextReadAtFullDepth) {
  AsyncStore store;
  store.Fill(100);
  store.NewReader({.depth = 1});
  int next = 0;
  std::vector<Ended> ended(100);
  const std::function<void()> begin_next = [&] {
    Ended* const its = &ended[static_cast<std::size_t>(next)];
    const Status s = store.reader->Get({}, NumberedKey(next++), [&, its](const Status& status, Slice value) {
      store.Into(its)(status, PinnableSlice());
      its->value = value.ToString();
      EXPECT_EQ(store.reader->Poll(), 0u) << "inside a callback";
      if (next < 100) begin_next();
      its->value = value.ToString();  // the value lives until the callback returns
    });
    ASSERT_TRUE(s.ok()) << s.ToString();
  };
  begin_next();
  int polls = 0;
  while (store.reader->in_flight() > 0) {
    store.reader->Poll();
    ASSERT_LE(++polls, 100);
  }
  for (int i = 0; i < 100; ++i) ExpectValue(ended[static_cast<std::size_t>(i)], ValueAt(i));
}

// Values of 20 KiB, of which two fit. Returns how many were read together at most.
std::uint64_t ReadWithBytesMax() {
  AsyncStore store;
  store.MustOpen();
  for (int i = 0; i < 20; ++i) store.Put(NumberedKey(i), std::string(20'000, 'v') + NumberedKey(i));
  store.fs->SetResident(false);
  store.NewReader({.depth = 64, .bytes_max = 50'000});
  std::vector<Ended> ended(20);
  for (int i = 0; i < 20; ++i) store.Begin(NumberedKey(i), &ended[static_cast<std::size_t>(i)]);
  EXPECT_EQ(store.reader->in_flight(), 20u);
  store.reader->Poll(20);
  for (int i = 0; i < 20; ++i) {
    ExpectValue(ended[static_cast<std::size_t>(i)], std::string(20'000, 'v') + NumberedKey(i));
  }
  return store.fs->read_counts().together_max;
}

TEST(AsyncReaderTest, ReadsNoMoreBytesTogetherThanAllowed) {
  EXPECT_EQ(ReadWithBytesMax(), 2u);
  const MutantScope mutant(Mutant::kAsyncReaderIgnoresBytes);  // rule G12
  EXPECT_EQ(ReadWithBytesMax(), 20u);
}

// A MultiGet of 16 values of 20 KiB, of which two fit, with and without mappings, in memory or not. Its beginning takes
// memory for two, also if it only tries to read the others without waiting.
TEST(AsyncReaderTest, MultiGetBeginsWithNoMoreBytesThanAllowed) {
  if (!kMemoryCanBeScarce) GTEST_SKIP() << kMemoryIsAmple;
  for (const bool maps : {true, false}) {
    for (const bool resident : {true, false}) {
      SimOptions sim;
      sim.maps = maps;
      AsyncStore store(sim);
      store.MustOpen();
      std::vector<std::string> names;
      for (int i = 0; i < 16; ++i) {
        names.push_back(NumberedKey(i));
        store.Put(names.back(), std::string(20'000, 'v') + names.back());
      }
      store.fs->SetResident(resident);
      store.NewReader({.depth = 16, .bytes_max = 50'000, .use_io_uring = false});
      const std::vector<Slice> keys(names.begin(), names.end());
      const std::vector<ColumnFamilyHandle*> families(16, store.db->DefaultColumnFamily());
      int found = 0;
      const AllocatedBytes allocated;
      const Status s = store.reader->MultiGet({}, 16, families.data(), keys.data(), [&](auto statuses, auto values) {
        for (std::size_t i = 0; i < 16; ++i) {
          found += statuses[i].ok() && values[i] == Slice(std::string(20'000, 'v') + names[i]) ? 1 : 0;
        }
      });
      EXPECT_LT(allocated.get(), 80'000u) << maps << resident;
      ASSERT_TRUE(s.ok()) << s.ToString();
      EXPECT_EQ(store.reader->Poll(), 1u);
      EXPECT_EQ(found, 16) << maps << resident;
    }
  }
}

// The first two values of a MultiGet fill bytes_max, and stay until the third has come: that one is read alone, and the
// next read waits until the callback has returned.
TEST(AsyncReaderTest, ValuesOfMultiGetCountUntilItsCallbackReturns) {
  AsyncStore store;
  store.MustOpen();
  for (int i = 0; i < 4; ++i) store.Put(NumberedKey(i), std::string(20'000, 'v') + NumberedKey(i));
  store.fs->SetResident(false);
  store.NewReader({.depth = 4, .bytes_max = 50'000});
  const std::string names[] = {NumberedKey(0), NumberedKey(1), NumberedKey(2)};
  const Slice keys[] = {names[0], names[1], names[2]};
  const std::vector<ColumnFamilyHandle*> families(3, store.db->DefaultColumnFamily());
  const auto queued = [&] { return store.fs->read_counts().queued[0] + store.fs->read_counts().queued[1]; };
  const std::uint64_t before = queued();
  std::uint64_t queued_by_callback = 0;
  const Status s = store.reader->MultiGet({}, 3, families.data(), keys, [&](auto statuses, auto values) {
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(statuses[i].ok()) << statuses[i].ToString();
      EXPECT_EQ(values[i], Slice(std::string(20'000, 'v') + names[i]));
    }
    store.reader->Submit();
    queued_by_callback = queued() - before;
  });
  ASSERT_TRUE(s.ok()) << s.ToString();
  Ended next;
  store.Begin(NumberedKey(3), &next);
  EXPECT_EQ(store.reader->Poll(2), 2u);
  EXPECT_EQ(queued_by_callback, 3u);
  EXPECT_EQ(queued() - before, 4u);
  ExpectValue(next, std::string(20'000, 'v') + NumberedKey(3));
}

// Two MultiGets hold an inline value each, and wait for larger ones: neither may wait for the other.
TEST(AsyncReaderTest, MultiGetsDoNotWaitForEachOther) {
  AsyncStore store;
  store.Fill(20);
  store.NewReader({.depth = 8, .bytes_max = 1});
  const std::string names[] = {NumberedKey(3), NumberedKey(1)};
  const Slice keys[] = {names[0], names[1]};
  const std::vector<ColumnFamilyHandle*> families(2, store.db->DefaultColumnFamily());
  int called = 0;
  for (int i = 0; i < 2; ++i) {
    const Status s = store.reader->MultiGet({}, 2, families.data(), keys, [&](auto statuses, auto values) {
      ++called;
      EXPECT_TRUE(statuses[0].ok() && statuses[1].ok());
      EXPECT_EQ(values[1], Slice(ValueAt(1)));
    });
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  EXPECT_EQ(store.reader->Poll(2), 2u);
  EXPECT_EQ(called, 2);
}

TEST(AsyncReaderTest, ValueLargerThanBytesMaxIsReadAlone) {
  AsyncStore store;
  store.Fill(60);
  store.NewReader({.depth = 8, .bytes_max = 1});
  std::vector<Ended> ended(3);
  store.Begin(NumberedKey(56), &ended[0]);
  store.Begin(NumberedKey(57), &ended[1]);
  store.Begin(NumberedKey(58), &ended[2]);
  store.reader->Poll(3);
  for (int i = 0; i < 3; ++i) ExpectValue(ended[static_cast<std::size_t>(i)], ValueAt(56 + i));
  EXPECT_EQ(store.fs->read_counts().together_max, 1u);
}

TEST(AsyncReaderTest, DestructorEndsEveryRead) {
  for (const bool submits : {false, true}) {
    AsyncStore store;
    store.Fill(20);
    store.NewReader({.depth = 3});
    std::vector<Ended> ended(5);
    store.Begin(NumberedKey(3), &ended[0]);  // inline: it has ended
    store.Begin(NumberedKey(1), &ended[1]);
    if (submits) store.reader->Submit();
    ReadInto(store.reader.get(), NumberedKey(2), &ended[2]);
    ReadInto(store.reader.get(), NumberedKey(4), &ended[3]);  // waits for room
    const Status s = store.reader->MultiGet({}, 0, nullptr, nullptr, [&](auto, auto) {});
    EXPECT_TRUE(s.IsBusy());
    ASSERT_EQ(store.reader->Poll(0), 1u);  // the inline one; the coroutine gets its room
    const Status last = store.reader->Get({}, NumberedKey(5), [](const Status&, Slice) {});
    EXPECT_TRUE(last.IsBusy());
    store.reader.reset();
    ExpectValue(ended[0], ValueAt(3));
    for (std::size_t i = 1; i < 4; ++i) {
      EXPECT_EQ(ended[i].times, 1) << i;
      EXPECT_TRUE(ended[i].status.IsAborted()) << ended[i].status.ToString();
      EXPECT_EQ(ended[i].value, "") << i;
    }
    store.MustClose();
  }
}

TEST(AsyncReaderTest, CallbackDuringDestructionBeginsNothing) {
  AsyncStore store;
  store.Fill(5);
  store.NewReader();
  Ended ended;
  Status begun;
  AsyncReader* const reader = store.reader.get();
  const Status s = reader->Get({}, NumberedKey(1), [&](const Status& status, Slice) {
    ++ended.times;
    ended.status = status;
    begun = reader->Get({}, NumberedKey(2), [](const Status&, Slice) {});
  });
  ASSERT_TRUE(s.ok()) << s.ToString();
  store.reader.reset();
  EXPECT_EQ(ended.times, 1);
  EXPECT_TRUE(ended.status.IsAborted());
  EXPECT_TRUE(begun.IsShutdownInProgress()) << begun.ToString();
}

TEST(AsyncReaderTest, DroppedCallbacksAreNoticed) {
  AsyncStore store;
  store.Fill(5);
  store.NewReader();
  Ended ended;
  store.Begin(NumberedKey(1), &ended);
  const MutantScope mutant(Mutant::kAsyncReaderDropsCallbacks);  // rule G12
  store.reader.reset();
  EXPECT_EQ(ended.times, 0);
}

TEST(AsyncReaderTest, DatabaseStaysOpenWhileReaderLives) {
  AsyncStore store;
  store.Fill(5);
  store.NewReader();
  const Status refused = store.db->Close();
  EXPECT_TRUE(refused.IsAborted());
  EXPECT_NE(refused.ToString().find("1 asynchronous readers"), std::string::npos) << refused.ToString();
  Ended ended;
  store.Begin(NumberedKey(1), &ended);
  store.reader->Poll();
  ExpectValue(ended, ValueAt(1));
  store.reader.reset();
  store.MustClose();
  store.MustOpen();
  store.NewReader();
  {
    const MutantScope mutant(Mutant::kCloseUnderAsyncReader);  // rule G12
    EXPECT_TRUE(store.db->Close().ok());
  }
  EXPECT_TRUE(store.reader->Get({}, "k", store.Into(&ended)).IsShutdownInProgress());
  store.reader.reset();
  store.db.reset();
}

TEST(AsyncReaderTest, RefusesBadArguments) {
  AsyncStore store;
  store.MustOpen();
  EXPECT_TRUE(store.db->NewAsyncReader({}, nullptr).IsInvalidArgument());
  EXPECT_TRUE(store.db->NewAsyncReader({.depth = 0}, &store.reader).IsInvalidArgument());
  EXPECT_TRUE(store.db->NewAsyncReader({.depth = 4097}, &store.reader).IsInvalidArgument());
  EXPECT_EQ(store.reader, nullptr);
  store.NewReader({.depth = 2});
  EXPECT_TRUE(store.reader->Get({}, "a", AsyncReader::Callback()).IsInvalidArgument());
  EXPECT_TRUE(store.reader->MultiGet({}, 0, nullptr, nullptr, nullptr).IsInvalidArgument());
  EXPECT_TRUE(store.reader->MultiGet({}, 1, nullptr, nullptr, [](auto, auto) {}).IsInvalidArgument());
  EXPECT_TRUE(store.reader->EventFd(nullptr).IsInvalidArgument());
  int fd = 0;
  EXPECT_TRUE(store.reader->EventFd(&fd).IsNotSupported()) << "the simulated queue signals nothing";
  EXPECT_EQ(fd, -1);
}

TEST(AsyncReaderTest, MultiGetReadsAllAtOneState) {
  AsyncStore store;
  store.Fill(40);
  store.NewReader({.depth = 40});
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back(i == 39 ? "absent" : NumberedKey(i));
  const std::vector<Slice> keys(names.begin(), names.end());
  std::vector<ColumnFamilyHandle*> families(40, store.db->DefaultColumnFamily());
  families[5] = nullptr;
  int called = 0;
  const Status s = store.reader->MultiGet({}, 40, families.data(), keys.data(), [&](auto statuses, auto values) {
    ++called;
    ASSERT_EQ(statuses.size(), 40u);
    for (int i = 0; i < 39; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (i == 5) continue;
      EXPECT_TRUE(statuses[at].ok()) << statuses[at].ToString();
      EXPECT_EQ(values[at], Slice(ValueAt(i)));
    }
    EXPECT_TRUE(statuses[5].IsInvalidArgument());
    EXPECT_TRUE(statuses[39].IsNotFound());
  });
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(store.reader->in_flight(), 39u) << "a key without a family is not read";
  for (int i = 0; i < 40; ++i) store.Put(NumberedKey(i), "later");
  EXPECT_TRUE(store.reader->MultiGet({}, 2, families.data(), keys.data(), [](auto, auto) {}).IsBusy());
  EXPECT_TRUE(store.reader->MultiGet({}, 41, families.data(), keys.data(), [](auto, auto) {}).IsInvalidArgument());
  EXPECT_EQ(store.reader->Poll(2), 1u);
  EXPECT_EQ(called, 1);
  ASSERT_TRUE(store.reader->MultiGet({}, 0, nullptr, nullptr, [&](auto statuses, auto values) {
                              EXPECT_TRUE(statuses.empty() && values.empty());
                              ++called;
                            }).ok());
  EXPECT_EQ(store.reader->Poll(), 1u);
  EXPECT_EQ(called, 2);
}

TEST(AsyncReaderTest, CallbackThatThrowsEndsOnlyItsRead) {
  AsyncStore store;
  store.Fill(20);
  store.NewReader();
  std::vector<Ended> ended(3);
  store.Begin(NumberedKey(1), &ended[0]);
  ASSERT_TRUE(store.reader->Get({}, NumberedKey(2), [](const Status&, Slice) { throw std::runtime_error("x"); }).ok());
  store.Begin(NumberedKey(4), &ended[1]);
  EXPECT_THROW(store.reader->Poll(3), std::runtime_error);
  store.Begin(NumberedKey(5), &ended[2]);
  store.reader->Poll(3);
  EXPECT_EQ(store.reader->in_flight(), 0u);
  ExpectValue(ended[0], ValueAt(1));
  ExpectValue(ended[1], ValueAt(4));
  ExpectValue(ended[2], ValueAt(5));
}

// ---- Coroutines ----

TEST(AsyncCoroutineTest, ManyWaitForRoomAndAllEnd) {
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

TEST(AsyncCoroutineTest, EachReadsOneValueAfterAnother) {
  AsyncStore store;
  store.Fill(200);
  store.NewReader({.depth = 8});
  int found = 0;
  for (int i = 0; i < 10; ++i) ReadChain(store.reader.get(), i * 20, 20, &found);
  while (store.reader->in_flight() > 0) store.reader->Poll();
  EXPECT_EQ(found, 200);
}

Owned ReadAndThrow(AsyncReader* reader, std::string key) {
  PinnableSlice value;
  const Status s = co_await reader->Get({}, key, &value);
  throw std::runtime_error(s.ToString());
}

TEST(AsyncCoroutineTest, ExceptionComesOutOfPoll) {
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

// A callback or coroutine that throws leaves others that wait for its room. They must be in flight, so that the usual
// loop ends them.
TEST(AsyncCoroutineTest, ThoseThatWaitGoOnAfterException) {
  AsyncStore store;
  store.Fill(10);
  for (const int thrower : {0, 1, 2}) {
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

TEST(AsyncCoroutineTest, MayBeDestroyedWhileItWaits) {
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

TEST(AsyncCoroutineTest, ErrorsOfTheCallAreItsResult) {
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

// ---- Memory ----

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

TEST(AsyncReaderTest, LargeValueLeavesNoLargeBuffer) {
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

// ---- Queues that fail or keep reads ----

// What the read queues of a file system do. Its reads happen in the thread of the test.
struct QueueScript {
  SimClock* clock = nullptr;
  bool fails_submit = false;
  bool fails_wait = false;
  bool fails_signal = false;
  bool keeps = false;  // reads do not finish; a bounded wait takes all its time
  bool is_spent = false;
  int made = 0;
  int signalled = 0;  // queues that know a descriptor
};

class ScriptedQueue final : public ReadQueue {
 public:
  explicit ScriptedQueue(QueueScript* script) : script_(*script) { ++script_.made; }
  ~ScriptedQueue() override { Serve(nullptr); }
  ScriptedQueue(const ScriptedQueue&) = delete;
  ScriptedQueue& operator=(const ScriptedQueue&) = delete;

  Status Submit(std::span<ReadRequest* const> requests) override {
    if (script_.fails_submit) return Status::IOError("submit");
    waiting_.insert(waiting_.end(), requests.begin(), requests.end());
    return Status::OK();
  }
  Status Wait(std::vector<ReadRequest*>* done) override {
    if (script_.fails_wait) return Status::IOError("wait");
    Serve(done);
    return Status::OK();
  }
  Status WaitFor(std::uint64_t micros, std::vector<ReadRequest*>* done) override {
    if (script_.keeps) script_.clock->Advance(micros);
    return script_.keeps ? Status::OK() : Wait(done);
  }
  Status SignalTo(int /*event_fd*/) override {
    if (script_.fails_signal) return Status::IOError("signal");
    ++script_.signalled;
    return Status::OK();
  }
  [[nodiscard]] std::size_t in_flight() const override { return waiting_.size(); }
  [[nodiscard]] std::size_t depth() const override { return 4096; }
  [[nodiscard]] bool IsSpent() const override { return script_.is_spent; }

 private:
  void Serve(std::vector<ReadRequest*>* done) {
    for (ReadRequest* const request : waiting_) {
      request->status = request->file->Read(request->offset, request->size, request->out, &request->read);
      if (done != nullptr) done->push_back(request);
    }
    waiting_.clear();
  }

  QueueScript& script_;
  std::vector<ReadRequest*> waiting_;
};

class ScriptedFileSystem final : public ForwardingFileSystem {
 public:
  ScriptedFileSystem(std::shared_ptr<FileSystem> base, QueueScript* script)
      : ForwardingFileSystem(std::move(base)), script_(script) {}
  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t, bool) override {
    return std::make_unique<ScriptedQueue>(script_);
  }

 private:
  QueueScript* const script_;
};

class AsyncQueueTest : public ::testing::Test {
 protected:
  AsyncQueueTest() {
    script_.clock = store_.clock.get();
    store_.options.file_system = std::make_shared<ScriptedFileSystem>(store_.fs, &script_);
    store_.Fill(10);
    script_.made = 0;
    store_.NewReader();
  }
  // Reads a value that is not in memory.
  Ended Read() {
    Ended ended;
    store_.Begin(NumberedKey(1), &ended);
    store_.reader->Poll();
    return ended;
  }

  QueueScript script_;
  AsyncStore store_;
};

TEST_F(AsyncQueueTest, PollReturnsWhenItsTimeHasPassed) {
  script_.keeps = true;
  Ended ended;
  store_.Begin(NumberedKey(1), &ended);
  const std::uint64_t begun = store_.clock->NowMicros();
  EXPECT_EQ(store_.reader->Poll(0), 0u);
  EXPECT_EQ(store_.reader->Poll(1, 0), 0u);
  EXPECT_EQ(store_.clock->NowMicros(), begun);
  EXPECT_EQ(store_.reader->Poll(1, 1000), 0u);
  EXPECT_EQ(store_.clock->NowMicros(), begun + 1000);
  EXPECT_EQ(store_.reader->in_flight(), 1u);
  script_.keeps = false;
  EXPECT_EQ(store_.reader->Poll(), 1u);
  ExpectValue(ended, ValueAt(1));
}

// Each callback begins a read that ends at once. Neither the time nor the queue may be forgotten.
TEST_F(AsyncQueueTest, CallbacksWithoutEndStopNeitherTheClockNorTheQueue) {
  int rounds = 0;
  const std::function<void()> begin_next = [&] {
    ASSERT_TRUE(store_.reader->Get({}, NumberedKey(3), [&](const Status&, Slice) {
                               store_.clock->Advance(100);
                               if (++rounds % 10'000 != 0) begin_next();
                             }).ok());
  };
  begin_next();
  EXPECT_EQ(store_.reader->Poll(1'000'000, 1000), 10u);
  EXPECT_EQ(rounds, 10);
  int rounds_at_end = 0;
  ASSERT_TRUE(store_.reader->Get({}, NumberedKey(1), [&](const Status& status, Slice value) {
                             EXPECT_TRUE(status.ok() && value == Slice(ValueAt(1))) << status.ToString();
                             rounds_at_end = rounds;
                           }).ok());
  store_.reader->Poll(1'000'000);
  EXPECT_EQ(rounds, 10'000);
  EXPECT_GT(rounds_at_end, 0);
  EXPECT_LT(rounds_at_end, 20) << "the queue had finished it";
}

TEST_F(AsyncQueueTest, ErrorOfTheQueueEndsItsReads) {
  script_.fails_submit = true;
  EXPECT_TRUE(Read().status.IsIOError());
  script_.fails_submit = false;
  script_.fails_wait = true;
  EXPECT_TRUE(Read().status.IsIOError());
  script_.fails_wait = false;
  EXPECT_EQ(script_.made, 1);
  ExpectValue(Read(), ValueAt(1));
  EXPECT_EQ(script_.made, 2) << "a queue whose wait has failed is not used again";
}

// The program waits for the descriptor, so a queue that does not signal it must not be used.
TEST_F(AsyncQueueTest, NewQueueSignalsTheDescriptorOrIsNotUsed) {
  int fd = -1;
  ASSERT_TRUE(store_.reader->EventFd(&fd).ok());
  EXPECT_EQ(script_.signalled, 1);
  script_.fails_wait = true;
  EXPECT_TRUE(Read().status.IsIOError());
  script_.fails_wait = false;
  script_.fails_signal = true;
  for (int i = 0; i < 2; ++i) EXPECT_NE(Read().status.ToString().find("signal"), std::string::npos);
  script_.fails_signal = false;
  ExpectValue(Read(), ValueAt(1));
  EXPECT_EQ(script_.signalled, 2);
}

TEST_F(AsyncQueueTest, SpentQueueIsReplaced) {
  ExpectValue(Read(), ValueAt(1));
  ExpectValue(Read(), ValueAt(1));
  EXPECT_EQ(script_.made, 1);
  script_.is_spent = true;
  ExpectValue(Read(), ValueAt(1));
  EXPECT_EQ(script_.made, 2);
}

// A loop that waits for the descriptor is told of coroutines that wait for room, after an exception.
TEST_F(AsyncQueueTest, DescriptorIsReadableWhileReadsWaitForRoomThatIsFree) {
  store_.reader.reset();
  store_.NewReader({.depth = 1});
  int fd = -1;
  ASSERT_TRUE(store_.reader->EventFd(&fd).ok());
  const Owned throwing = ReadAndThrow(store_.reader.get(), NumberedKey(2));
  Ended ended;
  ReadInto(store_.reader.get(), NumberedKey(3), &ended);
  EXPECT_THROW(store_.reader->Poll(), std::runtime_error);
  pollfd wait{fd, POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 0), 1);
  EXPECT_EQ(store_.reader->Poll(0), 1u);
  ExpectValue(ended, ValueAt(3));
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
}

// ---- Figures ----

TEST(AsyncReaderTest, CountsReads) {
  AsyncStore store;
  store.options.statistics = CreateDBStatistics();
  store.Fill(10);
  store.NewReader();
  const Statistics& figures = *store.options.statistics;
  const std::uint64_t before = figures.getTickerCount(NUMBER_KEYS_READ);
  const std::uint64_t bytes_before = figures.getTickerCount(BYTES_READ);
  const std::uint64_t device_before = figures.getTickerCount(VALUE_READ_FROM_DEVICE);
  std::vector<Ended> ended(3);
  store.Begin(NumberedKey(1), &ended[0]);
  store.Begin(NumberedKey(3), &ended[1]);
  store.Begin("absent", &ended[2]);
  store.reader->Poll(3);
  EXPECT_EQ(figures.getTickerCount(NUMBER_KEYS_READ) - before, 3u);
  EXPECT_EQ(figures.getTickerCount(BYTES_READ) - bytes_before, ValueAt(1).size() + ValueAt(3).size());
  EXPECT_EQ(figures.getTickerCount(VALUE_READ_FROM_DEVICE) - device_before, 1u);
}

// As DB::MultiGet counts.
TEST(AsyncReaderTest, CountsMultiGets) {
  AsyncStore store;
  store.options.statistics = CreateDBStatistics();
  store.Fill(10);
  store.NewReader();
  const Statistics& figures = *store.options.statistics;
  const std::uint64_t gets_before = figures.getTickerCount(NUMBER_KEYS_READ);
  const std::string names[] = {NumberedKey(1), NumberedKey(3), "absent"};
  const Slice keys[] = {names[0], names[1], names[2]};
  const std::vector<ColumnFamilyHandle*> families(3, store.db->DefaultColumnFamily());
  ASSERT_TRUE(store.reader->MultiGet({}, 3, families.data(), keys, [](auto, auto) {}).ok());
  store.clock->Advance(11);
  EXPECT_EQ(store.reader->Poll(), 1u);
  EXPECT_EQ(figures.getTickerCount(NUMBER_MULTIGET_CALLS), 1u);
  EXPECT_EQ(figures.getTickerCount(NUMBER_MULTIGET_KEYS_READ), 3u);
  EXPECT_EQ(figures.getTickerCount(NUMBER_MULTIGET_KEYS_FOUND), 2u);
  EXPECT_EQ(figures.getTickerCount(NUMBER_MULTIGET_BYTES_READ), ValueAt(1).size() + ValueAt(3).size());
  EXPECT_EQ(figures.getTickerCount(NUMBER_KEYS_READ), gets_before);
  HistogramData times;
  figures.histogramData(DB_MULTIGET, &times);
  EXPECT_EQ(times.count, 1u);
  EXPECT_EQ(times.max, 11);
}

// ---- On a real file system ----

class AsyncOnDiskTest : public ::testing::TestWithParam<bool> {
 protected:
  AsyncOnDiskTest() {
    options_ = SmallOptions();
    options_.info_log = NullLogger();
    options_.allow_mmap_reads = false;
    options_.statistics = CreateDBStatistics();
    EXPECT_TRUE(DB::Open(options_, directory_.File("db"), &db_).ok());
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(db_->Put({}, NumberedKey(i), ValueAt(i)).ok());
    EXPECT_TRUE(db_->Flush({}).ok());
    const Status s = db_->NewAsyncReader({.depth = 16, .use_io_uring = GetParam()}, &reader_);
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  // Lets later reads of values wait for the device, where the file system can evict pages.
  void ForgetValues() { is_cold_ = ForgetLogPages(directory_.File("db")) && is_cold_; }
  // The reads of this test have used the queue: all those of values in the log with a ring; without one, a queue reads
  // only what is not in memory.
  void ExpectQueueWasUsed() const {
    if (!GetParam() && !is_cold_) return;
    EXPECT_GT(options_.statistics->getTickerCount(VALUE_READ_FROM_DEVICE), 0u);
  }

  bool is_cold_ = true;
  TempDirectory directory_;
  Options options_;
  std::unique_ptr<DB> db_;
  std::unique_ptr<AsyncReader> reader_;
};
INSTANTIATE_TEST_SUITE_P(Queues, AsyncOnDiskTest, ::testing::Bool(),
                         [](const auto& queue) { return queue.param ? "Uring" : "Threads"; });

// An event loop: it sleeps until the descriptor is readable, and polls without waiting.
TEST_P(AsyncOnDiskTest, EventDescriptorWakesTheLoop) {
  int fd = -1;
  const Status s = reader_->EventFd(&fd);
  ASSERT_TRUE(s.ok()) << s.ToString();
  pollfd wait{fd, POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
  ForgetValues();
  int next = 0;
  std::vector<Ended> ended(100);
  const std::function<void()> begin = [&] {
    const int i = next++;
    Ended* const its = &ended[static_cast<std::size_t>(i)];
    ASSERT_TRUE(reader_->Get({}, NumberedKey(i), [&, its](const Status& status, Slice value) {
                         ++its->times;
                         its->status = status;
                         its->value = value.ToString();
                         if (next < 100) begin();
                       }).ok());
  };
  for (int i = 0; i < 16; ++i) begin();
  reader_->Submit();
  while (reader_->in_flight() > 0) {
    ASSERT_EQ(::poll(&wait, 1, 60'000), 1) << "nothing wakes the loop; in flight: " << reader_->in_flight();
    reader_->Poll(0);
  }
  for (int i = 0; i < 100; ++i) ExpectValue(ended[static_cast<std::size_t>(i)], ValueAt(i));
  EXPECT_EQ(reader_->Poll(0), 0u);  // the queue may have signalled what a Poll had taken already
  EXPECT_EQ(::poll(&wait, 1, 0), 0);
  ExpectQueueWasUsed();
}

// The descriptor is made when reads are in flight, and one has ended.
TEST_P(AsyncOnDiskTest, EventDescriptorTellsOfEarlierReads) {
  ForgetValues();
  std::vector<Ended> ended(6);
  for (std::size_t i = 0; i < 6; ++i) {
    ASSERT_TRUE(reader_->Get({}, NumberedKey(static_cast<int>(i)), [&, i](const Status& status, Slice value) {
                         ++ended[i].times;
                         ended[i].status = status;
                         ended[i].value = value.ToString();
                       }).ok());
  }
  reader_->Submit();
  int fd = -1;
  ASSERT_TRUE(reader_->EventFd(&fd).ok());
  pollfd wait{fd, POLLIN, 0};
  EXPECT_EQ(::poll(&wait, 1, 0), 1) << "an inline value has ended";
  while (reader_->in_flight() > 0) {
    ASSERT_EQ(::poll(&wait, 1, 60'000), 1) << "nothing wakes the loop; in flight: " << reader_->in_flight();
    reader_->Poll(0);
  }
  for (int i = 0; i < 6; ++i) ExpectValue(ended[static_cast<std::size_t>(i)], ValueAt(i));
}

// The slots must live until nothing is written into them any more.
TEST_P(AsyncOnDiskTest, DestructorWaitsForReadsInFlight) {
  for (int round = 0; round < 20; ++round) {
    ForgetValues();
    std::vector<Ended> ended(16);
    for (int i = 0; i < 16; ++i) {
      Ended* const its = &ended[static_cast<std::size_t>(i)];
      ASSERT_TRUE(reader_->Get({}, NumberedKey((round * 16 + i) % 100), [its](const Status& status, Slice value) {
                           ++its->times;
                           its->status = status;
                           its->value = value.ToString();
                         }).ok());
    }
    reader_->Submit();
    if (round % 2 == 1) reader_->Poll(1);
    reader_.reset();
    for (int i = 0; i < 16; ++i) {
      const Ended& each = ended[static_cast<std::size_t>(i)];
      EXPECT_EQ(each.times, 1);
      if (!each.status.IsAborted()) ExpectValue(each, ValueAt((round * 16 + i) % 100));
    }
    ASSERT_TRUE(db_->NewAsyncReader({.depth = 16, .use_io_uring = GetParam()}, &reader_).ok());
  }
}

TEST_P(AsyncOnDiskTest, PollWaitsUntilEnoughHaveEnded) {
  for (int round = 0; round < 20; ++round) {
    ForgetValues();
    std::vector<Ended> ended(16);
    for (int i = 0; i < 16; ++i) {
      Ended* const its = &ended[static_cast<std::size_t>(i)];
      ASSERT_TRUE(reader_->Get({}, NumberedKey((round * 5 + i) % 100), [its](const Status& status, Slice value) {
                           ++its->times;
                           its->status = status;
                           its->value = value.ToString();
                         }).ok());
    }
    std::size_t count = 0;
    while (count < 16) count += reader_->Poll(16 - count, 60'000'000);
    for (int i = 0; i < 16; ++i) ExpectValue(ended[static_cast<std::size_t>(i)], ValueAt((round * 5 + i) % 100));
  }
  ExpectQueueWasUsed();
}

}  // namespace
}  // namespace cambium::testing
