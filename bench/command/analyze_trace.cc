// `cambium_bench trace analyze`: shows what a trace consists of: figures, files, text, and a mixgraph command.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "command/trace_command.h"
#include "trace/mixgraph_fit.h"
#include "trace/output.h"
#include "trace/source.h"
#include "trace/statistics.h"
#include "trace/text.h"
#include "util/result.h"

namespace cambium::bench {
namespace {

void AddOptions(CLI::App* app, AnalyzeFlags* f) {
  app->add_option("--trace_path,--trace_file", f->trace_path, "the trace: a recording or text")
      ->required()
      ->check(CLI::ExistingFile);
  app->add_option("--output_dir", f->output_dir, "directory for the files of the following options");
  app->add_option("--output_prefix", f->output_prefix, "prefix of their names")->capture_default_str();
  app->add_flag("--output_key_stats", f->output_key_stats, "write every key with its number of accesses");
  app->add_flag("--output_access_count_stats", f->output_access_count_stats,
                "write how many keys have each number of accesses");
  app->add_flag("--output_value_distribution", f->output_value_distribution, "write the distribution of value sizes");
  app->add_option("--value_interval", f->value_interval, "width in bytes of its intervals")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
      ->capture_default_str();
  app->add_flag("--output_scan_lengths", f->output_scan_lengths, "write the distribution of scan lengths");
  app->add_flag("--output_time_series", f->output_time_series, "write the time and key of each access");
  app->add_flag("--output_qps_stats", f->output_qps_stats, "write the operations of each second");
  app->add_flag("--output_key_ranges", f->output_key_ranges,
                "write a heat map: accesses to each range of keys over time");
  app->add_option("--heat_map_seconds", f->heat_map_seconds, "seconds per line of the heat map")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
      ->capture_default_str();
  app->add_option("--output_prefix_cut", f->output_prefix_cut,
                  "write accesses by prefixes of keys of this many bytes; 0: no such file")
      ->capture_default_str();
  app->add_flag("--convert_to_human_readable_trace", f->convert_to_human_readable_trace,
                "write the whole trace as text: ts op key vlen scanlen");
  app->add_option("--print_top_k_access", f->print_top_k_access, "number of warmest keys to print")
      ->capture_default_str();
  app->add_option("--sample_ratio", f->sample_ratio, "share of the operations to analyze, chosen at random")
      ->check(CLI::Range(1e-9, 1.0))
      ->capture_default_str();
  app->add_option("--seed", f->seed, "seed of that choice")->capture_default_str();
  app->add_option("--num", f->num, "number of keys in the database; 0: as many as the trace shows")
      ->capture_default_str();
  app->add_option("--keyrange_num", f->keyrange_num, "number of key ranges for mixgraph")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
      ->capture_default_str();
  app->add_option("--analyze_get", f->analyze_get, "analyze gets")->capture_default_str();
  app->add_option("--analyze_multiget", f->analyze_multiget, "analyze MultiGets")->capture_default_str();
  app->add_option("--analyze_put", f->analyze_put, "analyze puts")->capture_default_str();
  app->add_option("--analyze_delete", f->analyze_delete, "analyze deletes")->capture_default_str();
  app->add_option("--analyze_single_delete", f->analyze_single_delete, "analyze single deletes")->capture_default_str();
  app->add_option("--analyze_range_delete", f->analyze_range_delete, "analyze range deletes")->capture_default_str();
  app->add_option("--analyze_iterator", f->analyze_iterator, "analyze scans")->capture_default_str();
  app->add_option("--json", f->json, "write all of it to this file as one JSON object");
}

Status WriteJson(const std::string& path, const nlohmann::ordered_json& json) {
  std::ofstream out(path);
  out << json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
  out.close();
  return out ? Status() : Status::IOError("cannot write " + path + ": " + std::strerror(errno));
}

Status Analyze(const AnalyzeFlags& flags) {
  std::unique_ptr<TraceSource> source;
  CAMBIUM_RETURN_IF_ERROR(OpenTrace(flags.trace_path, &source));
  OutputFile text;
  if (flags.convert_to_human_readable_trace) {
    CAMBIUM_RETURN_IF_ERROR(text.Open(flags, "human_readable_trace"));
    text.Line(std::string(kTraceTextTitle));
  }
  TraceStatistics statistics;
  OpChoice choice(flags);
  TracedOp op;
  Status read;
  while ((read = source->Next(&op)).ok()) {
    if (text.is_open()) text.Line(ToTraceLine(op));
    if (choice.Takes(op)) statistics.Add(op);
  }
  if (!read.IsIncomplete()) return read;
  if (text.is_open()) CAMBIUM_RETURN_IF_ERROR(text.End());
  const MixgraphFit fit = FitMixgraph(statistics, flags.num, flags.keyrange_num);
  CAMBIUM_RETURN_IF_ERROR(WriteStatistics(flags, statistics));
  if (flags.output_time_series || flags.output_key_ranges) CAMBIUM_RETURN_IF_ERROR(WriteSecondWalk(flags, statistics, fit));
  std::printf("%s", SummaryOf(flags, source->facts(), statistics, fit).c_str());
  if (!flags.json.empty()) {
    CAMBIUM_RETURN_IF_ERROR(WriteJson(flags.json, JsonOf(flags, source->facts(), statistics, fit)));
  }
  return {};
}

}  // namespace

int AnalyzeTrace(int argc, char** argv) {
  AnalyzeFlags flags;
  CLI::App app(
      "Shows what a trace consists of, and fits the workload mixgraph to it. Needs memory for every key in it.",
      "cambium_bench trace analyze");
  AddOptions(&app, &flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (flags.Writes() && flags.output_dir.empty()) {
    std::fprintf(stderr, "cambium_bench: these files need --output_dir\n");
    return 2;
  }
  if (std::error_code error; !flags.output_dir.empty()) {
    std::filesystem::create_directories(flags.output_dir, error);
    if (error) {
      std::fprintf(stderr, "cambium_bench: %s: %s\n", flags.output_dir.c_str(), error.message().c_str());
      return 2;
    }
  }
  if (Status status = Analyze(flags); !status.ok()) {
    std::fprintf(stderr, "cambium_bench: %s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}

}  // namespace cambium::bench
