// Progress: a line on the terminal that is overwritten as a phase goes on. Writes nothing where stderr is no terminal.
// TurnCount: where a command is in its turns, of all engines, rounds and runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace cambium::bench {

class Progress {
 public:
  explicit Progress(std::string title);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `fraction` of the work is done, 0 to 1.
  void Show(std::uint64_t ops, double seconds, double fraction);
  void Show(const std::string& text);

 private:
  std::string title_;
  bool on_terminal_;
};

class TurnCount {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // So many more are to come.
  void Expect(std::size_t turns) { all_ += turns; }
  // One begins now, and the one before it is through: ", turn 3 of 12, about 4 min left", this one included. As long as
  // those before it on average, which engines and runs are not; nothing is known of the first. "" of the only one.
  [[nodiscard]] std::string Begin(Time now);

 private:
  std::size_t all_ = 0;
  std::size_t through_ = 0;
  bool is_running_ = false;
  Time first_;
};

// "50 s", "12 min", "3.4 h".
[[nodiscard]] std::string RoughTime(double seconds);

}  // namespace cambium::bench
