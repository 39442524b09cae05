// Progress: a line on the terminal that is overwritten while a phase runs. Writes nothing if stderr is no terminal.
// TurnCount: counts the turns of a command, over all engines, rounds and runs.
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

  // `fraction`: how much of the work is done, 0 to 1.
  void Show(std::uint64_t ops, double seconds, double fraction);
  void Show(const std::string& text);

 private:
  std::string title_;
  bool on_terminal_;
};

class TurnCount {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Adds to the number of turns to come.
  void Expect(std::size_t turns) { all_ += turns; }
  // Call this when a turn begins; then the previous one is done. Returns ", turn 3 of 12, about 4 min left", this turn
  // included. The estimate assumes that turns take as long as the previous ones on average, although engines and runs
  // differ; the first turn has none. Returns "" if there is only one turn.
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
