// CountingFileSystem: the operating system's files, with counts of the reads through queues.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "testing/files/forwarding_file_system.h"

namespace cambium::testing {

// Any thread.
class CountingFileSystem final : public ForwardingFileSystem {
 public:
  CountingFileSystem() : ForwardingFileSystem(FileSystem::Default()) {}

  std::unique_ptr<ReadQueue> NewReadQueue(std::size_t depth, bool use_io_uring) override {
    return std::make_unique<Queue>(base().NewReadQueue(depth, use_io_uring), &counts_[use_io_uring ? 1 : 0]);
  }

  // Returns the reads since the last call: of queues without io_uring, and of queues with it.
  std::array<std::uint64_t, 2> TakeReads() { return {counts_[0].reads.exchange(0), counts_[1].reads.exchange(0)}; }
  // Returns the largest number of reads in flight at once in one queue, since the last call.
  std::uint64_t TakeTogether() { return std::max(counts_[0].together.exchange(0), counts_[1].together.exchange(0)); }

 private:
  struct Counts {
    std::atomic<std::uint64_t> reads{0};
    std::atomic<std::uint64_t> together{0};
  };
  class Queue final : public ReadQueue {
   public:
    Queue(std::unique_ptr<ReadQueue> base, Counts* counts) : base_(std::move(base)), counts_(counts) {}
    Status Submit(std::span<ReadRequest* const> requests) override {
      counts_->reads.fetch_add(requests.size());
      const std::uint64_t together = std::min(base_->in_flight() + requests.size(), base_->depth());
      std::uint64_t most = counts_->together.load();
      while (most < together && !counts_->together.compare_exchange_weak(most, together)) {
      }
      return base_->Submit(requests);
    }
    Status Wait(std::vector<ReadRequest*>* done) override { return base_->Wait(done); }
    [[nodiscard]] std::size_t in_flight() const override { return base_->in_flight(); }
    [[nodiscard]] std::size_t depth() const override { return base_->depth(); }
    [[nodiscard]] bool IsSpent() const override { return base_->IsSpent(); }

   private:
    const std::unique_ptr<ReadQueue> base_;
    Counts* const counts_;
  };

  std::array<Counts, 2> counts_;
};

}  // namespace cambium::testing
