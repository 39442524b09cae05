#include "verify_report.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "describe.h"
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

void AppendList(const char* title, const std::vector<std::string>& lines, std::uint64_t count, std::string* out) {
  out->append(title).append(count == 0 ? ": none\n" : ": " + std::to_string(count) + "\n");
  for (const std::string& line : lines) out->append("  ").append(line).append("\n");
  if (count > lines.size()) out->append("  and ").append(std::to_string(count - lines.size())).append(" more\n");
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
        {"recovery mode", std::string(NameOf(outcome.recovery_mode)) +
                              (outcome.options.ok() ? "" : ", the default: " + outcome.options.ToString())},
    };
    for (const auto& [name, figure] : rows) {
      text.append("  ").append(name).append(17 - std::char_traits<char>::length(name), ' ').append(figure).append("\n");
    }
    if (outcome.prepared != 0) text += "  prepared         " + std::to_string(outcome.prepared) + (outcome.prepared == 1 ? " transaction\n" : " transactions\n");
    AppendList("problems", report.problems, report.problem_count, &text);
    AppendList("dead damage, without effect", report.dead_damage, report.dead_damage_count, &text);
    AppendList("notes", report.notes, report.note_count, &text);
    if (report.unreadable_count != 0) {
      AppendList("unreadable, not checked", report.unreadable, report.unreadable_count, &text);
    }
  }
  if (!outcome.status.ok()) {
    const bool is_told = report.unreadable_count != 0 && outcome.status.IsIOError();
    text.append(!began ? "" : is_told ? "the check is not complete: " : "the check could not continue: ");
    text.append(outcome.status.ToString()).append("\n");
  }
  return text;
}

std::string DrawJson(const VerifyOutcome& outcome) {
  const VerifyReport& report = outcome.report;
  const ExitCode code = ExitCodeOf(outcome);
  nlohmann::ordered_json json;
  json["path"] = outcome.path;
  json["comparator"] = nullptr;
  if (!outcome.comparator.empty()) json["comparator"] = outcome.comparator;
  json["options_known"] = outcome.options.ok();
  json["wal_recovery_mode"] = NameOf(outcome.recovery_mode);
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
  json["prepared_transactions"] = outcome.prepared;
  json["problem_count"] = report.problem_count;
  json["problems"] = report.problems;
  json["dead_damage_count"] = report.dead_damage_count;
  json["dead_damage"] = report.dead_damage;
  json["note_count"] = report.note_count;
  json["notes"] = report.notes;
  json["unreadable_count"] = report.unreadable_count;
  json["unreadable"] = report.unreadable;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace cambium::tool
