#include "util/epoch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "testing/mutant_scope.h"
#include "testing/seed.h"
#include "util/prng.h"

namespace cambium {
namespace {

// A thread that runs functions for the test, one at a time.
class Puppet {
 public:
  Puppet() : thread_([this] { Run(); }) {}
  ~Puppet() {
    Do({});
    thread_.join();
  }
  // Runs `f` in the thread and returns when it is done. An empty function ends the thread.
  void Do(std::function<void()> f) {
    std::unique_lock lock(mutex_);
    next_ = std::move(f);
    has_task_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !has_task_; });
  }

 private:
  void Run() {
    for (bool more = true; more;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return has_task_; });
      more = static_cast<bool>(next_);
      if (more) next_();
      has_task_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> next_;
  bool has_task_ = false;
  std::thread thread_;
};

// Returns true if collecting does not reclaim memory while a reader is inside. Collecting must reclaim the memory after
// the reader has left.
bool ReaderProtects() {
  Puppet reader;
  std::optional<EpochGuard> guard;
  bool reclaimed = false;
  reader.Do([&] { guard.emplace(); });
  EpochRetire([&] { reclaimed = true; });
  EpochCollect();
  const bool was_protected = !reclaimed;
  reader.Do([&] { guard.reset(); });
  EpochCollect();
  EXPECT_TRUE(reclaimed);
  return was_protected;
}

TEST(EpochTest, RetiredMemoryIsKeptUntilReadersLeave) {
  EXPECT_TRUE(ReaderProtects());
  const testing::MutantScope mutant(Mutant::kReclaimUnderReaders);
  EXPECT_FALSE(ReaderProtects()) << "the mutant must be caught";
}

TEST(EpochTest, LaterReaderDoesNotDelayReclaiming) {
  Puppet reader;
  std::optional<EpochGuard> guard;
  bool first = false;
  bool second = false;
  EpochRetire([&] { first = true; });
  reader.Do([&] { guard.emplace(); });
  EpochRetire([&] { second = true; });
  EpochCollect();
  EXPECT_TRUE(first);
  EXPECT_FALSE(second);
  EXPECT_EQ(EpochPending(), 1u);
  reader.Do([&] { guard.reset(); });
  EpochCollect();
  EXPECT_TRUE(second);
  EXPECT_EQ(EpochPending(), 0u);
}

TEST(EpochTest, GuardsNestAndOnlyTheOutermostCounts) {
  bool reclaimed = false;
  {
    const EpochGuard outer;
    EXPECT_TRUE(EpochInside());
    { const EpochGuard inner; }
    EXPECT_TRUE(EpochInside());
    EpochRetire([&] { reclaimed = true; });
    EXPECT_EQ(EpochCollect(), 0u);
  }
  EXPECT_FALSE(EpochInside());
  EXPECT_FALSE(reclaimed) << "leaving a guard must not reclaim";
  EXPECT_EQ(EpochCollect(), 1u);
  EXPECT_TRUE(reclaimed);
}

TEST(EpochTest, CollectRunsOldestFirstAndIsReentrant) {
  std::string order;
  EpochRetire([&] {
    order += '(';
    EpochRetire([&] { order += 'c'; });
    { const EpochGuard guard; }
    EpochCollect();  // runs 'b' and 'c', which are due
    order += ')';
  });
  EpochRetire([&] { order += 'b'; });
  EpochCollect();
  EXPECT_EQ(order, "(bc)");
}

TEST(EpochTest, DrainWaitsForReaders) {
  std::atomic<bool> inside = false;
  std::atomic<bool> leaving = false;
  bool reclaimed = false;
  std::thread reader([&] {
    const EpochGuard guard;
    inside = true;
    while (!leaving) std::this_thread::yield();
  });
  while (!inside) std::this_thread::yield();
  EpochRetire([&] { reclaimed = true; });
  std::thread other([&] {
    EpochCollect();
    leaving = true;
    EpochCollect();
  });
  EpochDrain();
  EXPECT_TRUE(reclaimed);
  EXPECT_TRUE(leaving);
  reader.join();
  other.join();
}

TEST(EpochTest, DrainWaitsForReclaimingInAnotherThread) {
  std::atomic<bool> started = false;
  std::atomic<bool> go = false;
  bool done = false;
  EpochRetire([&] {
    started = true;
    while (!go) std::this_thread::yield();
    done = true;
  });
  std::thread other([] { EpochCollect(); });
  while (!started) std::this_thread::yield();
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    go = true;
  });
  EpochDrain();
  EXPECT_TRUE(done);
  other.join();
  opener.join();
}

TEST(EpochTest, SlotOfAnEndedThreadIsReused) {
  const auto visit = [] { const EpochGuard guard; };
  std::thread(visit).join();
  const std::size_t slots = epoch_internal::SlotCount();
  for (int i = 0; i < 200; ++i) std::thread(visit).join();
  EXPECT_EQ(epoch_internal::SlotCount(), slots);
}

// A thread-local object created before the thread's first guard is destroyed after the epoch's own hook.
struct LateVisitor {
  ~LateVisitor() {
    for (int i = 0; i < 3; ++i) const EpochGuard guard;
  }
};

TEST(EpochTest, DestructorsOfAnEndingThreadMayEnter) {
  const auto live = [] {
    static thread_local LateVisitor visitor;
    (void)&visitor;
    const EpochGuard guard;
  };
  std::thread(live).join();
  const std::size_t slots = epoch_internal::SlotCount();
  for (int i = 0; i < 50; ++i) std::thread(live).join();
  EXPECT_EQ(epoch_internal::SlotCount(), slots);
  bool reclaimed = false;
  EpochRetire([&] { reclaimed = true; });
  EpochCollect();
  EXPECT_TRUE(reclaimed) << "a slot is still marked as inside";
}

// At the fork, a thread is inside a guard, and a retired function waits for it to leave. The child does not have this
// thread. The child must run functions that it retires itself, without waiting, and must not run those that its parent
// retired. (Regression: EpochDrain waited for ever.)
TEST(EpochTest, ForkedChildDoesNotWaitForParentThreads) {
  Puppet reader;
  std::optional<EpochGuard> guard;
  bool of_parent = false;
  reader.Do([&] { guard.emplace(); });
  EpochRetire([&] { of_parent = true; });
  EpochCollect();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    bool reclaimed = false;
    EpochRetire([&] { reclaimed = true; });
    EpochDrain();
    bool is_gone = false;
    {
      const EpochGuard own;
      EpochRetire([&] { is_gone = true; });
      EpochCollect();
      if (is_gone) ::_exit(2);
    }
    EpochDrain();
    ::_exit(reclaimed && is_gone && !of_parent && EpochPending() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(of_parent);
  reader.Do([&] { guard.reset(); });
  EpochDrain();
  EXPECT_TRUE(of_parent);
}

// Readers follow shared pointers while writers replace, retire and collect. Reclaiming first overwrites the memory and
// then frees it, so both this test and the sanitizers notice a reader that uses it too late.
TEST(EpochTest, ReadersNeverSeeReclaimedMemory) {
  struct Node {
    std::atomic<std::uint64_t> alive{0x600d};
    std::uint64_t payload = 7;
  };
  const std::uint64_t seed = testing::SeedFromEnvironment(12);
  constexpr int kCells = 4;
  std::vector<std::atomic<Node*>> cells(kCells);
  for (auto& cell : cells) cell = new Node;
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> wrong = 0;
  std::atomic<std::uint64_t> reads = 0;
  std::atomic<std::uint64_t> reclaimed = 0;

  std::vector<std::thread> threads;
  for (std::uint64_t r = 0; r < 3; ++r) {
    threads.emplace_back([&, r] {
      Prng prng(seed + r);
      while (!stop.load(std::memory_order_relaxed)) {
        const EpochGuard guard;
        const Node* const node = cells[prng.Uniform(kCells)].load(std::memory_order_acquire);
        for (std::uint64_t i = prng.Uniform(20); i > 0; --i) {
          if (node->alive.load(std::memory_order_relaxed) != 0x600d || node->payload != 7) ++wrong;
        }
        reads.fetch_add(1, std::memory_order_relaxed);
      }
    });
  }
  constexpr std::uint64_t kReplacements = 4000;
  std::vector<std::thread> writers;
  for (std::uint64_t w = 0; w < 2; ++w) {
    writers.emplace_back([&, w] {
      Prng prng(seed + 100 + w);
      for (std::uint64_t i = 0; i < kReplacements; ++i) {
        Node* const old = cells[prng.Uniform(kCells)].exchange(new Node, std::memory_order_acq_rel);
        EpochRetire([old, &reclaimed] {
          old->alive.store(0xdead, std::memory_order_relaxed);
          old->payload = 0;
          delete old;
          ++reclaimed;
        });
        if (prng.OneIn(3)) EpochCollect();
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  while (reads < 1000) std::this_thread::yield();
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EpochDrain();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(reclaimed, 2 * kReplacements);
  EXPECT_EQ(EpochPending(), 0u);
  for (auto& cell : cells) delete cell.load();
}

}  // namespace
}  // namespace cambium
