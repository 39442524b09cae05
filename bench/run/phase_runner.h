// RunPhase: runs and measures one workload on one engine, with as many threads as the flags say.
//
// For a workload that writes, the time until the engine is quiet counts. If an additional thread writes while others
// read, only the readers are measured, until the last of them is done; then the engine is settled.
#pragma once

#include "engines/engine.h"
#include "results/result.h"
#include "workloads/workload.h"

namespace cambium::bench {

// Fills in *result except what names the engine. Returns the first error, wrong answers included; *result is undefined
// then. NotSupported: the engine lacks the operation, or does not understand the bytes in its own files. Aborted:
// interrupted.
Status RunPhase(const Workload& workload, const EngineConfig& config, Engine* engine, Phase* phase, Result* result);

}  // namespace cambium::bench
