#include "io/thread_read_queue.h"

#include <algorithm>
#include <cassert>
#include <deque>
#include <new>
#include <thread>
#include <utility>

#include "io/event_descriptor.h"
#include "io/serve_read.h"
#include "util/background_thread.h"
#include "util/fork_guard.h"
#include "util/mutex.h"

namespace cambium {
namespace {

// Receives the finished reads of a queue. Its mutex also makes visible the bytes that another thread has read.
struct Mailbox {
  Mutex mutex;
  CondVar arrived;
  std::vector<ReadRequest*> done CAMBIUM_GUARDED_BY(mutex);  // has capacity for all outstanding requests
  std::size_t outstanding CAMBIUM_GUARDED_BY(mutex) = 0;     // submitted and not yet in `done`
  int event_fd CAMBIUM_GUARDED_BY(mutex) = -1;               // signalled at each arrival; -1: none

  // Takes a request that is finished. Notifies under the mutex: once it is released after the last read, the mailbox
  // may be destroyed.
  void Receive(ReadRequest* request) CAMBIUM_EXCLUDES(mutex) {
    const MutexLock lock(mutex);
    assert(outstanding > 0 && done.size() < done.capacity());
    done.push_back(request);
    --outstanding;
    arrived.NotifyOne();
    if (event_fd >= 0) AddToEventFd(event_fd);
  }
};

// The shared threads. They are detached and never end: the host may return from main() while they wait for work. A
// forked child, which has none of its parent's threads, starts its own.
class ReadThreads {
 public:
  static ReadThreads& Shared() {
    static constinit PerProcess<ReadThreads> threads;
    return threads.Get();
  }

  // Queues the request. Returns false if there is no thread, or no memory to queue it. Throws nothing.
  bool Add(ReadRequest* request, Mailbox* mailbox) {
    try {
      const MutexLock lock(mutex_);
      if (idle_ <= waiting_.size() && threads_ < kReadThreadsMax) StartOne();
      if (threads_ == 0) return false;
      waiting_.push_back({request, mailbox});
    } catch (const std::bad_alloc&) {
      return false;
    }
    wake_.NotifyOne();
    return true;
  }

 private:
  struct Job {
    ReadRequest* request;
    Mailbox* mailbox;
  };

  void StartOne() CAMBIUM_REQUIRES(mutex_) {
    std::thread thread = StartBackgroundThread("cambium-read", [this] { RunJobs(); });
    if (!thread.joinable()) return;  // the existing threads, or the caller, do the work
    thread.detach();
    ++threads_;
    ++idle_;
  }

  void RunJobs() {
    MutexLock lock(mutex_);
    for (;;) {
      while (waiting_.empty()) wake_.Wait(mutex_);
      const Job job = waiting_.front();
      waiting_.pop_front();
      assert(idle_ > 0 && idle_ <= threads_);
      --idle_;
      lock.Unlock();
      ServeRead(job.request);
      job.mailbox->Receive(job.request);
      lock.Lock();
      ++idle_;
    }
  }

  Mutex mutex_;
  CondVar wake_;
  std::deque<Job> waiting_ CAMBIUM_GUARDED_BY(mutex_);
  std::size_t threads_ CAMBIUM_GUARDED_BY(mutex_) = 0;
  std::size_t idle_ CAMBIUM_GUARDED_BY(mutex_) = 0;  // not reading just now
};

class ThreadReadQueue final : public ReadQueue {
 public:
  explicit ThreadReadQueue(std::size_t depth) : depth_(std::max<std::size_t>(depth, 1)) {}
  ~ThreadReadQueue() override {
    const MutexLock lock(mailbox_.mutex);
    while (mailbox_.outstanding > 0) mailbox_.arrived.Wait(mailbox_.mutex);
  }
  ThreadReadQueue(const ThreadReadQueue&) = delete;
  ThreadReadQueue& operator=(const ThreadReadQueue&) = delete;

  // Takes all memory before it submits the first request: an exception after that would lose requests that are in
  // flight.
  Status Submit(std::span<ReadRequest* const> requests) override {
    ReadThreads& threads = ReadThreads::Shared();
    for (ReadRequest* const request : requests) BeginRead(request);
    {
      const MutexLock lock(mailbox_.mutex);
      mailbox_.done.reserve(undelivered_ + requests.size());
    }
    for (ReadRequest* const request : requests) {
      {
        const MutexLock lock(mailbox_.mutex);
        while (mailbox_.outstanding >= depth_) mailbox_.arrived.Wait(mailbox_.mutex);
        ++mailbox_.outstanding;
      }
      ++undelivered_;
      if (threads.Add(request, &mailbox_)) continue;
      ServeRead(request);
      mailbox_.Receive(request);
    }
    return Status::OK();
  }

  Status Wait(std::vector<ReadRequest*>* done) override {
    if (undelivered_ == 0) return Status::OK();
    const MutexLock lock(mailbox_.mutex);
    while (mailbox_.done.empty()) mailbox_.arrived.Wait(mailbox_.mutex);
    Deliver(done);
    return Status::OK();
  }

  // Waits an hour at most: the clock counts nanoseconds in 64 bits, so a very long wait would overflow and end at once.
  Status WaitFor(std::uint64_t micros, std::vector<ReadRequest*>* done) override {
    constexpr std::uint64_t kLongestMicros = 3'600'000'000;
    if (undelivered_ == 0) return Status::OK();
    const MutexLock lock(mailbox_.mutex);
    if (mailbox_.done.empty() && micros > 0) {
      mailbox_.arrived.WaitFor(mailbox_.mutex, std::min(micros, kLongestMicros));
    }
    Deliver(done);
    return Status::OK();
  }

  Status SignalTo(int event_fd) override {
    const MutexLock lock(mailbox_.mutex);
    mailbox_.event_fd = event_fd;
    if (!mailbox_.done.empty()) AddToEventFd(event_fd);
    return Status::OK();
  }

  std::size_t in_flight() const override { return undelivered_; }
  std::size_t depth() const override { return depth_; }

 private:
  void Deliver(std::vector<ReadRequest*>* done) CAMBIUM_REQUIRES(mailbox_.mutex) {
    done->insert(done->end(), mailbox_.done.begin(), mailbox_.done.end());
    assert(undelivered_ >= mailbox_.done.size());
    undelivered_ -= mailbox_.done.size();
    mailbox_.done.clear();
  }

  const std::size_t depth_;
  std::size_t undelivered_ = 0;  // the caller's thread only
  Mailbox mailbox_;
};

}  // namespace

std::unique_ptr<ReadQueue> NewThreadReadQueue(std::size_t depth) { return std::make_unique<ThreadReadQueue>(depth); }

}  // namespace cambium
