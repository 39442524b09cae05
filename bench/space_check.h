// Whether the disk has room for a run, before it begins.
#pragma once

#include <string>

#include "flags.h"

namespace cambium::bench {

// Bytes that the largest database of this run may take for a while: of an engine that collects garbage three times its
// keys and values or more, by what it is allowed, of one that does not all that is written. With --db all databases stay.
std::uint64_t SpaceNeeded(const BenchFlags& flags);

// What is wrong, or "": `directory` has too little room.
std::string ComplainOfSpace(const BenchFlags& flags, const std::string& directory);

}  // namespace cambium::bench
