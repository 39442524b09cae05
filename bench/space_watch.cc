#include "space_watch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "process_stats.h"

namespace cambium::bench {

SpaceWatch::SpaceWatch(std::string path) : path_(std::move(path)), thread_([this] { Look(); }) {}

SpaceWatch::~SpaceWatch() { static_cast<void>(Stop()); }

void SpaceWatch::Look() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, std::chrono::milliseconds(100), [this] { return stopped_; })) {
    most_ = std::max(most_, DiskBytes(path_));
  }
}

std::uint64_t SpaceWatch::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stop_.notify_all();
  if (thread_.joinable()) thread_.join();
  most_ = std::max(most_, DiskBytes(path_));
  return most_;
}

}  // namespace cambium::bench
