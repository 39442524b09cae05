#include "demo/step_table.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

namespace cambium::demo {
namespace {

// Returns "  123.4     1.50      82": megabytes if `with_bytes`, seconds, megabytes per second.
std::string Numbers(const StepReport& report, double seconds, bool with_bytes) {
  const double megabytes = static_cast<double>(report.bytes) / 1e6;
  char text[64];
  std::string numbers;
  if (with_bytes) {
    std::snprintf(text, sizeof(text), "%9.1f ", megabytes);
    numbers = report.bytes == 0 ? std::string(10, ' ') : text;
  }
  std::snprintf(text, sizeof(text), "%8.2f %7.0f", seconds, megabytes / seconds);
  if (report.bytes == 0) std::snprintf(text, sizeof(text), "%8.2f %7s", seconds, "");
  return numbers + text;
}

std::string Padded(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text + " ";
}

}  // namespace

void StepTable::Announce(const std::string& name) {
  if (isatty(STDERR_FILENO) == 1) std::fprintf(stderr, "%s ...\r", name.c_str());
}

bool StepTable::Add(const std::string& name, StepReport report, double seconds) {
  const bool ok = report.status.ok();
  std::printf("%s%s%s  %s\n", Padded(name, 12).c_str(), Padded(report.what, 65).c_str(),
              Numbers(report, seconds, true).c_str(), ok ? "ok" : ("FAILED: " + report.status.ToString()).c_str());
  std::fflush(stdout);
  ok_ = ok_ && ok;
  rows_.push_back({name, std::move(report), seconds});
  return ok;
}

std::string StepTable::Draw(const std::vector<Column>& columns) {
  std::string head = Padded("step", 12) + Padded("what", 65) + "       MB ";
  for (const Column& column : columns) {
    char text[64];
    std::snprintf(text, sizeof(text), "%6s s %7s  %-7s", column.name.c_str(), "MB/s", "");
    head += text;
  }
  std::string text = head + "\n" + std::string(head.size(), '-') + "\n";
  const std::vector<Row>& first = columns.front().table->rows_;
  for (std::size_t i = 0; i < first.size(); ++i) {
    text += Padded(first[i].name, 12) + Padded(first[i].report.what, 65);
    const std::string with_bytes = Numbers(first[i].report, first[i].seconds, true);
    text += with_bytes.substr(0, 10);
    std::string others;
    for (const Column& column : columns) {
      const std::vector<Row>& rows = column.table->rows_;
      if (i >= rows.size()) {
        text += Padded("", 25);
        continue;
      }
      text += Numbers(rows[i].report, rows[i].seconds, false) + "  " +
              Padded(rows[i].report.status.ok() ? "ok" : "FAILED", 7);
      if (!rows[i].report.status.ok()) {
        others += Padded("", 12) + column.name + ": " + rows[i].report.status.ToString() + "\n";
      } else if (rows[i].report.what != first[i].report.what) {
        others += Padded("", 12) + column.name + ": " + rows[i].report.what + "\n";
      }
    }
    text += "\n" + others;
  }
  return text;
}

}  // namespace cambium::demo
