// SmallValueStore: a simulated database of inline values, small enough for a test to reach its ceiling, and with slow
// background work: one task per `puts_per_task` puts.
#pragma once

#include <map>
#include <string>

#include "testing/test_store.h"
#include "cambium/statistics.h"
#include "util/prng.h"

namespace cambium::testing {

struct SmallValueStore : TestStore {
  static constexpr std::size_t kValueBytes = 100;
  static constexpr std::size_t kKeyBytes = 16;

  explicit SmallValueStore(IndexKind index) {
    options.index_type = index;
    options.max_space_amplification = 1.5;
    options.write_buffer_size = 256u << 10;
    options.min_blob_size = 1024;
    options.max_total_wal_size = 0;
    options.blob_file_size = 64u << 20;
    options.page_size = 4096;
    options.page_cache_size = 32u << 20;
    options.statistics = CreateDBStatistics();
  }

  static std::string Key(std::uint64_t i) {
    Prng prng(i + 1);  // random
    return prng.Bytes(kKeyBytes);
  }
  // Each value differs from all others.
  void PutNumber(std::uint64_t i) {
    Prng prng(++puts);
    Put(Key(i), prng.Bytes(kValueBytes));
    if (puts % puts_per_task == 0 && executor->pending() > 0) executor->RunOneInstead();
  }
  // One of the figures of "cambium.space".
  [[nodiscard]] std::uint64_t Space(const std::string& figure) {
    std::map<std::string, std::string> space;
    EXPECT_TRUE(db->GetMapProperty("cambium.space", &space));
    return std::stoull(space.at(figure));
  }
  [[nodiscard]] std::string SpaceText() {
    std::string text;
    EXPECT_TRUE(db->GetProperty("cambium.space", &text));
    return text;
  }
  [[nodiscard]] std::uint64_t Ticker(Tickers ticker) const { return options.statistics->getTickerCount(ticker); }

  std::uint64_t puts_per_task = 64;
  std::uint64_t puts = 0;
};

}  // namespace cambium::testing
