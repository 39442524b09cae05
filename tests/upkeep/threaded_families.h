// ThreadedFamilies: a database with many families and background threads, and four threads that write to them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "testing/family_store.h"

namespace cambium::testing {

struct ThreadedFamilies : FamilyStore {
  // `more` may set further options.
  explicit ThreadedFamilies(int families, const std::function<void(Options*)>& more = nullptr) {
    options.executor = nullptr;
    options.clock = nullptr;
    options.max_background_jobs = 4;
    options.create_missing_column_families = true;
    if (more) more(&options);
    MustOpenWith(FamilyNames(families));
  }
  // In each of the rounds, each thread calls `write` for its families, and then flushes them. It waits for every fifth
  // flush. `write` returns the number of calls that failed. Expects no failure.
  void Run(int rounds, const std::function<int(ColumnFamilyHandle* handle, std::size_t family, int round)>& write) {
    std::vector<std::thread> threads;
    std::atomic<int> errors{0};
    constexpr std::size_t kThreads = 4;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int round = 0; round < rounds; ++round) {
          for (std::size_t i = t; i < handles.size(); i += kThreads) {
            errors += write(handles[i], i, round);
            FlushOptions flush;
            flush.wait = (i + static_cast<std::size_t>(round)) % 5 == 0;
            errors += db->Flush(flush, handles[i]).ok() ? 0 : 1;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(errors, 0);
  }
};

}  // namespace cambium::testing
