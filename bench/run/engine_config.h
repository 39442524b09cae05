// ConfigOf: the engine's settings from the flags, and whether the chosen engines can satisfy them.
#pragma once

#include <string>

#include "engines/engine.h"
#include "flags/bench_flags.h"

namespace cambium::bench {

// Returns the settings of an engine at `path`. value_size is the mean of the sizes that the flags ask for; with
// --source the caller replaces it once the files are read.
EngineConfig ConfigOf(const std::string& path, const BenchFlags& flags);

// Returns what is wrong, or "": an engine is named twice, or cannot satisfy the flags.
std::string ComplainOfEngines(const BenchFlags& flags);

}  // namespace cambium::bench
