// Sampler: how a phase goes on over time: operations that are through, bytes on disk. Looked at from outside.
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

// What was so at one moment.
struct Sample {
  double seconds = 0;       // since the phase began
  std::uint64_t ops = 0;    // until then
  std::uint64_t disk_bytes = 0;  // blocks of all files; 0 if nobody asked
};

// Looks ten times a second, less often where a look takes long: a directory of thousands of files costs milliseconds,
// and a fiftieth of one processor is all that looking may take. However long the phase, at most kSamplesMax samples are
// kept: when there are more, every second one goes, and from then on so many fewer are taken. The peak is of all looks.
class Sampler {
 public:
  static constexpr std::size_t kSamplesMax = 600;

  // `ops` is called by a thread of the sampler. An empty `path`: no disk is looked at.
  Sampler(std::string path, std::function<std::uint64_t()> ops);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Ends it, with one last sample of this moment.
  void Stop();
  // These after Stop().
  [[nodiscard]] std::uint64_t disk_peak() const { return disk_peak_; }
  [[nodiscard]] const std::vector<Sample>& samples() const { return samples_; }

  // What looking has cost so far, which is nobody's work: processor time of the thread.
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
  // Of the thread until it has ended, then of whoever asks.
  std::uint64_t looks_ = 0;
  std::uint64_t every_ = 1;  // of so many looks one is kept
  std::uint64_t disk_peak_ = 0;
  std::vector<Sample> samples_;
  std::atomic<double> user_cpu_s_{0};
  std::atomic<double> sys_cpu_s_{0};
  std::thread thread_;
};

// Processor time in seconds that the samplers of this process which are at work have used until this moment. Whoever
// judges by the processor time of the process whether it rests takes that away.
double SamplerCpuSeconds();

}  // namespace cambium::bench
