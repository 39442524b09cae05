// WorkloadOnMap: the fixture of tests that run workloads over a std::map.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "bench/engines/map_engine.h"
#include "data/mix.h"
#include "run/phase_runner.h"
#include "workloads/workload.h"

namespace cambium::bench {

class WorkloadOnMap : public ::testing::Test {
 protected:
  // A database of `num` keys.
  explicit WorkloadOnMap(std::uint64_t num) : keys_(num) {
    flags_.num = num;
    config_.path = "/nonexistent";
  }

  Status Run(const std::string& name) {
    const Workload& workload = *FindWorkload(name);
    if (workload.fresh) {
      (void)engine_.Destroy();
      keys_.Reset(true);
    }
    Phase phase{.flags = flags_, .pool = pool_, .keys = keys_, .seed = Mix(flags_.seed, ordinal_), .ordinal = ordinal_};
    ++ordinal_;
    result_ = Result();
    return RunPhase(workload, config_, &engine_, &phase, &result_);
  }

  BenchFlags flags_;
  ValuePool pool_{1, 100, 1};
  KeySet keys_;
  MapEngine engine_;
  EngineConfig config_;
  Result result_;
  std::uint64_t ordinal_ = 0;
};

}  // namespace cambium::bench
