// Progress of long work, for people who watch it.
#pragma once

#include <cstdint>
#include <string>

namespace cambium::tool {

enum class ProgressUnit : unsigned char { kBytes, kEntries };

// "[=====>    ]  52 %  1.2 GiB of 2.3 GiB  310.0 MiB/s  0:04 left". Without a total, only bytes and rate. Entries are
// written in full: "1200 of 2300 entries  310/s".
[[nodiscard]] std::string ProgressLine(std::uint64_t done, std::uint64_t all, double seconds,
                                       ProgressUnit unit = ProgressUnit::kBytes);

// Draws on stderr at most ten times a second; draws nothing if stderr is not a terminal.
class Progress {
 public:
  explicit Progress(ProgressUnit unit = ProgressUnit::kBytes);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  // Returns whether Show would draw. Callers compute expensive figures only then.
  [[nodiscard]] bool is_due() const;
  void Show(std::uint64_t done, std::uint64_t all);

 private:
  const ProgressUnit unit_;
  const bool is_seen_;
  double begun_ = 0;
  double shown_ = -1;
  bool has_drawn_ = false;
};

}  // namespace cambium::tool
