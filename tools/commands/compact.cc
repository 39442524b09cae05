// cambium compact DIR: makes a database as small as possible, with CompactLog.
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "cambium/compact_log.h"
#include "database.h"
#include "key_text.h"
#include "output.h"
#include "progress.h"

namespace cambium::tool {
namespace {

struct CompactFlags : DatabaseFlags {
  CompactLogOptions how;
  std::string codec;
  std::uint64_t min_blob_size = 0;
};

nlohmann::ordered_json FiguresJson(const CompactLogFigures& figures) {
  return {{"segments", figures.segments},           {"values", figures.values},
          {"bytes_read", figures.bytes_read},       {"bytes_written", figures.bytes_written},
          {"bytes_freed", figures.bytes_freed},     {"bytes_held", figures.bytes_held}};
}

std::string TextOf(const CompactLogFigures& figures) {
  return Bytes(figures.bytes_read) + " bytes read, " + Bytes(figures.bytes_written) + " written, " +
         Bytes(figures.bytes_freed) + " freed" +
         (figures.bytes_held > 0 ? ", " + Bytes(figures.bytes_held) + " held by second names" : "") + "; " +
         std::to_string(figures.values) + " values out of " + std::to_string(figures.segments) + " segments\n";
}

std::string TextOf(const CompactLogForecast& forecast) {
  return (forecast.is_exact ? "forecast:  " : "forecast, about:  ") + TextOf(forecast.figures);
}

int Run(const CompactFlags& flags) {
  DBOptions options;
  std::vector<ColumnFamilyDescriptor> families;
  if (const Status known = OptionsToWriteWith(flags, &options, &families); !known.ok()) return Fail(known, flags.json);
  CompactLogOptions how = flags.how;
  Progress progress;
  int said = kClean;
  how.on_forecast = [&](const CompactLogForecast& forecast) {
    if (!flags.json) said = Say(TextOf(forecast));
  };
  how.on_progress = [&](std::uint64_t done, std::uint64_t all) {
    progress.Show(done, all);
    return said == kClean;
  };
  CompactLogReport report;
  const Status done = CompactLog(options, flags.directory, families, how, &report);
  if (said != kClean) return said;
  // Corruption means damaged segments only; any other error ended the work early.
  const bool has_failed = !done.ok() && !(done.IsCorruption() && !report.damaged.empty());
  if (has_failed && report.damaged.empty()) return Fail(done, flags.json);
  if (flags.json) {
    nlohmann::ordered_json json{{"directory", flags.directory},
                                {"forecast", FiguresJson(report.forecast.figures)},
                                {"forecast_is_exact", report.forecast.is_exact}};
    if (!how.dry_run) json["fact"] = FiguresJson(report.fact);
    json["log_bytes_before"] = report.log_bytes_before;
    json["log_bytes_after"] = report.log_bytes_after;
    json["live_bytes"] = report.live_bytes;
    json["index_bytes_before"] = report.index_bytes_before;
    json["index_bytes_after"] = report.index_bytes_after;
    json["damaged"] = report.damaged;
    if (has_failed) json["error"] = done.ToString();
    const ExitCode code = Say(json);
    if (has_failed) return Fail(done, false);
    return code != kClean ? code : report.damaged.empty() ? kClean : kDamage;
  }
  std::string text;
  if (!how.dry_run) text += "fact:      " + TextOf(report.fact);
  text += "log:       " + Bytes(report.log_bytes_before) + " bytes" + (how.dry_run ? ", would be " : ", now ") +
          Bytes(report.log_bytes_after) + "; alive were " + Bytes(report.live_bytes) + "\n";
  if (!how.dry_run) {
    text += "index:     " + Bytes(report.index_bytes_before) + " bytes, now " + Bytes(report.index_bytes_after) + "\n";
  }
  for (const std::string& damaged : report.damaged) text += "damaged, and skipped: " + damaged + "\n";
  const ExitCode code = Say(text);
  if (code != kClean) return code;
  return report.damaged.empty() ? kClean : Fail(done, false);
}

}  // namespace

void AddCompact(CLI::App* app, int* exit_code) {
  auto flags = std::make_shared<CompactFlags>();
  CLI::App* command = app->add_subcommand(
      "compact", "Moves live values out of log segments that have garbage, and rewrites the index.");
  AddDirectory(command, flags.get());
  command->add_flag("--cluster", flags->how.cluster, "bring all values into key order");
  command
      ->add_option("--target-space-amp", flags->how.target_space_amp,
                   "stop when the log has this many bytes per live byte (default 1: no garbage is left)")
      ->check(CLI::Range(1.0, 1e9));
  static const std::map<std::string, CompressionType> kCodecs = {
      {"none", CompressionType::kNoCompression}, {"lz4", CompressionType::kLZ4Compression}, {"zstd", CompressionType::kZSTD}};
  CLI::Option* const codec =
      command->add_option("--recompress", flags->codec, "compress all values with this codec: none, lz4 or zstd")
          ->check(CLI::IsMember({"none", "lz4", "zstd"}));
  CLI::Option* const size =
      command
          ->add_option("--min-blob-size", flags->min_blob_size,
                       "values of at least this many bytes go to the log, smaller ones to the index; accepts 4k")
          ->transform(CLI::AsSizeValue(false));
  command->add_flag("--dry-run", flags->how.dry_run, "print the forecast and change nothing");
  AddDefaultOptions(command, flags.get());
  AddJson(command, flags.get());
  command->footer(
      "Examples: cambium compact DIR --dry-run\n"
      "          cambium compact DIR --target-space-amp 1.1\n"
      "          cambium compact DIR --cluster --recompress zstd\n"
      "The database is consistent after every step. If the command was interrupted, run it again to continue.");
  command->callback([flags, codec, size, exit_code] {
    if (codec->count() > 0) flags->how.recompress = kCodecs.at(flags->codec);
    if (size->count() > 0) flags->how.min_blob_size = flags->min_blob_size;
    *exit_code = Run(*flags);
  });
}

}  // namespace cambium::tool
