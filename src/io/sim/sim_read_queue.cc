#include "io/sim/sim_read_queue.h"

#include <algorithm>

#include "io/sim/sim_file_system.h"

namespace cambium {

SimReadQueue::SimReadQueue(SimFileSystem* file_system, std::size_t depth, bool use_io_uring,
                           std::optional<std::uint64_t> seed)
    : file_system_(file_system), depth_(std::max<std::size_t>(1, depth)), use_io_uring_(use_io_uring) {
  if (seed.has_value()) prng_.emplace(*seed);
}

// Reads in flight still fill the caller's buffers, as on a real device.
SimReadQueue::~SimReadQueue() {
  while (!waiting_.empty()) FinishOne();
}

void SimReadQueue::FinishOne() {
  const std::size_t pick = prng_.has_value() ? prng_->Uniform(waiting_.size()) : 0;
  ReadRequest* request = waiting_[pick];
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(pick));
  request->status = request->file->Read(request->offset, request->size, request->out, &request->read);
  finished_.push_back(request);
}

Status SimReadQueue::Submit(std::span<ReadRequest* const> requests) {
  waiting_.reserve(waiting_.size() + requests.size());
  finished_.reserve(finished_.size() + waiting_.size() + requests.size());
  for (ReadRequest* request : requests) {
    while (waiting_.size() >= depth_) FinishOne();
    waiting_.push_back(request);
  }
  const MutexLock lock(file_system_->mutex_);
  SimReadCounts& counts = file_system_->read_counts_;
  ++counts.submits;
  counts.queued[use_io_uring_ ? 1 : 0] += requests.size();
  counts.together_max = std::max<std::uint64_t>(counts.together_max, waiting_.size());
  return Status::OK();
}

Status SimReadQueue::Wait(std::vector<ReadRequest*>* done) {
  if (!waiting_.empty()) {
    std::size_t count = prng_.has_value() ? 1 + prng_->Uniform(waiting_.size()) : waiting_.size();
    for (; count > 0; --count) FinishOne();
  }
  Deliver(done);
  return Status::OK();
}

Status SimReadQueue::WaitFor(std::uint64_t micros, std::vector<ReadRequest*>* done) {
  if (micros > 0) return Wait(done);
  Deliver(done);
  return Status::OK();
}

void SimReadQueue::Deliver(std::vector<ReadRequest*>* done) {
  done->insert(done->end(), finished_.begin(), finished_.end());
  finished_.clear();
}

}  // namespace cambium
