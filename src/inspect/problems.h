// Problems collects damage, so that an inspection can continue after it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cambium/status.h"

namespace cambium {

class Problems {
 public:
  // Number of kept lines. Further problems are only counted.
  static constexpr std::size_t kKeptMax = 1000;

  // Adds a problem, unless it equals the last one.
  void Add(std::string what) {
    if (!lines_.empty() && lines_.back() == what) return;
    ++count_;
    if (lines_.size() < kKeptMax) lines_.push_back(std::move(what));
  }
  // Notes Corruption as a problem and returns OK; returns any other status.
  Status Note(const Status& s) {
    if (!s.IsCorruption()) return s;
    Add(std::string(s.message()));
    return Status::OK();
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::size_t count_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace cambium
