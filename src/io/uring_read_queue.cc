#include "io/uring_read_queue.h"

#include <liburing.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <limits>
#include <thread>
#include <typeinfo>

#include "io/event_descriptor.h"
#include "io/posix_descriptor.h"
#include "io/posix_error.h"
#include "io/posix_file.h"
#include "io/posix_transfer.h"
#include "io/serve_read.h"
#include "io/thread_read_queue.h"

namespace cambium {
namespace {

// The number of rings. Only the ordering that it creates matters. liburing maps and unmaps rings with raw system calls,
// so to ThreadSanitizer a ring at the addresses of another thread's earlier ring looks like a data race. A ring is
// subtracted before it is unmapped and added after it is mapped; so for the sanitizer too, the last use of the earlier
// ring happens before the first use of the later one.
std::atomic<int> ring_count{0};

bool MakeRing(std::size_t entries, io_uring* ring) {
  if (io_uring_queue_init(static_cast<unsigned>(entries), ring, 0) != 0) return false;
  ring_count.fetch_add(1, std::memory_order_acq_rel);
  return true;
}
void CloseRing(io_uring* ring) {
  ring_count.fetch_sub(1, std::memory_order_acq_rel);
  io_uring_queue_exit(ring);
}

void Nap() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

// Reads one byte of a file in memory through a ring: creating a ring alone would not show that reads are allowed.
bool TryIoUring() {
  const PosixDescriptor file(memfd_create("cambium-probe", MFD_CLOEXEC));
  io_uring ring;
  if (!file.valid() || ::pwrite(file.get(), "x", 1, 0) != 1 || !MakeRing(2, &ring)) return false;
  char byte = 0;
  io_uring_sqe* const sqe = io_uring_get_sqe(&ring);
  io_uring_prep_read(sqe, file.get(), &byte, 1, 0);
  // A failed submit leaves nothing in flight. After a successful one we must wait for the byte, whatever errors occur.
  bool works = io_uring_submit(&ring) == 1;
  if (works) {
    io_uring_cqe* cqe = nullptr;
    while (io_uring_wait_cqe(&ring, &cqe) != 0) Nap();
    works = cqe->res == 1 && byte == 'x';
  }
  CloseRing(&ring);
  return works;
}

class UringReadQueue final : public ReadQueue {
 public:
  explicit UringReadQueue(std::size_t depth) : depth_(std::clamp<std::size_t>(depth, 1, kUringDepthMax)) {}
  ~UringReadQueue() override;
  UringReadQueue(const UringReadQueue&) = delete;
  UringReadQueue& operator=(const UringReadQueue&) = delete;

  Status Submit(std::span<ReadRequest* const> requests) override;
  Status Wait(std::vector<ReadRequest*>* done) override;
  Status WaitFor(std::uint64_t micros, std::vector<ReadRequest*>* done) override;
  Status SignalTo(int event_fd) override;
  std::size_t in_flight() const override {
    return threads_ != nullptr ? threads_->in_flight() : InUse() + ready_.size();
  }
  std::size_t depth() const override { return depth_; }
  // True if the queue works without a ring: a new queue may get a working ring.
  bool IsSpent() const override { return refused_ || threads_ != nullptr; }

 private:
  // A request that is prepared for the kernel and not finished. Its progress is request->read.
  struct Flight {
    ReadRequest* request = nullptr;
    int refusals = 0;  // EAGAIN and EINTR so far
  };
  static constexpr int kRefusalsMax = 16;  // then File::Read serves the request: it retries for longer

  // Creates the ring, or the threads that replace it.
  void Start();
  [[nodiscard]] std::size_t InUse() const { return flights_.size() - free_.size(); }
  // Prepares the rest of the request; Flush submits it.
  void Prepare(Flight* flight);
  // Submits the prepared requests.
  void Flush();
  // Processes the completions that the kernel has. If `wait`, waits for at least one; then a request must be in flight.
  void Reap(bool wait);
  // Waits up to `micros` for a completion. A request must be in flight.
  void AwaitCompletion(std::uint64_t micros) const;
  void Deliver(std::vector<ReadRequest*>* done);
  void Complete(Flight* flight, int result);
  void FinishByRead(Flight* flight);
  void Finish(Flight* flight);

  const std::size_t depth_;
  std::unique_ptr<ReadQueue> threads_;  // serves everything if there is no ring
  bool has_ring_ = false;
  bool refused_ = false;  // the ring takes no more requests, for a lasting reason
  pid_t owner_ = 0;       // the process that created the ring
  int event_fd_ = -1;     // -1: none
  io_uring ring_{};
  // These vectors have their full capacity before a request is submitted: from then on nothing throws.
  std::vector<Flight> flights_;      // depth_ of them, at fixed addresses: the kernel keeps pointers
  std::vector<Flight*> free_;
  std::vector<Flight*> prepared_;    // in the ring's order, not submitted yet
  std::vector<ReadRequest*> ready_;
};

void UringReadQueue::Start() {
  if (has_ring_ || threads_ != nullptr) return;
  flights_.reserve(depth_);
  free_.reserve(depth_);
  prepared_.reserve(depth_);
  if (!MakeRing(depth_, &ring_)) {
    threads_ = NewThreadReadQueue(depth_);
    return;
  }
  has_ring_ = true;
  owner_ = getpid();
  flights_.resize(depth_);
  for (Flight& flight : flights_) free_.push_back(&flight);
}

UringReadQueue::~UringReadQueue() {
  if (!has_ring_) return;
  // In a forked child, only closes the ring: its completions belong to the parent.
  if (getpid() == owner_) {
    while (InUse() > 0) {
      Reap(true);
      Flush();
    }
  }
  CloseRing(&ring_);
}

Status UringReadQueue::Submit(std::span<ReadRequest* const> requests) {
  Start();
  if (threads_ != nullptr) return threads_->Submit(requests);
  for (ReadRequest* const request : requests) BeginRead(request);
  ready_.reserve(ready_.size() + InUse() + requests.size());
  for (ReadRequest* const request : requests) {
    const bool for_ring = typeid(*request->file) == typeid(PosixFile) && request->size > 0 && !refused_ &&
                          request->offset <= static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) -
                                                 std::min<std::uint64_t>(request->size, kTransferChunkMax);
    if (!for_ring) {
      ServeRead(request);
      ready_.push_back(request);
      continue;
    }
    while (free_.empty()) {
      Flush();
      if (free_.empty()) Reap(true);
    }
    Flight* const flight = free_.back();
    free_.pop_back();
    *flight = {request, 0};
    Prepare(flight);
  }
  Flush();
  // The kernel signals what the ring completes; a request that was served without the ring has to be signalled here.
  if (event_fd_ >= 0 && !ready_.empty()) AddToEventFd(event_fd_);
  return Status::OK();
}

Status UringReadQueue::Wait(std::vector<ReadRequest*>* done) {
  if (threads_ != nullptr) return threads_->Wait(done);
  if (InUse() > 0) Reap(false);
  Flush();
  while (ready_.empty() && InUse() > 0) {
    Reap(true);
    Flush();
  }
  Deliver(done);
  return Status::OK();
}

Status UringReadQueue::WaitFor(std::uint64_t micros, std::vector<ReadRequest*>* done) {
  if (threads_ != nullptr) return threads_->WaitFor(micros, done);
  if (InUse() > 0) Reap(false);
  Flush();
  if (ready_.empty() && InUse() > 0 && micros > 0) {
    AwaitCompletion(micros);
    Reap(false);
    Flush();
  }
  Deliver(done);
  return Status::OK();
}

Status UringReadQueue::SignalTo(int event_fd) {
  Start();
  if (threads_ != nullptr) return threads_->SignalTo(event_fd);
  const int result = io_uring_register_eventfd(&ring_, event_fd);
  if (result != 0) return PosixError("register", "eventfd with io_uring", -result);
  event_fd_ = event_fd;
  if (in_flight() > 0) AddToEventFd(event_fd);  // completions from before do not signal it
  return Status::OK();
}

// A ring is readable when it has completions. Unlike io_uring_wait_cqe_timeout, this needs no request of its own in the
// ring on old kernels.
void UringReadQueue::AwaitCompletion(std::uint64_t micros) const {
  pollfd ring{ring_.ring_fd, POLLIN, 0};
  const timespec wait{static_cast<time_t>(micros / 1'000'000), static_cast<long>(micros % 1'000'000 * 1000)};
  static_cast<void>(::ppoll(&ring, 1, &wait, nullptr));
}

void UringReadQueue::Deliver(std::vector<ReadRequest*>* done) {
  done->insert(done->end(), ready_.begin(), ready_.end());
  ready_.clear();
}

void UringReadQueue::Prepare(Flight* flight) {
  if (refused_) {
    FinishByRead(flight);
    return;
  }
  const ReadRequest& request = *flight->request;
  io_uring_sqe* const sqe = io_uring_get_sqe(&ring_);
  assert(sqe != nullptr);  // the ring has an entry for each flight
  const std::size_t n = std::min(request.size - request.read, kTransferChunkMax);
  io_uring_prep_read(sqe, static_cast<const PosixFile*>(request.file)->fd(), request.out + request.read,
                     static_cast<unsigned>(n), request.offset + request.read);
  io_uring_sqe_set_data(sqe, flight);
  prepared_.push_back(flight);
}

void UringReadQueue::Flush() {
  for (int naps = 0; !prepared_.empty();) {
    const int taken = io_uring_submit(&ring_);
    assert(taken <= static_cast<int>(prepared_.size()));
    if (taken > 0) {
      prepared_.erase(prepared_.begin(), prepared_.begin() + taken);
    } else if (taken == -EINTR) {
      continue;
    } else if ((taken == 0 || taken == -EAGAIN || taken == -EBUSY) && naps < 1000) {
      // The kernel lacks a resource that completions free.
      if (InUse() > prepared_.size()) {
        Reap(true);
      } else {
        ++naps;
        Nap();
      }
    } else {
      // Entries that the kernel did not take remain in the ring, but it is never submitted again, so the kernel will
      // not read into memory that we no longer own.
      refused_ = true;
      for (Flight* const flight : prepared_) FinishByRead(flight);
      prepared_.clear();
    }
  }
}

void UringReadQueue::Reap(bool wait) {
  io_uring_cqe* cqe = nullptr;
  // Waits even if the kernel reports an error, because reads in flight still write to their buffers.
  while (wait) {
    const int result = io_uring_wait_cqe(&ring_, &cqe);
    if (result == 0) break;
    if (result != -EINTR) Nap();
  }
  unsigned head = 0;
  io_uring_for_each_cqe(&ring_, head, cqe) {
    auto* const flight = static_cast<Flight*>(io_uring_cqe_get_data(cqe));
    assert(flight != nullptr && flight->request != nullptr);
    const int result = cqe->res;
    // Advance first: a completion that is not marked as seen is returned again, and its bytes would count twice.
    io_uring_cq_advance(&ring_, 1);
    Complete(flight, result);
  }
}

void UringReadQueue::Complete(Flight* flight, int result) {
  ReadRequest& request = *flight->request;
  if ((result == -EINTR || result == -EAGAIN) && ++flight->refusals <= kRefusalsMax) {
    Prepare(flight);
  } else if (result < 0) {
    // The error may be the ring's: if the thread that submitted a read has ended, the kernel answers EFAULT or
    // ECANCELED. File::Read gives the file's own answer.
    FinishByRead(flight);
  } else {
    request.read += static_cast<std::size_t>(result);
    if (result == 0 || request.read == request.size) {
      request.status = Status::OK();
      Finish(flight);
    } else if (request.file->IsDirect()) {
      FinishByRead(flight);  // it can resume at an unaligned offset
    } else {
      Prepare(flight);
    }
  }
}

void UringReadQueue::FinishByRead(Flight* flight) {
  ServeRead(flight->request);
  Finish(flight);
}

void UringReadQueue::Finish(Flight* flight) {
  assert(ready_.size() < ready_.capacity() && free_.size() < flights_.size());
  ready_.push_back(flight->request);
  free_.push_back(flight);
}

}  // namespace

bool IoUringWorks() {
  static const bool works = TryIoUring();
  return works;
}

std::unique_ptr<ReadQueue> NewUringReadQueue(std::size_t depth) { return std::make_unique<UringReadQueue>(depth); }

}  // namespace cambium
