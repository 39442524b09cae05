// Writers that wait for space, and what wakes them: a fatal error, jobs that free space, also if one thread runs all
// jobs. Close does not wake them: no other call may run at the same time.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "cambium/db.h"
#include "cambium/executor.h"
#include "io/sim/sim_file_system.h"
#include "testing/scale.h"
#include "testing/seed.h"
#include "testing/small_options.h"
#include "util/manual_executor.h"
#include "util/prng.h"

namespace cambium::testing::space_waits_test {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);
constexpr std::uint64_t kKeys = 1000;

// While is_busy is set, tasks run only in the test's thread: a writer cannot run one itself, and blocks.
class BusyExecutor final : public Executor {
 public:
  void Schedule(TaskPriority priority, std::function<void()> task) override { tasks_.Schedule(priority, std::move(task)); }
  void ScheduleAfter(std::uint64_t micros, TaskPriority priority, std::function<void()> task) override {
    tasks_.ScheduleAfter(micros, priority, std::move(task));
  }
  bool RunOneInstead() override {
    if (std::this_thread::get_id() == worker_) return tasks_.RunOneInstead();
    if (!is_busy.load()) return tasks_.RunOneInstead();
    waits.fetch_add(1);
    return false;
  }

  std::atomic<bool> is_busy{false};
  std::atomic<int> waits{0};  // calls of RunOneInstead that found it busy

 private:
  const std::thread::id worker_ = std::this_thread::get_id();
  ManualExecutor tasks_;
};

struct Overwriting {
  explicit Overwriting(std::shared_ptr<Executor> executor) {
    options.create_if_missing = true;
    options.file_system = fs;
    options.info_log = NullLogger();
    options.max_space_amplification = 1.25;
    options.min_space_limit = 0;
    options.max_background_jobs = 1;
    options.max_write_buffer_number = 2;
    options.executor = std::move(executor);
    UseIndexOfTest(&options);
    const Status opened = DB::Open(options, "/db", &db);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
  }
  Status Write(std::uint64_t bytes) {
    Prng prng(seed);
    for (std::uint64_t written = 0; written < bytes; written += 1000) {
      const Status s = db->Put({}, "key" + std::to_string(prng.Uniform(kKeys)), prng.Bytes(1000));
      if (!s.ok()) return s;
    }
    return {};
  }

  const std::uint64_t seed = SeedFromEnvironment(61);
  std::shared_ptr<SimFileSystem> fs = std::make_shared<SimFileSystem>();
  Options options;
  std::unique_ptr<DB> db;
};

// Starts a writer, which blocks because no job runs, then calls `wake`. Returns the status with which the writer ended.
Status Woken(const std::function<void(Overwriting*, BusyExecutor*)>& wake) {
  const auto executor = std::make_shared<BusyExecutor>();
  Overwriting store(executor);
  executor->is_busy = true;
  std::future<Status> writer = std::async(std::launch::async, [&store] { return store.Write(5u << 20); });
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (executor->waits.load() < 5) {
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << "no writer waits";
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  wake(&store, executor.get());
  if (writer.wait_for(kPatience) != std::future_status::ready) {
    ADD_FAILURE() << "nothing wakes the writer";
    EXPECT_TRUE(store.db->SetDBOptions({{"max_space_amplification", "0"}}).ok());
    executor->is_busy = false;
  }
  return writer.get();
}

TEST(SpaceWaitsTest, FatalErrorWakesTheWriter) {
  const Status s = Woken([](Overwriting* store, BusyExecutor*) {
    SimFault fault;
    fault.kind = SimOpKind::kSync;
    fault.sticky = true;
    store->fs->AddFault(fault);
    EXPECT_FALSE(store->db->SyncWAL().ok());
  });
  EXPECT_EQ(s.severity(), Status::Severity::kFatal) << s.ToString();
}

TEST(SpaceWaitsTest, FreedSpaceWakesTheWriter) {
  const Status s = Woken([](Overwriting*, BusyExecutor* executor) { executor->is_busy = false; });
  EXPECT_TRUE(s.ok()) << s.ToString();
}

// Several writers wait for jobs that all run in one thread, while a snapshot is held.
TEST(SpaceWaitsTest, OneThreadIsEnough) {
  Overwriting store(nullptr);
  const std::uint64_t bytes = ScaledCount(12u << 20);
  const Snapshot* const snapshot = store.db->GetSnapshot();
  std::future<Status> others[] = {std::async(std::launch::async, [&] { return store.Write(bytes); }),
                                  std::async(std::launch::async, [&] { return store.Write(bytes); })};
  for (std::future<Status>& each : others) {
    if (each.wait_for(kPatience * 3) != std::future_status::ready) {
      ADD_FAILURE() << "a writer waits for ever";
      EXPECT_TRUE(store.db->SetDBOptions({{"max_space_amplification", "0"}}).ok());
    }
    EXPECT_TRUE(each.get().ok());
  }
  store.db->ReleaseSnapshot(snapshot);
  EXPECT_TRUE(store.db->Close().ok());
}

}  // namespace
}  // namespace cambium::testing::space_waits_test
