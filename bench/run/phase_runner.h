// RunPhase: one workload on one engine, by as many threads as the flags say, measured.
//
// Of a workload that writes, the time until the engine is quiet counts. Where one thread more writes beside those that
// read, only the readers are measured, until the last of them is through; the engine is settled after that.
#pragma once

#include "engines/engine.h"
#include "results/result.h"
#include "workloads/workload.h"

namespace cambium::bench {

// Fills in all of *result but what names the engine. The first error, a wrong answer included; *result is useless then.
// NotSupported: this engine has no such thing, or, of a store's reads and writes, does not understand its own bytes. Aborted: interrupted.
Status RunPhase(const Workload& workload, const EngineConfig& config, Engine* engine, Phase* phase, Result* result);

}  // namespace cambium::bench
