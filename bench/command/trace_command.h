// `cambium_bench trace ...`: records, replays and analyzes traces.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cambium::bench {

// The outcome of a command line whose argv[1] is "trace".
struct TraceCommand {
  std::optional<int> exit_code;    // set if the command has run
  std::vector<std::string> words;  // else the equivalent command line of cambium_bench, program name first
};
TraceCommand TraceMain(int argc, char** argv);

// Runs `trace analyze` and returns the exit code. argv[0] is the name of the command.
int AnalyzeTrace(int argc, char** argv);

}  // namespace cambium::bench
