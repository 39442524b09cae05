// MovePages: from now on other bytes of a simulated file system are in memory than before, whatever anybody believes.
#pragma once

#include "io/sim/sim_file_system.h"
#include "util/prng.h"

namespace cambium::testing {

// All of them, none, or some: warm reads, cold ones, or both.
inline void MovePages(SimFileSystem* fs, Prng& prng) {
  switch (prng.Uniform(3)) {
    case 0: fs->SetResident(true); break;
    case 1: fs->SetResident(false); break;
    default: fs->SetResidentInPart(prng.Next());
  }
}

}  // namespace cambium::testing
