// PooledReadQueue: a read queue for files of a FilePool.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "cambium/file_system.h"
#include "io/pooled_file.h"

namespace cambium {

// Threads and errors as in ReadQueue. Keeps a file open while one of its reads is in flight, and passes the base's file
// to the queue below, which may know how to read it. Files that belong to no pool are passed on as they are.
class PooledReadQueue final : public ReadQueue {
 public:
  explicit PooledReadQueue(std::unique_ptr<ReadQueue> base) : base_(std::move(base)) {}
  ~PooledReadQueue() override;
  PooledReadQueue(const PooledReadQueue&) = delete;
  PooledReadQueue& operator=(const PooledReadQueue&) = delete;

  Status Submit(std::span<ReadRequest* const> requests) override;
  Status Wait(std::vector<ReadRequest*>* done) override;
  Status WaitFor(std::uint64_t micros, std::vector<ReadRequest*>* done) override;
  Status SignalTo(int event_fd) override { return base_->SignalTo(event_fd); }
  [[nodiscard]] std::size_t in_flight() const override { return base_->in_flight(); }
  [[nodiscard]] std::size_t depth() const override { return base_->depth(); }
  [[nodiscard]] bool IsSpent() const override { return base_->IsSpent(); }

 private:
  // Restores the requests from index `first` on.
  void RestoreFrom(std::size_t first, const std::vector<ReadRequest*>& done);
  // Gives the request its own file back, and unpins it.
  void Restore(ReadRequest* request);

  std::unique_ptr<ReadQueue> base_;
  std::unordered_map<const ReadRequest*, const PooledFile*> pinned_;  // those in flight
};

}  // namespace cambium
