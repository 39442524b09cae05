#include "command/trace_command.h"

#include <algorithm>
#include <cstdio>

#include "command/nearest.h"

namespace cambium::bench {
namespace {

bool Names(const std::vector<std::string>& words, const std::string& option) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return word == option || word.starts_with(option + "=");
  });
}

// A recording is a run with --record_trace.
TraceCommand Record(std::vector<std::string> words) {
  words.insert(words.begin() + 1, "--record_trace");
  return {std::nullopt, std::move(words)};
}

// A replay first loads the keys that the trace reads, unless the database exists already. Then values cannot be
// compared.
TraceCommand Replay(std::vector<std::string> words) {
  const bool exists = Names(words, "--use_existing_db");
  if (!Names(words, "--benchmarks")) {
    words.insert(words.begin() + 1, exists ? "--benchmarks=replay" : "--benchmarks=traceload,replay");
  }
  return {std::nullopt, std::move(words)};
}

}  // namespace

TraceCommand TraceMain(int argc, char** argv) {
  const std::string asked = argc > 2 ? argv[2] : "";
  if (asked == "analyze") return {AnalyzeTrace(argc - 2, argv + 2), {}};
  std::vector<std::string> words = {"cambium_bench"};
  for (int i = 3; i < argc; ++i) words.emplace_back(argv[i]);
  if (asked == "record") return Record(std::move(words));
  if (asked == "replay") return Replay(std::move(words));
  const bool wants_help = asked == "--help" || asked == "-h";
  std::FILE* const out = wants_help ? stdout : stderr;
  if (!wants_help && !asked.empty()) {
    std::fprintf(out, "cambium_bench: there is no command trace %s%s\n", asked.c_str(),
                 Suggestion(asked, {"record", "replay", "analyze"}).c_str());
  }
  std::fprintf(
      out,
      "cambium_bench trace record   runs --benchmarks on the engine cambium and records its calls in --trace_file\n"
      "cambium_bench trace replay   replays --trace_file on any engines; both take the options of cambium_bench\n"
      "cambium_bench trace analyze  shows what a trace consists of, and fits the workload mixgraph to it\n");
  return {wants_help ? 0 : 2, {}};
}

}  // namespace cambium::bench
