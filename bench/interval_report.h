// IntervalReport: the speed of every so many seconds, a line of CSV each, while a phase runs.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>

namespace cambium::bench {

// "engine,benchmark,round,secs_elapsed,interval_qps": db_bench's columns, behind what keeps engines apart. One thread.
class IntervalReport {
 public:
  // Appends to `file`; `interval` of 0: nothing is written. The first one of a run writes the head.
  IntervalReport(const std::string& file, std::uint64_t interval, std::string what)
      : interval_(interval), what_(std::move(what)) {
    if (interval_ == 0) return;
    file_ = std::fopen(file.c_str(), "a");
    if (file_ != nullptr && std::ftell(file_) == 0) std::fputs("engine,benchmark,round,secs_elapsed,interval_qps\n", file_);
  }
  ~IntervalReport() {
    if (file_ != nullptr) std::fclose(file_);
  }
  IntervalReport(const IntervalReport&) = delete;
  IntervalReport& operator=(const IntervalReport&) = delete;

  // What is through after `seconds`.
  void Look(double seconds, std::uint64_t ops) {
    if (file_ == nullptr || seconds < last_seconds_ + static_cast<double>(interval_)) return;
    std::fprintf(file_, "%s,%.0f,%.0f\n", what_.c_str(), seconds,
                 static_cast<double>(ops - last_ops_) / (seconds - last_seconds_));
    std::fflush(file_);
    last_seconds_ = seconds;
    last_ops_ = ops;
  }

 private:
  const std::uint64_t interval_;
  const std::string what_;
  std::FILE* file_ = nullptr;
  double last_seconds_ = 0;
  std::uint64_t last_ops_ = 0;
};

}  // namespace cambium::bench
