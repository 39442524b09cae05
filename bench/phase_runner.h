// RunPhase: one workload on one engine, by as many threads as the flags say, measured.
#pragma once

#include "engine.h"
#include "result.h"
#include "workload.h"

namespace cambium::bench {

// Fills in all of *result but what names the engine. The first error, a wrong answer included; *result is useless then.
// NotSupported: this engine has no such thing. Aborted: interrupted.
Status RunPhase(const Workload& workload, const EngineConfig& config, Engine* engine, Phase* phase, Result* result);

}  // namespace cambium::bench
