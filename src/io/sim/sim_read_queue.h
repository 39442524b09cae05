// SimReadQueue: a read queue without threads. It reads when its owner waits, in order or in random order. So a test
// fails if code uses a buffer before its request is delivered, or relies on the order of delivery.
#pragma once

#include <optional>
#include <vector>

#include "cambium/file_system.h"
#include "util/prng.h"

namespace cambium {

class SimFileSystem;

class SimReadQueue final : public ReadQueue {
 public:
  // With a seed the order is random. depth > 0. `use_io_uring` only selects the counter.
  SimReadQueue(SimFileSystem* file_system, std::size_t depth, bool use_io_uring, std::optional<std::uint64_t> seed);
  ~SimReadQueue() override;

  Status Submit(std::span<ReadRequest* const> requests) override;
  Status Wait(std::vector<ReadRequest*>* done) override;
  // With 0 microseconds, reads nothing more.
  Status WaitFor(std::uint64_t micros, std::vector<ReadRequest*>* done) override;
  [[nodiscard]] std::size_t in_flight() const override { return waiting_.size() + finished_.size(); }
  [[nodiscard]] std::size_t depth() const override { return depth_; }

 private:
  void FinishOne();
  void Deliver(std::vector<ReadRequest*>* done);

  SimFileSystem* const file_system_;
  const std::size_t depth_;
  const bool use_io_uring_;
  std::optional<Prng> prng_;
  std::vector<ReadRequest*> waiting_;
  std::vector<ReadRequest*> finished_;  // read, not yet delivered
};

}  // namespace cambium
