#include "io/pooled_read_queue.h"

#include <utility>

namespace cambium {

PooledReadQueue::~PooledReadQueue() {
  base_.reset();  // waits for the reads in flight
  for (const auto& [request, file] : pinned_) file->Unpin();
}

void PooledReadQueue::Restore(ReadRequest* request) {
  const auto found = pinned_.find(request);
  if (found == pinned_.end()) return;
  request->file = found->second;
  found->second->Unpin();
  pinned_.erase(found);
}

Status PooledReadQueue::Submit(std::span<ReadRequest* const> requests) {
  std::size_t prepared = 0;
  const auto take_back = [&] {
    for (std::size_t i = 0; i < prepared; ++i) Restore(requests[i]);
  };
  try {
    Status submitted;
    for (; submitted.ok() && prepared < requests.size(); ++prepared) {
      ReadRequest* const request = requests[prepared];
      const auto* const file = dynamic_cast<const PooledFile*>(request->file);
      if (file == nullptr) continue;
      submitted = file->Pin();
      if (!submitted.ok()) break;
      try {
        pinned_.emplace(request, file);
      } catch (...) {
        file->Unpin();
        throw;
      }
      request->file = &file->inner();
    }
    if (submitted.ok()) submitted = base_->Submit(requests);
    if (!submitted.ok()) take_back();
    return submitted;
  } catch (...) {  // out of memory
    take_back();
    throw;
  }
}

void PooledReadQueue::RestoreFrom(std::size_t first, const std::vector<ReadRequest*>& done) {
  for (std::size_t i = first; i < done.size(); ++i) Restore(done[i]);
}

Status PooledReadQueue::Wait(std::vector<ReadRequest*>* done) {
  const std::size_t before = done->size();
  Status waited = base_->Wait(done);
  RestoreFrom(before, *done);
  return waited;
}

Status PooledReadQueue::WaitFor(std::uint64_t micros, std::vector<ReadRequest*>* done) {
  const std::size_t before = done->size();
  Status waited = base_->WaitFor(micros, done);
  RestoreFrom(before, *done);
  return waited;
}

}  // namespace cambium
