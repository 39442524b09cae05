// SimReadQueue: a read queue without threads. Reads happen when they are waited for, in order or in a random one, so
// that nobody relies on memory being filled, or filled in order, before it is delivered.
#pragma once

#include <optional>
#include <vector>

#include "cambium/file_system.h"
#include "util/prng.h"

namespace cambium {

class SimFileSystem;

class SimReadQueue final : public ReadQueue {
 public:
  // With a seed the order is random. depth > 0. `use_io_uring` is for the counts only.
  SimReadQueue(SimFileSystem* file_system, std::size_t depth, bool use_io_uring, std::optional<std::uint64_t> seed);
  ~SimReadQueue() override;

  Status Submit(std::span<ReadRequest* const> requests) override;
  Status Wait(std::vector<ReadRequest*>* done) override;
  [[nodiscard]] std::size_t in_flight() const override { return waiting_.size() + finished_.size(); }
  [[nodiscard]] std::size_t depth() const override { return depth_; }

 private:
  void FinishOne();

  SimFileSystem* const file_system_;
  const std::size_t depth_;
  const bool use_io_uring_;
  std::optional<Prng> prng_;
  std::vector<ReadRequest*> waiting_;
  std::vector<ReadRequest*> finished_;  // read to make room, not yet delivered
};

}  // namespace cambium
