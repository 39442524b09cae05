// A turn: one engine runs the whole list of benchmarks, in a process of its own.
//
// So no engine inherits another's heap, caches or threads, and what the system counts for the process (CPU, bytes to
// the device, resident memory) is that engine's alone. An engine that crashes ends its turn, not the run.
#pragma once

#include <functional>
#include <string>

#include "engines/registry.h"
#include "flags.h"
#include "result.h"

namespace cambium::bench {

// The directory of this engine's database below `root`.
std::string PathOf(const std::string& root, const BenchFlags& flags, const EngineEntry& entry);

// What the flags ask of every engine.
EngineConfig ConfigOf(const std::string& path, const BenchFlags& flags);

enum class TurnEnd : unsigned char { kDone, kFailed, kInterrupted };

// Prints a line for each benchmark, and hands each result to `sink`.
TurnEnd RunTurn(const BenchFlags& flags, const EngineEntry& entry, const std::string& root, unsigned round,
                const std::function<void(const Result&)>& sink);

// The same in a forked child; the results come back through a pipe.
TurnEnd RunTurnInChild(const BenchFlags& flags, const EngineEntry& entry, const std::string& root, unsigned round,
                       const std::function<void(const Result&)>& sink);

}  // namespace cambium::bench
