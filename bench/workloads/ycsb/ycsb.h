// YCSB's core workloads A to F.
#pragma once

#include <memory>
#include <string>

#include "workloads/workload.h"

namespace cambium::bench {

std::string ComplainOfYcsb(const BenchFlags& flags);
// Returns whether --benchmarks has any of YCSB's workloads.
bool HasYcsb(const BenchFlags& flags);
// Returns the operations of each workload except the load, of all threads together.
std::uint64_t YcsbOperations(const BenchFlags& flags);
std::uint64_t NewKeysOfYcsbD(const BenchFlags& flags);
std::uint64_t NewKeysOfYcsbE(const BenchFlags& flags);

std::shared_ptr<const SharedState> PrepareYcsb(const Phase& phase);
std::shared_ptr<const SharedState> PrepareYcsbE(const Phase& phase);
void RunYcsbA(Worker* worker);
void RunYcsbB(Worker* worker);
void RunYcsbC(Worker* worker);
void RunYcsbD(Worker* worker);
void RunYcsbE(Worker* worker);
void RunYcsbF(Worker* worker);

}  // namespace cambium::bench
