// Asynchronous reads: what they return, when, and that each ends exactly once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cambium/statistics.h"
#include "read/async_store.h"
#include "testing/mutant_scope.h"
#include "testing/scarce_memory.h"
#include "testing/seed.h"

namespace cambium::testing {
namespace {

// Values are in memory or not, and mapped or not; the device returns reads in any order.
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
TEST(AsyncReaderTest, ThousandReadsInFlightEndInAnyOrder) {
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
TEST(AsyncReaderTest, ValuesInMemoryAreReadWithoutThreads) {
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

// Fails each read of the file system in turn, during the lookup or later. The read gets the error or the value; the
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

TEST(AsyncReaderTest, ReadsSeeTheirStartStateDuringLogGc) {
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

TEST(AsyncReaderTest, ReadsFamiliesAndDroppedFamilies) {
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

}  // namespace
}  // namespace cambium::testing
