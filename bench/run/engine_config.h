// What the flags ask of every engine, and whether those that are to run can do it.
#pragma once

#include <string>

#include "engines/engine.h"
#include "flags/bench_flags.h"

namespace cambium::bench {

// With values of the mean size that the flags name; of files, which have theirs, it is for whoever has read them to say.
EngineConfig ConfigOf(const std::string& path, const BenchFlags& flags);

// What is wrong, or "": an engine is named twice, or one that is built in refuses what is asked of it.
std::string ComplainOfEngines(const BenchFlags& flags);

}  // namespace cambium::bench
