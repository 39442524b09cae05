// ParseFlags: parses the command line into BenchFlags, or reports what is wrong with it.
#pragma once

#include <optional>
#include <vector>

#include "flags/bench_flags.h"

namespace cambium::bench {

// The parsed command line, or the exit code with which the program should end at once: after --help, or after a
// mistake, which has been reported on stderr.
struct ParsedFlags {
  std::vector<BenchFlags> runs;  // one run, or those of a preset
  std::optional<int> exit_code;
};
ParsedFlags ParseFlags(int argc, char** argv);

}  // namespace cambium::bench
