// A random program of lives in a simulated file system. Each life ends with a Close, a kill or a power cut at a call of
// the file system, and half of the power cuts are followed by another one during the recovery. In the middle of a life
// there are further cuts, on copies of the disk: the life goes on, and each copy is opened once it has ended.
#pragma once

#include <cstdint>
#include <string>

#include "transactions/isolation/client.h"
#include "transactions/isolation/store.h"
#include "util/mutant.h"

namespace cambium::testing::isolation {

struct ProgramPlan {
  std::uint64_t seed = 0;
  Kind kind = Kind::kOptimistic;
  std::uint64_t lives = 5;
  std::uint64_t transactions = 200;  // of each life
  bool is_patient = false;           // see LifeContext
  bool claims_serializable = false;  // likewise
  Mutant mutant = Mutant::kNone;     // switched on while the clients run, and in each Open
};

struct ProgramFigures {
  Figures clients;
  std::uint64_t closes = 0;
  std::uint64_t kills = 0;
  std::uint64_t cuts = 0;
  std::uint64_t copies = 0;  // cuts of copies
  std::uint64_t recoveries_cut = 0;
  std::uint64_t lost = 0;  // acknowledged without a sync, and lost in a cut
};

// Returns what is wrong, or "". Threads make each run of a seed different; what must hold is the same.
std::string RunProgram(const ProgramPlan& plan, ProgramFigures* figures);

}  // namespace cambium::testing::isolation
