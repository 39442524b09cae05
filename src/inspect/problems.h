// Problems: damage that was met on the way, and that what follows is looked at all the same.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "cambium/status.h"

namespace cambium {

class Problems {
 public:
  // A file that is nothing but damage has no more to say after so many.
  static constexpr std::size_t kKeptMax = 1000;

  // One that was met just now is met once.
  void Add(std::string what) {
    if (!lines_.empty() && lines_.back() == what) return;
    ++count_;
    if (lines_.size() < kKeptMax) lines_.push_back(std::move(what));
  }
  // Damage is noted, and OK is returned; any other error is the caller's.
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
