#include "meter/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

namespace cambium::bench {

Progress::Progress(std::string title) : title_(std::move(title)), on_terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (on_terminal_) std::fputs("\r\033[K", stderr);
}

void Progress::Show(std::uint64_t ops, double seconds, double fraction) {
  if (!on_terminal_) return;
  fraction = std::clamp(fraction, 0.0, 1.0);
  char text[128];
  int n = std::snprintf(text, sizeof(text), "%3.0f %%, %.0f ops/sec", fraction * 100,
                        seconds > 0 ? static_cast<double>(ops) / seconds : 0.0);
  if (fraction > 0.001 && n > 0) {
    std::snprintf(text + n, sizeof(text) - static_cast<std::size_t>(n), ", %.0f s to go",
                  seconds / fraction * (1 - fraction));
  }
  Show(text);
}

void Progress::Show(const std::string& text) {
  if (!on_terminal_) return;
  std::fprintf(stderr, "\r\033[K%s: %s", title_.c_str(), text.c_str());
  std::fflush(stderr);
}

std::string TurnCount::Begin(Time now) {
  through_ += is_running_ ? 1 : 0;
  if (!is_running_) first_ = now;
  is_running_ = true;
  if (all_ < 2) return {};
  std::string text = ", turn " + std::to_string(through_ + 1) + " of " + std::to_string(all_);
  if (through_ == 0 || through_ >= all_) return text;
  const double taken = std::chrono::duration<double>(now - first_).count();
  const double left = taken / static_cast<double>(through_) * static_cast<double>(all_ - through_);
  return text + ", about " + RoughTime(left) + " left";
}

std::string RoughTime(double seconds) {
  char text[32];
  if (seconds < 90) {
    std::snprintf(text, sizeof(text), "%.0f s", seconds);
  } else if (seconds < 90 * 60) {
    std::snprintf(text, sizeof(text), "%.0f min", seconds / 60);
  } else {
    std::snprintf(text, sizeof(text), "%.1f h", seconds / 3600);
  }
  return text;
}

}  // namespace cambium::bench
