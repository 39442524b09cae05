// Databases with threads of their own share one limit for their memory. While threads write to them, another thread looks
// at the memory in use: it must never see more than the limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cambium/db.h"
#include "cambium/write_buffer_manager.h"
#include "testing/index_mode.h"
#include "testing/scale.h"
#include "testing/temp_directory.h"
#include "util/prng.h"

namespace cambium::testing {
namespace {

constexpr std::size_t kLimit = std::size_t{2} << 20;
constexpr int kFamilies = 200;

void Raise(std::atomic<std::size_t>* most, std::size_t seen) {
  std::size_t before = most->load();
  while (before < seen && !most->compare_exchange_weak(before, seen)) {
  }
}

constexpr std::size_t kValueBytes = 1000;  // small enough to be in a memtable

void AddTo(WriteBatch* batch, ColumnFamilyHandle* family, std::uint64_t values) {
  for (std::uint64_t i = 0; i < values; ++i) {
    ASSERT_TRUE(batch->Put(family, std::to_string(i), std::string(kValueBytes, 'v')).ok());
  }
}

struct Store {
  Store(const std::string& path, const std::shared_ptr<WriteBufferManager>& manager) {
    Options options;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.info_log = NullLogger();
    options.page_cache_size = 4u << 20;
    options.write_buffer_manager = manager;
    options.min_blob_size = 1u << 20;  // so that values are in memtables
    UseIndexOfTest(&options);
    std::vector<ColumnFamilyDescriptor> families{{kDefaultColumnFamilyName, options}};
    for (int i = 1; i < kFamilies; ++i) families.emplace_back("f" + std::to_string(i), options);
    const Status s = DB::Open(options, path, families, &handles, &db);
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  ~Store() {
    for (ColumnFamilyHandle* const handle : handles) delete handle;
    EXPECT_TRUE(db->Close().ok());
  }
  // Writes to all families, or mostly to one. Notes the memory in use after each write in *most.
  void Write(std::uint64_t seed, int count, const WriteBufferManager& manager, std::atomic<std::size_t>* most) {
    Prng prng(seed);
    for (int i = 0; i < count; ++i) {
      const auto family = prng.OneIn(3) ? prng.Uniform(kFamilies) : 0;
      const Status s = db->Put({}, handles[family], std::to_string(prng.Uniform(100'000)), std::string(100, 'v'));
      ASSERT_TRUE(s.ok()) << s.ToString();
      Raise(most, manager.memory_usage());
    }
  }

  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
};

TEST(WriteBudgetThreadsTest, NoSampleIsAboveTheLimit) {
  const TempDirectory directory;
  const auto manager = std::make_shared<WriteBufferManager>(kLimit);
  std::atomic<std::size_t> most{0};
  std::atomic<bool> has_ended{false};
  std::thread sampler([&] {
    while (!has_ended) {
      Raise(&most, manager->memory_usage());
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  {
    Store first(directory.File("first"), manager);
    auto second = std::make_unique<Store>(directory.File("second"), manager);
    constexpr std::uint64_t kFillsLimit = 4000;  // by four threads, several times; also under a sanitizer
    const int count = static_cast<int>(std::max(kFillsLimit, ScaledCount(6000)));
    std::vector<std::thread> writers;
    for (std::uint64_t i = 0; i < 2; ++i) {
      writers.emplace_back([&, i] { first.Write(i, count, *manager, &most); });
      writers.emplace_back([&, i] { second->Write(10 + i, count, *manager, &most); });
    }
    for (std::thread& writer : writers) writer.join();
    // One closes while the other one writes.
    std::thread last([&] { first.Write(20, count, *manager, &most); });
    second.reset();
    last.join();
  }
  has_ended = true;
  sampler.join();
  EXPECT_LE(most.load(), kLimit);
  EXPECT_GT(most.load(), kLimit / 2);
  EXPECT_EQ(manager->memory_usage(), 0u);
}

// Batches that need a third of the limit at once run during many small writes: both go on, and neither passes the
// limit. Writes that must not wait are refused meanwhile, and take nothing.
TEST(WriteBudgetThreadsTest, LargeWritesGetTheirTurn) {
  const TempDirectory directory;
  const auto manager = std::make_shared<WriteBufferManager>(kLimit);
  std::atomic<std::size_t> most{0};
  std::atomic<bool> has_ended{false};
  std::atomic<std::uint64_t> small{0};
  {
    Store first(directory.File("first"), manager);
    Store second(directory.File("second"), manager);
    std::vector<std::thread> writers;
    for (std::uint64_t i = 0; i < 3; ++i) {
      writers.emplace_back([&, i] {
        Store& store = i == 0 ? first : second;
        WriteOptions write;
        write.no_slowdown = i == 2;
        Prng prng(i);
        while (!has_ended) {
          const Status s = store.db->Put(write, store.handles[prng.Uniform(kFamilies)], std::to_string(prng.Next()), "v");
          ASSERT_TRUE(s.ok() || (i == 2 && s.IsIncomplete())) << s.ToString();
          small += s.ok() ? 1 : 0;
          Raise(&most, manager->memory_usage());
        }
      });
    }
    constexpr std::uint64_t kParts = 7;
    for (std::uint64_t i = 0; i < ScaledCount(60); ++i) {
      WriteBatch batch;
      for (std::uint64_t part = 0; part < kParts; ++part) AddTo(&batch, first.handles[part], 100);
      const Status s = first.db->Write({}, &batch);
      ASSERT_TRUE(s.ok()) << s.ToString();
      Raise(&most, manager->memory_usage());
    }
    has_ended = true;
    for (std::thread& writer : writers) writer.join();
  }
  EXPECT_GT(small.load(), 100u);
  EXPECT_LE(most.load(), kLimit);
  EXPECT_EQ(manager->memory_usage(), 0u);
}

// Each batch needs more than the limit. One at a time may exceed it, so two never have their memory at the same time.
TEST(WriteBudgetThreadsTest, OneBatchAtATimeExceedsTheLimit) {
  constexpr std::size_t kSmallLimit = std::size_t{512} << 10;
  constexpr std::uint64_t kValues = 100;
  constexpr std::uint64_t kParts = 8;
  const TempDirectory directory;
  const auto manager = std::make_shared<WriteBufferManager>(kSmallLimit);
  std::atomic<std::size_t> most{0};
  {
    Store first(directory.File("first"), manager);
    Store second(directory.File("second"), manager);
    std::vector<std::thread> writers;
    for (std::uint64_t i = 0; i < 4; ++i) {
      writers.emplace_back([&, i] {
        Store& store = i % 2 == 0 ? first : second;
        for (std::uint64_t round = 0; round < ScaledCount(20); ++round) {
          WriteBatch batch;
          for (std::uint64_t part = 0; part < kParts; ++part) AddTo(&batch, store.handles[i * kParts + part], kValues);
          const Status s = store.db->Write({}, &batch);
          ASSERT_TRUE(s.ok()) << s.ToString();
          Raise(&most, manager->memory_usage());
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
  }
  constexpr std::size_t kBatch = kParts * kValues * kValueBytes;
  EXPECT_GT(most.load(), kBatch);
  EXPECT_LE(most.load(), kSmallLimit + kBatch + kBatch / 4);
}

}  // namespace
}  // namespace cambium::testing
