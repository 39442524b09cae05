// Leaves that a full pool copies out of a mapping of their file, into frames in transit.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "index/passing_reads.h"
#include "index_test_util.h"
#include "pool_pages.h"
#include "testing/mutant_scope.h"

namespace cambium::testing {
namespace {

constexpr std::size_t kPages = 2000;
constexpr std::size_t kCapacity = 320 * kPageSize;  // a sixteenth of it for frames in transit: 20

// A file of leaves that can be mapped, with a pool that is full and knows that the page cache has the whole file.
struct MappedPages {
  explicit MappedPages(std::uint64_t number = 3, bool fill = true) {
    pool.MapFiles();
    pages = std::make_unique<Pages>(number, kPages, &pool);
    file().can_map = true;
    SegmentMap::ResetThreadCounters();
    if (!fill) return;
    EXPECT_TRUE(Get(kPages - 1).ok());  // the mapping ends with the last page that was read
    for (std::size_t i = 0; i < 1000; ++i) EXPECT_TRUE(Get(i).ok());
    EXPECT_GT(file().copies, 0);
  }
  [[nodiscard]] MemoryFile& file() const { return *pages->sink.file; }
  Result<PageRef> Get(std::size_t i) { return pool.Get(*pages->file, pages->sink.pages[i]); }
  // Changes a byte of page i, or changes it back.
  void Damage(std::size_t i, std::size_t at) {
    char& byte = file().contents[(i + 1) * kPageSize + at];
    byte = static_cast<char>(byte ^ 1);
  }

  PagePool pool{kCapacity};
  std::unique_ptr<Pages> pages;
};

TEST(MappedPagesTest, FullPoolCopiesAndLoadsOneOfMany) {
  MappedPages mapped;
  const PagePoolStats before = mapped.pool.stats();
  const int reads = mapped.file().reads;
  const int copies = mapped.file().copies;
  for (std::size_t i = 1000; i < 1900; ++i) {
    const Result<PageRef> page = mapped.Get(i);
    ASSERT_TRUE(page.ok()) << page.status().ToString();
    EXPECT_EQ(FirstKey(*page), "k" + std::to_string(i));
  }
  const PagePoolStats after = mapped.pool.stats();
  EXPECT_EQ(mapped.file().reads, reads);
  EXPECT_EQ(mapped.file().copies, copies + 900) << "one copy a page, loaded or not";
  EXPECT_EQ(after.misses - before.misses, 900u);
  EXPECT_GE(after.evictions - before.evictions, 900u / 64);
  EXPECT_LE(after.evictions - before.evictions, 900u / 64 + 1);
  EXPECT_LE(after.resident_bytes, kCapacity);
  EXPECT_TRUE(mapped.pool.CheckInvariants(true).ok());
}

TEST(MappedPagesTest, RepeatedlyReadPageEntersThePool) {
  MappedPages mapped;
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(mapped.Get(1500).ok());
  const std::uint64_t hits = mapped.pool.stats().hits;
  ASSERT_TRUE(mapped.Get(1500).ok());
  EXPECT_EQ(mapped.pool.stats().hits, hits + 1);
}

TEST(MappedPagesTest, APoolWithRoomLoadsEachPage) {
  MappedPages mapped(3, false);
  ASSERT_TRUE(mapped.Get(kPages - 1).ok());
  for (std::size_t i = 0; i < 300; ++i) ASSERT_TRUE(mapped.Get(i).ok());
  EXPECT_EQ(mapped.pool.stats().resident_pages, 301u);
  EXPECT_GT(mapped.file().copies, 200) << "copied into the pool, not read";
  for (std::size_t i = 0; i < 300; ++i) ASSERT_TRUE(mapped.Get(i).ok());
  EXPECT_EQ(mapped.pool.stats().misses, 301u);
}

TEST(MappedPagesTest, PinnedPagesInTransitAreUnchanged) {
  MappedPages mapped;
  std::vector<PageRef> pinned;
  for (std::size_t i = 1000; i < 1100; ++i) {
    Result<PageRef> page = mapped.Get(i);
    ASSERT_TRUE(page.ok());
    pinned.push_back(std::move(page).value());
  }
  for (std::size_t i = 1100; i < 1300; ++i) ASSERT_TRUE(mapped.Get(i).ok());
  for (std::size_t i = 0; i < pinned.size(); ++i) EXPECT_EQ(FirstKey(pinned[i]), "k" + std::to_string(1000 + i));
  EXPECT_LE(mapped.pool.stats().resident_bytes, kCapacity);
  EXPECT_TRUE(mapped.pool.CheckInvariants(false).ok());
  pinned.clear();
  EXPECT_TRUE(mapped.pool.CheckInvariants(true).ok());
}

// The file may be closed, and the pool made smaller, while pages in transit are pinned.
TEST(MappedPagesTest, PagesInTransitOutliveTheirFileAndTheCapacity) {
  MappedPages mapped;
  Result<PageRef> page = mapped.Get(1200);
  ASSERT_TRUE(page.ok());
  mapped.pool.SetCapacity(4 * kPageSize);
  EXPECT_LE(mapped.pool.stats().resident_bytes, 4u * kPageSize);
  mapped.pages->file.reset();
  EXPECT_EQ(FirstKey(*page), "k1200");
  page->Release();
  mapped.pool.SetCapacity(0);
  EXPECT_EQ(mapped.pool.stats().resident_bytes, 0u);
  EXPECT_EQ(mapped.pool.stats().resident_pages, 0u);
  EXPECT_TRUE(mapped.pool.CheckInvariants(true).ok());
}

// Shrunk to nothing and grown again, the pool copies as before, and keeps its bound.
TEST(MappedPagesTest, FramesAreReusedAfterCapacityChange) {
  MappedPages mapped;
  for (int round = 0; round < 3; ++round) {
    mapped.pool.SetCapacity(0);
    mapped.pool.SetCapacity(kCapacity);
    for (std::size_t i = 0; i < 1000; ++i) ASSERT_TRUE(mapped.Get(i).ok());
    EXPECT_LE(mapped.pool.stats().resident_bytes, kCapacity);
    const std::uint64_t evictions = mapped.pool.stats().evictions;
    for (std::size_t i = 1000; i < 1100; ++i) ASSERT_TRUE(mapped.Get(i).ok());
    EXPECT_LE(mapped.pool.stats().evictions - evictions, 2u);
    EXPECT_TRUE(mapped.pool.CheckInvariants(true).ok());
  }
}

TEST(MappedPagesTest, AnUnreadableMappingIsReadAsAFile) {
  MappedPages mapped;
  mapped.file().fail_copies = true;
  for (std::size_t i = 1000; i < 1100; ++i) {
    const Result<PageRef> page = mapped.Get(i);
    ASSERT_TRUE(page.ok()) << page.status().ToString();
    EXPECT_EQ(FirstKey(*page), "k" + std::to_string(i));
  }
  mapped.file().fail_reads = true;
  const Status failed = mapped.Get(1200).status();
  EXPECT_TRUE(failed.IsIOError());
  EXPECT_NE(failed.ToString().find("3.idx"), std::string::npos);
  mapped.file().fail_reads = false;
  mapped.file().fail_copies = false;
  EXPECT_TRUE(mapped.Get(1200).ok());
  EXPECT_TRUE(mapped.pool.CheckInvariants(true).ok());
}

// Damages each of some leaves in a byte that only the checksum covers, and returns how many of them are then refused.
int RefusedAfterDamage() {
  MappedPages mapped;
  int refused = 0;
  for (std::size_t i = 1000; i < 1010; ++i) {
    mapped.Damage(i, kPageSize - 1);
    const Status status = mapped.Get(i).status();
    if (status.ok()) continue;
    ++refused;
    EXPECT_TRUE(status.IsCorruption());
    EXPECT_NE(status.ToString().find("3.idx:" + std::to_string((i + 1) * kPageSize)), std::string::npos)
        << status.ToString();
  }
  EXPECT_TRUE(mapped.pool.CheckInvariants(true).ok());
  return refused;
}

TEST(MappedPagesTest, DamageIsCorruptionThatNamesThePlaceAtEachRead) {
  EXPECT_EQ(RefusedAfterDamage(), 10);
  // A page that was good before is verified again.
  MappedPages mapped;
  ASSERT_TRUE(mapped.Get(1500).ok());
  mapped.Damage(1500, kPageSize - 1);
  EXPECT_TRUE(mapped.Get(1500).status().IsCorruption());
  mapped.Damage(1500, kPageSize - 1);
  EXPECT_TRUE(mapped.Get(1500).ok());
}

TEST(MappedPagesTest, MutantTrustMappedPagesIsCaught) {
  const MutantScope mutant(Mutant::kTrustMappedPages);
  EXPECT_LT(RefusedAfterDamage(), 10);
}

TEST(MappedPagesTest, ParentsChecksumDetectsALostWrite) {
  MappedPages mapped;
  PagePointer expected = mapped.pages->sink.pages[1500];
  expected.checksum ^= 1;
  EXPECT_TRUE(mapped.pool.Get(*mapped.pages->file, expected).status().IsCorruption());
  EXPECT_TRUE(mapped.pool.Get(*mapped.pages->file, {MakePageId(3, 0, 1), 0}).status().IsCorruption());
  EXPECT_TRUE(mapped.pool.Get(*mapped.pages->file, {MakePageId(3, 1 << 19, 64), 0}).status().IsCorruption());
}

// Branches are loaded, and find their leaves in transit.
TEST(MappedPagesTest, ChildrenInTransitAreCorrect) {
  MappedPages mapped;
  const PagePointer root = AppendBranch(mapped.pages.get(), {1100, 1200, 1300, 1400});
  const FileSet files(mapped.pages->file);
  for (int round = 0; round < 100; ++round) {
    const Result<PageRef> parent = mapped.pool.Get(files, root);
    ASSERT_TRUE(parent.ok());
    for (std::uint32_t i = 0; i < 4; ++i) {
      PagePool::PrefetchChildPlace(*parent, i);
      PagePool::PrefetchChild(files, *parent, i, std::nullopt);
      const Result<PageRef> child = mapped.pool.GetChild(files, *parent, i, std::nullopt);
      ASSERT_TRUE(child.ok()) << child.status().ToString();
      EXPECT_EQ(FirstKey(*child), "k" + std::to_string(1100 + 100 * i));
    }
    ASSERT_TRUE(mapped.Get(static_cast<std::size_t>(round)).ok());
  }
  EXPECT_TRUE(mapped.pool.CheckInvariants(true).ok());
}

// Passing reads are those with ReadOptions::fill_cache = false.
TEST(MappedPagesTest, PassingReadsLoadNothing) {
  MappedPages mapped(3, false);
  ASSERT_TRUE(mapped.Get(kPages - 1).ok());
  for (std::size_t i = 0; i < 100; ++i) ASSERT_TRUE(mapped.Get(i).ok());
  const std::uint64_t pages = mapped.pool.stats().resident_pages;
  const PassingReads passing(true);
  for (std::size_t i = 1000; i < 1500; ++i) ASSERT_TRUE(mapped.Get(i).ok());
  EXPECT_LE(mapped.pool.stats().resident_pages, pages + 1) << "one frame in transit";
}

// Threads read through a full pool, hold some pages, and compare their keys; the capacity changes, and other files come
// and go.
TEST(MappedPagesTest, ThreadsAlwaysSeeThePagesTheyPinned) {
  const std::uint64_t seed = SeedFromEnvironment(12);
  MappedPages mapped;
  std::atomic<int> wrong{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Prng prng(seed + t);
      std::vector<std::pair<PageRef, std::size_t>> held;
      for (int i = 0; i < 20000; ++i) {
        const std::size_t which = prng.OneIn(2) ? prng.Uniform(6) : prng.Uniform(kPages);
        Result<PageRef> page = mapped.Get(which);
        if (!page.ok() || FirstKey(*page) != "k" + std::to_string(which)) wrong.fetch_add(1);
        if (page.ok() && prng.OneIn(4)) held.emplace_back(std::move(page).value(), which);
        if (held.size() < 8) continue;
        for (const auto& [kept, k] : held) {
          if (FirstKey(kept) != "k" + std::to_string(k)) wrong.fetch_add(1);
        }
        held.clear();
      }
    });
  }
  threads.emplace_back([&] {
    for (std::uint64_t n = 10; !stop.load(); ++n) {
      Pages others(n, 200, &mapped.pool);
      others.sink.file->can_map = true;
      for (std::size_t i = 200; i-- > 0;) {
        if (!mapped.pool.Get(*others.file, others.sink.pages[i]).ok()) wrong.fetch_add(1);
      }
      if (n % 8 == 0) mapped.pool.SetCapacity(kCapacity / (1 + n / 8 % 3));
    }
  });
  for (std::size_t t = 0; t < 4; ++t) threads[t].join();
  stop = true;
  threads.back().join();
  EXPECT_EQ(wrong, 0);
  const Status invariants = mapped.pool.CheckInvariants(true);
  EXPECT_TRUE(invariants.ok()) << invariants.ToString();
  mapped.pool.SetCapacity(20 * kPageSize);
  EXPECT_LE(mapped.pool.stats().resident_bytes, 20u * kPageSize);
}

}  // namespace
}  // namespace cambium::testing
