#include "verify_report.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "key_text.h"
#include "output.h"

namespace cambium::tool {
namespace {

const char* WordFor(ExitCode code) {
  switch (code) {
    case kClean: return "clean";
    case kDamage: return "damaged";
    case kLocked: return "locked";
    default: return "cannot be verified";
  }
}

void AppendList(const char* title, const std::vector<std::string>& lines, std::string* out) {
  out->append(title).append(lines.empty() ? ": none\n" : ": " + std::to_string(lines.size()) + "\n");
  for (const std::string& line : lines) out->append("  ").append(line).append("\n");
}

}  // namespace

ExitCode ExitCodeOf(const VerifyOutcome& outcome) {
  if (!outcome.report.problems.empty()) return kDamage;
  return ExitCodeOf(outcome.status);
}

std::string DrawText(const VerifyOutcome& outcome) {
  const VerifyReport& report = outcome.report;
  std::string text = outcome.path + ": " + WordFor(ExitCodeOf(outcome)) + "\n";
  const bool began = outcome.status.ok() || report.files != 0 || !report.problems.empty();
  if (began) {
    const std::vector<std::pair<const char*, std::string>> rows = {
        {"files", std::to_string(report.files)},
        {"bytes read", Bytes(report.bytes_read)},
        {"pages", std::to_string(report.pages)},
        {"index entries", std::to_string(report.entries)},
        {"log records", std::to_string(report.records)},
        {"live references", std::to_string(report.live_references)},
        {"live bytes", Bytes(report.live_bytes)},
        {"values", outcome.deep ? "every one read" : "not read (--deep reads them)"},
    };
    for (const auto& [name, figure] : rows) {
      text.append("  ").append(name).append(17 - std::char_traits<char>::length(name), ' ').append(figure).append("\n");
    }
    AppendList("problems", report.problems, &text);
    AppendList("dead damage, which nothing needs", report.dead_damage, &text);
    AppendList("notes", report.notes, &text);
  }
  if (!outcome.status.ok()) {
    text.append(began ? "the check could not go on: " : "").append(outcome.status.ToString()).append("\n");
  }
  return text;
}

std::string DrawJson(const VerifyOutcome& outcome) {
  const VerifyReport& report = outcome.report;
  const ExitCode code = ExitCodeOf(outcome);
  nlohmann::ordered_json json;
  json["path"] = outcome.path;
  json["comparator"] = outcome.comparator;
  json["deep"] = outcome.deep;
  json["result"] = code == kCannot ? "cannot" : WordFor(code);
  json["exit_code"] = static_cast<int>(code);
  json["complete"] = outcome.status.ok();
  json["error"] = outcome.status.ok() ? nlohmann::ordered_json() : nlohmann::ordered_json(outcome.status.ToString());
  json["files"] = report.files;
  json["bytes_read"] = report.bytes_read;
  json["pages"] = report.pages;
  json["entries"] = report.entries;
  json["records"] = report.records;
  json["live_references"] = report.live_references;
  json["live_bytes"] = report.live_bytes;
  json["problems"] = report.problems;
  json["dead_damage"] = report.dead_damage;
  json["notes"] = report.notes;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace cambium::tool
