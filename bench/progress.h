// Progress: a line on the terminal that is overwritten as a phase goes on. Writes nothing where stderr is no terminal.
#pragma once

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

}  // namespace cambium::bench
