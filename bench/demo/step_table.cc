#include "demo/step_table.h"

#include <unistd.h>

#include <cstdio>

namespace cambium::demo {
namespace {

constexpr char kHead[] =
    "step        what                                                                    MB  seconds    MB/s  result";

}  // namespace

void StepTable::Announce(const std::string& name) {
  if (isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "%s ...\r", name.c_str());
}

bool StepTable::Add(const std::string& name, StepReport report, double seconds) {
  const double megabytes = static_cast<double>(report.bytes) / 1e6;
  char numbers[64] = "";
  char row[256];
  if (report.bytes == 0) {
    std::snprintf(numbers, sizeof(numbers), "%9s %8.2f %7s", "", seconds, "");
  } else {
    std::snprintf(numbers, sizeof(numbers), "%9.1f %8.2f %7.0f", megabytes, seconds, megabytes / seconds);
  }
  std::snprintf(row, sizeof(row), "%-11s %-64s %s  ", name.c_str(), report.what.c_str(), numbers);
  rows_.push_back(row + (report.status.ok() ? "ok" : "FAILED: " + report.status.ToString()));
  ok_ = ok_ && report.status.ok();
  std::printf("%s\n", rows_.back().c_str());
  std::fflush(stdout);
  return report.status.ok();
}

std::string StepTable::Draw() const {
  std::string text = std::string(kHead) + "\n" + std::string(sizeof(kHead) - 1, '-') + "\n";
  for (const std::string& row : rows_) text += row + "\n";
  return text;
}

}  // namespace cambium::demo
