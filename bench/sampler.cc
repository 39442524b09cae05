#include "sampler.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "op_meter.h"
#include "process_stats.h"

namespace cambium::bench {

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
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, std::chrono::milliseconds(100), [this] { return stopped_; })) {
    lock.unlock();
    ++looks_;
    Look(looks_ % every_ == 0);
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
