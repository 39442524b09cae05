// IntervalReport: writes the speed of a phase as CSV while it runs, one line per interval.
#pragma once

#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "cambium/status.h"

namespace cambium::bench {

// The columns are "engine,benchmark,round,secs_elapsed,interval_qps": three that name the phase, then db_bench's. One
// thread.
class IntervalReport {
 public:
  // Returns whether `file` can be written, before anything runs.
  static Status CheckFile(const std::string& file) {
    std::FILE* const opened = std::fopen(file.c_str(), "a");
    if (opened == nullptr) return Status::IOError("cannot write " + file + ": " + std::strerror(errno));
    std::fclose(opened);
    return {};
  }

  // Appends to `file`, and writes the head if the file is empty. `interval`: seconds; 0: nothing is written. `what`:
  // the first columns of each line. Errors are reported on stderr and do not end the run.
  IntervalReport(const std::string& file, std::uint64_t interval, std::string what)
      : interval_(interval), path_(file), what_(std::move(what)) {
    if (interval_ == 0) return;
    file_ = std::fopen(path_.c_str(), "a");
    if (file_ == nullptr) {
      TellFailure();
    } else if (std::ftell(file_) == 0) {
      std::fputs("engine,benchmark,round,secs_elapsed,interval_qps\n", file_);
    }
  }
  ~IntervalReport() {
    if (file_ == nullptr) return;
    const bool failed = std::ferror(file_) != 0;
    if (std::fclose(file_) != 0 || failed) TellFailure();
  }
  IntervalReport(const IntervalReport&) = delete;
  IntervalReport& operator=(const IntervalReport&) = delete;

  // `ops` operations are done after `seconds`. Writes a line if an interval has passed.
  void Look(double seconds, std::uint64_t ops) {
    if (file_ == nullptr || seconds < last_seconds_ + static_cast<double>(interval_)) return;
    std::fprintf(file_, "%s,%.0f,%.0f\n", what_.c_str(), seconds,
                 static_cast<double>(ops - last_ops_) / (seconds - last_seconds_));
    std::fflush(file_);
    last_seconds_ = seconds;
    last_ops_ = ops;
  }

 private:
  void TellFailure() const {
    std::fprintf(stderr, "cambium_bench: cannot write %s: %s\n", path_.c_str(), std::strerror(errno));
  }

  const std::uint64_t interval_;
  const std::string path_;
  const std::string what_;
  std::FILE* file_ = nullptr;
  double last_seconds_ = 0;
  std::uint64_t last_ops_ = 0;
};

}  // namespace cambium::bench
