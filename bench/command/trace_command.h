// `cambium_bench trace ...`: traces are recorded, replayed and analysed.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace cambium::bench {

// What is to be done now that argv[1] is "trace".
struct TraceCommand {
  std::optional<int> exit_code;    // it is done
  std::vector<std::string> words;  // else: the command line that it is short for, its name first
};
TraceCommand TraceMain(int argc, char** argv);

// argv[0] is what it is called. The exit code.
int AnalyzeTrace(int argc, char** argv);

}  // namespace cambium::bench
