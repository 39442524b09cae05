// MovePages: changes which bytes of a simulated file system are in the page cache, without the engine's knowledge.
#pragma once

#include "io/sim/sim_file_system.h"
#include "util/prng.h"

namespace cambium::testing {

// Draws all, none or some of the bytes: warm reads, cold reads, or both.
inline void MovePages(SimFileSystem* fs, Prng& prng) {
  switch (prng.Uniform(3)) {
    case 0: fs->SetResident(true); break;
    case 1: fs->SetResident(false); break;
    default: fs->SetResidentInPart(prng.Next());
  }
}

}  // namespace cambium::testing
