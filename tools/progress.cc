#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "key_text.h"

namespace cambium::tool {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string ClockText(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::clamp(seconds, 0.0, 360'000.0));
  char text[32];
  if (whole >= 3600) {
    std::snprintf(text, sizeof(text), "%d:%02d:%02d", static_cast<int>(whole / 3600), static_cast<int>(whole / 60 % 60),
                  static_cast<int>(whole % 60));
  } else {
    std::snprintf(text, sizeof(text), "%d:%02d", static_cast<int>(whole / 60), static_cast<int>(whole % 60));
  }
  return text;
}

std::string AmountOf(std::uint64_t n, ProgressUnit unit) {
  return unit == ProgressUnit::kBytes ? ShortBytes(static_cast<double>(n)) : std::to_string(n);
}

}  // namespace

std::string ProgressLine(std::uint64_t done, std::uint64_t all, double seconds, ProgressUnit unit) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string line;
  if (all > 0) {
    constexpr std::size_t kWidth = 20;
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(all));
    const auto filled = static_cast<std::size_t>(part * kWidth);
    const std::string arrow = filled < kWidth ? ">" + std::string(kWidth - filled - 1, ' ') : "";
    char percent[16];
    std::snprintf(percent, sizeof(percent), "] %3d %%  ", static_cast<int>(part * 100));
    line = "[" + std::string(filled, '=') + arrow + percent;
  }
  line += AmountOf(done, unit);
  if (all > 0) line += " of " + AmountOf(all, unit);
  if (unit == ProgressUnit::kEntries) line += " entries";
  line += "  " + AmountOf(static_cast<std::uint64_t>(rate), unit) + "/s";
  if (all > done && rate > 0) line += "  " + ClockText(static_cast<double>(all - done) / rate) + " left";
  return line;
}

Progress::Progress(ProgressUnit unit) : unit_(unit), is_seen_(::isatty(STDERR_FILENO) == 1), begun_(Now()) {}

Progress::~Progress() {
  if (has_drawn_) std::fputs("\r\033[K", stderr);
}

bool Progress::is_due() const {
  constexpr double kPause = 0.1;
  return is_seen_ && Now() >= shown_ + kPause;
}

void Progress::Show(std::uint64_t done, std::uint64_t all) {
  if (!is_due()) return;
  const double now = Now();
  shown_ = now;
  has_drawn_ = true;
  std::fprintf(stderr, "\r\033[K%s", ProgressLine(done, all, now - begun_, unit_).c_str());
  std::fflush(stderr);
}

}  // namespace cambium::tool
