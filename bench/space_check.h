// Whether the disk has room for a run, before it begins.
#pragma once

#include <string>

#include "flags.h"

namespace cambium::bench {

// Bytes that the largest database of this run may take for a while: three times its keys and values, since a store may
// hold what was overwritten, and what it is just rewriting, beside what is alive. With --db all of them stay.
std::uint64_t SpaceNeeded(const BenchFlags& flags);

// What is wrong, or "": `directory` has too little room.
std::string ComplainOfSpace(const BenchFlags& flags, const std::string& directory);

}  // namespace cambium::bench
