#include "index/page_pool.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include "index_test_util.h"
#include "pool_pages.h"
#include "testing/mutant_scope.h"

namespace cambium {
namespace {

using namespace cambium::testing;

TEST(PagePoolTest, ReadsAPageOnceAndCountsIt) {
  PagePool pool(1 << 20);
  Pages pages(3, 10, &pool);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < 10; ++i) {
      const Result<PageRef> ref = pool.Get(*pages.file, pages.sink.pages[i]);
      ASSERT_TRUE(ref.ok()) << ref.status().ToString();
      EXPECT_EQ(FirstKey(*ref), "k" + std::to_string(i));
    }
  }
  EXPECT_EQ(pages.sink.file->reads, 10);
  const PagePoolStats stats = pool.stats();
  EXPECT_EQ(stats.misses, 10u);
  EXPECT_EQ(stats.hits, 20u);
  EXPECT_EQ(stats.resident_pages, 10u);
  EXPECT_EQ(stats.resident_bytes, 10u * kPageSize);
  EXPECT_TRUE(pool.CheckInvariants(true).ok());
}

TEST(PagePoolTest, StaysWithinItsCapacityAndKeepsHotPages) {
  PagePool pool(10 * kPageSize);
  Pages pages(3, 100, &pool);
  for (std::size_t i = 1; i < 100; ++i) {
    ASSERT_TRUE(pool.Get(*pages.file, pages.sink.pages[i]).ok());
    ASSERT_TRUE(pool.Get(*pages.file, pages.sink.pages[0]).ok());  // used in every round
    ASSERT_LE(pool.stats().resident_bytes, 10u * kPageSize);
    ASSERT_TRUE(pool.CheckInvariants(true).ok());
  }
  EXPECT_EQ(pages.sink.file->reads, 100);  // page 0 was never evicted
  EXPECT_EQ(pool.stats().evictions, 90u);
}

// Passing reads are those with ReadOptions::fill_cache = false.
TEST(PagePoolTest, PassingReadsDoNotEvictOtherPages) {
  constexpr std::size_t kKept = 200;
  PagePool pool((kKept + kPassingPagesMax) * kPageSize);
  Pages pages(3, 2000, &pool);
  const auto read = [&](std::size_t from, std::size_t to) {
    const int before = pages.sink.file->reads;
    for (std::size_t i = from; i < to; ++i) EXPECT_EQ(FirstKey(*pool.Get(*pages.file, pages.sink.pages[i])), "k" + std::to_string(i));
    return pages.sink.file->reads - before;
  };
  EXPECT_EQ(read(0, kKept), 200);
  {
    const PassingReads passing(true);
    EXPECT_EQ(read(kKept, 2000), 1800);
    EXPECT_EQ(pool.stats().resident_pages, kKept + kPassingPagesMax);
    EXPECT_EQ(read(kKept, 2000), 1800) << "none of them is still in the pool when it is read again";
    EXPECT_EQ(read(0, kKept), 0);
    EXPECT_EQ(read(1990, 2000), 0) << "the last ones are still in the pool";
  }
  EXPECT_EQ(read(0, kKept), 0);
  // An ordinary read makes a passing page an ordinary one.
  EXPECT_EQ(read(1990, 2000), 0);
  {
    const PassingReads passing(true);
    EXPECT_EQ(read(kKept, 1900), 1700);
  }
  EXPECT_EQ(read(1990, 2000), 0);
  EXPECT_TRUE(pool.CheckInvariants(true).ok());
  EXPECT_GT(read(kKept, 2000), 1000);
  EXPECT_GT(read(0, kKept), 100) << "ordinary reads evict other pages";
}

// Passing pages are pinned, their file is forgotten, and several threads read them.
TEST(PagePoolTest, PassingPagesMayBePinnedOrForgotten) {
  PagePool pool(10 * kPageSize);
  Pages pages(3, 300, &pool);
  std::vector<PageRef> pinned;
  {
    const PassingReads passing(true);
    for (std::size_t i = 0; i < 150; ++i) {
      Result<PageRef> page = pool.Get(*pages.file, pages.sink.pages[i]);
      ASSERT_TRUE(page.ok());
      pinned.push_back(std::move(*page));
    }
    for (std::size_t i = 0; i < 150; ++i) EXPECT_EQ(FirstKey(pinned[i]), "k" + std::to_string(i));
    EXPECT_EQ(pool.stats().resident_pages, 150u) << "all are pinned, none can be evicted";
    pages.file.reset();
    EXPECT_EQ(FirstKey(pinned[7]), "k7");
    pinned.clear();
    Pages others(4, 200, &pool);
    for (std::size_t i = 0; i < 200; ++i) EXPECT_TRUE(pool.Get(*others.file, others.sink.pages[i]).ok());
    EXPECT_LE(pool.stats().resident_pages, 10u);
    EXPECT_TRUE(pool.CheckInvariants(true).ok());
  }
  EXPECT_TRUE(pool.CheckInvariants(true).ok());
}

// Pinned pages are not evicted; the pool grows instead, and shrinks when it can.
TEST(PagePoolTest, GrowsRatherThanEvictAPinnedPage) {
  PagePool pool(4 * kPageSize);
  Pages pages(3, 40, &pool);
  std::vector<PageRef> pinned;
  for (std::size_t i = 0; i < 20; ++i) {
    Result<PageRef> ref = pool.Get(*pages.file, pages.sink.pages[i]);
    ASSERT_TRUE(ref.ok());
    pinned.push_back(std::move(ref).value());
  }
  EXPECT_EQ(pool.stats().resident_pages, 20u);
  EXPECT_EQ(pool.stats().evictions, 0u);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(FirstKey(pinned[i]), "k" + std::to_string(i));
    EXPECT_EQ(pinned[i]->bytes(), Slice(pages.written[i]));
  }
  EXPECT_TRUE(pool.CheckInvariants(false).ok());
  EXPECT_TRUE(pool.CheckInvariants(true).IsCorruption());
  pinned.clear();
  ASSERT_TRUE(pool.Get(*pages.file, pages.sink.pages[30]).ok());
  EXPECT_LE(pool.stats().resident_pages, 4u);
  pool.SetCapacity(0);
  EXPECT_EQ(pool.stats().resident_bytes, 0u);
  EXPECT_TRUE(pool.CheckInvariants(true).ok());
}

TEST(PagePoolTest, ReadErrorsAreReturnedAndNotCached) {
  PagePool pool(1 << 20);
  Pages pages(3, 2, &pool);
  pages.sink.file->fail_reads = true;
  EXPECT_TRUE(pool.Get(*pages.file, pages.sink.pages[0]).status().IsIOError());
  EXPECT_TRUE(pool.CheckInvariants(true).ok());
  pages.sink.file->fail_reads = false;
  EXPECT_TRUE(pool.Get(*pages.file, pages.sink.pages[0]).ok());
}

TEST(PagePoolTest, DamageIsCorruptionThatNamesThePlace) {
  PagePool pool(1 << 20);
  Pages pages(3, 4, &pool);
  std::string& bytes = pages.sink.file->contents;
  bytes[2 * kPageSize + 300] = static_cast<char>(bytes[2 * kPageSize + 300] ^ 1);
  const Status flipped = pool.Get(*pages.file, pages.sink.pages[1]).status();
  EXPECT_TRUE(flipped.IsCorruption());
  EXPECT_NE(flipped.ToString().find("3.idx:1024"), std::string::npos) << flipped.ToString();
  EXPECT_TRUE(pool.Get(*pages.file, pages.sink.pages[0]).ok());  // other pages stay readable

  bytes.resize(4 * kPageSize + 100);
  EXPECT_TRUE(pool.Get(*pages.file, pages.sink.pages[3]).status().IsCorruption());
  EXPECT_TRUE(pool.Get(*pages.file, {MakePageId(3, 0, 1), 0}).status().IsCorruption());          // the header
  EXPECT_TRUE(pool.Get(*pages.file, {MakePageId(3, 1 << 19, 64), 0}).status().IsCorruption());   // far outside
  EXPECT_TRUE(pool.Get(FileSet(pages.file), {MakePageId(4, 1, 1), 0}).status().IsCorruption());  // no such file
  EXPECT_TRUE(pool.CheckInvariants(true).ok());
}

// A lost write: the bytes on disk are a valid, older page at the same place. Only the parent's checksum shows it.
Status GetAfterLostWrite(bool cached) {
  PagePool pool(1 << 20);
  Pages pages(3, 2, &pool);
  if (cached) {
    EXPECT_TRUE(pool.Get(*pages.file, pages.sink.pages[0]).ok());
  }
  PagePointer expected = pages.sink.pages[0];
  expected.checksum ^= 1;
  return pool.Get(*pages.file, expected).status();
}

TEST(PagePoolTest, ParentsChecksumDetectsALostWrite) {
  EXPECT_TRUE(GetAfterLostWrite(false).IsCorruption());
  EXPECT_TRUE(GetAfterLostWrite(true).IsCorruption());
}

TEST(PagePoolTest, MutantSkipParentChecksumIsCaught) {
  const MutantScope mutant(Mutant::kSkipParentChecksum);
  EXPECT_FALSE(GetAfterLostWrite(false).IsCorruption());
  EXPECT_FALSE(GetAfterLostWrite(true).IsCorruption());
}

TEST(PagePoolTest, PointerWithAnotherLengthIsCorruption) {
  PagePool pool(1 << 20);
  Pages pages(3, 4, &pool);
  ASSERT_TRUE(pool.Get(*pages.file, pages.sink.pages[0]).ok());
  const PagePointer longer{MakePageId(3, 1, 2), pages.sink.pages[0].checksum};
  EXPECT_TRUE(pool.Get(*pages.file, longer).status().IsCorruption());
}

TEST(PagePoolTest, InsertedPagesAreFoundWithoutARead) {
  PagePool pool(4 * kPageSize);
  Pages pages(3, 10, &pool);
  for (std::size_t i = 0; i < 3; ++i) pool.Insert(*pages.file, pages.sink.pages[i], pages.written[i]);
  pool.Insert(*pages.file, pages.sink.pages[0], pages.written[0]);  // again, without effect
  std::vector<PageRef> pinned;
  for (std::size_t i = 0; i < 3; ++i) {
    Result<PageRef> ref = pool.Get(*pages.file, pages.sink.pages[i]);
    ASSERT_TRUE(ref.ok());
    EXPECT_EQ(ref.value()->bytes(), Slice(pages.written[i]));
    pinned.push_back(std::move(ref).value());
  }
  EXPECT_EQ(pages.sink.file->reads, 0);
  pool.Insert(*pages.file, pages.sink.pages[3], pages.written[3]);
  pool.Insert(*pages.file, pages.sink.pages[4], pages.written[4]);  // evicts page 3
  EXPECT_LE(pool.stats().resident_bytes, 4u * kPageSize);           // Insert does not exceed the capacity
  EXPECT_TRUE(pool.CheckInvariants(false).ok());
}

TEST(PagePoolTest, ForgetsAFileButNotItsPinnedPages) {
  PagePool pool(1 << 20);
  PageRef pinned;
  {
    Pages pages(3, 5, &pool);
    for (const PagePointer& page : pages.sink.pages) ASSERT_TRUE(pool.Get(*pages.file, page).ok());
    pinned = pool.Get(*pages.file, pages.sink.pages[2]).value();
  }
  EXPECT_EQ(pool.stats().resident_pages, 1u);
  EXPECT_EQ(FirstKey(pinned), "k2");
  // A new file with the same number does not see the old pages.
  Pages other(3, 5, &pool);
  ASSERT_TRUE(pool.Get(*other.file, other.sink.pages[2]).ok());
  EXPECT_EQ(other.sink.file->reads, 1);
  EXPECT_EQ(FirstKey(pinned), "k2");
  EXPECT_TRUE(pool.CheckInvariants(false).ok());
  pinned.Release();
  pool.SetCapacity(1 << 20);
  EXPECT_EQ(pool.stats().resident_pages, 1u);
  EXPECT_TRUE(pool.CheckInvariants(true).ok());
}

TEST(PagePoolTest, SmallPagesOfDirectFilesAreRead) {
  PagePool pool(1 << 20);
  Pages pages(3, 20, &pool);
  pages.sink.file->direct = true;
  for (std::size_t i = 0; i < 20; ++i) {
    const Result<PageRef> ref = pool.Get(*pages.file, pages.sink.pages[i]);
    ASSERT_TRUE(ref.ok()) << ref.status().ToString();
    EXPECT_EQ((*ref)->bytes(), Slice(pages.written[i]));
  }
}

// All threads miss the same page while its read is blocked: one read serves all of them.
TEST(PagePoolTest, ConcurrentMissesReadOnce) {
  PagePool pool(1 << 20);
  Pages pages(3, 2, &pool);
  std::mutex mutex;
  std::condition_variable released;
  bool release = false;
  pages.sink.file->on_read = [&] {
    std::unique_lock lock(mutex);
    released.wait(lock, [&] { return release; });
  };
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const Result<PageRef> ref = pool.Get(*pages.file, pages.sink.pages[1]);
      if (ref.ok() && FirstKey(*ref) == "k1") right.fetch_add(1);
    });
  }
  while (pages.sink.file->reads == 0) std::this_thread::yield();
  {
    const std::lock_guard lock(mutex);
    release = true;
  }
  released.notify_all();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4);
  EXPECT_EQ(pages.sink.file->reads, 1);
  EXPECT_TRUE(pool.CheckInvariants(true).ok());
}

// Threads read pages of two files through a pool that holds a tenth of them, while other files are opened and closed.
// Every pinned page must be the right one for as long as it is pinned.
TEST(PagePoolTest, ThreadsAlwaysSeeThePagesTheyPinned) {
  const std::uint64_t seed = SeedFromEnvironment(11);
  PagePool pool(20 * kPageSize);
  Pages first(3, 100, &pool);
  Pages second(4, 100, &pool);
  std::atomic<int> wrong{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Prng prng(seed + t);
      std::vector<std::pair<PageRef, std::size_t>> held;
      for (int i = 0; i < 20000; ++i) {
        Pages& pages = prng.OneIn(2) ? first : second;
        // A few pages are hot, so that hits, misses and evictions of the same page overlap.
        const std::size_t which = prng.OneIn(2) ? prng.Uniform(6) : prng.Uniform(100);
        Result<PageRef> ref = pool.Get(*pages.file, pages.sink.pages[which]);
        if (!ref.ok()) {
          wrong.fetch_add(1);
          continue;
        }
        if ((*ref)->pointer() != pages.sink.pages[which]) wrong.fetch_add(1);
        if (prng.OneIn(4)) held.emplace_back(std::move(ref).value(), which);
        if (held.size() > 3) {
          for (const auto& [page, k] : held) {
            if (FirstKey(page) != "k" + std::to_string(k)) wrong.fetch_add(1);
          }
          held.clear();
        }
      }
    });
  }
  threads.emplace_back([&] {
    for (std::uint64_t n = 10; !stop.load(); ++n) {
      Pages passing(n, 10, &pool);
      for (std::size_t i = 0; i < 10; ++i) {
        if (i % 2 == 0) pool.Insert(*passing.file, passing.sink.pages[i], passing.written[i]);
        if (!pool.Get(*passing.file, passing.sink.pages[i]).ok()) wrong.fetch_add(1);
      }
    }
  });
  for (std::size_t t = 0; t < 4; ++t) threads[t].join();
  stop = true;
  threads.back().join();
  EXPECT_EQ(wrong, 0);
  const Status invariants = pool.CheckInvariants(true);
  EXPECT_TRUE(invariants.ok()) << invariants.ToString();
  pool.SetCapacity(20 * kPageSize);
  EXPECT_LE(pool.stats().resident_bytes, 20u * kPageSize);
}

// A branch remembers the frames of its children. Later, the children may be in other frames, and the remembered frames
// may hold other pages.
TEST(PagePoolTest, GetChildFindsChildrenAfterEviction) {
  PagePool pool(8 * kPageSize);
  Pages pages(3, 40, &pool);
  const PagePointer branch = AppendBranch(&pages, {0, 1, 2, 3});
  pages.Open(&pool);
  const FileSet files(pages.file);
  for (int round = 0; round < 20; ++round) {
    const Result<PageRef> parent = pool.Get(files, branch);
    ASSERT_TRUE(parent.ok());
    for (const std::uint32_t i : {0u, 3u, 1u, 2u, 0u}) {
      const Result<PageRef> child = pool.GetChild(files, *parent, i, 7);
      ASSERT_TRUE(child.ok()) << child.status().ToString();
      EXPECT_EQ(FirstKey(*child), "k" + std::to_string(i));
    }
    const std::uint64_t misses = pool.stats().misses;
    ASSERT_TRUE(pool.GetChild(files, *parent, 2, 7).ok());
    EXPECT_EQ(pool.stats().misses, misses);
    // Other pages take the children's frames, more in some rounds than in others.
    for (int i = 0; i < round; ++i) ASSERT_TRUE(pool.Get(files, pages.sink.pages[4 + i]).ok());
  }
  EXPECT_TRUE(pool.CheckInvariants(true).ok());
}

TEST(PagePoolTest, ChildOfAnotherLevelIsCorruptionEvenIfRemembered) {
  PagePool pool(1 << 20);
  Pages pages(3, 4, &pool);
  const PagePointer branch = AppendBranch(&pages, {0, 1}, 2);  // its level says that its children are branches
  pages.Open(&pool);
  const FileSet files(pages.file);
  const Result<PageRef> parent = pool.Get(files, branch);
  ASSERT_TRUE(parent.ok());
  for (int round = 0; round < 3; ++round) {
    const Status s = pool.GetChild(files, *parent, 1, 7).status();
    EXPECT_TRUE(s.IsCorruption());
    EXPECT_NE(s.ToString().find("its parent expects 1"), std::string::npos) << s.ToString();
  }
}

TEST(PagePoolTest, ThreadsAlwaysGetTheRequestedChildren) {
  const std::uint64_t seed = SeedFromEnvironment(12);
  SCOPED_TRACE("CAMBIUM_SEED=" + std::to_string(seed));
  PagePool pool(12 * kPageSize);
  Pages pages(3, 40, &pool);
  std::vector<PagePointer> branches;
  for (std::size_t i = 0; i < 40; i += 4) branches.push_back(AppendBranch(&pages, {i, i + 1, i + 2, i + 3}));
  pages.Open(&pool);
  const FileSet files(pages.file);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Prng prng(seed + t);
      for (int i = 0; i < 20000; ++i) {
        const std::size_t which = prng.OneIn(2) ? prng.Uniform(2) : prng.Uniform(branches.size());
        const Result<PageRef> parent = pool.Get(files, branches[which]);
        if (!parent.ok()) {
          wrong.fetch_add(1);
          continue;
        }
        const auto index = static_cast<std::uint32_t>(prng.Uniform(4));
        const Result<PageRef> child = pool.GetChild(files, *parent, index, 7);
        if (!child.ok() || FirstKey(*child) != "k" + std::to_string(which * 4 + index)) wrong.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  const Status invariants = pool.CheckInvariants(true);
  EXPECT_TRUE(invariants.ok()) << invariants.ToString();
}

// Several threads get read errors at once. When the cause of the errors is gone, reads succeed again.
TEST(PagePoolTest, ThreadsRecoverFromReadErrors) {
  PagePool pool(4 * kPageSize);
  Pages pages(3, 20, &pool);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      Prng prng(t);
      for (int i = 0; i < 3000; ++i) {
        if (t == 0 && i % 10 == 0) pages.sink.file->fail_reads = !pages.sink.file->fail_reads;
        const std::size_t which = prng.Uniform(20);
        const Result<PageRef> ref = pool.Get(*pages.file, pages.sink.pages[which]);
        if (ref.ok() ? (*ref)->pointer() != pages.sink.pages[which] : !ref.status().IsIOError()) wrong.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  pages.sink.file->fail_reads = false;
  for (const PagePointer& page : pages.sink.pages) EXPECT_TRUE(pool.Get(*pages.file, page).ok());
  EXPECT_TRUE(pool.CheckInvariants(true).ok());
}

}  // namespace
}  // namespace cambium
