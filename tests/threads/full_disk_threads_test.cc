// A full disk, with writers and background work in separate threads and a real clock.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "testing/test_store.h"
#include "testing/units.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

// Several writers fill the disk, delete everything, and write again.
TEST(FullDiskThreadsTest, ManyWritersRecoverAfterDeletes) {
  SimOptions sim;
  sim.quota_bytes = 8 * kMiB;
  TestStore store(sim);
  store.options.write_buffer_size = 1 * kMiB;
  store.options.max_total_wal_size = 0;
  store.options.max_space_amplification = 1.5;
  store.options.min_blob_size = 512;
  store.options.blob_file_size = 1 * kMiB;
  store.options.executor = nullptr;
  store.options.clock = nullptr;
  UseIndexOfTest(&store.options);
  store.MustOpen();
  DB* const db = store.db.get();
  const auto space = [db] {
    std::string figures;
    EXPECT_TRUE(db->GetProperty("cambium.space", &figures));
    return figures;
  };
  const auto is_full = [&] { return space().find("is_disk_full: 1") != std::string::npos; };
  constexpr int kThreads = 3;
  const auto in_threads = [](const std::function<void(int)>& body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(body, i);
    for (std::thread& thread : threads) thread.join();
  };
  for (int round = 0; round < 3; ++round) {
    std::vector<std::vector<std::string>> keys(kThreads);
    in_threads([&](int i) {
      Prng prng(static_cast<std::uint64_t>(round * kThreads + i));
      for (int refused = 0; refused < 100;) {
        const std::string key = "key" + std::to_string(i) + "-" + std::to_string(keys[i].size());
        const Status s = db->Put({}, key, prng.Bytes(kKiB + prng.Uniform(30 * kKiB)));
        if (s.ok()) {
          keys[i].push_back(key);
        } else {
          EXPECT_TRUE(s.IsNoSpace() && s.severity() != Status::Severity::kFatal) << s.ToString();
          ++refused;
        }
      }
    });
    std::size_t written = 0;
    for (const auto& each : keys) written += each.size();
    EXPECT_GT(written, 150u) << "round " << round << "\n" << space();
    in_threads([&](int i) {
      for (const std::string& key : keys[i]) {
        const Status s = db->Delete({}, key);
        EXPECT_TRUE(s.ok()) << s.ToString();
      }
    });
    for (int i = 0; i < 3000 && is_full(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_FALSE(is_full()) << space();
  }
  store.MustClose();
  EXPECT_EQ(store.Verify(), "");
}

}  // namespace
}  // namespace cambium::testing
