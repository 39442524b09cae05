// A turn: one engine runs all benchmarks of --benchmarks, in a process of its own.
//
// So no engine inherits another's heap, caches or threads, and what the kernel counts for the process (CPU, bytes to
// the device, resident memory) is that engine's alone. An engine that crashes ends its turn, not the run.
//
// With --memory_limit a turn has two processes, one after the other. The first process runs, without a limit, the
// benchmarks that precede the first one that reads, so that every engine builds its database as usual. Then the page
// cache is dropped, and a new process in a group with the limit opens the database and runs the rest.
#pragma once

#include <functional>
#include <string>

#include "engines/registry.h"
#include "flags/bench_flags.h"
#include "results/result.h"
#include "run/engine_config.h"

namespace cambium::bench {

// Returns the directory of this engine's database below `root`.
std::string PathOf(const std::string& root, const BenchFlags& flags, const EngineEntry& entry);

enum class TurnEnd : unsigned char { kDone, kFailed, kInterrupted };

// Returns whether this process has the privileges for --drop_caches and --memory_limit.
Status CheckPrivileges(const BenchFlags& flags);

// Runs a turn. Prints a line for each benchmark, and passes each result to `sink`; the processes send them through a
// pipe.
TurnEnd RunTurn(const BenchFlags& flags, const EngineEntry& entry, const std::string& root, unsigned round,
                const std::function<void(const Result&)>& sink);

}  // namespace cambium::bench
