// SpaceWatch: how much a directory takes on disk while a workload runs, looked at from outside ten times a second.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace cambium::bench {

class SpaceWatch {
 public:
  explicit SpaceWatch(std::string path);
  ~SpaceWatch();
  SpaceWatch(const SpaceWatch&) = delete;
  SpaceWatch& operator=(const SpaceWatch&) = delete;

  // The most that was seen, the moment of this call included. Ends the watch.
  std::uint64_t Stop();

 private:
  void Look();

  const std::string path_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable stop_;
  bool stopped_ = false;
  std::uint64_t most_ = 0;
  std::thread thread_;
};

}  // namespace cambium::bench
