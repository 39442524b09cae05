// Watchdog: notices that no thread makes progress, prints the state of the database, and aborts the program.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "cambium/db.h"

namespace cambium::testing {

// Must live as long as the threads that it watches. The threads call Moved() after each step. A machine under load may
// take long for one step, so the pause that counts as a hang is long.
class Watchdog {
 public:
  explicit Watchdog(DB* db, std::function<std::string()> describe = nullptr)
      : db_(db), describe_(std::move(describe)), thread_([this] { Watch(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void Moved() { steps_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr std::chrono::seconds kPause{90};

  void Watch() {
    std::unique_lock lock(mutex_);
    std::uint64_t seen = steps_.load();
    while (!wake_.wait_for(lock, kPause, [this] { return done_; })) {
      const std::uint64_t now = steps_.load();
      if (now == seen) Bark();
      seen = now;
    }
  }
  [[noreturn]] void Bark() {
    std::fprintf(stderr, "no progress for %lld s, after %llu steps\n", static_cast<long long>(kPause.count()),
                 static_cast<unsigned long long>(steps_.load()));
    if (describe_) std::fprintf(stderr, "%s\n", describe_().c_str());
    for (const char* name : {"num-immutable-mem-table", "cur-size-all-mem-tables", "cur-size-active-mem-table",
                             "mem-table-flush-pending", "compaction-pending", "background-errors", "num-runs",
                             "num-snapshots", "log-syncs", "durable-sequence", "stall-micros"}) {
      std::uint64_t value = 0;
      if (db_->GetIntProperty(std::string("cambium.") + name, &value)) {
        std::fprintf(stderr, "  %-28s %llu\n", name, static_cast<unsigned long long>(value));
      }
    }
    std::string stats;
    if (db_->GetProperty("cambium.stats", &stats)) std::fprintf(stderr, "%s\n", stats.c_str());
    std::abort();
  }

  DB* const db_;
  const std::function<std::string()> describe_;
  std::atomic<std::uint64_t> steps_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;  // mutex_
  std::thread thread_;
};

}  // namespace cambium::testing
