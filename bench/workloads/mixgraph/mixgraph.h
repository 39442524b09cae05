// The workload mixgraph: gets, puts and scans drawn from the model.
#pragma once

#include <memory>
#include <string>

#include "workloads/workload.h"

namespace cambium::bench {

std::string ComplainOfMixgraph(const BenchFlags& flags);
std::uint64_t ValueRoomOfMixgraph(const BenchFlags& flags);
std::shared_ptr<const SharedState> PrepareMixgraph(const Phase& phase);
void RunMixgraph(Worker* worker);

}  // namespace cambium::bench
