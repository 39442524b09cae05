// ParseFlags: from words to BenchFlags, or to what is wrong with them.
#pragma once

#include <optional>
#include <vector>

#include "flags/bench_flags.h"

namespace cambium::bench {

// What the program was called with, or the exit code with which it should end at once (after --help, or a mistake,
// which has been told).
struct ParsedFlags {
  std::vector<BenchFlags> runs;  // one, or those of a preset
  std::optional<int> exit_code;
};
ParsedFlags ParseFlags(int argc, char** argv);

}  // namespace cambium::bench
