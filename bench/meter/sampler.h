// Sampler: a thread that records the operations done and the bytes on disk while a phase runs.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace cambium::bench {

// The state at one moment.
struct Sample {
  double seconds = 0;       // since the phase began
  std::uint64_t ops = 0;    // done so far
  std::uint64_t disk_bytes = 0;  // blocks of all files; 0 if the disk is not sampled
};

// Samples ten times a second, less often if a look is slow: a directory of thousands of files costs milliseconds, and
// the sampler uses at most a fiftieth of one processor. At most kSamplesMax samples are kept, however long the phase:
// if there are more, every second sample is dropped, and from then on only half as many looks become samples. The peak
// covers all looks.
class Sampler {
 public:
  static constexpr std::size_t kSamplesMax = 600;

  // `ops` is called by the sampler's thread. If `path` is empty, the disk is not sampled.
  Sampler(std::string path, std::function<std::uint64_t()> ops);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Takes a last sample and ends the thread.
  void Stop();
  // Only after Stop().
  [[nodiscard]] std::uint64_t disk_peak() const { return disk_peak_; }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }

  // Processor time of the sampler's thread so far, which no engine is charged for.
  [[nodiscard]] double user_cpu_s() const { return user_cpu_s_.load(); }
  [[nodiscard]] double sys_cpu_s() const { return sys_cpu_s_.load(); }

 private:
  void Run();
  void Look(bool keep);

  const std::string path_;
  const std::function<std::uint64_t()> ops_;
  const std::uint64_t begin_nanos_;
  std::mutex mutex_;  // guards stopped_
  std::condition_variable stop_;
  bool stopped_ = false;
  // Used by the thread until it has ended, then by the caller of Stop().
  std::uint64_t looks_ = 0;
  std::uint64_t every_ = 1;  // one of this many looks is kept
  std::uint64_t disk_peak_ = 0;
  std::vector<Sample> samples_;
  std::atomic<double> user_cpu_s_{0};
  std::atomic<double> sys_cpu_s_{0};
  std::thread thread_;
};

// Returns the processor time in seconds that the running samplers of this process have used so far. Code that judges by
// the processor time of the process whether an engine is quiet subtracts it.
double SamplerCpuSeconds();

}  // namespace cambium::bench
