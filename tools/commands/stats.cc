// cambium stats DIR: prints where the bytes are, and what would save some.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "database.h"
#include "describe.h"
#include "draw.h"
#include "inspect/savings.h"
#include "inspect/space_report.h"
#include "key_text.h"
#include "manifest/file_names.h"
#include "output.h"
#include "prepared.h"
#include "progress.h"

namespace cambium::tool {
namespace {

using Json = nlohmann::ordered_json;
using Rows = std::vector<std::vector<std::string>>;

struct StatsFlags : DatabaseFlags {
  double least_percent = 1;
};

std::string Text(std::uint64_t n) { return std::to_string(n); }
std::string PercentOf(std::uint64_t part, std::uint64_t all) {
  if (all == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof(text), "%.0f %%", 100 * static_cast<double>(part) / static_cast<double>(all));
  return text;
}

Json SpaceJson(const SizeHistogram& histogram) {
  Json json = Json::array();
  for (std::size_t i = 0; i < SizeHistogram::kBuckets; ++i) {
    if (histogram.counts[i] == 0) continue;
    const std::uint64_t from = i == 0 ? 0 : std::uint64_t{1} << (i - 1);
    json.push_back({{"from", from},
                    {"to", i == 0 ? 0 : from - 1 + from},
                    {"count", histogram.counts[i]},
                    {"bytes", histogram.bytes[i]}});
  }
  return json;
}

Json SpaceJson(const SegmentSpace& segment) {
  Json json{{"file", FileName(FileKindOf(segment.info.kind), segment.info.number)},
            {"kind", NameOf(segment.info.kind)},
            {"readable", segment.is_readable},
            {"bytes", segment.file_bytes},
            {"allocated", segment.allocated_bytes},
            {"live", segment.live_bytes},
            {"hidden", segment.hidden_bytes()},
            {"dead", segment.dead_bytes},
            {"pending", segment.pending_bytes},
            {"overhead", segment.overhead_bytes},
            {"holes", segment.hole_bytes},
            {"unused", segment.unused_bytes},
            {"pinned", segment.link_count > 1 ? segment.file_bytes : segment.pending_bytes},
            {"references", segment.references},
            {"names", segment.link_count},
            {"sealed", segment.info.sealed},
            {"generation", segment.info.generation}};
  Json& families = json["live_by_family"] = Json::object();
  for (const auto& [id, bytes] : segment.live_by_family) families[std::to_string(id)] = bytes;
  return json;
}

std::string TitleOf(const LayerSpace& layer) {
  if (layer.number == 0) return "tree";
  return (layer.level == 0 ? std::string() : "level " + Text(layer.level) + " ") +
         FileName(FileKind::kRun, layer.number);
}

Json SpaceJson(const LayerSpace& layer) {
  return {{"layer", TitleOf(layer)},
          {"level", layer.level},
          {"tier", layer.tier},
          {"height", layer.height},
          {"file_bytes", layer.file_bytes},
          {"entries", layer.entries},
          {"tombstones", layer.tombstones},
          {"range_deletes", layer.range_deletes},
          {"leaves", layer.leaves},
          {"branches", layer.branches},
          {"page_bytes", layer.page_bytes},
          {"raw_bytes", layer.raw_bytes},
          {"used_bytes", layer.used_bytes},
          {"filter_bytes", layer.filter_bytes},
          {"leaves_by_fill", layer.leaves_by_fill}};
}

Json SpaceJson(const FamilySpace& family) {
  Json json{{"id", family.id},
            {"name", family.name},
            {"index_type", NameOf(family.index_type)},
            {"page_size", family.page_size},
            {"complete", family.is_whole},
            {"keys", family.keys},
            {"not_flushed", family.not_flushed},
            {"inline_values", family.inline_values},
            {"inline_bytes", family.inline_bytes},
            {"separated_values", family.separated_values},
            {"separated_bytes", family.separated_bytes},
            {"large_values", family.large_values},
            {"large_bytes", family.large_bytes},
            {"account_bytes", family.account_bytes}};
  if (family.versions_since.has_value()) json["versions_since"] = *family.versions_since;
  json["layers"] = Json::array();
  for (const LayerSpace& layer : family.layers) json["layers"].push_back(SpaceJson(layer));
  json["index_segments"] = Json::array();
  for (const IndexSegmentInfo& segment : family.index_segments) {
    const std::uint64_t live = segment.live_units * family.page_size;
    json["index_segments"].push_back({{"file", FileName(FileKind::kIndex, segment.number)},
                                      {"bytes", segment.length},
                                      {"live", live},
                                      {"dead", segment.length - std::min(segment.length, live + family.page_size)}});
  }
  json["key_sizes"] = SpaceJson(family.key_sizes);
  json["value_sizes"] = SpaceJson(family.value_sizes);
  return json;
}

std::string Draw(const SizeHistogram& histogram, const char* what) {
  Rows rows = {{std::string(what) + " bytes", "count", "", "bytes", ""}};
  for (std::size_t i = 0; i < SizeHistogram::kBuckets; ++i) {
    if (histogram.counts[i] == 0) continue;
    const std::uint64_t from = i == 0 ? 0 : std::uint64_t{1} << (i - 1);
    rows.push_back({i <= 1 ? Text(from) : Text(from) + " - " + Text(from - 1 + from), Text(histogram.counts[i]),
                    PercentOf(histogram.counts[i], histogram.count()), Text(histogram.bytes[i]),
                    PercentOf(histogram.bytes[i], histogram.total())});
  }
  return DrawTable(rows);
}

std::string Draw(const FamilySpace& family) {
  std::string text =
      "\ncolumn family \"" + Escape(family.name) + "\" (" + NameOf(family.index_type) + "): " + Text(family.keys) +
      " keys" + (family.is_whole ? "" : ", as far as the index could be read") + ", " + Text(family.not_flushed) +
      " of them not flushed\n  " + Text(family.inline_values) + " values inline, " + Bytes(family.inline_bytes) + "; " +
      Text(family.separated_values) + " in the log, " + Bytes(family.separated_bytes) + "; " +
      Text(family.large_values) + " in files of their own, " + Bytes(family.large_bytes) + "\n";
  if (family.versions_since.has_value()) {
    text += "  keeps versions of inline values since operation " + Text(*family.versions_since) + "\n";
  }
  Rows rows = {{"layer", "bytes", "height", "entries", "tombstones", "ranges", "leaves", "branches", "fill", "filter"}};
  for (const LayerSpace& layer : family.layers) {
    rows.push_back({TitleOf(layer), Text(layer.file_bytes), Text(layer.height), Text(layer.entries),
                    Text(layer.tombstones), Text(layer.range_deletes), Text(layer.leaves), Text(layer.branches),
                    PercentOf(layer.used_bytes, layer.raw_bytes), Text(layer.filter_bytes)});
  }
  if (rows.size() > 1) text += DrawTable(rows);
  rows = {{"index segment", "bytes", "live"}};
  for (const IndexSegmentInfo& segment : family.index_segments) {
    rows.push_back({FileName(FileKind::kIndex, segment.number), Text(segment.length),
                    Text(segment.live_units * family.page_size)});
  }
  if (rows.size() > 1) text += DrawTable(rows);
  if (family.keys > 0) text += Draw(family.key_sizes, "key") + Draw(family.value_sizes, "value");
  return text;
}

std::string Draw(const std::vector<PreparedTransaction>& prepared) {
  if (prepared.empty()) return "";
  Rows rows = {{"prepared transaction", "operations", "locks", "bytes"}};
  for (const PreparedTransaction& each : prepared) {
    rows.push_back({Escape(each.name), Text(each.operations), Text(each.locks), Text(each.bytes)});
  }
  return "\n" + DrawTable(rows);
}

Json PreparedJson(const std::vector<PreparedTransaction>& prepared) {
  Json json = Json::array();
  for (const PreparedTransaction& each : prepared) {
    json.push_back(
        {{"name", each.name}, {"operations", each.operations}, {"locks", each.locks}, {"bytes", each.bytes}});
  }
  return json;
}

std::string Draw(const StatsFlags& flags, const SpaceReport& report, const std::vector<Saving>& savings,
                 const std::vector<PreparedTransaction>& prepared, const std::vector<std::string>& problems) {
  std::string text =
      flags.directory + ": " + Bytes(report.file_bytes) + " in files, " + Bytes(report.allocated_bytes) + " on disk\n";
  Rows rows = {{"files", "bytes", ""}};
  for (const auto& [kind, bytes] : report.bytes_by_kind) {
    rows.push_back({NameOf(kind), Text(bytes), PercentOf(bytes, report.file_bytes)});
  }
  if (report.orphan_bytes != 0) rows.push_back({"of them orphans", Text(report.orphan_bytes), ""});
  text += DrawTable(rows) + "\n";
  rows = {{"segment", "bytes", "live", "hidden", "dead", "pending", "overhead", "holes", "unused", "pinned"}};
  for (const SegmentSpace& s : report.segments) {
    rows.push_back({FileName(FileKindOf(s.info.kind), s.info.number), Text(s.file_bytes), Text(s.live_bytes),
                    Text(s.hidden_bytes()), Text(s.dead_bytes), Text(s.pending_bytes), Text(s.overhead_bytes),
                    Text(s.hole_bytes), Text(s.unused_bytes), Text(s.link_count > 1 ? s.file_bytes : s.pending_bytes)});
  }
  text += DrawTable(rows);
  for (const FamilySpace& family : report.families) text += Draw(family);
  text += Draw(prepared);
  text += "\npossible savings:";
  text += savings.empty() ? " none that could be computed\n" : "\n";
  for (const Saving& saving : savings) {
    text += "  " + Bytes(saving.bytes) + ": " + saving.what +
            (saving.family.empty() ? "" : " of \"" + Escape(saving.family) + "\"") + "\n    " + saving.how + "\n";
  }
  for (const std::string& problem : problems) text += "problem: " + problem + "\n";
  return text;
}

// Options of the report's families, in its order: those last in force, else the defaults.
std::vector<ColumnFamilyOptions> OptionsOfFamilies(const SpaceReport& report,
                                                   const std::vector<ColumnFamilyDescriptor>& known) {
  std::vector<ColumnFamilyOptions> options;
  for (const FamilySpace& family : report.families) {
    const auto its = std::ranges::find(known, family.name, &ColumnFamilyDescriptor::name);
    options.push_back(its == known.end() ? ColumnFamilyOptions() : its->options);
  }
  return options;
}

std::vector<std::string> NamesOf(const SpaceReport& report) {
  std::vector<std::string> names;
  for (const FamilySpace& family : report.families) names.push_back(family.name);
  return names;
}

int Stats(const StatsFlags& flags) {
  Result<std::unique_ptr<InspectedDatabase>> opened = InspectedDatabase::Open(FileSystem::Default(), flags.directory);
  if (!opened.ok()) return Fail(opened.status(), flags.json);
  InspectedDatabase& database = **opened;
  if (const Status s = database.OpenFiles(); !s.ok()) return Fail(s, flags.json);
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  const Status known = OptionsOf(flags.directory, &options, &families);
  ValueSample sample;
  const Result<SpaceReport> report = [&] {
    Progress progress;
    return ReportSpace(&database, &sample,
                       [&progress](std::uint64_t done, std::uint64_t all) { progress.Show(done, all); });
  }();
  if (!report.ok()) return Fail(report.status(), flags.json);
  const std::vector<ColumnFamilyOptions> each = OptionsOfFamilies(*report, families);
  const Result<GcPlan> plan = PlanGc(&database, options, families, {});
  if (!plan.ok()) return Fail(plan.status(), flags.json);
  const auto least = static_cast<std::uint64_t>(flags.least_percent / 100 * static_cast<double>(report->file_bytes));
  const Result<std::vector<Saving>> savings = FindSavings(&database, *report, sample, each, *plan, least);
  if (!savings.ok()) return Fail(savings.status(), flags.json);

  std::vector<PreparedTransaction> prepared;
  std::vector<std::string> problems = database.problems().lines();
  if (const Status s = FindPrepared(flags.directory, NamesOf(*report), &prepared); !s.ok()) {
    problems.push_back("prepared transactions: " + s.ToString());
  }
  const ExitCode found = problems.empty() ? kClean : kDamage;
  ExitCode said = kClean;
  if (flags.json) {
    Json json{{"directory", flags.directory}, {"bytes", report->file_bytes}, {"allocated", report->allocated_bytes}};
    json["options_known"] = known.ok();
    json["wal_recovery_mode"] = NameOf(database.recovery_mode());
    for (const auto& [kind, bytes] : report->bytes_by_kind) json["files"][NameOf(kind)] = bytes;
    json["orphan_bytes"] = report->orphan_bytes;
    json["segments"] = Json::array();
    for (const SegmentSpace& segment : report->segments) json["segments"].push_back(SpaceJson(segment));
    json["families"] = Json::array();
    for (const FamilySpace& family : report->families) json["families"].push_back(SpaceJson(family));
    json["prepared_transactions"] = PreparedJson(prepared);
    json["savings"] = Json::array();
    for (const Saving& saving : *savings) {
      json["savings"].push_back(
          {{"family", saving.family}, {"what", saving.what}, {"bytes", saving.bytes}, {"how", saving.how}});
    }
    json["problems"] = problems;
    said = Say(json);
  } else {
    said = Say(Draw(flags, *report, *savings, prepared, problems) + "recovery mode: " + NameOf(database.recovery_mode()) + "\n" +
               (known.ok() ? "" : "options are unknown, defaults are assumed: " + known.ToString() + "\n"));
  }
  return said == kClean ? found : said;
}

}  // namespace

void AddStats(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<StatsFlags>();
  CLI::App* command = app->add_subcommand(
      "stats", "Shows where the bytes are, per segment, layer and family, and what would save some. Writes nothing.");
  AddDirectory(command, flags.get());
  command->add_option("--least", flags->least_percent, "list no saving below this percentage of the files (default: 1)")
      ->check(CLI::Range(0.0, 100.0));
  AddJson(command, flags.get());
  command->footer(
      "Example: cambium stats DIR\n"
      "The bytes of a segment are the sum of live (by its account), dead, pending (not flushed), overhead (header,\n"
      "footer), holes (punched values) and unused (after the end of the log). hidden is the part of live that only\n"
      "older entries refer to. pinned cannot be freed here: pending bytes, and files with a second name. All index\n"
      "pages are read, but of the values only a sample of 256 per family, always the same. Each saving says how it was\n"
      "computed.");
  command->callback([flags, exit_code] { *exit_code = Stats(*flags); });
}

}  // namespace cambium::tool
