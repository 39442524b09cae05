// Checks, before a run begins, that disk and memory have room for it.
#pragma once

#include <string>

#include "flags/bench_flags.h"

namespace cambium::bench {

// Returns the bytes that the largest database of the run may take. For an engine that collects garbage this is a
// multiple of its keys and values, computed from its settings and from measurements; it is larger if an iterator stays
// open. For other engines it is everything that is written. With --db it is the sum over all databases, because none is
// removed.
std::uint64_t SpaceNeeded(const BenchFlags& flags);

// Returns a complaint if the bench's own KeySet does not fit into `memory_bytes` (0: unknown), else "".
std::string ComplainOfMemory(const BenchFlags& flags, std::uint64_t memory_bytes);

// Returns a complaint if `directory` has too little room, else "".
std::string ComplainOfSpace(const BenchFlags& flags, const std::string& directory);

}  // namespace cambium::bench
