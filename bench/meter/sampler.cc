#include "meter/sampler.h"

#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "meter/op_meter.h"
#include "system/process_stats.h"

namespace cambium::bench {

namespace {

constexpr std::chrono::nanoseconds kInterval = std::chrono::milliseconds(100);
constexpr int kRestsPerLook = 50;

double Seconds(const timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

// Clocks of the samplers' threads.
std::mutex clocks_mutex;
std::vector<clockid_t> clocks;  // guarded by clocks_mutex

// Lists the calling thread's clock for its own lifetime.
class ListedClock {
 public:
  ListedClock() {
    const std::lock_guard lock(clocks_mutex);
    is_known_ = pthread_getcpuclockid(pthread_self(), &clock_) == 0;
    if (is_known_) clocks.push_back(clock_);
  }
  ~ListedClock() {
    const std::lock_guard lock(clocks_mutex);
    if (is_known_) std::erase(clocks, clock_);
  }
  ListedClock(const ListedClock&) = delete;
  ListedClock& operator=(const ListedClock&) = delete;

 private:
  clockid_t clock_{};
  bool is_known_ = false;
};

}  // namespace

double SamplerCpuSeconds() {
  const std::lock_guard lock(clocks_mutex);
  double seconds = 0;
  for (const clockid_t clock : clocks) {
    timespec time{};
    if (clock_gettime(clock, &time) == 0) seconds += Seconds(time);
  }
  return seconds;
}

Sampler::Sampler(std::string path, std::function<std::uint64_t()> ops)
    : path_(std::move(path)), ops_(std::move(ops)), begin_nanos_(NowNanos()), thread_([this] { Run(); }) {}

Sampler::~Sampler() { Stop(); }

void Sampler::Look(bool keep) {
  Sample sample;
  sample.ops = ops_();
  if (!path_.empty()) sample.disk_bytes = DiskBytes(path_);
  sample.seconds = static_cast<double>(NowNanos() - begin_nanos_) * 1e-9;
  disk_peak_ = std::max(disk_peak_, sample.disk_bytes);
  if (!keep) return;
  samples_.push_back(sample);
  if (samples_.size() < kSamplesMax) return;
  for (std::size_t i = 0; 2 * i < samples_.size(); ++i) samples_[i] = samples_[2 * i];
  samples_.resize((samples_.size() + 1) / 2);
  every_ *= 2;
}

void Sampler::Run() {
  const ListedClock listed;
  std::chrono::nanoseconds interval = kInterval;
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, interval, [this] { return stopped_; })) {
    lock.unlock();
    ++looks_;
    const std::uint64_t begin = NowNanos();
    Look(looks_ % every_ == 0);
    interval = std::max(kInterval, std::chrono::nanoseconds(NowNanos() - begin) * kRestsPerLook);
    if (rusage used{}; getrusage(RUSAGE_THREAD, &used) == 0) {
      user_cpu_s_.store(Seconds(used.ru_utime));
      sys_cpu_s_.store(Seconds(used.ru_stime));
    }
    lock.lock();
  }
}

void Sampler::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
  }
  stop_.notify_all();
  thread_.join();
  Look(true);
}

}  // namespace cambium::bench
